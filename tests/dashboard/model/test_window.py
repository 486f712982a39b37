"""Which calls are visible at which scale."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from monitor.dashboard.model.window import LADDER, Window, fit_level, shown

COUNTS = st.integers(0, 200_000)
COLUMNS = st.integers(1, 300)


def test_scales() -> None:
    assert fit_level(10, 100) == 3  # not blown up beyond three columns a call
    assert fit_level(50, 100) == 2
    assert fit_level(100, 100) == 1
    assert fit_level(101, 100) == -2
    assert fit_level(500, 100) == -5
    assert shown(3, 100) == 33 and shown(-4, 100) == 400


def test_the_ladder_goes_down_evenly() -> None:
    assert LADDER[:9] == [8, 6, 4, 3, 2, 1, -2, -3, -4]
    assert sorted(set(LADDER), reverse=True) == LADDER


@given(COUNTS, COLUMNS, st.integers(0, 24), st.booleans())
def test_the_end_is_in_sight_and_nothing_overflows(count: int, columns: int, reserve: int, everything: bool) -> None:
    extent = Window(everything=everything).resolve(count, columns, min(reserve, columns - 1))
    assert extent.stop == count
    assert extent.used <= columns
    assert 0 <= extent.start <= max(0, count)
    if everything or count <= columns - reserve:
        assert extent.start == 0


@given(COUNTS, COLUMNS, st.sampled_from(LADDER[:20]), st.integers(0, 200_000))
def test_buckets_cover_the_window_once(count: int, columns: int, level: int, start: int) -> None:
    extent = Window(level=level, start=start).resolve(count, columns)
    seen: list[int] = []
    for column in range(0, extent.used, max(1, level)):
        a, b = extent.bucket(column)
        seen.extend(range(a, b))
        assert extent.column(a) == column
        if level < 0:
            assert a % -level == 0  # buckets do not move when calls are added
    assert seen == list(range(extent.start, extent.stop))


def test_a_growing_session_moves_nothing_drawn() -> None:
    before = Window(level=-4).resolve(1_001, 100)
    after = Window(level=-4).resolve(1_002, 100)
    assert (before.start, before.column(1_000)) == (after.start, after.column(1_000))


def test_a_short_session_is_shown_call_by_call_even_with_a_forecast() -> None:
    assert Window().resolve(60, 73, 14).level == 1
    assert Window().resolve(60, 73, 14).start == 0
    assert Window().resolve(72, 73, 14).level == -2


@given(st.integers(1, 5_000), COLUMNS, st.integers(-3, 3), st.floats(0, 1))
def test_zoom_keeps_the_anchor_in_sight(count: int, columns: int, steps: int, where: float) -> None:
    window = Window()
    extent = window.resolve(count, columns)
    anchor = extent.start + int(where * (extent.stop - 1 - extent.start))
    after = window.zoom(steps, extent, anchor, count).resolve(count, columns)
    assert after.start <= anchor < after.stop
    if steps > 0:
        assert after.level >= extent.level
    if steps < 0:
        assert after.level <= extent.level


@given(st.integers(1, 5_000), COLUMNS, st.integers(0, 4_999), st.integers(0, 4_999))
def test_show_brings_a_call_into_sight(count: int, columns: int, start: int, position: int) -> None:
    position = min(position, count - 1)
    window = Window(level=-2, start=start)
    shown_window = window.show(position, window.resolve(count, columns), count)
    extent = shown_window.resolve(count, columns)
    assert extent.start <= position < extent.stop


def test_panning_to_the_end_sticks_to_it() -> None:
    window = Window(level=1, start=0)
    extent = window.resolve(200, 100)
    moved = window.pan(20, extent, 200)
    assert moved.resolve(200, 100).start == 20
    assert window.pan(100, extent, 200).start is None
    assert window.pan(-5, extent, 200).resolve(200, 100).start == 0
