"""Conversations of any format as one neutral model: load, look, change, check, repair, write back."""

from __future__ import annotations

from pathlib import Path as _Path
from typing import Any

from monitor.conversation.formats import BY_NAME, detect
from monitor.conversation.formats.base import Document
from monitor.conversation.model import (
    CompactionOptions,
    Conversation,
    ConversationError,
    Image,
    Message,
    Opaque,
    Other,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    unreadable,
)

__all__ = [
    "CompactionOptions",
    "Conversation",
    "ConversationError",
    "Image",
    "Message",
    "Opaque",
    "Other",
    "Part",
    "Text",
    "Thinking",
    "ToolCall",
    "ToolResult",
    "dump",
    "from_messages",
    "load",
]


def load(
    source: str | _Path | bytes, format: str | None = None, *, path: str = "", call: int | None = None
) -> Conversation:
    """The conversation in a file, in bytes, or on stdin (``-``). ``format`` (a name) overrides detection by content.

    ``call`` takes one of several: the request of a capture, the conversation of a data export (from 0). Gzip and
    Zstandard are undone. Raises ConversationError: missing, empty, unreadable, of no known format, no such call.
    """
    if isinstance(source, bytes):
        data = source
    else:
        path = path or str(source)
        data = _read(path)
    data = _unpack(data, path)
    if not data.strip(b"\0 \t\r\n\xef\xbb\xbf"):
        raise ConversationError("is empty", path)
    if format is not None and format not in BY_NAME:
        raise ConversationError(f"format {format!r} is not known; known are {', '.join(sorted(BY_NAME))}", path)
    doc = Document(data, path, call)
    handler = BY_NAME[format] if format else detect(doc)
    if handler is None:
        raise ConversationError(_unknown(doc), path)
    return handler.load(doc)


def _read(path: str) -> bytes:
    if path == "-":
        import sys

        return sys.stdin.buffer.read()
    try:
        return _Path(path).read_bytes()
    except OSError as err:
        raise unreadable(path, err) from None


def _unpack(data: bytes, path: str) -> bytes:
    """Compressed logs as they were before; a database is refused with what to do instead."""
    try:
        if data.startswith(b"\x1f\x8b"):
            import gzip

            return gzip.decompress(data)
        if data.startswith(b"\x28\xb5\x2f\xfd"):
            import zstandard

            unpacked: bytes = zstandard.ZstdDecompressor().decompressobj().decompress(data)
            return unpacked
    except Exception as err:  # three libraries, three families of errors
        raise ConversationError(f"is compressed and broken ({type(err).__name__})", path) from None
    if data.startswith(b"SQLite format 3"):
        told = "is a database; export the conversation first (opencode export ID > file.json, hermes sessions export)"
        raise ConversationError(told, path)
    return data


def _unknown(doc: Document) -> str:
    if doc.json is not None or any(line.obj is not None for line in doc.lines):
        return "is no conversation of a known format; --help names the formats"
    first = next((line for line in doc.lines if line.error), None)
    where = f", line {first.number}: {first.error}" if first else ""
    return f"is neither JSON nor JSON lines{where}"


def from_messages(messages: list[Any] | dict[str, Any], format: str | None = None) -> Conversation:
    """A conversation from plain objects: a list of messages or a request body (OpenAI, Anthropic, Gemini …)."""
    doc = Document.of(messages)
    handler = BY_NAME[format] if format else detect(doc)
    if handler is None:
        raise ConversationError("is no conversation of a known format")
    return handler.load_body(messages)


def dump(conv: Conversation) -> bytes:
    """The conversation in its own format; what nobody changed is as it was in the input."""
    return conv.handler.dump(conv)
