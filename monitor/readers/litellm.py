"""LiteLLM proxy: rows of its table and payloads of its logging callbacks.

Where: ``LiteLLM_SpendLogs`` dumped as JSON, JSON lines or CSV, answers of ``/spend/logs`` and its kin, and
StandardLoggingPayload objects as the callbacks write them: one object a file (S3), one a line (GCS), one array a line
or a file (generic API).

What is read: every row that was a request to a model. ``status`` "failure" is a failed call with unknown tokens. Rows
answered from LiteLLM's own response cache (``cache_hit`` true, id with ``_cache_hit``) reached no model and are left
out. ``response_cost`` or ``spend`` is the logged cost; 0 means that LiteLLM knew no price and counts as unknown.
``max_input_tokens`` of its model map is the logged context limit.

Prompt tokens: ``prompt_tokens`` includes the provider's cache for every provider, Anthropic too. Cache figures stand in
``metadata.usage_object`` (``additional_usage_values`` in older versions). A cache larger than the prompt proves a row
of an old version that left it out. Where the provider compacted inside a call (``iterations``), ``prompt_tokens`` is
the sum of all passes, and the prompt that of the last one.

Session: ``session_id`` (``trace_id`` in payloads), but LiteLLM makes one up for each call that brings none: an id that
occurs once is no session. Such calls are grouped by their messages where the row kept the request
(``proxy_server_request``, ``messages``), else by key, model and growth. Texts that the proxy cut stay comparable. The
proxy re-encodes ids of the Responses API; the provider's own id inside is used.

Where a row kept its request, the messages also tell what people typed and which calls made a summary.

Unknown: figures that the provider did not send through; without request bodies exchanges and purposes.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Raw, Struct

from monitor.readers import gateway_bodies, shapes, table_rows, usage
from monitor.readers import gateway_values as values
from monitor.readers.base import BaseParser, FileContext, Head
from monitor.readers.exchange_reply import Reply
from monitor.readers.json_stream import JsonAssembler
from monitor.readers.overflow import too_long
from monitor.records import Call, Event, Record

_REDACTED = b"redacted-by-litellm"
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode
#: enough to tell a row or payload from other JSON with the same words
_ROW = ("request_id", "call_type", "api_key", "spend", "startTime")
_PAYLOAD = ("litellm_call_id", "call_type", "startTime", "endTime", "response_cost")


class Payload(Struct, gc=False):
    """The fields looked at, of rows and payloads alike. Large ones stay bytes until they are needed."""

    id: Any = None
    request_id: Any = None
    litellm_call_id: Any = None
    call_type: Any = None
    cache_hit: Any = None
    session_id: Any = None
    trace_id: Any = None
    status: Any = None
    startTime: Any = None
    endTime: Any = None
    model: Any = None
    model_group: Any = None
    custom_llm_provider: Any = None
    prompt_tokens: Any = None
    completion_tokens: Any = None
    total_tokens: Any = None
    spend: Any = None
    response_cost: Any = None
    api_key: Any = None
    user: Any = None
    end_user: Any = None
    user_agent: Any = None
    error_information: Any = None
    error_str: Any = None
    metadata: Any = None
    model_map_information: Any = None
    messages: Raw = Raw()
    response: Raw = Raw()
    model_parameters: Raw = Raw()
    proxy_server_request: Raw = Raw()


_payload = msgspec.json.Decoder(Payload).decode


class Rows:
    """Turns rows and payloads into records. ``ids``: who tells which session ids count."""

    def __init__(self, file: str, *, detail: bool = False, ids: values.Sightings | None = None) -> None:
        self._rows = gateway_bodies.Rows(file, "litellm", detail=detail)
        self._ids = ids if ids is not None else values.Sightings()

    def records(self, row: Payload, line: int | None) -> list[Record]:
        """The call of a row (with an earlier one whose session became known) and the events it tells of."""
        if values.truth(row.cache_hit) is True or "_cache_hit" in str(row.request_id or row.id or ""):
            return []
        session = values.text(row.session_id) or values.text(row.trace_id)
        out: list[Record] = []
        named: str | None = None
        facts = _row(row, line)
        if self._ids.known(session):
            facts.session = session
        for record in self._rows.add(facts):
            if isinstance(record, Call):
                named_by_body = record.session_evidence == "explicit" and record.session != session
                found = [record] if named_by_body else self._ids.see(session, record)
                named = found[-1].session if found[-1].session_evidence == "explicit" else None
                out += found
            elif isinstance(record, Event) and named is not None:
                out.append(msgspec.structs.replace(record, session=named))
            else:
                out.append(record)
        return out


def _row(row: Payload, line: int | None) -> gateway_bodies.Row:
    meta = values.as_object(row.metadata)
    failed = str(row.status or meta.get("status") or "").lower() == "failure"
    found = _usage(row, meta)
    tokens = usage.UNKNOWN if failed else _tokens(row, found)
    id = provider_id(values.text(row.request_id) or values.text(row.id))
    start, end = values.time_ms(row.startTime), values.time_ms(row.endTime)
    error = values.as_object(row.error_information) or values.as_object(meta.get("error_information"))
    limits = values.as_object(row.model_map_information) or values.as_object(meta.get("model_map_information"))
    word = values.text(error.get("error_class")) if failed else None
    body = _body(row)
    reply = gateway_bodies.reply_of(_text(row.response)) if body is not None else Reply()
    reply.compacted_from, reply.summary_tokens = shapes.compacted(found)
    return gateway_bodies.Row(
        id=id or values.text(row.litellm_call_id) or f"litellm:{start}:{line}:{tokens.prompt}:{tokens.output}",
        call_id=id,
        line=line,
        time=start,
        duration=None if start is None or end is None or end < start else end - start,
        tokens=tokens,
        session=None,
        origin=values.origin(
            "litellm",
            row.api_key or meta.get("user_api_key") or meta.get("user_api_key_hash"),
            row.user or meta.get("user_api_key_user_id"),
            row.end_user,
            row.user_agent or meta.get("user_agent"),
        ),
        provider=values.provider_name(row.custom_llm_provider),
        model=values.text(row.model) or values.text(row.model_group),
        body=body,
        reply=reply,
        cost=None if failed else _cost(row),
        failed=failed,
        stop=word,
        overflow=failed and too_long(word, row.error_str, values.text(error.get("error_message"))),
        side=values.is_side(row.call_type),
        context_limit=usage.count(values.as_object(limits.get("model_map_value")).get("max_input_tokens")),
        previous=provider_id(_previous(body)),
    )


def _previous(body: bytes | None) -> str | None:
    """The answer that a Responses request continues."""
    if body is None or b"previous_response_id" not in body:
        return None
    return values.text(values.as_object(body).get("previous_response_id"))


def _cost(row: Payload) -> float | None:
    for value in (row.response_cost, row.spend):
        cost = values.usd(value)
        if cost:
            return cost
    return None


def _usage(row: Payload, meta: dict[str, Any]) -> dict[str, Any]:
    more = values.as_object(meta.get("additional_usage_values"))
    found = values.as_object(meta.get("usage_object"))
    if not found:
        return {**more, "prompt_tokens": row.prompt_tokens, "completion_tokens": row.completion_tokens,
                "total_tokens": row.total_tokens}  # fmt: skip
    passes = more.get("iterations")
    return {"iterations": passes, **found} if isinstance(passes, list) else found


def _tokens(row: Payload, found: dict[str, Any]) -> usage.Tokens:
    tokens = shapes.tokens(found, model=str(row.model or ""))
    if tokens.prompt is None and usage.count(row.prompt_tokens):
        tokens = usage.inclusive(
            usage.count(row.prompt_tokens),
            tokens.read,
            tokens.write,
            usage.count(row.completion_tokens),
            rule="litellm",
        )
    return tokens


def _body(row: Payload) -> bytes | None:
    """The request as JSON: a row keeps it whole, a payload keeps messages and parameters apart."""
    kept = _text(row.proxy_server_request)
    if len(kept) > 2:
        return kept
    messages = _text(row.messages)
    if len(messages) <= 2 or messages[:1] not in (b"[", b'"') or _REDACTED in messages:
        return None
    name = b"input" if "responses" in str(row.call_type) else b"messages"
    parameters = _text(row.model_parameters).strip()
    rest = b"," + parameters[1:] if parameters[:1] == b"{" and len(parameters) > 2 else b"}"
    return b'{"' + name + b'":' + messages + rest


def _text(raw: Raw) -> bytes:
    """JSON bytes of a field that holds an object or, in rows of the table, the text of one."""
    data = bytes(raw)
    if data[:1] == b'"' and data[1:2] in (b"{", b"["):
        try:
            inner = _decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return b""
        return inner.encode("utf-8", "surrogatepass") if isinstance(inner, str) else b""
    return b"" if data in (b"null", b'""') else data


def provider_id(id: str | None) -> str | None:
    """The provider's id inside the id that the proxy gives to answers of the Responses API."""
    if id is None or not id.startswith("resp_"):
        return id
    try:
        inner = base64.b64decode(id[5:] + "=" * (-len(id[5:]) % 4), validate=True).decode("ascii")
    except (ValueError, binascii.Error, UnicodeDecodeError):
        return id
    _, mark, real = inner.rpartition("response_id:")
    return real if mark and real else id


