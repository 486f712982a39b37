"""Answers fetched after their request: background mode, and streams that were cut and taken up again.

The Responses API (``background: true``) and Gemini's interactions answer a request at once with an id and a status, and
the client asks ``GET …/{id}`` until the answer is there. What it used belongs to the request: one call, however often
it was asked for (source: OpenAI's guide on background mode). Answers that are only read again tell nothing new.
"""

from __future__ import annotations

import msgspec

from monitor.readers.exchange_facts import Facts, State
from monitor.readers.exchange_reply import Reply
from monitor.readers.patterns import lazy
from monitor.records import Call

#: addresses of single answers
FETCH = lazy(r"/(?:responses|interactions|chat/completions)/[^/]+$")
_UNDER_WAY = ("queued", "in_progress")
_NEVER = ("cancelled", "failed")
#: requests whose answer may still come, at most
_MOST = 1024


class Unanswered:
    """Requests of one capture whose answer named an id and told no tokens yet."""

    def __init__(self) -> None:
        self._waiting: dict[str, tuple[Facts, State, Call]] = {}

    def note(self, facts: Facts, state: State, call: Call) -> None:
        """Remember a request that may be answered by a later fetch."""
        id = facts.reply.id
        if id is None or call.prompt_tokens is not None or call.output_tokens is not None:
            return
        if len(self._waiting) >= _MOST:
            del self._waiting[next(iter(self._waiting))]
        self._waiting[id] = facts, state, call

    def answered(self, fetched: Facts) -> tuple[Facts, State, Call] | None:
        """The request with the answer that was fetched, and its call as it was told; None if there is nothing new."""
        reply = fetched.reply
        if reply.id is None or reply.id not in self._waiting or not (_told(reply) or reply.stop in _NEVER):
            return None
        facts, state, call = self._waiting.pop(reply.id)
        failure = (reply.error or str(reply.stop)) if reply.stop in _NEVER and not _told(reply) else ""
        made = msgspec.structs.replace(
            facts, reply=reply, end=fetched.end, kept=True, failure=failure, model=reply.model or facts.model
        )
        return made, state, call


def under_way(reply: Reply) -> bool:
    """Whether an answer says that it is still being made."""
    return reply.stop in _UNDER_WAY and not _told(reply)


def _told(reply: Reply) -> bool:
    return reply.tokens.prompt is not None or reply.tokens.output is not None
