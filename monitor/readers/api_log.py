"""Requests and answers of model APIs as people log them: JSON lines, JSON documents, and raw event streams.

Where: wherever a script or a proxy of one's own writes them.

What is read, object by object:

* pairs: ``{"request": …, "response": …}`` (also ``request_body``/``response_body``, ``req``/``res``). Either side is
  the body itself, as JSON or as text, or an envelope with ``url``, ``headers``, ``status`` and ``body``. The output of
  batches (OpenAI, Anthropic) is of this form and has the price of batches.
* bare answers (a line is what the API sent), each after its bare request if that is in the log too;
* parts of a stream, one a line, with or without ``data:`` in front: those of one answer are one call.

Times are taken from the envelope (``timestamp``, ``time``, ``created_at`` … in any unit), else from the answer
(``created``). Provider and shape are told by address, model and the form of the answer.

Prompt tokens: from the provider's usage object, by the rules of :mod:`monitor.readers.shapes`.

Sessions: ids in headers, bodies or beside the pair (``session_id`` …); else chains of response ids, else messages.

Unknown: usage of streams without it (OpenAI chat sends it only if asked); requests without an answer are no calls, as
nothing says that they were sent.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from monitor.readers import exchange_bodies as bodies
from monitor.readers.api_log_shapes import (
    is_pair,
    is_part,
    is_reply,
    is_request,
    opens_stream,
    pair,
    stream_id,
)
from monitor.readers.base import FileContext, Head
from monitor.readers.exchange import Exchange
from monitor.readers.exchange_pairs import PairParser, as_bytes
from monitor.readers.exchange_reply import ReplyReader
from monitor.readers.json_stream import JsonAssembler
from monitor.readers.lines import first_objects, strip
from monitor.readers.patterns import lazy
from monitor.records import Call, Record

SOURCE = "api-log"
_SSE_LINE = lazy(rb"(?:data|event|id|retry):|:")
_PAIR_HEAD = lazy(
    rb'\s*\[?\s*\{(?:\s*"[\w.-]{1,40}"\s*:\s*(?:"[^"]{0,200}"|[\d.]+|null|true|false)\s*,)*\s*"request(?:_body)?"\s*:\s*\{'
)
#: keys of other formats that hold requests and answers too, or look like them
_OTHERS = frozenset(
    {
        "ai_org",
        "call_type",
        "lhar",
        "litellm_call_id",
        "parentUuid",
        "payload",
        "proxy_server_request",
        "request_created_at",
        "resourceLogs",
        "resourceSpans",
        "schemaType",
        "sessionId",
        "spend",
        "traceId",
        "usage_details",
        "uuid",
    }
)


class ApiLogParser(PairParser):
    """See the module."""

    source = SOURCE

    def __init__(self, context: FileContext) -> None:
        super().__init__(context)
        self._asked: Any = None  # a bare request that waits for its answer
        self._parts: list[Any] = []  # parts of the stream that is being read
        self._part_line = 0
        self._open: tuple[Call, ReplyReader, str | None] | None = None  # a stream that was handed out unfinished

    def feed(self, lines: Iterable[bytes], first: int) -> None:
        for number, line in enumerate(lines, first):
            raw = strip(line)
            if _SSE_LINE.match(raw) is not None:
                if raw.startswith(b"data:"):
                    self._sse(raw[5:].strip(), number)
                continue
            for at, value in self._json.push(line, number):
                self.value(value, at)

    def _sse(self, data: bytes, number: int) -> None:
        if data == b"[DONE]":
            self._flush()
            return
        value = bodies.one(data)
        if isinstance(value, dict):
            self._part(value, number)

    def value(self, value: Any, line: int) -> None:
        if isinstance(value, list):
            for one in value:
                if isinstance(one, dict):
                    self.value(one, line)
        elif isinstance(value, dict):
            if is_pair(value):
                self._flush()
                made = pair(value, line)
                if made is not None:
                    self.records.extend(_in_batch(self.assembler.add(made), "custom_id" in value))
            elif is_part(value):
                self._part(value, line)
            elif is_reply(value):
                self._flush()
                self._answer([value], line)
            elif is_request(value):
                self._flush()
                self._asked = value

    def _answer(self, values: list[Any], line: int) -> list[Record]:
        asked, self._asked = self._asked, None
        made = self.assembler.add(
            Exchange(
                request=as_bytes(asked) if asked is not None else b"",
                documents=values,
                status=200,
                line=line,
                trusted=True,
            )
        )
        self.records.extend(made)
        return made

    # ------------------------------------------------------------------------------------------------ streams
    def _part(self, value: dict[str, Any], line: int) -> None:
        if self._open is not None:
            call, reader, id = self._open
            if not opens_stream(value) and stream_id(value) in (None, id):
                reader.feed(value)
                self._open = (self.assembler.track.update(call, reader.reply()), reader, id)
                self.records.append(self._open[0])
                return
            self._open = None
        if self._parts and (opens_stream(value) or self._differs(value)):
            self._flush()
        if not self._parts:
            self._part_line = line
        self._parts.append(value)

    def _differs(self, value: dict[str, Any]) -> bool:
        new = stream_id(value)
        old = next((id for part in self._parts if (id := stream_id(part)) is not None), None)
        return new is not None and old is not None and new != old

    def _flush(self, unfinished: bool = False) -> None:
        """Hand out the stream read so far; what follows belongs to another one, unless it is ``unfinished``."""
        parts, self._parts = self._parts, []
        self._open = None
        if not parts:
            return
        made = self._answer(parts, self._part_line)
        call = next((record for record in made if isinstance(record, Call)), None)
        if call is not None and unfinished:
            reader = ReplyReader()
            for part in parts:
                reader.feed(part)
            id = next((found for part in parts if (found := stream_id(part)) is not None), None)
            self._open = (call, reader, id)

    def take(self) -> list[Record]:
        if self._parts:
            self._flush(unfinished=True)
        return super().take()


class ApiLog:
    """Reader of request and response lines."""

    source = SOURCE
    title = "requests and answers of model APIs"
    lines = True

    def sniff(self, head: Head) -> float:
        data = head.data
        if _is_stream(data[:16384]):
            return 0.8
        opening = data[:4096].lstrip(b"\xef\xbb\xbf \t\r\n").partition(b"\n")[0].strip()
        if opening[:1] not in (b"{", b"["):
            return 0.0
        found = _spread(data) if opening in (b"{", b"[") else first_objects(data, 6)
        best = 0.0
        for value in found:
            if _OTHERS & value.keys():
                return 0.0
            if is_pair(value):
                best = max(best, 0.75)
            elif is_part(value) or is_reply(value):
                best = max(best, 0.6)
            elif is_request(value):
                best = max(best, 0.35)
        if not found and _PAIR_HEAD.match(data[:8192]) is not None:
            return 0.6  # the first line is longer than the head
        return best

    def parser(self, context: FileContext) -> ApiLogParser:
        return ApiLogParser(context)


def _in_batch(records: list[Record], batch: bool) -> list[Record]:
    """Calls of a batch have its price, also where the answer does not say so."""
    if not batch:
        return records
    return [
        msgspec.structs.replace(one, service_tier="+".join(filter(None, ("batch", one.service_tier))))
        if isinstance(one, Call) and "batch" not in (one.service_tier or "")
        else one
        for one in records
    ]


def _is_stream(data: bytes) -> bool:
    """Whether bytes are an event stream with JSON payloads."""
    for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        text = line.strip()
        if text.startswith(b"data:"):
            return text[5:].lstrip()[:2] in (b'{"', b"[D")
        if text and _SSE_LINE.match(text) is None:
            return False
    return False


def _spread(data: bytes) -> list[dict[str, Any]]:
    """Objects of a pretty-printed head."""
    assembler = JsonAssembler(lambda line, reason: None)
    found: list[dict[str, Any]] = []
    for number, line in enumerate(data.split(b"\n"), 1):
        for _, value in assembler.push(line + b"\n", number):
            rows = value if isinstance(value, list) else [value]
            found.extend(row for row in rows[:6] if isinstance(row, dict))
        if len(found) >= 3:
            break
    return found


READER = ApiLog()
