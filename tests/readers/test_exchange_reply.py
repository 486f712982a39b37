from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.readers import exchange_bodies as bodies
from monitor.readers.exchange_messages import item
from monitor.readers.exchange_reply import ReplyReader
from tests.readers.exchange_samples import (
    anthropic_events,
    anthropic_reply,
    anthropic_usage,
    chat_reply,
    response_object,
    shared,
)


def reply(*values):
    reader = ReplyReader()
    for value in values:
        reader.feed(value)
    return reader.reply()


def chunk(delta=None, reason=None, **more):
    choices = [{"index": 0, "delta": delta or {}, "finish_reason": reason}]
    return {"id": "c1", "object": "chat.completion.chunk", "model": "gpt-5.4", "choices": choices, **more}


USAGE = {
    "prompt_tokens": 100,
    "completion_tokens": 9,
    "total_tokens": 109,
    "prompt_tokens_details": {"cached_tokens": 64},
}


@pytest.mark.parametrize(
    "events",
    [
        # OpenAI: a last chunk without choices
        [chunk({"content": "Hi"}), chunk({}, "stop", usage=None), {**chunk(), "choices": [], "usage": USAGE}],
        # DeepSeek, Moonshot, Mistral: on the last chunk with choices, null before and after
        [
            chunk({"content": "Hi"}, usage=None),
            chunk({}, "stop", usage=USAGE),
            {**chunk(), "choices": [], "usage": None},
        ],
        # Groq says it twice
        [chunk({"content": "Hi"}), chunk({}, "stop", x_groq={"id": "r", "usage": USAGE})],
        # Moonshot: inside the choice
        [
            chunk({"content": "Hi"}),
            {**chunk(), "choices": [{"index": 0, "delta": {}, "finish_reason": "stop", "usage": USAGE}]},
        ],
        # Perplexity, vLLM: on every chunk, the last one counts
        [
            chunk({"content": "H"}, usage={**USAGE, "completion_tokens": 1, "total_tokens": 101}),
            chunk({"content": "i"}, "stop", usage=USAGE),
        ],
    ],
)
def test_usage_of_chat_streams_wherever_it_stands(events):
    found = reply(*events)
    assert (found.tokens.prompt, found.tokens.read, found.tokens.output) == (100, 64, 9)
    assert (found.id, found.model, found.stop, found.complete) == ("c1", "gpt-5.4", "stop", True)
    assert found.digest == item({"role": "assistant", "content": "Hi"}).norm


def test_a_chat_stream_without_usage_is_unknown():
    found = reply(chunk({"content": "Hi"}), chunk({}, "stop"))
    assert found.tokens.prompt is None and found.tokens.output is None and found.complete


def test_tool_calls_of_streams_are_put_together():
    found = reply(
        chunk({"tool_calls": [{"index": 0, "id": "call_1", "function": {"name": "run", "arguments": '{"a"'}}]}),
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": ": 1}"}}]}, "tool_calls"),
    )
    assert found.calls == [("call_1", "run", '{"a": 1}')]
    block = {"type": "tool_use", "id": "toolu_1", "name": "run", "input": {}}
    found = reply(
        {"type": "content_block_start", "index": 1, "content_block": block},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": '{"a": 1}'}},
    )
    assert found.calls == [("toolu_1", "run", '{"a": 1}')]
    found = reply(
        response_object(9, 1, output=[{"type": "function_call", "call_id": "c", "name": "run", "arguments": "{}"}])
    )
    assert found.calls == [("c", "run", "{}")]


def test_anthropic_streams_state_the_prompt_first_and_the_output_last():
    found = reply(*anthropic_events(7, 100, 20, 300))
    assert (found.tokens.prompt, found.tokens.fresh, found.tokens.read, found.tokens.write) == (127, 7, 100, 20)
    assert (found.tokens.output, found.stop, found.complete) == (300, "end_turn", True)


def test_a_stream_cut_after_its_start_gives_lower_bounds():
    found = reply(*anthropic_events(7, 100, 20, 300)[:3])
    assert (found.tokens.prompt, found.tokens.output, found.complete) == (127, 2, False)


