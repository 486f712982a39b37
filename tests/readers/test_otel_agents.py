"""Telemetry of coding agents: Claude Code, Codex, Gemini CLI."""

from __future__ import annotations

import json

import pytest

from tests.readers.gateway_help import calls, events, lines, problems, read, score, tokens
from tests.readers.otel_help import (
    SESSION,
    T0,
    claude,
    claude_log,
    claude_span,
    codex,
    completed,
    export,
    gemini,
    request,
    response,
)


def test_claude_code_requests_and_compaction():
    data = claude_log(
        claude("user_prompt", 0, **{"event.sequence": 0, "prompt.id": "p1"}),
        request(1, 7, 0, 18861, 81, 2, **{"prompt.id": "p1"}),
        claude("tool_result", 2, tool_name="Read"),
        request(20, 7, 18868, 72000, 300, 6, **{"prompt.id": "p1"}),
        claude("user_prompt", 30, **{"event.sequence": 7, "prompt.id": "p2", "command_name": "compact"}),
        request(40, 7, 90868, 1535, 900, 9, "compact", **{"prompt.id": "p2"}),
        claude("compaction", 41, strings=True, trigger="manual", success="true", pre_tokens=69074, post_tokens=1132),
        claude("user_prompt", 50, **{"event.sequence": 0, "prompt.id": "p3"}),
        request(60, 7, 14000, 5772, 60, 2, **{"prompt.id": "p3"}),  # another process: the sequence starts anew
    )
    assert score("otel", data) == 0.95
    records = read("otel", data)
    found = calls(records)
    assert [tokens(c) for c in found] == [
        (18868, 7, 0, 18861, 81),
        (90875, 7, 18868, 72000, 300),
        (92410, 7, 90868, 1535, 900),
        (19779, 7, 14000, 5772, 60),
    ]
    assert [(c.purpose, c.chain, c.exchange) for c in found] == [
        ("work", "main", 1),
        ("work", "main", 1),
        ("compaction", "side", None),
        ("work", "main", 2),
    ]
    assert {(c.session, c.session_evidence, c.source, c.cost_usd, c.provider) for c in found} == {
        (SESSION, "explicit", "claude-code-otel", 0.25, "anthropic")
    }
    [event] = events(records)
    assert (event.kind, event.evidence, event.trigger) == ("compaction", "recorded", "manual")
    assert (event.recorded_before, event.recorded_after, event.summary_tokens) == (69074, 1132, 900)


def test_claude_codes_cost_in_millionths():
    row = request(1, 7, 0, 18861, 81, 2, cost_usd_micros=250_000)
    for kept, cost in (({"cost_usd"}, 0.25), (set(), 0.25)):
        one = json.loads(json.dumps(row))
        one["attributes"] = [a for a in one["attributes"] if a["key"] != "cost_usd" or a["key"] in kept]
        (call,) = calls(read("otel", claude_log(one)))
        assert call.cost_usd == cost


@pytest.mark.parametrize(
    ("source", "agent", "wanted"),
    [
        ("repl_main_thread", None, ("work", "main")),
        ("repl_main_thread:outputStyle:x", None, ("work", "main")),
        ("agent:builtin:Explore", None, ("work", "agent:builtin:Explore")),
        ("subagent", "reviewer", ("work", "agent:reviewer")),
        ("generate_session_title", None, ("side", "side")),
        ("hook_prompt", None, ("side", "side")),
        ("compact", None, ("compaction", "side")),
    ],
)
def test_claude_code_sources_of_queries(source, agent, wanted):
    more = {"agent.name": agent} if agent else {}
    found = calls(read("otel", claude_log(request(1, 1, 2, 3, 4, 1, source, **more))))[0]
    assert (found.purpose, found.chain) == wanted


def test_claude_code_errors_and_failed_compactions():
    data = claude_log(
        claude("api_error", 1, model="claude-opus-4-5", error="prompt is too long: 210000 tokens", status_code=400),
        claude("compaction", 2, strings=True, trigger="auto", success="false", pre_tokens=5),
    )
    records = read("otel", data)
    [call] = calls(records)
    assert (call.status, tokens(call), call.stop) == ("error", (None,) * 5, "400")
    assert [e.kind for e in events(records)] == ["overflow"]
    assert "210000" not in repr(records)


def test_claude_code_records_exported_twice_count_once():
    record = request(1, 7, 0, 18861, 81, 2)
    assert len(calls(read("otel", claude_log(record, record)))) == 1


def test_claude_code_log_and_span_of_one_call_have_one_identity():
    spans = export(
        "span",
        [
            claude_span("a", 1, 7, 0, 100, 5),
            claude_span("b", 5, 7, 100, 9, 6),
            {"name": "claude_code.tool", "spanId": "c"},
        ],
        "com.anthropic.claude_code.tracing",
    )
    logs = claude_log(request(3, 7, 0, 100, 5, 1, trace="t1"), request(7, 7, 100, 9, 6, 2, trace="t1"))
    from_spans, from_logs = calls(read("otel", lines(spans))), calls(read("otel", logs))
    assert [c.key for c in from_spans] == [c.key for c in from_logs]
    assert [(c.duration_ms, c.stop) for c in from_spans] == [(2000, "end_turn")] * 2
    assert len(calls(read("otel", lines(spans) + logs))) == 2


