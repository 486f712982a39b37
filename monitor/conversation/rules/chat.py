"""OpenAI Chat Completions: rules C1 to C10 of the survey of providers (API reference and refusals seen)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from monitor.conversation.jsonio import loads
from monitor.conversation.rules.base import Entry, Findings, any_format, image_count, readable

_ROLES = ("system", "developer", "user", "assistant", "tool", "function")


class ChatRules:
    """Walks the messages once; ``open`` are the calls still waiting for their results."""

    def __init__(self, entries: Sequence[Entry], strict_roles: bool, out: Findings) -> None:
        self.entries, self.strict, self.out = entries, strict_roles, out
        self.open: dict[str, str] = {}  # id -> place of the call
        self.answered: set[str] = set()
        self.called: dict[str, str] = {}
        self.last = ""  # role of the last message that is not a system one
        self.legacy: Any = None  # name of a function_call waiting for its function message
        self.reasons = any(isinstance(e.raw, dict) and e.raw.get("reasoning_content") for e in entries)

    def run(self) -> None:
        """Judge all messages."""
        if not self.entries:
            self.out.add("empty-conversation", "messages", "no messages")
            return
        for entry in self.entries:
            self._one(entry)
        for cid, where in self.open.items():
            self.out.add("C2-open-call", where, f"call {cid} is the end of the file and has no result")
        if not any(isinstance(e.raw, dict) and e.raw.get("role") == "user" for e in self.entries):
            self.out.add("no-user-message", "messages", "no user message at all")

    def _one(self, entry: Entry) -> None:
        raw, where = entry.raw, entry.where
        role = raw.get("role") if isinstance(raw, dict) else None
        any_format(raw, where, self.out)
        if not isinstance(raw, dict) or role not in _ROLES:
            self.out.add("role-unknown", where, f"role {role!r}" if isinstance(raw, dict) else "not an object")
            return
        if role == "tool":
            self._result(raw, where)
        else:
            for cid, owner in self.open.items():
                self.out.add("C2-unanswered-call", owner, f"call {cid} has no tool message before {where}")
            self.open = {}
        if role in ("system", "developer"):
            self._system(raw, where, str(role))
            return
        if role == "function" and (self.legacy is None or raw.get("name") != self.legacy):
            self.out.add("C8-orphan-function", where, "function message without the function_call before it")
        if role != "tool":
            self.legacy = None
        if role == "user":
            self._user(raw, where)
        elif role == "assistant":
            self._assistant(raw, where)
        self.last = str(role)

    def _system(self, raw: dict[str, Any], where: str, role: str) -> None:
        if self.last:
            self.out.warn("C6-system-late", where, f"{role} message after the conversation began")
        if not readable(raw.get("content")):
            self.out.add("C4-empty-content", where, f"empty {role} message")

    def _user(self, raw: dict[str, Any], where: str) -> None:
        content = raw.get("content")
        if not readable(content) and not image_count(content):
            self.out.add("C4-empty-content", where, "empty user message")
        if self.strict and self.last == "user":
            self.out.add("C7-alternation", where, "two user messages in a row")

    def _result(self, raw: dict[str, Any], where: str) -> None:
        cid = raw.get("tool_call_id")
        if not isinstance(cid, str) or not cid:
            self.out.add("C3-bad-id", where, "tool message without tool_call_id")
        elif cid in self.open:
            del self.open[cid]
            self.answered.add(cid)
        elif cid in self.answered:
            self.out.add("C2-double-answer", where, f"second tool result for {cid}")
        elif cid in self.called:
            self.out.add("C1-result-displaced", where, f"tool result for {cid} is not directly behind its call")
        else:
            self.out.add("C1-orphan-result", where, f"tool result for {cid}, which no earlier assistant message calls")
        if raw.get("content") is None:
            self.out.add("C4-empty-content", where, "tool message with content null")

    def _assistant(self, raw: dict[str, Any], where: str) -> None:
        out = self.out
        calls = raw.get("tool_calls")
        if calls is not None and not (isinstance(calls, list) and calls):
            out.add("C5-empty-tool-calls", where, "tool_calls present but empty")
        calls = calls if isinstance(calls, list) else []
        content = raw.get("content")
        if not (calls or any(raw.get(k) for k in ("function_call", "refusal", "audio")) or readable(content)):
            out.add("C4-null-content", where, "assistant message without content and without calls")
        if image_count(content):
            out.add("C-image-role", where, "image in an assistant message")
        if self.strict and self.last in ("", "assistant"):
            what = "two assistant messages in a row" if self.last else "conversation opens with the assistant"
            out.add("C7-alternation", where, what)
        here: set[str] = set()
        for k, call in enumerate(calls):
            self._call(call, f"{where}.tool_calls[{k}]", where, here)
        if calls and self.reasons and not raw.get("reasoning_content"):
            out.warn(
                "C10-reasoning-content", where, "other messages with calls carry reasoning_content, this one does not"
            )
        legacy = raw.get("function_call")
        self.legacy = legacy.get("name") if isinstance(legacy, dict) else None

    def _call(self, call: Any, place: str, where: str, here: set[str]) -> None:
        out = self.out
        cid = call.get("id") if isinstance(call, dict) else None
        if not isinstance(cid, str) or not cid:
            out.add("C3-bad-id", place, "call without id")
            return
        if cid in here:
            out.add("C3-duplicate-id", place, f"id {cid} twice in one message")
        elif cid in self.called:
            out.warn("C3-id-reused", place, f"id {cid} already used at {self.called[cid]}")
        here.add(cid)
        self.called[cid] = where
        self.answered.discard(cid)
        self.open[cid] = where
        if call.get("type", "function") != "function":
            return
        fn = call.get("function") if isinstance(call.get("function"), dict) else {}
        arguments = fn.get("arguments")
        if not isinstance(arguments, str):
            out.add("C9-arguments-not-string", place, "function.arguments must be a JSON string")
        elif arguments:
            try:
                loads(arguments)
            except ValueError:
                out.warn("C9-arguments-not-json", place, "the arguments are cut or no JSON")
        if not fn.get("name"):
            out.add("C9-no-name", place, "call without function name")


def check(entries: Sequence[Entry], out: Findings, *, strict_roles: bool = False) -> None:
    """Judge Chat messages; findings go to ``out``."""
    ChatRules(entries, strict_roles, out).run()
