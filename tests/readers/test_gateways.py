"""Helicone, Bedrock, Cloudflare, Portkey, magpie, and tables of known shape."""

from __future__ import annotations

import gzip
import json

import pytest

from tests.readers.gateway_help import calls, context, lines, problems, read, readers, score, tokens


# --- Helicone --------------------------------------------------------------------------------------------------------
def helicone(**more):
    base = {
        "request_id": "r1",
        "request_created_at": "2026-06-01T10:00:00.000Z",
        "response_created_at": "2026-06-01T10:00:02.000Z",
        "request_path": "/v1/messages",
        "request_model": "claude-sonnet-4-5",
        "response_model": "claude-sonnet-4-5",
        "provider": "ANTHROPIC",
        "delay_ms": 2000,
        "prompt_tokens": 10,
        "completion_tokens": 5,
        "prompt_cache_read_tokens": 900,
        "prompt_cache_write_tokens": 60,
        "request_properties": {"Helicone-Session-Id": "s1"},
        "costUSD": 0.02,
        "response_status": 200,
    }
    return base | more


def test_helicone_by_provider():
    data = lines(
        helicone(), helicone(request_id="r2", provider="OPENAI", prompt_tokens=1000, prompt_cache_write_tokens=0)
    )
    assert score("helicone", data) > 0.9
    one, two = calls(read("helicone", data))
    assert tokens(one) == (970, 10, 900, 60, 5)
    assert tokens(two) == (1000, 100, 900, 0, 5)
    assert (one.session, one.session_evidence, one.cost_usd, one.duration_ms) == ("s1", "explicit", 0.02, 2000)


def test_helicone_prefers_the_response_and_knows_failures():
    body = {
        "id": "msg_1",
        "usage": {
            "input_tokens": 3,
            "cache_read_input_tokens": 7,
            "cache_creation_input_tokens": 0,
            "output_tokens": 2,
        },
    }
    one = calls(read("helicone", lines(helicone(response_body=body))))[0]
    assert (tokens(one), one.key) == ((10, 3, 7, 0, 2), "msg_1")
    failed = calls(read("helicone", lines(helicone(response_status=429, prompt_tokens=0, completion_tokens=0))))[0]
    assert (failed.status, tokens(failed)) == ("error", (None,) * 5)


# --- Bedrock ---------------------------------------------------------------------------------------------------------
def bedrock(**more):
    base = {
        "schemaType": "ModelInvocationLog",
        "schemaVersion": "1.0",
        "timestamp": "2026-06-01T10:00:00Z",
        "accountId": "1",
        "region": "eu-central-1",
        "requestId": "q1",
        "operation": "InvokeModel",
        "modelId": "arn:aws:bedrock:eu-central-1:1:inference-profile/eu.anthropic.claude-sonnet-4-5",
        "identity": {"arn": "arn:aws:iam::1:user/dev"},
        "input": {
            "inputContentType": "application/json",
            "inputTokenCount": 12,
            "cacheReadInputTokenCount": 900,
            "cacheWriteInputTokenCount": 60,
            "inputBodyJson": {"messages": [{"role": "user", "content": "hello"}]},
        },
        "output": {"outputTokenCount": 5},
    }
    return base | more


def test_bedrock_records_one_after_the_other_gzipped(tmp_path):
    from monitor.readers.base import FileContext, read_head

    path = tmp_path / "log.json.gz"
    path.write_bytes(gzip.compress((lines(bedrock(), bedrock(requestId="q2"))).encode()))
    at = FileContext("log.json.gz", path)
    reader = readers("bedrock")[0]
    assert reader.sniff(read_head(at)) > 0.9
    parser = reader.parser(at)
    parser.read(at)
    one, two = calls(parser.take())
    assert tokens(one) == (972, 12, 900, 60, 5)
    assert (one.model, one.provider) == ("eu.anthropic.claude-sonnet-4-5", "bedrock")
    assert one.evidence is not None
    assert one.evidence.messages
    assert (one.key, two.key) == ("bedrock:q1", "bedrock:q2")


def test_bedrock_wrapped_by_cloudwatch():
    data = json.dumps({"logEvents": [{"timestamp": 1, "message": json.dumps(bedrock())}]})
    assert score("bedrock", data) > 0.9
    assert tokens(calls(read("bedrock", data))[0]) == (972, 12, 900, 60, 5)


def test_bedrock_stream_bodies_and_sessions():
    events = [
        {"type": "message_start", "message": {"id": "msg_b", "model": "claude", "usage": {
            "input_tokens": 12, "cache_read_input_tokens": 900, "cache_creation_input_tokens": 60,
            "cache_creation": {"ephemeral_5m_input_tokens": 20, "ephemeral_1h_input_tokens": 40}, "output_tokens": 1}}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}},
    ]  # fmt: skip
    body = {
        "messages": [{"role": "user", "content": "hello"}],
        "metadata": {"user_id": '{"session_id": "5af6bfff-b965-4ce1-9727-95d784cb3d08"}'},
    }
    record = bedrock(output={"outputBodyJson": events, "outputTokenCount": 5})
    record["input"]["inputBodyJson"] = body
    call = calls(read("bedrock", lines(record)))[0]
    assert (tokens(call), call.cache_write_1h_tokens) == ((972, 12, 900, 60, 5), 40)
    assert (call.key, call.stop) == ("msg_b", "end_turn")
    assert (call.session, call.session_evidence) == ("5af6bfff-b965-4ce1-9727-95d784cb3d08", "explicit")
    told = calls(read("bedrock", lines(bedrock(requestMetadata={"Session-Id": "chat-1"}))))[0]
    assert told.session == "chat-1"


