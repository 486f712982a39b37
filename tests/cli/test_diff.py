"""``ctxmon diff``: two files, or the compactions an agent made itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from monitor.cli import main
from tests.compaction.stories import SUFFIX, build
from tests.compaction.story_data import STORIES


@pytest.mark.parametrize("fmt", ["openai-chat", "claude-code", "pi"])
def test_two_files(fmt: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / f"a{SUFFIX.get(fmt, '.json')}"
    source.write_bytes(build(STORIES["inventory-batch-ja"], fmt))
    out = tmp_path / f"b{source.suffix}"
    assert main(["compact", str(source), "-o", str(out), "-q"]) == 0
    assert main(["diff", str(source), str(out), "--format", "json"]) == 0
    body = json.loads(capsys.readouterr().out)
    assert body["schema"] == "ctxmon.diff/1"
    (made,) = body["compactions"]
    assert made["retention"]["constraints"]["lost"] == [] and made["invented"] == []
    assert made["kept_share"] > 0.95
    assert made["ratio"] == round(made["tokens_after"] / made["tokens_before"], 4)
    assert main(["diff", str(source), str(out)]) == 0
    assert "invented: nothing" in capsys.readouterr().out


@pytest.mark.parametrize("fmt", ["claude-code", "codex", "pi"])
def test_compactions_of_the_agent(fmt: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "s.jsonl"
    source.write_bytes(build(STORIES["rust-cli-en-de"], fmt))
    assert main(["diff", str(source)]) == 0
    text = capsys.readouterr().out
    assert "compaction 1, line " in text and "lost: " in text


def test_nothing_to_compare(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "s.json"
    source.write_bytes(build(STORIES["venue-research-en"], "openai-chat"))
    assert main(["diff", str(source)]) == 3
    assert "holds no compaction" in capsys.readouterr().err
    assert main(["diff", str(tmp_path / "none.json")]) == 3
    assert main(["diff", str(source), str(tmp_path / "none.json")]) == 3


@pytest.mark.parametrize("place", [0, 3, -1])
def test_records_whose_ids_are_no_text(place: int, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in build(STORIES["rust-cli-en-de"], "claude-code").splitlines()]
    rows[place]["uuid"] = {"a": 1}
    source = tmp_path / "s.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert main(["diff", str(source), "--format", "json"]) in (0, 3)
