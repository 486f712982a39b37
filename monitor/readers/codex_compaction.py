"""Compactions in rollouts: several rows tell of each. See :mod:`.codex`."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from monitor.records import Event, Record


class Compactions:
    """Those of a thread. What is told between two answers is told of one."""

    __slots__ = ("_open", "count")

    def __init__(self) -> None:
        self.count = 0
        self._open: Event | None = None  # the one of which more may still come

    def settle(self) -> None:
        """The model answered: what comes next is another one."""
        self._open = None

    def tell(
        self, records: list[Record], made: Callable[[], Event], after: int | None, summary: int | None = None
    ) -> None:
        """Take a row.

        Args:
            records: those not handed out yet; the event is added to them, or changed there.
            made: gives the event, if this row is the first that tells of it; ``count`` is its number then.
            after: size of the new context in tokens, where the row tells it.
            summary: size of the summary in tokens, likewise.
        """
        event = self._open
        if event is None:
            self.count += 1
            event = made()
            records.append(event)
        told = {"recorded_after": after, "summary_tokens": summary}
        known = {name: value for name, value in told.items() if value is not None}
        self._open = changed = msgspec.structs.replace(event, **known) if known else event
        if changed is event:
            return
        for place, record in enumerate(records):
            if record is event:
                records[place] = changed
                return
        records.append(changed)