def test_bedrock_failures_and_embeddings():
    failed = bedrock(errorCode="ThrottlingException", input={"inputTokenCount": 0}, output={})
    call = calls(read("bedrock", lines(failed)))[0]
    assert (call.status, call.stop, tokens(call)) == ("error", "ThrottlingException", (None,) * 5)
    side = calls(read("bedrock", lines(bedrock(modelId="amazon.titan-embed-text-v2:0-embedding"))))[0]
    assert side.purpose == "side"


# --- Cloudflare ------------------------------------------------------------------------------------------------------
def cloudflare(**more):
    base = {
        "id": "c1",
        "created_at": "2026-06-01T10:00:00Z",
        "duration": 1500,
        "provider": "openai",
        "model": "gpt-5-mini",
        "model_type": "chat",
        "path": "chat/completions",
        "tokens_in": 100,
        "tokens_out": 5,
        "cached": False,
        "cost": 0.01,
        "success": True,
        "status_code": 200,
        "step": 0,
        "metadata": "{}",
    }
    return base | more


def test_cloudflare_rest_rows():
    data = json.dumps({"success": True, "result": [cloudflare(id="c2", created_at="2026-06-01T10:05:00Z", tokens_in=200,
                       metadata='{"session_id": "s1"}'), cloudflare()]})  # fmt: skip
    assert score("cloudflare", data) > 0.9
    one, two = calls(read("cloudflare", data))
    assert tokens(one) == (100, 100, None, None, 5)
    assert (one.cost_usd, one.duration_ms, one.session_evidence) == (0.01, 1500, "file")
    assert (two.session, two.session_evidence) == ("s1", "explicit")


def test_cloudflare_cached_failed_and_anthropic():
    rows = [
        cloudflare(cached=True),
        cloudflare(id="c2", success=False, status_code=500, tokens_in=0, tokens_out=0),
        cloudflare(id="c3", provider="anthropic", model="claude-sonnet-4-5", tokens_in=7),
    ]
    records = read("cloudflare", json.dumps({"result": rows}))
    failed, claude = calls(records)
    assert (failed.status, tokens(failed)) == ("error", (None,) * 5)
    assert tokens(claude) == (None, None, None, None, 5)  # 7 leaves the cached part out
    assert ["no cache figures" in p.reason for p in problems(records)] == [True]


def test_cloudflare_logpush():
    row = {
        "Timestamp": "2026-06-01T10:00:00Z",
        "Gateway": "g",
        "Provider": "openai",
        "Model": "gpt-5-mini",
        "StatusCode": 200,
        "Cached": False,
        "Metrics": {"cost": 0.02, "durationMs": 900, "tokensIn": 50, "tokensOut": 4},
        "RequestBody": {"type": "encrypted", "data": "AAAA"},
    }
    assert score("cloudflare", lines(row)) > 0.9
    call = calls(read("cloudflare", lines(row)))[0]
    assert (tokens(call), call.cost_usd, call.duration_ms) == ((50, 50, None, None, 4), 0.02, 900)


# --- Portkey ---------------------------------------------------------------------------------------------------------
def portkey(**more):
    base = {
        "id": "p1",
        "trace_id": "t1",
        "created_at": "2026-06-01T10:00:00Z",
        "ai_org": "openai",
        "ai_model": "gpt-5-mini",
        "req_units": 100,
        "res_units": 5,
        "total_units": 105,
        "cost": 3,
        "response_time": 800,
        "response_status_code": 200,
        "is_success": True,
        "cache_status": "MISS",
        "metadata": {},
    }
    return base | more


def test_portkey_units_and_response():
    body = {"id": "chatcmpl-1", "usage": {"prompt_tokens": 100, "completion_tokens": 5,
            "prompt_tokens_details": {"cached_tokens": 64}}}  # fmt: skip
    data = lines(portkey(), portkey(id="p2", response=body), portkey(id="p3", ai_org="anthropic", ai_model="claude-x"))
    assert score("portkey", data) > 0.9
    one, two, claude = calls(read("portkey", data))
    assert tokens(one) == (100, 100, None, None, 5)
    assert (tokens(two), two.key) == ((100, 36, 64, 0, 5), "chatcmpl-1")
    assert tokens(claude) == (None, None, None, None, 5)
    assert {c.cost_usd for c in (one, two, claude)} == {None}
    assert [(c.session, c.session_evidence) for c in (one, two, claude)] == [("t1", "chain")] * 3


