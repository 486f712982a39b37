"""One compaction that is told more than once: by a client's file and by its traffic, or by several requests for one
summary (parts of it, a second try, a check of it)."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from monitor.records import Event


def told_again(events: list[Event], waiting: Iterable[int], event: Event) -> bool:
    """Whether a compaction is one of those noted since the last call, which then tells what both do.

    Args:
        events: of the session.
        waiting: places of those that no call has followed yet.
        event: the next one.
    """
    for place in waiting:
        known = events[place]
        if known.kind != "compaction":
            continue
        # a log that notes two by marks of its own made two; what is inferred between the same calls is one of them
        if known.file != event.file or "inferred" in (known.evidence, event.evidence):
            events[place] = _merged(known, event)
            return True
    return False


def _merged(one: Event, other: Event) -> Event:
    """What both tell; what a log says by a mark of its own goes before what was inferred."""
    if one.evidence == "inferred" != other.evidence:
        told = msgspec.structs.replace(other, tokens_before=one.tokens_before, after_call=one.after_call)
        return _merged(told, one)
    return msgspec.structs.replace(
        one,
        trigger=one.trigger or other.trigger,
        recorded_before=other.recorded_before if one.recorded_before is None else one.recorded_before,
        recorded_after=other.recorded_after if one.recorded_after is None else one.recorded_after,
        summary_tokens=max((n for n in (one.summary_tokens, other.summary_tokens) if n is not None), default=None),
    )
