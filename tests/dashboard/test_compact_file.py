"""The compactor of the dashboard on logs as Claude Code, Pi and Codex write them."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from monitor.dashboard.compact_file import FileCompactor, session_file, target_of
from monitor.dashboard.compactor import Preview
from monitor.sessions.view import SessionView
from tests.dashboard.fake import turn, view

LOGS = Path(__file__).resolve().parents[2] / "sample_logs"
RULE = "Never change the numbers of old vouchers."


def _session(path: Path | str) -> SessionView:
    """A view whose newest call stands in a file."""
    return view([turn(0, 40_000, 38_000, file=str(path))])


@pytest.fixture
def copy(tmp_path: Path) -> Callable[[str], Path]:
    """Copies a sample log into an empty folder."""

    def made(pattern: str) -> Path:
        source = next(LOGS.glob(pattern))
        return Path(shutil.copy(source, tmp_path / source.name))

    return made


@pytest.fixture
def compactor(tmp_path: Path) -> FileCompactor:
    """With settings of its own, whoever runs the test."""
    (tmp_path / "settings").mkdir()
    path = tmp_path / "settings" / "config.toml"
    path.write_text("[compact]\nsummary_tokens = 4000\n", encoding="utf-8")
    return FileCompactor(path, child=False)


CLAUDE, PI, CODEX = "claude-code/projects/*/*.jsonl", "pi/sessions/*/*.jsonl", "codex/sessions/*/*/*/*.jsonl"


@pytest.mark.parametrize(("pattern", "rule"), [(CLAUDE, "Do not change the public interface of pay.py."), (PI, RULE)])
def test_a_session_is_shown_then_written_beside(
    copy: Callable[[str], Path], compactor: FileCompactor, pattern: str, rule: str
) -> None:
    path = copy(pattern)
    before = path.read_bytes()
    shown = compactor.preview(_session(path))
    assert not shown.blocked and not list(path.parent.glob("*.compact.*"))
    assert rule in shown.rules
    assert shown.tokens_before and shown.tokens_after and shown.tokens_after < 0.5 * shown.tokens_before
    assert sum(amount for _part, amount, _after in shown.parts) == shown.tokens_before
    assert sum(amount for _part, _before, amount in shown.parts) == shown.tokens_after
    # every message is accounted for: gone or kept; the summary comes once
    signs = [change.sign for change in shown.changes]
    assert signs.count("+") == 1
    assert len(signs) - 1 == shown.messages_before
    assert signs.count("~") + signs.count(" ") + 1 == shown.messages_after
    assert signs.index("+") < signs.index(" ")
    assert {name for name, _text in shown.sections} >= {"Goal", "Progress", "Facts"}
    kept = {one.kind: (one.kept, one.total) for one in shown.retention}
    assert kept["constraints"][0] == kept["constraints"][1] == len(shown.rules)

    target = compactor.write(shown)
    assert target == path.with_name(f"{path.stem}.compact.jsonl")
    assert target.read_bytes() == shown.result
    assert path.read_bytes() == before
    assert sorted(one.name for one in path.parent.iterdir() if one.is_file()) == sorted([path.name, target.name])


def test_a_preview_in_a_process_of_its_own_is_the_same(
    copy: Callable[[str], Path], compactor: FileCompactor, tmp_path: Path
) -> None:
    path = copy(PI)
    own = FileCompactor(tmp_path / "settings" / "config.toml")
    assert own.preview(_session(path)) == compactor.preview(_session(path))
    (tmp_path / "empty.json").write_text("", encoding="utf-8")
    with pytest.raises(ValueError, match="is empty"):
        own.preview_file(tmp_path / "empty.json")


def test_what_is_written_is_a_session_that_can_be_compacted_or_opened_again(
    copy: Callable[[str], Path], compactor: FileCompactor
) -> None:
    written = compactor.write(compactor.preview(_session(copy(PI))))
    with pytest.raises(ValueError, match=r"nothing to fold|more than 90%"):
        compactor.preview_file(written)


def test_a_file_that_is_there_is_never_overwritten(copy: Callable[[str], Path], compactor: FileCompactor) -> None:
    path = copy(PI)
    target = path.with_name(f"{path.stem}.compact.jsonl")
    target.write_text("mine", encoding="utf-8")
    shown = compactor.preview(_session(path))
    assert target.name in shown.blocked
    with pytest.raises(ValueError, match="not overwritten"):
        compactor.write(shown)
    target.unlink()
    shown = compactor.preview(_session(path))
    target.write_text("mine", encoding="utf-8")  # between the preview and the answer
    with pytest.raises(ValueError, match="exists already"):
        compactor.write(shown)
    assert target.read_text(encoding="utf-8") == "mine"


def test_a_session_that_grew_meanwhile_is_not_written(copy: Callable[[str], Path], compactor: FileCompactor) -> None:
    path = copy(PI)
    shown = compactor.preview(_session(path))
    with path.open("a", encoding="utf-8") as out:
        out.write("{}\n")
    with pytest.raises(ValueError, match="changed while it was compacted"):
        compactor.write(shown)
    assert not list(path.parent.glob("*.compact*"))


def test_a_prompt_that_is_mostly_tools_says_why(copy: Callable[[str], Path], compactor: FileCompactor) -> None:
    with pytest.raises(ValueError, match="system prompt and tools alone are more than half"):
        compactor.preview(_session(copy(CODEX)))


def test_a_rollout_of_codex(tmp_path: Path, compactor: FileCompactor) -> None:
    def item(number: int, **payload: object) -> dict[str, object]:
        return {"timestamp": f"2026-06-02T10:{number:02d}:00.000Z", "type": "response_item", "payload": payload}

    rows: list[dict[str, object]] = [
        {"timestamp": "2026-06-02T10:00:00.000Z", "type": "session_meta",
         "payload": {"id": "0199a213-81c0-7800-8aa1-bbab2a035a53", "timestamp": "2026-06-02T10:00:00.000Z", "cwd": "/home/d/shop",
                     "originator": "codex_cli_rs", "cli_version": "0.58.0"}},
    ]  # fmt: skip
    for number in range(12):
        text = f"Look at part {number}." + (" Always keep the public names." if not number else "")
        rows.append(item(number, type="message", role="user", content=[{"type": "input_text", "text": text}]))
        call = {"name": "shell", "arguments": '{"command":["cat","part.py"]}', "call_id": f"call_{number}"}
        rows.append(item(number, type="function_call", **call))
        output = f"line of part {number}\n" * 300
        rows.append(item(number, type="function_call_output", call_id=f"call_{number}", output=output))
        said = [{"type": "output_text", "text": f"Part {number} is as it should be."}]
        rows.append(item(number, type="message", role="assistant", content=said))
    path = tmp_path / "rollout-2026-06-02.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    shown = compactor.preview(_session(path))
    assert shown.rules == ("Always keep the public names.",)
    assert {change.who for change in shown.changes} >= {"user", "assistant", "result shell", "summary"}
    written = compactor.write(shown)
    kinds = [json.loads(line)["type"] for line in written.read_text(encoding="utf-8").splitlines()]
    assert kinds[0] == "session_meta" and "compacted" in kinds


def test_an_exported_conversation_by_its_path(tmp_path: Path, compactor: FileCompactor) -> None:
    messages = []
    for number in range(12):
        messages.append(
            {"role": "user", "content": f"Step {number}. " + ("Never touch main.go. " if not number else "")}
        )
        messages.append({"role": "assistant", "content": f"Step {number} is done. " + "It took a while. " * 80})
    path = tmp_path / "chat.json"
    path.write_text(json.dumps({"model": "m", "messages": messages}), encoding="utf-8")
    shown = compactor.preview_file(path)
    assert shown.rules == ("Never touch main.go.",)
    assert shown.messages_before == 24
    written = json.loads(compactor.write(shown).read_text(encoding="utf-8"))
    assert len(written["messages"]) == shown.messages_after
    packed = tmp_path / "chat.json.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert target_of(packed) == tmp_path / "chat.compact.json"
    assert "chat.compact.json" in compactor.preview_file(packed).blocked


def test_what_cannot_be_compacted_says_why(tmp_path: Path, compactor: FileCompactor) -> None:
    cases: list[tuple[str, str]] = [("", "is empty"), ('{"a": 1}', "holds no messages: session files of Claude Code")]
    for number, (text, why) in enumerate(cases):
        path = tmp_path / f"{number}.json"
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ValueError, match=why):
            compactor.preview(_session(path))
    with pytest.raises(ValueError, match="not there any more"):
        compactor.preview(_session(tmp_path / "gone.jsonl"))
    with pytest.raises(ValueError, match="is a folder"):
        compactor.preview_file(tmp_path)
    with pytest.raises(ValueError, match="cannot be read"):
        compactor.preview_file(tmp_path / "gone.jsonl")
    for name, why in (("stdin", "piped in"), ("https://h/api", "address")):
        with pytest.raises(ValueError, match=why):
            session_file(_session(name))


def test_a_recording_of_requests_is_no_session_file_but_may_be_opened(tmp_path: Path, compactor: FileCompactor) -> None:
    messages = [
        {"role": role, "content": f"{role} {number} " + "word " * 400}
        for number in range(10)
        for role in ("user", "assistant")
    ] + [{"role": "user", "content": "Go on."}]
    row = {"request": {"url": "https://api.openai.com/v1/chat/completions", "body": {"model": "m", "messages": messages}},
           "response": {"body": {"id": "c1", "usage": {"prompt_tokens": 9_000, "completion_tokens": 5}}}}  # fmt: skip
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    with pytest.raises(ValueError, match="no session file"):
        compactor.preview(_session(path))
    assert isinstance(compactor.preview_file(path), Preview)


def test_settings_hold_but_no_model_is_ever_asked(copy: Callable[[str], Path], tmp_path: Path) -> None:
    config = tmp_path / "own.toml"
    config.write_text(
        '[llm]\nbase_url = "http://127.0.0.1:9/v1"\nsummary_model = "m"\n[compact]\nkeep = 1\nstrategy = "notes"\n',
        encoding="utf-8",
    )
    path = copy(PI)
    shown = FileCompactor(config, child=False).preview(_session(path))
    assert shown.stays.startswith("1 exchange (")
    assert any("without a model" in warning for warning in shown.warnings)
    config.write_text("[compact]\nkepe = 1\n", encoding="utf-8")
    with pytest.raises(ValueError, match="did you mean keep"):
        FileCompactor(config, child=False).preview(_session(path))