def test_portkey_own_cache_and_failures():
    rows = [portkey(cache_status="SEMANTIC HIT"), portkey(id="p2", is_success=False, req_units=0, res_units=0)]
    found = calls(read("portkey", lines(*rows)))
    assert [(c.call_id, c.status, c.session_evidence) for c in found] == [("p2", "error", "file")]


# --- magpie ----------------------------------------------------------------------------------------------------------
def test_magpie_lines():
    data = lines(
        {"t": "2026-06-01T10:00:00Z", "agent": "claude", "provider": "anthropic", "model": "claude-sonnet-4-5", "in": 9,
         "out": 5, "cache_read": 900, "cache_write": 60, "ms": 800, "status": 200, "session": "s1"},
        {"t": "2026-06-01T10:01:00Z", "agent": "claude", "provider": "anthropic", "model": "m", "in": 9, "out": 5,
         "cache_read": 900, "ms": 800, "status": 200, "session": "s1", "kind": "compact"},
        {"t": "2026-06-01T10:02:00Z", "agent": "claude", "provider": "anthropic", "model": "m", "ms": 8, "status": 529},
    )  # fmt: skip
    assert score("magpie", data) > 0.9
    one, compact, failed = calls(read("magpie", data))
    assert (tokens(one), one.session, one.reasoning_tokens) == ((969, 9, 900, 60, 5), "s1", 0)
    assert (compact.purpose, compact.chain, tokens(compact)) == ("compaction", "side", (909, 9, 900, 0, 5))
    assert (failed.status, tokens(failed), failed.session_evidence) == ("error", (None,) * 5, "file")


def test_magpie_follows_a_growing_file():
    parser = readers("magpie")[0].parser(context(""))
    row = {"t": "2026-06-01T10:00:00Z", "provider": "p", "model": "m", "in": 1, "out": 1, "ms": 1}
    parser.feed([lines(row).encode()], 1)
    assert len(calls(parser.take())) == 1
    parser.feed([lines(row | {"t": "2026-06-01T10:00:05Z"}).encode(), b'{"no": "record"}\n'], 2)
    records = parser.take()
    assert [c.line for c in calls(records)] == [2]
    assert [p.line for p in problems(records)] == [3]


# --- tables of known shape -------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["proxy", "ai-proxy"])
def test_kong(name):
    row = {
        "ai": {
            name: {
                "meta": {
                    "provider_name": "openai",
                    "request_model": "gpt-5-mini",
                    "response_model": "gpt-5-mini-2025",
                    "llm_latency": 700,
                },
                "usage": {
                    "prompt_tokens": 100,
                    "completion_tokens": 5,
                    "total_tokens": 105,
                    "prompt_tokens_details": {"cached_tokens": 64},
                    "cost": 0.01,
                },
            }
        },
        "started_at": 1780308000000,
        "response": {"status": 200},
        "consumer": {"id": "c"},
    }
    data = lines(row, {"started_at": 1780308000000, "request": {}})
    assert score("columns", data) == 0.8
    call = calls(read("columns", data))[0]
    assert (tokens(call), call.time, call.model, call.cost_usd) == (
        (100, 36, 64, 0, 5),
        1780308000000,
        "gpt-5-mini-2025",
        0.01,
    )
    assert call.source == "table"


def test_envoy():
    row = {"start_time": "2026-06-01T10:00:00Z", "llm_input_token": 100, "llm_output_token": 5, "llm_cached_input_token": 64,
           "request_model": "m", "response_code": 200, "duration": 300}  # fmt: skip
    assert score("columns", lines(row)) == 0.8
    found = calls(
        read("columns", lines(row, row | {"response_code": 503, "llm_input_token": 0, "llm_output_token": 0}))
    )
    assert tokens(found[0]) == (100, 36, 64, None, 5)
    assert (found[1].status, tokens(found[1])) == ("error", (None,) * 5)


def test_bifrost_and_braintrust():
    bifrost = {"id": "b1", "timestamp": "2026-06-01T10:00:00Z", "object_type": "chat.completion", "provider": "openai",
               "model": "m", "status": "success", "latency": 90.4, "cost": 0.02,
               "token_usage": '{"prompt_tokens": 100, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 64}}'}  # fmt: skip
    call = calls(read("columns", lines(bifrost)))[0]
    assert (tokens(call), call.cost_usd, call.duration_ms) == ((100, 36, 64, 0, 5), 0.02, 90)

    def span(id, kind):
        return {
            "id": id,
            "span_id": id,
            "root_span_id": "root",
            "span_attributes": {"type": kind},
            "metadata": {"model": "m"},
            "metrics": {"start": 1780308000.5, "end": 1780308002, "prompt_tokens": 100, "prompt_cached_tokens": 60,
                        "prompt_cache_creation_tokens": 30, "completion_tokens": 5},
        }  # fmt: skip

    found = calls(read("columns", lines(span("a", "llm"), span("b", "tool"), span("c", "llm"))))
    assert [(c.call_id, c.session, c.session_evidence) for c in found] == [
        ("a", "root", "chain"),
        ("c", "root", "chain"),
    ]
    assert (tokens(found[0]), found[0].duration_ms) == ((100, 10, 60, 30, 5), 1500)
