"""Portkey's log export.

Where: Exports in the Portkey application or ``/logs/exports`` (JSON lines; CSV is read too), any choice of columns.

What is read: every row that reached a provider; rows answered from Portkey's own cache (``cache_status`` HIT, SEMANTIC
HIT) are left out. ``is_success`` false or a response status of 400 and above is a failed call.

Prompt tokens: ``response.usage`` where the export holds the response (cache figures stand only there), by the
provider's own rule. Without it ``req_units``, which tells no cache: unknown; of Anthropic models it may leave the cache
out, so the prompt is unknown there.

Session: an id in ``metadata`` (session_id, conversation_id …), else ``trace_id`` if it occurs more than once (evidence
"chain"); else sessions are formed from messages, user and growth.

Unknown: the cost: the export does not say whether it is in dollars or cents.
"""

from __future__ import annotations

from typing import Any

from monitor.readers import gateway_bodies, shapes, table_rows, usage
from monitor.readers import gateway_values as values
from monitor.readers.base import BaseParser, FileContext, Head
from monitor.records import Call

_SESSION = ("session_id", "sessionId", "session", "conversation_id", "conversationId", "thread_id")


class PortkeyParser(BaseParser):
    """Reads exported rows."""

    def read(self, context: FileContext) -> None:
        rows, traces = gateway_bodies.Rows(self.file, "portkey", detail=self.options.detail), values.Sightings("chain")
        found = list(table_rows.rows(context, self.problem))
        for line, row in values.oldest_first(found, "created_at"):
            if "hit" in str(row.get("cache_status") or "").lower():
                continue
            trace = values.text(row.get("trace_id"))
            for record in rows.add(_row(row, line)):
                loose = isinstance(record, Call) and record.session_evidence == "file" and not record.has_bodies
                self.records += traces.see(trace, record) if isinstance(record, Call) and loose else [record]
        self.records = values.latest(self.records)


def _row(row: dict[str, Any], line: int | None) -> gateway_bodies.Row:
    id = values.text(row.get("id"))
    provider = values.provider_name(values.first(row, "ai_org", "ai_provider", "provider"))
    model = values.text(values.first(row, "ai_model", "model"))
    answer = _body(row.get("response"))
    tokens = _tokens(row, answer, provider, model)
    status = usage.count(row.get("response_status_code"))
    failed = values.truth(row.get("is_success")) is False or (status is not None and status >= 400)
    if failed and not tokens.output:
        tokens = usage.UNKNOWN
    meta = values.as_object(row.get("metadata"))
    time, answer_id = values.time_ms(row.get("created_at")), values.text(answer.get("id"))
    return gateway_bodies.Row(
        id=answer_id or (f"portkey:{id}" if id else f"portkey:{time}:{line}:{tokens.prompt}:{tokens.output}"),
        call_id=answer_id or id,
        line=line,
        time=time,
        duration=values.number(row.get("response_time")),
        tokens=tokens,
        session=next((found for name in _SESSION if (found := values.text(meta.get(name)))), None),
        origin=values.origin("portkey", meta.get("_user"), row.get("api_key"), row.get("config")),
        provider=provider,
        model=model,
        body=gateway_bodies.request_of(_body(row.get("request"))),
        reply=gateway_bodies.reply_of(answer) if answer else None,
        failed=failed,
        stop=str(status) if failed and status is not None else None,
        side=values.is_side(row.get("endpoint"), row.get("request_url")),
    )


def _body(value: Any) -> dict[str, Any]:
    """A body as an object; some exports keep it one level deeper, as ``body``."""
    found = values.as_object(value)
    return values.as_object(found.get("body")) or found


def _tokens(row: dict[str, Any], answer: dict[str, Any], provider: str | None, model: str | None) -> usage.Tokens:
    told = answer.get("usage") or answer.get("usageMetadata")
    claude = provider == "anthropic" or "claude" in (model or "").lower()
    if told:
        found = shapes.tokens(told, model=model or "", flavour="anthropic" if claude else "")
        if found.prompt is not None:
            return found
    prompt, output = usage.count(row.get("req_units")), usage.count(row.get("res_units"))
    if not prompt and not output:
        return usage.UNKNOWN
    if claude:
        return usage.Tokens(output=output, rule="portkey output")
    return usage.inclusive(prompt, None, None, output, rule="portkey")


class PortkeyReader:
    """Portkey's log export."""

    source = "portkey"
    title = "Portkey log export"
    lines = False

    def sniff(self, head: Head) -> float:
        found = table_rows.peek(head)
        own = {"ai_org", "ai_model", "req_units", "res_units", "response_status_code", "cache_status", "trace_id"}
        return 0.95 if len(found.columns & own) >= 4 and found.columns & {"ai_org", "req_units"} else 0.0

    def parser(self, context: FileContext) -> PortkeyParser:
        return PortkeyParser(context)


READER = PortkeyReader()
