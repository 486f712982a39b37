"""Axis, numbers, cache strip, letters."""

from __future__ import annotations

from monitor.dashboard.model.curve import ALL, Curve
from monitor.dashboard.model.rows import axis_row, letters, numbers_row, strip_row, who_row
from monitor.dashboard.model.window import Window
from tests.dashboard.fake import turn, view


def made(turns: list, level: int = 1, columns: int = 40, choice: str = "main"):
    curve = Curve("s1", choice)
    curve.update(view(turns))
    return curve, Window(level=level, start=0).resolve(len(curve), columns)


def text(row: list) -> str:
    return "".join(part for _style, part in row)


def test_numbers_are_indexes_of_the_session() -> None:
    # every second call of the session is a side call: position 20 is the call with index 40
    turns = [turn(i, 5_000, 0, 0, chain="side" if i % 2 else "main") for i in range(80)]
    curve, extent = made(turns)
    assert text(numbers_row(curve, extent, 6, 40, None)).split() == ["#0", "#40"]


def test_the_strip_shows_the_share_that_was_read() -> None:
    outcomes = [("first", 0), ("hit", 8_000), ("partial", 4_000), ("miss", 0), ("hit", 7_000)]
    turns = [turn(i, 8_000, read, 0, cache_outcome=word) for i, (word, read) in enumerate(outcomes)]
    turns.append(turn(5, 8_000))
    turns.append(turn(6, None, status="error"))
    curve, extent = made(turns)
    row = strip_row(curve, extent, list(range(7)), list(curve.state), 6, 40, None)
    assert text(row)[6:13] == "╷█▄✖▇·!"
    assert ("bad", "") in [style for style, part in row if "✖" in part]


def test_wide_bars_keep_a_gap() -> None:
    curve, extent = made([turn(i, 8_000, 8_000, 0) for i in range(3)], level=4)
    assert text(strip_row(curve, extent, [0, 1, 2], list(curve.state), 6, 40, None))[6:18] == "███ ███ ███ "


def test_axis_of_an_empty_curve() -> None:
    _curve, extent = made([])
    assert text(axis_row(extent, 6, 40, {}, [], None)) == "    0└" + "─" * 40


def test_letters_name_the_lines() -> None:
    names = ["main", "agent:x", "main", "agent:y", "agent:x"]
    turns = [turn(i, 5_000, 0, 0, chain=name) for i, name in enumerate(names)]
    curve, extent = made(turns, choice=ALL)
    assert letters(curve) == ["M", "a", "b"]
    assert text(who_row(curve, extent, list(range(5)), 6, 40))[6:11] == "·a·ba"
    curve, extent = made(turns, level=-2, choice=ALL)
    assert text(who_row(curve, extent, [0, 2, 4], 6, 40))[6:9] == "aba"
