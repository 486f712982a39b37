"""Cloudflare AI Gateway logs.

Where: answers of ``/accounts/{id}/ai-gateway/gateways/{id}/logs`` saved as JSON, and the Logpush data set
``ai_gateway_events`` (JSON lines, usually gzip).

What is read: rows that reached a provider. Rows answered from the gateway's own cache (``cached``) are left out; a row
without success is a failed call. ``cost`` is the logged cost. Bodies in Logpush are encrypted and are not read.

Prompt tokens: ``tokens_in`` as the provider reported it. No cache figure is logged: unknown. Of Anthropic models
``tokens_in`` leaves the cached part out, so the prompt is unknown there and only the output is used.

Session: an id in ``metadata`` (session_id, conversation_id …) that the client set; else sessions are formed from
provider, model and growth.

Unknown: cache figures, reasoning. Logpush holds tokens only where its ``Metrics`` tell them.
"""

from __future__ import annotations

from typing import Any

from monitor.readers import gateway_values as values
from monitor.readers import table_rows, usage
from monitor.readers.base import BaseParser, FileContext, Head
from monitor.readers.times import span_ms
from monitor.records import Call, Evidence

_SESSION = ("session_id", "sessionId", "session", "conversation_id", "conversationId", "thread_id")
_HIDDEN = "Cloudflare logs no cache figures: of Anthropic models the prompt is unknown, only output tokens are read"


class CloudflareParser(BaseParser):
    """Reads log rows of both spellings."""

    def read(self, context: FileContext) -> None:
        calls = []
        for line, row in table_rows.rows(context, self.problem):
            if values.truth(values.first(row, "cached", "Cached")) is True:
                continue
            calls.append(self._call(row, line))
        if any(call.provider == "anthropic" and call.usage_rule == "cloudflare output" for call in calls):
            self.problem(None, _HIDDEN)
        self.records += values.written_order(calls)

    def _call(self, row: dict[str, Any], line: int | None) -> Call:
        metrics = values.as_object(row.get("Metrics"))
        prompt = usage.count(values.first({**metrics, **row}, "tokens_in", "tokensIn", "TokensIn"))
        output = usage.count(values.first({**metrics, **row}, "tokens_out", "tokensOut", "TokensOut"))
        provider = values.provider_name(values.first(row, "provider", "Provider"))
        model = values.text(values.first(row, "model", "Model", "RequestedModel"))
        status = usage.count(values.first(row, "status_code", "StatusCode"))
        success = values.truth(row.get("success"))
        failed = success is False or (status is not None and status >= 400)
        if failed or (not prompt and not output):
            tokens = usage.UNKNOWN
        elif provider == "anthropic" or (model is not None and "claude" in model.lower()):
            tokens = usage.Tokens(output=output, rule="cloudflare output")
        else:
            tokens = usage.inclusive(prompt, None, None, output, rule="cloudflare")
        meta = values.as_object(values.first(row, "metadata", "Metadata"))
        session = next((id for name in _SESSION if (id := values.text(meta.get(name)))), None)
        id = values.text(values.first(row, "id", "Id", "RayID"))
        time = values.time_ms(values.first(row, "created_at", "Timestamp"))
        duration = values.number(values.first({**metrics, **row}, "duration", "durationMs"))
        side = values.is_side(row.get("model_type"), row.get("path"), row.get("Endpoint"))
        return Call(
            session=session or values.placeholder(self.file),
            session_evidence="explicit" if session else "file",
            source="cloudflare",
            file=self.file,
            line=line,
            chain="side" if side else "main",
            purpose="side" if side else "work",
            call_id=id,
            key=f"cloudflare:{id}" if id else f"cloudflare:{time}:{line}:{model}:{prompt}:{output}",
            time=time,
            duration_ms=span_ms(duration),
            provider=provider,
            model=model,
            prompt_tokens=tokens.prompt,
            fresh_tokens=tokens.fresh,
            output_tokens=tokens.output,
            billed_prompt_tokens=tokens.billed_prompt,
            cost_usd=values.usd(values.first({**metrics, **row}, "cost")) or None,
            status="error" if failed else "ok",
            usage_rule=tokens.rule,
            evidence=None if session else Evidence(response_id=id, origin=values.origin("cloudflare", *_sender(row))),
        )


def _sender(row: dict[str, Any]) -> tuple[Any, ...]:
    return values.first(row, "gateway_id", "Gateway"), values.first(row, "path", "Endpoint")


class CloudflareReader:
    """Cloudflare AI Gateway logs."""

    source = "cloudflare"
    title = "Cloudflare AI Gateway log"
    lines = False

    def sniff(self, head: Head) -> float:
        found = table_rows.peek(head)
        if found.has("created_at", "provider", "model", "tokens_in", "tokens_out", "cached"):
            return 0.95
        return 0.95 if found.has("Timestamp", "Gateway", "Provider", "Model", "StatusCode") else 0.0

    def parser(self, context: FileContext) -> CloudflareParser:
        return CloudflareParser(context)


READER = CloudflareReader()
