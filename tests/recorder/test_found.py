from __future__ import annotations

import pytest

from monitor.recorder.found import Found, absorb, error_of, word


def test_error_words_without_messages() -> None:
    got = error_of({"type": "invalid_request_error", "message": "prompt is too long: 210000 tokens > 200000 maximum"})
    assert got == {
        "from": "upstream",
        "type": "invalid_request_error",
        "overflow": True,
        "tokens": 210_000,
        "limit": 200_000,
    }
    assert error_of({"code": 503, "status": "UNAVAILABLE", "message": "secret"}) == {
        "from": "upstream",
        "type": "UNAVAILABLE",
        "code": "503",
    }
    assert error_of("some words") == {"from": "upstream"}


@pytest.mark.parametrize(
    "error",
    [
        {"code": "context_length_exceeded", "message": "x"},
        {"message": "The input token count (9) exceeds the maximum number of tokens allowed (8)."},
        {"message": "litellm.ContextWindowExceededError: x"},
    ],
)
def test_overflow_in_the_words_of_each_provider(error: dict[str, str]) -> None:
    assert error_of(error)["overflow"] is True


def test_word() -> None:
    assert word("end_turn") == "end_turn" and word(429) == "429"
    assert word("two words") is None and word(True) is None and word("x" * 100) is None


def test_last_delta_wins_field_by_field() -> None:
    found = Found("anthropic", 0.0)
    absorb(
        found,
        {"type": "message_start", "message": {"id": "msg_1", "usage": {"input_tokens": 5, "output_tokens": 1}}},
        1.0,
        True,
    )
    assert (found.usage, found.usage_final) == ({"input_tokens": 5, "output_tokens": 1}, False)
    absorb(found, {"type": "message_delta", "usage": {"output_tokens": 7, "cache_read_input_tokens": 2}}, 1.0, True)
    absorb(
        found, {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}}, 1.0, True
    )
    assert found.usage == {"output_tokens": 9, "cache_read_input_tokens": 2} and found.usage_final
    assert found.usage_start == {"input_tokens": 5, "output_tokens": 1} and found.stop == "end_turn"


@pytest.mark.parametrize(
    ("event", "usage"),
    [
        ({"model": "kimi", "choices": [{"usage": {"prompt_tokens": 3}, "delta": {}}]}, {"prompt_tokens": 3}),
        ({"choices": [{"delta": {}}], "x_groq": {"usage": {"prompt_tokens": 4}}}, {"prompt_tokens": 4}),
        (
            {"model": "llama", "done": True, "done_reason": "stop", "prompt_eval_count": 5, "eval_count": 2},
            {"prompt_eval_count": 5, "eval_count": 2},
        ),
        ({"object": "list", "model": "embed", "data": [], "usage": {"prompt_tokens": 6}}, {"prompt_tokens": 6}),
        ({"response": {"candidates": [], "usageMetadata": {"promptTokenCount": 7}}}, {"promptTokenCount": 7}),
        ({"interaction": {"usage": {"total_input_tokens": 8}}}, {"total_input_tokens": 8}),
    ],
)
def test_where_others_put_their_usage(event: dict[str, object], usage: dict[str, int]) -> None:
    found = Found("other", 0.0)
    absorb(found, event, 1.0, True)
    assert found.usage == usage


def test_compaction_marks() -> None:
    found = Found("anthropic", 0.0)
    edit = {"type": "clear_tool_uses_20250919", "cleared_tool_uses": 3, "cleared_input_tokens": 900, "note": "words"}
    absorb(
        found,
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "compaction", "content": "x"}],
            "context_management": {"applied_edits": [edit]},
        },
        1.0,
        False,
    )
    assert found.applied_edits == [
        {"type": "clear_tool_uses_20250919", "cleared_tool_uses": 3, "cleared_input_tokens": 900}
    ]
    assert found.compaction_items == [""]
    found = Found("openai-responses", 0.0)
    item = {"type": "compaction", "id": "cmp_1", "encrypted_content": "x"}
    absorb(found, {"type": "response.output_item.done", "item": item}, 1.0, True)
    absorb(
        found, {"type": "response.completed", "response": {"output": [item], "usage": {"input_tokens": 1}}}, 1.0, True
    )
    assert found.compaction_items == ["cmp_1"]


@pytest.mark.parametrize(
    "event",
    [{"type": 5}, {"choices": 7}, {"choices": [3, {"delta": 4}]}, {"candidates": "x", "usageMetadata": []}, {"type": "message_start"},
     {"type": "message_delta", "usage": 4, "delta": []}, {"type": "response.completed", "response": []}, {"error": {}}, {"usage": None},
     {"type": "message", "role": "assistant", "content": "text"}, {"object": "response", "output": 3}],
)  # fmt: skip
def test_odd_shapes_do_no_harm(event: dict[str, object]) -> None:
    found = Found("other", 0.0)
    absorb(found, event, 1.0, True)
    assert found.usage is None and found.error is None
