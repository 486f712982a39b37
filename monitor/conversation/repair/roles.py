"""Who speaks: unknown roles, system prompts among the messages, a missing first user message, neighbours alike."""

from __future__ import annotations

from typing import Any

import msgspec

from monitor.conversation.jsonio import ident
from monitor.conversation.marks import LOST_CALL, OPENING, UNKNOWN_ROLE
from monitor.conversation.model import Message, Opaque
from monitor.conversation.repair.base import Sheet
from monitor.conversation.repair.pairs import as_list
from monitor.conversation.rules.base import image_count, readable
from monitor.conversation.rules.pi import PI_ROLES

_SYNONYMS = {"human": "user", "ai": "assistant", "bot": "assistant", "gpt": "assistant", "model": "assistant"}
_CHAT_ROLES: tuple[str, ...] = ("system", "developer", "user", "assistant", "tool", "function")
_ITEM_ROLES: tuple[str, ...] = ("system", "developer", "user", "assistant")
_ROLES: dict[str, tuple[str, ...]] = {
    "anthropic": ("user", "assistant", "system"),
    "gemini": ("user", "model", "function", "system", "developer"),
    "responses": _ITEM_ROLES,
    "codex": _ITEM_ROLES,
}
#: what only a model writes, and what only comes back to it
_OF_MODEL = ("tool_use", "thinking", "redacted_thinking", "server_tool_use", "output_text", "refusal", "functionCall")
_OF_USER = ("tool_result", "input_text", "input_image", "input_file", "input_audio", "functionResponse")


def fix_roles(sheet: Sheet) -> None:
    """Roles as the provider knows them, in an order it takes."""
    if sheet.broken("role-unknown"):
        _unknown(sheet)
    if sheet.broken("A1-system-in-messages", "G6-system-role"):
        _system(sheet)
    if sheet.broken("G3-call-position"):
        _merge_neighbours(sheet, "model")
    if sheet.broken("C7-alternation"):
        _merge_neighbours(sheet, "")
    if sheet.broken("C8-orphan-function"):
        _functions(sheet)
    first = next((m for m in sheet.conv.messages if m.role != "system"), None)
    if first is None:
        return
    opens = sheet.broken("A1-first-not-user", "G1-first-not-user", "G3-call-position", "C7-alternation")
    if opens and first.role == "assistant" and not (first.parts and isinstance(first.parts[0], Opaque)):
        opening = msgspec.structs.replace(sheet.conv.new_message("user", OPENING), synthetic=True)
        at = list(sheet.conv.messages).index(first)
        sheet.say(f"{first.where}: a user message put before the first answer")
        sheet.put([*sheet.conv.messages[:at], opening, *sheet.conv.messages[at:]])
    elif opens and sheet.conv.provider == "gemini" and first.raw.get("role") == "function" and not first.results:
        sheet.say(f"{first.where}: role set to user")
        sheet.each(lambda m: sheet.reparse(m, {**m.raw, "role": "user"}) if m is first else m)


def _unknown(sheet: Sheet) -> None:
    """Messages without a role, or with one nobody knows: what it must be by what they hold, else a note."""
    roles = _ROLES.get(sheet.conv.provider, _CHAT_ROLES)

    def change(m: Message) -> Message | None:
        raw = m.raw
        if sheet.conv.provider == "claude-code":
            return m
        if sheet.conv.provider == "pi":
            inner = raw.get("message")
            if raw.get("type") != "message" or (isinstance(inner, dict) and inner.get("role") in PI_ROLES):
                return m
            return _pi(sheet, m, inner if isinstance(inner, dict) else {})
        if not isinstance(raw, dict):
            return _loose(sheet, m)
        if ident(raw.get("role")) in roles and isinstance(raw.get("type", ""), str):
            return m
        if isinstance(raw.get("type"), str) and raw["type"] not in ("", "message"):
            return m
        if sheet.conv.provider in ("responses", "codex") and "role" not in raw:
            raw = _typed(raw)
            if raw.get("type") is not None:
                sheet.say(f"{m.where}: item type set to {raw['type']}")
                return sheet.reparse(m, raw)
        elif not isinstance(raw.get("type", ""), str):
            raw = {**raw, "type": "message"}
        wanted = _role_of(sheet.conv.provider, raw, roles)
        if wanted is not None:
            sheet.say(f"{m.where}: role set to {wanted}")
            return sheet.reparse(m, {**raw, "role": wanted})
        return _noted(sheet, m, raw)

    sheet.each(change)


def _role_of(provider: str, raw: dict[str, Any], roles: tuple[str, ...]) -> str | None:
    """The role a message has by its name or by what it holds; None where nothing tells."""
    answer = "model" if provider == "gemini" else "assistant"
    role = ident(raw.get("role"))
    if role in roles:
        return str(role)
    named = _SYNONYMS.get(str(role).lower())
    if named is not None:
        return answer if named == "assistant" else named
    if provider == "openai-chat":
        if raw.get("tool_calls") or raw.get("function_call"):
            return answer
        if isinstance(raw.get("tool_call_id"), str) and raw["tool_call_id"]:
            return "tool"
    return _by_blocks(raw, answer)


def _by_blocks(raw: dict[str, Any], answer: str) -> str | None:
    """The side that writes blocks of this kind; None where they are of neither or of both."""
    content = raw.get("parts", raw.get("content"))
    found = set()
    for block in content if isinstance(content, list) else []:
        kinds = {str(block.get("type")), *block} if isinstance(block, dict) else set()
        found |= {answer for kind in _OF_MODEL if kind in kinds} | {"user" for kind in _OF_USER if kind in kinds}
    return found.pop() if len(found) == 1 else None


