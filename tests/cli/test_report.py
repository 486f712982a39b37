"""`ctxmon report`: formats, output files, zones, exit codes."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path

import pytest

from monitor.cli import main
from monitor.decision.model import ACTION_WORDS
from tests.dashboard.claude_log import write_log

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    file = tmp_path / "abc.jsonl"
    write_log(file, 12)
    return file


@pytest.mark.parametrize("form", ["text", "json", "csv", "html", "md"])
def test_every_format_says_the_same(form: str, log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(log), "--format", form]) == 0
    out = capsys.readouterr().out
    want = {"text": "31.0k", "json": '"peak_prompt_tokens":31000', "csv": ",31000,", "html": "31,000", "md": "31.0k"}
    assert want[form] in out  # the last of 12 prompts that begin at 20,000 and grow by 1,000


@pytest.mark.parametrize("form", ["text", "json", "csv", "html", "md"])
def test_an_output_file_is_whole_and_stdout_empty(form: str, log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = log.parent / "out" / f"report.{form}"
    out.parent.mkdir()
    assert main(["report", str(log), "--format", form, "-o", str(out)]) == 0
    assert capsys.readouterr().out == ""
    assert out.read_text(encoding="utf-8").strip()
    assert [file.name for file in out.parent.iterdir()] == [out.name]


def test_an_output_that_cannot_be_written_is_told(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = log.parent / "no" / "such" / "folder.html"
    assert main(["report", str(log), "--format", "html", "-o", str(target)]) == 1
    err = capsys.readouterr().err
    assert "folder.html" in err
    assert len(err.strip().splitlines()) == 1


@pytest.mark.parametrize("command", ["report", "calls"])
def test_a_wrong_zone_is_one_sentence(command: str, log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, str(log), "--tz", "Mars/Base"]) == 2
    done = capsys.readouterr()
    assert done.out == ""
    assert done.err.strip() == (
        f"ctxmon {command}: --tz Mars/Base: there is no such time zone here (e.g. Europe/Berlin, +02:00, UTC)"
    )


def test_a_zone_moves_what_people_read_and_not_the_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from datetime import UTC, datetime

    log = tmp_path / "abc.jsonl"
    write_log(log, 3, datetime(2026, 4, 10, 22, 30, tzinfo=UTC))
    assert main(["report", str(log), "--tz", "Asia/Tokyo"]) == 0
    assert "2026-04-11 07:30" in capsys.readouterr().out
    assert main(["report", str(log), "--format", "json", "--tz", "Asia/Tokyo"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["sessions"][0]["first"] == "2026-04-10T22:30:00.000Z"
    assert [row["date"] for row in told["by_day"]] == ["2026-04-10"]


@pytest.mark.parametrize("form", ["text", "json", "csv", "html", "md"])
def test_nothing_usable_is_3_and_still_a_whole_answer(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    assert main(["report", str(empty), "--format", form]) == 3
    done = capsys.readouterr()
    assert done.out.strip()
    assert "the file is empty" in done.err
    if form == "json":
        assert json.loads(done.out)["sessions"] == []
    if form == "html":
        assert done.out.rstrip().endswith("</html>")


def test_the_page_of_a_short_history_holds_a_backtest(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(log), "--format", "html"]) == 0
    assert '<section id="backtest"' in capsys.readouterr().out


def test_a_long_history_says_where_the_backtest_is_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "abc.jsonl"
    write_log(log, 1_100)
    assert main(["report", str(log), "--format", "html"]) == 0
    assert "`ctxmon backtest PATH` replays any number" in capsys.readouterr().out


def test_lists_advise_what_the_full_decision_advises(capsys: pytest.CaptureFixture[str]) -> None:
    """A list asks for what is advised alone, which is made without reasons and costs."""

    def report(form: str) -> str:
        assert main(["report", str(ROOT / "sample_logs"), "--format", form]) == 0
        return capsys.readouterr().out

    full = {one["session"]: one["decision"]["action"] for one in json.loads(report("json"))["sessions"]}
    rows = list(csv.DictReader(report("csv").splitlines()))
    assert {row["session"]: row["decision"] for row in rows} == full
    assert len(set(full.values())) > 1
    texts, pages = report("text").splitlines(), report("md").splitlines()
    for session, action in list(full.items()):
        for lines in (texts, pages):
            assert any(session[:8] in line and ACTION_WORDS[action] in line for line in lines), (session, action)


@pytest.mark.skipif(os.name != "posix", reason="names of other encodings exist on POSIX file systems")
@pytest.mark.parametrize("form", ["text", "json", "csv", "html", "md"])
def test_a_file_whose_name_is_no_unicode(form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / os.fsdecode(b"caf\xe9.jsonl")
    try:
        write_log(log, 2)
    except OSError:
        pytest.skip("this file system takes no such names")
    with log.open("a", encoding="utf-8") as out:
        out.write("{broken\n{}\n")
    target = tmp_path / "out.txt"
    assert main(["report", str(log), "--format", form, "-o", str(target), "-q"]) == 0
    assert target.read_text(encoding="utf-8").strip()


def test_a_fault_inside_a_decision_is_not_taken_for_a_session_without_one(
    log: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyError("no such signal")

    monkeypatch.setattr("monitor.decision.decide", broken)
    assert main(["report", str(log)]) == 1
    assert "a fault of the program (KeyError" in capsys.readouterr().err
