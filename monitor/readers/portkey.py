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

import msgspec

from monitor.readers import gateway_values as values
from monitor.readers import shapes, table_rows, usage
from monitor.readers.base import BaseParser, FileContext, Head
from monitor.readers.gateway_bodies import Bodies
from monitor.records import Call

_encode = msgspec.json.Encoder().encode
_SESSION = ("session_id", "sessionId", "session", "conversation_id", "conversationId", "thread_id")


class PortkeyParser(BaseParser):
    """Reads exported rows."""

    def read(self, context: FileContext) -> None:
        bodies, traces = Bodies(), values.Sightings("chain")
        found: dict[str, Call] = {}
        for line, row in table_rows.rows(context, self.problem):
            if "hit" in str(row.get("cache_status") or "").lower():
                continue
            call = self._call(row, line, bodies)
            known = call.session_evidence == "explicit"
            for one in [call] if known else traces.see(values.text(row.get("trace_id")), call):
                found[one.key] = one
        self.records += values.written_order(list(found.values()))

    def _call(self, row: dict[str, Any], line: int | None, bodies: Bodies) -> Call:
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
        session = next((found for name in _SESSION if (found := values.text(meta.get(name)))), None)
        provider_id = values.text(answer.get("id"))
        request = _body(row.get("request"))
        origin = values.origin("portkey", meta.get("_user"), row.get("api_key"), row.get("config"))
        facts = bodies.facts(_encode(request) if request else None, origin, provider_id or id)
        duration = values.number(row.get("response_time"))
        time = values.time_ms(row.get("created_at"))
        purpose = "side" if values.is_side(row.get("endpoint"), row.get("request_url")) else facts.purpose
        return Call(
            session=session or values.placeholder(self.file),
            session_evidence="explicit" if session else "file",
            source="portkey",
            file=self.file,
            line=line,
            chain="main" if purpose == "work" else "side",
            purpose=purpose,
            call_id=provider_id or id,
            key=provider_id or (f"portkey:{id}" if id else f"portkey:{time}:{line}:{tokens.prompt}:{tokens.output}"),
            time=time,
            duration_ms=None if duration is None or duration < 0 else round(duration),
            provider=provider,
            model=model,
            prompt_tokens=tokens.prompt,
            fresh_tokens=tokens.fresh,
            cache_read_tokens=tokens.read,
            cache_write_tokens=tokens.write,
            cache_write_1h_tokens=tokens.write_1h,
            output_tokens=tokens.output,
            reasoning_tokens=tokens.reasoning,
            billed_prompt_tokens=tokens.billed_prompt,
            billed=tokens.billed,
            status="error" if failed else "ok",
            has_bodies=facts.has_bodies,
            usage_rule=tokens.rule,
            evidence=None if session else facts.evidence,
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
