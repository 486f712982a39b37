"""Numbers and tables for eyes."""

from __future__ import annotations

import pytest

from monitor.reports.text import Ink, bar, cells, clean, cut, duration, percent, span, table, tokens, usd


@pytest.mark.parametrize(
    ("value", "want"),
    [(None, "–"), (0, "0"), (999, "999"), (1_000, "1.0k"), (41_903, "41.9k"), (99_949, "99.9k"), (99_950, "100k"),
     (999_949, "1000k"), (999_950, "1.00M"), (12_345_678, "12.3M"), (1_234_567_890, "1.23G"), (-2_500, "-2.5k")],
)  # fmt: skip
def test_tokens(value: int | None, want: str) -> None:
    assert tokens(value) == want


def test_percent_never_rounds_up_to_all() -> None:
    assert [percent(v) for v in (None, 0.0, 0.994, 0.9999, 1.0)] == ["–", "0%", "99%", "99%", "100%"]


def test_money_and_time() -> None:
    assert [usd(v) for v in (None, 0, 0.0042, 0.55, 1234.5)] == ["–", "$0", "$0.0042", "$0.55", "$1,234.50"]
    assert [duration(v) for v in (None, 45, 720, 12_600, 200_000)] == ["–", "45 s", "12 min", "3.5 h", "2 d"]
    assert span(5.2, 12, 40) == "about 12 (5.2–40)"


def test_wide_characters_take_two_columns_and_codes_none() -> None:
    assert cells("日本") == 4
    assert cells("\x1b[31mred\x1b[0m") == 3
    assert cut("日本語", 4) == "日…"
    rows = table(("a", "b"), [("日本", 1), ("x", 22)], right="lr")
    assert [line.rstrip() for line in rows] == ["  a      b", "  日本   1", "  x     22"]


def test_bar() -> None:
    assert bar(None, 4) == "····"
    assert bar(0.5, 4) == "██░░"
    assert bar(2.0, 4) == "████"


def test_names_cannot_steer_the_terminal() -> None:
    assert "\x1b" not in clean("a\x1b[2Jb")


class Terminal:
    def isatty(self) -> bool:
        return True


def test_colour_only_for_people_who_want_it() -> None:
    assert Ink(Terminal(), {})("x", "red") == "\x1b[31mx\x1b[0m"
    assert Ink(Terminal(), {"NO_COLOR": "1"})("x", "red") == "x"
    assert Ink(Terminal(), {"TERM": "dumb"})("x", "red") == "x"
    assert Ink(None, {})("x", "red") == "x"
