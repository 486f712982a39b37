"""Spans of instrumented programs."""

from __future__ import annotations

import io
import json

import pytest

from tests.readers.gateway_help import calls, lines, read, score, tokens
from tests.readers.otel_help import T0, chat, export, messages, span, spans


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


def test_two_tellings_of_one_call_of_which_one_has_no_time():
    facts = chat(900, 30, **{"gen_ai.response.id": "msg_1"})
    inner, outer = span(facts=facts), span(facts=facts)
    del inner["startTimeUnixNano"]
    for pair in ((inner, outer), (outer, inner)):
        (found,) = spans(*pair)
        assert (found.prompt_tokens, found.time) == (900, T0 * 1000)


_BASE = {"gen_ai.operation.name": "chat", "gen_ai.response.model": "m", "gen_ai.usage.input_tokens": 12_000,
         "gen_ai.usage.output_tokens": 300}  # fmt: skip


@pytest.mark.parametrize(
    "facts",
    [
        # the convention since September 2026, with the same figures again by kind of content
        {"gen_ai.usage.cache_read.input_tokens": 10_000, "gen_ai.usage.cache_write.input_tokens": 1_000,
         "gen_ai.usage.text.input_tokens": 11_000, "gen_ai.usage.image.input_tokens": 1_000,
         "gen_ai.usage.text.cache_read.input_tokens": 10_000, "gen_ai.usage.text.output_tokens": 300,
         "gen_ai.usage.reasoning.output_tokens": 120},
        # Mastra before May 2026
        {"gen_ai.usage.cached_input_tokens": 10_000, "gen_ai.usage.cache_write_tokens": 1_000,
         "gen_ai.usage.reasoning_tokens": 120},
        # Sentry before August 2026
        {"gen_ai.usage.input_tokens.cached": 10_000, "gen_ai.usage.input_tokens.cache_write": 1_000,
         "gen_ai.usage.output_tokens.reasoning": 120},
        # Langfuse's own words
        {"gen_ai.usage.input_cached_tokens": 10_000, "gen_ai.usage.input_cache_creation": 1_000,
         "gen_ai.usage.output_reasoning_tokens": 120},
        # AI SDK since version 6, beside the convention's names
        {"ai.usage.inputTokenDetails.cacheReadTokens": 10_000, "ai.usage.inputTokenDetails.cacheWriteTokens": 1_000,
         "ai.usage.inputTokenDetails.noCacheTokens": 1_000, "ai.usage.outputTokenDetails.reasoningTokens": 120},
    ],
)  # fmt: skip
def test_names_of_the_cache_and_of_reasoning(facts):
    (found,) = spans(span(facts={**_BASE, **facts}))
    assert (tokens(found), found.reasoning_tokens) == ((12_000, 1_000, 10_000, 1_000, 300), 120)


@pytest.mark.parametrize(("total", "expected"), [(6100, (6000, 5000)), (5100, (5000, 4000)), (None, (5000, 4000))])
def test_the_total_shows_whether_the_cache_is_part_of_the_input(total, expected):
    cached = {"gen_ai.usage.cache_read.input_tokens": 1000, "gen_ai.response.id": "m"}
    facts = chat(5000, 100, **cached, **({"gen_ai.usage.total_tokens": total} if total else {}))
    (found,) = spans(span(facts=facts))
    assert (found.prompt_tokens, found.fresh_tokens, found.cache_read_tokens) == (*expected, 1000)
