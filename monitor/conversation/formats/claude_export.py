"""Claude.ai data export: conversations.json with ``chat_messages`` of ``human`` and ``assistant``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from monitor.conversation.blocks import parts_of
from monitor.conversation.formats.base import Document, Format
from monitor.conversation.formats.chatgpt import load_one
from monitor.conversation.formats.session import new_id
from monitor.conversation.marks import looks_like_summary
from monitor.conversation.model import (
    Conversation,
    Message,
    Other,
    Part,
    Role,
    Text,
    ToolCall,
    ToolResult,
)

_ROOT = "00000000-0000-4000-8000-000000000000"


class ClaudeExport(Format):
    """Messages with a ``text`` and, in newer exports, ``content`` blocks; results stand in the message of the call."""

    name = "claude-export"
    provider = "neutral"
    message_keys = ("chat_messages",)

    def sniff(self, doc: Document) -> float:
        items = doc.json if isinstance(doc.json, list) else [doc.json]
        first = items[0] if items else None
        return 0.95 if isinstance(first, dict) and isinstance(first.get("chat_messages"), list) else 0.0

    def load(self, doc: Document) -> Conversation:
        conv = load_one(self, doc, ("chat_messages", list), "updated_at", "Claude.ai")
        ident = conv.body.get("uuid")
        return msgspec.structs.replace(conv, session=ident if isinstance(ident, str) else None)

    def parse_list(self, items: list[Any], key: str) -> list[Message]:
        """Results without an id get that of the call before them in the same message."""
        out = []
        for i, item in enumerate(items):
            m = msgspec.structs.replace(self.parse(item), index=i, where=f"{key}[{i}]")
            parts: list[Part] = []
            call = None
            for k, p in enumerate(m.parts):
                if isinstance(p, ToolCall):
                    call = p if p.id else msgspec.structs.replace(p, id=f"call@{i}.{k}")
                    parts.append(call)
                elif isinstance(p, ToolResult):
                    known = p.call_id or (call.id if call else "")
                    parts.append(msgspec.structs.replace(p, call_id=known))
                    call = None
                else:
                    parts.append(p)
            out.append(msgspec.structs.replace(m, parts=tuple(parts)))
        return out

    def parse(self, item: Any) -> Message:
        if not isinstance(item, dict):
            return Message("user", (), item, synthetic=True)
        content = item.get("content")
        parts = parts_of(content, ("content",)) if content else parts_of(item.get("text"), ("text",))
        attachments = item.get("attachments")
        for k, a in enumerate(attachments if isinstance(attachments, list) else []):
            if isinstance(a, dict):
                parts.append(Other("attachment", str(a.get("extracted_content") or ""), ("attachments", k)))
        role: Role = "assistant" if item.get("sender") == "assistant" else "user"
        text = "\n".join(p.text for p in parts if isinstance(p, Text))
        time = item.get("created_at")
        return Message(
            role,
            tuple(parts),
            item,
            is_summary=role == "user" and looks_like_summary(text),
            time=time if isinstance(time, str) else None,
        )

    def make(self, role: Role, text: str) -> dict[str, Any]:
        sender = "assistant" if role == "assistant" else "human"
        return {
            "text": text,
            "content": [{"type": "text", "text": text}],
            "sender": sender,
            "attachments": [],
            "files": [],
        }

    def new_results(self, conv: Conversation, calls: Sequence[ToolCall], text: str) -> list[Message]:
        return []

    def body(self, conv: Conversation) -> Any:
        items: list[Any] = []
        linked = any("parent_message_uuid" in m.raw for m in conv.original if isinstance(m.raw, dict))
        stamp = next((m.raw.get("created_at") for m in conv.messages if m.raw.get("created_at")), None)
        for i, m in enumerate(conv.messages):
            raw = m.raw
            if "uuid" not in raw:
                made = {"uuid": new_id("message", conv.session, i, m.text), **raw}
                raw = made | ({"created_at": stamp, "updated_at": stamp} if stamp else {})
            if linked:
                parent = items[-1]["uuid"] if items else _ROOT
                if raw.get("parent_message_uuid") != parent:
                    raw = {**raw, "parent_message_uuid": parent}
            items.append(raw)
        whole = {**conv.body, "chat_messages": items}
        return [whole] if conv.bare else whole


CLAUDE_EXPORT = ClaudeExport()
