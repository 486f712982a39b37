"""Takes everything out of a client's log that is not the run's own: vendors' texts, machine paths, real times.

A line of text is kept when the run itself produced it (prompts, answers, files, tool output); every other text with a
space in it keeps its length and its punctuation, but its letters and digits become x.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
TAG = re.compile(r"(</?[a-z][\w-]*>|/home/dev[\w./-]*)")
# texts that readers of these formats recognise a record by, and the clients' short frames around tool output
MARKS = (
    "This session is being continued from a previous conversation",
    "Another language model started to solve this problem",
    "Conversation compacted",
)
FRAMES = re.compile(
    r"Chunk ID: \w+|Wall time: [\d.]+ seconds|Process exited with code \d+|Original token count: \d+|Output:|"
    r"Total output lines: \d+|<total_tokens>\d+ tokens left</total_tokens>|"
    r"(?:User-Agent: )?OpenAI(?:/JS [\d.]+)?|"
    r"<command-\w+>/?[\w-]*</command-\w+>|"
    r"Successfully (?:wrote|replaced) .{1,80}"
)
NUMBERED = re.compile(r"^\s*\d+(?:\t|→)|^[-+ ]")


class Redactor:
    """`apply(record)` gives the record as it may be published.

    own: texts of the run. paths: (real, published) pairs, longest first. span: real begin and end of the run in
    epoch seconds; times within it go through moved.
    """

    def __init__(
        self,
        own: Iterable[str],
        paths: list[tuple[str, str]],
        span: tuple[float, float],
        moved: Callable[[float], float],
    ):
        self.paths, self.span, self.moved = paths, span, moved
        self.texts = {self.place(t) for t in own}
        self.lines = {line.strip() for t in self.texts for line in t.split("\n")}

    def place(self, text: str) -> str:
        """The text with published paths."""
        for real, published in self.paths:
            text = text.replace(real, published)
        return text

    def mask(self, text: str) -> str:
        """Letters and digits as x; tags, published paths and marks stay."""
        for mark in MARKS:
            if mark in text:
                before, _, after = text.partition(mark)
                return self.mask(before) + mark + self.mask(after)
        return "".join(p if TAG.fullmatch(p) else re.sub(r"\w", "x", p) for p in TAG.split(text))

    def line(self, line: str) -> str:
        bare = line.strip()
        if bare in self.lines or FRAMES.fullmatch(bare):
            return line
        number = NUMBERED.match(line)
        if number and line[number.end() :].strip() in self.lines:
            return line
        return self.mask(line)

    def text(self, text: str) -> str:
        text = self.place(text)
        if ISO.fullmatch(text):
            return self.iso(text)
        if text in self.texts or not re.search(r"\s", text):
            return text
        if text[0] in "{[":
            try:
                inner = json.loads(text)
            except ValueError:
                inner = None
            if isinstance(inner, dict | list):
                return json.dumps(self.apply(inner), ensure_ascii=False)
        return "\n".join(self.line(x) for x in text.split("\n"))

    def iso(self, text: str) -> str:
        t = datetime.fromisoformat(text).timestamp()
        if not self.span[0] <= t <= self.span[1]:
            return text
        at = datetime.fromtimestamp(self.moved(t), UTC)
        return at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03}Z"

    def number(self, n: int | float) -> int | float:
        """Epoch times of the run, in seconds or milliseconds, on the run's clock."""
        for unit in (1, 1000):
            if self.span[0] - 1 <= n / unit <= self.span[1]:
                new = self.moved(n / unit) * unit
                return round(new) if isinstance(n, int) else round(new, 6)
        return n

    def apply(self, o: Any) -> Any:
        if isinstance(o, dict):
            return {self.place(k): self.apply(v) for k, v in o.items()}
        if isinstance(o, list):
            return [self.apply(v) for v in o]
        if isinstance(o, str):
            return self.text(o)
        return self.number(o) if isinstance(o, int | float) and not isinstance(o, bool) else o


def shortened(o: Any, longest: int) -> Any:
    """Texts longer than `longest` characters cut to it: for records that repeat what stands elsewhere."""
    if isinstance(o, dict):
        return {k: shortened(v, longest) for k, v in o.items()}
    if isinstance(o, list):
        return [shortened(v, longest) for v in o]
    return o[:longest] if isinstance(o, str) else o


def tool_outputs(records: Iterable[dict[str, Any]]) -> list[str]:
    """What the run's commands printed and its files held, from the places where the clients note it."""
    found: list[str] = []
    for r in records:
        result = r.get("toolUseResult")
        if isinstance(result, dict):  # Claude Code
            found += [str(result[k]) for k in ("stdout", "stderr") if result.get(k)]
            if isinstance(result.get("file"), dict):
                found.append(str(result["file"].get("content", "")))
        elif r.get("isSidechain") and r["type"] == "user":  # its subagents note it in the message only
            blocks = r["message"]["content"] if isinstance(r["message"]["content"], list) else []
            texts = [
                b["content"] for b in blocks if b.get("type") == "tool_result" and isinstance(b.get("content"), str)
            ]
            found += [re.sub(r"<system-reminder>.*?</system-reminder>", "", t, flags=re.DOTALL) for t in texts]
        payload = r.get("payload")
        if isinstance(payload, dict) and payload.get("type") == "function_call_output":  # Codex
            found.append(str(payload.get("output", "")).partition("Output:\n")[2])
        message = r.get("message")
        if isinstance(message, dict) and message.get("role") == "toolResult":  # Pi
            found += [str(part.get("text", "")) for part in message.get("content", [])]
    return found
