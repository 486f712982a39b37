"""Tables of gateways whose shape is known, read as ``table`` without a column map.

* Kong AI Gateway: JSON of its log plugins (file-log, http-log), one object a line or an array. ``ai.proxy.usage`` has
  the tokens in OpenAI's way (prompt includes the cache); older versions name the plugin instead of ``proxy``.
* Bifrost: rows of its table ``logs`` (``logs.db`` or PostgreSQL, dumped). ``token_usage`` is in OpenAI's way.
* Braintrust: rows of spans (BTQL, UI export) with ``metrics``; only spans of type ``llm`` are calls. Prompts include
  the cache.
* Envoy AI Gateway: JSON access logs whose keys were named as in its own examples (``llm_input_token`` …); other names
  need a column map.

What none of them tells: a session. Kong and Envoy rows are grouped by consumer or route and growth, Braintrust's by
``root_span_id`` if it holds several calls (evidence "chain").
"""

from __future__ import annotations

from typing import Any

from monitor.readers import gateway_values as values
from monitor.readers import shapes, usage
from monitor.readers.times import span_ms
from monitor.records import Call, Evidence

#: the columns of Bifrost's table that are read
BIFROST = (
    "id",
    "timestamp",
    "object_type",
    "provider",
    "model",
    "latency",
    "status",
    "token_usage",
    "prompt_tokens",
    "completion_tokens",
    "cost",
    "selected_key_id",
    "virtual_key_id",
)


def kind_of(columns: frozenset[str], row: dict[str, Any] | None) -> str | None:
    """Which of the known tables a row with these columns belongs to."""
    if {"token_usage", "provider", "model", "timestamp"} <= columns:
        return "bifrost"
    if {"metrics", "span_attributes", "root_span_id"} <= columns:
        return "braintrust"
    if {"llm_input_token", "llm_output_token"} <= columns:
        return "envoy"
    if row is not None and "ai" in columns and _kong_part(row) is not None:
        return "kong"
    return None


def call_of(kind: str, row: dict[str, Any], file: str, line: int | None) -> Call | None:
    """The call of a row, None if the row is none."""
    if kind == "bifrost":
        return bifrost_call(row, file, line)
    if kind == "braintrust":
        return _braintrust(row, file, line)
    return _envoy(row, file, line) if kind == "envoy" else _kong(row, file, line)


def group_of(kind: str, row: dict[str, Any]) -> str | None:
    """An id that makes a session if several calls share it."""
    return values.text(row.get("root_span_id")) if kind == "braintrust" else None


def _call(
    file: str,
    line: int | None,
    tokens: usage.Tokens,
    *,
    id: str | None,
    time: int | None,
    duration: float | None,
    provider: Any,
    model: str | None,
    cost: float | None,
    failed: bool,
    sender: tuple[Any, ...],
    side: bool = False,
) -> Call:
    if failed and not tokens.output:
        tokens = usage.UNKNOWN
    return Call(
        session=values.placeholder(file),
        session_evidence="file",
        source="table",
        file=file,
        line=line,
        chain="side" if side else "main",
        purpose="side" if side else "work",
        call_id=id,
        key=f"table:{id}" if id else f"table:{file}:{line}:{time}:{tokens.prompt}:{tokens.output}",
        time=time,
        duration_ms=span_ms(duration),
        provider=values.provider_name(provider),
        model=model,
        prompt_tokens=tokens.prompt,
        fresh_tokens=tokens.fresh,
        cache_read_tokens=tokens.read,
        cache_write_tokens=tokens.write,
        cache_write_1h_tokens=tokens.write_1h,
        output_tokens=tokens.output,
        reasoning_tokens=tokens.reasoning,
        billed_prompt_tokens=tokens.billed_prompt,
        cost_usd=cost or None,
        status="error" if failed else "ok",
        usage_rule=tokens.rule,
        evidence=Evidence(response_id=id, origin=values.origin("table", *sender)),
    )


