from __future__ import annotations

import base64
import json

import pytest

from monitor.readers.litellm import provider_id
from tests.readers.gateway_help import calls, context, events, lines, problems, read, readers, score, tokens

TALK = [{"role": "system", "content": "You help."}, {"role": "user", "content": "Look at the worker."}]


def usage(prompt, read_=0, write=None, output=5, reasoning=0):
    details = {"cached_tokens": read_}
    if write is not None:
        details |= {"cache_write_tokens": write, "cache_creation_token_details": {"ephemeral_5m_input_tokens": write}}
    return {
        "prompt_tokens": prompt,
        "completion_tokens": output,
        "total_tokens": prompt + output,
        "completion_tokens_details": {"reasoning_tokens": reasoning},
        "prompt_tokens_details": details,
    }


def payload(id, at=0.0, figures=None, **more):
    figures = figures or usage(100)
    base = {
        "id": id,
        "litellm_call_id": f"call-{id}",
        "trace_id": f"trace-{id}",
        "session_id": "",
        "call_type": "acompletion",
        "cache_hit": False,
        "status": "success",
        "custom_llm_provider": "openai",
        "startTime": 1775808000.25 + at,
        "endTime": 1775808002.5 + at,
        "model": "gpt-5-mini",
        "metadata": {"usage_object": figures, "user_api_key_hash": "hash"},
        "response_cost": 0.0125,
        "prompt_tokens": figures["prompt_tokens"],
        "completion_tokens": figures["completion_tokens"],
        "messages": None,
        "response": None,
        "model_parameters": {},
        "model_map_information": {"model_map_value": {"max_input_tokens": 272000}},
    }
    return base | more


def row(id, figures=None, **more):
    figures = figures or usage(100)
    base = {
        "request_id": id,
        "call_type": "acompletion",
        "api_key": "hash",
        "spend": 0.01,
        "cache_hit": "False",
        "startTime": "2026-04-10T08:00:00.000000+00:00",
        "endTime": "2026-04-10T08:00:03.000000+00:00",
        "model": "openai/gpt-5-mini",
        "custom_llm_provider": "openai",
        "metadata": json.dumps({"usage_object": figures}),
        "prompt_tokens": figures["prompt_tokens"],
        "completion_tokens": figures["completion_tokens"],
        "session_id": f"made-up-{id}",
        "status": "success",
        "proxy_server_request": "{}",
        "messages": "{}",
        "response": "{}",
    }
    return base | more


def test_prompts_include_the_cache_for_anthropic_too():
    found = calls(
        read("litellm", lines(payload("m1", figures=usage(2173, 2163, 3, 81), custom_llm_provider="anthropic")))
    )
    assert tokens(found[0]) == (2173, 7, 2163, 3, 81)
    assert (found[0].time, found[0].duration_ms) == (1775808000250, 2250)
    assert (found[0].cost_usd, found[0].context_limit, found[0].provider) == (0.0125, 272000, "anthropic")
    assert found[0].reasoning_tokens == 0


def test_an_old_version_that_left_the_cache_out_is_recognised():
    assert tokens(calls(read("litellm", lines(payload("m1", figures=usage(10, 2000, 5, 81)))))[0]) == (
        2015,
        10,
        2000,
        5,
        81,
    )


def test_metadata_and_bodies_as_texts_and_older_usage_fields():
    old = row(
        "c1",
        metadata=json.dumps({"additional_usage_values": {"prompt_tokens_details": {"cached_tokens": 40}}}),
        prompt_tokens=100,
        total_tokens=105,
    )
    assert tokens(calls(read("litellm", lines(old)))[0])[:3] == (100, 60, 40)
    bare = row("c2", metadata="{}")
    assert tokens(calls(read("litellm", lines(bare)))[0]) == (100, 100, None, None, 5)


def test_a_compaction_inside_a_call_is_billed_and_no_context():
    passes = [{"type": "compaction", "input_tokens": 180_000, "output_tokens": 3_500},
              {"type": "message", "input_tokens": 23_000, "output_tokens": 1_000}]  # fmt: skip
    figures = usage(203_000, 0, 0, 4_500)
    older = {"additional_usage_values": {"iterations": passes}}
    for meta in ({"usage_object": {**figures, "iterations": passes}}, older, {"usage_object": figures, **older}):
        found = read("litellm", lines(row("m1", figures, metadata=json.dumps(meta))))
        (call,) = calls(found)
        assert (call.prompt_tokens, call.output_tokens, call.billed_prompt_tokens) == (23_000, 1_000, 203_000)
        (event,) = events(found)
        assert (event.kind, event.recorded_before, event.summary_tokens) == ("compaction", 180_000, 3_500)
        assert event.in_call == call.key


def test_a_session_id_that_occurs_once_is_no_session():
    found = calls(
        read(
            "litellm",
            lines(payload("a"), payload("b", 1, trace_id="s"), payload("c", 2), payload("d", 3, trace_id="s")),
        )
    )
    assert [(c.key, c.session, c.session_evidence) for c in found] == [
        ("a", "log", "file"),
        ("b", "s", "explicit"),
        ("c", "log", "file"),
        ("d", "s", "explicit"),
    ]


def test_a_growing_file_names_the_first_call_later():
    reader = readers("litellm")[0]
    parser = reader.parser(context(""))
    parser.feed([lines(payload("a", trace_id="s")).encode()], 1)
    assert [(c.key, c.session) for c in calls(parser.take())] == [("a", "log")]
    parser.feed([lines(payload("b", 5, trace_id="s")).encode()], 2)
    assert [(c.key, c.session) for c in calls(parser.take())] == [("a", "s"), ("b", "s")]


