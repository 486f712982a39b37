"""The call log of ``ctxmon record`` (schema ``ctxmon.call/1``).

Where: the file named by ``--log``.

What is read: one object a line, one call each (docs/record.md lists the fields): the provider's own usage object, ids
and digests by which conversations are recognised, what a request was for, and how it ended. Message text is there only
with ``--bodies``; then exchange numbers are known too. Requests that never left (no connection to the upstream) are no
calls.

Prompt tokens: from the raw usage object, by the rules of :mod:`monitor.readers.shapes`. A stream that was cut gives
lower bounds.

Sessions: ids of the clients; else chains of response ids, else the digests of the messages.

Unknown: usage of streams without it; the exchange number without bodies.
"""

from __future__ import annotations

import base64
import binascii
from typing import Any

from monitor.readers import exchange_anthropic, shapes
from monitor.readers.base import FileContext, Head
from monitor.readers.exchange_facts import Facts
from monitor.readers.exchange_pairs import PairParser, as_bytes, as_object
from monitor.readers.exchange_reply import Reply
from monitor.readers.exchange_request import Body, Request, parse
from monitor.readers.exchange_session import Identity, clean, provider
from monitor.readers.lines import first_objects
from monitor.readers.service_tier import service_tier
from monitor.readers.times import span_ms, to_ms
from monitor.readers.usage import count

SOURCE = "ctxmon"
SCHEMA = "ctxmon.call/"
_SHAPES = {"openai-chat": "chat", "openai-responses": "responses", "anthropic": "messages", "gemini": "gemini"}
_SESSIONS = (
    "claude_session",
    "codex_session",
    "client_session",
    "session_affinity",
    "helicone_session",
    "magpie_session",
    "user_session",
    "body_session",
    "codex_thread",
)


class CtxmonParser(PairParser):
    """See the module."""

    source = SOURCE

    def value(self, value: Any, line: int) -> None:
        if not isinstance(value, dict) or not str(value.get("schema", "")).startswith(SCHEMA):
            return
        if value.get("sent") is False:
            return
        track = self.assembler.track
        take = track.fetched if value.get("kind") == "fetch" else track.add
        self.records.extend(take(self._facts(value, line)))

    def _facts(self, value: dict[str, Any], line: int) -> Facts:
        start = to_ms(value.get("time"))
        took = span_ms(value.get("duration_ms"))
        end = start + took if start is not None and took is not None else None
        status = value.get("status")
        reply = _reply(value)
        error = as_object(value.get("error"))
        failure = reply.error
        if not failure and (error or status is None or (isinstance(status, int) and status >= 400)):
            failure = str(status) if isinstance(status, int) and status >= 400 else "no_answer"
        model = reply.model or _text(value.get("model"))
        kind = value.get("kind")
        return Facts(
            line=line,
            time=start,
            end=end,
            kind=kind if kind in ("count", "compact") else "call",
            status=status if isinstance(status, int) else 0,
            failure=failure,
            kept=True,
            provider=provider(str(value.get("host") or ""), model, reply.shape),
            model=model,
            who=_identity(value),
            origin=_text(value.get("origin")),
            request=self._request(value),
            reply=reply,
            client=str(value.get("client") or ""),
            digests=_digests(value),
        )

    def _request(self, value: dict[str, Any]) -> Request:
        held = value.get("request_body")
        request: Request | None = None
        if held and not value.get("bodies_truncated"):
            request = parse(as_bytes(held), self.assembler.memory)
        if request is None:
            request = Request(Body(), model=_text(value.get("model")))
        hints, evidence = as_object(value.get("hints")), as_object(value.get("evidence"))
        request.system, request.tools = _hex(evidence.get("system")), _hex(evidence.get("tools"))
        request.has_tools = bool(count(hints.get("tools")))
        asks = hints.get("asks")
        request.asks_summary = request.asks_summary or asks == "summary"
        if as_object(value.get("compaction")).get("trigger_item"):
            request.asks_summary = True
        request.asks_side = request.asks_side or asks == "title" or count(hints.get("max_tokens")) == 1
        request.warm_up = hints.get("warm_up") is True
        request.after_summary = hints.get("after_summary") is True
        return request


