"""Hermes agent: totals for each session, and which session went on with which."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from monitor.readers.hermes import READER
from tests.readers.agent_help import events, head, infos, loaded, read_path

T0 = 1_775_304_000.0
_SESSIONS = """CREATE TABLE sessions (id TEXT PRIMARY KEY, model TEXT, parent_session_id TEXT, started_at REAL,
    ended_at REAL, end_reason TEXT, cwd TEXT, input_tokens INTEGER DEFAULT 0, output_tokens INTEGER DEFAULT 0,
    cache_read_tokens INTEGER DEFAULT 0, cache_write_tokens INTEGER DEFAULT 0)"""
_MODELS = """CREATE TABLE session_model_usage (session_id TEXT, model TEXT, input_tokens INTEGER, output_tokens INTEGER,
    cache_read_tokens INTEGER, cache_write_tokens INTEGER)"""


def database(path: Path, models: bool = True) -> Path:
    base = sqlite3.connect(path)
    base.execute(_SESSIONS)
    base.execute("CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, content TEXT)")
    rows = [
        ("h1", None, T0, T0 + 600, "compression", "/home/dev/shop", 1_000, 50, 9_000, 100),
        ("h2", "h1", T0 + 601, None, None, None, 200, 5, 0, 0),
        ("h3", None, T0 + 900, None, "user_exit", None, 0, 0, 0, 0),
    ]
    base.executemany("INSERT INTO sessions VALUES (?, 'm', ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
    if models:
        base.execute(_MODELS)
        used = [("h1", "m", 1, 1, 1, 1), ("h3", "m", 70, 3, 10, None), ("h3", "n", 30, 4, 0, None)]
        base.executemany("INSERT INTO session_model_usage VALUES (?, ?, ?, ?, ?, ?)", used)
    base.commit()
    base.close()
    return path


def test_totals_and_lineage(tmp_path: Path) -> None:
    found = read_path(READER, database(tmp_path / "state.db"))
    told = {info.session: (info.parent, info.totals_only, info.cwd_name) for info in infos(found)}
    assert told == {
        "h1": (None, (10_100, 1_000, 9_000, 100, 50), "shop"),
        "h2": ("h1", (200, 200, 0, 0, 5), None),
        "h3": (None, (110, 100, 10, None, 7), None),  # figures that only the models' rows have
    }
    assert [(event.session, event.kind, event.time) for event in events(found)] == [
        ("h1", "compaction", 1_775_304_600_000)
    ]


def test_a_version_without_the_models_table(tmp_path: Path) -> None:
    base = database(tmp_path / "state.db", models=False)
    assert {info.session for info in infos(read_path(READER, base)) if info.totals_only} == {"h1", "h2"}


def test_sessions_are_shown_without_a_curve(tmp_path: Path) -> None:
    found = loaded(database(tmp_path / "state.db"))
    assert {(view.session, view.totals_only, view.source, view.parent) for view in found.sessions} == {
        ("h1", True, "hermes", None), ("h2", True, "hermes", "h1"), ("h3", True, "hermes", None)}  # fmt: skip
    assert found.problems == []


def test_sniff(tmp_path: Path) -> None:
    base = database(tmp_path / "state.db")
    assert READER.sniff(head(base.read_bytes(), base)) == 0.9
    other = sqlite3.connect(tmp_path / "other.db")
    other.execute("CREATE TABLE sessions (id)")
    other.execute("CREATE TABLE messages (id)")
    other.commit()
    other.close()
    assert READER.sniff(head((tmp_path / "other.db").read_bytes(), tmp_path / "other.db")) == 0.0
