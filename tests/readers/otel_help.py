"""Telemetry as exporters write it."""

from __future__ import annotations

import json

from tests.readers.gateway_help import calls, lines, read

SESSION = "c9e430ba-5e9f-46be-ab77-bc444123a7b4"
T0 = 1775808000  # 2026-04-10T08:00:00Z


def attributes(facts, strings=False):
    def value(v):
        if isinstance(v, bool):
            return {"boolValue": v}
        if isinstance(v, int) and not strings:
            return {"intValue": str(v)}
        if isinstance(v, float):
            return {"doubleValue": v}
        if isinstance(v, list):
            return {"arrayValue": {"values": [value(one) for one in v]}}
        return {"stringValue": str(v)}

    return [{"key": k, "value": value(v)} for k, v in facts.items()]


def export(kind, records, scope="s", resource=None):
    outer, inner, leaf = {
        "log": ("resourceLogs", "scopeLogs", "logRecords"),
        "span": ("resourceSpans", "scopeSpans", "spans"),
    }[kind]
    return {
        outer: [
            {
                "resource": {"attributes": attributes(resource or {"service.name": "x"})},
                inner: [{"scope": {"name": scope}, leaf: records}],
            }
        ]
    }


def claude(event, at=0.0, trace="", strings=False, **facts):
    base = {"session.id": SESSION, "event.name": event, "event.timestamp": _iso(at)}
    return {
        "timeUnixNano": str(int((T0 + at) * 1e9)),
        "body": {"stringValue": f"claude_code.{event}"},
        "traceId": trace,
        "attributes": attributes(base, strings) + attributes(facts, strings),
    }


def _iso(at):
    minutes, seconds = divmod(at, 60)
    return f"2026-04-10T08:{int(minutes):02d}:{seconds:06.3f}Z"


def request(at, fresh, cached, written, output, sequence=1, source="sdk", **more):
    facts = {
        "event.sequence": sequence,
        "model": "claude-opus-4-5",
        "input_tokens": fresh,
        "output_tokens": output,
        "cache_read_tokens": cached,
        "cache_creation_tokens": written,
        "cost_usd": 0.25,
        "duration_ms": 4700,
        "query_source": source,
    }
    return claude("api_request", at, **(facts | more))


def claude_log(*records):
    scope = "com.anthropic.claude_code.events"
    return lines(*(export("log", [record], scope, {"service.name": "claude-code"}) for record in records))


def claude_span(span, start, fresh, cached, written, output, trace="t1", **more):
    facts = {
        "session.id": SESSION,
        "model": "claude-opus-4-5",
        "input_tokens": fresh,
        "output_tokens": output,
        "cache_read_tokens": cached,
        "cache_creation_tokens": written,
        "success": True,
        "stop_reason": "end_turn",
    }
    return {
        "traceId": trace,
        "spanId": span,
        "name": "claude_code.llm_request",
        "startTimeUnixNano": str(int((T0 + start) * 1e9)),
        "endTimeUnixNano": str(int((T0 + start + 2) * 1e9)),
        "attributes": attributes(facts | more),
    }


def codex(event, at, **facts):
    base = {
        "event.name": f"codex.{event}",
        "event.timestamp": _iso(at),
        "conversation.id": "conv",
        "model": "gpt-5-mini",
    }
    return {"timeUnixNano": "0", "observedTimeUnixNano": str(int((T0 + at) * 1e9)), "body": None,
            "attributes": attributes(base, True) + attributes(facts, True)}  # fmt: skip


def completed(at, prompt, cached, output, reasoning):
    return codex(
        "sse_event",
        at,
        **{
            "event.kind": "response.completed",
            "input_token_count": prompt,
            "cached_token_count": cached,
            "cache_write_token_count": 0,
            "output_token_count": output,
            "reasoning_token_count": reasoning,
            "tool_token_count": prompt + output,
        },
    )


def gemini(event, at, **facts):
    return {
        "hrTime": [T0 + at, 500_000_000],
        "hrTimeObserved": [T0 + at, 0],
        "resource": {"attributes": {"service.name": "gemini-cli", "session.id": "gs-1"}},
        "body": "API response from gemini-2.5-pro.",
        "attributes": {"session.id": "gs-1", "event.name": f"gemini_cli.{event}", "event.timestamp": _iso(at)} | facts,
    }


def response(at, prompt, output, cached=0, thoughts=0, tool=0, total=None, **more):
    return gemini(
        "api_response",
        at,
        **{
            "model": "gemini-2.5-pro",
            "duration_ms": 2100,
            "input_token_count": prompt,
            "output_token_count": output,
            "cached_content_token_count": cached,
            "thoughts_token_count": thoughts,
            "tool_token_count": tool,
            "total_token_count": prompt + output + thoughts + tool if total is None else total,
        }
        | more,
    )


def span(id="s1", trace="t1", parent="", start=0, facts=None, name="chat", **more):
    return {
        "traceId": trace,
        "spanId": id,
        "parentSpanId": parent,
        "name": name,
        "startTimeUnixNano": str((T0 + start) * 10**9),
        "endTimeUnixNano": str((T0 + start) * 10**9 + 2_500_000_000),
        "attributes": attributes(facts or {}),
        "status": {},
    } | more


def chat(prompt=1000, output=5, **more):
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "anthropic",
        "gen_ai.request.model": "claude-sonnet-4-5",
        "gen_ai.usage.input_tokens": prompt,
        "gen_ai.usage.output_tokens": output,
    } | more


def spans(*records, **more):
    return calls(read("otel", lines(export("span", list(records), **more))))


def messages(*words):
    roles = ("user", "assistant")
    return json.dumps([
        {"role": roles[n % 2], "parts": [{"type": "text", "content": word}]} for n, word in enumerate(words)
    ])  # fmt: skip
