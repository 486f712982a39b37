"""opencode 2: rows of session_message, alone and beside the tables of opencode 1."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

from tests.readers.agent_help import calls, events, figures, head, loaded, read_path, steps
from tests.readers.test_opencode import DATABASE, T0, said, tokens, user
from tests.readers.test_opencode import database as first

Row = tuple[str, str, str, dict[str, Any]]  # id, session, type, data


def when(seconds: int, took: int | None = None, **more: int) -> dict[str, int]:
    start = T0 + seconds * 1000
    return {"created": start, **({} if took is None else {"completed": start + took}), **more}


def answer(seconds: int, usage: tuple[int, int, int, int, int] | None, **more: Any) -> dict[str, Any]:
    found = {"agent": "build", "model": {"id": "glm-5", "providerID": "zai", "variant": "high"}, "content": [],
             "time": when(seconds, 9_000), "finish": "stop", "cost": 0}  # fmt: skip
    return {**found, **({} if usage is None else {"tokens": tokens(usage)}), **more}


def typed(seconds: int, text: str = "go") -> dict[str, Any]:
    return {"text": text, "time": when(seconds)}


def second(path: Path, rows: list[Row], sessions: list[tuple[str, str | None]] | None = None) -> Path:
    """The tables of opencode 2, added to a database or alone."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE session_v2 (id text primary key, parent_id text, directory text, time_created integer)")
        db.execute("CREATE TABLE session_message (id text primary key, session_id text, type text, seq integer,"
                   " time_created integer, time_updated integer, data text)")  # fmt: skip
        db.executemany("INSERT INTO session_v2 VALUES (?, ?, '/home/dev/shop', ?)",
                       [(id, parent, T0) for id, parent in sessions or [("ses_1", None)]])  # fmt: skip
        db.executemany("INSERT INTO session_message VALUES (?, ?, ?, ?, ?, 0, ?)",
                       [(id, ses, kind, n, data["time"]["created"], json.dumps(data))
                        for n, (id, ses, kind, data) in enumerate(rows)])  # fmt: skip
    db.close()
    return path


def test_each_assistants_row_is_a_request(tmp_path: Path) -> None:
    content = [{"type": "text", "text": "ok"}, {"type": "tool", "id": "c1", "name": "bash", "time": when(3),
               "state": {"status": "completed", "input": {"command": "ls"}, "content": [{"type": "text", "text": "a"}]}}]  # fmt: skip
    path = second(tmp_path / "opencode.db", [
        ("msg_u", "ses_1", "user", typed(0)),
        ("msg_1", "ses_1", "assistant", answer(1, (200, 30, 12, 9_000, 50), content=content, finish="tool-calls",
                                               time=when(1, 9_000, streamed=T0 + 4_000))),
        ("msg_2", "ses_1", "assistant", answer(11, (100, 5, 0, 9_250, 0))),
        ("msg_i", "ses_1", "idle", {"outcome": "succeeded", "time": when(20)}),
    ])  # fmt: skip
    assert DATABASE.sniff(head(path.read_bytes(), path)) == 0.95
    found = read_path(DATABASE, path)
    one, two = calls(found)
    assert (figures(one), one.reasoning_tokens, one.model, one.provider) == ((9_250, 200, 9_000, 50, 42), 12, "glm-5", "zai")
    # the answer ended before the tool had run
    assert (one.time, one.duration_ms, one.exchange, one.stop, one.cost_usd) == (T0 + 1_000, 3_000, 1, "tool-calls", None)
    assert (two.prompt_tokens, two.duration_ms) == (9_350, 9_000)
    assert [kind for kind, _, _ in steps(found)] == ["user", "tool_call", "tool_result", "answer"]


