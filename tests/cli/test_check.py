"""``ctxmon check``: exit codes, JSON, repaired copies, sentences."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from monitor.cli import main
from tests.conversation import build


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    messages = build.chat()
    messages.pop(3)
    file = tmp_path / "chat.json"
    file.write_bytes(build.doc(messages))
    return file


def test_a_valid_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "chat.json"
    file.write_bytes(build.doc(build.chat()))
    assert main(["check", str(file)]) == 0
    assert capsys.readouterr().out.endswith("openai-chat, 10 messages, valid\n")


def test_violations_with_place_and_repair(broken: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(broken)]) == 3
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith("C2-unanswered-call  messages[2]  call c2 has no tool message before messages[4]  -> ")
    assert out[-1].endswith("openai-chat, 9 messages, 1 violation")


def test_json(broken: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(broken), "--format", "json"]) == 3
    out = json.loads(capsys.readouterr().out)
    assert out["schema"] == "ctxmon.check/1"
    assert (out["format"], out["provider"]) == ("openai-chat", "openai-chat")
    assert [sorted(v) for v in out["violations"]] == [["code", "message", "repair", "where"]]
    assert out["violations"][0]["code"] == "C2-unanswered-call"


def test_a_repaired_copy(broken: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = broken.read_bytes()
    out = broken.with_name("mended.json")
    assert main(["check", str(broken), "--repair", "-o", str(out)]) == 0
    said = capsys.readouterr().out
    assert "repaired: messages[2]: call c2 answered with '[no result recorded]'" in said
    assert "0 violations left" in said
    assert broken.read_bytes() == before
    assert main(["check", str(out)]) == 0
    assert main(["check", str(broken), "--repair", "-o", str(out)]) == 1
    assert "exists already" in capsys.readouterr().err
    assert main(["check", str(broken), "--repair", "-o", str(out), "--force"]) == 0
    assert main(["check", str(broken), "--repair", "-o", str(broken), "--force"]) == 1
    assert broken.read_bytes() == before
    assert main(["check", str(broken), "--repair"]) == 0
    assert broken.with_name("chat.repaired.json").exists()


def test_what_cannot_be_repaired_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "chat.json"
    file.write_bytes(build.doc(build.chat()[:1]))
    assert main(["check", str(file), "--repair", "--format", "json"]) == 3
    out = json.loads(capsys.readouterr().out)
    assert out["repaired"]["path"] is None
    assert [v["code"] for v in out["repaired"]["violations"]] == ["no-user-message"]
    assert list(tmp_path.iterdir()) == [file]


def test_unreadable_content_is_a_violation_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "chat.json"
    file.write_bytes(b"not json")
    assert main(["check", str(file), "--format", "json"]) == 3
    out = json.loads(capsys.readouterr().out)
    assert [v["code"] for v in out["violations"]] == ["parse"]
    assert out["format"] is None


def test_no_file_and_wrong_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(tmp_path / "none.json")]) == 3
    assert "cannot be read" in capsys.readouterr().err
    file = tmp_path / "chat.json"
    file.write_bytes(build.doc(build.chat()))
    assert main(["check", str(file), "-o", "x"]) == 2
    assert main(["check", str(file), "--max-bytes", "0"]) == 2


def test_options_reach_the_rules(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "chat.json"
    file.write_bytes(build.doc([{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]))
    assert main(["check", str(file)]) == 0
    assert main(["check", str(file), "--strict-roles"]) == 3
    assert main(["check", str(file), "--max-bytes", "10"]) == 3
    assert main(["check", str(file), "--provider", "anthropic"]) == 0
    body = build.anthropic()
    del body["tools"]
    file.write_bytes(build.doc(body))
    assert main(["check", str(file)]) == 0
    assert main(["check", str(file), "--bedrock"]) == 3
    assert "A9-no-tools" in capsys.readouterr().out


def test_a_capture_names_the_request_it_took(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = build.anthropic()
    del body["messages"][2]
    entries = [
        {"request": {"url": "https://h/v1/messages", "postData": {"text": json.dumps(b)}}}
        for b in (build.anthropic(), body)
    ]
    file = tmp_path / "x.har"
    file.write_bytes(build.doc({"log": {"entries": entries}}))
    assert main(["check", str(file)]) == 3
    assert "request 1 taken of 2" in capsys.readouterr().err
    assert main(["check", str(file), "--call", "0"]) == 0
