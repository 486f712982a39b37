"""The rows under the plot: axis with marks, numbers of the calls, cache strip, letters of the lines."""

from __future__ import annotations

from monitor.dashboard.model.cells import EIGHTHS, EMPTY, Cell, Run, runs
from monitor.dashboard.model.curve import ERROR, FIRST, HIT, MISS, PARTIAL, RANK, Curve, Mark
from monitor.dashboard.model.scale import nice
from monitor.dashboard.model.window import Extent


def padded(row: list[Cell], columns: int) -> list[Cell]:
    """Exactly ``columns`` cells: a strip of another length than it says moves everything right of it."""
    return row[:columns] + [EMPTY] * (columns - len(row))


LINES = 6  # colours for subagents


def axis_row(
    extent: Extent, gutter: int, columns: int, marks: dict[int, list[Mark]], worst: list[int], cursor: int | None
) -> list[Run]:
    """The axis: a mark for each event under the column of the call that followed it, "!" for failed calls."""
    line: list[Cell] = [(("axis", ""), "─")] * columns
    for column, _position in _label_places(extent):
        if column < columns:
            line[column] = (("axis", ""), "┴")
    for number, state in enumerate(worst):
        if state == ERROR:
            line[number * max(1, extent.level)] = (("bad", ""), "!")
    for column, found in marks.items():
        mark = max(found, key=lambda mark: RANK.get(mark.kind, 0))
        glyph = mark.glyph if len(found) == 1 or extent.level > 0 else str(min(9, len(found)))
        line[column] = (("bad" if mark.kind in ("error", "overflow") else "mark", ""), glyph)
    if cursor is not None:
        column = extent.column(cursor)
        if 0 <= column < columns:
            glyph = line[column][1] if column in marks else "┃"
            line[column] = (("cursor", ""), glyph)
    return [(("axis", ""), f"{'0':>{gutter - 1}}└"), *runs(line)]


def _label_places(extent: Extent) -> list[tuple[int, int]]:
    """Columns and positions of the numbers under the axis: round ones, at least ten columns apart."""
    per_label = max(1, -(-12 // extent.level) if extent.level > 0 else 12 * -extent.level)
    step = nice(per_label)
    first = -(-extent.start // step) * step
    return [(extent.column(p), p) for p in range(first, extent.stop, step)]


def numbers_row(curve: Curve, extent: Extent, gutter: int, columns: int, cursor: int | None) -> list[Run]:
    """Indexes of the calls under the axis."""
    line = [" "] * columns
    for column, position in _label_places(extent):
        number = curve.number(position)
        text = f"#{number}" if number is not None else ""
        start = max(0, min(columns - len(text), column - len(text) // 2))
        if text and all(c == " " for c in line[max(0, start - 1) : start + len(text) + 1]):
            line[start : start + len(text)] = text
    return [(("axis", ""), " " * gutter + "".join(line[:columns]))]


_STATE_STYLE = {HIT: "read", FIRST: "dim", PARTIAL: "warn", MISS: "bad", ERROR: "bad"}


def strip_row(
    curve: Curve,
    extent: Extent,
    picks: list[int | None],
    worst: list[int],
    gutter: int,
    columns: int,
    cursor: int | None,
) -> list[Run]:
    """Share of each prompt that came from the cache; the worst of the calls under a column decides its sign."""
    row: list[Cell] = []
    wide = max(1, extent.level)
    for position, state in zip(picks, worst):
        style = _STATE_STYLE.get(state, "dim")
        if state == MISS:
            glyph = "✖"
        elif state == ERROR:
            glyph = "!"
        elif state == FIRST:
            glyph = "╷"
        elif position is not None and state in (HIT, PARTIAL) and curve.total[position] > 0:
            share = max(0, curve.read[position]) / curve.total[position]
            glyph = EIGHTHS[max(1, min(8, round(share * 8)))]
        else:
            glyph = "·"
        block = glyph in EIGHTHS
        row.append(((style, ""), glyph))
        if wide > 1:
            row.extend([((style, ""), glyph if block else " ")] * (wide - (2 if wide > 2 else 1)))
            if wide > 2:
                row.append(EMPTY)
    if cursor is not None:
        column = extent.column(cursor)
        if 0 <= column < len(row):
            (_front, _back), glyph = row[column]
            row[column] = (("cursor", ""), glyph)
    return [(("axis", ""), f"{'hit':>{gutter - 1}} "), *runs(padded(row, columns))]


def line_letter(number: int) -> str:
    """The letter of a line in a picture of several: ``M`` for the main one, then a, b, c …"""
    return "abcdefghijklmnopqrstuvwxyz"[(number - 1) % 26]


def who_row(curve: Curve, extent: Extent, picks: list[int | None], gutter: int, columns: int) -> list[Run]:
    """Which line each column belongs to."""
    row: list[Cell] = []
    wide = max(1, extent.level)
    step = max(1, -extent.level)
    names = letters(curve)
    main = curve.chains.index("main") if "main" in curve.chains else -1
    for place in range(len(picks)):
        a = extent.start + place * step
        # a subagent is what one looks for here: it is named even where the main line is drawn
        number = next((n for n in curve.line[a : min(a + step, extent.stop)] if n != main), main)
        row.append(((f"line{number % LINES}+", ""), names[number]) if number != main else (("axis", ""), "·"))
        row.extend([EMPTY] * (wide - 1))
    return [(("axis", ""), f"{'line':>{gutter - 1}} "), *runs(padded(row, columns))]


def letters(curve: Curve) -> list[str]:
    """The letters of the curve's chains, in their order."""
    out: list[str] = []
    agents = 0
    for chain in curve.chains:
        if chain == "main":
            out.append("M")
        else:
            agents += 1
            out.append(line_letter(agents))
    return out
