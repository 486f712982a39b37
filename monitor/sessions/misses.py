"""Cache misses by cause: how many, and what they cost."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from monitor.sessions.laid import derived
from monitor.sessions.view import SessionView


class MissRow(msgspec.Struct):
    """Misses of one cause. ``cost``: USD above what reading from the cache would have cost; None: no price known."""

    cause: str
    calls: int = 0
    partial: int = 0  # of these
    cost: float | None = None
    unpriced: int = 0

    def add(self, other: MissRow) -> None:
        """Add those of another session."""
        self.calls += other.calls
        self.partial += other.partial
        self.unpriced += other.unpriced
        if other.cost is not None:
            self.cost = (self.cost or 0.0) + other.cost


class Misses(msgspec.Struct, array_like=True):
    """Those of one session."""

    rows: list[MissRow]


def by_cause(views: Iterable[SessionView]) -> list[MissRow]:
    """Cache misses by cause, the most frequent first."""
    rows: dict[str, MissRow] = {}
    for view in views:
        if view.cache_misses:
            for row in derived(view, "misses", Misses, _missed).rows:
                rows.setdefault(row.cause, MissRow(row.cause)).add(row)
    return in_order(rows.values())


def in_order(rows: Iterable[MissRow]) -> list[MissRow]:
    """The most frequent cause first."""
    return sorted(rows, key=lambda row: (-row.calls, row.cause))


def _missed(view: SessionView) -> Misses:
    rows: dict[str, MissRow] = {}
    for turn in view.turns:
        cause, cost = turn.cache_miss_cause, turn.miss_cost_usd
        if cause is not None:
            one = MissRow(cause, 1, int(turn.cache_outcome == "partial"), cost, int(cost is None))
            rows.setdefault(cause, MissRow(cause)).add(one)
    return Misses(list(rows.values()))
