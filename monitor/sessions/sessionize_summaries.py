"""Summaries whose request tells nothing of its conversation, of a sender that has several conversations at once.

Some clients put the history into the request as text. Its conversation waits for the summary: it is silent while the
summary is made, and its next request, soon after, is no longer the last one with something behind it. So it was the
last one that worked before, of those that go on like that or not at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from monitor.records import Call
from monitor.sessions.sessionize_windows import Lived

_SOON_MS = 120_000  # from a summary to the request that stands on it, where the user waits for it
_AT_ONCE_MS = 2_000  # from an answer to the request for a summary that it caused


class Break(msgspec.Struct, frozen=True, gc=False):
    """A request that does not repeat the last one of its conversation."""

    session: str
    model: str | None
    before: int  # when the last one was answered
    time: int


class Breaks:
    """Where conversations stand on something new, by sender."""

    def __init__(self) -> None:
        self._found: dict[str | None, list[Break]] = {}

    def note(self, origin: str | None, found: Break) -> None:
        """Take one; they come in the order of time."""
        self._found.setdefault(origin, []).append(found)

    def claim(
        self, alone: Iterable[tuple[int, Call]], lived: Mapping[str | None, Mapping[str, Lived]]
    ) -> dict[int, str]:
        """The conversation each summary was made for, where it can be told: the one that fell silent last before it.

        Args:
            alone: requests for summaries that stand alone, by what the caller knows them by.
            lived: by sender and conversation, when it worked.
        """
        out: dict[int, str] = {}
        for index, call in alone:
            start = call.time
            if start is None:
                continue
            end = start + (call.duration_ms or 0)
            origin = call.evidence.origin if call.evidence is not None else None
            waits = [
                (one.before, one.session, one.model == call.model)
                for one in self._found.get(origin, ())
                if one.before <= start and end <= one.time + 1 and one.time - end <= _SOON_MS
            ]
            # a summary may be the last thing that happens
            waits += [
                (one.ended, session, call.model in one.models)
                for session, one in lived.get(origin, {}).items()
                if one.ended <= start <= one.ended + _AT_ONCE_MS
            ]
            if waits:
                out[index] = max(waits, key=lambda one: (one[2], one[0]))[1]
        return out
