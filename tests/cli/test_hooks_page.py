"""The examples of docs/hooks.md, run as they stand there."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.decision.factory import transcript

PAGE = Path(__file__).resolve().parents[2] / "docs" / "hooks.md"


def example(name):
    text = PAGE.read_text(encoding="utf-8")
    found = re.search(rf"<!-- {name} -->\n```python\n(.*?)```", text, re.S)
    assert found is not None
    return found.group(1)


@pytest.fixture
def environ(tmp_path):
    """PATH with a `ctxmon` of this checkout and no notifier."""
    folder = tmp_path / "bin"
    folder.mkdir()
    if os.name == "nt":
        pytest.skip("the stand-in for the command is a shell script")
    command = folder / "ctxmon"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m monitor "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    root = str(Path(__file__).resolve().parents[2])
    return {**os.environ, "PATH": str(folder), "PYTHONPATH": root, "HOME": str(tmp_path)}


def run(code, environ, *args, stdin=""):
    return subprocess.run(
        [sys.executable, "-c", code, *args], input=stdin, capture_output=True, text=True, env=environ, check=True
    )


def test_the_hook_speaks_when_it_is_time_to_act_and_is_silent_else(tmp_path, environ):
    end = int(time.time() * 1000) - 20_000
    full = transcript(tmp_path / "full.jsonl", [100_000 + 5_000 * n for n in range(10)], end=end)
    done = run(example("claude-hook"), environ, stdin=json.dumps({"transcript_path": str(full)}))
    message = json.loads(done.stdout)["systemMessage"]
    assert message.startswith("ctxmon: compact now. 87 % of the usable limit is used")
    small = transcript(tmp_path / "small.jsonl", [20_000, 21_000], end=end)
    assert run(example("claude-hook"), environ, stdin=json.dumps({"transcript_path": str(small)})).stdout == ""


def rollout(path, prompts, end):
    """A small Codex rollout: one token_count a call."""

    def line(kind, payload, at):
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(at))
        return json.dumps({"timestamp": stamp, "type": kind, "payload": payload}) + "\n"

    start = end - 10 * len(prompts)
    text = line("session_meta", {"id": "thread-1", "timestamp": "2026-09-01T00:00:00Z", "cwd": "/home/u/shop"}, start)
    text += line("turn_context", {"model": "gpt-5.5", "cwd": "/home/u/shop"}, start)
    total = dict.fromkeys(("input_tokens", "cached_input_tokens", "output_tokens", "total_tokens"), 0)
    for n, prompt in enumerate(prompts):
        usage = {"input_tokens": prompt, "cached_input_tokens": prompt - 1_000, "output_tokens": 300,
                 "total_tokens": prompt + 300}  # fmt: skip
        total = {name: total[name] + usage[name] for name in usage}
        info = {"total_token_usage": total, "last_token_usage": usage, "model_context_window": 258_400}
        text += line("event_msg", {"type": "token_count", "info": info}, start + 10 * n)
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")


def test_the_codex_program_finds_the_thread_and_tells_the_advice(tmp_path, environ):
    if shutil.which("notify-send", path=environ["PATH"]):
        pytest.skip("a notifier is in the way")
    path = tmp_path / ".codex" / "sessions" / "2026" / "09" / "01" / "rollout-2026-09-01T00-00-00-thread-1.jsonl"
    rollout(path, [130_000 + 10_000 * n for n in range(10)], time.time() - 20)
    event = {"type": "agent-turn-complete", "thread-id": "thread-1"}
    environ = {**environ, "CODEX_HOME": str(tmp_path / ".codex")}
    # 220,300 of 244,800 = 90 %
    assert run(example("codex-notify"), environ, json.dumps(event)).stdout.startswith("compact now: 90 %")
    assert run(example("codex-notify"), environ, json.dumps({"type": "other"})).stdout == ""
    assert run(example("codex-notify"), environ, json.dumps({**event, "thread-id": "none"})).stdout == ""


def test_the_settings_on_the_page_are_valid_json():
    blocks = re.findall(r"```json\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    assert len(blocks) == 2 and all(isinstance(json.loads(block), dict) for block in blocks)
