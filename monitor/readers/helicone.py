"""Helicone requests.

Where: ``npx @helicone/export --format jsonl|csv|json`` (with or without ``--include-body``), or answers of
``POST /v1/request/query`` saved as JSON.

What is read: every row is one call. ``costUSD`` is the logged cost. A response status of 400 and above, or no response
at all, is a failed call.

Prompt tokens: ``prompt_tokens`` is what the provider reported. At Anthropic and Bedrock that leaves the cache out:
prompt = prompt_tokens + prompt_cache_read_tokens + prompt_cache_write_tokens; elsewhere it includes it. Where the row
keeps the response body its usage object is used instead, as it says more.

Session: the property ``Helicone-Session-Id``; else sessions are formed from messages (with bodies), user and growth.

Unknown: reasoning tokens without bodies.
"""

from __future__ import annotations

from typing import Any

from monitor.readers import gateway_bodies, shapes, table_rows, usage
from monitor.readers import gateway_values as values
from monitor.readers.base import BaseParser, FileContext, Head

_ADDITIVE = ("anthropic", "bedrock", "claude")


class HeliconeParser(BaseParser):
    """Reads exported requests."""

    def read(self, context: FileContext) -> None:
        rows = gateway_bodies.Rows(self.file, "helicone", detail=self.options.detail)
        found = list(table_rows.rows(context, self.problem))
        for line, row in values.oldest_first(found, "request_created_at"):
            self.records += rows.add(_row(row, line))


def _row(row: dict[str, Any], line: int | None) -> gateway_bodies.Row:
    id = values.text(row.get("request_id"))
    model = values.text(values.first(row, "response_model", "request_model", "model", "model_override"))
    provider = values.provider_name(row.get("provider"))
    answer = values.as_object(row.get("response_body"))
    tokens = _tokens(row, answer, provider, model)
    status = usage.count(values.first(row, "response_status", "status"))
    failed = status is not None and status >= 400
    if failed and not tokens.output:
        tokens = usage.UNKNOWN
    properties = {**values.as_object(row.get("properties")), **values.as_object(row.get("request_properties"))}
    named = {name.lower(): value for name, value in properties.items()}
    start, end = values.time_ms(row.get("request_created_at")), values.time_ms(row.get("response_created_at"))
    delay = values.number(row.get("delay_ms"))
    if delay is None and start is not None and end is not None and end >= start:
        delay = end - start
    provider_id = values.text(answer.get("id"))
    return gateway_bodies.Row(
        id=provider_id or (f"helicone:{id}" if id else f"helicone:{start}:{line}:{tokens.prompt}:{tokens.output}"),
        call_id=provider_id or id,
        line=line,
        time=start,
        duration=delay,
        tokens=tokens,
        session=values.text(named.get("helicone-session-id")),
        origin=values.origin(
            "helicone", values.first(row, "request_user_id", "user_id"), row.get("auth_hash"), row.get("request_path")
        ),
        provider=provider,
        model=model,
        body=gateway_bodies.request_of(row.get("request_body")),
        reply=gateway_bodies.reply_of(answer) if answer else None,
        cost=values.usd(values.first(row, "costUSD", "cost_usd", "cost")) or None,
        failed=failed,
        stop=str(status) if failed else None,
        side=values.is_side(row.get("request_path")),
    )


def _tokens(row: dict[str, Any], answer: dict[str, Any], provider: str | None, model: str | None) -> usage.Tokens:
    told = answer.get("usage") or answer.get("usageMetadata")
    if told:
        found = shapes.tokens(told, model=model or "", flavour="anthropic" if provider == "anthropic" else "")
        if found.prompt is not None:
            return found
    prompt, output = usage.count(row.get("prompt_tokens")), usage.count(row.get("completion_tokens"))
    if not prompt and not output:
        return usage.UNKNOWN
    read, write = usage.count(row.get("prompt_cache_read_tokens")), usage.count(row.get("prompt_cache_write_tokens"))
    if any(word in (provider or "") for word in _ADDITIVE) or (provider is None and "claude" in (model or "")):
        return usage.additive(prompt, read, write, output, rule="helicone additive")
    return usage.inclusive(prompt, read, write, output, rule="helicone")


class HeliconeReader:
    """Helicone's export of requests."""

    source = "helicone"
    title = "Helicone requests"
    lines = False

    def sniff(self, head: Head) -> float:
        found = table_rows.peek(head)
        if not found.has("request_id", "request_created_at"):
            return 0.0
        own = {"response_created_at", "request_path", "request_properties", "delay_ms", "costUSD", "prompt_tokens"}
        return 0.95 if len(found.columns & own) >= 3 else 0.0

    def parser(self, context: FileContext) -> HeliconeParser:
        return HeliconeParser(context)


READER = HeliconeReader()
