"""Content of single messages: text that cannot be written, empty ones, images, arguments, thinking, block types."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from typing import Any

from monitor.conversation.formats.responses import item_type
from monitor.conversation.jsonio import dumps, loads
from monitor.conversation.model import Message, Part, Text, ToolCall
from monitor.conversation.repair.base import Sheet
from monitor.conversation.rules.anthropic import blocks as anthropic_blocks
from monitor.conversation.rules.base import image_count, image_data, readable
from monitor.conversation.rules.gemini import empty_part


def fix_text(sheet: Sheet) -> None:
    """Half surrogate pairs become U+FFFD."""
    if not sheet.broken("U-lone-surrogate"):
        return

    def clean(value: Any) -> Any:
        if isinstance(value, str):
            return "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in value)
        if isinstance(value, list):
            return [clean(v) for v in value]
        return {clean(k): clean(v) for k, v in value.items()} if isinstance(value, dict) else value

    def change(m: Message) -> Message:
        if "\\ud" not in dumps(m.raw):
            return m
        new = clean(m.raw)
        if new == m.raw:
            return m
        sheet.say(f"{m.where}: half character replaced")
        return sheet.reparse(m, new)

    sheet.each(change)


def fix_images(sheet: Sheet) -> None:
    """Images that do not decode, stand where none may, or make the request too large become placeholders."""
    if sheet.broken("image-broken"):
        _images(sheet, lambda m: True, _broken, "image that does not decode")
    if sheet.broken("C-image-role", "A-image-role", "R8-image-role"):
        _images(sheet, lambda m: m.role in ("assistant", "system"), lambda b: True, "image outside a user message")
    if sheet.broken("R8-image-empty"):
        _images(
            sheet, lambda m: True, lambda b: not b.get("image_url") and not b.get("file_id"), "image without a source"
        )
    if sheet.broken("too-large"):
        last = sheet.conv.last_user()
        _images(sheet, lambda m: m is not last, lambda b: True, "old image")


def _broken(block: dict[str, Any]) -> bool:
    for data in image_data(block):
        try:
            base64.b64decode(data, validate=True)
        except (binascii.Error, ValueError):
            return True
    return False


def _images(sheet: Sheet, which: Callable[[Message], bool], wrong: Callable[[dict[str, Any]], bool], what: str) -> None:
    def is_image(block: dict[str, Any]) -> bool:
        return (
            block.get("type") in ("image", "input_image", "image_url")
            or "inlineData" in block
            or "inline_data" in block
        )

    def walk(value: Any) -> Any:
        if isinstance(value, list):
            return [walk(v) for v in value]
        if not isinstance(value, dict):
            return value
        if is_image(value):
            return _placeholder(value) if wrong(value) else value
        return {k: v if k in ("input", "args", "arguments") else walk(v) for k, v in value.items()}

    def change(m: Message) -> Message:
        if not m.images or not which(m):
            return m
        new = walk(m.raw)
        if new == m.raw:
            return m
        sheet.say(f"{m.where}: {what} replaced by a placeholder")
        return sheet.reparse(m, new)

    sheet.each(change)


def _placeholder(block: dict[str, Any]) -> dict[str, Any]:
    from monitor.conversation.blocks import image_part

    inline = block.get("inlineData") or block.get("inline_data")
    part = image_part({"source": inline} if isinstance(inline, dict) else block, ())
    text = f"[image: {part.media_type}]"
    if inline is not None:
        return {"text": text}
    return {"type": "input_text" if block.get("type") == "input_image" else "text", "text": text}


def fix_arguments(sheet: Sheet) -> None:
    """Arguments in the type the provider wants; calls without a name get one."""
    if sheet.broken("C3-bad-id", "C9-arguments-not-string", "C9-no-name"):
        _call_shapes(sheet)
    if not sheet.broken(
        "C9-arguments-not-string", "R-arguments-not-string", "A4-input-not-object", "C9-no-name", "R-no-name"
    ):
        return
    objects = sheet.conv.provider in ("anthropic", "claude-code")

    def change(m: Message) -> Message:
        changes: dict[int, Part | None] = {}
        for k, p in enumerate(m.parts):
            if not isinstance(p, ToolCall) or p.kind not in ("function", "function_call", "tool_use"):
                continue
            raw, name = p.raw_arguments, p.name
            if m.raw.get("type") == "function_call" and not m.raw.get("name"):
                name = ""
            if objects and not isinstance(raw, dict):
                raw = _object(raw)
            elif not objects and not isinstance(raw, str):
                raw = "{}" if raw is None else dumps(raw)
            if raw is not p.raw_arguments or not name:
                changes[k] = ToolCall(p.id, name or "unknown", raw, p.kind)
        if not changes:
            return m
        sheet.say(f"{m.where}: arguments or name of {len(changes)} call(s) put right")
        return sheet.reparse(m, _with_keys(sheet.conv.edit(m, changes).raw, changes, m))

    sheet.each(change)


def _call_shapes(sheet: Sheet) -> None:
    """Entries of tool_calls that are no objects go; a call without its function gets an unnamed one."""

    def change(m: Message) -> Message:
        calls = m.raw.get("tool_calls")
        if not isinstance(calls, list):
            return m
        new = []
        for call in calls:
            if not isinstance(call, dict):
                continue
            if call.get("type", "function") == "function" and not isinstance(call.get("function"), dict):
                call = {**call, "type": "function", "function": {"name": "unknown", "arguments": "{}"}}
            new.append(call)
        if new == calls:
            return m
        sheet.say(f"{m.where}: broken entries of tool_calls put right or removed")
        return sheet.reparse(m, {**m.raw, "tool_calls": new})

    sheet.each(change)


def _object(raw: Any) -> dict[str, Any]:
    if isinstance(raw, str):
        try:
            value = loads(raw or "{}")
        except ValueError:
            return {"input": raw}
        return value if isinstance(value, dict) else {"input": value}
    return {} if raw is None else {"input": raw}


def _with_keys(raw: Any, changes: dict[int, Part | None], m: Message) -> Any:
    """Keys the edit could only replace are added where they were missing."""
    for k, new in changes.items():
        assert isinstance(new, ToolCall)
        block = raw
        for key in m.parts[k].path:
            block = block[key]
        target = block["function"] if isinstance(block.get("function"), dict) else block
        target.setdefault("input" if new.kind == "tool_use" else "arguments", new.raw_arguments)
        target["name"] = target.get("name") or new.name
    return raw


def fix_blocks(sheet: Sheet) -> None:
    """Block types that belong to the other role, compaction blocks that are empty or out of place."""
    if sheet.broken("R5-input-text-in-output", "R-content-type"):

        def retype(m: Message) -> Message:
            content = m.raw.get("content")
            if m.raw.get("type", "message") != "message" or not isinstance(content, list):
                return m
            wanted = "output_text" if m.raw.get("role") == "assistant" else "input_text"
            wrong = ("input_text",) if wanted == "output_text" else ("output_text", "refusal")
            if not any(isinstance(b, dict) and b.get("type") in wrong for b in content):
                return m
            sheet.say(f"{m.where}: block type set to {wanted}")
            new = [
                {"type": wanted, "text": b.get("text") or b.get("refusal") or ""}
                if isinstance(b, dict) and b.get("type") in wrong
                else b
                for b in content
            ]
            return sheet.reparse(m, {**m.raw, "content": new})

        sheet.each(retype)
    if sheet.broken("A2-bad-block"):

        def drop_bad(m: Message) -> Message:
            line = isinstance(m.raw.get("message"), dict)  # a line of a session holds the message
            holder = m.raw["message"] if line else m.raw
            content = holder.get("content")
            if not isinstance(content, list) or all(isinstance(b, dict) for b in content):
                return m
            sheet.say(f"{m.where}: block that is no object put right")
            new = [{"type": "text", "text": b} if isinstance(b, str) else b for b in content]
            mended = {**holder, "content": [b for b in new if isinstance(b, dict)]}
            return sheet.reparse(m, {**m.raw, "message": mended} if line else mended)

        sheet.each(drop_bad)
    if sheet.broken("R6-compaction-empty"):
        _drop(sheet, lambda m: m.opaque and not _sealed(m), "empty compaction item")


def _sealed(m: Message) -> bool:
    value = m.raw.get("encrypted_content")
    return isinstance(value, str) and bool(value)


def _drop(sheet: Sheet, which: Callable[[Message], bool], what: str) -> None:
    def change(m: Message) -> Message | None:
        if not which(m):
            return m
        sheet.say(f"{m.where}: {what} removed")
        return None

    sheet.each(change)


def fix_empty(sheet: Sheet) -> None:
    """Empty blocks and messages go; a null result becomes an empty one."""
    if sheet.broken("C5-empty-tool-calls"):

        def drop_key(m: Message) -> Message:
            calls = m.raw.get("tool_calls")
            if "tool_calls" not in m.raw or (isinstance(calls, list) and calls):
                return m
            sheet.say(f"{m.where}: tool_calls without a call removed")
            return sheet.reparse(m, {k: v for k, v in m.raw.items() if k != "tool_calls"})

        sheet.each(drop_key)
    if sheet.broken("A2-empty-text-block", "G4-empty-parts", "A6-compaction-empty"):
        sheet.each(lambda m: _empty_blocks(sheet, m))
    if sheet.broken("A2-trailing-whitespace") and sheet.conv.messages:
        _strip_end(sheet)
    if sheet.broken(
        "C4-null-content",
        "C4-empty-content",
        "A2-empty-content",
        "A2-empty-text-block",
        "R-empty-content",
        "P-empty-content",
        "G4-empty-parts",
    ):
        sheet.each(lambda m: _empty_message(sheet, m))


def _empty_blocks(sheet: Sheet, m: Message) -> Message:
    key = "parts" if "parts" in m.raw else "content"
    holder = m.raw.get("message") if isinstance(m.raw.get("message"), dict) else m.raw
    content = holder.get(key)
    if not isinstance(content, list):
        return m
    if key == "parts":
        kept = [p for p in content if not empty_part(p)]
    else:
        kept = [b for b in content if not _blank(b)]
    if len(kept) == len(content):
        return m
    sheet.say(f"{m.where}: {len(content) - len(kept)} empty block(s) removed")
    new = {**holder, key: kept}
    return sheet.reparse(m, new if holder is m.raw else {**m.raw, "message": new})


def _blank(block: Any) -> bool:
    if not isinstance(block, dict):
        return False
    if block.get("type") == "text":
        text = block.get("text")
        return not isinstance(text, str) or not text.strip()
    content = block.get("content")
    return block.get("type") == "compaction" and isinstance(content, str) and not content.strip()


def _strip_end(sheet: Sheet) -> None:
    last = sheet.conv.messages[-1]
    at = max((k for k, p in enumerate(last.parts) if isinstance(p, Text)), default=None)
    if last.role != "assistant" or at is None:
        return
    text = last.parts[at]
    assert isinstance(text, Text)
    sheet.say(f"{last.where}: white space at the end removed")
    stripped = text.text.rstrip()
    new = sheet.conv.edit(last, {at: Text(stripped) if stripped else None})
    sheet.put([*sheet.conv.messages[:-1], *([new] if new.parts else [])])


def _empty_message(sheet: Sheet, m: Message) -> Message | None:
    raw = m.raw
    if raw.get("role") == "tool":
        if raw.get("content") is not None:
            return m
        sheet.say(f"{m.where}: content null of a result set to empty text")
        return sheet.reparse(m, {**raw, "content": ""})
    if m.mark == "skipped" or not _says_nothing(sheet.conv.provider, m):
        return m
    sheet.say(f"{m.where}: empty message removed")
    return None


def _says_nothing(provider: str, m: Message) -> bool:
    """True where the provider would call the message empty."""
    raw = m.raw
    content = raw.get("content")
    if provider == "gemini":
        return not isinstance(raw.get("parts"), list) or not raw["parts"]
    if provider in ("anthropic", "claude-code"):
        inner = raw.get("message") if provider == "claude-code" else raw
        content = inner.get("content") if isinstance(inner, dict) else None
        return not anthropic_blocks(content) or (isinstance(content, str) and not content.strip())
    if provider == "pi":
        if raw.get("type") != "message":
            return False
        inner = raw.get("message")
        inner = inner if isinstance(inner, dict) else {}
        content = inner.get("content")
        if inner.get("role") == "assistant":
            return not content
        return inner.get("role") == "user" and not readable(content) and not image_count(content)
    if provider in ("responses", "codex") and item_type(raw) != "message":
        return False
    if raw.get("role") == "assistant" and any(raw.get(k) for k in ("tool_calls", "function_call", "refusal", "audio")):
        return False
    return raw.get("role") != "function" and not readable(content) and not image_count(content)
