"""From one format into another, where nothing is lost: texts, calls, results and images of requests.

Possible: between OpenAI Chat, Anthropic Messages and Gemini contents, and from a session file (Claude Code, Codex, Pi)
to one of these. Refused, with the reason: opaque items, signed thinking and blocks that the other format has no place
for. What a format keeps beside the messages (tool definitions, sampling) is not carried over and said so.
"""

from __future__ import annotations

from typing import Any

from monitor.compaction.options import CompactionError
from monitor.conversation import from_messages
from monitor.conversation.jsonio import dumps
from monitor.conversation.model import Conversation, Message, Other, Text, Thinking, ToolCall, ToolResult
from monitor.conversation.rules import check

TARGETS = ("openai-chat", "anthropic", "gemini")


def convert(conv: Conversation, target: str) -> tuple[Conversation, list[str]]:
    """(the conversation in ``target``, what was left out that no request needs). Raises CompactionError."""
    if target == conv.format:
        return conv, []
    if target not in TARGETS:
        raise CompactionError(f"--to {target}: possible are {', '.join(TARGETS)}", 2)
    left: list[str] = []
    system = [m.text for m in conv.system_messages() if m.text]
    messages = [m for m in conv.messages if m.role != "system"]
    for m in messages:
        _refuse(m, target)
    if any(isinstance(p, Thinking) for m in messages for p in m.parts):
        left.append("readable thinking, which is not sent again")
    body = {"openai-chat": _chat, "anthropic": _anthropic, "gemini": _gemini}[target](system, messages)
    if conv.header.get("tools"):
        left.append("tool definitions, which each provider words differently")
    if conv.model and target != "gemini":
        body = {"model": conv.model, **body}
    out = from_messages(body, target)
    broken = check(out)
    if broken:
        raise CompactionError(
            f"--to {target}: the result would break {broken[0].code} at {broken[0].where}; not converted"
        )
    return out, left


def _refuse(m: Message, target: str) -> None:
    if m.has_opaque:
        raise CompactionError(f"--to {target}: {m.where} is an opaque item that only its provider can read", 2)
    for p in m.parts:
        if isinstance(p, Thinking) and p.opaque:
            raise CompactionError(
                f"--to {target}: {m.where} holds encrypted reasoning that only its provider can read", 2
            )
        if isinstance(p, Other):
            raise CompactionError(f"--to {target}: {m.where} holds a {p.kind} block, which has no place there", 2)
        if not isinstance(p, Text | Thinking | ToolCall | ToolResult) or getattr(p, "images", False):
            raise CompactionError(f"--to {target}: {m.where} holds an image; images are not converted", 2)


def _arguments(call: ToolCall) -> dict[str, Any]:
    value = call.arguments
    return value if value is not None else {"input": call.arguments_text}


def _chat(system: list[str], messages: list[Message]) -> dict[str, Any]:
    out: list[dict[str, Any]] = [{"role": "system", "content": s} for s in system]
    for m in _joined(messages):
        role, text, calls, results = m
        out += [{"role": "tool", "tool_call_id": r.call_id, "content": r.text} for r in results]
        if role == "user":
            if text:
                out.append({"role": "user", "content": text})
        elif text or calls:
            made = [
                {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": dumps(_arguments(c))}}
                for c in calls
            ]
            out.append({"role": "assistant", "content": text or None} | ({"tool_calls": made} if made else {}))
    return {"messages": out}


def _anthropic(system: list[str], messages: list[Message]) -> dict[str, Any]:
    out: list[dict[str, Any]] = []
    for role, text, calls, results in _joined(messages):
        blocks: list[dict[str, Any]] = []
        for r in results:
            blocks.append(
                {"type": "tool_result", "tool_use_id": _id(r.call_id), "content": r.text}
                | ({"is_error": True} if r.is_error else {})
            )
        if text.strip():
            blocks.append({"type": "text", "text": text.rstrip() if role == "assistant" else text})
        blocks += [{"type": "tool_use", "id": _id(c.id), "name": c.name, "input": _arguments(c)} for c in calls]
        if blocks:
            out.append({"role": role, "content": blocks})
    return ({"system": "\n\n".join(system)} if system else {}) | {"max_tokens": 8192, "messages": out}


def _gemini(system: list[str], messages: list[Message]) -> dict[str, Any]:
    out: list[dict[str, Any]] = []
    names: dict[str, str] = {}
    for role, text, calls, results in _joined(messages):
        parts: list[dict[str, Any]] = []
        for r in results:
            parts.append(
                {
                    "functionResponse": {
                        "name": names.get(r.call_id, r.name or "tool"),
                        "response": {"error" if r.is_error else "output": r.text},
                    }
                }
            )
        if text.strip():
            if parts:
                out.append({"role": "user", "parts": parts})
                parts = []
            parts.append({"text": text})
        for c in calls:
            names[c.id] = c.name
            parts.append({"functionCall": {"name": c.name, "args": _arguments(c)}})
        if parts:
            out.append({"role": "model" if role == "assistant" else "user", "parts": parts})
    head = {"systemInstruction": {"parts": [{"text": s} for s in system]}} if system else {}
    return head | {"contents": out}


def _id(text: str) -> str:
    """An id of the characters Anthropic allows."""
    return "".join(ch if ch.isascii() and (ch.isalnum() or ch in "_-") else "_" for ch in text) or "call"


def _joined(messages: list[Message]) -> list[tuple[str, str, list[ToolCall], list[ToolResult]]]:
    """(role, text, calls, results) of each turn: the lines and items of one answer, and all results to it, joined."""
    out: list[tuple[str, str, list[ToolCall], list[ToolResult]]] = []
    for m in messages:
        role = "assistant" if m.role == "assistant" else "user"
        calls, results, text = list(m.calls), list(m.results), m.text
        if not (calls or results or text.strip()):
            continue
        last = out[-1] if out else None
        if last and last[0] == role and ((role == "assistant" and not (last[2] and text)) or (results and not last[1])):
            joined = "\n".join(t for t in (last[1], text) if t)
            out[-1] = (role, joined, [*last[2], *calls], [*last[3], *results])
        else:
            out.append((role, text, calls, results))
    return out
