"""Anthropic Messages: a request body with system and tools, or a bare list of messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from monitor.conversation.blocks import parts_of
from monitor.conversation.formats.base import Document, Format
from monitor.conversation.jsonio import ident
from monitor.conversation.marks import looks_like_summary, looks_synthetic
from monitor.conversation.model import Conversation, Message, Opaque, Part, Role, Text, ToolCall, ToolResult

_BLOCKS = ("tool_use", "tool_result", "thinking", "redacted_thinking", "compaction", "server_tool_use")


def has_anthropic_blocks(messages: list[Any]) -> bool:
    """True where a message holds blocks only this provider has."""
    return any(
        isinstance(b, dict) and ident(b.get("type")) in _BLOCKS
        for m in messages
        if isinstance(m, dict) and isinstance(m.get("content"), list)
        for b in m["content"]
    )


def parse_message(item: Any, base: tuple[str, ...] = ()) -> tuple[Role, tuple[Part, ...], bool, bool]:
    """(role, parts, is summary, synthetic) of a message; ``base`` = where it stands in the raw object."""
    if not isinstance(item, dict):
        return "user", (), False, True
    parts = tuple(parts_of(item.get("content"), (*base, "content")))
    role = item.get("role")
    if role == "assistant":
        return "assistant", parts, False, False
    if role == "system":
        return "system", parts, False, False
    text = ""
    texts = [p.text for p in parts if isinstance(p, Text)]
    if texts:
        text = "\n".join(t for t in texts if not looks_synthetic(t)) or texts[0]
    results = any(isinstance(p, ToolResult) for p in parts)
    if results and not text.strip():
        return "tool", parts, False, False
    return "user", parts, looks_like_summary(text), looks_synthetic(text)


def _for_claude(body: Any) -> bool:
    """Whether a request names a model by Anthropic's own name, and what only Anthropic demands of every request."""
    if not isinstance(body, dict):
        return False
    return str(body.get("model")).startswith("claude") and "max_tokens" in body


def _cache_marks(messages: list[Any]) -> bool:
    blocks = (m["content"] for m in messages if isinstance(m, dict) and isinstance(m.get("content"), list))
    return any(isinstance(block, dict) and "cache_control" in block for content in blocks for block in content)


class Anthropic(Format):
    """Content blocks: text, tool_use, tool_result, thinking, image, compaction."""

    name = provider = "anthropic"

    def sniff(self, doc: Document) -> float:
        body = doc.json
        if isinstance(body, dict):
            messages = body.get("messages")
            if isinstance(messages, list) and ("system" in body or body.get("anthropic_version")):
                return 0.9
        else:
            messages = body
        if not isinstance(messages, list):
            return 0.0
        if has_anthropic_blocks(messages):
            return 0.8
        # less than the roles of Chat (tool, system, developer) say, which gateways send to Claude as well
        return 0.5 if _for_claude(body) or _cache_marks(messages) else 0.0

    def parse(self, item: Any) -> Message:
        role, parts, summary, synthetic = parse_message(item)
        lone = role == "assistant" and len(parts) == 1 and isinstance(parts[0], Opaque)
        return Message(role, parts, item, is_summary=summary, synthetic=synthetic, opaque=lone)

    def parse_system(self, body: dict[str, Any]) -> list[Message]:
        system = body.get("system")
        if not system:
            return []
        return [Message("system", tuple(parts_of(system, ())), system, where="system")]

    def new_results(self, conv: Conversation, calls: Sequence[ToolCall], text: str) -> list[Message]:
        blocks = [{"type": "tool_result", "tool_use_id": c.id, "content": text, "is_error": True} for c in calls]
        return [self.parse({"role": "user", "content": blocks})]


ANTHROPIC = Anthropic()