def test_a_delta_repeats_or_corrects_the_start():
    start = {"type": "message_start", "message": {"id": "msg_1", "usage": anthropic_usage(0, 0, 0, 0)}}
    delta = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": anthropic_usage(5, 40, 0, 9)}
    assert reply(start, delta).tokens.prompt == 45  # vendors with a compatible address know it at the end only
    start = {"type": "message_start", "message": {"id": "msg_1", "usage": anthropic_usage(5, 40, 0, 0)}}
    zeros = {
        "type": "message_delta",
        "delta": {"stop_reason": "end_turn"},
        "usage": {"input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 9},
    }
    assert (reply(start, zeros).tokens.prompt, reply(start, zeros).tokens.output) == (45, 9)


def test_compaction_inside_a_call():
    rows = [
        {"type": "compaction", "input_tokens": 60385, "output_tokens": 522},
        {"type": "message", "input_tokens": 612, "output_tokens": 2819},
    ]
    start = {"type": "message_start", "message": {"id": "msg_1", "usage": anthropic_usage(60385, 0, 0, 5)}}
    usage = {**anthropic_usage(612, 0, 0, 2819), "iterations": rows}
    found = reply(start, {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage})
    assert (found.tokens.prompt, found.compacted_from, found.summary_tokens) == (612, 60385, 522)
    assert (found.tokens.output, found.tokens.billed_prompt) == (2819, 60997)
    assert sum(one[4] for one in found.tokens.billed) == 3341
    whole = reply(anthropic_reply(0, 0, 0, 0, usage=usage))
    assert (whole.tokens.prompt, whole.compacted_from) == (612, 60385)


def test_a_stream_whose_start_is_told_after_the_compaction():
    rows = [
        {"type": "compaction", "input_tokens": 60385, "output_tokens": 522},
        {"type": "message", "input_tokens": 612, "output_tokens": 2819},
    ]
    start = {"type": "message_start", "message": {"id": "msg_1", "usage": anthropic_usage(612, 0, 0, 1)}}
    usage = {**anthropic_usage(612, 0, 0, 2819), "iterations": rows}
    found = reply(start, {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage})
    assert (found.tokens.prompt, found.compacted_from, found.summary_tokens) == (612, 60385, 522)


def test_a_call_that_pauses_after_its_compaction_held_what_it_started_with():
    rows = [{"type": "compaction", "input_tokens": 60385, "output_tokens": 522}]
    start = {"type": "message_start", "message": {"id": "msg_1", "usage": anthropic_usage(60385, 0, 0, 5)}}
    usage = {**anthropic_usage(0, 0, 0, 0), "iterations": rows}
    found = reply(start, {"type": "message_delta", "delta": {"stop_reason": "compaction"}, "usage": usage})
    assert (found.tokens.prompt, found.compacted_from, found.stop) == (60385, 60385, "compaction")


def test_server_side_tools_sum_their_passes_up():
    start = {"type": "message_start", "message": {"id": "msg_1", "usage": anthropic_usage(2, 0, 3068, 69)}}
    block = {
        "type": "content_block_start",
        "index": 0,
        "content_block": {"type": "server_tool_use", "id": "s", "name": "web_search"},
    }
    delta = {
        "type": "message_delta",
        "delta": {"stop_reason": "end_turn"},
        "usage": anthropic_usage(6, 6289, 3337, 198),
    }
    found = reply(start, block, delta)
    assert (found.tokens.prompt, found.tokens.output, found.tokens.billed_prompt) == (3070, 198, 9632)
    assert found.tokens.billed == ((6, 6289, 3337, 0, 198),)


def test_cleared_tool_results_are_added_up():
    edits = {
        "applied_edits": [
            {"type": "clear_tool_uses_20250919", "cleared_input_tokens": 900},
            {"type": "x", "cleared_input_tokens": 50},
        ]
    }
    assert reply(anthropic_reply(5, 0, 0, 1, context_management=edits)).cleared == 950
    assert reply(anthropic_reply(5, 0, 0, 1)).cleared is None


def test_responses_api():
    done = response_object(8031, 609, 6656)
    found = reply(
        {"type": "response.created", "response": {**done, "usage": None, "status": "in_progress"}},
        {"type": "response.completed", "response": done},
    )
    assert (found.shape, found.id, found.tokens.prompt, found.tokens.read, found.complete) == (
        "responses",
        "resp_1",
        8031,
        6656,
        True,
    )
    cut = reply({"type": "response.created", "response": {**done, "usage": None, "status": "in_progress"}})
    assert cut.tokens.prompt is None and not cut.complete
    compacted = reply(
        response_object(8031, 609, output=[{"type": "message", "content": []}, {"type": "compaction", "id": "cmp_1"}])
    )
    assert compacted.compaction_item
    compact = reply({**response_object(6290, 420), "object": "response.compaction"})
    assert (compact.shape, compact.summary_tokens) == ("compact", 420)


def test_gemini_in_every_form():
    parts = [
        {"candidates": [{"content": {"parts": [{"text": "a"}]}, "index": 0}], "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 1, "totalTokenCount": 10}},
        {"candidates": [{"content": {"parts": [{"text": "b"}]}, "finishReason": "STOP", "index": 0}], "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 23, "thoughtsTokenCount": 302, "totalTokenCount": 334}, "modelVersion": "gemini-3-pro", "responseId": "g1"},
    ]  # fmt: skip
    for values in (parts, [{"response": part} for part in parts]):  # Code Assist wraps them
        found = reply(*values)
        assert (found.tokens.prompt, found.tokens.output, found.tokens.reasoning, found.stop) == (9, 325, 302, "STOP")
        assert (found.model, found.id, found.complete) == ("gemini-3-pro", "g1", True)
    assert not reply(parts[0]).complete
    event = {
        "event_type": "interaction.completed",
        "interaction": {
            "id": "v1",
            "status": "completed",
            "model": "gemini-2.5-flash",
            "usage": {"total_input_tokens": 12, "total_output_tokens": 54, "total_thought_tokens": 391},
        },
    }
    assert (reply(event).tokens.output, reply(event).id) == (445, "v1")
    assert reply({"promptFeedback": {"blockReason": "SAFETY"}}).stop == "blocked"


def test_bedrock_cohere_ollama_llama():
    converse = reply(
        {"messageStart": {"role": "assistant"}},
        {"messageStop": {"stopReason": "end_turn"}},
        {"metadata": {"usage": {"inputTokens": 22, "outputTokens": 55, "totalTokens": 77}}},
    )
    assert (converse.tokens.prompt, converse.stop, converse.complete) == (22, "end_turn", True)
    metrics = {
        "type": "message_stop",
        "amazon-bedrock-invocationMetrics": {"inputTokenCount": 3, "outputTokenCount": 4},
    }
    assert reply(metrics).tokens.prompt == 3
    metrics["amazon-bedrock-invocationMetrics"] |= {"cacheReadInputTokenCount": 90, "cacheWriteInputTokenCount": 0}
    end = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 4}}
    for start in ({"input_tokens": 3, "output_tokens": 1}, {}):
        found = reply({"type": "message_start", "message": {"id": "m", "usage": start}}, end, metrics).tokens
        assert (found.prompt, found.fresh, found.read, found.output) == (93, 3, 90, 4)
    told = {"input_tokens": 3, "cache_read_input_tokens": 80, "output_tokens": 1}
    assert reply({"type": "message_start", "message": {"id": "m", "usage": told}}, end, metrics).tokens.read == 80
    cohere = {
        "id": "x",
        "finish_reason": "COMPLETE",
        "message": {"role": "assistant"},
        "usage": {"tokens": {"input_tokens": 507, "output_tokens": 10}, "cached_tokens": 448},
    }
    assert (reply(cohere).shape, reply(cohere).tokens.read) == ("cohere", 448)
    ollama = reply(
        {"model": "llama3", "message": {"content": "a"}, "done": False},
        {"model": "llama3", "done": True, "done_reason": "stop", "prompt_eval_count": 17, "eval_count": 63},
    )
    assert (ollama.shape, ollama.tokens.prompt, ollama.tokens.output, ollama.stop) == ("ollama", 17, 63, "stop")
    assert reply({"content": "a", "tokens_evaluated": 8, "tokens_predicted": 2}).tokens.prompt == 8
    assert reply({"input_tokens": 18871}).shape == "count"
    assert reply({"totalTokens": 31}).shape == "count"


@pytest.mark.parametrize(
    ("value", "word", "overflow"),
    [
        (
            {"error": {"message": "Rate limit reached", "type": "tokens", "code": "rate_limit_exceeded"}},
            "rate_limit_exceeded",
            False,
        ),
        ({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "overloaded_error", False),
        (
            {
                "type": "error",
                "error": {
                    "type": "invalid_request_error",
                    "message": "prompt is too long: 210000 tokens > 200000 maximum",
                },
            },
            "invalid_request_error",
            True,
        ),
        ({"error": {"message": "too much", "code": "context_length_exceeded"}}, "context_length_exceeded", True),
        (
            {
                "error": {
                    "code": 400,
                    "status": "INVALID_ARGUMENT",
                    "message": "The input token count (1200000) exceeds the maximum",
                }
            },
            "INVALID_ARGUMENT",
            True,
        ),
        ({"detail": "Not Found"}, "error", False),
        ({"throttlingException": {"message": "slow down"}}, "throttlingException", False),
        ({"error": "model not found"}, "error", False),
    ],
)
def test_errors_become_a_word_without_their_text(value, word, overflow):
    found = reply(value)
    assert (found.error, found.overflow) == (word, overflow)
    assert found.tokens.prompt is None


def test_an_answer_that_stopped_at_the_window_says_overflow():
    assert reply(anthropic_reply(5, 0, 0, 1, stop_reason="model_context_window_exceeded")).overflow


def test_the_stated_cost_is_kept():
    usage = {**USAGE, "cost": 0.0125}
    assert reply({**chat_reply(1, 1), "usage": usage}).cost == 0.0125


KEYS = st.sampled_from(["type", "object", "id", "model", "usage", "choices", "delta", "message", "content", "error", "response", "output", "item", "candidates", "usageMetadata", "done", "metadata", "iterations", "context_management", "applied_edits", "status", "event_type", "interaction", "finish_reason", "stop_reason", "index"])  # fmt: skip
WORDS = st.sampled_from(
    [
        "message_start",
        "message_delta",
        "message",
        "error",
        "response.completed",
        "chat.completion",
        "response",
        "message-end",
        "x",
    ]
)
ANY = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 9999) | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=20,
)


