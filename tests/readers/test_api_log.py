from __future__ import annotations

import json

import pytest

from monitor.readers.api_log import READER
from tests.readers.exchange_samples import (
    SECRET,
    SESSION,
    anthropic_events,
    anthropic_reply,
    anthropic_request,
    calls,
    chat_reply,
    chat_request,
    context,
    lines,
    problems,
    records,
    response_object,
    sniff,
    sse,
    trace,
)

REQUEST, REPLY = chat_request("a"), chat_reply(31000, 64, 30720)


@pytest.mark.parametrize(
    "pair",
    [
        trace(REQUEST, REPLY),
        trace(REQUEST, json.dumps(REPLY), raw=True),
        {"request": REQUEST, "response": REPLY, "timestamp": "2026-04-10T08:00:00Z", "duration_ms": 1500},
        {"request": json.dumps(REQUEST), "response": json.dumps(REPLY), "time": 1_775_808_000, "latency_ms": 1500},
        {
            "request_body": REQUEST,
            "response_body": json.dumps(REPLY),
            "created_at": 1_775_808_000_000,
            "completed_at": 1_775_808_001_500,
        },
        {
            "req": {"path": "/v1/chat/completions", "body": json.dumps(REQUEST)},
            "res": {"status": 200, "body": REPLY},
            "ts": 1_775_808_000.0,
            "duration_s": 1.5,
        },
    ],
)
def test_pairs_in_every_envelope(pair):
    data = lines(pair)
    assert sniff("api_log", data) >= 0.6
    (call,) = calls(records("api_log", data))
    assert (call.prompt_tokens, call.cache_read_tokens, call.output_tokens) == (31000, 30720, 64)
    assert (call.time, call.duration_ms, call.exchange, call.line) == (1_775_808_000_000, 1500, 1, 1)
    assert SECRET not in repr(call)


def test_a_session_beside_the_pair_is_explicit():
    (call,) = calls(records("api_log", lines({"session_id": SESSION, "request": REQUEST, "response": REPLY})))
    assert (call.session, call.session_evidence) == (SESSION, "explicit")
    (call,) = calls(records("api_log", lines({"request": REQUEST, "response": REPLY})))
    assert (call.session, call.session_evidence) == ("log", "file")


def test_batch_output():
    row = {
        "id": "batch_req_1",
        "custom_id": "x",
        "response": {"status_code": 200, "request_id": "r", "body": REPLY},
        "error": None,
    }
    (call,) = calls(records("api_log", lines(row)))
    assert (call.prompt_tokens, call.service_tier) == (31000, "batch")


def test_refusals_and_missing_answers():
    rows = [
        {"request": REQUEST, "response": {"status": 429, "body": {"error": {"code": "rate_limit_exceeded"}}}},
        {"request": REQUEST, "response": None, "error": "timeout"},
        {"request": REQUEST, "response": {"error": {"type": "overloaded_error"}}},
    ]
    assert [(call.status, call.prompt_tokens) for call in calls(records("api_log", lines(*rows)))] == [
        ("error", None)
    ] * 3


@pytest.mark.parametrize("reply", [REPLY, response_object(31000, 64, 30720), anthropic_reply(280, 30720, 0, 64)])
@pytest.mark.parametrize("indent", [None, 2])
def test_bare_answers_with_and_without_their_request(reply, indent):
    data = json.dumps(reply, indent=indent).encode() + b"\n"
    assert sniff("api_log", data) >= 0.6
    (call,) = calls(records("api_log", data))
    assert (call.prompt_tokens, call.cache_read_tokens, call.output_tokens, call.exchange) == (31000, 30720, 64, None)
    both = lines(anthropic_request("a")) + data
    (call,) = calls(records("api_log", both))
    assert (call.prompt_tokens, call.exchange) == (31000, 1)


def test_a_request_alone_is_no_call():
    found = records("api_log", lines(REQUEST, REQUEST))
    assert calls(found) == []
    assert 0.3 <= sniff("api_log", lines(REQUEST)) < 0.5


@pytest.mark.parametrize("form", ["sse", "events", "lines"])
def test_streams(form):
    first, second = anthropic_events(7, 100, 20, 300, id="msg_1"), anthropic_events(8, 120, 20, 31, id="msg_2")
    if form == "sse":
        data = (sse(first) + sse(second)).encode()
    elif form == "events":
        data = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in first + second).encode()
    else:
        data = lines(*first, *second)
    assert sniff("api_log", data) >= 0.6
    found = calls(records("api_log", data))
    assert [(call.call_id, call.prompt_tokens, call.output_tokens, call.output_is_lower_bound) for call in found] == [
        ("msg_1", 127, 300, False),
        ("msg_2", 148, 31, False),
    ]


