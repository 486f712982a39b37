from __future__ import annotations

from tests.readers.exchange_samples import (
    SECRET,
    anthropic_events,
    anthropic_reply,
    anthropic_request,
    calls,
    lines,
    records,
    response_object,
    sniff,
)


def tap(request, response, **more):
    return {
        "timestamp": "2026-04-10T08:00:10+00:00",
        "request_id": "req_1",
        "turn": 1,
        "duration_ms": 4000,
        "transport": "http",
        "upstream_base_url": "https://api.anthropic.com",
        "request": {
            "method": "POST",
            "path": "/v1/messages?beta=true",
            "headers": {"Authorization": f"Bearer {SECRET}"},
            "body": request,
        },
        "response": response,
        **more,
    }


def test_the_timestamp_is_that_of_the_end():
    data = lines(tap(anthropic_request("a"), {"status": 200, "headers": {}, "body": anthropic_reply(7, 100, 20, 30)}))
    (call,) = calls(records("claude_tap", data))
    assert (call.time, call.duration_ms, call.prompt_tokens) == (1_775_808_006_000, 4000, 127)
    assert SECRET not in repr(call)


def test_events_of_a_stream_are_preferred_to_the_body_made_of_them():
    events = [{"event": event["type"], "data": event} for event in anthropic_events(7, 100, 20, 30)]
    (call,) = calls(
        records("claude_tap", lines(tap(anthropic_request("a"), {"status": 200, "body": {}, "sse_events": events})))
    )
    assert (call.prompt_tokens, call.output_tokens) == (127, 30)


def test_a_socket_record_holds_several_calls():
    def create(text, **more):
        return {"type": "response.create", "model": "gpt-5.5", "input": [{"role": "user", "content": text}], **more}

    asked = [
        {**create(""), "input": [], "generate": False},
        create("a", previous_response_id="resp_0"),
        create("b", previous_response_id="resp_1"),
    ]
    said = []
    for n, prompt in enumerate((10, 20, 30)):
        body = response_object(prompt, n, id=f"resp_{n}")
        said += [
            {"type": "response.created", "response": {**body, "usage": None}},
            {"type": "response.completed", "response": body},
        ]
    said.insert(2, {"type": "codex.rate_limits", "plan_type": "x"})
    made = tap(
        asked[2], {"status": 101, "body": response_object(30, 2, id="resp_2"), "ws_events": said}, transport="websocket"
    )
    made["request"] |= {"method": "WEBSOCKET", "path": "/backend-api/codex/responses", "ws_events": asked}
    found = calls(records("claude_tap", lines(made)))
    assert [(call.prompt_tokens, call.purpose, call.call_id) for call in found] == [
        (10, "side", "resp_0"),
        (20, "work", "resp_1"),
        (30, "work", "resp_2"),
    ]
    assert (
        found[0].time == 1_775_808_000_000
    )  # as the provider states it: the record has only the time of the whole socket
    assert found[2].evidence.previous_response_id == "resp_1"


def test_an_old_socket_record_with_one_call():
    made = tap(
        {"type": "response.create", "model": "gpt-5.4", "input": "a"},
        {
            "status": 101,
            "body": None,
            "ws_events": [{"type": "response.completed", "response": response_object(500, 10)}],
        },
        transport="websocket",
    )
    made["request"]["method"] = "WEBSOCKET"
    (call,) = calls(records("claude_tap", lines(made)))
    assert (call.prompt_tokens, call.time, call.duration_ms) == (500, 1_775_808_006_000, 4000)


def test_errors_and_odd_records():
    failed = tap(
        anthropic_request("a"), {"status": 529, "body": {"type": "error", "error": {"type": "overloaded_error"}}}
    )
    (call,) = calls(records("claude_tap", lines(failed)))
    assert call.status == "error"
    assert (
        calls(records("claude_tap", lines({"request": 7}, {"request": {}}, {"request": {"path": 5}, "response": []})))
        == []
    )


def test_sniffing():
    made = tap(anthropic_request("a"), {"status": 200, "body": {}})
    assert sniff("claude_tap", lines(made)) > 0.9
    assert sniff("claude_tap", lines(tap(anthropic_request("x" * 300_000), {}))) >= 0.9
    assert sniff("claude_tap", lines({"request": {"url": "x"}, "response": {}})) == 0
