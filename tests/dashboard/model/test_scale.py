"""The vertical scale."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from monitor.dashboard.model import scale


def test_the_limit_is_inside_with_headroom() -> None:
    top, inside = scale.top_of_scale(scale.AUTO, 120_000, 120_000, 200_000, 167_000)
    assert inside and top == 208_000


def test_a_low_curve_gets_a_scale_of_its_own() -> None:
    top, inside = scale.top_of_scale(scale.AUTO, 20_000, 20_000, 1_000_000, 967_000)
    assert not inside and 20_000 < top < 30_000
    top, inside = scale.top_of_scale(scale.LIMIT, 20_000, 20_000, 1_000_000, 967_000)
    assert inside and top == 1_040_000


def test_without_limits_the_curve_fills_the_plot() -> None:
    top, inside = scale.top_of_scale(scale.AUTO, 9_000, 12_000, None, None)
    assert not inside and 12_000 < top < 13_000


def test_a_usable_limit_far_below_the_window_is_what_counts() -> None:
    # a million-token window of which the client uses half: the curve should not hide in the lower quarter
    top, inside = scale.top_of_scale(scale.AUTO, 300_000, 300_000, 1_048_576, 524_288)
    assert inside and 524_288 < top < 600_000


@given(st.integers(1, 3_000_000), st.integers(2, 60))
def test_ticks_are_round_few_and_inside(top: int, rows: int) -> None:
    ticks = scale.ticks(top, rows)
    assert all(0 <= row < rows for row, _label in ticks)
    assert len({row for row, _label in ticks}) == len(ticks)
    assert len(ticks) <= max(3, rows // 2)


def test_tick_labels() -> None:
    assert [label for _row, label in scale.ticks(208_000, 20)] == ["50k", "100k", "150k", "200k"]
    assert [label for _row, label in scale.share_ticks(8)] == ["25%", "50%", "75%", "100%"]


def test_nice_numbers() -> None:
    assert [scale.nice(v) for v in (1, 3, 7, 12, 23, 26, 51, 240)] == [1, 5, 10, 20, 25, 50, 100, 250]