@pytest.mark.parametrize("hit", [True, "True"])
def test_answers_of_the_proxys_own_cache_reached_no_model(hit):
    assert calls(read("litellm", lines(payload("a", cache_hit=hit), payload("b", cache_hit="None")))) != []
    assert [c.key for c in calls(read("litellm", lines(payload("a", cache_hit=hit), payload("b"))))] == ["b"]
    assert calls(read("litellm", lines(row("x_cache_hit1775808000.1")))) == []


def test_failures_are_calls_with_unknown_tokens():
    failed = payload(
        "f1",
        status="failure",
        trace_id="s",
        response_cost=0,
        prompt_tokens=0,
        completion_tokens=0,
        metadata={"usage_object": None},
        error_information={"error_class": "ContextWindowExceededError", "error_message": "too long: private"},
    )
    records = read("litellm", lines(payload("a", -1, trace_id="s"), failed))
    call = calls(records)[1]
    assert (call.status, tokens(call), call.cost_usd) == ("error", (None,) * 5, None)
    assert [(e.kind, e.evidence, e.session) for e in events(records)] == [("overflow", "recorded", "s")]
    assert "private" not in repr(records)


def test_no_known_price_is_no_cost_of_zero():
    assert calls(read("litellm", lines(payload("a", response_cost=0.0))))[0].cost_usd is None


def test_embeddings_are_side():
    found = calls(read("litellm", lines(row("e", call_type="aembedding"))))[0]
    assert (found.purpose, found.chain) == ("side", "side")


def test_ids_of_the_responses_api_are_decoded():
    inner = base64.b64encode(b"litellm:custom_llm_provider:openai;model_id:abc;response_id:resp_real1").decode()
    assert provider_id(f"resp_{inner}") == "resp_real1"
    assert provider_id("resp_67aff3326be94fa9") == "resp_67aff3326be94fa9"
    assert provider_id("msg_1") == "msg_1"
    body = json.dumps({"input": "hi", "previous_response_id": f"resp_{inner}"})
    found = calls(read("litellm", lines(row("resp_b", call_type="aresponses", proxy_server_request=body))))[0]
    assert found.evidence is not None
    assert found.evidence.previous_response_id == "resp_real1"


def test_kept_requests_link_calls_of_one_conversation():
    second = [*TALK, {"role": "assistant", "content": "It retries."}, {"role": "user", "content": "Fix it."}]
    one = row("a", proxy_server_request=json.dumps({"messages": TALK}))
    two = row("b", proxy_server_request=json.dumps({"messages": second}))
    first, next_ = calls(read("litellm", lines(one, two)))
    assert first.evidence is not None
    assert next_.evidence is not None
    assert first.evidence.messages
    assert next_.evidence.messages.startswith(first.evidence.messages)
    assert (first.exchange, next_.exchange) == (1, 2)
    assert next_.has_bodies
    assert "worker" not in repr((first, next_))


def test_the_summarising_call_is_known_by_its_request():
    ask = {"role": "user", "content": "Summarize the conversation so far for a new context window."}
    body = json.dumps({"messages": [*TALK, {"role": "assistant", "content": "ok"}, ask]})
    records = read("litellm", lines(row("a", usage(100, output=60), proxy_server_request=body)))
    call = calls(records)[0]
    assert (call.purpose, call.chain) == ("compaction", "side")
    assert [(e.kind, e.evidence, e.summary_tokens) for e in events(records)] == [("compaction", "inferred", 60)]


def test_payload_messages_and_parameters_make_the_request():
    found = calls(read("litellm", lines(payload("a", messages=TALK, model_parameters={"tools": [{"name": "read"}]}))))[
        0
    ]
    assert found.evidence is not None
    assert found.evidence.messages
    assert found.evidence.tools is not None
    redacted = payload("b", messages=[{"role": "user", "content": "redacted-by-litellm"}])
    hidden = calls(read("litellm", lines(redacted)))[0]
    assert hidden.evidence is not None
    assert not hidden.evidence.messages


def test_every_way_payloads_are_written():
    one, two = payload("a"), payload("b", 5)
    for data in (
        lines(one, two),
        json.dumps([one, two]) + "\n",
        lines([one], [two]),
        json.dumps([one, two], indent=2),
        "[\n" + json.dumps(one) + ",\n" + json.dumps(two) + "\n]\n",
        json.dumps({"data": [two, one], "total": 2, "page": 1, "total_pages": 1}),
    ):
        assert score("litellm", data) > 0.9
        assert [c.key for c in calls(read("litellm", data))] == ["a", "b"]
    assert [c.key for c in calls(read("litellm", json.dumps(one)))] == ["a"]  # one object a file, without line feed


def test_csv_of_the_table():
    import csv
    import io

    out = io.StringIO()
    one = row("a", usage(100, 40))
    writer = csv.DictWriter(out, list(one))
    writer.writeheader()
    writer.writerow(row("b", usage(200, 96)) | {"startTime": "2026-04-10 09:00:00"})
    writer.writerow(one | {"startTime": "2026-04-10 08:00:00"})
    found = calls(read("litellm", out.getvalue()))
    assert [(c.key, c.prompt_tokens, c.cache_read_tokens) for c in found] == [("a", 100, 40), ("b", 200, 96)]


def test_lines_that_are_no_rows_are_reported():
    records = read("litellm", lines(payload("a")) + '{"hello": 1}\n{"torn": "x')
    assert len(calls(records)) == 1
    assert [p.line for p in problems(records)] == [2, 3]
