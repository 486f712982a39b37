from __future__ import annotations

import json

from monitor.records import SessionInfo
from tests.readers.exchange_samples import (
    anthropic_reply,
    anthropic_request,
    calls,
    events,
    figures,
    lines,
    records,
    sniff,
)

SESSION = {
    "type": "session",
    "trace_id": "trace-1",
    "started_at": "2026-04-10T08:00:00Z",
    "tool": "claude",
    "model": "claude-sonnet-4-5",
}


def entry(n=1, usage=(7, 100, 20, 300), *, role="main", raw=None, detected=False, status=200, **more):
    fresh, read, write, output = usage
    return {
        "type": "entry",
        "id": f"e{n}",
        "trace_id": "trace-1",
        "span_id": f"s{n}",
        "parent_span_id": None,
        "timestamp": f"2026-04-10T08:00:{n:02d}Z",
        "sequence": n,
        "source": {"tool": "claude", "agent_role": role},
        "gen_ai": {
            "system": "anthropic",
            "request": {"model": "claude-sonnet-4-5"},
            "response": {"model": "claude-sonnet-4-5-20250929", "finish_reasons": ["end_turn"]},
            "usage": {"input_tokens": fresh, "output_tokens": output, "total_tokens": fresh + output},
        },
        "usage_ext": {"cache_read_tokens": read, "cache_write_tokens": write, "thinking_tokens": 0, "cost_usd": 0.01},
        "http": {"method": "POST", "url": "https://api.anthropic.com/v1/messages", "status_code": status},
        "timings": {"total_ms": 1500.4},
        "context_lens": {"window_size": 200000, "growth": {"compaction_detected": detected}},
        "raw": raw or {"request_body": None, "response_body": None},
        **more,
    }


def test_input_excludes_the_cache():
    found = records("lhar", lines(SESSION, entry(1), entry(2, role="subagent", parent_span_id="s1")))
    first, second = calls(found)
    assert figures(first) == (127, 7, 100, 20, 300)
    assert (first.session, first.chain, first.context_limit, first.cost_usd) == ("trace-1", "main", 200000, 0.01)
    assert (first.model, first.provider, first.stop, first.duration_ms) == (
        "claude-sonnet-4-5-20250929",
        "anthropic",
        "end_turn",
        1500,
    )
    assert (first.key, second.chain) == ("lhar:e1", "agent:s1")
    assert next(record for record in found if isinstance(record, SessionInfo)).started == 1_775_808_000_000


def test_raw_bodies_tell_more():
    raw = {
        "request_body": anthropic_request("a", "ok", "b"),
        "response_body": anthropic_reply(8, 100, 20, 301, id="msg_9"),
    }
    (call,) = calls(records("lhar", lines(SESSION, entry(raw=raw))))
    assert (call.prompt_tokens, call.call_id, call.exchange) == (128, "msg_9", 2)


def test_the_document_form():
    document = {
        "lhar": {"version": "0.2", "creator": {"name": "x"}, "sessions": [SESSION], "entries": [entry(1), entry(2)]}
    }
    for indent in (None, 2):
        assert len(calls(records("lhar", json.dumps(document, indent=indent).encode() + b"\n"))) == 2


def test_figures_that_are_all_zero_are_unknown():
    (call,) = calls(records("lhar", lines(entry(usage=(0, 0, 0, 0)))))
    assert figures(call) == (None, None, None, None, None)
    (failed,) = calls(records("lhar", lines(entry(usage=(0, 0, 0, 0), status=429))))
    assert failed.status == "error"


def test_a_compaction_it_found_itself_is_inferred():
    found = records("lhar", lines(entry(1), entry(2, detected=True)))
    assert [(event.kind, event.evidence, event.session) for event in events(found)] == [
        ("compaction", "inferred", "trace-1")
    ]


def test_sniffing_and_odd_records():
    assert sniff("lhar", lines(SESSION)) > 0.9
    assert sniff("lhar", lines(entry())) > 0.9
    assert sniff("lhar", b'{"lhar": {"version": "0.1"}}') > 0.9
    assert sniff("lhar", lines({"type": "entry"}, {"type": "session", "id": "x"})) == 0
    odd = [
        {"type": "entry"},
        {"type": "entry", "gen_ai": 7, "raw": [], "http": None, "usage_ext": "x"},
        {"lhar": {"entries": 5}},
    ]
    assert all(call.prompt_tokens is None for call in calls(records("lhar", lines(*odd))))
