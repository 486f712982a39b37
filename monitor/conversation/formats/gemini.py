"""Gemini: a request body with ``contents``, or the bare list of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from monitor.conversation.blocks import image_part, result_text
from monitor.conversation.formats.base import Document, Format
from monitor.conversation.marks import looks_like_summary, looks_synthetic
from monitor.conversation.model import (
    Conversation,
    Message,
    Other,
    Part,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

_SYSTEM = ("systemInstruction", "system_instruction")


class Gemini(Format):
    """Turns of parts: text, functionCall, functionResponse, inlineData."""

    name = provider = "gemini"
    message_keys = ("contents",)

    def sniff(self, doc: Document) -> float:
        body = doc.json
        if isinstance(body, dict):
            return 0.9 if isinstance(body.get("contents"), list) else 0.0
        if not isinstance(body, list):
            return 0.0
        return 0.9 if any(isinstance(i, dict) and isinstance(i.get("parts"), list) for i in body) else 0.0

    def parse_list(self, items: list[Any], key: str) -> list[Message]:
        """Calls without an id get one from their place, and the answers in the next turn the same one, in
        order.
        """
        out: list[Message] = []
        before: list[ToolCall] = []
        for i, item in enumerate(items):
            message = msgspec.structs.replace(self.parse(item), index=i, where=f"{key}[{i}]")
            parts = list(message.parts)
            open_calls = list(before)
            for k, part in enumerate(parts):
                if isinstance(part, ToolCall) and not part.id:
                    parts[k] = msgspec.structs.replace(part, id=f"{part.name}@{i}.{k}")
                elif isinstance(part, ToolResult) and not part.call_id:
                    match = next((c for c in open_calls if c.name == part.name), None)
                    if match is None and len(open_calls) == sum(isinstance(p, ToolResult) for p in parts[k:]):
                        match = next(iter(open_calls), None)  # a wrong name: by its place
                    if match:
                        open_calls.remove(match)
                        parts[k] = msgspec.structs.replace(part, call_id=match.id)
            if parts != list(message.parts):
                message = msgspec.structs.replace(message, parts=tuple(parts))
            before = [p for p in parts if isinstance(p, ToolCall)]
            out.append(message)
        return out

    def parse(self, item: Any) -> Message:
        if not isinstance(item, dict):
            return Message("user", (), item, synthetic=True)
        raw = item.get("parts")
        parts = [
            _part(p, ("parts", k)) for k, p in enumerate(raw if isinstance(raw, list) else []) if isinstance(p, dict)
        ]
        role: Role = "assistant" if item.get("role") == "model" else "user"
        if item.get("role") in ("system", "developer"):
            role = "system"
        text = "\n".join(p.text for p in parts if isinstance(p, Text)) if role == "user" else ""
        if role == "user" and not text.strip() and any(isinstance(p, ToolResult) for p in parts):
            role = "tool"
        return Message(role, tuple(parts), item, is_summary=looks_like_summary(text), synthetic=looks_synthetic(text))

    def parse_system(self, body: dict[str, Any]) -> list[Message]:
        for key in _SYSTEM:
            system = body.get(key)
            if isinstance(system, str) and system:
                return [Message("system", (Text(system),), system, where=key)]
            if isinstance(system, dict) and isinstance(system.get("parts"), list):
                parts = tuple(_part(p, ("parts", k)) for k, p in enumerate(system["parts"]) if isinstance(p, dict))
                return [Message("system", parts, system, where=key)]
        return []

    def make(self, role: Role, text: str) -> dict[str, Any]:
        return {"role": "model" if role == "assistant" else role, "parts": [{"text": text}]}

    def new_results(self, conv: Conversation, calls: Sequence[ToolCall], text: str) -> list[Message]:
        parts = []
        for call in calls:
            response: dict[str, Any] = {"name": call.name, "response": {"error": text}}
            if call.id and "@" not in call.id:  # ids made up at loading are not written
                response = {"id": call.id, **response}
            parts.append({"functionResponse": response})
        message = self.parse({"role": "user", "parts": parts})
        answers = tuple(
            msgspec.structs.replace(p, call_id=c.id)
            for p, c in zip((p for p in message.parts if isinstance(p, ToolResult)), calls)
        )
        return [msgspec.structs.replace(message, parts=answers)]


def _part(block: dict[str, Any], path: tuple[str | int, ...]) -> Part:
    call = block.get("functionCall")
    if isinstance(call, dict):
        return ToolCall(str(call.get("id") or ""), str(call.get("name") or ""), call.get("args"), "functionCall", path)
    answer = block.get("functionResponse")
    if isinstance(answer, dict):
        response = answer.get("response")
        failed = isinstance(response, dict) and "error" in response
        value = (
            next(
                (response[k] for k in ("output", "result", "content", "error") if isinstance(response.get(k), str)),
                None,
            )
            if isinstance(response, dict)
            else None
        )
        text = value if value is not None else result_text(response)[0]
        name = str(answer.get("name") or "")
        return ToolResult(str(answer.get("id") or ""), text, failed, 0, name, "functionResponse", path)
    for key in ("inlineData", "inline_data"):
        if isinstance(block.get(key), dict):
            return image_part({"source": block[key]}, path)
    if isinstance(block.get("text"), str):
        if block.get("thought"):
            return Thinking(block["text"], bool(block.get("thoughtSignature")), False, path)
        return Text(block["text"], path)
    return Other(next(iter(block), "unknown"), "", path)


GEMINI = Gemini()
