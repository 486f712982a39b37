"""Numbers, times and lines as people read them."""

from __future__ import annotations

from datetime import UTC, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from monitor.dashboard.model import text


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "–"),
        (0, "0"),
        (646, "646"),
        (999, "999"),
        (1_000, "1.0k"),
        (2_649, "2.6k"),
        (9_949, "9.9k"),
        (9_951, "10k"),
        (158_912, "159k"),
        (999_499, "999k"),
        (999_501, "1.00M"),
        (1_048_576, "1.05M"),
        (12_400_000, "12M"),
        (3_200_000_000, "3.2G"),
        (-5_400, "-5.4k"),
    ],
)
def test_tokens(value: int | None, shown: str) -> None:
    assert text.tokens(value) == shown


@given(st.integers(0, 10**12))
def test_tokens_never_take_more_than_seven_cells(value: int) -> None:
    assert len(text.tokens(value)) <= (5 if value < 10**12 // 10 else 7)


def test_marks_stand_in_front_and_unknown_has_none() -> None:
    assert text.tokens(1_200, "~") == "~1.2k"
    assert text.tokens(None, "~") == "–"
    assert text.usd(0.5, "~") == "~$0.50"
    assert text.exact(158_912, "≥") == "≥158,912"
    assert text.exact(None) == "–"


@pytest.mark.parametrize(
    ("value", "shown"),
    [(None, "–"), (0.0, "0%"), (0.004, "<1%"), (0.5, "50%"), (0.996, "99%"), (1.0, "100%"), (1.2, "120%")],
)
def test_percent_says_all_or_nothing_only_when_it_is(value: float | None, shown: str) -> None:
    assert text.percent(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "–"), (0, "$0"), (0.00004, "<$0.0001"), (0.0042, "$0.0042"), (0.031, "$0.031"), (0.31, "$0.31"),
        (12.4, "$12.40"), (1_240.4, "$1,240"), (-0.5, "-$0.50"),
    ],
)  # fmt: skip
def test_usd(value: float | None, shown: str) -> None:
    assert text.usd(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [(None, "–"), (0.4, "0.4 s"), (3, "3 s"), (42, "42 s"), (190, "3m10s"), (7_500, "2h05m"), (356_400, "4d03h")],
)
def test_duration(value: float | None, shown: str) -> None:
    assert text.duration(value) == shown


def test_ages_move_in_coarse_steps() -> None:
    now = 10_000_000_000
    assert [text.ago(now - ms, now) for ms in (0, 9_999, 49_000, 300_000, 7_300_000, 200_000_000)] == [
        "now", "now", "40 s", "5 min", "2 h", "2 d",
    ]  # fmt: skip
    assert text.ago(now + 5_000, now) == "now"
    assert text.ago(None, now) == "–"


def test_moment_follows_the_zone() -> None:
    time = 1_780_000_000_000  # 2026-05-28T20:26:40Z
    assert text.moment(time, UTC) == "20:26:40"
    assert text.moment(time, timezone(timedelta(hours=5, minutes=30)), date=True) == "2026-05-29 01:56:40"
    assert text.moment(10**18, UTC) == "–"


def test_forecast_of_calls() -> None:
    assert text.calls(6.2, 9.4, 13.0) == "9 (6–13)"
    assert text.calls(9.1, 9.2, 9.3) == "9"
    assert text.calls(400, 1_500, 9_000) == ">999 (400–>999)"


def test_control_characters_never_reach_the_terminal() -> None:
    assert "\x1b" not in text.printable("a\x1b[31mred\n")
    assert text.printable("naïve 名前") == "naïve 名前"


@given(st.text(), st.integers(0, 30))
def test_clip_and_fill_keep_their_width(words: str, width: int) -> None:
    words = text.printable(words)
    assert cell_len(text.clip(words, width)) <= width
    assert cell_len(text.fill(words, width)) == width


@given(st.lists(st.tuples(st.text(max_size=12), st.just("dim")), max_size=5), st.integers(1, 40))
def test_fit_gives_exactly_the_width(spans: list[tuple[str, str]], width: int) -> None:
    line = tuple((text.printable(words), style) for words, style in spans)
    assert text.line_width(text.fit(line, width)) == width


@given(st.text(alphabet="ab 名\t", max_size=60), st.integers(1, 20))
def test_wrap_loses_nothing_and_fits(words: str, width: int) -> None:
    lines = text.wrap(words, width)
    assert "".join(words.split()) == "".join("".join(line.split()) for line in lines)
    assert all(cell_len(line) <= max(width, 2) for line in lines)


def test_spread_gives_up_the_right_end_first() -> None:
    left, right = (("left", ""),), (("right", ""),)
    assert text.plain(text.spread(left, right, 12)) == "left   right"
    assert text.plain(text.spread(left, right, 8)) == "left    "


def test_the_least_important_part_is_left_out() -> None:
    parts = [(2, (("aaaa", ""),)), (0, (("bbbb", ""),)), (1, (("cccc", ""),))]
    assert text.plain(text.join_fitting(parts, 16)) == "aaaa  bbbb  cccc"
    assert text.plain(text.join_fitting(parts, 12)) == "bbbb  cccc"
    assert text.plain(text.join_fitting(parts, 5)) == "bbbb"
