"""OpenAI Responses: input or output items, as a request or response body or a bare list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from monitor.conversation.blocks import CALL_KINDS, COMPACTION_KINDS, OUTPUT_KINDS, parts_of, result_text
from monitor.conversation.formats.base import Document, Format
from monitor.conversation.marks import looks_like_summary, looks_synthetic
from monitor.conversation.model import (
    Conversation,
    Message,
    Opaque,
    Other,
    Path,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

_ITEMS = {"reasoning", "message", "item_reference", *COMPACTION_KINDS, *CALL_KINDS, *OUTPUT_KINDS}


def item_type(item: dict[str, Any]) -> str:
    """The type of an item; an item with a role and no type is a message."""
    kind = item.get("type")
    return kind if isinstance(kind, str) and kind else ("message" if "role" in item else "")


def parse_item(item: Any, base: Path = ()) -> Message:
    """The neutral view of one item; ``base`` = where it stands in the raw object of the message."""
    if not isinstance(item, dict):
        return Message("user", (), item, synthetic=True)
    kind = item_type(item)
    if kind == "message":
        roles: dict[str, Role] = {"assistant": "assistant", "system": "system", "developer": "system"}
        role = roles.get(str(item.get("role")), "user")
        parts = tuple(parts_of(item.get("content"), (*base, "content")))
        text = "\n".join(p.text for p in parts if isinstance(p, Text)) if role == "user" else ""
        return Message(role, parts, item, is_summary=looks_like_summary(text), synthetic=looks_synthetic(text))
    if kind in CALL_KINDS:
        arguments = next((item[k] for k in ("arguments", "input", "action", "operation") if k in item), None)
        call_id = item.get("call_id") or (item.get("id") if kind == "local_shell_call" else "")
        name = item.get("name") or kind
        call_id = call_id if isinstance(call_id, str) else ""  # a number is no id
        return Message("assistant", (ToolCall(call_id, str(name), arguments, kind, base),), item)
    if kind in OUTPUT_KINDS:
        text, images = result_text(item.get("output"))
        failed = item.get("status") == "failed" or item.get("success") is False
        call_id = item.get("call_id")
        result = ToolResult(call_id if isinstance(call_id, str) else "", text, failed, images, "", kind, base)
        return Message("tool", (result,), item)
    if kind == "reasoning":
        texts = [
            p.text
            for key in ("summary", "content")
            for p in parts_of(item.get(key), (*base, key))
            if isinstance(p, Text)
        ]
        sealed = bool(item.get("encrypted_content"))
        return Message("assistant", (Thinking("\n".join(texts), sealed, not texts, base),), item)
    if kind in COMPACTION_KINDS:
        return Message("assistant", (Opaque(kind, "", base),), item, opaque=True, is_summary=False)
    role = "user" if kind in ("compaction_trigger", "item_reference") else "assistant"
    return Message(role, (Other(kind or "unknown", "", base),), item, synthetic=True)


def make_item(role: Role, text: str) -> dict[str, Any]:
    """A message item with one text."""
    name = {"system": "developer"}.get(role, role)
    block = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": name, "content": [{"type": block, "text": text}]}


def make_output(call: ToolCall, text: str) -> dict[str, Any]:
    """An output item that answers ``call``."""
    return {"type": CALL_KINDS.get(call.kind, "function_call_output"), "call_id": call.id, "output": text}


class Responses(Format):
    """Flat items: message, reasoning, calls, outputs, compaction."""

    name = provider = "responses"
    message_keys = ("input", "output")

    def sniff(self, doc: Document) -> float:
        body = doc.json
        if isinstance(body, dict):
            if isinstance(body.get("input"), list) or isinstance(body.get("output"), list):
                items = body.get("input") if isinstance(body.get("input"), list) else body.get("output")
                dicts = [i for i in items or [] if isinstance(i, dict)]
                return 0.85 if not dicts or any(item_type(i) in _ITEMS for i in dicts) else 0.0
            if isinstance(body.get("response"), dict):  # a stored {"type": "response.completed", "response": …}
                return 0.6 if isinstance(body["response"].get("output"), list) else 0.0
            return 0.0
        if isinstance(body, list):
            kinds = {i["type"] for i in body if isinstance(i, dict) and isinstance(i.get("type"), str)}
            if any(isinstance(i, dict) and "parts" in i for i in body):
                return 0.0
            return 0.85 if kinds & _ITEMS else 0.0
        return 0.0

    def load_body(self, body: Any, path: str = "") -> Conversation:
        if isinstance(body, dict) and "input" not in body and isinstance(body.get("response"), dict):
            body = body["response"]
        return super().load_body(body, path)

    def parse(self, item: Any) -> Message:
        return parse_item(item)

    def parse_system(self, body: dict[str, Any]) -> list[Message]:
        text = body.get("instructions")
        if not isinstance(text, str) or not text:
            return []
        return [Message("system", (Text(text),), text, where="instructions")]

    def make(self, role: Role, text: str) -> dict[str, Any]:
        return make_item(role, text)

    def new_results(self, conv: Conversation, calls: Sequence[ToolCall], text: str) -> list[Message]:
        return [msgspec.structs.replace(self.parse(make_output(c, text))) for c in calls]


RESPONSES = Responses()
