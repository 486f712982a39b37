"""OpenAI Chat Completions: a bare list of messages, or a request body."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from monitor.conversation.blocks import parts_of, result_text
from monitor.conversation.formats.base import Document, Format
from monitor.conversation.marks import looks_like_summary, looks_synthetic
from monitor.conversation.model import Conversation, Message, Part, Role, Text, Thinking, ToolCall, ToolResult

_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}


class OpenAIChat(Format):
    """Messages with ``tool_calls`` and ``tool`` results."""

    name = provider = "openai-chat"

    def sniff(self, doc: Document) -> float:
        body = doc.json
        messages = body.get("messages") if isinstance(body, dict) else body
        if not isinstance(messages, list):
            return 0.0
        dicts = [m for m in messages if isinstance(m, dict)]
        if any(m.get("tool_calls") or m.get("role") in ("tool", "function", "system", "developer") for m in dicts):
            return 0.7
        known = any(str(m.get("role")) in _ROLES and ("content" in m or "tool_calls" in m) for m in dicts)
        return 0.3 if known or (isinstance(body, dict) and not messages) else 0.0

    def parse(self, item: Any) -> Message:
        if not isinstance(item, dict):
            return Message("user", (), item, synthetic=True)
        role = _ROLES.get(str(item.get("role")), "user")
        content = item.get("content")
        if role == "tool":
            text, images = result_text(content)
            call_id = item.get("tool_call_id")
            if not isinstance(call_id, str):
                call_id = f"function:{item.get('name')}" if item.get("role") == "function" else ""
            result = ToolResult(call_id, text, False, images, str(item.get("name") or ""), "tool", ())
            return Message("tool", (result,), item)
        parts: list[Part] = []
        for key in ("reasoning_content", "reasoning"):
            if isinstance(item.get(key), str) and item[key]:
                parts.append(Thinking(item[key], False, False, (key,)))
                break
        parts += parts_of(content, ("content",))
        if role == "assistant":
            parts += self._calls(item)
        text = "\n".join(p.text for p in parts if isinstance(p, Text)) if role == "user" else ""
        return Message(
            role,
            tuple(parts),
            item,
            is_summary=looks_like_summary(text),
            synthetic=looks_synthetic(text),
        )

    def _calls(self, item: dict[str, Any]) -> list[Part]:
        out: list[Part] = []
        calls = item.get("tool_calls")
        for i, call in enumerate(calls if isinstance(calls, list) else []):
            if not isinstance(call, dict):
                continue
            kind = "custom" if isinstance(call.get("custom"), dict) else "function"
            fn = call.get(kind) if isinstance(call.get(kind), dict) else {}
            assert isinstance(fn, dict)
            arguments = fn.get("arguments", fn.get("input"))
            cid = call.get("id")  # as with results: a number is no id
            cid = cid if isinstance(cid, str) else ""
            out.append(ToolCall(cid, str(fn.get("name") or ""), arguments, kind, ("tool_calls", i)))
        legacy = item.get("function_call")
        if isinstance(legacy, dict):
            name = str(legacy.get("name") or "")
            out.append(ToolCall(f"function:{name}", name, legacy.get("arguments"), "function_call", ("function_call",)))
        return out

    def new_results(self, conv: Conversation, calls: Sequence[ToolCall], text: str) -> list[Message]:
        out = []
        for call in calls:
            if call.kind == "function_call":
                out.append(self.parse({"role": "function", "name": call.name, "content": text}))
            else:
                out.append(self.parse({"role": "tool", "tool_call_id": call.id, "content": text}))
        return out


OPENAI_CHAT = OpenAIChat()
