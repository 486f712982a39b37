"""A curve: the calls of one line of context as plain columns of numbers, ready to be drawn.

Built once and then extended: a session of 100,000 calls that gains one costs the work for one; old turns, which may be
packed, are not looked at again. Positions count the calls on the curve from 0; ``index`` leads from a position to the
place in ``view.turns``.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from monitor.records import Event
from monitor.reports.words import event_sign
from monitor.sessions.view import SessionView, Turn

#: what the cache did, as a number that grows with how much a reader should see it; the largest of a column is shown
NOTHING, HIT, UNREPORTED, FIRST, PARTIAL, MISS, ERROR = range(7)

_OUTCOME = {"hit": HIT, "unreported": UNREPORTED, "first": FIRST, "partial": PARTIAL, "miss": MISS}

#: choice of calls: the main line, all lines on one axis
MAIN = "main"
ALL = "*"

#: where two events fall on one column the later of this list is drawn
_ORDER = [
    "fork", "rewind", "unexplained_drop", "error", "model_switch", "trim", "microcompaction", "thrash", "overflow",
    "clear", "compaction",
]  # fmt: skip
RANK = {kind: rank for rank, kind in enumerate(_ORDER)}
#: events that begin a new window: a dashed line rises from them
RESETS = frozenset({"compaction", "clear"})


class Mark(NamedTuple):
    """An event at its place on the curve: before the call at ``position``."""

    position: int
    kind: str
    glyph: str
    event: Event


class Curve:
    """Columns of the calls of one chain (or of all) of a session. -1 stands for unknown in the number columns."""

    def __init__(self, session: str, choice: str = MAIN) -> None:
        self.session = session
        self.choice = choice
        self.view: SessionView | None = None
        self.turns: Sequence[Turn] = ()
        self._seen = 0
        self._plain = True  # the index of each call is its place in ``turns``
        self.index: array[int] = array("q")
        self.total: array[int] = array("q")
        self.read: array[int] = array("q")
        self.write: array[int] = array("q")
        self.hold: array[int] = array("q")  # in a picture of all lines: what the main line holds meanwhile, else -1
        self.line: array[int] = array("q")  # number of the chain in ``chains``
        self.state = bytearray()
        self.alerts: list[int] = []  # positions of misses (partial and full), ascending
        self.errors: list[int] = []
        self.chains: list[str] = []
        self.marks: list[Mark] = []
        self.peak = 0
        self.version = 0  # grows with each update
        self._main = -1

    def __len__(self) -> int:
        return len(self.index)

    def update(self, view: SessionView) -> bool:
        """Take over a newer view of the session. True if the columns had to be built from the start."""
        same = unchanged(self.turns, view.turns, self._seen)
        rebuilt = same == 0
        if same < self._seen:
            self._cut(same)
        self.view = view
        self.turns = view.turns
        last = len(view.turns) - 1
        self._plain = last < 0 or (view.turns[last].index == last and view.turns[0].index == 0)
        self._append(view.turns)
        self.version += 1
        self.marks = self._find_marks(view.events)
        return rebuilt

    def _cut(self, count: int) -> None:
        """Forget what came from turns behind the first ``count``."""
        self._seen = count
        size = bisect_left(self.index, count)
        highest = max(self.total[size:], default=-1)
        for column in (self.index, self.total, self.read, self.write, self.hold, self.line):
            del column[size:]
        del self.state[size:]
        for places in (self.alerts, self.errors):
            del places[bisect_left(places, size) :]
        if not size:
            self.chains.clear()
        if highest >= self.peak:
            self.peak = max(0, max(self.total, default=0))
        self._main = -1
        if self.choice == ALL and MAIN in self.chains:
            main = self.chains.index(MAIN)
            back = (p for p in range(size - 1, -1, -1) if self.line[p] == main and self.total[p] >= 0)
            found = next(back, None)
            self._main = -1 if found is None else self.total[found]

    def _wanted(self, turn: Turn) -> bool:
        call = turn.call
        if self.choice == ALL:
            return call.chain != "side" and call.purpose == "work"
        return call.chain == self.choice and (call.purpose == "work" or call.chain == "side")

    def _append(self, turns: Sequence[Turn]) -> None:
        numbers = {chain: i for i, chain in enumerate(self.chains)}
        for i in range(self._seen, len(turns)):
            turn = turns[i]
            if not self._wanted(turn):
                continue
            call = turn.call
            position = len(self.index)
            total = _number(call.prompt_tokens)
            read = _number(call.cache_read_tokens)
            write = None if call.cache_write_tokens is None else _number(call.cache_write_tokens)
            if write is None:
                # the split is drawn only where it is known; without it the bar is one plain block
                if read >= 0 and call.fresh_tokens is not None and total >= 0:
                    write = max(0, total - read - call.fresh_tokens)
                elif read >= 0:
                    write = 0
                else:
                    write = -1
            state = _OUTCOME.get(turn.cache_outcome, UNREPORTED) if total >= 0 else NOTHING
            if call.status == "error":
                state = ERROR
                self.errors.append(position)
            elif state in (PARTIAL, MISS):
                self.alerts.append(position)
            number = numbers.get(call.chain)
            if number is None:
                number = numbers[call.chain] = len(self.chains)
                self.chains.append(call.chain)
            if call.chain == MAIN:
                self.hold.append(-1)
                if total >= 0:
                    self._main = total
            else:
                self.hold.append(self._main if self.choice == ALL else -1)
            self.peak = max(self.peak, total)
            self.index.append(i)
            self.total.append(total)
            self.read.append(min(read, total) if total >= 0 else -1)
            self.write.append(write)
            self.line.append(number)
            self.state.append(state)
        self._seen = len(turns)

    def _find_marks(self, events: Sequence[Event]) -> list[Mark]:
        marks: list[Mark] = []
        for event in events if self.index else ():
            if event.chain != self.choice and self.choice != ALL:
                continue
            position = self.event_position(event)
            if position is not None:
                marks.append(Mark(position, event.kind, event_sign(event), event))
        marks.sort(key=lambda mark: mark.position)
        return marks

    def event_position(self, event: Event) -> int | None:
        """The call an event stands before; the last call if nothing came after it; None if it has no place."""
        if event.before_call is not None:
            return min(self.position_of(event.before_call), len(self.index) - 1)
        if event.after_call is not None:
            place = bisect_right(self.index, self._place(event.after_call))
            return min(place, len(self.index) - 1)
        if event.time is None:
            return None
        return min(self.position_at(event.time), len(self.index) - 1)

    def _place(self, index: int) -> int:
        """From a call's index in the session to its place in ``turns`` (the same number in almost every session)."""
        turns = self.turns
        if self._plain:
            return max(0, min(index, len(turns)))
        return bisect_left(turns, index, key=lambda turn: turn.index)

    def position_of(self, index: int) -> int:
        """Position of the call with this index in the session, or of the next one on the curve."""
        return bisect_left(self.index, self._place(index))

    def number(self, position: int) -> int | None:
        """Index in the session of the call at a position, None outside the curve."""
        if not 0 <= position < len(self.index):
            return None
        place = self.index[position]
        return place if self._plain else self.turns[place].index

    def position_at(self, time: int) -> int:
        """Position of the first call at or after a time."""
        turns = self.turns
        return bisect_left(self.index, time, key=lambda i: turns[i].call.time or 0)

    def turn(self, position: int) -> Turn | None:
        """The call at a position, None outside the curve."""
        if 0 <= position < len(self.index):
            return self.turns[self.index[position]]
        return None

    def next_reset(self, position: int, step: int) -> int | None:
        """Position of the next (``step`` 1) or previous (-1) compaction, trim or clear."""
        places = [mark.position for mark in self.marks if mark.kind in _JUMPS]
        return _jump(places, position, step)

    def next_alert(self, position: int, step: int) -> int | None:
        """Position of the next or previous call that missed the cache, wholly or in part."""
        return _jump(self.alerts, position, step)

    def next_error(self, position: int, step: int) -> int | None:
        """Position of the next or previous failed call or error event."""
        places = sorted({*self.errors, *(m.position for m in self.marks if m.kind in ("error", "overflow"))})
        return _jump(places, position, step)


