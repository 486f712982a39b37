from __future__ import annotations

from tests.readers.gateway_help import calls, lines, read, score, tokens


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
