"""Cline, Roo and Kilo tasks; the store of Cline's SDK."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from monitor.readers.cline import READERS, ROO_INCLUSIVE_FROM, TaskParser
from monitor.readers.cline_models import ModelTimes
from monitor.records import Call
from tests.readers.agent_help import calls, events, figures, head, infos, lines, read, read_path, steps, write

CLINE, ROO = READERS
T0 = 1_770_577_200_000  # 2026-02-08
INFO = {"providerId": "anthropic", "modelId": "claude-opus-4-5", "mode": "act"}


def say(seconds: int, say: str, text: Any = "", **more: Any) -> dict[str, Any]:
    shown = text if isinstance(text, str) else json.dumps(text)
    return {"ts": T0 + seconds * 1000, "type": "say", "say": say, "text": shown, **more}


def request(seconds: int, usage: tuple[int, int, int, int] | None, **more: Any) -> dict[str, Any]:
    """A request row: tokensIn, tokensOut, cacheReads, cacheWrites."""
    payload: dict[str, Any] = {"request": "<task>x</task>"}
    if usage is not None:
        payload.update(zip(("tokensIn", "tokensOut", "cacheReads", "cacheWrites"), usage, strict=True))
    row = {key: more.pop(key) for key in ("modelInfo", "conversationHistoryDeletedRange") if key in more}
    return say(seconds, "api_req_started", {**payload, **more}, **row)


def task(reader: Any, rows: list[dict[str, Any]], **options: Any) -> list[Any]:
    return read(reader, json.dumps(rows).encode(), **options)


FIRST = say(0, "text", "Add the page.")


def test_cline_adds_the_cache_to_the_input() -> None:
    (call,) = calls(task(CLINE, [FIRST, request(8, (10, 733, 8_096, 12_954), modelInfo=INFO, cost=0.25)]))
    assert figures(call) == (21_060, 10, 8_096, 12_954, 733)
    assert (call.model, call.provider, call.cost_usd, call.time) == ("claude-opus-4-5", "anthropic", 0.25, T0 + 8_000)


def test_cancelled_failed_and_running_requests() -> None:
    rows = [
        FIRST,
        request(1, (0, 0, 0, 0), cancelReason="user_cancelled"),
        request(2, None),  # the next one began, so this one never ended
        request(3, (5, 1, 0, 0), cancelReason="streaming_failed"),  # cut off, but counted
        request(4, (0, 0, 0, 0)),  # the server reports nothing
        request(5, None),
    ]
    found = calls(task(CLINE, rows))
    assert [(call.status, call.prompt_tokens) for call in found] == [
        ("error", None), ("error", None), ("ok", 5), ("ok", None), ("in_flight", None)]  # fmt: skip


def test_sums_over_other_requests_are_no_calls() -> None:
    total = {"tokensIn": 99, "tokensOut": 9, "cacheReads": 0, "cacheWrites": 0}
    rows = [FIRST, request(1, (5, 1, 0, 0)), say(2, "deleted_api_reqs", total), say(3, "subagent_usage", total)]
    assert len(calls(task(CLINE, rows))) == 1


def test_roo_includes_the_cache_since_october_2025() -> None:
    rows = [FIRST, request(1, (21_060, 410, 8_096, 12_954)), request(2, (22_962, 300, 21_050, 1_890))]
    assert [figures(call)[:2] for call in calls(task(ROO, rows))] == [(21_060, 10), (22_962, 22)]
    # the user may know better
    assert [call.prompt_tokens for call in calls(task(CLINE, rows))] == [42_110, 45_902]


def test_roo_before_that_date_or_with_more_cache_than_input_is_additive() -> None:
    old = [{**row, "ts": ROO_INCLUSIVE_FROM - 1_000} for row in (FIRST, request(1, (100, 1, 50, 10)))]
    assert [call.prompt_tokens for call in calls(task(ROO, old))] == [160]
    mixed = [FIRST, request(1, (100, 1, 50, 0)), request(2, (10, 1, 140, 5)), request(3, (180, 1, 150, 10))]
    # the second row proves the old meaning; the version that wrote the third one is newer
    assert [call.prompt_tokens for call in calls(task(ROO, mixed))] == [150, 155, 180]


def test_what_lies_between_two_requests_is_one_compaction() -> None:
    condense = {"cost": 0.02, "prevContextTokens": 151_200, "newContextTokens": 9_100, "condenseId": "k1"}
    rows = [
        FIRST,
        request(1, (150_900, 300, 60_800, 90_000)),
        say(2, "condense_context", partial=True),
        say(3, "condense_context", contextCondense=condense),
        request(4, (24_400, 120, 9_000, 15_000)),
        say(
            5, "sliding_window_truncation", contextTruncation={"prevContextTokens": 30_000, "newContextTokens": 12_000}
        ),
        request(6, (12_100, 5, 0, 0)),
    ]
    found = events(task(ROO, rows))
    assert [(e.kind, e.recorded_before, e.recorded_after, e.trigger, e.time) for e in found] == [
        ("compaction", 151_200, 9_100, None, T0 + 3_000), ("compaction", 30_000, 12_000, "auto", T0 + 5_000)]  # fmt: skip


def test_a_growing_deleted_range_is_a_compaction() -> None:
    rows = [
        FIRST,
        request(1, (10, 1, 0, 0)),
        request(2, (20, 1, 0, 0), conversationHistoryDeletedRange=[2, 17]),
        request(3, (30, 1, 0, 0), conversationHistoryDeletedRange=[2, 17]),
        say(4, "tool", {"tool": "summarizeTask", "content": "x"}),
        request(5, (40, 1, 0, 0), conversationHistoryDeletedRange=[2, 57]),
        {"ts": T0 + 6_000, "type": "ask", "ask": "condense", "text": "x"},
        request(7, (50, 1, 0, 0), conversationHistoryDeletedRange=[2, 79]),
    ]
    found = events(task(CLINE, rows))
    assert [(event.trigger, event.time) for event in found] == [
        (None, T0 + 2_000), ("auto", T0 + 4_000), ("manual", T0 + 7_000)]  # fmt: skip


def test_a_compaction_that_was_not_done_is_none() -> None:
    rows = [FIRST, request(1, (10, 1, 0, 0)), say(2, "compaction", {"status": "failed", "tokensBefore": 9}),
            say(3, "condense_context_error", "x"), request(4, (20, 1, 0, 0)),
            say(5, "compaction", {"status": "completed", "tokensBefore": 900, "tokensAfter": 100})]  # fmt: skip
    found = events(task(CLINE, rows))
    assert [(event.recorded_before, event.recorded_after) for event in found] == [(900, 100)]


def test_exchanges_and_steps() -> None:
    rows = [
        FIRST,
        request(1, (10, 1, 0, 0)),
        {"ts": T0 + 2_000, "type": "ask", "ask": "tool", "text": json.dumps({"tool": "readFile", "path": "a.py"})},
        say(3, "command", "npm test"),
        say(4, "command_output", "3 failed"),
        say(5, "completion_result", "done"),
        say(6, "user_feedback", "Now the tests."),
        request(7, (20, 1, 0, 0)),
    ]
    found = task(CLINE, rows)
    assert [call.exchange for call in calls(found)] == [1, 2]
    assert [(kind, tool) for kind, tool, _ in steps(found)] == [
        ("user", ""), ("tool_call", "readFile"), ("tool_call", "execute_command"), ("tool_result", ""), ("answer", ""),
        ("user", "")]  # fmt: skip


def test_the_task_is_the_folder(tmp_path: Path) -> None:
    path = write(tmp_path / "tasks" / "1770577389904" / "ui_messages.json", [FIRST, request(1, (10, 1, 0, 0))])
    found = read_path(CLINE, path)
    assert {call.session for call in calls(found)} == {"1770577389904"}
    assert infos(found)[0].started == T0


def test_models_come_from_the_files_beside_it(tmp_path: Path) -> None:
    folder = tmp_path / "tasks" / "1"
    path = write(folder / "ui_messages.json", [FIRST, request(10, (10, 1, 0, 0)), request(60, (20, 1, 0, 0))])
    write(folder / "task_metadata.json", {"model_usage": [
        {"ts": T0 + 50_000, "model_id": "gpt-5", "model_provider_id": "openai"},
        {"ts": T0 + 9_000, "model_id": "claude-opus-4-5", "model_provider_id": "anthropic"}]})  # fmt: skip
    assert [(c.provider, c.model) for c in calls(read_path(CLINE, path))] == [
        ("anthropic", "claude-opus-4-5"), ("openai", "gpt-5")]  # fmt: skip
    (folder / "task_metadata.json").unlink()
    detail = "<environment_details><slug>code</slug><model>{}</model></environment_details>"
    write(folder / "api_conversation_history.json", [
        {"role": "user", "ts": T0 + 9_000, "content": [{"type": "text", "text": detail.format("glm-5")}]},
        {"role": "user", "ts": T0 + 55_000, "content": detail.format("kimi-k2")}])  # fmt: skip
    assert [c.model for c in calls(read_path(ROO, path))] == ["glm-5", "kimi-k2"]
    write(folder / "api_conversation_history.json", [{"role": "user", "content": detail.format("glm-5")}])
    assert [c.model for c in calls(read_path(ROO, path))] == ["glm-5", "glm-5"]


def test_files_beside_a_task_that_are_not_there_or_damaged_tell_nothing(tmp_path: Path) -> None:
    assert ModelTimes(tmp_path / "ui_messages.json", needed=True).at(5, "p") == ("p", None)
    write(tmp_path / "task_metadata.json", b'{"model_usage": [')
    write(tmp_path / "api_conversation_history.json", b"<model>a</model><model>b</model>")
    assert ModelTimes(tmp_path / "ui_messages.json", needed=True).at(5, None) == (None, None)


MESSAGES = {
    "version": 1,
    "updated_at": "2026-07-15T05:42:04.818Z",
    "agent": "lead",
    "sessionId": "s1",
    "messages": [
        {"id": "u1", "role": "user", "content": [{"type": "text", "text": "Move it."}], "ts": T0},
        {"id": "a1", "role": "assistant", "ts": T0 + 1_000, "modelInfo": {"id": "anthropic/claude", "provider": "cline"},
         "content": [{"type": "tool_use", "id": "t1", "name": "editor", "input": {"path": "a"}}],
         "metrics": {"inputTokens": 34_334, "outputTokens": 741, "cacheReadTokens": 30_000, "cacheWriteTokens": 0,
                     "cost": 0.5}},
        {"id": "r1", "role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "ok"}]},
        {"id": "a2", "role": "assistant", "ts": T0 + 2_000, "content": "Done.",
         "metrics": {"inputTokens": 0, "outputTokens": 0}},
    ],
}  # fmt: skip


def test_the_sdks_model_is_the_one_before_or_that_of_the_manifest(tmp_path: Path) -> None:
    metrics = {"inputTokens": 10, "outputTokens": 1}
    rows = [{"id": f"a{n}", "role": "assistant", "ts": T0 + n, "content": "ok", "metrics": metrics} for n in range(3)]
    rows[1]["modelInfo"] = {"id": "glm-5", "provider": "zai"}
    path = write(tmp_path / "s1" / "s1.messages.json", {"sessionId": "s1", "agent": "lead", "messages": rows})
    write(tmp_path / "s1" / "s1.json", {"session_id": "s1", "model": "kimi-k3", "provider": "cline"})
    assert [(call.provider, call.model) for call in calls(read_path(CLINE, path))] == [
        ("cline", "kimi-k3"), ("zai", "glm-5"), ("zai", "glm-5")]  # fmt: skip


def test_the_sdk_includes_the_cache_in_the_input() -> None:
    found = read(CLINE, json.dumps(MESSAGES).encode(), "s1.messages.json")
    assert [figures(call) for call in calls(found)] == [
        (34_334, 4_334, 30_000, 0, 741), (None, None, None, None, None)]  # fmt: skip
    assert [(call.session, call.exchange, call.cost_usd) for call in calls(found)] == [("s1", 1, 0.5), ("s1", 1, None)]
    assert steps(found) == [("user", "", None), ("tool_call", "editor", None), ("tool_result", "", None),
                            ("answer", "", None)]  # fmt: skip


def test_a_compacted_state_tells_the_compaction_and_no_calls_again() -> None:
    state = {**MESSAGES, "messages": [
        {"role": "user", "content": "x", "metadata": {"kind": "compaction", "reason": "manual_compaction",
                                                      "usageBefore": {"inputTokens": 630_254}}},
        {"role": "user", "content": "y", "metadata": {"kind": "compaction_summary", "tokensBefore": 21_919,
                                                      "generatedAt": T0 + 9_000}},
        *MESSAGES["messages"]]}  # type: ignore[misc]  # fmt: skip
    found = read(CLINE, json.dumps(state).encode(), "s1.compaction.json")
    assert calls(found) == []
    # what a session used up is no size of a prompt
    assert [(event.trigger, event.recorded_before) for event in events(found)] == [("manual", None), (None, 21_919)]


def test_a_manifest_tells_where_a_fork_came_from() -> None:
    manifest = {"version": 1, "session_id": "s2", "started_at": "2026-07-15T05:42:04.609Z", "provider": "cline",
                "cwd": "/home/dev/shop", "messages_path": "x",
                "metadata": {"fork": {"forkedFromSessionId": "s1"}}}  # fmt: skip
    (info,) = infos(read(CLINE, json.dumps(manifest).encode(), "session.json"))
    assert (info.session, info.parent, info.cwd_name) == ("s2", "s1", "shop")


@pytest.mark.parametrize(
    ("folder", "own", "other"),
    [
        ("saoudrizwan.claude-dev", CLINE, ROO),
        ("rooveterinaryinc.roo-cline", ROO, CLINE),
        ("kilocode.kilo-code", ROO, CLINE),
    ],
)
def test_sniff_by_folder(tmp_path: Path, folder: str, own: Any, other: Any) -> None:
    path = write(tmp_path / folder / "tasks" / "1" / "ui_messages.json", [FIRST, request(1, None)])
    seen = head(path.read_bytes(), path)
    assert own.sniff(seen) > 0.8 > other.sniff(seen)


def test_sniff_by_rows_and_of_companions(tmp_path: Path) -> None:
    rows = json.dumps([FIRST, say(1, "condense_context", contextCondense={})]).encode()
    assert ROO.sniff(head(rows)) > CLINE.sniff(head(rows))
    assert CLINE.sniff(head(json.dumps(MESSAGES).encode())) == 0.9
    assert CLINE.sniff(head(lines([{"role": "user", "content": "x"}]))) == 0.0
    path = write(tmp_path / "1" / "api_conversation_history.json", [{"role": "user", "content": "x"}])
    write(tmp_path / "1" / "ui_messages.json", [])
    assert CLINE.sniff(head(path.read_bytes(), path)) == 0.5
    assert read_path(CLINE, path) == []


def test_rows_of_roo_in_a_file_without_a_folder_count_as_roo() -> None:
    rows = [
        FIRST,
        request(1, (150, 1, 100, 10)),
        say(2, "condense_context", contextCondense={}),
        request(3, (50, 1, 0, 0)),
    ]
    found = task(CLINE, rows)
    assert [(call.source, call.prompt_tokens) for call in calls(found)] == [("roo", 150), ("roo", 50)]
    forced = task(CLINE, rows, source="cline")
    assert [(call.source, call.prompt_tokens) for call in calls(forced)] == [("cline", 260), ("cline", 50)]


def test_odd_rows_cost_themselves_only() -> None:
    rows: list[Any] = [FIRST, 5, None, say(1, "api_req_started", "{not json"), {"say": "api_req_started"},
                       {"say": "tool", "text": 7}, request(3, (10, 1, 0, 0), conversationHistoryDeletedRange="x"),
                       {"ts": "soon", "say": "api_req_started", "text": '{"tokensIn":"12","tokensOut":1.0}'}]  # fmt: skip
    found = [record for record in task(CLINE, rows) if isinstance(record, Call)]
    assert [(call.prompt_tokens, call.status) for call in found] == [
        (None, "error"), (None, "error"), (10, "ok"), (12, "ok")]  # fmt: skip
    assert isinstance(CLINE.parser(_context()), TaskParser)


def _context() -> Any:
    from monitor.readers.base import FileContext

    return FileContext("x", data=b"[]")
