"""Rows that every report shows and no view holds as such: windows, days of a time zone.

Nothing is defined anew here: windows are the calls grouped by the numbers the session layer gave them, sums are made by
its own accumulator.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from monitor.records import Event
from monitor.reports import shape
from monitor.reports.clock import Clock, utc_day
from monitor.sessions.sums import Acc, total
from monitor.sessions.view import SessionView, Sums, Turn


class WindowRow(msgspec.Struct, kw_only=True):
    """The life of a context in a chain between two resets, as far as it has work calls. Sizes are prompt tokens."""

    chain: str
    window: int
    calls: int = 0
    first: Turn
    last: Turn
    opened: int | None = None
    closed: int | None = None
    peak: int | None = None
    ended: Event | None = None  # the reset that closed it; None: it is the latest


def windows(view: SessionView) -> list[WindowRow]:
    """The windows of a session, main chain first, then by beginning."""
    rows: dict[tuple[str, int], WindowRow] = {}
    for turn in view.turns:
        call = turn.call
        if call.chain == "side" or not turn.call.works:
            continue
        row = rows.get((call.chain, turn.window))
        if row is None:
            row = rows[(call.chain, turn.window)] = WindowRow(
                chain=call.chain, window=turn.window, first=turn, last=turn, opened=call.prompt_tokens
            )
        row.calls += 1
        row.last = turn
        if call.prompt_tokens is not None:
            row.closed = call.prompt_tokens
            row.peak = max(row.peak or 0, call.prompt_tokens)
    closing = {(e.chain, e.after_call): e for e in view.events if e.kind in ("compaction", "clear")}
    for row in rows.values():
        row.ended = closing.get((row.chain, row.last.index))
    return sorted(rows.values(), key=lambda row: (row.chain != "main", row.first.index))


def by_day(views: Sequence[SessionView], clock: Clock) -> list[dict[str, Any]]:
    """Sums for each calendar day of the clock's zone, in order; calls without a time come last.

    The session layer's own buckets are days in UTC. Where the zone agrees with it they are taken as they are.
    """
    if clock.utc:
        return shape.by_day(views)
    days: dict[str | None, Acc] = {}
    whole: dict[str | None, list[Sums]] = {}  # sessions that have totals only
    for view in views:
        if not view.turns:
            for bucket in view.buckets:
                whole.setdefault(utc_day(bucket.day), []).append(bucket.sums)
        for turn in view.turns:
            acc = days.setdefault(clock.day(turn.call.time), Acc())
            acc.take(turn.call, turn.cost_usd, turn.cost_estimated)
    names = sorted({*days, *whole}, key=lambda name: (name is None, name or ""))
    parts = {name: [*([days[name].sums()] if name in days else []), *whole.get(name, ())] for name in names}
    return [{"date": name, **shape.sums(total(parts[name]))} for name in names]
