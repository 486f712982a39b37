"""Anthropic Messages: rules A1 to A9 (API documentation, error codes of the SDK, refusals seen).

Also judges what a Claude Code session would send (``session``): the client itself mends empty answers and the order of
thinking, so those rules are off there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from monitor.conversation.jsonio import ident
from monitor.conversation.rules.base import Entry, Findings, any_format

_ID = re.compile(r"[a-zA-Z0-9_-]+")
_THINKING = ("thinking", "redacted_thinking")


def blocks(content: Any) -> list[Any]:
    """The blocks of a content value; a string is one text block."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return content if isinstance(content, list) else []


def kind(block: Any) -> str:
    """The type of a block, "" where it is none."""
    return str(block.get("type") or "") if isinstance(block, dict) else ""


class AnthropicRules:
    """Walks the messages once; ``open`` are the calls of the message before."""

    def __init__(self, entries: Sequence[Entry], out: Findings, session: bool) -> None:
        self.entries, self.out, self.session = entries, out, session
        self.seen: dict[Any, str] = {}
        self.open: dict[Any, str] = {}
        self.marks = 0
        self.uses_tools = False
        self.signed: list[tuple[bool, str]] = []  # (first block of all, place)

    def run(self) -> None:
        """Judge all messages."""
        has_user = False
        for i, entry in enumerate(self.entries):
            role = entry.raw.get("role") if isinstance(entry.raw, dict) else None
            if role not in ("user", "assistant"):
                code = "A1-system-in-messages" if role == "system" else "role-unknown"
                self.out.add(code, entry.where, f"role {role!r} in messages")
                continue
            has_user = has_user or role == "user"
            self._message(i, entry, str(role))
        for cid, where in self.open.items():
            self.out.add("A3-open-call", where, f"tool_use {cid} ends the file and has no tool_result")
        for first, where in self.signed:
            if not first:
                self.out.add("A6-compaction-misplaced", where, "signed compaction block is not the first block")
        if len(self.signed) > 1:
            self.out.add("A6-compaction-many", self.signed[1][1], "more than one signed compaction block")
        self._prefill()
        if not has_user:
            self.out.add("no-user-message", "messages", "no user message at all")

    def _message(self, i: int, entry: Entry, role: str) -> None:
        raw, where, out = entry.raw, entry.where, self.out
        any_format(raw, where, out)
        content = raw.get("content")
        found = blocks(content)
        if i == 0 and role != "user" and not (found and kind(found[0]) == "compaction"):
            out.add("A1-first-not-user", where, "first message is not a user message")
        if not found or (isinstance(content, str) and not content.strip()):
            out.add("A2-empty-content", where, "empty content")
            found = []
        self._answers(found, role, where)
        given: set[Any] = set()
        other = False
        calls: dict[Any, str] = {}
        for k, block in enumerate(found):
            place = f"{where}.content[{k}]"
            if not isinstance(block, dict):
                out.add("A2-bad-block", place, "block is not an object")
                continue
            self.marks += bool(block.get("cache_control"))
            what = kind(block)
            if what == "tool_result":
                self._result(block, role, place, given, other)
                continue
            other = True
            if what == "tool_use":
                self._call(block, role, place)
                if role == "assistant":
                    calls[ident(block.get("id"))] = where
            elif what == "text":
                self._text(block, role, place, isinstance(content, list))
            elif what in _THINKING:
                self._thinking(block, role, place, found, k)
            elif what == "compaction":
                self._compaction(block, place, i == 0 and k == 0)
            elif what == "image" and role != "user":
                out.add("A-image-role", place, "image in an assistant message")
        self.open = calls

    def _answers(self, found: list[Any], role: str, where: str) -> None:
        """Every call of the message before must be answered in this one."""
        given = {ident(b.get("tool_use_id")) for b in found if kind(b) == "tool_result"} if role == "user" else set()
        for cid, owner in self.open.items():
            if cid not in given:
                goal = where if role == "user" else "the next message"
                self.out.add("A3-unanswered-call", owner, f"tool_use {cid} has no tool_result in {goal}")

    def _result(self, block: dict[str, Any], role: str, place: str, given: set[Any], other: bool) -> None:
        self.uses_tools = True
        cid = ident(block.get("tool_use_id"))
        if role != "user":
            self.out.add("A3-result-role", place, "tool_result outside a user message")
        elif cid in given:
            self.out.add("A3-double-answer", place, f"second tool_result for {cid}")
        elif cid in self.open:
            given.add(cid)
            if other:
                self.out.add("A3-result-after-text", place, "tool_result behind other content of the same message")
        elif cid in self.seen:
            told = f"tool_result for {cid} is not in the message right after its call"
            self.out.add("A3-result-displaced", place, told)
        else:
            self.out.add("A3-orphan-result", place, f"tool_result for {cid}, which no earlier message calls")

    def _call(self, block: dict[str, Any], role: str, place: str) -> None:
        self.uses_tools = True
        cid = ident(block.get("id"))
        if role != "assistant":
            self.out.add("A3-call-role", place, "tool_use outside an assistant message")
        if not isinstance(cid, str) or not _ID.fullmatch(cid):
            self.out.add("A4-bad-id", place, f"id {cid!r}")
        elif cid in self.seen:
            self.out.add("A4-duplicate-id", place, f"id {cid} already used at {self.seen[cid]}")
        if not isinstance(block.get("input"), dict):
            self.out.add("A4-input-not-object", place, "input must be an object")
        self.seen[cid] = place

    def _text(self, block: dict[str, Any], role: str, place: str, in_list: bool) -> None:
        text = block.get("text")
        if not isinstance(text, str) or not text:
            if not (self.session and role == "assistant"):
                self.out.add("A2-empty-text-block", place, "empty text block")
        elif not text.strip() and in_list and not self.session:
            self.out.add("A2-empty-text-block", place, "text block of white space only")

    def _thinking(self, block: dict[str, Any], role: str, place: str, found: list[Any], k: int) -> None:
        if role != "assistant":
            self.out.add("A5-thinking-role", place, "thinking outside an assistant message")
        if kind(block) == "thinking" and not block.get("signature"):
            self.out.add("A5-thinking-unsigned", place, "thinking without signature")
        if self.session or not k:
            return
        if any(kind(b) == "tool_use" for b in found[:k]):
            self.out.add("A5-thinking-not-first", place, "thinking behind a tool_use")
        elif kind(found[0]) not in (*_THINKING, "compaction"):
            self.out.add("A5-thinking-not-first", place, "message with thinking does not start with it")

    def _compaction(self, block: dict[str, Any], place: str, first: bool) -> None:
        content = block.get("content")
        if isinstance(content, str) and not content.strip():
            self.out.add("A6-compaction-empty", place, "compaction block with empty content")
        if block.get("signature") is not None:
            self.signed.append((first, place))

    def _prefill(self) -> None:
        if self.session or not self.entries:
            return
        last = self.entries[-1]
        if not isinstance(last.raw, dict) or last.raw.get("role") != "assistant":
            return
        found = blocks(last.raw.get("content"))
        text = found[-1].get("text") if found and kind(found[-1]) == "text" else None
        if isinstance(text, str) and text != text.rstrip():
            self.out.add("A2-trailing-whitespace", last.where, "final assistant text ends in white space")


