"""Rows of gateways as exchanges: the row gives figures, the bodies kept with it give the conversation.

Where a gateway kept the request, its messages tell what the call was for (a summary, a title), which conversation it
belongs to, what people typed and whether the cached prefix was kept, by the same rules as in a capture
(:mod:`monitor.readers.exchange_track`). Without a body a row is a call and nothing more.
"""

from __future__ import annotations

from typing import Any

import msgspec

from monitor.readers import exchange_request
from monitor.readers import gateway_values as values
from monitor.readers.exchange_messages import Messages, rolling
from monitor.readers.exchange_reply import Reply, ReplyReader
from monitor.readers.exchange_session import Identity, identity
from monitor.readers.exchange_track import Facts, Tracker
from monitor.readers.times import span_ms
from monitor.readers.usage import Tokens
from monitor.records import Call, Event, Evidence, Record

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode


class Row(msgspec.Struct, kw_only=True):
    """What a reader knows of one row."""

    id: str  # identity of the call: the provider's id, else the gateway's own with a prefix
    call_id: str | None
    line: int | None
    time: int | None
    duration: float | None  # ms
    tokens: Tokens
    session: str | None
    origin: str | None
    provider: str | None
    model: str | None
    body: bytes | None = None  # the request as JSON
    reply: Reply | None = None  # what the answer's body tells
    cost: float | None = None
    failed: bool = False
    stop: str | None = None
    overflow: bool = False
    side: bool = False
    context_limit: int | None = None
    previous: str | None = None


class Rows:
    """Makes records of the rows of one file, in the order they were made."""

    def __init__(self, file: str, source: str, *, detail: bool = False) -> None:
        self._session = values.placeholder(file)
        self._track = Tracker(file, source, detail=detail)
        self._memory = Messages()

    def add(self, row: Row) -> list[Record]:
        """The call of a row and the events and steps it tells of; the call without a session has the file's name."""
        request = None
        if row.body is not None and len(row.body) > 2:
            request = exchange_request.parse(row.body, self._memory)
        who = identity({}, request) if request is not None else Identity()
        if row.session is not None:
            who = msgspec.structs.replace(who, session=row.session)
        if row.previous is not None or who.previous is not None:
            who = msgspec.structs.replace(who, previous=row.previous)
        reply = row.reply or Reply()
        reply.id, reply.tokens, reply.cost, reply.complete = row.id, row.tokens, row.cost, True
        reply.overflow = reply.overflow or row.overflow
        reply.error = (row.stop or "failure") if row.failed else ""
        facts = Facts(
            line=row.line,
            time=row.time,
            end=None if row.time is None or not (took := span_ms(row.duration)) else row.time + took,
            kind="call",
            status=None,
            failure="failure" if row.failed else "",
            kept=True,
            provider=row.provider,
            model=row.model,
            who=who,
            origin=row.origin,
            request=None if row.side else request,
            reply=reply,
            context_limit=row.context_limit,
        )
        return [self._finished(record, row) for record in self._track.add(facts)]

    def _finished(self, record: Record, row: Row) -> Record:
        if isinstance(record, Event) and record.session == self._track.session and row.session is None:
            return msgspec.structs.replace(record, session=self._session)
        if not isinstance(record, Call):
            return record
        loose = record.session_evidence == "file"
        evidence = record.evidence
        return msgspec.structs.replace(
            record,
            session=self._session if loose else record.session,
            call_id=row.call_id,
            duration_ms=span_ms(row.duration),
            status="error" if row.failed else "ok",
            stop=row.stop or record.stop,
            purpose="side" if row.side else record.purpose,
            chain="side" if row.side else record.chain,
            evidence=evidence if loose or (evidence is not None and evidence.messages) else None,
        )


def reply_of(body: Any, model: str | None = None) -> Reply:
    """What an answer's body tells: one object, the text of one, or the list of a stream's events. ``model``: that asked
    for, where answers do not name theirs."""
    reader = ReplyReader(model)
    if isinstance(body, str | bytes):
        try:
            body = _decode(body)
        except (msgspec.DecodeError, RecursionError, UnicodeError):
            body = None
    for part in body if isinstance(body, list) else [body]:
        if isinstance(part, dict):
            reader.feed(part)
    return reader.reply()


def request_of(body: Any) -> bytes | None:
    """A request body as JSON bytes, from an object, the text of one, or a bare list of messages."""
    if isinstance(body, str):
        if body[:1] == "{":
            return body.encode("utf-8", "replace")
        if body[:1] != "[":
            return None
        try:
            body = _decode(body)
        except (msgspec.DecodeError, RecursionError, UnicodeError):
            return None
    if isinstance(body, list):
        if not body or not isinstance(body[0], dict) or "role" not in body[0]:
            return None
        body = {"messages": body}
    if not isinstance(body, dict) or not body:
        return None
    try:
        return _encode(body)
    except (TypeError, ValueError, RecursionError):
        return None


class Bodies:
    """Evidence of request bodies alone, for logs that do not tell what a call was for."""

    def __init__(self) -> None:
        self._memory = Messages()

    def evidence(self, body: bytes | None, origin: str | None, response_id: str | None) -> Evidence:
        """What the messages of a request tell about its conversation.

        Args:
            body: the request as JSON, None if it was not kept.
            origin: hash of who sent it.
            response_id: the answer's id.
        """
        request = exchange_request.parse(body, self._memory) if body is not None and len(body) > 2 else None
        if request is None or not request.has_messages:
            return Evidence(response_id=response_id, origin=origin)
        chained, single = rolling(request.items)
        return Evidence(
            response_id=response_id,
            previous_response_id=exchange_request.text(request.body.previous_response_id),
            cache_key=exchange_request.text(request.body.prompt_cache_key),
            messages=chained,
            message_ids=single,
            system=request.system,
            tools=request.tools,
            origin=origin,
        )
