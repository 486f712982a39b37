"""Change or remove single parts of a message, leaving the rest of its raw object alone (copy on write)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from monitor.conversation.messages import Image, Message, Part, Path, Text, Thinking, ToolCall, ToolResult


def edit(write: Callable[[Any, Part, Part], Any], message: Message, changes: Mapping[int, Part | None]) -> Message:
    """``message`` with ``changes`` applied: part index -> new part, or None to remove the block.

    ``write`` gives the raw block of an old part with the content of a new one, in the shape of the message's format.

    A part that is the whole content (a string) is emptied instead of removed. An Image may be replaced by a
    Text (a placeholder); otherwise the new part is of the old one's kind. Raises KeyError for an index that
    does not exist.
    """
    raw = message.raw
    parts: list[Part | None] = list(message.parts)
    removed: list[Path] = []
    for at, new in changes.items():
        if not 0 <= at < len(parts):
            raise KeyError(at)
        old = parts[at]
        assert old is not None
        if new is None:
            removed.append(old.path)
            parts[at] = None
        else:
            raw = _set(raw, old.path, write(_get(raw, old.path), old, new))
            parts[at] = msgspec.structs.replace(new, path=old.path)
    for path in sorted(removed, key=str, reverse=True):
        if path and isinstance(path[-1], str):
            raw = _set(raw, path, "")
    raw = _remove(raw, [p for p in removed if p and isinstance(p[-1], int)])
    kept = tuple(_shift(p, removed) for p in parts if p is not None)
    return msgspec.structs.replace(message, raw=raw, parts=kept)


def write_block(block: Any, old: Part, new: Part) -> Any:
    """The block of ``old`` with the content of ``new``; handles the block shapes of all message formats."""
    if isinstance(block, str):  # plain string content
        if isinstance(new, Text | ToolResult):
            return new.text
        raise ValueError("a string content can only hold text")
    if not isinstance(block, dict):
        raise ValueError("not a block")
    if isinstance(old, Image) and isinstance(new, Text):
        kind = {"input_image": "input_text"}.get(str(block.get("type")), "text")
        if "inlineData" in block or "inline_data" in block:
            return {"text": new.text}
        return {"type": kind, "text": new.text}
    if isinstance(new, Text) and not isinstance(old, Text):
        return {"text": new.text} if "functionCall" in block or "functionResponse" in block else _text_block(new)
    if isinstance(new, Text):
        return {**block, "text": new.text}
    if isinstance(new, Thinking):
        return {**block, "thinking": new.text}
    if isinstance(new, ToolCall):
        return _write_call(block, new)
    if isinstance(new, ToolResult):
        assert isinstance(old, ToolResult)
        return _write_result(block, old, new)
    raise ValueError(f"cannot write a {type(new).__name__} here")


def _text_block(new: Text) -> dict[str, Any]:
    return {"type": "text", "text": new.text}


def _write_call(block: dict[str, Any], new: ToolCall) -> dict[str, Any]:
    if isinstance(block.get("functionCall"), dict):
        return {**block, "functionCall": _fill_call(block["functionCall"], new)}
    for key in ("function", "custom"):
        if isinstance(block.get(key), dict):
            return {**block, "id": new.id, key: _fill_call(block[key], new)}
    out = _fill_call(block, new)
    if block.get("call_id") is not None or str(block.get("type")).endswith("_call"):
        out["call_id"] = new.id
    elif new.kind != "function_call":  # the legacy function_call of Chat has no id
        out["id"] = new.id
    return out


def _fill_call(block: dict[str, Any], new: ToolCall) -> dict[str, Any]:
    out = dict(block)
    for key in ("arguments", "input", "args", "action"):
        if key in out:
            out[key] = new.raw_arguments
            break
    if "name" in out and new.name:
        out["name"] = new.name
    return out


_RESULT_IDS = {"tool_result": "tool_use_id", "tool": "tool_call_id", "toolResult": "toolCallId"}


def _write_result(block: dict[str, Any], before: ToolResult, new: ToolResult) -> dict[str, Any]:
    response = block.get("functionResponse")
    if isinstance(response, dict):
        old = response.get("response")
        if new.name:
            response = {**response, "name": new.name}
        if new.text == before.text:
            return {**block, "functionResponse": response}
        keys = [k for k, v in old.items() if isinstance(v, str)] if isinstance(old, dict) else []
        key = next((k for k in ("output", "result", "content", "error") if k in keys), keys[0] if keys else "output")
        return {**block, "functionResponse": {**response, "response": {key: new.text}}}
    out = dict(block)
    if new.call_id != before.call_id:
        out[_RESULT_IDS.get(new.kind, "call_id")] = new.call_id
    if new.text == before.text and new.images == before.images:
        return out
    for key in ("output", "content"):
        if key not in out:
            continue
        old = out[key]
        if isinstance(old, list):
            text = next((b for b in old if isinstance(b, dict) and isinstance(b.get("text"), str)), {"type": "text"})
            images = [b for b in old if isinstance(b, dict) and "image" in str(b.get("type"))] if new.images else []
            out[key] = [{**text, "text": new.text}, *images]
        else:
            out[key] = new.text
        return out
    out["content"] = new.text
    return out


def _get(raw: Any, path: Path) -> Any:
    for key in path:
        raw = raw[key]
    return raw


def _set(raw: Any, path: Path, value: Any) -> Any:
    if not path:
        return value
    copy: Any = list(raw) if isinstance(raw, list) else dict(raw)
    copy[path[0]] = _set(raw[path[0]], path[1:], value)
    return copy


def _remove(raw: Any, paths: list[Path]) -> Any:
    """Remove list elements; later ones first, so that positions stay right."""
    for path in sorted(paths, key=lambda p: [(0, k) if isinstance(k, int) else (1, 0) for k in p], reverse=True):
        parent = list(_get(raw, path[:-1]))
        del parent[int(path[-1])]
        raw = _set(raw, path[:-1], parent)
    return raw


def _shift(part: Part, removed: list[Path]) -> Part:
    """``part`` with its path after the removal of blocks before it in the same list."""
    path = list(part.path)
    for gone in removed:
        at = len(gone) - 1
        if not gone or not isinstance(gone[-1], int) or len(part.path) <= at or part.path[:at] != gone[:-1]:
            continue
        mine, theirs = part.path[at], gone[-1]
        if isinstance(mine, int) and mine > theirs:
            path[at] -= 1  # type: ignore[operator]
    return part if tuple(path) == part.path else msgspec.structs.replace(part, path=tuple(path))
