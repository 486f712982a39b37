"""Bars of eighth blocks."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from monitor.dashboard.model.cells import EIGHTHS, EMPTY, STACK, Bars, over, runs


def height_of(column: tuple) -> int:
    """Eighths that are not empty, read back from the cells."""
    total = 0
    for (front, back), char in column:
        if back:
            total += 8
        elif char in EIGHTHS and front in STACK:
            total += EIGHTHS.index(char)
    return total


@given(st.integers(0, 80), st.integers(0, 80), st.integers(0, 80))
def test_the_height_of_the_bar_is_exact(a: int, b: int, c: int) -> None:
    low, middle, top = sorted((a, b, c))
    column = Bars(10).column(low, middle, top)
    assert len(column) == 10
    assert height_of(column) == top


def test_whole_cells_are_spaces_on_colour() -> None:
    assert Bars(3).column(16, 16, 16) == ((("", "read"), " "), (("", "read"), " "), EMPTY)


def test_two_parts_in_one_cell_share_it() -> None:
    # 4 eighths read below 4 eighths fresh: the lower one is the glyph, the upper one its background
    assert Bars(1).column(4, 4, 8) == ((("read", "fresh"), "▄"),)


def test_of_three_parts_the_two_largest_are_shown() -> None:
    assert Bars(1).column(4, 5, 8) == ((("read", "fresh"), "▅"),)
    assert Bars(1).column(1, 5, 8) == ((("write", "fresh"), "▅"),)
    assert Bars(1).column(4, 7, 8) == ((("read", "write"), "▄"),)


def test_the_top_cell_has_the_colour_of_its_largest_part() -> None:
    assert Bars(1).column(1, 1, 6) == ((("fresh", ""), "▆"),)


def test_without_colour_the_parts_have_glyphs() -> None:
    column = Bars(4, glyphs=True).column(8, 16, 24)
    assert [char for _style, char in column] == ["█", "▒", "░", " "]


def test_a_line_crosses_whole_and_empty_cells_only() -> None:
    assert over(EMPTY, "limit", "╌") == (("limit", ""), "╌")
    assert over((("", "read"), " "), "limit", "╌") == (("limit", "read"), "╌")
    edge = (("read", ""), "▄")
    assert over(edge, "limit", "╌") == edge


def test_runs_join_neighbours_of_one_style() -> None:
    row = [(("a", ""), "x"), (("a", ""), "y"), (("b", ""), "z")]
    assert runs(row) == [(("a", ""), "xy"), (("b", ""), "z")]
