"""Flow dumps of mitmproxy (``mitmdump -w FILE``, "save flows"), without mitmproxy.

Where: a file the user saved, ``*.mitm``, ``*.flow``, ``*.dump``.

What is read: concatenated tnetstrings (``length:payload`` and a type character), one for each flow, of all versions
that use text as keys (flow version 7 and later). HTTP flows to model addresses are calls (see
:mod:`monitor.readers.exchange`); their bodies are kept as sent, so compression is undone. WebSocket messages of the
Responses API are one call for each ``response.create``. Flows are written as they end and are put in order of their
start. A record that is cut (mitmdump still running) ends the reading. ``line`` is the number of the flow.

Prompt tokens: from the provider's usage object in the answer, by the rules of :mod:`monitor.readers.shapes`.

Sessions: the ids of clients and gateways in headers and bodies; without one, calls are grouped by their messages.

Unknown: with ``stream_large_bodies`` mitmproxy keeps no body: such calls have unknown tokens. (mitmproxy 12 can keep
them with ``store_streamed_bodies=true``.)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

from monitor.readers.base import BaseParser, FileContext, Head
from monitor.readers.exchange import Assembler, Exchange, lower, ordered
from monitor.readers.exchange_ws import Frame, split

SOURCE = "mitmproxy"
_HUNG_UP = "Client disconnected"
_DIGITS = frozenset(b"0123456789")
_TYPES = frozenset(b",;#^!~]}")
#: a flow holds one request and its answer
MAX_FLOW = 512 * 1024 * 1024
_TOO_OLD = (
    "this flow dump was written by a very old mitmproxy; convert it with `mitmdump -nr OLD -w NEW` "
    "and read the new file"
)
_DAMAGED = "the file is damaged here; the flows before this place were read"
_CUT = "the last flow is not finished (still being written, or cut off)"


class FlowError(Exception):
    """A record that cannot be read; the text is a sentence for people."""

    def __init__(self, reason: str, cut: bool = False) -> None:
        super().__init__(reason)
        self.cut = cut


def flows(stream: IO[bytes]) -> Iterator[dict[Any, Any]]:
    """The records of a flow dump.

    Raises:
        FlowError: at the first one that is cut or damaged.
    """
    while True:
        head = b""
        while True:
            char = stream.read(1)
            if not char:
                if head:
                    raise FlowError(_CUT, cut=True)
                return
            if char == b":":
                break
            head += char
            if len(head) > 12 or char[0] not in _DIGITS:
                raise FlowError(_DAMAGED)
        size = int(head) if head else -1
        if size < 0:
            raise FlowError(_DAMAGED)
        if size > MAX_FLOW:
            raise FlowError("a flow is too large to be read")
        data = stream.read(size + 1)
        if len(data) < size + 1:
            raise FlowError(_CUT, cut=True)
        value = _value(data, 0, size, data[size], 0)
        if not isinstance(value, dict):
            raise FlowError(_DAMAGED)
        yield value


def _value(data: bytes, start: int, end: int, kind: int, depth: int) -> Any:
    """The value of a payload; ``kind`` is its type character."""
    if depth > 60:
        raise FlowError(_DAMAGED)
    try:
        if kind == 0x2C:  # ,
            return data[start:end]
        if kind == 0x3B:  # ;
            return data[start:end].decode("utf-8", "surrogateescape")
        if kind == 0x23:  # #
            return int(data[start:end])
        if kind == 0x5E:  # ^
            return float(data[start:end])
        if kind == 0x21:  # !
            return data[start:end] == b"true"
        if kind == 0x7E:  # ~
            return None
        if kind not in (0x5D, 0x7D):
            raise FlowError(_DAMAGED)
        items: list[Any] = []
        at = start
        while at < end:
            colon = data.index(b":", at, min(end, at + 13))
            size = int(data[at:colon])
            stop = colon + 1 + size
            if size < 0 or stop >= end:
                raise FlowError(_DAMAGED)
            items.append(_value(data, colon + 1, stop, data[stop], depth + 1))
            at = stop + 1
        if kind == 0x5D:  # ]
            return items
        return dict(zip(items[::2], items[1::2], strict=True))
    except (ValueError, TypeError) as error:
        raise FlowError(_DAMAGED) from error


class MitmParser(BaseParser):
    """See the module."""

    def read(self, context: FileContext) -> None:
        assembler = Assembler(self.file, SOURCE, detail=self.options.detail)
        with context.open() as stream:
            for exchange in ordered(self._exchanges(stream)):
                self.records.extend(assembler.add(exchange))

    def _exchanges(self, stream: IO[bytes]) -> Iterator[Exchange]:
        found = flows(stream)
        number = 0
        while True:
            try:
                flow = next(found, None)
            except FlowError as error:
                self.problem(number + 1, str(error))
                return
            if flow is None:
                return
            number += 1
            if "request" not in flow and b"request" in flow:
                self.problem(number, _TOO_OLD)
                return
            if flow.get("type") in (None, "http") and isinstance(flow.get("request"), dict):
                yield from exchanges(flow, number)


def _failure(error: Any, streamed: bool) -> str:
    """Why there was no whole answer. Where answers are passed on without being kept, a client that hangs up may have
    had all of it: SDKs do so at the last event."""
    if not isinstance(error, dict) or (streamed and _text(error.get("msg")).startswith(_HUNG_UP)):
        return ""
    return "aborted"


def exchanges(flow: dict[Any, Any], number: int) -> list[Exchange]:
    """The exchange of an HTTP flow; several for a WebSocket."""
    request = flow["request"]
    response = flow.get("response")
    answered = isinstance(response, dict)
    reply: dict[Any, Any] = response if isinstance(response, dict) else {}
    error = flow.get("error")
    headers = lower(request.get("headers"))
    host = _text(request.get("host")) or headers.get("host", "")
    content, answer = request.get("content"), reply.get("content")
    status = reply.get("status_code")
    exchange = Exchange(
        url=f"{_text(request.get('scheme')) or 'http'}://{host}{_text(request.get('path'))}",
        method=_text(request.get("method")).upper(),
        headers=headers,
        request=content if isinstance(content, bytes) else b"",
        status=status if answered and isinstance(status, int) else 0,
        reply_headers=lower(reply.get("headers")),
        reply=answer if isinstance(answer, bytes) else None,
        time=_time(request.get("timestamp_start")),
        end=_time(reply.get("timestamp_end")),
        line=number,
        failure=_failure(error, answered and not isinstance(answer, bytes)),
    )
    socket = flow.get("websocket")
    if isinstance(socket, dict) and isinstance(socket.get("messages"), list):
        frames = [
            Frame(bool(m[1]), m[2], _time(m[3] if len(m) > 3 else None))
            for m in socket["messages"]
            if isinstance(m, list) and len(m) > 2
        ]
        return split(frames, exchange)
    return [exchange]


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("latin-1")
    return value if isinstance(value, str) else ""


def _time(value: Any) -> int | None:
    # cut to milliseconds, as the same flow exported as HAR has its time as text
    return int(value * 1000) if isinstance(value, int | float) and 0 < value < 1e11 else None


class Mitm:
    """Reader of mitmproxy flow dumps."""

    source = SOURCE
    title = "mitmproxy flow dump"
    lines = False

    def sniff(self, head: Head) -> float:
        data = head.data
        colon = data.find(b":", 0, 13)
        if colon < 1 or not data[:colon].isdigit():
            return 0.0
        # the first key of the record: another tnetstring with a text or bytes type
        inner = data.find(b":", colon + 1, colon + 8)
        if inner < 0 or not data[colon + 1 : inner].isdigit():
            return 0.0
        stop = inner + 1 + int(data[colon + 1 : inner])
        if data[stop : stop + 1] not in (b";", b","):
            return 0.0
        size = int(data[:colon])
        end = data[colon + 1 + size : colon + 2 + size]
        return 0.97 if end == b"}" or len(data) <= colon + 1 + size else 0.0

    def parser(self, context: FileContext) -> MitmParser:
        return MitmParser(context)


READER = Mitm()