def payload_of(row: dict[str, Any]) -> Payload:
    """A row of a table, or an object that did not decode at once, as a payload."""
    known = {name: row[name] for name in Payload.__struct_fields__ if name in row}
    for name in ("messages", "response", "model_parameters", "proxy_server_request"):
        value = known.get(name)
        if isinstance(value, str):
            known[name] = Raw(value.encode("utf-8", "replace")) if value[:1] in ("{", "[") else Raw()
        elif value is None:
            known.pop(name, None)
        else:
            try:
                known[name] = Raw(_encode(value))
            except (TypeError, ValueError, RecursionError):
                known[name] = Raw()
    return Payload(**known)


class LiteLlmParser(BaseParser):
    """Reads payloads and rows, line by line or as a table."""

    def __init__(self, context: FileContext) -> None:
        super().__init__(context)
        self._assembler = JsonAssembler(self.problem)
        self._rows = Rows(self.file, detail=self.options.detail)

    def feed(self, lines: Iterable[bytes], first: int) -> None:
        for number, line in enumerate(lines, first):
            if line[:2] == b'{"' and line.rstrip()[-1:] == b"}":
                try:
                    self._take(_payload(line), number)
                    continue
                except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
                    pass
            for at, value in self._assembler.push(line, number):
                for row in table_rows.unwrap(value)[0]:
                    if isinstance(row, dict):
                        self._take(payload_of(row), at)

    def _take(self, row: Payload, line: int | None) -> None:
        if row.startTime is None and row.call_type is None:
            self.problem(line, "this is no LiteLLM payload or row; it was skipped")
            return
        self.records += self._rows.records(row, line)

    def take(self) -> list[Record]:
        return values.latest(super().take())


