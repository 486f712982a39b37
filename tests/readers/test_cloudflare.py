from __future__ import annotations

import json

from tests.readers.gateway_help import calls, lines, problems, read, score, tokens


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
