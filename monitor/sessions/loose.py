"""Records whose session the log does not name: kept apart, and formed into sessions anew whenever one comes or goes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from msgspec.structs import replace

from monitor.records import Call, Event
from monitor.sessions.build import Session
from monitor.sessions.copies import copied, untaken
from monitor.sessions.told import Item, Key, is_loose, name_of
from monitor.sessions.twins import AGENTS, REACH, Pairs

#: the calls, compactions and overflows of clients' own files between two moments
Nearby = Callable[[int, int], Iterable[Item]]


class Loose:
    """Calls that name no session, and events that belong to a call (key ``<call>#…``)."""

    __slots__ = ("_assigned", "_calls", "_copies", "_events", "_formed", "_sent", "_span", "changed", "twins")

    def __init__(self) -> None:
        self._calls: dict[str, tuple[Call, Key]] = {}
        self._events: dict[str, tuple[Event, Key]] = {}
        self._copies: list[Call] = []  # that another capture tells
        self._assigned: dict[str, tuple[Item, Key]] = {}  # each as it was given to a session, and where it stands
        self._sent: dict[str, int | None] = {}  # when calls began, by key
        self._span: tuple[int, int] | None = None  # first and last of them
        self._formed: list[tuple[str, Key, Item]] = []  # the name of each, its place, and as sessions were formed
        self.twins = Pairs()
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

    def due(self, changed: Iterable[Session]) -> bool:
        """Whether sessions are to be formed, or clients told calls that may be some of these."""
        if self.changed or self._span is None:
            return self.changed
        return next(nearby(changed, *self._span), None) is not None

    def twin_calls(self) -> list[Call]:
        """Calls that count where a client's own file, or another capture, tells them."""
        return [*self._copies, *(call for call, _ in self._calls.values() if call.key in self.twins.twin)]

    def settle(
        self, session_by: str | None, nearby: Nearby
    ) -> tuple[list[tuple[Item | None, Key, Item | None, Key]], list[Item]]:
        """Form sessions, and move the events of calls along.

        Args:
            session_by: see :func:`~monitor.sessions.sessionize.assign`.
            nearby: calls of clients' own files, which may be the same as these.

        Returns:
            What is new or another one than before, as (what it was, its place, what it is, its place), None where a
            client's file tells it; and what is gone.
        """
        if self.changed:
            self.changed = False
            self._form(session_by)
        if session_by is None:
            self._pair(nearby)
        homes, told = self.twins.moved, {client.session for client in self.twins.twin.values()}
        apart = not (homes or told)
        before, self._assigned = self._assigned, {}
        changes: list[tuple[Item | None, Key, Item | None, Key]] = []
        for name, place, formed in self._formed:
            old, old_place = before.pop(name, (None, place))
            result = formed if apart else self._at_home(formed, homes.get(formed.session, formed.session))
            if (
                result is None
                or (type(result) is Event and result.evidence == "inferred" and result.session in told)
                or formed.key in self.twins.again
            ):
                # a client's file tells it, or would if it had happened: these note by themselves when they compact
                if old is not None:
                    changes.append((old, old_place, None, place))
                continue
            if type(result) is Event and result.time is not None and result is not formed:
                place = (result.time, *place[1:])
            if old is not None and old == result and old_place == place:
                self._assigned[name] = old, place
            else:
                self._assigned[name] = result, place
                changes.append((old, old_place, result, place))
        return changes, [item for item, _ in before.values()]

    def _at_home(self, item: Item, home: str) -> Item | None:
        """A record of the traffic in the session of the client that caused it; None for a call the client tells."""
        twins = self.twins.twin
        if type(item) is Call:
            own = twins.get(item.key)
            if own is not None and own.prompt_tokens is None and item.prompt_tokens is not None:
                # the client could not read the answer: of two calls with one key the fuller one counts
                return replace(item, session=home, key=own.key, chain=own.chain, exchange=own.exchange)
            if own is not None and own.reasoning_tokens is None and item.reasoning_tokens is not None and own.key:
                # the client's telling counts, with what only the provider said
                return replace(own, reasoning_tokens=item.reasoning_tokens)
            if own is not None:
                return None
            chain = self.twins.chain.get(item.session, "main") if item.chain == "main" else item.chain
            if home == item.session and chain == item.chain:
                return item
            return replace(item, session=home, chain=chain, session_evidence="explicit")
        twin = twins.get(item.key.rpartition("#")[0])
        if twin is None or type(item) is not Event:
            return item if home == item.session else replace(item, session=home)
        # clients note a call later than it was sent: what happened before it or at its end stays on that side of it
        time, sent = item.time, self._sent.get(item.key.rpartition("#")[0])
        if time is not None and twin.time is not None and sent is not None:
            time = twin.time - 1 if time < sent else max(time, twin.time + 1)
        return replace(item, session=home, time=time, in_call=item.in_call and twin.key)

    def part(self) -> None:
        """A file is told anew: what it told may have been the twin of a call here."""
        if self.twins.twin:
            self.twins.clear()
            self.changed = True

    def _pair(self, nearby: Nearby) -> None:
        formed = [item for _, _, item in self._formed if type(item) is Call]
        times = [call.time for call in formed if call.time is not None]
        self._span = (min(times), max(times)) if times else None
        if self._span is not None:
            mine = {id(item) for item, _ in self._assigned.values()}  # clients' calls that were filled up from here
            notes = [one for one in nearby(*self._span) if id(one) not in mine]
            self.twins.find(formed, notes)
            self.twins.repeat((item for _, _, item in self._formed if type(item) is Event), notes)
        self._sent = {call.key: call.time for call in formed} if self.twins.twin else {}

    def _form(self, session_by: str | None) -> None:
        from monitor.sessions.sessionize import assign, relocate

        entries = sorted(self._calls.items(), key=lambda entry: entry[1][1])
        happened = list(self._events.items())
        self._copies = []
        if session_by is None and (again := set(copied([call for _, (call, _) in entries]))):
            self._copies = [entries[place][1][0] for place in sorted(again)]
            entries = [entry for place, entry in enumerate(entries) if place not in again]
            whose = {(call.file, call.key) for call in self._copies}
            happened = [one for one in happened if (one[1][0].file, one[1][0].key.rpartition("#")[0]) not in whose]
        assigned = assign([call for _, (call, _) in entries], session_by=session_by)
        moved = relocate([event for _, (event, _) in happened], assigned) if happened else []
        if no := untaken(assigned, moved):
            happened = [one for at, one in enumerate(happened) if at not in no]
            moved = [one for at, one in enumerate(moved) if at not in no]
        self._formed = [(name, place, formed) for (name, (_, place)), formed in zip(entries, assigned, strict=True)]
        self._formed += [(name, place, formed) for (name, (_, place)), formed in zip(happened, moved, strict=True)]


def nearby(sessions: Iterable[Session], first: int, last: int) -> Iterator[Item]:
    """Calls, compactions and overflows of clients' own files between two moments, or a little beside them.

    Packed ones were compared before.
    """
    first, last = first - REACH, last + REACH
    for session in sessions:
        session.sort()
        order, items = session.order.tail, session.items.tail
        if order and order[0][0] <= last and order[-1][0] >= first:
            for item, place in zip(items, order, strict=True):
                if first <= place[0] <= last and (_is_own(item) or _is_noted(item)):
                    yield item


def _is_own(item: Item) -> bool:
    return type(item) is Call and item.source in AGENTS and not is_loose(item)


def _is_noted(item: Item) -> bool:
    noted = type(item) is Event and item.evidence == "recorded" and item.kind in ("compaction", "overflow")
    return noted and not is_loose(item)
