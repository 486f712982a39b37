"""Choice of columns and rows."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from monitor.dashboard.model.session_list import COLUMNS
from monitor.dashboard.model.tables import Column, heading, place, row_line
from monitor.dashboard.model.text import line_width, plain

A = Column("a", "name", 6, "<", 1, lambda row: (row["a"], ""), True)
B = Column("b", "size", 4, ">", 3, lambda row: (row["b"], "bold"))
C = Column("c", "note", 5, "<", 2, lambda row: (row["c"], ""))


def test_the_column_that_decides_the_order_is_seen() -> None:
    columns = (Column("a", "a", 6, "<", 1, str), Column("b", "b", 6, "<", 2, str), Column("c", "c", 6, "<", 9, str))
    assert [placed.column.key for placed in place(columns, 14)] == ["a", "b"]
    assert [placed.column.key for placed in place(columns, 14, "c")] == ["a", "c"]


def test_the_least_worth_goes_first_and_one_grows() -> None:
    assert [(p.column.key, p.width) for p in place((A, B, C), 18)] == [("a", 6), ("b", 4), ("c", 5)]
    assert [(p.column.key, p.width) for p in place((A, B, C), 24)] == [("a", 12), ("b", 4), ("c", 5)]
    assert [(p.column.key, p.width) for p in place((A, B, C), 14)] == [("a", 7), ("c", 5)]
    assert [(p.column.key, p.width) for p in place((A, B, C), 4)] == [("a", 3)]


@given(st.integers(2, 200))
def test_a_row_never_is_wider_than_its_place(width: int) -> None:
    placed = place(COLUMNS, width)
    assert placed and sum(p.width + 1 for p in placed) <= max(width, 2)


def test_heading_and_row_align() -> None:
    placed = place((A, B, C), 18)
    row = {"a": "a very long name", "b": "12", "c": "ok"}
    assert plain(heading(placed, 18, "b")) == "name   size note  "
    assert plain(row_line(placed, row)) == "a ver…   12 ok    "
    assert line_width(row_line(placed, row)) == 18
    assert plain(heading(place((A, B, C), 30), 30, "a")).startswith("name↓")
