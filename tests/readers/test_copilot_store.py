"""Copilot CLI's database of all sessions: a row for each request."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

from monitor.readers import choose
from monitor.readers.copilot import CopilotStore
from monitor.sources.discovery import agent_folders
from tests.readers.agent_help import calls, head, infos, loaded, read_path
from tests.readers.test_copilot import lines, metrics, row

_SESSIONS = "CREATE TABLE sessions (id TEXT PRIMARY KEY, cwd TEXT, summary TEXT, created_at TEXT, updated_at TEXT)"
_EVENTS = """CREATE TABLE assistant_usage_events (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL,
    turn_index INTEGER, agent_id TEXT, parent_tool_call_id TEXT, model TEXT NOT NULL, copilot_usage_model TEXT,
    input_tokens INTEGER, output_tokens INTEGER, cache_read_tokens INTEGER, cache_write_tokens INTEGER,
    reasoning_tokens INTEGER, total_nano_aiu INTEGER, duration_ms REAL, initiator TEXT, finish_reason TEXT,
    created_at TEXT)"""
_MAIN: dict[str, Any] = {
    "session_id": "c1", "turn_index": 0, "model": "claude-sonnet-4.5", "input_tokens": 25_000, "output_tokens": 100,
    "cache_read_tokens": 15_000, "cache_write_tokens": 9_000, "reasoning_tokens": 40, "duration_ms": 4_000.5,
    "finish_reason": "stop", "created_at": "2026-09-16 09:00:10",
}  # fmt: skip


def database(path: Path, *rows: dict[str, Any]) -> Path:
    base = sqlite3.connect(path)
    base.execute(_SESSIONS)
    base.execute(_EVENTS)
    base.execute("INSERT INTO sessions VALUES ('c1', '/home/dev/shop', NULL, '2026-09-16 09:00:00', NULL)")
    base.execute("INSERT INTO sessions VALUES ('empty', '/home/dev/shop', NULL, '2026-09-16 09:00:00', NULL)")
    for one in rows:
        names = ", ".join(one)
        base.execute(
            f"INSERT INTO assistant_usage_events ({names}) VALUES ({', '.join('?' * len(one))})", list(one.values())
        )
    base.commit()
    base.close()
    return path


def test_each_row_is_a_call(tmp_path: Path) -> None:
    path = database(tmp_path / "session-store.db", _MAIN)
    found = read_path(CopilotStore(), path)
    (call,) = calls(found)
    assert (call.session, call.chain, call.exchange, call.stop) == ("c1", "main", 1, "stop")
    assert (call.prompt_tokens, call.fresh_tokens, call.cache_read_tokens, call.cache_write_tokens) == (
        25_000, 1_000, 15_000, 9_000)  # fmt: skip
    assert (call.output_tokens, call.reasoning_tokens) == (100, 40)
    assert (call.time, call.duration_ms) == (1_789_549_206_000, 4_000)  # UTC, though the text does not say so
    (info,) = infos(found)  # a session without requests is none
    assert (info.session, info.cwd_name, info.started, info.totals_only) == ("c1", "shop", 1_789_549_200_000, None)


def test_subagents_models_and_what_is_not_known(tmp_path: Path) -> None:
    agent = {**_MAIN, "agent_id": "explore", "parent_tool_call_id": "call_1", "initiator": "sub-agent"}
    named = {**_MAIN, "agent_id": "explore"}
    asked = {**_MAIN, "initiator": "mcp-sampling"}
    routed = {**_MAIN, "model": "auto", "copilot_usage_model": "gpt-5-mini", "turn_index": None, "duration_ms": None}
    blank = {"session_id": "c1", "model": "gpt-5-mini"}
    found = calls(read_path(CopilotStore(), database(tmp_path / "s.db", agent, named, asked, routed, blank)))
    assert [call.chain for call in found] == ["agent:call_1", "agent:explore", "agent:mcp-sampling", "main", "main"]
    assert [call.exchange for call in found] == [None] * 5
    assert (found[3].model, found[3].time, found[3].duration_ms) == ("gpt-5-mini", 1_789_549_210_000, None)
    assert (found[4].prompt_tokens, found[4].output_tokens, found[4].time) == (None, None, None)


def test_the_rows_count_and_the_totals_of_the_log_beside_them_do_not(tmp_path: Path) -> None:
    second = {**_MAIN, "input_tokens": 26_000, "cache_read_tokens": 25_000, "cache_write_tokens": 900,
              "created_at": "2026-09-16 09:01:00"}  # fmt: skip
    database(tmp_path / "session-store.db", _MAIN, second)
    for session in ("c1", "c2"):  # the second has no rows: it is older than the table
        folder = tmp_path / "session-state" / session
        folder.mkdir(parents=True)
        used = row("session.shutdown", sessionStartTime=1, modelMetrics=metrics(a=(1_000, 50, 800, 100)))
        (folder / "events.jsonl").write_bytes(lines([row("session.start", sessionId=session, version=1), used]))
    views = {view.session: view for view in loaded(tmp_path).sessions}
    assert (views["c1"].sums.prompt_tokens, views["c1"].totals_only) == (51_000, False)
    assert (views["c2"].sums.prompt_tokens, views["c2"].totals_only) == (1_000, True)


def test_it_is_known_and_found(tmp_path: Path) -> None:
    home = tmp_path / ".copilot"
    home.mkdir()
    path = database(home / "session-store.db", _MAIN)
    reader, sure = choose(head(path.read_bytes(), path))
    assert reader is not None
    assert (reader.title, sure) == ("Copilot CLI database", 0.95)
    assert loaded(home).problems == []
    assert path in agent_folders({}, tmp_path)
    assert path in agent_folders({"COPILOT_HOME": str(home)}, tmp_path / "elsewhere")