def test_what_was_taken_over_counts_once(tmp_path: Path) -> None:
    path = first(tmp_path / "opencode.db", [("ses_1", None)],
                 {"ses_1": [user("msg_u", 0), said("msg_1", 1, (200, 30, 0, 9_000, 0)),
                            said("msg_s", 5, (300, 70, 0, 0, 0), summary=True, mode="compaction"),
                            said("msg_2", 9, (400, 20, 0, 0, 0))]})  # fmt: skip
    second(path, [
        ("msg_u", "ses_1", "user", typed(0)),
        ("msg_1", "ses_1", "assistant", answer(1, (200, 30, 0, 9_000, 0))),
        ("msg_c", "ses_1", "compaction", {"status": "completed", "reason": "auto", "summary": "s", "recent": "",
                                          "time": when(5)}),
        ("msg_2", "ses_1", "assistant", answer(9, (400, 20, 0, 0, 0))),
        ("msg_3", "ses_1", "assistant", answer(60, (100, 9, 0, 400, 0))),
    ])  # fmt: skip
    found = read_path(DATABASE, path)
    assert sorted(call.prompt_tokens or 0 for call in calls(found)) == [300, 400, 500, 9_200]
    assert [event.kind for event in events(found)] == ["compaction"]
    # the row of opencode 2 counts where that of before had not been finished
    assert len(loaded(path).sessions) == 1


def test_a_compaction_is_a_call_where_it_tells_its_usage(tmp_path: Path) -> None:
    told = {"status": "completed", "reason": "manual", "summary": "s", "recent": "", "time": when(30),
            "model": {"id": "glm-5", "providerID": "zai"}, "cost": 0.02, "tokens": tokens((18_000, 200, 63, 200, 0))}  # fmt: skip
    path = second(tmp_path / "opencode.db", [
        ("msg_1", "ses_1", "assistant", answer(1, (200, 30, 0, 9_000, 0))),
        ("msg_c", "ses_1", "compaction", told),
        ("msg_2", "ses_1", "assistant", answer(60, (900, 30, 0, 0, 0))),
        ("msg_d", "ses_1", "compaction", {"status": "completed", "reason": "auto", "summary": "s", "time": when(70)}),
        ("msg_f", "ses_1", "compaction", {"status": "failed", "reason": "auto", "error": {"type": "provider.unknown",
                                          "message": "no"}, "time": when(80)}),
        ("msg_r", "ses_1", "compaction", {"status": "running", "reason": "auto", "summary": "", "time": when(90)}),
    ])  # fmt: skip
    found = read_path(DATABASE, path)
    made = [(call.purpose, call.status, call.prompt_tokens, call.output_tokens) for call in calls(found)]
    assert made == [("work", "ok", 9_200, 30), ("compaction", "ok", 18_200, 263), ("work", "ok", 900, 30),
                    ("compaction", "error", None, None)]  # fmt: skip
    marks = [(event.kind, event.trigger, event.summary_tokens) for event in events(found)]
    assert sorted(marks, key=str) == [("compaction", "auto", None), ("compaction", "manual", 263)]
    (view,) = loaded(path).sessions
    assert view.windows == 3  # the last one has no call yet


def test_steps_without_figures(tmp_path: Path) -> None:
    failed = {"error": {"type": "provider.rate-limit", "message": "slow down"}, "finish": "error"}
    large = {"error": {"type": "provider.invalid-request", "message": "prompt is too long: 210000 tokens > 200000 maximum"},
             "finish": "error"}  # fmt: skip
    path = second(tmp_path / "opencode.db", [
        ("msg_1", "ses_1", "assistant", answer(1, None, **failed)),
        ("msg_2", "ses_1", "assistant", answer(20, None, **large)),
        ("msg_3", "ses_1", "assistant", answer(40, None, time=when(40), finish=None)),
        ("msg_4", "ses_1", "assistant", {"model": 7, "content": "x", "tokens": [], "time": when(50)}),
    ])  # fmt: skip
    found = read_path(DATABASE, path)
    assert [(call.status, call.prompt_tokens) for call in calls(found)] == [
        ("error", None), ("error", None), ("in_flight", None), ("in_flight", None)]  # fmt: skip
    assert [event.kind for event in events(found)] == ["overflow"]


def test_subagents_are_chains(tmp_path: Path) -> None:
    path = second(tmp_path / "opencode.db", [
        ("msg_1", "ses_1", "assistant", answer(1, (200, 30, 0, 0, 0))),
        ("msg_2", "ses_2", "assistant", answer(3, (100, 30, 0, 0, 0))),
    ], [("ses_1", None), ("ses_2", "ses_1")])  # fmt: skip
    assert [(call.session, call.chain) for call in calls(read_path(DATABASE, path))] == [
        ("ses_1", "main"), ("ses_1", "agent:ses_2")]  # fmt: skip