def bifrost_call(row: dict[str, Any], file: str, line: int | None) -> Call:
    """A row of Bifrost's table."""
    found = values.as_object(row.get("token_usage"))
    if not found:
        found = {name: row.get(name) for name in ("prompt_tokens", "completion_tokens") if row.get(name) is not None}
    return _call(
        file,
        line,
        shapes.tokens(found),
        id=values.text(row.get("id")),
        time=values.time_ms(row.get("timestamp")),
        duration=values.number(row.get("latency")),
        provider=row.get("provider"),
        model=values.text(row.get("model")),
        cost=values.usd(row.get("cost")),
        failed=str(row.get("status") or "").lower() in ("error", "failed"),
        sender=(row.get("selected_key_id"), row.get("virtual_key_id")),
        side=values.is_side(row.get("object_type")),
    )


def _braintrust(row: dict[str, Any], file: str, line: int | None) -> Call | None:
    if values.as_object(row.get("span_attributes")).get("type") != "llm":
        return None
    metrics, meta = values.as_object(row.get("metrics")), values.as_object(row.get("metadata"))
    count = usage.count
    start, end = values.time_ms(metrics.get("start")), values.time_ms(metrics.get("end"))
    prompt, output = count(metrics.get("prompt_tokens")), count(metrics.get("completion_tokens"))
    tokens = (
        usage.inclusive(
            prompt,
            count(metrics.get("prompt_cached_tokens")),
            count(metrics.get("prompt_cache_creation_tokens")),
            output,
            reasoning=count(metrics.get("completion_reasoning_tokens")),
            rule="braintrust",
        )
        if prompt or output
        else usage.UNKNOWN
    )
    return _call(
        file,
        line,
        tokens,
        id=values.text(row.get("span_id") or row.get("id")),
        time=start if start is not None else values.time_ms(row.get("created")),
        duration=None if start is None or end is None else end - start,
        provider=meta.get("provider"),
        model=values.text(meta.get("model")),
        cost=values.usd(metrics.get("estimated_cost")),
        failed=bool(row.get("error")),
        sender=(row.get("project_id"),),
    )


def _envoy(row: dict[str, Any], file: str, line: int | None) -> Call:
    count = usage.count
    code = count(values.first(row, "response_code", "status"))
    tokens = usage.inclusive(
        count(row.get("llm_input_token")),
        count(row.get("llm_cached_input_token")),
        count(row.get("llm_cache_creation_input_token")),
        count(row.get("llm_output_token")),
        reasoning=count(row.get("llm_reasoning_token")),
        rule="envoy",
    )
    return _call(
        file,
        line,
        tokens if tokens.prompt or tokens.output else usage.UNKNOWN,
        id=values.text(values.first(row, "x-request-id", "request_id")),
        time=values.time_ms(values.first(row, "start_time", "timestamp", "time")),
        duration=values.number(row.get("duration")),
        provider=values.first(row, "backend_name", "provider"),
        model=values.text(values.first(row, "response_model", "request_model", "model", "gen_ai.response.model")),
        cost=None,
        failed=code is not None and code >= 400,
        sender=(row.get("route_name"), row.get("user-agent")),
    )


def _kong_part(row: dict[str, Any]) -> dict[str, Any] | None:
    """The part of ``ai`` that holds usage and meta, under whatever name the version gives it."""
    parts = row.get("ai")
    for part in [parts, *(parts.values() if isinstance(parts, dict) else ())]:
        if isinstance(part, dict) and isinstance(part.get("usage"), dict):
            return part
    return None


def _kong(row: dict[str, Any], file: str, line: int | None) -> Call | None:
    part = _kong_part(row)
    if part is None:
        return None
    meta, told = values.as_object(part.get("meta")), dict(part["usage"])
    for old, new in (("prompt_token", "prompt_tokens"), ("completion_token", "completion_tokens")):
        told.setdefault(new, told.get(old))
    response, latencies = values.as_object(row.get("response")), values.as_object(row.get("latencies"))
    code = usage.count(response.get("status"))
    consumer, service = values.as_object(row.get("consumer")), values.as_object(row.get("service"))
    return _call(
        file,
        line,
        shapes.tokens({name: value for name, value in told.items() if value is not None}),
        id=values.text(values.as_object(row.get("request")).get("id")),
        time=values.time_ms(row.get("started_at")),
        duration=values.number(meta.get("llm_latency") or latencies.get("request")),
        provider=meta.get("provider_name"),
        model=values.text(meta.get("response_model") or meta.get("request_model")),
        cost=values.usd(told.get("cost")),
        failed=code is not None and code >= 400,
        sender=(consumer.get("id") or consumer.get("username"), service.get("id")),
        side=values.is_side(meta.get("request_mode")),
    )
