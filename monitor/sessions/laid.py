"""Sessions that are in the cache: their turns, unpacked when somebody looks at them, and what is derived from them.

See :mod:`monitor.sessions.recall`, which makes them.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Protocol, TypeVar, overload

import msgspec

from monitor.sessions.view import SessionView, Turn

#: turns that are held unpacked, of all sessions together
HELD = 20_000


class Keeper(Protocol):
    """Where packed sessions come from."""

    def turns(self, part: int, place: int) -> tuple[Turn, ...]:
        """Those of one session."""

    def derived(self, part: int, place: int, name: str) -> bytes | None:
        """What an earlier run derived from a session."""


class Known(msgspec.Struct):
    """A session that is in the cache, and what was derived from it in this run."""

    keeper: Keeper
    part: int
    place: int
    owner: int = 0  # id of its view, so that a changed copy of that is not taken for it
    fresh: dict[str, bytes] = msgspec.field(default_factory=dict)


D = TypeVar("D", bound=msgspec.Struct)


def derived(view: SessionView, name: str, kind: type[D], make: Callable[[SessionView], D]) -> D:
    """``make(view)``, or what an earlier run made of the same session: a function of the view alone is worth keeping.

    Args:
        name: of the function, among all.
        kind: what it makes.
    """
    known: Known | None = getattr(view.turns, "known", None)
    if known is None or known.owner != id(view):
        return make(view)
    data = known.keeper.derived(known.part, known.place, name)
    if data is not None:
        with suppress(msgspec.DecodeError):
            return msgspec.msgpack.decode(data, type=kind)
    value = make(view)
    known.fresh[name] = msgspec.msgpack.encode(value)
    return value


def keep_mark(view: SessionView, changed: SessionView) -> SessionView:
    """A changed copy of a session from which all functions given to :func:`derived` still make the same."""
    known: Known | None = getattr(view.turns, "known", None)
    if known is not None and known.owner == id(view):
        known.owner = id(changed)
    return changed


class Marked(tuple[Turn, ...]):
    """Turns of a session that has just been stored."""

    known: Known


class LaidTurns(Sequence[Turn]):
    """Turns of a session that are unpacked when somebody looks at them. Equal to any sequence of equal turns.

    Those that were looked at last are held, up to :data:`HELD` turns of all sessions.
    """

    __slots__ = ("__weakref__", "_count", "known")

    def __init__(self, known: Known, count: int) -> None:
        self.known, self._count = known, count

    def _all(self) -> tuple[Turn, ...]:
        found = _held.get(self)
        if found is None:
            found = self.known.keeper.turns(self.known.part, self.known.place)
            _hold(self, found)
        return found

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, place: int) -> Turn: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Turn, ...]: ...
    def __getitem__(self, place: int | slice) -> Turn | tuple[Turn, ...]:
        return self._all()[place]

    def __iter__(self) -> Iterator[Turn]:
        return iter(self._all())

    def __reversed__(self) -> Iterator[Turn]:
        return reversed(self._all())

    def __eq__(self, other: object) -> bool:
        return self is other or (tuple(other) == self._all() if isinstance(other, Sequence) else NotImplemented)

    __hash__ = object.__hash__


_held: weakref.WeakKeyDictionary[LaidTurns, tuple[Turn, ...]] = weakref.WeakKeyDictionary()
_count = 0  # turns in it, or more: it is not told when some are let go of


def _hold(whose: LaidTurns, turns: tuple[Turn, ...]) -> None:
    """Hold turns; of those that are held the older half goes when they are too many."""
    global _count
    _count += len(turns)
    if _count > HELD:
        _count = sum(map(len, _held.values())) + len(turns)
        for other in list(_held):
            if _count <= HELD // 2:
                break
            _count -= len(_held.pop(other))
    _held[whose] = turns