def check(
    entries: Sequence[Entry],
    out: Findings,
    *,
    body: dict[str, Any] | None = None,
    bedrock: bool = False,
    session: bool = False,
) -> None:
    """Judge messages; ``body`` is the request they stand in (None: a bare list or a session)."""
    if not entries:
        out.add("empty-conversation", "messages", "no messages")
        return
    rules = AnthropicRules(entries, out, session)
    marks = _system(body.get("system"), out) if body else 0
    rules.run()
    if body is None:
        return
    thinking = body.get("thinking")
    if isinstance(thinking, dict) and thinking.get("type") == "enabled":
        _open_turn(entries, out)
    tools = body.get("tools")
    marks += sum(bool(t.get("cache_control")) for t in tools if isinstance(t, dict)) if isinstance(tools, list) else 0
    if marks + rules.marks > 4:
        where = "request" if marks else "messages"
        out.add("A7-cache-control", where, f"{marks + rules.marks} cache_control marks, 4 allowed")
    if rules.uses_tools and not body.get("tools"):
        add = out.add if bedrock else out.warn
        add("A9-no-tools", "tools", "history has tool blocks but the request declares no tools")


def _system(system: Any, out: Findings) -> int:
    marks = 0
    for k, block in enumerate(system if isinstance(system, list) else []):
        if not isinstance(block, dict):
            continue
        marks += bool(block.get("cache_control"))
        if kind(block) == "compaction":
            out.add("A6-compaction-in-system", f"system[{k}]", "compaction block in system")
        elif kind(block) == "text" and not str(block.get("text") or "").strip():
            out.add("A2-empty-text-block", f"system[{k}]", "empty text block in system")
    return marks


def _open_turn(entries: Sequence[Entry], out: Findings) -> None:
    """With thinking on, the answer whose tool results end the file must begin with thinking."""
    if len(entries) < 2:
        return
    last, before = entries[-1], entries[-2]
    if not isinstance(last.raw, dict) or not isinstance(before.raw, dict) or last.raw.get("role") != "user":
        return
    results = blocks(last.raw.get("content"))
    if not results or any(kind(b) != "tool_result" for b in results):
        return
    found = blocks(before.raw.get("content"))
    if found and kind(found[0]) not in _THINKING:
        told = "thinking is on and the open tool turn does not start with thinking"
        out.add("A5-thinking-missing", before.where, told)
