"""The tables of turns and events."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from datetime import tzinfo

from monitor.dashboard.model.calls import outcome
from monitor.dashboard.model.curve import unchanged
from monitor.dashboard.model.tables import Column
from monitor.dashboard.model.text import UNKNOWN, Span, moment, percent, printable, tokens, usd
from monitor.records import Event
from monitor.reports.words import (
    MISS,
    PARTIAL,
    event_sign,
    event_word,
    read_share,
    turn_cost_mark,
    turn_mark,
    turn_output_mark,
)
from monitor.sessions.view import CompactionCost, SessionView, Turn

SORTS = ("turn", "prompt", "new", "write", "out", "cost")
FILTERS = ("all", "chain", "misses", "errors", "resets")


def _share(turn: Turn) -> Span:
    share = read_share(turn)
    if share is None:
        return (UNKNOWN, "dim")
    return (percent(share), outcome(turn)[1])


class TurnList:
    """All calls of a session, newest first; a row is a :class:`Turn`.

    In the natural order of all turns no list is built: row *n* is the call *n* from the end. Any other list is extended
    as the session grows; turns that were looked at once are not looked at again.
    """

    def __init__(self, zone: tzinfo | None = None) -> None:
        self.view: SessionView | None = None
        self.zone = zone
        self.sort = SORTS[0]
        self.filter = FILTERS[0]
        self.chain = "main"
        self._kept: list[int] | None = None  # places in view.turns of what is shown, ascending; None = all
        self._values: list[float] = []  # by which they are sorted
        self._order: list[int] | None = None  # numbers in _kept, top first; None = newest first
        self._seen = 0
        self._events: dict[int, list[Event]] = {}
        self._changes = 0
        self.columns: Sequence[Column] = self._columns()

    @property
    def version(self) -> object:
        """Changes with each update."""
        return self._changes

    def update(self, view: SessionView | None, *, sort: str = "turn", only: str = "all", chain: str = "main") -> None:
        """Take over a session, an order and a choice of rows. Nothing happens if all are the same as before."""
        asked = (sort, only, chain)
        if view is self.view and asked == (self.sort, self.filter, self.chain):
            return
        old = self.view.turns if self.view is not None else ()
        goes_on = (
            view is not None
            and self.view is not None
            and view.session == self.view.session
            and asked == (self.sort, self.filter, self.chain)
            and only != "resets"  # depends on events, which may come to stand anywhere
        )
        self.view, self.sort, self.filter, self.chain = view, sort, only, chain
        self._changes += 1
        self._events = {}
        if view is None:
            self._kept, self._order, self._values, self._seen = None, None, [], 0
            return
        for event in view.events:
            if event.before_call is not None:
                self._events.setdefault(event.before_call, []).append(event)
        self._list(view.turns, unchanged(old, view.turns, self._seen) if goes_on else 0)

    def _list(self, turns: Sequence[Turn], known: int) -> None:
        """Make the list of rows; what came from the first ``known`` turns is still right."""
        self._seen = known
        self._order = None
        value = _SORT_KEYS.get(self.sort)
        if value is None and self.filter == "all":
            self._kept = None
            return
        if not known or self._kept is None:
            self._kept, self._values, known = [], [], 0
        kept, values = self._kept, self._values
        size = bisect_left(kept, known)
        del kept[size:], values[size:]
        keep = self._keep()
        place = known
        for turn in turns[known:] if known else turns:
            if keep(turn):
                kept.append(place)
                if value is not None:
                    values.append(value(turn))
            place += 1
        self._seen = place
        if value is not None:  # of equal ones the newest stands first
            self._order = sorted(range(len(kept) - 1, -1, -1), key=values.__getitem__, reverse=True)

    def _keep(self) -> Callable[[Turn], bool]:
        if self.filter == "misses":
            return lambda turn: turn.cache_outcome in ("miss", "partial") and turn.call.purpose == "work"
        if self.filter == "errors":
            return lambda turn: turn.call.status == "error"
        if self.filter == "resets":
            places = {index for index, events in self._events.items() if any(e.kind in _RESET for e in events)}
            return lambda turn: turn.index in places or turn.call.purpose == "compaction"
        if self.filter == "chain":
            chain = self.chain
            if chain == "*":
                return lambda turn: turn.call.chain != "side"
            return lambda turn: turn.call.chain == chain
        return lambda turn: True

    def __len__(self) -> int:
        if self.view is None:
            return 0
        return len(self.view.turns) if self._kept is None else len(self._kept)

    def row(self, number: int) -> Turn:
        """The call in a row."""
        assert self.view is not None
        turns = self.view.turns
        if self._kept is None:
            return turns[len(turns) - 1 - number]
        return turns[self._kept[len(self._kept) - 1 - number if self._order is None else self._order[number]]]

    def name(self, number: int) -> int:
        """The index of the call in a row."""
        return self.row(number).index

    def find(self, index: int) -> int | None:
        """The row of the call with this index in the session."""
        if self.view is None:
            return None
        turns = self.view.turns
        place = index
        if not (0 <= index < len(turns) and turns[index].index == index):
            place = bisect_left(turns, index, key=lambda turn: turn.index)
            if place == len(turns) or turns[place].index != index:
                return None
        if self._kept is None:
            return len(turns) - 1 - place
        number = bisect_left(self._kept, place)
        if number == len(self._kept) or self._kept[number] != place:
            return None
        return len(self._kept) - 1 - number if self._order is None else self._order.index(number)

    def _event(self, turn: Turn) -> Span:
        call = turn.call
        for event in self._events.get(turn.index, ()):
            if event.kind in ("model_switch", "error"):
                continue
            return (f"{event_sign(event)} {event_word(event)}", "mark")
        if call.status == "error":
            return ("! failed", "bad")
        if call.status == "in_flight":
            return ("… in flight", "warn")
        if call.purpose == "compaction":
            return ("writes the summary", "mark")
        if turn.cache_outcome in ("miss", "partial"):
            word, style = outcome(turn)
            return (f"{MISS if turn.cache_outcome == 'miss' else PARTIAL} {word}", style)
        for event in self._events.get(turn.index, ()):
            return (f"{event_sign(event)} {event_word(event)}", "mark")
        return ("", "")

    def _columns(self) -> tuple[Column, ...]:
        return (
            Column("turn", "turn", 7, ">", 1, lambda t: (f"#{t.index}", "")),
            Column("time", "time", 8, "<", 5, lambda t: (moment(t.call.time, self.zone), "dim")),
            Column("chain", "line", 8, "<", 12, lambda t: (_chain(t.call.chain), "dim")),
            Column("prompt", "prompt", 6, ">", 1, lambda t: (tokens(t.call.prompt_tokens, turn_mark(t)), "bold")),
            Column("read", "cached", 6, ">", 4, lambda t: (tokens(t.call.cache_read_tokens), "readword")),
            Column("write", "write", 6, ">", 6, lambda t: (tokens(t.call.cache_write_tokens), "writeword")),
            Column("new", "new", 6, ">", 7, lambda t: (tokens(t.call.fresh_tokens), "freshword")),
            Column("out", "out", 6, ">", 8, lambda t: (tokens(t.call.output_tokens, turn_output_mark(t)), "")),
            Column("hit", "hit", 4, ">", 3, _share),
            Column("cost", "cost", 8, ">", 9, lambda t: (usd(t.cost_usd, turn_cost_mark(t)), "")),
            Column("message", "msg", 4, ">", 13, lambda t: (_number(t.exchange), "dim")),
            Column("event", "event", 12, "<", 2, self._event, True),
        )


def _chain(chain: str) -> str:
    return printable(chain.removeprefix("agent:"))


def _number(value: int | None) -> str:
    return UNKNOWN if value is None else str(value)


_RESET = frozenset({"compaction", "microcompaction", "trim", "clear", "rewind", "unexplained_drop"})
_SORT_KEYS: dict[str, Callable[[Turn], float]] = {
    "prompt": lambda turn: -1 if turn.call.prompt_tokens is None else turn.call.prompt_tokens,
    "new": lambda turn: -1 if turn.call.fresh_tokens is None else turn.call.fresh_tokens,
    "write": lambda turn: -1 if turn.call.cache_write_tokens is None else turn.call.cache_write_tokens,
    "out": lambda turn: -1 if turn.call.output_tokens is None else turn.call.output_tokens,
    "cost": lambda turn: -1.0 if turn.cost_usd is None else turn.cost_usd,
}


class EventList:
    """Events of a session, newest first; a row is an event with its cost if it was a compaction."""

    def __init__(self, zone: tzinfo | None = None) -> None:
        self.zone = zone
        self._view: SessionView | None = None
        self._rows: list[tuple[Event, CompactionCost | None]] = []
        self._changes = 0
        self.columns: Sequence[Column] = (
            Column("turn", "turn", 5, ">", 2, lambda r: (_turn_of(r[0]), "")),
            Column("time", "time", 8, "<", 5, lambda r: (moment(r[0].time, self.zone), "dim")),
            Column("kind", "event", 14, "<", 1, _kind),
            Column("sizes", "size", 9, "<", 2, _sizes),
            Column("evidence", "evidence", 8, "<", 3, lambda r: (r[0].evidence, "dim")),
            Column("trigger", "trigger", 7, "<", 7, lambda r: (r[0].trigger or UNKNOWN, "dim")),
            Column("chain", "line", 8, "<", 9, lambda r: (_chain(r[0].chain), "dim")),
            Column("rewrite", "rewrite", 8, ">", 8, lambda r: (usd(r[1].rewrite_usd if r[1] else None), "")),
            Column("saved", "saved", 8, ">", 6, lambda r: (usd(r[1].saved_usd if r[1] else None), "")),
            Column("verdict", "paid back?", 10, "<", 4, lambda r: (r[1].verdict if r[1] else "", "dim"), True),
        )

    @property
    def version(self) -> object:
        """Changes with each update."""
        return self._changes

    def update(self, view: SessionView | None) -> None:
        """Take over a session."""
        if view is self._view:
            return
        self._view = view
        self._changes += 1
        if view is None:
            self._rows = []
            return
        costs = {id(cost.event): cost for cost in view.compaction_costs}
        by_place = {(cost.event.file, cost.event.line, cost.event.time): cost for cost in view.compaction_costs}
        self._rows = [
            (event, costs.get(id(event)) or by_place.get((event.file, event.line, event.time)))
            for event in reversed(view.events)
        ]

    def __len__(self) -> int:
        return len(self._rows)

    def row(self, number: int) -> tuple[Event, CompactionCost | None]:
        """The event in a row."""
        return self._rows[number]

    def name(self, number: int) -> tuple[object, ...]:
        """What identifies the event in a row."""
        event = self._rows[number][0]
        return (event.kind, event.file, event.line, event.time, event.before_call)


def _turn_of(event: Event) -> str:
    if event.before_call is not None:
        return f"#{event.before_call}"
    return f"#{event.after_call}" if event.after_call is not None else UNKNOWN


def _sizes(row: tuple[Event, CompactionCost | None]) -> Span:
    event = row[0]
    if event.tokens_before is None and event.tokens_after is None:
        return (printable(event.detail), "dim")
    return (f"{tokens(event.tokens_before)}→{tokens(event.tokens_after)}", "")


def _kind(row: tuple[Event, CompactionCost | None]) -> Span:
    event = row[0]
    style = "bad" if event.kind in ("error", "overflow", "thrash") else "mark"
    return (f"{event_sign(event)} {event_word(event)}", style)
