"""HTTP archives (HAR 1.2) of mitmproxy, Charles, Proxyman, Chrome, Firefox, Insomnia and others.

Where: a file the user saved, ``*.har``.

What is read: ``log.entries[]``, one by one (a file of hundreds of megabytes needs little memory). An entry is a call if
its address is one of a model API (see :mod:`monitor.readers.exchange`); everything else is ignored. Bodies may be plain
text, base64, and with or without the compression their headers name: the bytes decide. WebSocket messages of the
Responses API (``_webSocketMessages``) are one call for each ``response.create``. An answer made in the background and
fetched by its id (``GET /v1/responses/{id}``) belongs to its request, however often it is asked for. ``line`` is the
number of the entry.

Prompt tokens: from the provider's usage object in the answer, by the rules of :mod:`monitor.readers.shapes`.

Sessions: the ids of clients and gateways in headers and bodies; without one, calls are grouped by their messages.

Unknown: calls whose answer has no text (Chrome keeps none of event streams unless asked to, Firefox cuts large ones)
have unknown tokens. An entry with status 0, or with an answer of no bytes, got no answer: status ``error``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from monitor.readers import exchange_bodies as bodies
from monitor.readers.base import BaseParser, FileContext, Head
from monitor.readers.exchange import Assembler, Exchange, lower, ordered
from monitor.readers.exchange_ws import Frame, payload, split
from monitor.readers.har_scan import Entries, ScanError
from monitor.readers.patterns import lazy
from monitor.readers.times import span_ms, to_ms

SOURCE = "har"
_HEAD = lazy(rb'\s*(?:\xef\xbb\xbf)?\{\s*"log"\s*:')
_ALSO = (b"_webSocketMessages", b"/responses/", b"/interactions/", b"/completions/")
_LOG = lazy(rb'"(?:creator|entries|pages|version)"\s*:')


class HarParser(BaseParser):
    """See the module."""

    def read(self, context: FileContext) -> None:
        assembler = Assembler(self.file, SOURCE, detail=self.options.detail)
        with context.open() as stream:
            entries = Entries(stream)
            try:
                for exchange in ordered(self._exchanges(entries)):
                    self.records.extend(assembler.add(exchange))
            except ScanError as error:
                self.problem(None, str(error))
                return
        if entries.cut:
            self.problem(None, "the file ends in the middle of an entry; the entries before it were read")
        if entries.skipped:
            self.problem(None, f"{entries.skipped} entries are too large to be read; they were skipped")

    def _exchanges(self, entries: Entries) -> Iterator[Exchange]:
        for number, raw in enumerate(entries, 1):
            # what is neither sent nor a socket nor the address of an answer can be no call: most of a browser's capture
            # is not even decoded
            if b"POST" not in raw and not any(part in raw for part in _ALSO):
                continue
            entry = bodies.one(raw)
            if not isinstance(entry, dict):
                self.problem(number, f"entry {number} is not valid JSON; it was skipped")
                continue
            yield from exchanges(entry, number)


def exchanges(entry: dict[str, Any], number: int) -> list[Exchange]:
    """The exchange of an entry; several for a WebSocket."""
    request, response = _object(entry.get("request")), _object(entry.get("response"))
    content, posted = _object(response.get("content")), _object(request.get("postData"))
    start = to_ms(entry.get("startedDateTime"))
    took = span_ms(entry.get("time"))
    end = start + took if start is not None and took else None
    status = response.get("status")
    # nothing came of an answer: an empty one, while one that the program did not keep has its size
    nothing = content.get("text") == "" and content.get("size") == 0 and status not in (None, 0, 204)
    failure = "aborted" if nothing or response.get("_error") or entry.get("_error") else ""
    exchange = Exchange(
        url=str(request.get("url") or ""),
        method=str(request.get("method") or "").upper(),
        headers=lower(request.get("headers")),
        request=_bytes(posted.get("text")),
        status=status if isinstance(status, int) and status > 0 else 0,
        reply_headers=lower(response.get("headers")),
        reply=_bytes(content["text"]) if isinstance(content.get("text"), str) else None,
        time=start,
        end=end,
        line=number,
        failure=failure,
    )
    messages = entry.get("_webSocketMessages")
    if isinstance(messages, list) and messages:
        frames = [
            Frame(m.get("type") == "send", payload(m.get("data"), m.get("opcode")), to_ms(m.get("time"), "s"))
            for m in messages
            if isinstance(m, dict)
        ]
        return split(frames, exchange)
    return [exchange]


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _bytes(text: Any) -> bytes:
    return text.encode("utf-8", "surrogatepass") if isinstance(text, str) else b""


class Har:
    """Reader of HTTP archives."""

    source = SOURCE
    title = "HTTP archive (HAR)"
    lines = False

    def sniff(self, head: Head) -> float:
        if _HEAD.match(head.data[:4096]) is None:
            return 0.0
        if _LOG.search(head.data[:65536]) is not None:
            return 0.98
        return 0.6 if head.name.lower().endswith(".har") else 0.0

    def parser(self, context: FileContext) -> HarParser:
        return HarParser(context)


READER = Har()
