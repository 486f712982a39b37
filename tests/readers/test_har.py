from __future__ import annotations

import base64
import gzip
import json

from tests.readers.exchange_samples import (
    SECRET,
    SESSION,
    anthropic_events,
    anthropic_request,
    calls,
    chat_reply,
    chat_request,
    figures,
    problems,
    records,
    response_object,
    sniff,
    sse,
)


def entry(
    request,
    text,
    *,
    url="https://api.openai.com/v1/chat/completions",
    at="2026-04-10T08:00:00.000Z",
    status=200,
    took=1200,
    content=None,
    **more,
):
    headers = [
        {"name": "Authorization", "value": f"Bearer {SECRET}"},
        {"name": "X-Claude-Code-Session-Id", "value": SESSION},
    ]
    return {
        "startedDateTime": at,
        "time": took,
        "request": {
            "method": "POST",
            "url": url,
            "headers": headers,
            "postData": {"mimeType": "application/json", "text": json.dumps(request)},
        },
        "response": {
            "status": status,
            "headers": [{"name": "content-encoding", "value": "gzip"}],
            "content": content if content is not None else {"text": text},
        },
        **more,
    }


def har(*entries) -> bytes:
    return json.dumps({"log": {"version": "1.2", "creator": {"name": "t"}, "entries": list(entries)}}).encode()


def test_text_base64_and_compressed_answers_all_count():
    first = json.dumps(chat_reply(31000, 64, 30720, id="c1"))
    second = base64.b64encode(gzip.compress(json.dumps(chat_reply(31500, 99, 30976, id="c2")).encode())).decode()
    third = base64.b64encode(sse(anthropic_events(10, 0, 18861, 81)).encode()).decode()
    data = har(
        entry(chat_request("a"), first),
        entry(chat_request("a", "ok", "b"), None, content={"text": second, "encoding": "base64"}),
        entry(
            anthropic_request("a"),
            None,
            url="https://api.anthropic.com/v1/messages",
            content={"text": third, "encoding": "base64"},
        ),
        {
            "request": {"method": "GET", "url": "https://www.example.org/app.js"},
            "response": {"status": 200, "content": {"text": "usage"}},
        },
    )
    found = calls(records("har", data))
    assert [figures(call) for call in found] == [
        (31000, 280, 30720, 0, 64),
        (31500, 524, 30976, 0, 99),
        (18871, 10, 0, 18861, 81),
    ]
    assert [call.line for call in found] == [1, 2, 3]
    assert {call.session for call in found} == {SESSION}
    assert found[0].duration_ms == 1200
    assert SECRET not in repr(records("har", data))


def test_no_answer_and_no_text():
    data = har(
        entry(chat_request("a"), None, status=0, content={"size": 0}),
        entry(chat_request("a"), None, content={"size": 900, "mimeType": "text/event-stream"}),
        entry(chat_request("a"), json.dumps({"error": {"code": "rate_limit_exceeded"}}), status=429),
    )
    assert [(call.status, call.prompt_tokens) for call in calls(records("har", data))] == [
        ("error", None),
        ("ok", None),
        ("error", None),
    ]


def test_an_answer_of_no_bytes_is_an_aborted_call_at_any_address():
    """The provider's connection broke; mitmproxy writes the head it had seen, with an empty body."""
    nothing = {"size": 0, "compression": 0, "text": ""}
    data = har(
        entry(chat_request("a"), None, content=nothing),
        entry(anthropic_request("a"), None, url="http://127.0.0.1:8799/v1/messages", content=nothing),
        entry(anthropic_request("b"), None, url="http://127.0.0.1:8799/v1/messages", content={}, _error="gone"),
        entry(chat_request("a"), None, content={"size": 900, "text": ""}),  # not kept by the program
    )
    assert [call.status for call in calls(records("har", data))] == ["error", "error", "error", "ok"]


def test_a_start_with_an_offset_is_an_instant():
    reply = json.dumps(chat_reply(10, 5))
    (call,) = calls(records("har", har(entry(chat_request("a"), reply, at="2026-04-10T10:00:00.250+02:00", took=-1))))
    assert call.time == 1_775_808_000_250
    assert call.duration_ms is None


def test_web_sockets():
    body = response_object(2374, 9)
    messages = [
        {
            "type": "send",
            "time": 1775808000.0,
            "opcode": 1,
            "data": json.dumps({"type": "response.create", "model": "m", "input": "a"}),
        },
        {
            "type": "receive",
            "time": 1775808001.5,
            "opcode": 2,
            "data": base64.b64encode(json.dumps({"type": "response.completed", "response": body}).encode()).decode(),
        },
    ]
    made = entry({}, None, url="wss://api.openai.com/v1/responses", status=101, _webSocketMessages=messages)
    made["request"]["method"] = "GET"
    (call,) = calls(records("har", har(made)))
    assert (call.prompt_tokens, call.time, call.duration_ms) == (2374, 1_775_808_000_000, 1500)


def test_entries_are_put_in_order_of_their_start():
    made = [
        entry(chat_request("a"), json.dumps(chat_reply(10 + n, 5, id=f"c{n}")), at=f"2026-04-10T08:00:0{5 - n}.000Z")
        for n in range(4)
    ]
    assert [call.prompt_tokens for call in calls(records("har", har(*made)))] == [13, 12, 11, 10]


def test_a_damaged_file_tells_what_is_wrong():
    good = har(entry(chat_request("a"), json.dumps(chat_reply(10, 5))), entry(chat_request("b"), "x"))
    found = records("har", good[:-60])
    assert [call.prompt_tokens for call in calls(found)] == [10]
    assert [problem.reason for problem in problems(found)] == [
        "the file ends in the middle of an entry; the entries before it were read"
    ]
    (problem,) = problems(records("har", b'{"log": [1]}'))
    assert "no HAR" in problem.reason


def test_odd_entries_do_no_harm():
    odd = [
        {"request": {"method": "POST"}},
        {"request": "POST", "response": 7},
        {"startedDateTime": 5, "request": {"method": "POST", "url": 7, "headers": {"a": 1}, "postData": []}},
    ]
    assert calls(records("har", har(*odd))) == []


def test_sniffing():
    assert sniff("har", har()) > 0.9
    assert sniff("har", b'\xef\xbb\xbf{ "log" : { "pages": [] } }') > 0.9
    assert sniff("har", b'{"log":\n[\n 2,1,3\n]\n"request:"}', "broken.har") > 0.5
    assert sniff("har", b'{"log":"a line of some program"}') == 0
    assert sniff("har", b'{"request":{}}') == 0
