"""`ctxmon doctor`: what was found and what could not be read, file by file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from monitor.cli import main
from tests.dashboard.claude_log import write_log


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    write_log(tmp_path / "good.jsonl", 4)
    with (tmp_path / "good.jsonl").open("a", encoding="utf-8") as out:
        out.write("{broken\n{}\n")
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "table.csv").write_text("when,tokens\n2026-01-01,5\n", encoding="utf-8")
    return tmp_path


def test_text(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", str(logs)]) == 0
    done = capsys.readouterr()
    assert done.err == ""
    words = " ".join(done.out.split())
    assert "3 files · 1 session" in words
    assert "good.jsonl Claude Code session, sure 0." in words
    assert "4 calls · 1 problem" in words
    assert "1 × the file is empty → leave it out, or wait" in words
    assert "ctxmon doctor --suggest-map FILE" in words


def test_json(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", str(logs), "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["schema"] == "ctxmon.doctor/1"
    assert told["sessions"] == 1
    by_name = {Path(file["file"]).name: file for file in told["files"]}
    good = by_name["good.jsonl"]
    assert (good["source"], good["calls"], good["problems"], good["duplicates"]) == ("claude-code", 4, 1, 0)
    assert good["problem_kinds"][0]["lines"] == [5]
    assert by_name["empty.jsonl"]["source"] is None
    assert {p["reason"] for p in told["problems"]} >= {"the file is empty"}


def test_nothing_usable_is_3(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", str(tmp_path / "gone")]) == 3
    out = capsys.readouterr().out
    assert "there is no such file" in out
    assert "No calls were found" in out


def test_a_map_is_proposed_for_a_table(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = logs / "usage.csv"
    table.write_text("created_at,model_name,prompt_tokens,completion_tokens\n1767261600,m,100,7\n", encoding="utf-8")
    assert main(["doctor", "--suggest-map", str(table)]) == 0
    proposed = logs / "map.yaml"
    proposed.write_text(capsys.readouterr().out, encoding="utf-8")
    assert main(["calls", str(table), "--map", str(proposed), "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)["calls"]
    assert [(c["prompt_tokens"], c["output_tokens"]) for c in told] == [(100, 7)]


def test_no_map_for_what_is_no_table(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("empty.jsonl", "gone.csv"):
        assert main(["doctor", "--suggest-map", str(logs / name)]) == 3
        err = capsys.readouterr().err
        assert name in err
        assert len(err.strip().splitlines()) == 1