_JUMPS = frozenset({"compaction", "microcompaction", "trim", "clear", "rewind"})


def _number(value: int | None) -> int:
    """A figure of a log as the columns hold it. Nonsense of twenty digits is drawn as something very large."""
    return -1 if value is None else min(value, _LARGEST)


_LARGEST = 1 << 60


#: so many of the last turns are compared, and so many in front of the first one that differs
_LOOK, _FURTHER = 64, 16


def unchanged(old: Sequence[Turn], new: Sequence[Turn], seen: int) -> int:
    """How many of the first ``seen`` turns of ``old`` are still the beginning of ``new``.

    A call that goes on is replaced, one that comes late moves those behind it; both show near the end. So the end is
    compared, and further back as long as there are differences.
    """
    count = min(seen, len(new))
    if not count or (old[0] is not new[0] and old[0] != new[0]):
        return 0
    same, place, low = count, count, max(0, count - _LOOK)
    while place > low:
        place -= 1
        if old[place] is not new[place] and old[place] != new[place]:
            same, low = place, max(0, min(low, place - _FURTHER))
    return same


def _jump(places: Sequence[int], position: int, step: int) -> int | None:
    if step > 0:
        i = bisect_right(places, position)
        return places[i] if i < len(places) else None
    i = bisect_left(places, position)
    return places[i - 1] if i > 0 else None


def choices(view: SessionView) -> list[str]:
    """The lines of context of a session that can be drawn, in the order they are offered: main, all, each agent."""
    names = [chain.chain for chain in view.chains]
    work = [name for name in names if name != "side"]
    out = [MAIN] if MAIN in work or not work else []
    if len(work) > 1:
        out.append(ALL)
    out.extend(name for name in work if name != MAIN)
    if "side" in names:
        out.append("side")
    return out or [MAIN]
