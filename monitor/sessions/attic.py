"""The packed records of sessions that are watched all day: taken out of every index, known again by eight bytes each.

Whatever would touch a packed record (it is told again, its file is replaced, another session holds it too, a record is
older than it) first brings all packed records of its session back (:meth:`Attic.open`); everything then goes on as if
they had never been away. That is rare, as logs grow at their end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from monitor.readers.forgotten import Forgotten
from monitor.records import Call
from monitor.sessions import cold
from monitor.sessions.told import Item, Key

if TYPE_CHECKING:
    from monitor.sessions.build import Session

#: blocks of records that are packed at a time, so that no single update takes long
_AT_ONCE = 2


class Attic:
    """Which sessions have packed records."""

    def __init__(self) -> None:
        self.known: dict[str, Forgotten] = {}  # what is packed, by session
        self.untidy: dict[str, None] = {}  # sessions that may hold more than is to stay as it is

    def holding(self, item: Item) -> list[str]:
        """Sessions that have probably packed a record of this identity."""
        name = identity(item)
        return [session for session, known in self.known.items() if name in known]

    def of_file(self, file: str, sessions: dict[str, Session]) -> list[str]:
        """Sessions that have packed records of a file."""
        return [name for name in self.known if file in sessions[name].cold_files]

    def pack(self, session: Session, known_as: Callable[[Item], bool], forget: Callable[[Item, Key], object]) -> None:
        """Pack the oldest records of a session beyond those that are to stay.

        Args:
            known_as: whether a record is in the indexes as it is; a session with others is not packed.
            forget: takes a record out of the indexes.
        """
        if session.hot is None or len(session.order.tail) < session.hot + cold.BLOCK:
            return
        blocks = min(_AT_ONCE, (len(session.order.tail) - session.hot) // cold.BLOCK)
        old = session.items.tail[: blocks * cold.BLOCK]
        if not all(map(known_as, old)):
            session.hot = None
            return
        known = self.known.setdefault(session.name, Forgotten())
        known.update(identity(item) for item in old)
        session.cold_files.update(dict.fromkeys(item.file for item in old))
        for item, place in zip(old, session.order.tail):
            forget(item, place)
        session.items.pack(blocks)
        session.order.pack(blocks)

    def tidy(
        self,
        sessions: dict[str, Session],
        sharing: set[str],
        known_as: Callable[[Item], bool],
        forget: Callable[[Item, Key], object],
    ) -> bool:
        """Pack some of a session that was not tidied yet; False if there was nothing to do."""
        while self.untidy:
            name = next(iter(self.untidy))
            session = sessions.get(name)
            if session is not None:
                before = session.packed
                session.pack()
                if name not in sharing:
                    self.pack(session, known_as, forget)
                if session.packed != before:
                    return True
            del self.untidy[name]
        return False

    def open(self, session: Session) -> Iterator[tuple[int, Item, Key]]:
        """Unpack a session's records; yields each with its number, so that it can be put into the indexes again."""
        if self.known.pop(session.name, None) is None:
            return
        count = session.items.packed
        session.items.unpack()
        session.order.unpack()
        session.cold_files.clear()
        # it seems to be one whose past is told again and again: only what is added from now on is packed
        session.hot = max(session.hot or 0, len(session.items))
        for number in range(count):
            yield number, session.items[number], session.order[number]


def identity(item: Item) -> str:
    """What a record is known by: over all files where it has a key, else by its place."""
    return item.key or f"{item.file}\n{'c' if type(item) is Call else 'e'}{item.line}"
