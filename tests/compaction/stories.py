"""Made-up agent conversations in seven formats, with labels written from the story, for the tests of compaction.

A story is a list of steps (what the user says, what the agent says, calls with results); :func:`build` writes it in the
format asked for. The labels are what a reader of the story would expect to survive. All keys in them are invented.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Call:
    name: str
    args: dict[str, Any]
    result: str | None
    error: bool = False


@dataclass
class Step:
    """``user`` or an answer: text, calls made with it, thinking."""

    user: str = ""
    text: str = ""
    calls: list[Call] = field(default_factory=list)
    thinking: str = ""
    summary: str = ""  # an earlier compaction stands here


@dataclass
class Story:
    name: str
    system: str
    steps: list[Step]
    gold: dict[str, Any]
    cwd: str = "/srv/work"


def user(text: str) -> Step:
    return Step(user=text)


def say(text: str, *calls: Call, thinking: str = "") -> Step:
    return Step(text=text, calls=list(calls), thinking=thinking)


def holds(text: str, turn: int) -> dict[str, Any]:
    """Label of a rule that is in force at the end; ``turn``: user message it stands in."""
    return {"text": text, "active": True, "turn": turn}


def gone(text: str, turn: int, by: int) -> dict[str, Any]:
    """Label of a rule that user message ``by`` took back."""
    return {"text": text, "active": False, "turn": turn, "cancelled_turn": by}


def noise(seed: int, lines: int, kind: str = "log") -> str:
    """Output nobody needs later."""
    rng = random.Random(seed)
    verbs = [
        "load",
        "parse",
        "merge",
        "resolve",
        "collect",
        "validate",
        "archive",
        "rank",
        "filter",
        "expand",
        "publish",
        "schedule",
    ]
    nouns = ["order", "batch", "session", "token", "queue", "partition", "ledger", "filter", "export", "invoice"]
    out = []
    for i in range(lines):
        v, n = rng.choice(verbs), rng.choice(nouns)
        if kind == "log":
            out.append(
                f"2026-11-03T07:{i // 60 % 60:02d}:{i % 60:02d}.{rng.randrange(1000):03d}Z INFO "
                f"{n}[{rng.randrange(999)}] {v} finished in {rng.randrange(400)} ms"
            )
        elif kind == "code":
            out.append(
                f"    def {v}_{n}_{i}(self, {n}):\n        return self._store.{v}({n}, limit={rng.randrange(99)})"
            )
        else:
            out.append(f"Several groups {v} the {n} and {rng.choice(nouns)} without naming a baseline for it.")
    return "\n".join(out)


SUFFIX = {"claude-code": ".jsonl", "codex": ".jsonl", "pi": ".jsonl"}
FORMATS = ("openai-chat", "anthropic", "responses", "gemini", "claude-code", "codex", "pi")


def build(story: Story, fmt: str) -> bytes:
    """The story in a format: openai-chat, anthropic, responses, gemini, claude-code, codex, pi."""
    from tests.compaction.story_formats import WRITERS

    return WRITERS[fmt](story)
