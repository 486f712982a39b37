"""Exit codes, sentences instead of traces, JSON of calls."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from monitor._version import __version__
from monitor.cli import COMMANDS, main
from monitor.cli.common import CommandError, limits, moment
from tests.sources.test_files import row


@pytest.fixture
def log(tmp_path: Path) -> Path:
    file = tmp_path / "s.jsonl"
    file.write_bytes(row(1) + row(2))
    return file


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    assert all(f"  {name}" in out for name in COMMANDS)


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"ctxmon {__version__}\n"


def test_every_command_has_help(capsys: pytest.CaptureFixture[str]) -> None:
    for name in COMMANDS:
        assert main([name, "--help"]) == 0, name
        assert f"ctxmon {name}" in capsys.readouterr().out


def test_wrong_usage_is_2(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["calls", "--format", "xml"]) == 2
    assert main(["calls", str(log), "--source", "nonsense"]) == 2
    assert main(["calls", str(log), "--since", "yesterday"]) == 2
    assert main(["calls", str(log), "--context-limit", "many"]) == 2
    err = capsys.readouterr().err
    assert "nonsense" in err
    assert "7d" in err
    assert "Traceback" not in err


def test_calls_as_json(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["calls", str(log), "--format", "json"]) == 0
    body = json.loads(capsys.readouterr().out)
    assert body["schema"] == "ctxmon.calls/1"
    assert [call["prompt_tokens"] for call in body["calls"]] == [1, 2]
    assert body["calls"][0]["time"] == "2026-04-10T08:00:01.000Z"
    assert body["calls"][0]["status"] == "ok"


def test_csv_and_ndjson_hold_the_same(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["calls", str(log), "--format", "ndjson"]) == 0
    rows = [json.loads(text) for text in capsys.readouterr().out.splitlines()]
    assert main(["calls", str(log), "--format", "csv"]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    place = head.split(",").index("prompt_tokens")
    assert [int(text.split(",")[place]) for text in lines] == [r["prompt_tokens"] for r in rows]


def test_nothing_usable_is_3_and_the_others_still_count(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = tmp_path / "missing.jsonl"
    assert main(["calls", str(missing), "--format", "json"]) == 3
    assert "missing.jsonl" in capsys.readouterr().err
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    assert main(["calls", str(missing), str(empty), str(log), "--format", "json"]) == 0
    done = capsys.readouterr()
    assert len(json.loads(done.out)["problems"]) == 2
    assert "there is no such file" in done.err
    assert "the file is empty" in done.err


def test_output_file_is_moved_into_place(log: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    assert main(["calls", str(log), "--format", "json", "-o", str(out)]) == 0
    assert len(json.loads(out.read_text(encoding="utf-8"))["calls"]) == 2
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out.json", "s.jsonl"]
    assert main(["calls", str(log), "--format", "json", "-o", str(tmp_path / "no" / "out.json")]) == 1


def test_parquet_needs_a_file(log: Path, tmp_path: Path) -> None:
    assert main(["calls", str(log), "--format", "parquet"]) == 2
    pyarrow = pytest.importorskip("pyarrow.parquet")
    out = tmp_path / "calls.parquet"
    assert main(["calls", str(log), "--format", "parquet", "-o", str(out)]) == 0
    assert pyarrow.read_table(out).column("prompt_tokens").to_pylist() == [1, 2]


def test_times_and_limits_as_people_write_them() -> None:
    now = 1_775_808_000_000
    assert moment("2h", now, "--since") == now - 7_200_000
    assert moment("2026-04-10", now, "--since") == 1_775_779_200_000
    assert limits(["200k", "gpt-5*=1M"]) == {"*": 200_000, "gpt-5*": 1_000_000}
    with pytest.raises(CommandError):
        limits(["-5"])
