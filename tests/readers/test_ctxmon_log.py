from __future__ import annotations

import base64

from tests.readers.exchange_samples import (
    SESSION,
    anthropic_usage,
    calls,
    chat_request,
    events,
    figures,
    lines,
    records,
    sniff,
)


def digests(*numbers):
    return base64.b64encode(b"".join(number.to_bytes(8, "big") for number in numbers)).decode()


def row(n=1, **more):
    return {
        "schema": "ctxmon.call/1",
        "time": f"2026-04-10T08:00:{n:02d}.000Z",
        "duration_ms": 1500,
        "upstream": "anthropic",
        "host": "api.anthropic.com",
        "method": "POST",
        "path": "/v1/messages",
        "status": 200,
        "sent": True,
        "api": "anthropic",
        "kind": "call",
        "stream": True,
        "complete": True,
        "error": None,
        "model": "claude-sonnet-4-5",
        "response_model": "claude-sonnet-4-5-20250929",
        "response_id": f"msg_{n}",
        "stop": "end_turn",
        "usage": anthropic_usage(7, 100, 20, 300),
        "usage_start": None,
        "usage_final": True,
        "session": {"claude_session": SESSION},
        "evidence": {"count": 1, "messages": digests(1), "message_ids": digests(11), "system": "00ff", "tools": "00aa"},
        "compaction": None,
        "hints": {"tools": 3},
        "client": "claude-cli/2.1.197",
        "origin": "abcd1234",
        **more,
    }


def test_a_line_is_a_call():
    (call,) = calls(records("ctxmon_log", lines(row())))
    assert figures(call) == (127, 7, 100, 20, 300)
    assert (call.session, call.session_evidence, call.call_id, call.model) == (
        SESSION,
        "explicit",
        "msg_1",
        "claude-sonnet-4-5-20250929",
    )
    assert (call.provider, call.duration_ms, call.exchange, call.stop) == ("anthropic", 1500, None, "end_turn")
    assert call.evidence.messages == (1).to_bytes(8, "big") and call.evidence.origin == "abcd1234"


def test_requests_that_never_left_are_no_calls_and_refused_ones_are():
    error = {"from": "upstream", "type": "rate_limit_error"}
    gone = {"usage": None, "response_id": None, "error": {"from": "recorder", "type": "connect"}, "status": None}
    found = calls(
        records(
            "ctxmon_log",
            lines(
                row(1, sent=False, **gone),
                row(2, **{**gone, "status": 429, "error": error}),
                row(3, **gone),
                row(4, usage=None, usage_final=None),
            ),
        )
    )
    assert [(call.line, call.status) for call in found] == [(2, "error"), (3, "error"), (4, "ok")]
    assert {call.prompt_tokens for call in found} == {None}


def test_a_stream_that_was_cut_gives_lower_bounds():
    start = anthropic_usage(7, 100, 20, 2)
    (call,) = calls(
        records("ctxmon_log", lines(row(usage=start, usage_start=start, usage_final=False, complete=False, stop=None)))
    )
    assert (call.prompt_tokens, call.output_tokens, call.output_is_lower_bound) == (127, 2, True)


def test_purposes():
    rows = [
        row(1),
        row(2, hints={"tools": 3, "asks": "summary"}),
        row(3, hints={"asks": "title"}),
        row(4, kind="count", usage=None, response_id=None),
        row(5, session={"codex_session": SESSION, "codex_kind": "compaction", "codex_compaction_trigger": "auto"}),
        row(6, hints={"warm_up": True}),
    ]
    found = records("ctxmon_log", lines(*rows))
    assert [call.purpose for call in calls(found)] == ["work", "compaction", "side", "side", "compaction", "side"]
    assert [(event.evidence, event.trigger) for event in events(found)] == [("inferred", None), ("recorded", "auto")]


