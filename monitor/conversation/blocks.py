"""Content of any provider's shape -> parts. One table for all formats: the block's own ``type`` decides."""

from __future__ import annotations

from typing import Any

from monitor.conversation.model import Image, Opaque, Other, Part, Path, Text, Thinking, ToolCall, ToolResult

#: Responses item types: call kind -> kind of its output
CALL_KINDS = {
    "function_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
    "local_shell_call": "local_shell_call_output",
    "computer_call": "computer_call_output",
    "shell_call": "shell_call_output",
    "apply_patch_call": "apply_patch_call_output",
    "tool_search_call": "tool_search_output",
}
OUTPUT_KINDS = {v: k for k, v in CALL_KINDS.items()}
COMPACTION_KINDS = ("compaction", "context_compaction", "compaction_summary")
_TEXT = ("text", "input_text", "output_text", "summary_text", "reasoning_text")
_IMAGE = ("image", "image_url", "input_image")


def parts_of(content: Any, path: Path) -> list[Part]:
    """Parts of a ``content`` value (string, list of blocks, single block or nothing) that stands at
    ``path``.
    """
    if isinstance(content, str):
        return [Text(content, path)] if content else []
    if isinstance(content, dict):
        return [block_part(content, path)]
    if not isinstance(content, list):
        return []
    return [
        Text(b, (*path, i)) if isinstance(b, str) else block_part(b, (*path, i))
        for i, b in enumerate(content)
        if isinstance(b, str | dict)
    ]


def block_part(block: dict[str, Any], path: Path) -> Part:
    """One block -> one part; a block of an unknown kind becomes Other, never nothing."""
    kind = block.get("type")
    if kind in _TEXT:
        text = block.get("text")
        return Text(text if isinstance(text, str) else "", path)
    if kind == "tool_use":
        return ToolCall(_str(block.get("id")), _str(block.get("name")), block.get("input"), "tool_use", path)
    if kind == "toolCall":
        return ToolCall(_str(block.get("id")), _str(block.get("name")), block.get("arguments"), "toolCall", path)
    if kind == "tool_result":
        text, images = result_text(block.get("content"))
        error = bool(block.get("is_error"))
        return ToolResult(_str(block.get("tool_use_id")), text, error, images, "", "tool_result", path)
    if kind == "thinking":
        signed = bool(block.get("signature") or block.get("thinkingSignature"))
        return Thinking(_str(block.get("thinking")), signed, False, path)
    if kind == "redacted_thinking":
        return Thinking("", True, True, path)
    if kind in _IMAGE:
        return image_part(block, path)
    if kind == "compaction":
        return Opaque("compaction", _str(block.get("content")), path)
    if kind == "refusal":
        return Other("refusal", _str(block.get("refusal")), path)
    return Other(_str(kind) or "unknown", _str(block.get("text")), path)


def image_part(block: dict[str, Any], path: Path) -> Image:
    """Media type and size of an image block of any provider."""
    source = block.get("source") if isinstance(block.get("source"), dict) else block
    assert isinstance(source, dict)
    url: Any = block.get("image_url")
    if isinstance(url, dict):
        url = url.get("url")
    if isinstance(url, str):
        if url.startswith("data:"):
            head, _, encoded = url.partition(",")
            return Image(head[5:].split(";")[0] or "image", len(encoded), path)
        return Image("image", None, path)
    data = source.get("data")
    media = source.get("media_type") or source.get("mimeType") or source.get("mime_type") or "image"
    return Image(_str(media), len(data) if isinstance(data, str) else None, path)


def result_text(content: Any) -> tuple[str, int]:
    """(text, number of images) of a tool result's content."""
    if isinstance(content, str):
        return content, 0
    if isinstance(content, dict):
        inner = content.get("content")
        if isinstance(inner, str | list):
            return result_text(inner)
        if isinstance(content.get("output"), str):
            return content["output"], 0
        from monitor.conversation.jsonio import dumps

        return dumps(content), 0
    texts: list[str] = []
    images = 0
    for block in content if isinstance(content, list) else []:
        if isinstance(block, str):
            texts.append(block)
        elif isinstance(block, dict):
            if block.get("type") in _IMAGE:
                images += 1
            elif isinstance(block.get("text"), str):
                texts.append(block["text"])
            elif isinstance(block.get("content"), str):
                texts.append(block["content"])
    return "\n".join(texts), images


def _str(value: Any) -> str:
    return value if isinstance(value, str) else ""
