from __future__ import annotations

import json

import pytest

from tests.readers.gateway_help import calls, lines, problems, read, score, tokens

HEADER = (
    "generation_id,created_at,cost_total,cost_web_search,cost_cache,cost_file_processing,byok_usage_inference,"
    "tokens_prompt,tokens_completion,tokens_reasoning,tokens_cached,model_permaslug,provider_name,variant,cancelled,"
    "streamed,user,finish_reason_raw,finish_reason_normalized,generation_time_ms,time_to_first_token_ms,"
    "api_key_disabled,api_key_name,app_name\n"
)
ROWS = (
    "gen-2,2026-06-01 10:01:00.000,0.004,,,,,31200,90,0,29952,anthropic/claude-4.5-sonnet,Anthropic,,false,true,,,"
    "stop,3000,,,dev,agent\n"
    "gen-1,2026-06-01 10:00:00.000,0.05,,,,,30000,400,120,0,anthropic/claude-4.5-sonnet,Anthropic,,false,true,,,"
    "stop,3000,,,dev,agent\n"
    "gen-0,2026-06-01 09:59:00.000,0,,,,,0,0,0,0,anthropic/claude-4.5-sonnet,Anthropic,,true,true,,,,100,,,dev,agent\n"
)


def test_activity_csv_is_found_by_column_names():
    assert score("openrouter", HEADER + ROWS) > 0.9
    found = calls(read("openrouter", HEADER + ROWS))
    assert [(c.key, c.status, tokens(c), c.reasoning_tokens) for c in found] == [
        ("gen-0", "error", (None,) * 5, None),
        ("gen-1", "ok", (30000, 30000, 0, None, 400), 120),
        ("gen-2", "ok", (31200, 1248, 29952, None, 90), 0),
    ]
    assert [(c.cost_usd, c.time, c.duration_ms, c.line) for c in found[1:]] == [
        (0.05, 1780308000000, 3000, 3),
        (0.004, 1780308060000, 3000, 2),
    ]
    assert found[1].provider == "anthropic"
    assert found[1].evidence == found[2].evidence.__class__(response_id="gen-1", origin=found[2].evidence.origin)


def test_columns_in_another_order():
    names = HEADER.strip().split(",")
    order = names[::-1]
    first = dict(zip(names, ROWS.splitlines()[0].split(",")))
    data = ",".join([*order, "num_search_results"]) + "\n" + ",".join([*(first[n] for n in order), "0"]) + "\n"
    assert tokens(calls(read("openrouter", data))[0]) == (31200, 1248, 29952, None, 90)


def generation(**more):
    base = {
        "id": "gen-9",
        "upstream_id": "msg_9",
        "created_at": "2026-06-01T10:00:00.000Z",
        "model": "anthropic/claude-sonnet-4.5",
        "tokens_prompt": 900,
        "tokens_completion": 30,
        "native_tokens_prompt": 1000,
        "native_tokens_completion": 40,
        "native_tokens_reasoning": 8,
        "native_tokens_cached": 700,
        "total_cost": 0.01,
        "generation_time": 1200,
        "finish_reason": "stop",
        "provider_name": "Anthropic",
    }
    return base | more


def test_generation_records_count_with_the_models_own_tokenizer():
    for data in (json.dumps({"data": generation()}), lines({"data": generation()}), json.dumps([generation()])):
        assert score("openrouter", data) > 0.9
        found = calls(read("openrouter", data))[0]
        assert tokens(found) == (1000, 300, 700, None, 40)
        assert (found.reasoning_tokens, found.cost_usd, found.stop) == (8, 0.01, "stop")


def test_the_cost_with_an_own_key_is_the_fee_and_what_the_provider_charged():
    row = ROWS.splitlines()[0].replace("0.004,,,,,", "0.004,,,,0.08,")
    assert calls(read("openrouter", HEADER + row + "\n"))[0].cost_usd == pytest.approx(0.084)
    for more, cost in (
        ({"is_byok": True, "upstream_inference_cost": 0.2}, 0.21),
        ({"is_byok": True, "total_cost": 0, "upstream_inference_cost": 0.2}, 0.2),
        ({"is_byok": True, "usage_upstream": 0.2}, 0.21),
        ({"is_byok": False, "upstream_inference_cost": 0.01}, 0.01),
        ({"is_byok": True}, None),
    ):
        found = calls(read("openrouter", json.dumps({"data": generation(**more)})))[0]
        assert found.cost_usd == pytest.approx(cost), more


def test_a_session_the_client_named():
    found = calls(read("openrouter", json.dumps({"data": generation(session_id="s1")})))[0]
    assert (found.session, found.session_evidence) == ("s1", "explicit")


def test_daily_sums_are_refused_with_a_reason():
    day = {"date": "2026-06-01", "model": "m", "model_permaslug": "m", "usage": 1.5, "requests": 5, "prompt_tokens": 50}
    data = json.dumps({"data": [day]})
    assert score("openrouter", data) == 0.9
    records = read("openrouter", data)
    assert calls(records) == []
    assert ["daily sums" in p.reason for p in problems(records)] == [True]
