"""Roles and the request around the messages: who speaks first, system prompts, cache marks, compaction
blocks, tools.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from monitor.conversation.jsonio import ident
from monitor.conversation.marks import OPENING
from monitor.conversation.model import Message, Opaque
from monitor.conversation.repair.base import Sheet
from monitor.conversation.repair.pairs import as_list, call_text
from monitor.conversation.rules.anthropic import blocks, kind
from monitor.conversation.rules.pi import PI_ROLES

_SYNONYMS = {"human": "user", "ai": "assistant", "bot": "assistant", "gpt": "assistant", "model": "assistant"}


_CHAT_ROLES: tuple[str, ...] = ("system", "developer", "user", "assistant", "tool", "function")
_ROLES: dict[str, tuple[str, ...]] = {
    "anthropic": ("user", "assistant", "system"),
    "gemini": ("user", "model", "function", "system", "developer"),
}


def fix_roles(sheet: Sheet) -> None:
    """Unknown roles, system prompts among the messages, a missing first user message, neighbours of one
    role.
    """
    if sheet.broken("role-unknown"):
        _unknown(sheet)
    if sheet.broken("A1-system-in-messages", "G6-system-role"):
        _system(sheet)
    if sheet.broken("G3-call-position"):
        _merge_neighbours(sheet, "model")
    if sheet.broken("C7-alternation"):
        _merge_neighbours(sheet, "")
    first = next((m for m in sheet.conv.messages if m.role != "system"), None)
    if first is None:
        return
    opens = sheet.broken("A1-first-not-user", "G1-first-not-user", "G3-call-position", "C7-alternation")
    if opens and first.role == "assistant" and not (first.parts and isinstance(first.parts[0], Opaque)):
        opening = msgspec.structs.replace(sheet.conv.new_message("user", OPENING), synthetic=True)
        at = list(sheet.conv.messages).index(first)
        sheet.say(f"{first.where}: a user message put before the first answer")
        sheet.put([*sheet.conv.messages[:at], opening, *sheet.conv.messages[at:]])


def _unknown(sheet: Sheet) -> None:
    gemini = sheet.conv.provider == "gemini"
    roles = _ROLES.get(sheet.conv.provider, _CHAT_ROLES)

    def change(m: Message) -> Message | None:
        raw = m.raw
        if sheet.conv.provider == "claude-code":
            return m
        if sheet.conv.provider == "pi":
            inner = raw.get("message")
            if raw.get("type") != "message" or (isinstance(inner, dict) and inner.get("role") in PI_ROLES):
                return m
            sheet.say(f"{m.where}: message of an unknown role removed")
            return None
        if isinstance(raw, dict) and (ident(raw.get("role")) in roles or (raw.get("type") or "message") != "message"):
            return m
        wanted = _SYNONYMS.get(str(raw.get("role")).lower()) if isinstance(raw, dict) else None
        if wanted is None:
            sheet.say(f"{m.where}: message of an unknown role removed")
            return None
        wanted = "model" if gemini and wanted == "assistant" else wanted
        sheet.say(f"{m.where}: role set to {wanted}")
        return sheet.reparse(m, {**raw, "role": wanted})

    sheet.each(change)


def _system(sheet: Sheet) -> None:
    moved = [m for m in sheet.conv.messages if m.role == "system"]
    if not moved:
        return
    texts = [m.text for m in moved if m.text.strip()]
    if sheet.conv.bare or not isinstance(sheet.conv.body, dict):
        for m in moved:
            sheet.say(f"{m.where}: system message turned into a user message (a bare list has no system prompt)")
        sheet.each(lambda m: sheet.conv.new_message("user", m.text) if m.role == "system" else m)
        return
    for m in moved:
        sheet.say(f"{m.where}: system message moved into the system prompt")
    body = sheet.conv.body
    if sheet.conv.provider == "gemini":
        key = "system_instruction" if "system_instruction" in body else "systemInstruction"
        old = body.get(key)
        held = old.get("parts") if isinstance(old, dict) else as_list(old, "parts")
        parts = held if isinstance(held, list) else []
        value: Any = {**(old if isinstance(old, dict) else {}), "parts": parts + [{"text": t} for t in texts]}
    else:
        key, old = "system", body.get("system")
        if isinstance(old, list):
            value = old + [{"type": "text", "text": t} for t in texts]
        else:
            value = "\n\n".join([*([old] if isinstance(old, str) and old else []), *texts])
    sheet.put([m for m in sheet.conv.messages if m.role != "system"])
    sheet.conv = sheet.conv.with_body({key: value})


def _merge_neighbours(sheet: Sheet, only: str) -> None:
    """Neighbours of one role become one message, their texts apart by an empty line."""
    out: list[Message] = []
    for m in sheet.conv.messages:
        before = out[-1] if out else None
        same = before is not None and before.raw.get("role") == m.raw.get("role")
        if before is None or not same or m.role not in ("user", "assistant") or (only and m.raw.get("role") != only):
            out.append(m)
            continue
        if before.calls and not only:
            out.append(m)
            continue
        sheet.say(f"{m.where}: joined with the message of the same role before it")
        out[-1] = sheet.reparse(before, _joined(before.raw, m.raw))
    sheet.put(out)


def _joined(a: dict[str, Any], b: dict[str, Any]) -> dict[str, Any]:
    key = "parts" if "parts" in a else "content"
    one, two = a.get(key), b.get(key)
    new: Any
    if isinstance(one, str | None) and isinstance(two, str | None):
        new = "\n\n".join(x for x in (one, two) if x) or None
    else:
        new = [*as_list(one, key), *as_list(two, key)]
    return {**b, **a, key: new}


def fix_compaction(sheet: Sheet) -> None:
    """A signed compaction block stands for all before it: that goes; of several the newest stays."""
    if sheet.broken("A6-compaction-in-system"):
        system = sheet.conv.body.get("system")
        kept = [b for b in system if kind(b) != "compaction"] if isinstance(system, list) else system
        sheet.say("system: compaction block removed")
        sheet.conv = sheet.conv.with_body({"system": kept or None})
    if not sheet.broken("A6-compaction-misplaced", "A6-compaction-many"):
        return
    spots = [
        (i, k)
        for i, m in enumerate(sheet.conv.messages)
        for k, b in enumerate(blocks(m.raw.get("content")))
        if kind(b) == "compaction" and b.get("signature") is not None
    ]
    if not spots:
        return
    i, k = spots[-1]
    m = sheet.conv.messages[i]
    content = blocks(m.raw.get("content"))[k:]
    sheet.say(f"{m.where}: what stands before the newest compaction block removed ({i} message(s))")
    first = sheet.reparse(m, {**m.raw, "content": content})
    sheet.put([first, *sheet.conv.messages[i + 1 :]])


def fix_request(sheet: Sheet) -> None:
    """Cache marks, empty system blocks, control items, tool blocks without tools."""
    conv = sheet.conv
    body = conv.body if isinstance(conv.body, dict) and not conv.bare else None
    if sheet.broken("A2-empty-text-block") and body and isinstance(body.get("system"), list):
        kept = [b for b in body["system"] if kind(b) != "text" or str(b.get("text") or "").strip()]
        if len(kept) != len(body["system"]):
            sheet.say("system: empty text block removed")
            sheet.conv = sheet.conv.with_body({"system": kept or None})
    if sheet.broken("A7-cache-control"):
        _cache_marks(sheet)
    if sheet.broken("R5-compaction-previous-id") and body:
        sheet.say("request: previous_response_id removed")
        sheet.conv = sheet.conv.with_body({"previous_response_id": None})
    if sheet.broken("R-trigger-misplaced"):
        triggers = [m for m in sheet.conv.messages if m.raw.get("type") == "compaction_trigger"]
        sheet.say("compaction_trigger moved to the end")
        rest = [m for m in sheet.conv.messages if m.raw.get("type") != "compaction_trigger"]
        sheet.put([*rest, *triggers[-1:]])
    if sheet.broken("A9-no-tools"):
        sheet.say("tool calls and results turned into text, as the request declares no tools")
        sheet.each(lambda m: call_text(sheet, m, results=True) if m.calls or m.results else m)
    if sheet.broken("C8-orphan-function"):
        _functions(sheet)


def _functions(sheet: Sheet) -> None:
    out: list[Message] = []
    name = None
    for m in sheet.conv.messages:
        if m.raw.get("role") == "function" and m.raw.get("name") != name:
            sheet.say(f"{m.where}: function message without its call removed")
            continue
        call = m.raw.get("function_call")
        name = call.get("name") if isinstance(call, dict) else None
        out.append(m)
    sheet.put(out)


def _cache_marks(sheet: Sheet) -> None:
    """Keep the last four marks of the request: those of tools and system, then the newest of the messages."""
    body = sheet.conv.body if isinstance(sheet.conv.body, dict) and not sheet.conv.bare else {}
    lists = [body.get("tools"), body.get("system")]
    fixed = sum(bool(b.get("cache_control")) for x in lists if isinstance(x, list) for b in x if isinstance(b, dict))
    if fixed > 4:
        sheet.say("request: cache_control marks of the tool definitions removed")
        tools = [{k: v for k, v in t.items() if k != "cache_control"} for t in body.get("tools") or []]
        sheet.conv = sheet.conv.with_body({"tools": tools or None})
        return
    spots = list(_marked(sheet))
    drop = set(spots[: max(len(spots) - (4 - fixed), 0)])
    by_message: dict[int, list[int]] = {}
    for i, k in drop:
        by_message.setdefault(i, []).append(k)

    def change(m: Message) -> Message:
        ks = by_message.get(m.index)
        if not ks:
            return m
        content = [
            {key: v for key, v in b.items() if key != "cache_control"} if k in ks else b
            for k, b in enumerate(m.raw["content"])
        ]
        return sheet.reparse(m, {**m.raw, "content": content})

    n = sheet.each(change)
    if n:
        sheet.say(f"messages: {len(drop)} cache_control mark(s) removed, the last ones kept")


def _marked(sheet: Sheet) -> Iterator[tuple[int, int]]:
    for i, m in enumerate(sheet.conv.messages):
        content = m.raw.get("content")
        for k, b in enumerate(content if isinstance(content, list) else []):
            if isinstance(b, dict) and b.get("cache_control"):
                yield i, k
