"""Long histories in little memory: the old part of a list is packed, its end stays as objects.

A session watched all day has a hundred thousand calls, of which the last few thousand matter for anything that happens
next. A :class:`History` is a list that only grows at its end (and may be cut there); :meth:`History.pack` turns its old
part into compressed blocks, some 40 to 100 bytes an entry instead of 1,500. Reading an old entry unpacks its block.
Packing loses nothing: entries come back equal, though not as the same objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")

#: entries in a block: the price of reading one old entry (a few microseconds for each entry of its block)
BLOCK = 256


def _pack(entries: Sequence[Any]) -> bytes:
    import pickle  # only a program that runs all day packs anything
    import zlib

    return zlib.compress(pickle.dumps(list(entries), 5), 1)


def _unpacked(block: bytes) -> list[Any]:
    import pickle
    import zlib

    found: list[Any] = pickle.loads(zlib.decompress(block))
    return found


#: what was read last, so that going on from there is cheap; nobody changes these lists
_unpack = lru_cache(maxsize=12)(_unpacked)


class Kept(Sequence[T], Generic[T]):
    """Reading a list whose first entries are packed. Slices are tuples. Equal to any sequence of equal entries."""

    __slots__ = ("_blocks", "tail")

    def __init__(self, blocks: Sequence[bytes], tail: Sequence[T]) -> None:
        self._blocks = blocks  # BLOCK entries each
        self.tail = tail

    @property
    def packed(self) -> int:
        """So many of the first entries are packed."""
        return len(self._blocks) * BLOCK

    def __len__(self) -> int:
        return len(self._blocks) * BLOCK + len(self.tail)

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[T, ...]: ...
    def __getitem__(self, place: int | slice) -> T | tuple[T, ...]:
        cold = len(self._blocks) * BLOCK
        if isinstance(place, slice):
            start, stop, step = place.indices(len(self))
            if step == 1 and start >= cold:
                return tuple(self.tail[start - cold : max(start, stop) - cold])
            return tuple(self[i] for i in range(start, stop, step))
        if place < 0:
            place += cold + len(self.tail)
            if place < 0:
                raise IndexError("history index out of range")
        if place >= cold:
            return self.tail[place - cold]
        entry: T = _unpack(self._blocks[place // BLOCK])[place % BLOCK]
        return entry

    def __iter__(self) -> Iterator[T]:
        for number, block in enumerate(self._blocks):
            # who looks for the first of a kind comes here again and again; the others would push each other out
            yield from _unpacked(block) if number else _unpack(block)
        yield from self.tail

    def __reversed__(self) -> Iterator[T]:
        yield from reversed(self.tail)
        for block in reversed(self._blocks):
            yield from reversed(_unpack(block))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self)}, {self.packed} of them packed>"


class History(Kept[T]):
    """A list that can be packed. Entries are put in anywhere but in the packed part (see :meth:`unpack`)."""

    __slots__ = ()
    _blocks: list[bytes]
    tail: list[T]  # the entries that are not packed; the list itself, for searching in it

    def __init__(self, entries: Iterable[T] = ()) -> None:
        super().__init__([], list(entries))

    def append(self, entry: T) -> None:
        """At the end."""
        self.tail.append(entry)

    def insert(self, place: int, entry: T) -> None:
        """Before the entry at ``place``, which must not be packed."""
        self.tail.insert(self._hot(place), entry)

    def __setitem__(self, place: int, entry: T) -> None:
        self.tail[self._hot(place)] = entry

    def __delitem__(self, place: int) -> None:
        del self.tail[self._hot(place)]

    def _hot(self, place: int) -> int:
        if place < self.packed:
            raise IndexError("this part of the history is packed")
        return place - self.packed

    def cut(self, length: int) -> None:
        """Keep the first ``length`` entries; what is left of the block that is cut through becomes objects again."""
        if length >= self.packed:
            del self.tail[length - self.packed :]
            return
        whole = length // BLOCK
        part = _unpacked(self._blocks[whole])[: length % BLOCK]
        del self._blocks[whole:]
        self.tail[:] = part

    def pack(self, blocks: int) -> None:
        """Pack the oldest ``blocks`` blocks of what is not packed yet, at most as many as there are."""
        for _ in range(min(blocks, len(self.tail) // BLOCK)):
            self._blocks.append(_pack(self.tail[:BLOCK]))
            del self.tail[:BLOCK]

    def unpack(self) -> None:
        """All entries as objects again."""
        if self._blocks:
            self.tail[:0] = [entry for block in self._blocks for entry in _unpacked(block)]
            self._blocks.clear()

    def freeze(self) -> Sequence[T]:
        """The list as it is now; later changes do not show in it."""
        return Kept(tuple(self._blocks), tuple(self.tail)) if self._blocks else tuple(self.tail)
