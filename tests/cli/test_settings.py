"""The user's settings file: options that need not be given again and again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from monitor.cli import main
from tests.dashboard.claude_log import write_log


@pytest.fixture
def log(tmp_path: Path) -> Path:
    file = tmp_path / "abc.jsonl"
    write_log(file, 12)  # prompts of 20,000 to 31,000 tokens
    return file


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    where = tmp_path / "settings"
    where.mkdir()
    monkeypatch.setenv("CTXMON_CONFIG_DIR", str(where))
    return where


def session(capsys: pytest.CaptureFixture[str], *args: str) -> dict[str, object]:
    assert main(["report", "--format", "json", "--no-cache", *args]) == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)["sessions"][0]
    return found


def test_options_stand_in_the_file(folder: Path, log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "config.toml").write_text('[defaults]\ncontext_limit = ["gpt-5*=400k", 50000]\n', encoding="utf-8")
    assert session(capsys, str(log))["context_limit"] == 50_000
    assert session(capsys, str(log), "--context-limit", "60k")["context_limit"] == 60_000, "the command line wins"


@pytest.mark.parametrize("value", ["50000", '"50k"', '["50k"]'])
def test_a_limit_is_a_number_a_text_or_a_list(
    value: str, folder: Path, log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "config.toml").write_text(f"[defaults]\ncontext_limit = {value}\n", encoding="utf-8")
    assert session(capsys, str(log))["context_limit"] == 50_000


def test_a_named_file_counts_alone(folder: Path, log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "config.toml").write_text("[defaults]\ncontext_limit = 50000\n", encoding="utf-8")
    other = tmp_path / "other.yaml"
    other.write_text("defaults:\n  context_limit: 70k\n", encoding="utf-8")
    assert session(capsys, str(log), "--config", str(other))["context_limit"] == 70_000


def test_files_are_beside_the_settings(folder: Path, log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "config.toml").write_text('[defaults]\nprices = "own.yaml"\n', encoding="utf-8")
    assert main(["report", str(log)]) == 2
    assert str(folder / "own.yaml") in capsys.readouterr().err


def test_the_threshold_of_advice(folder: Path, log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def threshold() -> object:
        assert main(["decide", "--format", "json", str(log)]) == 0
        return json.loads(capsys.readouterr().out)["signals"]["threshold"]

    assert threshold() == 100_000
    (folder / "config.toml").write_text("[defaults]\nthreshold = 25000\n", encoding="utf-8")
    assert threshold() == 25_000


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[defaults]\ntz = 1\n", "line 2: defaults.tz must be text"),
        ('[defaults]\n\ntimezone = "UTC"\n', "line 3: defaults.timezone is not known"),
        ("[defaults]\ncontext_limit = [true]\n", "line 2: defaults.context_limit must be a number, a text or a list"),
        ("[defaults\n", "line 1: is not valid TOML"),
    ],
)
def test_a_mistake_is_told_with_its_line(
    text: str, told: str, folder: Path, log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "config.toml").write_text(text, encoding="utf-8")
    assert main(["report", str(log)]) == 2
    out = capsys.readouterr()
    assert out.out == "" and str(folder / "config.toml") in out.err and told in out.err


def test_a_wrong_limit_is_told_with_its_file(folder: Path, log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "config.toml").write_text('[defaults]\ncontext_limit = "lots"\n', encoding="utf-8")
    assert main(["report", str(log)]) == 2
    err = capsys.readouterr().err
    assert str(folder / "config.toml") in err and "lots" in err and "200000, 1M" in err


def test_a_mistake_of_compact_disturbs_nothing_else(
    folder: Path, log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "config.toml").write_text("[compact]\nkeeep = 2\n", encoding="utf-8")
    assert main(["report", str(log)]) == 0
    capsys.readouterr()
    assert main(["compact", str(log), "--dry-run"]) == 2
    assert "did you mean keep" in capsys.readouterr().err
