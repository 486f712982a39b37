"""What taps and the worker that reads calls agree on: pieces in the order they came, how a call ended, what to keep."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from monitor.recorder.bodies import HELD, Budget

REQUEST, HEAD, RESPONSE, CLIENT_BYTES, UPSTREAM_BYTES, REQUEST_GAP, RESPONSE_GAP = range(7)
Op = tuple[int, float, Any]  # what, when (monotonic), bytes or the response head


@dataclass(slots=True)
class End:
    """How a call ended, as the proxy saw it."""

    at: float  # monotonic
    error: str | None
    client_gone: bool
    request_complete: bool
    framing_complete: bool
    request_bytes: int
    response_bytes: int


@dataclass(slots=True)
class Settings:
    """What the user asked for."""

    bodies: bool = False
    budget: Budget = field(default_factory=Budget)
    room: Budget = field(default_factory=lambda: Budget(HELD))
