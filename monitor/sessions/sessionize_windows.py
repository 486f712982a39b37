"""Windows of conversations known by their messages, and the weaker signs by which a request finds its own."""

from __future__ import annotations

from monitor.records import Evidence

SUMMARY_GAP_MS = 3_600_000
_LOOKED_AT = 64  # windows, the newest ones
_FIRST, _LEAST = 8, 24  # bytes of one message's digest; of the three messages that are more than an opening


class Window:
    """The life of a context in a conversation."""

    __slots__ = (
        "cache_key",
        "calls",
        "chain",
        "complete",
        "failed",
        "length",
        "model",
        "origin",
        "pending",
        "response",
        "session",
        "single",
        "system",
        "time",
        "tools",
        "worked",
    )

    def __init__(self, session: str, chain: str) -> None:
        self.session, self.chain = session, chain
        self.complete = b""  # digest of the last request
        self.length = 0
        self.single = b""
        self.system: int | None = None
        self.tools: int | None = None
        self.origin: str | None = None
        self.model: str | None = None
        self.cache_key: str | None = None
        self.response: int | None = None
        self.time: int | None = None
        self.worked: int | None = None  # when its last work was answered
        self.calls = 0
        self.failed = False
        self.pending = False  # its summary was made; a new window is to come


class Lived:
    """When a conversation was seen, and with which models: its first and last request, and the end of the last."""

    __slots__ = ("ended", "first", "last", "models")

    def __init__(self, first: int) -> None:
        self.first = self.last = self.ended = first
        self.models: set[str | None] = set()


class Scope:
    """Windows among which a request may find its own: one explicit session, or all calls without one."""

    __slots__ = ("by_complete", "by_prefix", "by_response", "by_single", "main", "unique_keys", "windows")

    def __init__(self) -> None:
        self.by_complete: dict[bytes, list[Window]] = {}
        self.by_prefix: dict[bytes, Window] = {}
        self.by_response: dict[int, Window] = {}  # by what they were answered last
        self.by_single: dict[bytes, Window] = {}
        self.unique_keys: dict[str, Window] = {}
        self.windows: list[Window] = []
        self.main: Window | None = None


def may(window: Window, evidence: Evidence) -> bool:
    """Two different cache keys never name one conversation."""
    return window.cache_key is None or evidence.cache_key is None or window.cache_key == evidence.cache_key


def reworded(scope: Scope, evidence: Evidence) -> Window | None:
    """The window that a longer request with the same beginning goes on from, its history written in other words.

    A request of several messages had others before it. One that opened beside this window with the same first message
    would have a window of its own, and would have been found by it.
    """
    single = evidence.message_ids
    if len(single) < _LEAST or evidence.system is None:
        return None
    for window in reversed(scope.windows[-_LOOKED_AT:]):
        same = window.system == evidence.system and window.tools == evidence.tools and window.origin == evidence.origin
        if same and window.single[:_FIRST] == single[:_FIRST] and _FIRST < len(window.single) < len(single):
            return window if may(window, evidence) else None
    return None
