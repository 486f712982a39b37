"""Places of the panels at every size."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.dashboard.model.layout import PANELS, Arrangement, arrange


def rects(made: Arrangement) -> list:
    return [r for r in (*made.panels.values(), made.header, made.hints) if r is not None]


@settings(max_examples=200)
@given(
    st.integers(10, 260),
    st.integers(1, 90),
    st.sampled_from(list(PANELS)),
    st.sampled_from(list(PANELS)),
    st.booleans(),
)
def test_panels_fill_the_screen_without_overlap(width: int, height: int, active: str, tab: str, alone: bool) -> None:
    made = arrange(width, height, active, tab, alone=alone)
    seen = [[0] * width for _ in range(height)]
    for rect in rects(made):
        assert rect.width > 0 and rect.height > 0
        for y in range(rect.y, rect.y + rect.height):
            for x in range(rect.x, rect.x + rect.width):
                seen[y][x] += 1
    if made.tab_bar is not None and not made.framed:
        for x in range(width):
            seen[made.tab_bar.y][x] += 1
    assert {cell for row in seen for cell in row} == {1}


@pytest.mark.parametrize(
    ("size", "panels"),
    [
        ((160, 48), {"sessions", "chart", "decision", "forecast", "mix", "turns", "turn", "events"}),
        ((120, 30), {"chart", "decision", "forecast", "turns"}),
        ((80, 24), {"chart", "decision"}),
        ((60, 15), {"chart", "decision"}),
        ((40, 10), {"chart"}),
    ],
)
def test_what_is_seen(size: tuple[int, int], panels: set[str]) -> None:
    assert set(arrange(*size).panels) == panels


@pytest.mark.parametrize("name", list(PANELS))
@pytest.mark.parametrize("size", [(160, 48), (120, 30), (80, 24), (60, 15), (40, 10)])
def test_every_panel_can_be_reached_at_every_size(name: str, size: tuple[int, int]) -> None:
    tab = name if name != "chart" else "decision"
    assert name in arrange(*size, active=name, tab=tab).panels


def test_alone() -> None:
    made = arrange(160, 48, "turns", alone=True)
    assert set(made.panels) == {"turns"} and made.panels["turns"].height == 46


def test_the_chart_keeps_enough_rows() -> None:
    assert arrange(80, 24).panels["chart"].height >= 13
    assert arrange(60, 15).panels["chart"].height >= 9
    assert arrange(40, 10).panels["chart"].height == 9
