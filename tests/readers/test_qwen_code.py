"""Qwen Code chats, subagents, branches and usage files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from monitor.readers.base import FileContext
from monitor.readers.qwen_code import READER
from tests.readers.agent_help import calls, events, figures, head, infos, lines, loaded, read, steps, write

Usage = tuple[int, int, int, int, int]  # prompt, candidates, thoughts, cached, total


def at(seconds: float) -> str:
    return f"2026-08-17T12:00:{seconds:06.3f}Z"


def row(kind: str, seconds: float, uuid: str, session: str = "q1", **more: Any) -> dict[str, Any]:
    return {"uuid": uuid, "parentUuid": None, "sessionId": session, "timestamp": at(seconds), "type": kind,
            "cwd": "/home/dev/shop", "version": "0.24.4", **more}  # fmt: skip


def typed(seconds: float, text: str = "Add it.", **more: Any) -> dict[str, Any]:
    return row("user", seconds, f"u{seconds}", message={"role": "user", "parts": [{"text": text}]}, **more)


def answer(seconds: float, usage: Usage, session: str = "q1", **more: Any) -> dict[str, Any]:
    asked, said, thought, cached, total = usage
    return row("assistant", seconds, f"a{seconds}", session, model="qwen3-coder-plus",
               message={"role": "model", "parts": [{"text": "ok"}]},
               usageMetadata={"promptTokenCount": asked, "candidatesTokenCount": said, "thoughtsTokenCount": thought,
                              "cachedContentTokenCount": cached, "totalTokenCount": total}, **more)  # fmt: skip


def telemetry(seconds: float, usage: Usage, session: str = "q1", **event: Any) -> dict[str, Any]:
    asked, said, thought, cached, total = usage
    found = {"event.name": "qwen-code.api_response", "event.timestamp": at(seconds), "response_id": f"r{seconds}",
             "model": "qwen3-coder-plus", "duration_ms": 400, "input_token_count": asked, "output_token_count": said,
             "cached_content_token_count": cached, "thoughts_token_count": thought, "total_token_count": total,
             "prompt_id": "q1########0", **event}  # fmt: skip
    return row("system", seconds, f"s{seconds}", session, subtype="ui_telemetry", systemPayload={"uiEvent": found})


def used(seconds: float, usage: Usage, **more: Any) -> dict[str, Any]:
    asked, said, thought, cached, total = usage
    return {"schemaVersion": 1, "id": f"x{seconds}", "timestamp": at(seconds), "localDate": "2026-08-17",
            "sessionId": "q1", "model": "qwen3-coder-plus", "authType": "openai", "source": "main",
            "inputTokens": asked, "outputTokens": said, "cachedTokens": cached, "thoughtsTokens": thought,
            "totalTokens": total, "apiDurationMs": 400, **more}  # fmt: skip


ONE, TWO = (19_579, 23, 0, 0, 19_602), (20_140, 210, 60, 19_456, 20_410)
CHAT = [typed(0), telemetry(3, ONE), answer(3.002, ONE), telemetry(9, TWO), answer(9.004, TWO)]


def test_telemetry_and_answer_are_one_call() -> None:
    found = calls(read(READER, lines(CHAT)))
    assert [figures(call) for call in found] == [(19_579, 19_579, 0, 0, 23), (20_140, 684, 19_456, 0, 270)]
    assert [call.reasoning_tokens for call in found] == [0, 60]
    first = found[0]
    assert (first.call_id, first.duration_ms, first.exchange, first.session) == ("r3", 400, 1, "q1")
    assert first.time == 1_786_968_002_600  # 12:00:03 less 400 ms


def test_thoughts_inside_the_output_are_not_added() -> None:
    (call,) = calls(read(READER, lines([typed(0), answer(1, (100, 30, 20, 0, 130))])))
    assert (call.output_tokens, call.reasoning_tokens) == (30, 20)


def test_the_usage_file_tells_the_same_calls(tmp_path: Path) -> None:
    chat = write(tmp_path / "chats" / "q1.jsonl", lines(CHAT))
    usage = write(tmp_path / "usage" / "token-usage-2026-08.jsonl", lines([used(3, ONE), used(9.001, TWO)]))
    (view,) = loaded(chat, usage).sessions
    assert [turn.call.prompt_tokens for turn in view.turns] == [19_579, 20_140]
    assert [turn.call.prompt_tokens for turn in loaded(usage).sessions[0].turns] == [19_579, 20_140]


def test_the_same_figures_twice_are_two_calls(tmp_path: Path) -> None:
    chat = [typed(0), telemetry(1, ONE), answer(1, ONE), typed(2), telemetry(3, ONE), answer(3, ONE)]
    first = write(tmp_path / "q1.jsonl", lines(chat))
    second = write(tmp_path / "usage.jsonl", lines([used(1, ONE), used(3, ONE)]))
    assert len(loaded(first, second).sessions[0].turns) == 2


def test_an_answer_before_its_telemetry_is_one_call_too() -> None:
    assert len(calls(read(READER, lines([typed(0), answer(3, ONE), telemetry(3.1, ONE), answer(9, TWO)])))) == 2


def test_subagents_by_telemetry_and_by_their_own_transcript(tmp_path: Path) -> None:
    main = [typed(0), telemetry(1, TWO, subagent_id="e7", subagent_name="explore"), telemetry(3, ONE), answer(3, ONE)]
    chat = write(tmp_path / "q1.jsonl", lines(main))
    own = write(tmp_path / "agent-e7.jsonl", lines([answer(1.004, TWO, agentId="e7", isSidechain=True)]))
    (view,) = loaded(chat, own).sessions
    assert sorted((turn.call.chain, turn.call.prompt_tokens) for turn in view.turns) == [
        ("agent:e7", 20_140), ("main", 19_579)]  # fmt: skip


def test_telemetry_without_an_answer_is_a_side_call() -> None:
    rows = [typed(0), telemetry(1, (500, 5, 0, 0, 505)), telemetry(2, (900, 50, 0, 0, 950), prompt_id="q1#compress#1"),
            telemetry(3, ONE), answer(3, ONE)]  # fmt: skip
    assert [(c.chain, c.purpose, c.prompt_tokens) for c in calls(read(READER, lines(rows)))] == [
        ("side", "side", 500), ("side", "compaction", 900), ("main", "work", 19_579)]  # fmt: skip


def test_a_request_for_a_summary_is_known_by_its_text_or_by_what_follows_it() -> None:
    info = {"originalTokenCount": 19_579, "newTokenCount": 9_000, "compressionStatus": 1, "triggerReason": "manual"}
    done = row("system", 3, "c", subtype="chat_compression", systemPayload={"info": info})
    rows = [typed(0), telemetry(1, (3_546, 240, 0, 0, 3_786), response_text="<state_snapshot>goal</state_snapshot>"),
            telemetry(2, (3_600, 214, 0, 0, 3_814)), done, telemetry(4, ONE), answer(4, ONE)]  # fmt: skip
    found = read(READER, lines(rows))
    assert [(c.chain, c.purpose, c.prompt_tokens) for c in calls(found)] == [
        ("side", "compaction", 3_600), ("side", "compaction", 3_546), ("main", "work", 19_579)]  # fmt: skip
    assert [(e.kind, e.trigger) for e in events(found)] == [("compaction", "manual")]


def test_an_answer_whose_figures_were_not_told_is_a_call_of_unknown_size() -> None:
    none = (0, 0, 0, 0, 0)
    bare = {key: value for key, value in answer(2, none).items() if key != "usageMetadata"}
    rows = [typed(0), telemetry(1, ONE), answer(1, ONE), telemetry(2, none), bare, telemetry(3, TWO), answer(3, TWO)]
    found = calls(read(READER, lines(rows)))
    assert [(c.prompt_tokens, c.output_tokens, c.call_id, c.chain) for c in found] == [
        (19_579, 23, "r1", "main"), (None, None, "r2", "main"), (20_140, 270, "r3", "main")]  # fmt: skip


def test_refused_requests_are_failed_calls() -> None:
    error = telemetry(1, ONE, **{"event.name": "qwen-code.api_error", "status_code": 429})
    (call,) = calls(read(READER, lines([typed(0), error])))
    assert (call.status, call.prompt_tokens, call.stop, call.exchange) == ("error", None, "429", 1)


def test_compression_and_rewind() -> None:
    def compressed(seconds: float, status: Any) -> dict[str, Any]:
        info = {"originalTokenCount": 90_000, "newTokenCount": 12_000, "compressionStatus": status}
        return row("system", seconds, f"c{seconds}", subtype="chat_compression", systemPayload={"info": info})

    slash = row(
        "system", 4, "x", subtype="slash_command", systemPayload={"phase": "invocation", "rawCommand": "/compress"}
    )
    undo = row("system", 9, "y", subtype="rewind", systemPayload={"truncatedCount": 2})
    found = events(read(READER, lines([compressed(1, 1), compressed(2, 4), slash, compressed(5, 1), undo])))
    assert [(e.kind, e.trigger, e.recorded_before, e.recorded_after) for e in found] == [
        ("compaction", "auto", 90_000, 12_000), ("compaction", "manual", 90_000, 12_000),
        ("rewind", None, None, None)]  # fmt: skip


def test_what_nobody_typed_begins_no_exchange() -> None:
    rows = [typed(0), answer(1, ONE), typed(2, subtype="notification"), typed(3, provenance="goal_runtime"),
            answer(4, TWO), typed(5, provenance="real_user"), answer(6, (21_002, 44, 0, 0, 21_046))]  # fmt: skip
    assert [call.exchange for call in calls(read(READER, lines(rows)))] == [1, 1, 2]


def test_zeros_are_not_reported_and_an_empty_object_is_no_call() -> None:
    rows = [
        answer(1, (0, 0, 0, 0, 0)),
        {**answer(2, ONE), "usageMetadata": {}},
        {**answer(3, ONE), "usageMetadata": None},
    ]
    assert [(call.prompt_tokens, call.status) for call in calls(read(READER, lines(rows)))] == [(None, "ok")]


def test_the_window_is_logged_by_newer_versions() -> None:
    found = calls(read(READER, lines([answer(1, ONE, contextWindowSize=262_144), answer(2, TWO, contextWindowSize=0)])))
    assert [call.context_limit for call in found] == [262_144, None]


def branch(rows: list[dict[str, Any]], session: str, parent: str) -> list[dict[str, Any]]:
    """Lines as a branch copies them."""
    return [{**value, "sessionId": session, "forkedFrom": {"sessionId": parent, "messageUuid": value["uuid"]}}
            for value in rows]  # fmt: skip


def test_branches_of_branches_count_their_calls_once(tmp_path: Path) -> None:
    third = (21_000, 9, 0, 20_000, 21_009)
    root = CHAT
    one = [*branch(root, "q2", "q1"), telemetry(20, third, "q2"), answer(20, third, "q2")]
    two = [*branch(one, "q3", "q2"), answer(30, (22_000, 9, 0, 21_000, 22_009), "q3")]
    for name, rows in (("q1", root), ("q2", one), ("q3", two)):
        write(tmp_path / f"{name}.jsonl", lines(rows))
    found = {view.session: (len(view.turns), view.inherited_calls) for view in loaded(tmp_path).sessions}
    assert found == {"q1": (2, 0), "q2": (1, 2), "q3": (1, 3)}
    assert {info.parent for info in infos(read(READER, lines(one)))} == {"q1"}


def test_tools() -> None:
    asked = {**answer(1, ONE), "message": {"role": "model", "parts": [
        {"functionCall": {"id": "c1", "name": "read_file", "args": {"path": "a.py"}}}]}}  # fmt: skip
    result = row("tool_result", 2, "t", toolCallResult={"callId": "c1", "status": "error"}, message={"parts": [
        {"functionResponse": {"id": "c1", "response": {"error": "no such file"}}}]})  # fmt: skip
    assert steps(read(READER, lines([typed(0), asked, result]))) == [
        ("user", "", None), ("tool_call", "read_file", None), ("tool_result", "", False)]  # fmt: skip


def test_lines_may_come_one_by_one() -> None:
    parser = READER.parser(FileContext("x", data=b""))
    seen = []
    for number, line in enumerate(lines(CHAT).splitlines(keepends=True), 1):
        parser.feed([line], number)
        seen += [call.prompt_tokens for call in calls(parser.take())]
    assert seen == [19_579, 20_140]


def test_sniff() -> None:
    assert READER.sniff(head(lines(CHAT))) == 0.95
    assert READER.sniff(head(lines([typed(0)]))) == 0.92
    assert READER.sniff(head(lines([used(1, ONE)]))) == 0.95
    claude = {
        "uuid": "u",
        "parentUuid": None,
        "sessionId": "s",
        "type": "user",
        "message": {"role": "user", "content": "x"},
    }
    assert READER.sniff(head(lines([claude]))) == 0.0
