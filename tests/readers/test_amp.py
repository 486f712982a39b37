"""Amp threads."""

from __future__ import annotations

from typing import Any

from monitor.readers.amp import READER
from tests.readers.agent_help import calls, figures, head, infos, lines, read, steps


def usage(fresh: int, creation: int, read_: int, output: int, **more: Any) -> dict[str, Any]:
    return {"model": "claude-sonnet-4-5", "inputTokens": fresh, "cacheCreationInputTokens": creation,
            "cacheReadInputTokens": read_, "outputTokens": output, "maxInputTokens": 168_000,
            "totalInputTokens": fresh + creation + read_, **more}  # fmt: skip


def said(id: int, found: dict[str, Any] | None, *content: dict[str, Any]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "messageId": id, "content": list(content)}
    return message if found is None else {**message, "usage": found}


def typed(id: int, text: str) -> dict[str, Any]:
    return {"role": "user", "messageId": id, "content": [{"type": "text", "text": text}]}


def thread(messages: list[dict[str, Any]], ledger: list[dict[str, Any]] | None = None) -> bytes:
    return lines([{"v": 9, "id": "T-1", "created": 1_775_304_000_000, "messages": messages,
                   "env": {"initial": {"trees": [{"displayName": "shop"}]}},
                   "usageLedger": {"events": ledger or []}}])  # fmt: skip


def test_the_three_parts_of_the_input_add_up() -> None:
    found = read(
        READER, thread([typed(0, "Port it."), said(1, usage(12, 900, 20_000, 50, timestamp="2026-04-04T12:00:05Z"))])
    )
    (call,) = calls(found)
    assert figures(call) == (20_912, 12, 20_000, 900, 50)
    assert (call.context_limit, call.exchange, call.session, call.time) == (168_000, 1, "T-1", 1_775_304_005_000)
    assert call.cost_usd is None  # credits are no dollars
    assert infos(found)[0].cwd_name == "shop"


def test_what_openai_did_not_cache_is_no_cache_write() -> None:
    (call,) = calls(read(READER, thread([said(1, usage(0, 900, 100, 5, model="gpt-5.2"))])))
    assert figures(call) == (1_000, 900, 100, 0, 5)


def test_the_ledger_gives_times_and_calls_without_a_message() -> None:
    ledger = [
        {"id": "l1", "timestamp": "2026-04-04T12:00:05Z", "model": "claude-sonnet-4-5", "toMessageId": 1,
         "operationType": "inference", "tokens": {"input": 12, "output": 50}},
        {"id": "l2", "timestamp": "2026-04-04T12:01:05Z", "model": "claude-sonnet-4-5", "toMessageId": 3,
         "operationType": "inference", "tokens": {"input": 30, "output": 8}},
        {"id": "l3", "timestamp": "2026-04-04T12:02:05Z", "model": "claude-haiku-4-5", "operationType": "title",
         "tokens": {"input": 5, "output": 1, "cacheReadInputTokens": 7, "cacheCreationInputTokens": 0}},
    ]  # fmt: skip
    found = calls(read(READER, thread([said(1, usage(12, 0, 20_000, 50))], ledger)))
    assert [(c.chain, c.prompt_tokens, c.output_tokens, c.time) for c in found] == [
        ("main", 20_012, 50, 1_775_304_005_000), ("main", None, 8, 1_775_304_065_000),
        ("side", 12, 1, 1_775_304_125_000)]  # fmt: skip


def test_answers_without_usage_are_no_calls_and_zeros_neither() -> None:
    assert calls(read(READER, thread([said(1, None), said(2, usage(0, 0, 0, 0))]))) == []


def test_results_of_tools_begin_no_exchange() -> None:
    result = {"role": "user", "messageId": 2, "content": [
        {"type": "tool_result", "toolUseID": "t1", "run": {"status": "error", "error": {"message": "no such file"}}}]}  # fmt: skip
    found = read(READER, thread([typed(0, "Port it."),
                                 said(1, usage(1, 0, 0, 1), {"type": "tool_use", "id": "t1", "name": "Read", "input": {"path": "a"}}),
                                 result, said(3, usage(2, 0, 0, 1)), typed(4, "Go on."), said(5, usage(3, 0, 0, 1))]))  # fmt: skip
    assert [call.exchange for call in calls(found)] == [1, 1, 2]
    assert steps(found)[:3] == [("user", "", None), ("tool_call", "Read", None), ("tool_result", "", False)]


def test_sniff() -> None:
    assert READER.sniff(head(thread([]))) == 0.9
    assert READER.sniff(head(b'{"messages":[],"id":"x"}')) == 0.0
    assert READER.sniff(head(b"[]")) == 0.0
