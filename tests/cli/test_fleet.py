"""`report` and `backtest` with --fleet: the same answers as without, from tables of any size."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from monitor.cli import main
from tests.fleet import help
from tests.fleet.tables import Made, make, write_csv, write_map, write_ndjson, write_parquet
from tests.sources.test_files import row as agent_row

pytest.importorskip("pyarrow", reason="the extra fleet is not installed")

NOW = 1_770_000_000_000


@pytest.fixture(autouse=True)
def _now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("monitor.cli.common.now_ms", lambda args=None: NOW)


@pytest.fixture(scope="module")
def made() -> Made:
    return make(25, seed=3)


@pytest.fixture
def table(made: Made, tmp_path: Path) -> list[str]:
    return [str(write_parquet(tmp_path / "t", made.rows, 4)), "--map", str(write_map(tmp_path))]


def run(capsys: pytest.CaptureFixture[str], *args: str, code: int = 0) -> tuple[str, str]:
    capsys.readouterr()
    assert main(list(args)) == code
    return tuple(capsys.readouterr())  # type: ignore[return-value]


def test_json_is_that_of_the_plain_report(table: list[str], made: Made, capsys: pytest.CaptureFixture[str]) -> None:
    plain = json.loads(run(capsys, "report", *table, "--format", "json")[0])
    found = json.loads(run(capsys, "report", *table, "--format", "json", "--fleet", "--buckets", "7")[0])
    help.same(plain, found)
    assert found["schema"] == "ctxmon.report/1"
    assert found["totals"]["prompt_tokens"] == made.ledger.prompt
    assert found["totals"]["calls"] == made.ledger.calls
    assert {session["session"] for session in found["sessions"]} == made.ledger.sessions
    assert sum(session["output_tokens"] for session in found["sessions"]) == made.ledger.output


def test_csv_is_that_of_the_plain_report(table: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    plain = run(capsys, "report", *table, "--format", "csv")[0]
    found = run(capsys, "report", *table, "--format", "csv", "--buckets", "3")[0]
    assert found == plain
    assert len(list(csv.reader(io.StringIO(found)))) == 1 + 25


def test_text_tells_the_sums(table: list[str], made: Made, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "report.txt"
    assert run(capsys, "report", *table, "--fleet", "-o", str(out))[0] == ""
    text = out.read_text(encoding="utf-8")
    ledger = made.ledger
    assert f"25 sessions · {ledger.calls:,} turns" in text
    assert f"{ledger.compactions} compactions (~{ledger.compactions})" in text
    assert "the 20 with the highest cost" in text
    for model in ("claude-sonnet-4-5", "gpt-5-codex", "a-model-nobody-priced"):
        assert model in text
    unpriced = sum(row["model"] == "a-model-nobody-priced" for row in made.rows)
    assert f"{unpriced:,} turns without a known price" in text
    assert f"{ledger.calls:,} rows read" in text
    assert "By day (UTC)" in text


def test_text_of_a_narrow_terminal(table: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    for line in run(capsys, "report", *table, "--fleet")[0].splitlines():
        assert len(line) <= 60


@pytest.mark.parametrize("write", [write_csv, write_ndjson])
def test_backtest_is_that_of_memory(write: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = make(6, seed=11, most=40).rows
    args = ["backtest", str(write(tmp_path / "t", rows, 2)), "--map", str(write_map(tmp_path)), "--no-suggestions"]
    plain = json.loads(run(capsys, *args, "--format", "json")[0])
    found = json.loads(run(capsys, *args, "--format", "json", "--fleet", "--buckets", "3")[0])
    help.same(plain, found)
    assert found["policies"][0]["sessions"] == 6
    first = run(capsys, *args)[0].splitlines()
    again = run(capsys, *args, "--fleet")[0].splitlines()
    assert again[: 2 + 1 + 1 + 7] == first[: 2 + 1 + 1 + 7]  # title, what it is, head, and the seven policies


def test_backtest_of_sizes_the_user_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = make(4, seed=2, most=30).rows
    args = ["backtest", str(write_csv(tmp_path / "t", rows, 1)), "--map", str(write_map(tmp_path)), "--no-suggestions",
            "--format", "json", "--keep-tokens", "5k"]  # fmt: skip
    help.same(json.loads(run(capsys, *args)[0]), json.loads(run(capsys, *args, "--fleet")[0]))


def test_one_session_and_a_span_of_time(table: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    args = ["report", *table, "--format", "json", "--session", "session-0003"]
    assert json.loads(run(capsys, *args, "--fleet")[0])["sessions"] == json.loads(run(capsys, *args)[0])["sessions"]
    args = ["report", *table, "--format", "json", "--since", "2026-01-03", "--model", "gpt*"]
    plain, found = json.loads(run(capsys, *args)[0]), json.loads(run(capsys, *args, "--fleet")[0])
    help.same(plain["totals"], found["totals"])
    assert found["totals"]["sessions"] > 0


def test_what_is_no_table_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "s.jsonl").write_bytes(agent_row(1) + agent_row(2))
    _, told = run(capsys, "report", str(logs), "--fleet", code=3)
    assert "read it without --fleet" in told
    assert "--fleet" in run(capsys, "report", "-", "--fleet", code=3)[1]
    rows = [{"id": n, "created_at": 1_783_407_600 + n, "type": 2, "token_name": "t", "model_name": "gpt-5", "quota": 1,
             "prompt_tokens": 9000 + n, "completion_tokens": 5, "other": "{}"} for n in range(4)]  # fmt: skip
    (logs / "gateway.json").write_text(json.dumps({"data": rows}), encoding="utf-8")
    out, told = run(capsys, "report", str(logs), "--fleet", "--format", "json")
    assert json.loads(out)["totals"]["prompt_tokens"] == sum(9000 + n for n in range(4))
    assert [problem["file"] for problem in json.loads(out)["problems"]] == [str(logs / "s.jsonl")]
    assert "read it without --fleet" in told


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["report", "--fleet"], "needs to be told what to read"),
        (["report", "x", "--fleet", "--format", "html"], "--fleet writes text, json, csv"),
        (["report", "x", "--workers", "2", "--scheduler", "tcp://h:1"], "give one of them"),
        (["report", "x", "--buckets", "100000"], "at most 512"),
        (["report", "x", "--fleet", "--tz", "Europe/Berlin"], "in UTC"),
        (["backtest", "--fleet"], "needs to be told what to read"),
        (["report", "x", "--workers", "0"], "whole number from 1"),
    ],
)
def test_options_that_do_not_go_together(args: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert sentence in run(capsys, *args, code=2)[1]


def test_missing_packages_are_named(
    table: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert "pip install '.[fleet]'" in run(capsys, "report", *table, "--workers", "2", code=1)[1]
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert "pip install '.[fleet]'" in run(capsys, "report", *table, "--fleet", code=1)[1]


def test_folders_that_cannot_be_used(table: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    none = str(tmp_path / "none")
    assert "--temp" in run(capsys, "report", *table, "--temp", none, code=1)[1]
    assert "cannot be written" in run(capsys, "report", *table, "--fleet", "-o", f"{none}/x.txt", code=1)[1]
    assert run(capsys, "report", none, "--fleet", code=3)[1].startswith(none)
