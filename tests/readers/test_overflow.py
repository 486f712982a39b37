"""What says that a prompt did not fit, and what is a limit of another kind."""

from __future__ import annotations

from typing import Any

import pytest

from monitor.readers import gemini_cli, pi
from monitor.readers.overflow import too_long
from monitor.records import Call, Event
from tests.readers.agent_help import events, lines, read
from tests.readers.test_claude_code import answer, line, use
from tests.readers.test_claude_code import read as claude


@pytest.mark.parametrize(
    "said",
    [
        "context_length_exceeded",
        "model_context_window_exceeded",
        "ContextWindowExceededError",
        "exceed_context_size_error",
        "prompt is too long: 210000 tokens > 200000 maximum",
        "The input is too long for this model.",
        "Prompt too long",
        "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
        "your input exceeds the context window of the model",
        "the request exceeds the available context size",
        "invalid params, context window exceeds limit",
        "the model's maximum context length is 128000 tokens, you asked for 130000",
        "the model's maximum prompt length is 131072 but the request holds 140000 tokens",
        "The input token count (1100000) exceeds the maximum number of tokens allowed (1048576)",
        "prompt token count of 130000 exceeds the limit of 128000",
        "Prompt exceeds max length",
        "exceeded model token limit: 262144 (requested: 270000)",
        "please reduce the length of the messages or of the completion",
        "tokens to keep are greater than the context length",
        "ran out of room in the context window",
    ],
)
def test_a_prompt_that_did_not_fit(said: str) -> None:
    assert too_long(said)
    assert too_long(None, said.upper())


@pytest.mark.parametrize(
    "said",
    [
        "this request would exceed the rate limit of 40000 input tokens per minute",
        "Rate limit reached on tokens per minute: limit 30000, used 29000",
        "Too many tokens, please wait before trying again",
        "max_tokens: 64001 > 64000, which is the maximum number of output tokens",
        "the image exceeds 5 MB",
        "Request too large on tokens per minute (TPM): limit 30000, requested 40000",
        "you exceeded your current quota",
        "overloaded_error",
        "",
        None,
        400,
        ["prompt is too long"],
    ],
)
def test_limits_of_another_kind(said: Any) -> None:
    assert not too_long(said)


def kinds(records: list[Any]) -> list[str]:
    return [record.kind for record in records if isinstance(record, Event)]


def test_claude_code_tells_it_in_three_ways() -> None:
    said = [{"type": "text", "text": "API Error: 400 input length and `max_tokens` exceed context limit"}]
    synthetic = answer(1, "s", use(0, 0, 0, 0), model="<synthetic>", content=said, isApiErrorMessage=True)
    assert kinds(claude([synthetic])) == ["overflow"]
    refused = line("system", 2, subtype="api_error", error={"status": 400, "error": {"message": "prompt is too long"}})
    records = claude([refused])
    assert kinds(records) == ["overflow"]
    assert [record.status for record in records if isinstance(record, Call)] == ["error"]
    cut = [answer(n, "m1", use(3, 199_000, 0, 10), stop="model_context_window_exceeded") for n in (3, 4)]
    assert kinds(claude(cut)) == ["overflow"]
    busy = line("system", 5, subtype="api_error", error={"status": 529, "error": {"message": "overloaded"}})
    assert kinds(claude([busy])) == []


def test_pi_and_gemini() -> None:
    header = {"type": "session", "version": 3, "id": "s", "timestamp": "2026-03-01T10:00:00.000Z", "cwd": "/x"}
    message = {"role": "assistant", "stopReason": "error", "errorMessage": "prompt is too long", "content": []}
    entry = {"type": "message", "id": "a", "parentId": None, "timestamp": "2026-03-01T10:00:01.000Z"}
    assert [e.kind for e in events(read(pi.READER, lines([header, {**entry, "message": message}])))] == ["overflow"]
    busy = {**entry, "message": {**message, "errorMessage": "429"}}
    assert events(read(pi.READER, lines([header, busy]))) == []
    head = {"sessionId": "g", "projectHash": "ab", "startTime": "2026-03-01T10:00:00.000Z", "kind": "main"}
    said = ["The input token count (9) exceeds the maximum number of tokens allowed (8)", "429"]
    errors = [
        {"id": f"e{n}", "timestamp": f"2026-03-01T10:00:0{n}.000Z", "type": "error", "content": text}
        for n, text in enumerate(said)
    ]
    reader = next(one for one in gemini_cli.READERS if one.lines)
    assert [e.kind for e in events(read(reader, lines([head, *errors])))] == ["overflow", "error"]