def _reply(value: dict[str, Any]) -> Reply:
    error, compaction = as_object(value.get("error")), as_object(value.get("compaction"))
    shape = _SHAPES.get(str(value.get("api")), "")
    reply = Reply(
        shape=shape,
        id=_text(value.get("response_id")),
        model=_text(value.get("response_model")),
        stop=_text(value.get("stop")),
        complete=value.get("complete") is True and value.get("usage_final") is not False,
        overflow=error.get("overflow") is True,
        error=str(error.get("code") or error.get("type") or ("error" if error else ""))[:48],
    )
    told, start = value.get("usage"), value.get("usage_start")
    if shape == "messages" and isinstance(told, dict):
        found = exchange_anthropic.merge(as_object(start), told, False)
        reply.tokens, reply.compacted_from, reply.summary_tokens = found
        merged = {**as_object(start), **told}
        reply.service_tier, reply.cost = service_tier(merged), shapes.cost(merged)
    elif isinstance(told, dict):
        reply.tokens = shapes.tokens(told, model=reply.model or "", timings=value.get("timings"), flavour="openai")
        reply.cost = shapes.cost(told)
        reply.service_tier = service_tier(told, value.get("service_tier"))
    edits = compaction.get("applied_edits")
    if isinstance(edits, list):
        reply.cleared = sum(count(e.get("cleared_input_tokens")) or 0 for e in edits if isinstance(e, dict))
    reply.compaction_item = shape == "responses" and value.get("kind") != "compact" and bool(compaction.get("items"))
    return reply


def _identity(value: dict[str, Any]) -> Identity:
    ids = as_object(value.get("session"))
    session = next((found for name in _SESSIONS if (found := clean(ids.get(name)))), None)
    chain = "main"
    agent, thread, parent = (clean(ids.get(name)) for name in ("claude_agent", "codex_thread", "parent_session"))
    if agent and agent != "main":
        chain = f"agent:{agent}"
    elif parent and parent != session:
        session, chain = parent, f"agent:{session}"
    elif thread and session and thread != session:
        chain = f"agent:{thread}"
    trigger = ids.get("codex_compaction_trigger")
    return Identity(
        session=session,
        chain=chain,
        window=clean(ids.get("codex_window")),
        kind=clean(ids.get("codex_kind")),
        trigger=trigger if trigger in ("auto", "manual", "idle") else None,
        previous=clean(ids.get("previous_response_id")),
        conversation=clean(ids.get("conversation")),
        cache_key=clean(ids.get("cache_key")),
    )


def _digests(value: dict[str, Any]) -> tuple[bytes, bytes]:
    evidence = as_object(value.get("evidence"))
    return _decoded(evidence.get("messages")), _decoded(evidence.get("message_ids"))


def _decoded(text: Any) -> bytes:
    try:
        data = base64.b64decode(text) if isinstance(text, str) else b""
    except (ValueError, binascii.Error):
        return b""
    return data[: len(data) // 8 * 8]


def _hex(text: Any) -> int | None:
    try:
        return int(text[:16], 16) >> 1 if isinstance(text, str) and text else None
    except ValueError:
        return None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


class CtxmonLog:
    """Reader of the recorder's log."""

    source = SOURCE
    title = "ctxmon call log"
    lines = True

    def sniff(self, head: Head) -> float:
        for value in first_objects(head.data, 3):
            if str(value.get("schema", "")).startswith(SCHEMA):
                return 1.0
        return 0.99 if head.data[:200].lstrip().startswith(b'{"schema":"ctxmon.call/') else 0.0

    def parser(self, context: FileContext) -> CtxmonParser:
        return CtxmonParser(context)


READER = CtxmonLog()
