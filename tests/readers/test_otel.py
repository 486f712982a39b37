"""Telemetry: Claude Code, Codex, Gemini CLI, and spans of instrumented programs."""

from __future__ import annotations

import io
import json
import random

import pytest

from tests.readers.gateway_help import calls, context, events, lines, problems, read, readers, score, tokens

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


# --- Claude Code -----------------------------------------------------------------------------------------------------
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


# --- Codex -----------------------------------------------------------------------------------------------------------
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


# --- Gemini CLI ------------------------------------------------------------------------------------------------------
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


# --- spans -----------------------------------------------------------------------------------------------------------
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


def test_input_tokens_include_the_cache():
    found = spans(
        span(
            facts=chat(
                130213,
                410,
                **{
                    "gen_ai.usage.cache_read.input_tokens": 128955,
                    "gen_ai.usage.cache_creation.input_tokens": 1253,
                    "gen_ai.response.id": "msg_0",
                    "gen_ai.conversation.id": "conv-1",
                    "gen_ai.response.finish_reasons": ["stop"],
                },
            )
        )
    )[0]
    assert tokens(found) == (130213, 5, 128955, 1253, 410)
    assert (found.session, found.session_evidence, found.key, found.stop) == ("conv-1", "explicit", "msg_0", "stop")
    assert (found.time, found.duration_ms, found.provider, found.source) == (T0 * 1000, 2500, "anthropic", "otel")


def test_old_instrumentations_that_left_the_cache_out_are_recognised():
    facts = chat(
        5, 410, **{"gen_ai.usage.cache_read_input_tokens": 128955, "gen_ai.usage.cache_creation_input_tokens": 1253}
    )
    assert tokens(spans(span(facts=facts))[0]) == (130213, 5, 128955, 1253, 410)


@pytest.mark.parametrize(
    "facts",
    [
        # before: gen_ai.usage.prompt_tokens
        {"gen_ai.system": "openai", "gen_ai.request.model": "m", "llm.request.type": "chat", "gen_ai.usage.prompt_tokens": 100,
         "gen_ai.usage.completion_tokens": 5, "gen_ai.usage.cache_read_input_tokens": 64},
        # OpenInference
        {"openinference.span.kind": "LLM", "llm.model_name": "m", "llm.provider": "openai", "llm.token_count.prompt": 100,
         "llm.token_count.completion": 5, "llm.token_count.prompt_details.cache_read": 64},
        # OpenLLMetry
        {"gen_ai.operation.name": "chat", "gen_ai.response.model": "m", "gen_ai.usage.input_tokens": 100,
         "gen_ai.usage.output_tokens": 5, "gen_ai.usage.total_tokens": 105, "gen_ai.usage.cache_read.input_tokens": 64},
        # AI SDK
        {"ai.operationId": "ai.streamText.doStream", "ai.model.id": "m", "ai.usage.promptTokens": 100,
         "ai.usage.completionTokens": 5, "ai.usage.cachedInputTokens": 64},
        # no operation at all, but figures and a model
        {"gen_ai.request.model": "m", "gen_ai.usage.input_tokens": 100, "gen_ai.usage.output_tokens": 5,
         "gen_ai.usage.details.cache_read_tokens": 64},
    ],
)  # fmt: skip
def test_names_in_use(facts):
    found = spans(span(facts=facts))[0]
    assert tokens(found) == (100, 36, 64, None, 5)
    assert found.model == "m"


@pytest.mark.parametrize(
    "facts",
    [
        {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "bash"},
        {"gen_ai.operation.name": "invoke_agent", "gen_ai.request.model": "m", "gen_ai.usage.input_tokens": 9},
        {"openinference.span.kind": "CHAIN", "llm.token_count.prompt": 9},
        {"traceloop.span.kind": "workflow", "gen_ai.usage.input_tokens": 9, "gen_ai.request.model": "m"},
        {"ai.operationId": "ai.generateText", "ai.usage.promptTokens": 9, "ai.model.id": "m"},
        {"http.request.method": "POST"},
    ],
)
def test_other_spans_are_no_calls(facts):
    assert spans(span(facts=facts), span("s2", facts=chat())) != []
    assert [c.prompt_tokens for c in spans(span(facts=facts), span("s2", facts=chat()))] == [1000]