@given(st.lists(ANY, max_size=6))
def test_any_values_give_a_reply_and_no_error(values):
    found = reply(*values)
    assert found.tokens.prompt is None or found.tokens.prompt > 0


def told(found):
    tokens = found.tokens
    out = {
        "prompt": tokens.prompt,
        "read": tokens.read or 0,
        "write": tokens.write or 0,
        "out": tokens.output,
        "reas": tokens.reasoning or 0,
    }
    out |= {"billed": tokens.billed_prompt, "compaction_recorded_before": found.compacted_from}
    return out | {"out_all": sum(one[4] for one in tokens.billed) if tokens.billed is not None else None}


def test_real_answers_of_public_fixtures():
    expected = json.loads(shared("expected.json").read_text(encoding="utf-8"))
    for name, want in expected["stream_bodies"].items():
        found = told(reply(*bodies.documents(shared(name).read_bytes())[0]))
        assert {key: found[key] for key in want} == want, name


def test_real_answers_of_public_cassettes():
    yaml = pytest.importorskip("yaml")
    expected = json.loads(shared("expected.json").read_text(encoding="utf-8"))
    for name, rows in expected["cassettes"].items():
        cassette = yaml.safe_load(shared(name).read_text(encoding="utf-8"))
        for want, taken in zip(rows, cassette["interactions"]):
            response = taken["response"]
            body = response.get("body", {}).get("string")
            if body is None:
                values = [response["parsed_body"]]
            else:
                values = bodies.documents(bodies.plain(body.encode() if isinstance(body, str) else body))[0]
            found = told(reply(*values))
            assert {key: found[key] for key in want if key != "uri"} == {k: v for k, v in want.items() if k != "uri"}, (
                name
            )


