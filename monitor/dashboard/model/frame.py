"""One picture of the chart: rows of styled runs for a given size, computed once and then only shown.

From the top: plot, axis with marks, numbers of the calls, cache strip, overview of the whole history. What does not fit
into the height is left out in the order of its worth; the plot and its axis always stay.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple

import msgspec

from monitor.dashboard.model import scale
from monitor.dashboard.model.cells import EIGHTHS, EMPTY, PLAIN, STACK, Bars, Cell, Run, over, runs
from monitor.dashboard.model.curve import ALL, ERROR, RESETS, Curve, Mark
from monitor.dashboard.model.rows import LINES, axis_row, numbers_row, padded, strip_row, who_row
from monitor.dashboard.model.text import tokens
from monitor.dashboard.model.window import Extent, Window


class Fan(msgspec.Struct, frozen=True):
    """The forecast as drawn: calls until ``limit``, one in ten sooner than ``low`` or later than ``high``."""

    base: int
    limit: int
    low: float
    middle: float
    high: float


class Options(msgspec.Struct, frozen=True):
    """How the chart is to be drawn."""

    cursor: int | None = None
    share: bool = False
    scale: str = scale.AUTO
    limit: int | None = None
    usable: int | None = None
    limit_mark: str = ""
    usable_mark: str = ""
    fan: Fan | None = None
    glyphs: bool = False


class Frame(NamedTuple):
    """Rows from the top; where the plot, the overview and the calls are, for the mouse."""

    rows: list[list[Run]]
    gutter: int
    plot: int  # rows of the plot
    extent: Extent
    overview: int | None  # row of the overview


def gutter_of(width: int) -> int:
    """Cells left of the plot, for the labels of the scale."""
    return 5 if width < 60 else 6


def reserve_of(columns: int, fan: Fan | None) -> int:
    """Columns kept free for a forecast."""
    return min(columns // 5, 24) if fan else 0


class Under(NamedTuple):
    """What falls on each column (or bar): the call that is drawn, the worst state of all, and the events."""

    picks: list[int | None]
    worst: list[int]
    marks: dict[int, list[Mark]]


class Painter:
    """Draws frames and keeps what the next one can reuse: the columns of bars and the overview."""

    def __init__(self) -> None:
        self._bars = Bars(0)
        self._overview: tuple[object, list[tuple[int, int]]] = ((), [])
        self._under: tuple[object, Under] = ((), Under([], [], {}))

    def paint(self, curve: Curve, window: Window, width: int, height: int, options: Options) -> Frame:
        """A frame of ``width`` x ``height`` cells. An empty curve gives axis and limit only."""
        gutter = gutter_of(width)
        columns = max(1, width - gutter)
        count = len(curve)
        fan = options.fan if not options.share and count else None
        extent = window.resolve(count, columns, reserve_of(columns, fan))
        partial = extent.start > 0 or extent.stop < count
        plot, labels, strip, who, overview = _rows(height, partial, curve.choice == ALL)
        if plot != self._bars.height or options.glyphs != self._bars.glyphs:
            self._bars = Bars(plot, glyphs=options.glyphs)
        under = self._fallen(curve, extent)
        picks, marks = under.picks, under.marks
        visible_max = max((curve.total[p] for p in picks if p is not None), default=0)
        if options.share:
            top, inside = 1, False
        else:
            top, inside = scale.top_of_scale(options.scale, visible_max, curve.peak, options.limit, options.usable)
        body = self._body(curve, extent, picks, plot, top, marks, options)
        if fan and extent.stop == count:
            _draw_fan(body, extent, columns, plot, top, fan, options.glyphs)
        grid = [list(row) for row in zip(*body)]
        if curve.choice == ALL and extent.level < 0 and not options.share:
            _overlay(grid, curve, extent, top, plot)
        lines = _limit_rows(options, top, plot) if inside and not options.share else []
        for row, name, glyph, label in lines:
            grid[row] = _limit_line(grid[row], name, glyph, label, options.glyphs)
        tick_rows = dict(scale.share_ticks(plot) if options.share else scale.ticks(top, plot))
        rows: list[list[Run]] = []
        for row in range(plot - 1, -1, -1):
            label = tick_rows.get(row, "")
            lead = f"{label:>{gutter - 1}}{'┤' if label else '│'}"
            rows.append([(("axis", ""), lead), *runs(grid[row])])
        rows.append(axis_row(extent, gutter, columns, marks, under.worst, options.cursor))
        if labels:
            rows.append(numbers_row(curve, extent, gutter, columns, options.cursor))
        if strip:
            rows.append(strip_row(curve, extent, picks, under.worst, gutter, columns, options.cursor))
        if who:
            rows.append(who_row(curve, extent, picks, gutter, columns))
        at = None
        if overview:
            at = len(rows)
            rows.append(self._whole(curve, extent, gutter, columns))
        return Frame(rows[:height], gutter, plot, extent, at)

    def _body(
        self,
        curve: Curve,
        extent: Extent,
        picks: list[int | None],
        plot: int,
        top: int,
        marks: dict[int, list[Mark]],
        options: Options,
    ) -> list[tuple[Cell, ...]]:
        """The columns of the plot, each from the bottom."""
        bars = self._bars
        unit = plot * 8 / top
        ceiling = plot * 8
        total, read, write, hold, line = curve.total, curve.read, curve.write, curve.hold, curve.line
        resets = {column for column, found in marks.items() if any(mark.kind in RESETS for mark in found)}
        dashes = resets if len(resets) * 6 <= extent.columns else set()
        wide = max(1, extent.level)
        at = None if options.cursor is None else extent.column(options.cursor)
        blank = bars.column(0, 0, 0)
        body: list[tuple[Cell, ...]] = []
        column = 0
        for position in picks:
            here = at == column
            filler = EMPTY
            if column in dashes:
                filler = (("mark", ""), "┆")
            if here:
                filler = (("cursor", ""), "│")
            if position is None or total[position] < 0:
                made = bars.column(0, 0, 0, STACK, filler)
                rest = blank
            else:
                whole = total[position]
                if options.share:
                    scaled = ceiling / whole if whole else 0.0
                else:
                    scaled = unit
                end = min(ceiling, max(1, round(whole * scaled))) if whole else 0
                if read[position] < 0:
                    low = middle = 0
                    colours = PLAIN
                else:
                    low = min(end, round(read[position] * scaled))
                    middle = min(end, round((read[position] + max(0, write[position])) * scaled))
                    colours = STACK
                if curve.choice == ALL and curve.chains[line[position]] != "main":
                    colours = (f"line{line[position] % LINES}", colours[1], colours[2])
                if here:
                    colours = (colours[0] + "+", colours[1] + "+", colours[2] + "+")
                made = bars.column(low, middle, end, colours, filler)
                rest = bars.column(low, middle, end, colours) if wide > 1 else made
                if hold[position] > 0 and not options.share:
                    made = _held(made, hold[position], top, plot)
                    rest = _held(rest, hold[position], top, plot)
            body.append(made)
            if wide > 1:
                body.extend([rest] * (wide - 2 if wide > 2 else wide - 1))
                if wide > 2:
                    body.append(blank)
            column += wide
        body.extend([blank] * (extent.columns - len(body)))
        return body[: extent.columns]

    def _fallen(self, curve: Curve, extent: Extent) -> Under:
        key = (id(curve), len(curve), curve.version, extent)
        if self._under[0] != key:
            self._under = (key, Under(_picks(curve, extent), _worst(curve, extent), _column_marks(curve, extent)))
        return self._under[1]

    def _whole(self, curve: Curve, extent: Extent, gutter: int, columns: int) -> list[Run]:
        """The whole history in one row, the visible part marked."""
        count = len(curve)
        key = (id(curve), count, curve.version, columns)
        if self._overview[0] != key:
            peaks: list[tuple[int, int]] = []
            for column in range(min(columns, count)):
                a, b = column * count // min(columns, count), (column + 1) * count // min(columns, count)
                peaks.append((max(curve.total[a:b], default=0), max(curve.state[a:b], default=0)))
            self._overview = (key, peaks)
        peaks = self._overview[1]
        highest = max((peak for peak, _state in peaks), default=0) or 1
        size = len(peaks) or 1
        first, last = extent.start * size // max(1, count), max(0, (extent.stop - 1)) * size // max(1, count)
        row: list[Cell] = []
        for column, (peak, state) in enumerate(peaks):
            inside = first <= column <= last
            colour = "seen" if inside else "unseen"
            glyph = EIGHTHS[max(1, round(max(0, peak) * 8 / highest))]
            row.append(((colour if state != ERROR else "bad", "band" if inside else ""), glyph))
        return [(("axis", ""), f"{'all':>{gutter - 1}} "), *runs(padded(row, columns))]


def _rows(height: int, partial: bool, several: bool) -> tuple[int, bool, bool, bool, bool]:
    """Rows of the plot, and whether numbers, cache strip, line letters and overview have room below it."""
    strip = height >= 5
    labels = height >= 10
    overview = partial and height >= 9
    who = several and height >= 8
    plot = height - 1 - strip - labels - overview - who
    return max(1, plot), labels, strip, who, overview


def _picks(curve: Curve, extent: Extent) -> list[int | None]:
    """The call each column (or bar) shows: the largest of those that fall on it, never a mixture of several."""
    if extent.level > 0:
        return list(range(extent.start, extent.stop))
    picks: list[int | None] = []
    step = -extent.level
    total = curve.total
    for a in range(extent.start, extent.stop, step):
        part = total[a : min(a + step, extent.stop)]
        picks.append(a + part.index(max(part)))
    return picks


def _worst(curve: Curve, extent: Extent) -> list[int]:
    """The state of the calls under each column that a reader should see most."""
    states = curve.state
    if extent.level > 0:
        return list(states[extent.start : extent.stop])
    step = -extent.level
    return [max(states[a : min(a + step, extent.stop)]) for a in range(extent.start, extent.stop, step)]


def _column_marks(curve: Curve, extent: Extent) -> dict[int, list[Mark]]:
    """Events by column, for the visible part."""
    marks: dict[int, list[Mark]] = {}
    first, last = (bisect_left(curve.marks, end, key=lambda mark: mark.position) for end in (extent.start, extent.stop))
    for mark in curve.marks[first:last]:
        marks.setdefault(extent.column(mark.position), []).append(mark)
    return marks


def _held(column: tuple[Cell, ...], value: int, top: int, plot: int) -> tuple[Cell, ...]:
    """The level the main line waits at while a subagent works, as a thin line above its bar."""
    row = min(plot - 1, int(value * plot / top))
    if column[row][1] == " " and not column[row][0][1]:
        return (*column[:row], (("hold", ""), "─"), *column[row + 1 :])
    return column


def _overlay(grid: list[list[Cell]], curve: Curve, extent: Extent, top: int, plot: int) -> None:
    """Where several calls share a column the subagents are dots over the bars: the largest of each column."""
    main = curve.chains.index("main") if "main" in curve.chains else -1
    step = -extent.level
    for column, a in enumerate(range(extent.start, extent.stop, step)):
        agents = [p for p in range(a, min(a + step, extent.stop)) if curve.line[p] != main and curve.total[p] > 0]
        if not agents or column >= len(grid[0]):
            continue
        position = max(agents, key=lambda p: curve.total[p])
        row = min(plot - 1, int(curve.total[position] * plot / top))
        (_front, back), _char = grid[row][column]
        grid[row][column] = ((f"line{curve.line[position] % LINES}+", back), "●")


def _limit_rows(options: Options, top: int, plot: int) -> list[tuple[int, str, str, str]]:
    """Where the limit lines run: (row from the bottom, style, glyph, label)."""
    out: list[tuple[int, str, str, str]] = []
    usable, limit = options.usable, options.limit
    if usable and usable < top:
        out.append((int(usable * plot / top), "usable", "┄", f"usable {tokens(usable)}{options.usable_mark}"))
    if limit and limit < top:
        row = int(limit * plot / top)
        label = f"limit {tokens(limit)}{options.limit_mark}"
        if out and out[0][0] == row:
            label = f"{out[0][3]} · {label}" if limit != usable else label
            out.clear()
        out.append((row, "limit", "╌", label))
    return [item for item in out if 0 <= item[0] < plot]


def _limit_line(row: list[Cell], style: str, glyph: str, label: str, glyphs: bool) -> list[Cell]:
    out = [over(cell, style, glyph, glyphs=glyphs) for cell in row]
    text = f" {label} "
    # the words stand where nothing else is, as far left as possible
    run = 0
    for i, cell in enumerate(row):
        run = run + 1 if cell == EMPTY else 0
        if run >= len(text) + 2:
            start = i - len(text)
            for j, char in enumerate(text):
                out[start + j] = ((style, ""), char)
            break
    return out


def _draw_fan(
    body: list[tuple[Cell, ...]], extent: Extent, columns: int, plot: int, top: int, fan: Fan, glyphs: bool
) -> None:
    """The forecast to the right of the newest call: a band between the early and the late line, the middle dotted."""
    if fan.base >= fan.limit or fan.low <= 0:
        return
    begin = extent.used
    gain = fan.limit - fan.base

    def at(ahead: float, calls: float) -> int:
        value = min(fan.limit, fan.base + gain * ahead / max(calls, 0.1))
        return min(plot - 1, int(value * plot / top))

    for column in range(begin, columns):
        ahead = (column - begin + 0.5) * (-extent.level if extent.level < 0 else 1 / extent.level)
        if ahead > fan.high * 1.02 + 0.5:
            break
        low, middle, high = at(ahead, fan.high), at(ahead, fan.middle), at(ahead, fan.low)
        cells = list(body[column])
        for row in range(low, high + 1):
            if glyphs:
                cells[row] = (("fan", ""), "░")
            else:
                cells[row] = (("", "fan"), " ")
        cells[middle] = (("fanline", "" if glyphs else "fan"), "•" if glyphs else "·")
        body[column] = tuple(cells)
