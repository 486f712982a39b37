"""`ctxmon calls`: the table for people, records for programs."""

from __future__ import annotations

import io
import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from monitor.cli import main
from tests.dashboard.claude_log import write_log
from tests.sources.test_files import row


@pytest.fixture
def log(tmp_path: Path) -> Path:
    file = tmp_path / "abc.jsonl"
    write_log(file, 3)
    return file


def test_table(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["calls", str(log), "--tz", "UTC"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith("session 11111111-2222-3333-4444-555555555555 · claude-code · 3 calls")
    assert [line.split()[0] for line in out[2:]] == ["0", "1", "2"]
    assert [line.split()[2] for line in out[2:]] == ["20.0k", "21.0k", "22.0k"]


def test_table_goes_to_a_file_without_colours(
    log: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = log.parent / "calls.txt"
    assert main(["calls", str(log), "-o", str(out)]) == 0
    assert capsys.readouterr().out == ""
    assert "\x1b" not in out.read_text(encoding="utf-8")


def test_no_calls_are_no_lines(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["calls", str(log), "--format", "ndjson", "--until", "2020-01-01"]) == 3
    done = capsys.readouterr()
    assert done.out == ""
    assert "no calls match" in done.err
    assert main(["calls", str(log), "--format", "csv", "--until", "2020-01-01", "-q"]) == 3
    assert len(capsys.readouterr().out.splitlines()) == 1  # the head


@pytest.mark.parametrize("command", ["calls", "report", "decide"])
def test_filters_that_leave_nothing_say_what_there_is(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "abc.jsonl"
    write_log(log, 3, datetime(2026, 3, 1, 10, tzinfo=UTC))
    assert main([command, str(log), "--model", "opus"]) == 3
    err = capsys.readouterr().err
    assert "no calls match" in err
    assert "1 session, 2026-03-01, models claude-opus-4-5" in err
    assert main([command, str(log), "--model", "opus", "-q"]) == 3
    assert capsys.readouterr().err == ""


def test_standard_input_named_twice_is_read_once(
    log: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Stdin:
        buffer = io.BytesIO(log.read_bytes())

    monkeypatch.setattr(sys, "stdin", Stdin())
    assert main(["calls", "-", "-", "--format", "json"]) == 0
    done = json.loads(capsys.readouterr().out)
    assert [call["prompt_tokens"] for call in done["calls"]] == [20_000, 21_000, 22_000]
    assert done["problems"] == []


def test_copies_are_listed_when_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    first.write_bytes(row(1) + row(2))
    second.write_bytes(
        row(1).replace(b'"sessionId": "', b'"sessionId": "z') + row(3).replace(b'"sessionId": "', b'"sessionId": "z')
    )
    assert main(["calls", str(first), str(second), "--format", "json"]) == 0
    alone = json.loads(capsys.readouterr().out)["calls"]
    assert main(["calls", str(first), str(second), "--format", "json", "--copies"]) == 0
    with_copies = json.loads(capsys.readouterr().out)["calls"]
    assert sorted(c["call_id"] for c in alone) == ["m1", "m2", "m3"]
    assert [(c["call_id"], c["inherited"]) for c in with_copies if c.get("inherited")] == [("m1", True)]
    assert main(["calls", str(first), str(second), "--copies"]) == 0
    assert "1 inherited turn" in capsys.readouterr().out


def test_sums_per_session_are_no_calls_and_said_to_be_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    used = {"inputTokens": 100, "outputTokens": 9, "cacheCreationTokens": 20, "cacheReadTokens": 150}
    (tmp_path / "s1.settings.json").write_text(json.dumps({"model": "claude-sonnet-4-5", "tokenUsage": used}))
    (tmp_path / "s1.jsonl").write_text(json.dumps({"type": "session_start", "id": "s1", "version": 2}) + "\n")
    assert main(["calls", str(tmp_path), "--format", "json"]) == 3
    assert "only sums per session" in capsys.readouterr().err


def test_an_event_beside_sums_is_something_to_show(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def row(kind: str, second: int, **data: Any) -> str:
        return json.dumps({"type": kind, "data": data, "id": str(second), "timestamp": f"2026-03-01T10:00:{second:02}Z"})

    folder = tmp_path / "session-state" / "s1"
    folder.mkdir(parents=True)
    used = {"inputTokens": 60_000, "outputTokens": 900, "cacheReadTokens": 50_000, "cacheWriteTokens": 5_000}
    rows = [
        row("session.start", 0, sessionId="s1", version=1, producer="copilot-agent", copilotVersion="0.0.400"),
        row("user.message", 1, content="x"),
        row("assistant.message", 2, messageId="m", content="ok", outputTokens=40),
        row("session.compaction_complete", 5, success=True, preCompactionTokens=120_000, preCompactionMessagesLength=90),
        row("session.shutdown", 9, shutdownType="routine", modelMetrics={"m": {"requests": {"count": 3}, "usage": used}}),
    ]
    (folder / "events.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    assert main(["calls", str(tmp_path), "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["calls"] == [] and [event["recorded_before"] for event in told["events"]] == [120_000]
    assert main(["calls", str(tmp_path), "--format", "ndjson"]) == 3