def _typed(raw: dict[str, Any]) -> dict[str, Any]:
    """An item of the Responses API with the type that its keys tell; without ``type`` where they tell none."""
    rest = {k: v for k, v in raw.items() if k != "type"}
    if rest.get("call_id") and "output" in rest:
        return {"type": "function_call_output", **rest}
    if rest.get("call_id") and "arguments" in rest:
        return {"type": "function_call", **rest}
    if rest.get("call_id") and "input" in rest:
        return {"type": "custom_tool_call", **rest}
    if isinstance(rest.get("summary"), list):
        return {"type": "reasoning", **rest}
    if isinstance(rest.get("encrypted_content"), str):
        return {"type": "compaction", **rest}
    return rest


def _noted(sheet: Sheet, m: Message, raw: dict[str, Any]) -> Message | None:
    """What somebody said stays, with a mark that says that nobody knows who."""
    key = "parts" if "parts" in raw else "content"
    content = raw.get(key)
    said = readable(content) or image_count(content)
    if key == "parts" and isinstance(content, list):
        said = any(isinstance(p, dict) and (p.get("text") or p.get("inlineData")) for p in content)
    if not said:
        sheet.say(f"{m.where}: message of an unknown role without content removed")
        return None
    sheet.say(f"{m.where}: message of an unknown role kept as a note")
    new: Any = f"{UNKNOWN_ROLE}\n{content}"
    if isinstance(content, list):
        opening: dict[str, Any] = {"type": "text", "text": UNKNOWN_ROLE}
        if key == "parts":
            opening = {"text": UNKNOWN_ROLE}
        elif sheet.conv.provider in ("responses", "codex"):
            opening["type"] = "input_text"
        new = [opening, *content]
    note = sheet.reparse(m, {**raw, "role": "user", key: new})
    return msgspec.structs.replace(note, synthetic=True)


def _pi(sheet: Sheet, m: Message, inner: dict[str, Any]) -> Message | None:
    """A message inside an entry of Pi."""
    content = inner.get("content")
    kinds = {b.get("type") for b in content if isinstance(b, dict)} if isinstance(content, list) else set()
    wanted = "toolResult" if inner.get("toolCallId") else "assistant" if kinds & {"toolCall", "thinking"} else None
    if wanted is not None:
        sheet.say(f"{m.where}: role set to {wanted}")
        return sheet.reparse(m, {**m.raw, "message": {**inner, "role": wanted}})
    if not readable(content) and not image_count(content):
        sheet.say(f"{m.where}: message of an unknown role without content removed")
        return None
    sheet.say(f"{m.where}: message of an unknown role kept as a note")
    said = content if isinstance(content, list) else [{"type": "text", "text": content}]
    noted = {**inner, "role": "user", "content": [{"type": "text", "text": UNKNOWN_ROLE}, *said]}
    return msgspec.structs.replace(sheet.reparse(m, {**m.raw, "message": noted}), synthetic=True)


def _loose(sheet: Sheet, m: Message) -> Message | None:
    """What stands for a message and is no object: text becomes a note, anything else goes."""
    if not isinstance(m.raw, str) or not m.raw.strip():
        sheet.say(f"{m.where}: what is no message removed")
        return None
    sheet.say(f"{m.where}: text that is no message kept as a note")
    note = sheet.conv.new_message("user", f"{UNKNOWN_ROLE}\n{m.raw}")
    return msgspec.structs.replace(note, synthetic=True)


def _system(sheet: Sheet) -> None:
    answer = "model" if sheet.conv.provider == "gemini" else "assistant"

    def by_blocks(m: Message) -> Message:
        """Results and calls are no prompt, whatever role they were given."""
        role = _by_blocks(m.raw, answer) if m.role == "system" else None
        if role is None:
            return m
        sheet.say(f"{m.where}: role set to {role}")
        return sheet.reparse(m, {**m.raw, "role": role})

    sheet.each(by_blocks)
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
        # a late system message takes no turn: it goes in front of the two that it stood between
        at = len(out) - 1
        while not only and at >= 0 and out[at].role == "system":
            at -= 1
        before = out[at] if at >= 0 else None
        same = before is not None and before.raw.get("role") == m.raw.get("role")
        if before is None or not same or m.role not in ("user", "assistant") or (only and m.raw.get("role") != only):
            out.append(m)
            continue
        if before.calls and not only:
            out.append(m)
            continue
        sheet.say(f"{m.where}: joined with the message of the same role before it")
        out.append(sheet.reparse(before, _joined(before.raw, m.raw)))
        del out[at]
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


def _functions(sheet: Sheet) -> None:
    """A function message follows its call, or it is a note as any result without its call."""
    out: list[Message] = []
    name = None
    for m in sheet.conv.messages:
        raw = m.raw if isinstance(m.raw, dict) else {}
        if raw.get("role") == "function" and (name is None or raw.get("name") != name):
            text = "\n".join(r.text for r in m.results)
            role = "tool" if isinstance(raw.get("tool_call_id"), str) and raw["tool_call_id"] else ""
            if role:
                sheet.say(f"{m.where}: role set to tool")
                out.append(sheet.reparse(m, {**raw, "role": role}))
            elif text.strip():
                sheet.say(f"{m.where}: function message without its call kept as a note")
                note = sheet.conv.new_message("user", f"{LOST_CALL}\n{text}")
                out.append(msgspec.structs.replace(note, synthetic=True, exchange=m.exchange))
            else:
                sheet.say(f"{m.where}: empty function message without its call removed")
            continue
        call = raw.get("function_call")
        name = call.get("name") if isinstance(call, dict) else None
        out.append(m)
    sheet.put(out)
