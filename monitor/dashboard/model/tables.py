"""Tables without a table's cost: columns that know how to show a row, and sources that know how many rows there are.

A row is formatted when it is drawn and not before, so that a table of 100,000 rows costs what its visible part costs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from monitor.dashboard.model.text import Line, Span, fill


class Column(NamedTuple):
    """A column: heading, width in cells, alignment, worth (1 is kept longest), and how it shows a row."""

    key: str
    title: str
    width: int
    align: str
    worth: int
    show: Callable[[Any], Span]
    grows: bool = False  # takes the width that is left


class Source(Protocol):
    """Rows by number. ``version`` changes when any row shown before may look different now."""

    @property
    def columns(self) -> Sequence[Column]:
        """All columns, the wanted ones are chosen by width."""

    @property
    def version(self) -> object:
        """Anything that compares unequal after a change."""

    def __len__(self) -> int:
        """How many rows."""

    def row(self, number: int) -> Any:
        """The row, 0 at the top."""

    def name(self, number: int) -> object:
        """What a row is about: stays the same while what is said of it changes, and while it moves."""


class Placed(NamedTuple):
    """A column with the width it got."""

    column: Column
    width: int


_LUXURY, _GROWTH = 8, 8


def place(columns: Sequence[Column], width: int, keep: str = "") -> list[Placed]:
    """The columns that fit, in their order: those of least worth are left out first, one grows into what is left.

    ``keep`` is the key of the column that decides the order: it must be seen.
    """
    kept = list(columns)

    def need(chosen: Sequence[Column], growth: int = 0) -> int:
        return sum(column.width + 1 + (growth if column.grows else 0) for column in chosen)

    def least() -> Column:
        return max(kept, key=lambda column: (column.key != keep, column.worth, kept.index(column)))

    # what nobody misses gives way to a name that can be read
    while least().worth >= _LUXURY and need(kept, _GROWTH) > width:
        kept.remove(least())
    while len(kept) > 1 and need(kept) > width:
        kept.remove(least())
    spare = width - need(kept)
    growing = [column for column in kept if column.grows]
    out = []
    for column in kept:
        takes = spare < 0 or (growing and column is growing[-1])
        extra = spare if takes else 0
        out.append(Placed(column, max(1, column.width + extra)))
    return out


def heading(placed: Sequence[Placed], width: int, sorted_by: str = "") -> Line:
    """The row of titles, the sorted column marked."""
    spans: list[Span] = []
    for column, size in placed:
        chosen = column.key == sorted_by and bool(sorted_by)
        title = f"{column.title}↓" if chosen and len(column.title) < size else column.title
        spans.append((fill(title, size, column.align), "headchosen" if chosen else "head"))
        spans.append((" ", ""))
    return tuple(spans)


def row_line(placed: Sequence[Placed], row: Any) -> Line:
    """One row as a line."""
    spans: list[Span] = []
    for column, size in placed:
        text, style = column.show(row)
        spans.append((fill(text, size, column.align), style))
        spans.append((" ", ""))
    return tuple(spans)