def test_how_it_was_served_is_kept_where_that_has_a_price_of_its_own():
    assert reply(chunk({}, "stop", usage=USAGE, service_tier="flex")).service_tier == "flex"
    assert reply(chunk({}, "stop", usage=USAGE, service_tier="default")).service_tier is None
    assert reply(chunk({}, "stop", usage=USAGE, service_tier="fast")).service_tier == "priority"
    # what was asked for comes first, what was done last
    events = [
        {"type": "response.created", "response": {**response_object(5, 1), "usage": None, "service_tier": "flex"}},
        {"type": "response.completed", "response": {**response_object(5, 1), "service_tier": "default"}},
    ]
    assert reply(*events[:1]).service_tier is None
    assert reply(*events).service_tier is None
    usage = {**anthropic_usage(1, 2, 3, 4), "service_tier": "priority", "speed": "fast"}
    assert reply({**anthropic_reply(1, 2, 3, 4), "usage": usage}).service_tier == "priority+fast"
    start = {"type": "message_start", "message": {**anthropic_reply(1, 2, 3, 4), "usage": usage}}
    assert reply(start, {"type": "message_delta", "usage": {"output_tokens": 9}}).service_tier == "priority+fast"
    gemini = {"candidates": [], "usageMetadata": {"promptTokenCount": 5, "trafficType": "ON_DEMAND_FLEX"}}
    assert reply(gemini).service_tier == "flex"
