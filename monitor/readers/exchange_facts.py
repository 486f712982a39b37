"""What is known of one exchange, and of the conversation it stands in."""

from __future__ import annotations

from collections import Counter

import msgspec

from monitor.readers.exchange_messages import rolling
from monitor.readers.exchange_reply import Reply
from monitor.readers.exchange_request import Request
from monitor.readers.exchange_session import Identity


class Facts(msgspec.Struct, gc=False, kw_only=True):
    """What is known of one exchange."""

    line: int | None
    time: int | None
    end: int | None
    kind: str  # call, count, compact
    status: int | None
    failure: str
    kept: bool  # the answer's body was kept
    provider: str | None
    model: str | None
    who: Identity
    origin: str | None
    request: Request | None
    reply: Reply
    client: str = ""
    context_limit: int | None = None
    #: rolling and single digests of the messages, where the log holds them instead of the messages
    digests: tuple[bytes, bytes] | None = None

    def chain(self) -> tuple[bytes, bytes]:
        """Rolling and single digests of the request's messages."""
        if self.digests is not None:
            return self.digests
        return rolling(self.request.items) if self.request is not None else (b"", b"")

    def strict(self) -> list[bytes]:
        """Digests that change whenever the provider's cache would miss."""
        if self.digests is not None:
            single = self.digests[1]
            return [single[at : at + 8] for at in range(0, len(single), 8)]
        return [one.strict for one in self.request.items if one.role != "system"] if self.request is not None else []


class State:
    """A conversation, as far as it is known."""

    __slots__ = ("cleared", "exchange", "first", "last", "model", "occupied", "pending", "seen", "strict", "system",
                 "tools", "window")  # fmt: skip

    def __init__(self) -> None:
        self.strict: list[bytes] | None = None  # digests of the last work request
        self.system: int | None = None
        self.tools: int | None = None
        self.seen: Counter[bytes] = Counter()  # messages people typed
        self.exchange = 0
        self.cleared = 0
        self.occupied: int | None = None  # prompt of the last work call
        self.model: str | None = None  # of the last work call
        self.pending = False  # a summary was made; the next window stands on it
        self.window: str | None = None
        self.first: int | None = None  # times of work
        self.last: int | None = None


def kept(facts: Facts, state: State) -> bool | None:
    """Whether the last request of the conversation is repeated; its last message may have grown."""
    request = facts.request
    if request is None or state.strict is None:
        return None
    if request.system != state.system or request.tools != state.tools:
        return False
    strict = facts.strict()
    same = max(1, len(state.strict) - 1)
    return strict[:same] == state.strict[:same]