def test_equal_side_calls_in_one_trace_stay_apart():
    spans = [claude_span(n, at, 8, 0, 0, 1) for n, at in (("a", 1), ("b", 2))]
    assert len({c.key for c in calls(read("otel", lines(export("span", spans))))}) == 2


def test_codex_completions_are_told_twice_and_in_two_scopes():
    records = [
        codex("conversation_starts", 0, auto_compact_token_limit=20000, context_window=57000),
        codex("user_prompt", 0.5, prompt="private words"),
        codex("sse_event", 1, **{"event.kind": "response.completed"}),
        completed(1.1, 9730, 0, 209, 128),
        codex("sse_event", 2, **{"event.kind": "response.output_text.delta"}),
        completed(5, 12455, 9728, 209, 128),
    ]
    both = lines(export("log", records, "codex_otel.log_only"), export("log", records, "codex_otel.trace_safe"))
    assert score("otel", both) == 0.95
    found = calls(read("otel", both))
    assert [tokens(c) for c in found] == [(9730, 9730, 0, 0, 209), (12455, 2727, 9728, 0, 209)]
    assert {(c.session, c.source, c.reasoning_tokens, c.usable_limit, c.context_limit, c.exchange) for c in found} == {
        ("conv", "codex-otel", 128, 20000, 57000, 1)
    }
    assert found[0].time == T0 * 1000 + 1100
    assert "private" not in repr(found)


def test_codex_websocket_and_refused_requests():
    event = completed(1, 100, 0, 5, 0)
    event["attributes"][0] = {"key": "event.name", "value": {"stringValue": "codex.websocket_event"}}
    refused = codex("api_request", 3, **{"http.response.status_code": 429, "attempt": 1, "error.message": "slow down"})
    fine = codex("api_request", 3, **{"http.response.status_code": 200})
    found = calls(read("otel", lines(export("log", [event, refused, fine], "codex_otel.log_only"))))
    assert [(c.status, c.prompt_tokens, c.stop) for c in found] == [("ok", 100, None), ("error", None, "429")]


def test_gemini_objects_one_after_the_other():
    parts = [
        {"resource": {"attributes": {"service.name": "gemini-cli"}}, "scopeMetrics": []},
        gemini("user_prompt", 0),
        response(1, 12513, 25, thoughts=7),
        gemini("tool_call", 2),
        response(30, 13900, 210, cached=12288, thoughts=64, tool=100),
        gemini("chat_compression", 40, tokens_before=14000, tokens_after=2000),
        response(50, 2100, 10, role="utility_compressor"),
        gemini("api_error", 60, model="gemini-2.5-pro", error="quota", status_code=429),
        {"resource": {"attributes": {"service.name": "gemini-cli"}}, "name": "llm_call", "startTime": [T0, 0],
         "endTime": [T0 + 1, 0], "attributes": {"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 5}},
    ]  # fmt: skip
    data = "\n".join(json.dumps(part, indent=2) for part in parts)
    assert score("otel", data) == 0.95
    records = read("otel", data)
    found = calls(records)
    assert [tokens(c) for c in found] == [
        (12513, 12513, 0, 0, 32),
        (14000, 1712, 12288, 0, 274),  # the tools' own prompt stands outside of the prompt
        (2100, 2100, 0, 0, 10),
        (None,) * 5,
    ]
    assert [c.reasoning_tokens for c in found[:2]] == [7, 64]
    assert [(c.purpose, c.status) for c in found] == [
        ("work", "ok"),
        ("work", "ok"),
        ("compaction", "ok"),
        ("work", "error"),
    ]
    assert {(c.session, c.source, c.provider, c.exchange) for c in found} == {("gs-1", "gemini-otel", "google", 1)}
    assert [(e.kind, e.recorded_before, e.recorded_after) for e in events(records)] == [("compaction", 14000, 2000)]
    assert problems(records) == []


def test_gemini_total_tells_whether_thoughts_stand_inside():
    found = calls(read("otel", json.dumps(response(1, 100, 30, thoughts=10, total=130))))[0]
    assert (found.output_tokens, found.reasoning_tokens) == (30, 10)


@pytest.mark.parametrize("name", ["event.sequence", "output_tokens", "event.timestamp"])
def test_values_of_an_unexpected_kind_are_no_failure(name):
    facts = {"model": "claude-sonnet-4-5", "input_tokens": 5, "output_tokens": 7, name: [1, 2]}
    odd = claude("api_request", **facts)
    assert [call.source for call in calls(read("otel", claude_log(odd)))] == ["claude-code-otel"]


def test_how_a_request_was_served():
    facts = {"model": "claude-opus-4-6", "input_tokens": 5, "output_tokens": 7}
    fast, plain = (claude("api_request", at, **facts, speed=speed) for at, speed in ((1, "fast"), (2, "standard")))
    assert [call.service_tier for call in calls(read("otel", claude_log(fast, plain)))] == ["fast", None]