def test_embeddings_are_side_and_failures_unknown():
    found = spans(
        span(
            "a",
            facts={"gen_ai.operation.name": "embeddings", "gen_ai.request.model": "e", "gen_ai.usage.input_tokens": 9},
        ),
        span("b", facts={"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}, status={"code": 2}),
        span("c", facts={"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}),
    )
    assert [(c.purpose, c.status, c.prompt_tokens) for c in found] == [
        ("side", "ok", 9),
        ("work", "error", None),
        ("work", "ok", None),
    ]


def test_one_call_told_by_the_sdk_and_by_an_instrumentation():
    sdk = span("a", "t1", facts=chat(2173, 81, **{
        "gen_ai.response.id": "msg_1", "gen_ai.usage.cache_write.input_tokens": 3, "gen_ai.usage.cache_read.input_tokens": 2163,
        "anthropic.usage.cache_creation.ephemeral_1h_input_tokens": 3}))  # fmt: skip
    outer = span("b", "t2", start=-1, facts=chat(2173, 81, **{
        "gen_ai.response.id": "msg_1", "session.id": "s", "gen_ai.usage.cache_creation.input_tokens": 3,
        "gen_ai.usage.cache_read.input_tokens": 2163}))  # fmt: skip
    for order in ((sdk, outer), (outer, sdk)):
        [found] = spans(*order)
        assert (tokens(found), found.cache_write_1h_tokens) == ((2173, 7, 2163, 3, 81), 3)
        assert (found.session, found.session_evidence, found.time) == ("s", "explicit", (T0 - 1) * 1000)


def test_a_span_around_a_call_is_no_call_of_its_own():
    inner = span("in", parent="out", facts=chat(1000))
    second = span("in2", parent="out", start=5, facts=chat(1500))
    outer = span("out", facts=chat(2500))
    assert sorted(c.prompt_tokens for c in spans(inner, second, outer)) == [1000, 1500]
    assert sorted(c.prompt_tokens for c in spans(outer, inner, second)) == [1000, 1500]


def test_calls_of_one_trace_are_a_session_single_ones_are_not():
    found = spans(span("a", "t1", facts=chat()), span("b", "t2", facts=chat()), span("c", "t1", start=3, facts=chat()))
    assert [(c.session, c.session_evidence) for c in found] == [("t1", "chain"), ("log", "file"), ("t1", "chain")]


def messages(*words):
    roles = ("user", "assistant")
    return json.dumps([
        {"role": roles[n % 2], "parts": [{"type": "text", "content": word}]} for n, word in enumerate(words)
    ])  # fmt: skip


def test_messages_in_attributes_tell_the_conversation():
    one = span("a", facts=chat(**{"gen_ai.input.messages": messages("hello there")}))
    two = span("b", start=9, facts=chat(**{"gen_ai.input.messages": messages("hello there", "hi", "go on")}))
    first, second = spans(one, two)
    assert first.evidence is not None
    assert second.evidence is not None
    assert second.evidence.messages.startswith(first.evidence.messages)
    assert (first.session_evidence, second.has_bodies) == ("file", True)
    assert "hello" not in repr((first, second))


def test_messages_in_the_older_flat_names():
    facts = {"gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "hello", "gen_ai.prompt.1.role": "assistant",
             "gen_ai.prompt.1.content": "hi"}  # fmt: skip
    openinference = {
        k.replace("gen_ai.prompt.0", "llm.input_messages.0.message"): v for k, v in facts.items() if ".0." in k
    }
    old, new = spans(span("a", facts=chat(**facts)), span("b", facts=chat(**openinference)))
    assert old.evidence is not None
    assert new.evidence is not None
    assert old.evidence.messages.startswith(new.evidence.messages)


def test_shapes_of_exporters():
    console = {
        "name": "chat m",
        "context": {"trace_id": "0x0af7", "span_id": "0x00f0", "trace_state": "[]"},
        "parent_id": None,
        "start_time": "2026-04-10T08:00:00.000000Z",
        "end_time": "2026-04-10T08:00:02.500000Z",
        "status": {"status_code": "UNSET"},
        "attributes": chat(),
        "resource": {"attributes": {"service.name": "x"}},
    }
    snake = json.loads(
        json.dumps(export("span", [span(facts=chat())]))
        .replace("resourceSpans", "resource_spans")
        .replace("scopeSpans", "scope_spans")
        .replace("UnixNano", "_unix_nano")
        .replace("start_unix", "start_unix")
    )
    nested = {"name": "x", "context": {"trace_id": "a", "span_id": "b"}, "span_kind": "LLM", "start_time": "2026-04-10T08:00:00Z",
              "end_time": "2026-04-10T08:00:02Z", "status_code": "OK",
              "attributes": {"llm": {"model_name": "m", "token_count": {"prompt": 1000, "completion": 5}}}}  # fmt: skip
    for data in (json.dumps(console, indent=4), lines(console), lines(snake), lines(nested)):
        found = calls(read("otel", data))
        assert [(c.prompt_tokens, c.output_tokens) for c in found] == [(1000, 5)], data[:80]


def test_phoenix_table_of_spans():
    text = (
        "context.trace_id,context.span_id,parent_id,name,span_kind,start_time,end_time,status_code,"
        "attributes.llm.model_name,attributes.llm.token_count.prompt,attributes.llm.token_count.completion,"
        "attributes.llm.token_count.prompt_details.cache_read,attributes.session.id\n"
        "t1,s1,,llm,LLM,2026-04-10 08:00:00+00:00,2026-04-10 08:00:02+00:00,OK,m,1000,5,640,chat-1\n"
        "t1,s2,,tool,TOOL,2026-04-10 08:00:00+00:00,2026-04-10 08:00:02+00:00,OK,,,,,chat-1\n"
    )
    assert score("otel", text) == 0.9
    found = calls(read("otel", text))
    assert [(tokens(c), c.session) for c in found] == [((1000, 360, 640, None, 5), "chat-1")]
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import csv, parquet

    stream = io.BytesIO()
    parquet.write_table(csv.read_csv(io.BytesIO(text.encode())), stream)
    assert pyarrow is not None
    assert score("otel", stream.getvalue()) == 0.9
    assert [c.prompt_tokens for c in calls(read("otel", stream.getvalue()))] == [1000]


# --- the rest --------------------------------------------------------------------------------------------------------
def test_metrics_are_said_to_be_unusable():
    data = lines(
        {
            "resourceMetrics": [
                {
                    "resource": {"attributes": attributes({"service.name": "claude-code"})},
                    "scopeMetrics": [
                        {
                            "scope": {"name": "com.anthropic.claude_code"},
                            "metrics": [{"name": "claude_code.token.usage"}],
                        }
                    ],
                }
            ]
        }
    )
    assert score("otel", data) > 0.9
    records = read("otel", data)
    assert calls(records) == []
    assert ["tell no single calls" in p.reason for p in problems(records)] == [True]


def test_a_growing_file():
    reader = next(r for r in readers("otel") if r.source == "otel")
    parser = reader.parser(context(""))
    one = lines(export("span", [span("a", "t1", facts=chat())])).encode()
    two = lines(export("span", [span("b", "t1", start=5, facts=chat(2000))])).encode()
    parser.feed([one], 1)
    assert [(c.line, c.session_evidence) for c in calls(parser.take())] == [(1, "file")]
    parser.feed([two], 2)
    assert [(c.line, c.session, c.prompt_tokens) for c in calls(parser.take())] == [(1, "t1", 1000), (2, "t1", 2000)]
    assert parser.take() == []


def test_other_json_is_not_taken_for_telemetry():
    for data in (
        '{"type": "assistant", "message": {"usage": {"input_tokens": 5}}, "timestamp": "2026-04-10T08:00:00Z"}\n',
        '{"log": {"entries": [{"request": {}, "startTime": 1}]}}',
        '{"attributes": {"a": 1}}\n',
        "resourceSpans\n",
    ):
        assert score("otel", data) == 0


def test_damaged_telemetry_never_raises():
    whole = lines(
        export("span", [span(facts=chat(**{"gen_ai.input.messages": messages("a", "b")}))]),
        export("log", [request(1, 7, 0, 5, 5)], "com.anthropic.claude_code.events"),
        response(1, 5, 5),
    )
    shuffle = random.Random(7)
    for _ in range(300):
        data = bytearray(whole.encode())
        for _ in range(shuffle.randint(1, 6)):
            at = shuffle.randrange(len(data))
            choice = shuffle.randrange(3)
            if choice == 0:
                del data[at : at + shuffle.randint(1, 200)]
            elif choice == 1:
                data[at] = shuffle.randrange(256)
            else:
                data[at:at] = shuffle.choice([b"null", b"[", b"}", b'"', b"-1", b"1e999"])
            data = data or bytearray(b"x")
        read("otel", bytes(data))
