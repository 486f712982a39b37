"""What a context is made of. A word of these texts is one token of o200k: "word word word" are three."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from monitor.conversation import load as load_conversation
from monitor.conversation.tokens import IMAGE_TOKENS, MESSAGE_TOKENS, count, estimated
from monitor.sessions.calibration import calibrate, family_factor, whole
from monitor.sessions.composition import compose, composition, examine
from monitor.sessions.load import Request, load
from monitor.sessions.view import SessionView
from tests.readers.exchange_samples import anthropic_reply, anthropic_request

pytestmark = pytest.mark.skipif(estimated(), reason="no tokenizer here: texts are counted by script")


def words(number: int) -> str:
    return " ".join(["word"] * number)


class Log:
    """A Claude Code session file, line by line; ``prompt`` is what the provider counts of everything so far."""

    def __init__(self, factor: float = 2.0, outside: int = 5_000) -> None:
        self.lines: list[dict[str, Any]] = []
        self.counted = 0
        self.factor, self.outside = factor, outside
        self.answers = 0

    def _line(self, kind: str, message: dict[str, Any], **more: Any) -> None:
        number = len(self.lines)
        stamp = f"2026-02-03T10:{number // 60:02d}:{number % 60:02d}.000Z"
        parent = f"u{number - 1}" if number else None
        self.lines.append({"type": kind, "uuid": f"u{number}", "parentUuid": parent, "sessionId": "s1",
                           "timestamp": stamp, "cwd": "/x", "version": "2.1.0", "message": message, **more})  # fmt: skip

    def user(self, number: int, **more: Any) -> None:
        self._line("user", {"role": "user", "content": words(number)}, **more)
        self.counted += number + MESSAGE_TOKENS

    def call(self, tool: str, result: int | str, **arguments: Any) -> None:
        """One API call: a tool call and its result of so many words."""
        self.answers += 1
        prompt = round(self.outside + self.factor * self.counted)
        usage = {"input_tokens": 5, "cache_read_input_tokens": 0, "cache_creation_input_tokens": prompt - 5,
                 "output_tokens": 20}  # fmt: skip
        use = {"type": "tool_use", "id": f"t{self.answers}", "name": tool, "input": arguments}
        self._line("assistant", {"id": f"m{self.answers}", "role": "assistant", "model": "claude-sonnet-4-5",
                                 "content": [use], "usage": usage, "stop_reason": "tool_use"})  # fmt: skip
        self.counted += count(tool) + count(json.dumps(arguments)) + MESSAGE_TOKENS
        text = words(result) if isinstance(result, int) else result
        block = {"type": "tool_result", "tool_use_id": f"t{self.answers}", "content": text, "is_error": result == "no"}
        self._line("user", {"role": "user", "content": [block]})
        self.counted += count(text) + MESSAGE_TOKENS

    def write(self, folder: Path) -> Path:
        path = folder / "s1.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in self.lines), encoding="utf-8")
        return path


def view_of(path: Path) -> SessionView:
    (found,) = load(Request(paths=[str(path)], cache=False)).sessions
    return found


def named(parts: Any) -> dict[str, int]:
    return {part.name: part.tokens for part in parts}


def test_parts_are_scaled_to_the_providers_counts(tmp_path: Path) -> None:
    log = Log(factor=1.5, outside=9_000)
    log.user(100)
    for _ in range(8):
        log.call("Bash", 500, command="ls")
    found = examine(view_of(log.write(tmp_path)))
    assert found is not None
    assert found.calibration.measured
    assert found.calibration.factor == pytest.approx(1.5, abs=0.001)
    parts = named(found.parts)
    assert parts["not in the log"] == pytest.approx(9_000, abs=3)
    assert parts["user"] == 1.5 * (100 + MESSAGE_TOKENS)
    # the last call had seen seven of the eight results
    assert parts["results: Bash"] == 1.5 * 7 * (500 + MESSAGE_TOKENS)
    assert found.residual == pytest.approx(0, abs=5)
    assert found.prompt_tokens == sum(parts.values()) + (found.residual or 0)
    assert all(part.estimated for part in found.parts)


def test_what_grew_since_the_first_call(tmp_path: Path) -> None:
    log = Log()
    log.user(300)
    for size in (400, 500, 600, 700, 800, 900, 1_000):
        log.call("Grep", size, pattern="x")
    log.user(50)
    log.call("Read", 10, file_path="a.py")
    found = examine(view_of(log.write(tmp_path)))
    assert found is not None and found.grown is not None
    grown = named(found.grown)
    assert grown["results: Grep"] == 2 * (4_900 + 7 * MESSAGE_TOKENS)
    assert grown["user"] == 2 * (50 + MESSAGE_TOKENS)  # not the message that opened it


def test_only_the_window_since_the_compaction_counts(tmp_path: Path) -> None:
    log = Log()
    log.user(100)
    for _ in range(4):
        log.call("Bash", 2_000, command="ls")
    log._line("system", {}, subtype="compact_boundary", compactMetadata={"trigger": "auto", "preTokens": 21_000})
    log.lines[-1]["parentUuid"] = None
    log.counted = 0
    log.user(700, isCompactSummary=True)
    for _ in range(7):
        log.call("Bash", 600, command="ls")
    found = examine(view_of(log.write(tmp_path)))
    assert found is not None
    parts = named(found.parts)
    assert parts["summary"] == 2 * (700 + MESSAGE_TOKENS)
    assert parts["results: Bash"] == 2 * 6 * (600 + MESSAGE_TOKENS)
    assert parts["not in the log"] == pytest.approx(5_000, abs=3)


def test_stale_and_superseded_reads(tmp_path: Path) -> None:
    log = Log(factor=1.0)
    log.user(10)
    log.call("Read", 1_000, file_path="/x/a.py")  # edited below: stale
    log.call("Read", 400, file_path="/x/b.py")  # read again below: superseded
    log.call("Read", 300, file_path="/x/c.py", offset=1, limit=50)  # another part is read below: neither
    log.call("Edit", 5, file_path="/x/a.py", old_string="x", new_string="y")
    log.call("Read", 400, file_path="/x/b.py")
    log.call("Read", 300, file_path="/x/c.py", offset=51, limit=50)
    log.call("Read", 200, file_path="/x/d.py")  # the edit below failed: not stale
    log.call("Edit", "no", file_path="/x/d.py", old_string="x", new_string="y")
    log.call("Bash", 1, command="true")
    found = examine(view_of(log.write(tmp_path)))
    assert found is not None
    assert (found.read_tokens, found.stale_tokens, found.superseded_tokens) == (2_600, 1_000, 400)


def test_images_thinking_and_client_texts(tmp_path: Path) -> None:
    old = {"type": "thinking", "thinking": words(900), "signature": "x"}
    new = {"type": "thinking", "thinking": words(30), "signature": "x"}
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    body = {
        "model": "claude-sonnet-4-5", "max_tokens": 10, "system": words(60),
        "tools": [{"name": "Bash", "input_schema": {"type": "object"}}],
        "messages": [
            {"role": "user", "content": words(20)},
            {"role": "assistant", "content": [old, {"type": "text", "text": words(7)}]},
            {"role": "user", "content": [{"type": "text", "text": words(3)}, image]},
            {"role": "assistant", "content": [new, {"type": "text", "text": words(5)}]},
        ],
    }  # fmt: skip
    path = tmp_path / "request.json"
    path.write_text(json.dumps(body), encoding="utf-8")
    parts = named(compose(load_conversation(path)).parts)
    factor = 1.26  # of the family: nobody counted this request
    assert parts["system"] == round(factor * (60 + MESSAGE_TOKENS))
    assert parts["user"] == round(factor * (23 + 2 * MESSAGE_TOKENS))
    assert parts["assistant"] == round(factor * (12 + 2 * MESSAGE_TOKENS))
    assert parts["thinking"] == round(factor * 30)  # that of the first answer is not sent again
    assert parts["images"] == round(factor * IMAGE_TOKENS)
    assert "tools" in parts


def test_the_right_request_of_a_capture(tmp_path: Path) -> None:
    def line(number: int, prompt: int, *said: str) -> str:
        reply = anthropic_reply(prompt, 0, 0, 5, id=f"msg_{number}")
        body = {"request": {"method": "POST", "url": "https://api.anthropic.com/v1/messages",
                            "body": anthropic_request(*said)},
                "response": {"status_code": 200, "body": reply}, "timestamp": 1_767_261_600 + number}  # fmt: skip
        return json.dumps(body) + "\n"

    path = tmp_path / "trace.jsonl"
    lines = (line(0, 60, words(40)), line(1, 900, words(800)), line(2, 70, words(40), "Done.", words(2)))
    path.write_text("".join(lines), encoding="utf-8")
    views = {view.last_prompt_tokens: view for view in load(Request(paths=[str(path)], cache=False)).sessions}
    assert set(views) == {70, 900}
    for prompt, user in ((70, 42 + 2 * MESSAGE_TOKENS), (900, 800 + MESSAGE_TOKENS)):
        found = examine(views[prompt])
        assert found is not None
        assert named(found.parts)["user"] == round(user * found.calibration.factor)
        assert found.residual == pytest.approx(0, abs=3)


def test_no_texts_no_composition(tmp_path: Path) -> None:
    log = Log()
    log.user(10)
    log.call("Bash", 10, command="ls")
    path = log.write(tmp_path)
    found = view_of(path)
    assert composition(found) is not None
    path.unlink()
    assert composition(found) is None
    rows = tmp_path / "rows.csv"
    rows.write_text("time,model,prompt\n2026-01-01T00:00:00Z,gpt-5.4,100\n", encoding="utf-8")
    assert all(composition(view) is None for view in load(Request(paths=[str(rows)], cache=False)).sessions)


def test_no_text_in_the_result(tmp_path: Path) -> None:
    log = Log()
    log.user(10)
    log.call("Bash", 10, command="secret")
    assert "secret" not in repr(examine(view_of(log.write(tmp_path))))


def test_calibration_by_hand() -> None:
    line = calibrate([(1_000 * n, 7_000 + 1_250 * n) for n in range(1, 9)], "claude-sonnet-4-5")
    assert (line.factor, line.outside, line.measured, line.calls) == (1.25, 7_000, True, 8)
    # five calls are too few, a slope of 9 means that texts are missing: the factor of the family
    few = calibrate([(1_000 * n, 7_000 + 1_250 * n) for n in range(1, 6)], "claude-sonnet-4-5")
    assert (few.factor, few.measured, few.outside) == (1.26, False, 7_000 - 30)
    cut = calibrate([(1_000 * n, 9_000 * n) for n in range(1, 9)], "gpt-5.4")
    assert (cut.factor, cut.measured) == (1.0, False)
    # earlier windows help a short one; where their counts begin does not matter
    helped = calibrate([(500, 6_000)], "gpt-5.4", [[(90_000 + 1_000 * n, 1_040 * n) for n in range(1, 9)]])
    assert (helped.factor, helped.measured, helped.outside) == (1.04, True, 6_000 - 520)


def test_factor_of_a_whole_request_and_of_families() -> None:
    assert whole(1_000, 1_210, "claude-sonnet-4-5").factor == 1.21
    assert whole(1_000, None, "claude-sonnet-4-5").measured is False
    assert [family_factor(m) for m in ("gpt-5.4", "claude-opus-4-6", "claude-opus-4-7", "claude-sonnet-5", "glm-4.7")] == [
        1.0, 1.26, 1.63, 1.63, 1.1,
    ]  # fmt: skip
