"""Keys of what a parser has let go of, in eight bytes each.

A parser that follows a log all day cannot hold every answer in case one more line of it comes. It keeps the latest ones
and remembers only that it knew the others. A line that goes on with one of those makes it ask for the whole file again
(:attr:`~monitor.readers.base.BaseParser.reread`): rare, and exact.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable
from typing import Generic, TypeVar

T = TypeVar("T")

#: so many of the latest entries are kept in case something is added to them
KEPT = 500
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


class Latest(dict[str, T], Generic[T]):
    """A mapping that can let go of all but its latest entries and knows the keys of the others."""

    __slots__ = ("_gone",)

    def __init__(self) -> None:
        super().__init__()
        self._gone: Forgotten | None = None

    def trim(self, keep: int = KEPT) -> None:
        """Let go of all but the last ``keep`` entries, if there are more than four times as many."""
        if len(self) > 4 * keep:
            names = list(self)[:-keep]
            if self._gone is None:
                self._gone = Forgotten()
            self._gone.update(names)
            for name in names:
                del self[name]

    def knew(self, key: str) -> bool:
        """Whether an entry of this key has (probably) been let go of."""
        return self._gone is not None and key in self._gone
