from __future__ import annotations

from tests.readers.gateway_help import calls, lines, read, score, tokens


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
