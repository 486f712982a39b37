"""OpenClaw's store: Pi's records in rows, as text or packed."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import zstandard

from monitor.readers.openclaw import READER
from monitor.sources.discovery import agent_folders
from tests.readers.agent_help import calls, events, figures, head, infos, loaded, read_path


def header(session: str) -> dict[str, Any]:
    return {
        "type": "session",
        "version": 3,
        "id": session,
        "timestamp": "2026-10-01T08:00:00.000Z",
        "cwd": "/home/dev/shop",
    }


def answer(number: int, read: int, **usage: Any) -> dict[str, Any]:
    message = {
        "role": "assistant",
        "provider": "anthropic",
        "model": "claude-sonnet-4-5",
        "stopReason": "stop",
        "content": [{"type": "text", "text": "ok"}],
        "usage": {"input": 10, "output": 20, "cacheRead": read, "cacheWrite": 300, **usage},
    }
    time = f"2026-10-01T08:00:{number:02d}.000Z"
    return {"type": "message", "id": f"e{number}", "parentId": f"e{number - 1}", "timestamp": time, "message": message}


def store(path: Path, rows: list[tuple[str, int, Any, bool]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    base = sqlite3.connect(path)
    base.execute(
        "CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT, created_at INTEGER, event_zstd BLOB)"
    )
    for session, seq, event, packed in rows:
        text = json.dumps(event)
        zstd = zstandard.ZstdCompressor().compress(text.encode()) if packed else None
        base.execute(
            "INSERT INTO transcript_events VALUES (?, ?, ?, 0, ?)", (session, seq, None if packed else text, zstd)
        )
    base.commit()
    base.close()
    return path


def test_every_session_of_the_store_is_read_in_its_own_order(tmp_path: Path) -> None:
    compaction = {
        "type": "compaction",
        "id": "e3",
        "parentId": "e2",
        "timestamp": "2026-10-01T08:00:03.000Z",
        "tokensBefore": 9_000,
    }
    rows = [
        ("b", 0, header("b"), False),
        ("a", 2, answer(2, 4_000), True),
        ("a", 0, header("a"), False),
        ("a", 1, answer(1, 0, costUSD=0.25), False),
        ("b", 1, answer(1, 7_000, cost={"total": 0.5}), True),
        ("a", 3, compaction, False),
    ]
    found = read_path(READER, store(tmp_path / "openclaw-agent.sqlite", rows))
    assert [(call.session, figures(call), call.cost_usd) for call in calls(found)] == [
        ("a", (310, 10, 0, 300, 20), 0.25),
        ("a", (4_310, 10, 4_000, 300, 20), None),
        ("b", (7_310, 10, 7_000, 300, 20), 0.5),
    ]
    assert [(event.session, event.kind, event.recorded_before) for event in events(found)] == [
        ("a", "compaction", 9_000)
    ]
    assert {info.session: info.cwd_name for info in infos(found)} == {"a": "shop", "b": "shop"}


def test_a_session_that_lies_as_a_file_beside_the_store_counts_once(tmp_path: Path) -> None:
    events_of_a = [header("a"), answer(1, 0), answer(2, 4_000)]
    store(tmp_path / "agent" / "openclaw-agent.sqlite", [("a", n, event, False) for n, event in enumerate(events_of_a)])
    (tmp_path / "sessions").mkdir()
    lines = "".join(json.dumps(event) + "\n" for event in events_of_a[:2])
    (tmp_path / "sessions" / "a.jsonl").write_text(lines, encoding="utf-8")
    (view,) = loaded(tmp_path).sessions
    assert [turn.call.prompt_tokens for turn in view.turns] == [310, 4_310]


def test_a_damaged_record_is_told_and_the_others_are_read(tmp_path: Path) -> None:
    path = store(tmp_path / "openclaw-agent.sqlite", [("a", 0, header("a"), False), ("a", 2, answer(2, 4_000), False)])
    base = sqlite3.connect(path)
    base.execute("INSERT INTO transcript_events VALUES ('a', 1, NULL, 0, X'28B52FFD00')")
    base.commit()
    base.close()
    found = loaded(path)
    assert [turn.call.prompt_tokens for view in found.sessions for turn in view.turns] == [4_310]
    assert [problem.reason for problem in found.problems] == ["1 of its records are damaged; they were skipped"]


def test_sniff_and_place(tmp_path: Path) -> None:
    path = store(
        tmp_path / ".openclaw" / "agents" / "main" / "agent" / "openclaw-agent.sqlite", [("a", 0, header("a"), False)]
    )
    assert READER.sniff(head(path.read_bytes(), path)) == 0.95
    assert READER.sniff(head(b"{}")) == 0.0
    (tmp_path / ".openclaw" / "agents" / "main" / "sessions").mkdir()
    assert agent_folders({}, tmp_path) == [path, tmp_path / ".openclaw" / "agents" / "main" / "sessions"]
