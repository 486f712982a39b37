"""Copilot CLI sessions: totals, because no figures of calls are logged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from monitor.readers.copilot import READER
from tests.readers.agent_help import calls, events, figures, head, infos, lines, loaded, read, steps, write

_count = iter(range(1, 10_000))


def row(kind: str, **data: Any) -> dict[str, Any]:
    number = next(_count)
    return {
        "type": kind,
        "data": data,
        "id": f"e{number}",
        "timestamp": f"2026-03-08T15:{number // 60 % 60:02d}:{number % 60:02d}.000Z",
    }


def start() -> dict[str, Any]:
    return row("session.start", sessionId="c1", copilotVersion="1.0.77", startTime="2026-03-08T15:00:00.000Z",
               selectedModel="gpt-5-mini", context={"cwd": "/home/dev/shop"})  # fmt: skip


def metrics(**models: tuple[int, int, int, int]) -> dict[str, Any]:
    names = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
    return {model: {"requests": {"count": 2}, "usage": dict(zip(names, values, strict=True))}
            for model, values in models.items()}  # fmt: skip


def test_shutdown_tells_what_the_session_used() -> None:
    used = metrics(a=(1_000, 50, 800, 100), b=(200, 5, 0, 0))
    found = read(READER, lines([start(), row("session.shutdown", sessionStartTime=1, modelMetrics=used)]))
    assert infos(found)[-1].totals_only == (1_200, 300, 800, 100, 55)
    assert (infos(found)[-1].session, infos(found)[-1].cwd_name) == ("c1", "shop")
    assert calls(found) == []


def test_runs_of_a_resumed_session_add_up_but_not_a_run_told_twice() -> None:
    one, two = metrics(a=(100, 1, 0, 0)), metrics(a=(900, 9, 0, 0))
    rows = [start(), row("session.shutdown", sessionStartTime=1, modelMetrics=one),
            row("session.shutdown", sessionStartTime=1, modelMetrics=two), row("session.resume"),
            row("session.shutdown", sessionStartTime=2, modelMetrics=one)]  # fmt: skip
    totals = infos(read(READER, lines(rows)))[-1].totals_only
    assert totals == (1_000, 1_000, 0, 0, 10)


def test_token_details_leave_the_cache_out() -> None:
    details = {"input": {"tokenCount": 100}, "output": {"tokenCount": 15}, "cache_read": {"tokenCount": 5},
               "cache_write": {"tokenCount": 0}}  # fmt: skip
    rows = [start(), row("session.shutdown", modelMetrics={"gpt-5-mini": {"requests": 2}}, tokenDetails=details)]
    assert infos(read(READER, lines(rows)))[-1].totals_only == (105, 100, 5, 0, 15)


def test_until_then_only_the_output_is_known() -> None:
    rows = [start(), row("assistant.message", messageId="m1", outputTokens=12, toolRequests=[]),
            row("assistant.message", messageId="m1", outputTokens=20), row("assistant.message", messageId="m2", outputTokens=3)]  # fmt: skip
    assert infos(read(READER, lines(rows)))[-1].totals_only == (None, None, None, None, 23)


def test_hosts_that_keep_usage_events_have_a_curve(tmp_path: Path) -> None:
    usage = {"model": "gpt-5", "inputTokens": 1_000, "outputTokens": 50, "cacheReadTokens": 900, "cacheWriteTokens": 0,
             "duration": 1_500}  # fmt: skip
    rows = [start(), row("user.message", content="List"), row("assistant.usage", apiCallId="api-1", **usage),
            row("assistant.usage", apiCallId="api-2", parentToolCallId="t1", **usage),
            row("session.shutdown", modelMetrics=metrics(a=(2_000, 100, 1_800, 0)))]  # fmt: skip
    found = read(READER, lines(rows))
    assert [figures(call) for call in calls(found)] == [(1_000, 100, 900, 0, 50)] * 2
    assert [(call.chain, call.exchange, call.call_id, call.duration_ms) for call in calls(found)] == [
        ("main", 1, "api-1", 1_500), ("agent:t1", None, "api-2", 1_500)]  # fmt: skip
    (view,) = loaded(write(tmp_path / "events.jsonl", lines(rows))).sessions
    assert (view.totals_only, view.sums.prompt_tokens) == (False, 2_000)


def test_compactions_truncations_and_errors() -> None:
    rows = [
        start(),
        row("session.compaction_complete", success=False, preCompactionTokens=5),
        row("session.compaction_complete", success=True, preCompactionTokens=134_606, postCompactionTokens=20_000,
            compactionTokensUsed={"inputTokens": 157_329, "outputTokens": 3_400, "cacheReadTokens": 24_000}),
        row("session.truncation", preTruncationTokensInMessages=900, postTruncationTokensInMessages=400),
        row("session.error", errorType="query", statusCode=400, message="private text"),
    ]  # fmt: skip
    found = events(read(READER, lines(rows)))
    assert [(e.kind, e.recorded_before, e.recorded_after, e.summary_tokens, e.detail) for e in found] == [
        ("compaction", 134_606, 20_000, 3_400, ""), ("compaction", 900, 400, None, ""),
        ("error", None, None, None, "400")]  # fmt: skip


def test_steps() -> None:
    rows = [start(), row("user.message", content="List"),
            row("assistant.message", toolRequests=[{"toolCallId": "t1", "name": "shell", "arguments": '{"command":"ls"}'}]),
            row("tool.execution_complete", toolCallId="t1", success=True, result={"content": "a b"}),
            row("assistant.message", messageId="m2", content="Done", toolRequests=[])]  # fmt: skip
    assert steps(read(READER, lines(rows))) == [
        ("user", "", None), ("tool_call", "shell", None), ("tool_result", "", True), ("answer", "", None)]  # fmt: skip


def test_the_session_is_the_folder_until_the_log_names_it(tmp_path: Path) -> None:
    path = write(tmp_path / "c9" / "events.jsonl", lines([row("assistant.message", messageId="m", outputTokens=3)]))
    (view,) = loaded(path).sessions
    assert (view.session, view.totals_only, view.sums.output_tokens, view.sums.prompt_tokens) == ("c9", True, 3, None)


def test_sniff() -> None:
    assert READER.sniff(head(lines([start()]))) == 0.95
    assert READER.sniff(head(lines([row("user.message", content="x")]))) == 0.85
    assert READER.sniff(head(lines([{"type": "session", "id": "x", "timestamp": "y"}]))) == 0.0