def test_what_happened_to_the_context():
    rows = (
        {"type": "compaction", "input_tokens": 900, "output_tokens": 40},
        {"type": "message", "input_tokens": 50, "output_tokens": 9},
    )
    inside = {**anthropic_usage(50, 0, 0, 9), "iterations": list(rows)}
    edits = {"applied_edits": [{"type": "clear_tool_uses_20250919", "cleared_input_tokens": 700}]}
    item = {
        "api": "openai-responses",
        "compaction": {"items": ["cmp_1"]},
        "usage": {"input_tokens": 9, "output_tokens": 1, "total_tokens": 10},
    }
    found = records(
        "ctxmon_log",
        lines(
            row(1, usage=inside, usage_start=anthropic_usage(900, 0, 0, 1)),
            row(2, compaction=edits),
            row(3, **item),
            row(
                4, usage=None, status=400, error={"from": "upstream", "type": "invalid_request_error", "overflow": True}
            ),
        ),
    )
    assert [(e.kind, e.recorded_before, e.recorded_after) for e in events(found)] == [
        ("compaction", 900, 50),
        ("trim", 827, None),
        ("compaction", 9, None),
        ("overflow", None, None),
    ]


def test_subagents_and_digests_of_the_prefix():
    rows = [
        row(1),
        row(
            2,
            evidence={
                "messages": digests(1, 2, 3),
                "message_ids": digests(11, 12, 13),
                "system": "00ff",
                "tools": "00aa",
            },
        ),
        row(
            3,
            evidence={
                "messages": digests(7, 8, 9),
                "message_ids": digests(99, 12, 13),
                "system": "00ff",
                "tools": "00aa",
            },
        ),
        row(4, session={"claude_session": SESSION, "claude_agent": "a1"}),
        row(5, session={"client_session": "child", "parent_session": SESSION}),
    ]
    found = calls(records("ctxmon_log", lines(*rows)))
    assert [call.prefix_kept for call in found[:3]] == [None, True, False]
    assert [(call.session, call.chain) for call in found[3:]] == [(SESSION, "agent:a1"), (SESSION, "agent:child")]


def test_bodies_tell_the_exchange():
    held = chat_request("a", "ok", "b")
    (call,) = calls(records("ctxmon_log", lines(row(request_body=held, bodies_truncated=False))))
    assert call.exchange == 2
    (call,) = calls(records("ctxmon_log", lines(row(request_body=held, bodies_truncated=True))))
    assert call.exchange is None


def test_sniffing_and_odd_lines():
    assert sniff("ctxmon_log", lines(row())) == 1.0
    assert sniff("ctxmon_log", lines({"schema": "ctxmon.calls/1", "calls": []})) == 0
    odd = [
        {"schema": "ctxmon.call/1"},
        {
            "schema": "ctxmon.call/1",
            "session": 7,
            "evidence": {"messages": "%%"},
            "usage": [],
            "error": "x",
            "hints": [],
        },
        {"schema": 7},
    ]
    found = calls(records("ctxmon_log", lines(*odd)))
    assert [call.prompt_tokens for call in found] == [None, None]


def test_a_stated_cost_is_kept_whatever_the_shape_of_the_answer():
    told = {**anthropic_usage(7, 100, 20, 300), "cost": 0.001, "is_byok": True}
    told["cost_details"] = {"upstream_inference_cost": 0.02}
    (call,) = calls(records("ctxmon_log", lines(row(usage=told))))
    assert call.cost_usd is not None and abs(call.cost_usd - 0.021) < 1e-12


def test_an_answer_fetched_later_belongs_to_its_request():
    common = {"api": "openai-responses", "path": "/v1/responses", "response_id": "resp_1", "usage_start": None}
    asked = row(1, **common, usage=None, usage_final=None, stop="queued")
    usage = {"input_tokens": 30, "output_tokens": 4, "total_tokens": 34}
    fetched = row(9, **{**common, "path": "/v1/responses/resp_1"}, kind="fetch", method="GET", usage=usage, stop="completed")
    first, last = calls(records("ctxmon_log", lines(asked, fetched, fetched)))
    assert (first.status, first.prompt_tokens) == ("in_flight", None)
    assert (last.status, last.prompt_tokens, last.output_tokens) == ("ok", 30, 4)
    assert first.key == last.key and first.time == last.time and first.line == last.line