class LiteLlmTableParser(LiteLlmParser):
    """Reads a dump of the table or a document as a whole."""

    def read(self, context: FileContext) -> None:
        found = [(line, payload_of(row)) for line, row in table_rows.rows(context, self.problem)]
        newest_first = len(found) > 1 and _start(found[0][1]) > _start(found[-1][1])
        for line, row in reversed(found) if newest_first else found:
            self._take(row, line)


def _start(row: Payload) -> int:
    return values.time_ms(row.startTime) or 0


class LiteLlmReader:
    """Payloads and rows as JSON, one or more a line."""

    source = "litellm"
    title = "LiteLLM log"
    lines = True

    def sniff(self, head: Head) -> float:
        found = table_rows.peek(head)
        if not table_rows.by_line(head, found):
            return 0.0
        return 0.95 if found.has(*_ROW) or found.has(*_PAYLOAD) else 0.0

    def parser(self, context: FileContext) -> LiteLlmParser:
        return LiteLlmParser(context)


class LiteLlmTable:
    """Dumps of the table (CSV, Parquet, XLSX), answers of the proxy's API, and payload files of one document."""

    source = "litellm"
    title = "LiteLLM table"
    lines = False

    def sniff(self, head: Head) -> float:
        found = table_rows.peek(head)
        if found.kind == "none" or table_rows.by_line(head, found):
            return 0.0
        return 0.95 if found.has(*_ROW) or found.has(*_PAYLOAD) else 0.0

    def parser(self, context: FileContext) -> LiteLlmTableParser:
        return LiteLlmTableParser(context)


READERS = [LiteLlmReader(), LiteLlmTable()]
