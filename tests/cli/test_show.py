"""``ctxmon show``: the history read back, folded parts included."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from monitor.cli import main
from tests.conversation import build


@pytest.fixture
def session(tmp_path: Path) -> Path:
    rows = build.claude_code()
    rows[5]["message"]["content"][0]["content"] = "DB_PASSWORD=hunterhunter\n1 failed in test_login"
    rows += [
        {"type": "system", "subtype": "compact_boundary", "parentUuid": None, "uuid": "b1", "sessionId": "s1"},
        build.cc("u21", "b1", "user", "what was done", isCompactSummary=True),
        build.cc("u22", "u21", "user", "Go on."),
    ]
    file = tmp_path / "s.jsonl"
    file.write_bytes(build.jsonl(rows))
    return file


def out(capsys: pytest.CaptureFixture[str], *args: Any) -> str:
    assert main(["show", *map(str, args)]) == 0
    return capsys.readouterr().out


def test_outline(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = out(capsys, session).splitlines()
    assert lines[0].endswith("claude-code, 11 messages, 2 of them in the next request")
    assert lines[1] == "line 2, exchange 1, user: Run the tests."
    assert lines[-2] == "line 12, exchange 2, summary: what was done"


def test_an_exchange_that_was_folded(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = out(capsys, session, "--exchange", 1)
    assert "Run the tests." in text
    assert "1 failed in test_login" in text
    assert "Fix it." not in text


def test_a_call_with_its_results(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = out(capsys, session, "--call", 0)
    assert [x for x in text.splitlines() if x.startswith("---")] == [
        f"--- line {n}, exchange 1, {who}"
        for n, who in ((3, "assistant"), (4, "assistant"), (5, "assistant"), (6, "tool"), (7, "tool"))
    ]
    assert "Done." in out(capsys, session, "--call", 2)


def test_search_in_results_whatever_the_case(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        out(capsys, session, "--search", "TEST_LOGIN") == "line 6, exchange 1, tool, result: 1 failed in test_login\n"
    )
    assert out(capsys, session, "--search", "nowhere") == ""


def test_secrets_are_shown_only_on_request(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "hunterhunter" not in out(capsys, session, "--line", 6)
    assert "hunterhunter" in out(capsys, session, "--line", 6, "--raw")


def test_json_and_last(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parts = json.loads(out(capsys, session, "--last", 1, "--format", "json"))
    assert parts == [
        {
            "where": "line 13",
            "line": 13,
            "exchange": 3,
            "role": "user",
            "summary": False,
            "parts": [{"kind": "text", "text": "Go on."}],
        }
    ]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--exchange", "9"], "there is no exchange 9; it has 3"),
        (["--call", "9"], "there is no call 9; it has 3, counted from 0"),
        (["--line", "1"], "line 1 holds no message"),
    ],
)
def test_parts_that_are_not_there(
    session: Path, capsys: pytest.CaptureFixture[str], args: list[str], words: str
) -> None:
    assert main(["show", str(session), *args]) == 2
    assert words in capsys.readouterr().err


def test_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(tmp_path / "none")]) == 3
    assert "cannot be read" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["show"], ["check"], ["diff"], ["compact", "--dry-run"]])
def test_a_folder_is_told_as_one(command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command, str(tmp_path)]) == 3
    assert "is a folder; name one conversation or session file" in capsys.readouterr().err


def test_stdin(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    class Stdin:
        buffer = io.BytesIO(build.doc(build.chat()))

    monkeypatch.setattr("sys.stdin", Stdin)
    assert "Now the docs." in out(capsys, "-", "--exchange", 2)
