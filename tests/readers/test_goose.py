"""Goose: the ledger of requests, summaries, subagents, and sums of versions without a ledger."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

from monitor.readers.goose import READER
from tests.readers.agent_help import calls, events, figures, head, infos, loaded, read_path, steps

T0 = 1_790_000_000  # seconds, 2026-09-21T14:13:20Z
_SESSIONS = """CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, session_type TEXT, working_dir TEXT NOT NULL,
    created_at TIMESTAMP, total_tokens INTEGER, input_tokens INTEGER, output_tokens INTEGER,
    accumulated_total_tokens INTEGER, accumulated_input_tokens INTEGER, accumulated_output_tokens INTEGER,
    accumulated_cache_read_tokens INTEGER, accumulated_cache_write_tokens INTEGER, provider_name TEXT,
    model_config_json TEXT, parent_session_id TEXT)"""
_MESSAGES = """CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, message_id TEXT, session_id TEXT NOT NULL,
    role TEXT NOT NULL, content_json TEXT NOT NULL, created_timestamp INTEGER NOT NULL, metadata_json TEXT)"""
_LEDGER = """CREATE TABLE usage_ledger (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL,
    created_timestamp INTEGER NOT NULL, model TEXT, input_tokens INTEGER, output_tokens INTEGER, total_tokens INTEGER,
    cache_read_tokens INTEGER, cache_write_tokens INTEGER, cost REAL, cost_source TEXT, is_compaction INTEGER)"""
SONNET = "claude-sonnet-4-5"


def session(base: sqlite3.Connection, id: str, parent: str | None = None, sums: tuple[Any, ...] = (None,) * 4) -> None:
    base.execute(
        "INSERT INTO sessions (id, working_dir, created_at, provider_name, model_config_json, parent_session_id,"
        " accumulated_input_tokens, accumulated_output_tokens, accumulated_cache_read_tokens,"
        " accumulated_cache_write_tokens) VALUES (?, '/home/dev/shop', '2026-09-21 14:13:20', 'anthropic', ?, ?,"
        " ?, ?, ?, ?)",
        (id, json.dumps({"model_name": SONNET}), parent, *sums),
    )


def said(base: sqlite3.Connection, id: str, role: str, at: int, *blocks: Any, hidden: bool = False) -> None:
    metadata = json.dumps({"userVisible": not hidden, "agentVisible": True})
    base.execute(
        "INSERT INTO messages (session_id, role, content_json, created_timestamp, metadata_json) VALUES (?, ?, ?, ?, ?)",
        (id, role, json.dumps(blocks), T0 + at, metadata),
    )


def row(
    base: sqlite3.Connection, id: str, at: int, counts: tuple[Any, ...], cost: float | None = None,
    source: str | None = "estimated", summary: int = 0, model: str | None = SONNET,
) -> None:  # fmt: skip
    """``counts``: input, output, cache read, cache write."""
    base.execute(
        "INSERT INTO usage_ledger (session_id, created_timestamp, model, input_tokens, output_tokens,"
        " cache_read_tokens, cache_write_tokens, cost, cost_source, is_compaction) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (id, T0 + at, model, *counts, cost, source, summary),
    )


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def database(path: Path, ledger: bool = True) -> Path:
    base = sqlite3.connect(path)
    base.execute(_SESSIONS)
    base.execute(_MESSAGES)
    session(base, "20260921_1", sums=(102_000, 1_500, 60_000, 9_000))
    session(base, "20260921_2", parent="20260921_1", sums=(4_000, 100, None, None))
    session(base, "20260921_3")
    said(base, "20260921_1", "user", 0, text("add a test"))
    shell = {"status": "success", "value": {"name": "developer__shell", "arguments": {"command": "pytest -q"}}}
    said(base, "20260921_1", "assistant", 5, text("so"), {"type": "toolRequest", "id": "t1", "toolCall": shell})
    result = {"status": "success", "value": {"content": [text("1 failed")], "isError": True}}
    said(base, "20260921_1", "user", 8, {"type": "toolResponse", "id": "t1", "toolResult": result})
    said(base, "20260921_1", "assistant", 12, text("done"))
    said(base, "20260921_1", "user", 14, text("a summary of what was said"), hidden=True)
    said(base, "20260921_1", "user", 20, text("and now the docs"))
    if ledger:
        base.execute(_LEDGER)
        row(base, "20260921_1", 1, (7_000, 90, 0, 0), source="carried_forward", model=None)
        row(base, "20260921_1", 6, (30_000, 400, 20_000, 9_000), cost=0.0531)
        row(base, "20260921_1", 13, (45_000, 300, 40_000, 0), cost=0.0)
        row(base, "20260921_1", 14, (46_000, 600, 0, 0), summary=1)
        row(base, "20260921_1", 22, (20_000, 200, None, None))
        row(base, "20260921_2", 10, (4_000, 100, 0, 0), model=None)
    base.commit()
    base.close()
    return path


def test_each_row_of_the_ledger_is_a_call_whose_input_holds_the_cache(tmp_path: Path) -> None:
    found = calls(read_path(READER, database(tmp_path / "sessions.db")))
    assert [figures(call) for call in found] == [
        (30_000, 1_000, 20_000, 9_000, 400),
        (4_000, 4_000, 0, 0, 100),
        (45_000, 5_000, 40_000, 0, 300),
        (46_000, 46_000, 0, 0, 600),
        (20_000, 20_000, None, None, 200),
    ]
    assert [(call.chain, call.purpose, call.exchange, call.cost_usd, call.model) for call in found] == [
        ("main", "work", 1, 0.0531, SONNET),
        ("agent:20260921_2", "work", None, None, SONNET),  # the model its session is set to
        ("main", "work", 1, None, SONNET),  # a cost of 0 is a price that Goose does not know
        ("side", "compaction", 1, None, SONNET),
        ("main", "work", 2, None, SONNET),  # the summary is no message of the user
    ]
    assert {call.session for call in found} == {"20260921_1"}
    assert found[0].time == (T0 + 6) * 1_000
    assert {call.provider for call in found} == {"anthropic"}


def test_a_row_that_wrote_a_summary_is_a_compaction(tmp_path: Path) -> None:
    (event,) = events(read_path(READER, database(tmp_path / "sessions.db")))
    assert (event.kind, event.evidence, event.chain, event.summary_tokens) == ("compaction", "recorded", "main", 600)
    (view,) = [one for one in loaded(tmp_path / "sessions.db").sessions if one.session == "20260921_1"]
    (compaction,) = [one for one in view.events if one.kind == "compaction"]
    assert (compaction.tokens_before, compaction.tokens_after) == (45_000, 20_000)
    assert (view.compactions, view.windows) == (1, 3)  # two of main, one of the subagent


def test_sums_from_before_the_ledger_are_no_call_and_are_told(tmp_path: Path) -> None:
    found = loaded(database(tmp_path / "sessions.db"))
    assert [problem.reason for problem in found.problems] == [
        "a row brings sums of times before Goose kept calls; they are no calls and are left out"
    ]


def test_a_version_without_a_ledger_has_sums_only(tmp_path: Path) -> None:
    told = infos(read_path(READER, database(tmp_path / "sessions.db", ledger=False)))
    assert [(info.session, info.chain, info.totals_only, info.cwd_name) for info in told] == [
        ("20260921_1", "main", (102_000, 33_000, 60_000, 9_000, 1_500), "shop"),
        ("20260921_1", "agent:20260921_2", (4_000, 4_000, None, None, 100), "shop"),
        ("20260921_3", "main", None, "shop"),
    ]
    assert told[0].started == T0 * 1_000
    (view,) = [one for one in loaded(tmp_path / "sessions.db").sessions if one.session == "20260921_1"]
    assert (view.sums.prompt_tokens, view.sums.output_tokens) == (102_000 + 4_000, 1_500 + 100)  # with the subagent's


def test_steps(tmp_path: Path) -> None:
    found = steps(read_path(READER, database(tmp_path / "sessions.db")))
    assert found == [
        ("user", "", None),
        ("tool_call", "developer__shell", None),
        ("tool_result", "", False),
        ("answer", "", None),
        ("user", "", None),
    ]


def test_sniff(tmp_path: Path) -> None:
    base = database(tmp_path / "sessions.db")
    assert READER.sniff(head(base.read_bytes(), base)) == 0.95
    assert READER.sniff(head(b"{}")) == 0.0
    assert loaded(base).files[0].source == "goose"
