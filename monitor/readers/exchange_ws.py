"""WebSocket conversations of the Responses API as exchanges: each ``response.create`` of the client and its answer."""

from __future__ import annotations

import base64
import binascii
from collections import deque
from collections.abc import Iterable
from typing import Any

import msgspec

from monitor.readers.exchange import Exchange
from monitor.readers.exchange_bodies import one

_FINAL = frozenset({"response.completed", "response.incomplete", "response.failed", "response.done", "error"})
_encode = msgspec.json.Encoder().encode


class Frame(msgspec.Struct, gc=False):
    """One message of a WebSocket."""

    from_client: bool
    data: Any  # text, bytes, or the decoded JSON value
    time: int | None = None  # ms


def split(frames: Iterable[Frame], base: Exchange) -> list[Exchange]:
    """Exchanges of a WebSocket, in the order of the requests; empty if it carried no model traffic.

    Args:
        frames: messages in the order they were sent.
        base: the handshake (address, headers, line).
    """
    made: list[Exchange] = []
    waiting: deque[Exchange] = deque()
    current: Exchange | None = None
    for frame in frames:
        raw = frame.data
        value = raw if isinstance(raw, dict) else one(raw) if isinstance(raw, str | bytes) else None
        if not isinstance(value, dict) or not isinstance(value.get("type"), str):
            continue
        kind = value["type"]
        if frame.from_client:
            if kind == "response.create":
                inner = value.get("response")
                body = inner if isinstance(inner, dict) and "model" in inner else value
                exchange = msgspec.structs.replace(
                    base,
                    method="WEBSOCKET",
                    request=_bytes(body, raw if body is value else None),
                    documents=[],
                    reply=None,
                    status=None,
                    time=frame.time,
                    end=None,
                    trusted=True,
                )
                made.append(exchange)
                waiting.append(exchange)
            continue
        if current is None:
            if kind == "response.created" or kind in _FINAL or kind.startswith("response."):
                if waiting:
                    current = waiting.popleft()
                elif kind in ("response.created", "response.completed"):
                    # the capture began after the request
                    current = msgspec.structs.replace(
                        base, method="WEBSOCKET", documents=[], time=frame.time, trusted=True
                    )
                    made.append(current)
            if current is None:
                continue
        if kind.startswith("response.") or kind == "error":
            assert current.documents is not None
            current.documents.append(value)
        if kind in _FINAL:
            current.end = frame.time
            current.status = 200 if kind != "error" else _status(value)
            current = None
    for exchange in made:
        if exchange.end is None and exchange.status is None and exchange.documents:
            exchange.status = 200  # the answer had begun when the capture ended
    return made


def _status(value: dict[str, Any]) -> int:
    status = value.get("status") or value.get("status_code")
    return status if isinstance(status, int) and 400 <= status < 600 else 500


def _bytes(value: Any, raw: Any) -> bytes:
    if isinstance(raw, bytes):
        return raw
    if isinstance(raw, str):
        return raw.encode("utf-8", "surrogatepass")
    try:
        return _encode(value)
    except (UnicodeEncodeError, TypeError):
        return b""


def payload(data: Any, opcode: Any) -> Any:
    """Data of a message as HAR keeps it: text, or base64 for binary messages."""
    if opcode == 2 and isinstance(data, str):
        try:
            return base64.b64decode(data, validate=True)
        except (ValueError, binascii.Error):
            return data
    return data
