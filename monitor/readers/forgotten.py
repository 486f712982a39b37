"""Keys of what a parser has let go of, in eight bytes each.

A parser that follows a log all day cannot hold every answer in case one more line of it comes. It keeps the latest ones
and remembers only that it knew the others. A line that goes on with one of those makes it ask for the whole file again
(:attr:`~monitor.readers.base.BaseParser.reread`): rare, and exact.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable

#: so many of the latest are kept as they came, before they are sorted in
_RECENT = 4_096


class Forgotten:
    """A set of strings that says "no" or "probably": two strings in 2**64 are taken for one another."""

    __slots__ = ("_recent", "_sorted")

    def __init__(self) -> None:
        self._sorted = array("q")
        self._recent: set[int] = set()

    def update(self, keys: Iterable[str]) -> None:
        """Remember these."""
        self._recent.update(map(hash, keys))
        if len(self._recent) >= _RECENT:
            self._sorted = array("q", sorted([*self._sorted, *self._recent]))
            self._recent.clear()

    def __contains__(self, key: str) -> bool:
        number = hash(key)
        if number in self._recent:
            return True
        found = self._sorted
        place = bisect_left(found, number)
        return place < len(found) and found[place] == number

    def __len__(self) -> int:
        return len(self._sorted) + len(self._recent)