def test_chat_streams_are_told_apart_by_their_id():
    def stream(id, prompt):
        chunk = {
            "id": id,
            "object": "chat.completion.chunk",
            "model": "m",
            "choices": [{"index": 0, "delta": {"content": "x"}}],
        }
        usage = {"prompt_tokens": prompt, "completion_tokens": 5}
        return [
            chunk,
            {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
            {**chunk, "choices": [], "usage": usage},
        ]

    for data in (
        lines(*stream("c1", 10), *stream("c2", 20)),
        (sse(stream("c1", 10), done=True) + sse(stream("c2", 20), done=True)).encode(),
    ):
        assert [call.prompt_tokens for call in calls(records("api_log", data))] == [10, 20]


def test_a_stream_in_a_growing_file_is_one_call_that_changes():
    parser = READER.parser(context(b""))
    data = sse(anthropic_events(7, 100, 20, 300)).encode().splitlines(keepends=True)
    parser.feed(data[:5], 1)
    (early,) = calls(list(parser.take()))
    assert (early.prompt_tokens, early.output_tokens, early.output_is_lower_bound) == (127, 2, True)
    parser.feed(data[5:], 6)
    late = calls(list(parser.take()))[-1]
    assert (late.key, late.prompt_tokens, late.output_tokens, late.output_is_lower_bound) == (
        early.key,
        127,
        300,
        False,
    )
    assert parser.take() == []


def test_several_values_on_one_line_and_arrays():
    pair = {"request": REQUEST, "response": REPLY}
    other = {"request": REQUEST, "response": chat_reply(5, 1, id="c2")}
    for data in (json.dumps([pair, other]).encode(), (json.dumps(pair) + json.dumps(other)).encode() + b"\n"):
        assert [call.prompt_tokens for call in calls(records("api_log", data))] == [31000, 5]


def test_bad_lines_are_reported():
    found = records("api_log", lines({"request": REQUEST, "response": REPLY}) + b"oops\n" + b'{"x":1}\n"text"\n7\n')
    assert len(calls(found)) == 1
    assert [problem.line for problem in problems(found)] == [2]


@pytest.mark.parametrize(
    "row",
    [
        {
            "type": "assistant",
            "sessionId": "s",
            "uuid": "u",
            "message": {"id": "m", "usage": {"input_tokens": 1}},
        },  # Claude Code
        {"timestamp": "2026-01-01T00:00:00Z", "type": "event_msg", "payload": {"type": "token_count"}},  # Codex
        {"type": "message", "id": "a", "parentId": None, "message": {"role": "assistant", "usage": {"input": 1}}},  # Pi
        {"id": "x", "call_type": "acompletion", "model": "m", "messages": [], "response": {"usage": {}}},  # LiteLLM
        {
            "request_id": "r",
            "request_created_at": "x",
            "request_body": {"model": "m", "messages": []},
            "response_body": {},
        },  # Helicone
        {"resourceSpans": []},
        {"schemaType": "ModelInvocationLog", "input": {}, "output": {}},
        {"success": True, "data": {"items": []}},  # new-api
        {"role": "user", "content": "hello"},
        {"messages": [{"role": "user", "content": "hello"}]},  # a conversation, no request
        {"level": "info", "message": "usage: 7"},
    ],
)
def test_formats_of_others_are_left_to_their_readers(row):
    assert sniff("api_log", lines(row)) == 0


def test_results_of_an_anthropic_batch_at_its_price():
    message = anthropic_reply(100, 0, 0, 5)
    rows = [
        {"custom_id": "a", "result": {"type": "succeeded", "message": message}},
        {"custom_id": "b", "result": {"type": "errored", "error": {"type": "invalid_request_error", "message": "x"}}},
        {"custom_id": "c", "result": {"type": "expired"}},  # never sent
    ]
    data = lines(*rows)
    assert sniff("api_log", data) > 0.7
    found = calls(records("api_log", data))
    assert [(one.status, one.prompt_tokens, one.service_tier) for one in found] == [
        ("ok", 100, "batch"),
        ("error", None, "batch"),
    ]
