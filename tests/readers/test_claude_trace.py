from __future__ import annotations

import base64
import json

from tests.readers.exchange_samples import (
    SECRET,
    SESSION,
    anthropic_events,
    anthropic_reply,
    anthropic_request,
    calls,
    events,
    figures,
    lines,
    problems,
    records,
    sniff,
    sse,
    trace,
)

MESSAGES = "https://api.anthropic.com/v1/messages?beta=true"
HEADERS = {"x-claude-code-session-id": SESSION}


def line(request, response, at, **more):
    return trace(request, response, url=more.pop("url", MESSAGES), at=at, headers=HEADERS, **more)


def test_bodies_as_json_and_as_a_stream():
    data = lines(
        line(anthropic_request("a"), anthropic_reply(7, 0, 60000, 300, id="msg_1"), 1_775_808_000.0),
        line(
            anthropic_request("a", "ok", "b"),
            sse(anthropic_events(7, 60007, 30858, 410, id="msg_2")),
            1_775_808_025.0,
            raw=True,
        ),
    )
    found = calls(records("claude_trace", data))
    assert [figures(call) for call in found] == [(60007, 7, 0, 60000, 300), (90872, 7, 60007, 30858, 410)]
    assert [(call.session, call.line, call.duration_ms, call.exchange) for call in found] == [
        (SESSION, 1, 1500, 1),
        (SESSION, 2, 1500, 2),
    ]
    assert SECRET not in repr(found)


def test_a_compaction_as_it_is_captured():
    ask = "CRITICAL: Respond with TEXT ONLY. Write <analysis> and <summary> blocks about the conversation so far."
    data = lines(
        line(anthropic_request("a"), anthropic_reply(7, 60000, 30865, 410, id="msg_1"), 1_775_808_000.0),
        line(
            anthropic_request("a"),
            {"input_tokens": 90872},
            1_775_808_010.0,
            url="https://api.anthropic.com/v1/messages/count_tokens",
        ),
        line(anthropic_request("a", "ok", ask), anthropic_reply(7, 90872, 1535, 900, id="msg_2"), 1_775_808_020.0),
        line(
            anthropic_request("This session is being continued from a previous conversation. x"),
            anthropic_reply(7, 14000, 5772, 80, id="msg_3"),
            1_775_808_040.0,
        ),
    )
    found = records("claude_trace", data)
    assert [(call.purpose, call.chain) for call in calls(found)] == [
        ("work", "main"),
        ("side", "side"),
        ("compaction", "side"),
        ("work", "main"),
    ]
    assert [(event.kind, event.evidence, event.summary_tokens) for event in events(found)] == [
        ("compaction", "inferred", 900)
    ]


def test_a_request_without_a_response_got_none():
    (call,) = calls(records("claude_trace", lines(line(anthropic_request("a"), None, 1_775_808_000.0))))
    assert (call.status, call.prompt_tokens, call.duration_ms) == ("error", None, None)


def test_binary_streams_that_were_kept_as_text():
    parts = [base64.b64encode(json.dumps(event).encode()).decode() for event in anthropic_events(7, 100, 20, 300)]
    raw = "".join(f'\x00\ufffd:event-type\x07chunk{{"bytes":"{part}","p":"ab"}}\ufffd' for part in parts)
    url = "https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.claude/invoke-with-response-stream"
    (call,) = calls(
        records("claude_trace", lines(line(anthropic_request("a"), raw, 1_775_808_000.0, raw=True, url=url)))
    )
    assert (call.prompt_tokens, call.output_tokens, call.provider) == (127, 300, "bedrock")


def test_bad_lines_are_reported_and_passed_over():
    good = lines(line(anthropic_request("a"), anthropic_reply(1, 0, 0, 1), 1_775_808_000.0))
    found = records("claude_trace", good + b"not json\n" + b'{"request":7}\n{"x":1}\n[]\n' + good)
    assert len(calls(found)) == 2
    assert [problem.line for problem in problems(found)] == [2]


def test_sniffing_also_of_lines_longer_than_the_head():
    made = line(anthropic_request("x" * 300_000), anthropic_reply(1, 0, 0, 1), 1_775_808_000.0)
    assert sniff("claude_trace", lines(made)) > 0.9
    assert sniff("claude_trace", lines(trace({}, {}))) < 0.5  # other addresses: requests and answers in general
    assert sniff("claude_trace", lines({"type": "user", "sessionId": "x", "message": {}})) == 0
