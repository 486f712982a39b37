"""Records whose session the log does not name: kept apart, and formed into sessions anew whenever one comes or goes."""

from __future__ import annotations

from monitor.records import Call, Event
from monitor.sessions.told import Item, Key, name_of


class Loose:
    """Calls that name no session, and events that belong to a call (key ``<call>#…``)."""

    __slots__ = ("_assigned", "_calls", "_events", "changed")

    def __init__(self) -> None:
        self._calls: dict[str, tuple[Call, Key]] = {}
        self._events: dict[str, tuple[Event, Key]] = {}
        self._assigned: dict[str, Item] = {}  # each as it was given to a session
        self.changed = False

    def put(self, item: Item, place: Key) -> None:
        """Take a record."""
        if isinstance(item, Call):
            self._calls[name_of(item)] = (item, place)
        else:
            self._events[name_of(item)] = (item, place)
        self.changed = True

    def remove(self, item: Item) -> None:
        """Take a record out again."""
        if isinstance(item, Call):
            self._calls.pop(name_of(item), None)
        else:
            self._events.pop(name_of(item), None)
        self.changed = True

    def settle(self, session_by: str | None) -> tuple[list[tuple[Item | None, Key, Item]], list[Item]]:
        """Form sessions, and move the events of calls along.

        Returns:
            What is new or another one than before, as (what it was, its place, what it is); and what is gone.
        """
        from monitor.sessions.sessionize import assign, relocate

        self.changed = False
        entries = sorted(self._calls.values(), key=lambda entry: entry[1])
        assigned = assign([call for call, _ in entries], session_by=session_by)
        happened = list(self._events.values())
        moved = relocate([event for event, _ in happened], assigned)
        told: list[tuple[Item, Key, Item]] = [(c, p, r) for (c, p), r in zip(entries, assigned, strict=True)]
        told += [(e, p, r) for (e, p), r in zip(happened, moved, strict=True)]
        before, self._assigned = self._assigned, {}
        changes: list[tuple[Item | None, Key, Item]] = []
        for item, place, result in told:
            name = name_of(item)
            old = before.pop(name, None)
            if old is not None and old == result:
                self._assigned[name] = old
            else:
                self._assigned[name] = result
                changes.append((old, place, result))
        return changes, list(before.values())
