from __future__ import annotations

import gzip
import json

from tests.readers.gateway_help import calls, lines, read, readers, score, tokens


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


def test_openai_models_tell_an_input_that_holds_the_cache():
    given = {"inputTokenCount": 12401, "cacheReadInputTokenCount": 8367, "cacheWriteInputTokenCount": 4032}
    usage = {"inputTokens": 12401, "outputTokens": 5, "cacheReadInputTokens": 8367, "cacheWriteInputTokens": 4032,
             "totalTokens": 24805}  # fmt: skip
    body = [{"messageStop": {"stopReason": "end_turn"}}, {"metadata": {"usage": usage}}]
    for output in ({"outputTokenCount": 5}, {"outputTokenCount": 5, "outputBodyJson": body}):
        row = bedrock(modelId="openai.gpt-5.6-v1:0", operation="ConverseStream", input=given, output=output)
        assert tokens(calls(read("bedrock", lines(row)))[0]) == (12401, 2, 8367, 4032, 5)
    # a plain answer leaves the cache out
    row = bedrock(modelId="openai.gpt-5.6-v1:0", input={**given, "inputTokenCount": 2})
    assert tokens(calls(read("bedrock", lines(row)))[0]) == (12401, 2, 8367, 4032, 5)


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


def test_bedrock_events_as_the_log_services_client_lists_them():
    listed = [{"timestamp": n, "message": json.dumps(bedrock(requestId=f"q{n}")), "ingestionTime": n} for n in (1, 2)]
    data = json.dumps({"events": listed, "searchedLogStreams": []})
    assert score("bedrock", data) > 0.9
    assert [tokens(call) for call in calls(read("bedrock", data))] == [(972, 12, 900, 60, 5)] * 2
