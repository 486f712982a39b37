from __future__ import annotations

import pytest

from tests.readers.gateway_help import calls, lines, read, score, tokens


@pytest.mark.parametrize("name", ["proxy", "ai-proxy"])
def test_kong(name):
    row = {
        "ai": {
            name: {
                "meta": {
                    "provider_name": "openai",
                    "request_model": "gpt-5-mini",
                    "response_model": "gpt-5-mini-2025",
                    "llm_latency": 700,
                },
                "usage": {
                    "prompt_tokens": 100,
                    "completion_tokens": 5,
                    "total_tokens": 105,
                    "prompt_tokens_details": {"cached_tokens": 64},
                    "cost": 0.01,
                },
            }
        },
        "started_at": 1780308000000,
        "response": {"status": 200},
        "consumer": {"id": "c"},
    }
    data = lines(row, {"started_at": 1780308000000, "request": {}})
    assert score("columns", data) == 0.8
    call = calls(read("columns", data))[0]
    assert (tokens(call), call.time, call.model, call.cost_usd) == (
        (100, 36, 64, 0, 5),
        1780308000000,
        "gpt-5-mini-2025",
        0.01,
    )
    assert call.source == "table"


def test_envoy():
    row = {"start_time": "2026-06-01T10:00:00Z", "llm_input_token": 100, "llm_output_token": 5, "llm_cached_input_token": 64,
           "request_model": "m", "response_code": 200, "duration": 300}  # fmt: skip
    assert score("columns", lines(row)) == 0.8
    found = calls(
        read("columns", lines(row, row | {"response_code": 503, "llm_input_token": 0, "llm_output_token": 0}))
    )
    assert tokens(found[0]) == (100, 36, 64, None, 5)
    assert (found[1].status, tokens(found[1])) == ("error", (None,) * 5)


def test_bifrost_and_braintrust():
    bifrost = {"id": "b1", "timestamp": "2026-06-01T10:00:00Z", "object_type": "chat.completion", "provider": "openai",
               "model": "m", "status": "success", "latency": 90.4, "cost": 0.02,
               "token_usage": '{"prompt_tokens": 100, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 64}}'}  # fmt: skip
    call = calls(read("columns", lines(bifrost)))[0]
    assert (tokens(call), call.cost_usd, call.duration_ms) == ((100, 36, 64, 0, 5), 0.02, 90)

    def span(id, kind):
        return {
            "id": id,
            "span_id": id,
            "root_span_id": "root",
            "span_attributes": {"type": kind},
            "metadata": {"model": "m"},
            "metrics": {"start": 1780308000.5, "end": 1780308002, "prompt_tokens": 100, "prompt_cached_tokens": 60,
                        "prompt_cache_creation_tokens": 30, "completion_tokens": 5},
        }  # fmt: skip

    found = calls(read("columns", lines(span("a", "llm"), span("b", "tool"), span("c", "llm"))))
    assert [(c.call_id, c.session, c.session_evidence) for c in found] == [
        ("a", "root", "chain"),
        ("c", "root", "chain"),
    ]
    assert (tokens(found[0]), found[0].duration_ms) == ((100, 10, 60, 30, 5), 1500)
