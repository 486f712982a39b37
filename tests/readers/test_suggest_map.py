from __future__ import annotations

import json

import pytest

from monitor.readers.base import ReadError, ReadOptions
from monitor.readers.columns import parse_map
from monitor.readers.suggest_map import suggest, words_of
from tests.readers.gateway_help import calls, context, read


def proposed(data):
    text = suggest(context(data, "t.csv"))
    return parse_map(text), text


def test_short_english_names():
    found, _ = proposed(
        "when,llm,in_tok,hit_tok,write_tok,out_tok,think_tok,thread\n2026-03-01T10:00:00Z,gpt-5.4,20000,128,,300,100,t1\n"
    )
    assert found.columns == {
        "time": "when",
        "model": "llm",
        "prompt": "in_tok",
        "cached": "hit_tok",
        "cache_write": "write_tok",
        "output": "out_tok",
        "reasoning": "think_tok",
        "session": "thread",
    }
    assert found.time_unit == "iso"
    assert found.input_includes_cached is True


def test_camel_case_nested_json_and_units():
    rows = [
        {
            "createdAt": 1772359200000,
            "modelName": "claude-sonnet-4-5",
            "usage": {
                "inputTokens": 10,
                "cacheReadInputTokens": 900,
                "cacheCreationInputTokens": 50,
                "outputTokens": 7,
            },
            "conversationId": "c1",
            "latencyMs": 900,
            "costUsd": 0.01,
        }
    ]
    found, _ = proposed(json.dumps(rows))
    assert found.columns["prompt"] == "usage.inputTokens"
    assert found.columns["cached"] == "usage.cacheReadInputTokens"
    assert found.columns["cache_write"] == "usage.cacheCreationInputTokens"
    assert found.columns["session"] == "conversationId"
    assert found.time_unit == "ms"
    assert found.input_includes_cached is False


def test_chinese_headers():
    found, _ = proposed("时间,模型,输入,输出,会话\n2026-03-01 10:00:00,通义,100,5,对话\n")
    assert found.columns == {"time": "时间", "model": "模型", "prompt": "输入", "output": "输出", "session": "会话"}


def test_the_proposal_reads_the_table_it_was_made_for():
    data = "ts;model name;Prompt Tokens;Cached Tokens;Completion Tokens;Session ID\n1772359200;m;100;40;5;s\n"
    found, _ = proposed(data)
    call = calls(read("columns", data, options=ReadOptions(map=found)))[0]
    assert (call.prompt_tokens, call.cache_read_tokens, call.output_tokens, call.session) == (100, 40, 5, "s")
    assert call.time == 1772359200000


def test_columns_that_only_sound_like_tokens_are_left_alone():
    found, text = proposed(
        "time,input_cost,output_cost,prompt_id,input_tokens,output_tokens,first_token_ms\n"
        "2026-03-01T10:00:00Z,0.1,0.2,abc,100,5,30\n"
    )
    assert found.columns["prompt"] == "input_tokens"
    assert found.columns["output"] == "output_tokens"
    assert "# session:" in text


def test_cells_are_never_shown():
    _, text = proposed("time,model,prompt_tokens,note\n2026-03-01T10:00:00Z,secret-model,1234567,private words\n")
    assert "secret-model" not in text
    assert "private" not in text
    assert "1234567" not in text


def test_without_a_prompt_column_it_says_so():
    text = suggest(context("time,model,size\n2026-03-01T10:00:00Z,m,5\n"))
    assert "No column was recognised as the prompt's tokens" in text


@pytest.mark.parametrize("data", ["", "hello\n", "{}", "[]"])
def test_no_table(data):
    with pytest.raises(ReadError, match="no table"):
        suggest(context(data))


def test_words():
    assert words_of("usage.promptTokensDetails.cachedTokens") >= {"cached", "tokens"}
    assert words_of("HTTPStatusCode") == {"http", "status", "code"}
