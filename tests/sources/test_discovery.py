"""Which files are read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from monitor.records import Problem
from monitor.sources.discovery import agent_folders, expand


def touch(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}", encoding="utf-8")
    return path


def test_folders_are_searched_to_any_depth_for_logs(tmp_path: Path) -> None:
    deep = touch(tmp_path / "a" / "b" / "c" / "agent-1.jsonl")
    touch(tmp_path / "a" / "agent-1.meta.json")
    touch(tmp_path / "a" / "journal.jsonl")
    touch(tmp_path / "a" / "notes.md")
    problems: list[Problem] = []
    assert list(expand([str(tmp_path)], problems)) == [deep]
    assert problems == []


def test_aiders_chat_history_is_a_log_and_other_markdown_is_not(tmp_path: Path) -> None:
    history = touch(tmp_path / "shop" / ".aider.chat.history.md")
    touch(tmp_path / "shop" / "README.md")
    touch(tmp_path / "shop" / ".aider.input.history")
    assert list(expand([str(tmp_path)], [])) == [history]


def test_a_gateways_export_may_have_the_name_of_gemini_clis_list_of_prompts(tmp_path: Path) -> None:
    export = touch(tmp_path / "gateway" / "logs.json")
    touch(tmp_path / "old" / "hash" / "logs.json")
    talk = touch(tmp_path / "old" / "hash" / "chats" / "session-1.json")
    touch(tmp_path / ".gemini" / "tmp" / "shop" / "logs.json")
    assert list(expand([str(tmp_path)], [])) == [export, talk]


def test_each_file_once_and_globs(tmp_path: Path) -> None:
    one, two = touch(tmp_path / "1.jsonl"), touch(tmp_path / "2.jsonl")
    problems: list[Problem] = []
    assert list(expand([str(one), str(tmp_path), str(tmp_path / "*.jsonl")], problems)) == [one, two]


def test_a_named_file_is_read_whatever_its_name(tmp_path: Path) -> None:
    odd = touch(tmp_path / "transcript.md")
    assert list(expand([str(odd)], [])) == [odd]


def test_what_is_not_there_is_told(tmp_path: Path) -> None:
    problems: list[Problem] = []
    (tmp_path / "empty").mkdir()
    assert list(expand([str(tmp_path / "no"), str(tmp_path / "*.har"), str(tmp_path / "empty")], problems)) == []
    assert [word in p.reason for p, word in zip(problems, ("no such", "pattern", "no log files"), strict=True)] == [
        True
    ] * 3


def test_agents_own_variables_move_their_folders(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / ".claude" / "projects").mkdir(parents=True)
    (tmp_path / "cfg" / "projects").mkdir(parents=True)
    (tmp_path / "codex" / "sessions").mkdir(parents=True)
    assert agent_folders({}, home) == [home / ".claude" / "projects"]
    moved = {"CLAUDE_CONFIG_DIR": str(tmp_path / "cfg"), "CODEX_HOME": str(tmp_path / "codex")}
    assert agent_folders(moved, home) == [tmp_path / "cfg" / "projects", tmp_path / "codex" / "sessions"]
    assert agent_folders({}, tmp_path / "nobody") == []


def test_goose_keeps_one_database_wherever_its_root_is(tmp_path: Path) -> None:
    usual = tmp_path / "home" / ".local" / "share" / "goose" / "sessions" / "sessions.db"
    moved = tmp_path / "root" / "data" / "sessions" / "sessions.db"
    for path in (usual, moved):
        path.parent.mkdir(parents=True)
        path.touch()
    assert agent_folders({}, tmp_path / "home") == [usual]
    assert agent_folders({"GOOSE_PATH_ROOT": str(tmp_path / "root")}, tmp_path / "home") == [usual, moved]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this platform has no named pipes")
def test_a_pipe_in_a_folder_is_not_waited_for(tmp_path: Path) -> None:
    log = touch(tmp_path / "a.jsonl")
    os.mkfifo(tmp_path / "b.jsonl")
    problems: list[Problem] = []
    assert list(expand([str(tmp_path), str(tmp_path / "b.jsonl")], problems)) == [log]
    assert "regular file" in problems[0].reason
