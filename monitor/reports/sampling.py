"""Which calls a picture of limited width shows: one real call for each column, and none that matters is lost."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Sequence

import msgspec

from monitor.sessions.view import SessionView, Turn

#: kinds of events at which a curve falls or breaks; the calls on both sides of them are always shown
_BREAKS = frozenset(("compaction", "microcompaction", "trim", "clear", "rewind", "unexplained_drop", "model_switch"))


class Curve(msgspec.Struct, frozen=True, kw_only=True):
    """A chain's curve, thinned. ``places[i]`` is where ``turns[i]`` stands among all ``calls`` of the chain."""

    chain: str
    calls: int
    turns: Sequence[Turn]
    places: Sequence[int]

    @property
    def whole(self) -> bool:
        """Whether nothing was left out."""
        return self.calls == len(self.turns)

    def place_of(self, index: int) -> float:
        """Where a call with this index in its session stands; between two places for calls that are not shown."""
        after = bisect_left(self.turns, index, key=lambda turn: turn.index)
        if after == len(self.turns):
            return float(self.calls)
        if self.turns[after].index == index or after == 0:
            return float(self.places[after])
        low, high = self.turns[after - 1], self.turns[after]
        share = (index - low.index) / (high.index - low.index)
        return self.places[after - 1] + share * (self.places[after] - self.places[after - 1])


def curve(view: SessionView, chain: str, columns: int) -> Curve:
    """The work calls of a chain for a picture of so many columns.

    Each column keeps its largest call; besides every cache miss and the calls around every reset are kept.
    """
    turns = [turn for turn in view.turns if turn.call.chain == chain and turn.call.works]
    if len(turns) <= columns:
        return Curve(chain=chain, calls=len(turns), turns=turns, places=range(len(turns)))
    around = {
        index
        for event in view.events
        if event.chain == chain and event.kind in _BREAKS
        for index in (event.after_call, event.before_call)
    }
    kept = thin(turns, columns, around)
    return Curve(chain=chain, calls=len(turns), turns=[turns[place] for place in kept], places=kept)


def thin(turns: Sequence[Turn], columns: int, always: Collection[int | None] = ()) -> list[int]:
    """Places of the calls to show, ascending; ``always``: indexes of calls (in the session) that must be among them."""
    kept: set[int] = {0, len(turns) - 1}
    total = len(turns)
    best, size, column = 0, -1, 0
    for place, turn in enumerate(turns):
        if turn.cache_miss_cause is not None or turn.index in always:
            kept.add(place)
        here = place * columns // total
        if here != column:
            kept.add(best)
            size, column = -1, here
        prompt = turn.call.prompt_tokens or 0
        if prompt > size:
            best, size = place, prompt
    kept.add(best)
    return sorted(kept)


def columns_for(sizes: Sequence[int], budget: int, most: int, least: int) -> int:
    """Columns each picture may have so that all together stay within a budget of calls, between two bounds."""
    low, high = least, most
    while low < high:
        middle = (low + high + 1) // 2
        if sum(min(size, middle) for size in sizes) <= budget:
            low = middle
        else:
            high = middle - 1
    return low
