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


def load(source: str | _Path | bytes, format: str | None = None, *, path: str = "") -> Conversation:
    """The conversation in a file or in bytes. ``format`` (a format's name) overrides detection by content.

    Raises ConversationError: file missing, empty, unreadable, or of no known format.
    """
    if isinstance(source, bytes):
        data = source
    else:
        path = path or str(source)
        try:
            data = _Path(source).read_bytes()
        except OSError as err:
            raise ConversationError(f"cannot be read ({err.strerror or err})", path) from None
    if not data.strip(b"\0 \t\r\n\xef\xbb\xbf"):
        raise ConversationError("is empty", path)
    if format is not None and format not in BY_NAME:
        raise ConversationError(f"format {format!r} is not known; known are {', '.join(sorted(BY_NAME))}", path)
    doc = Document(data, path)
    handler = BY_NAME[format] if format else detect(doc)
    if handler is None:
        raise ConversationError("is no conversation of a known format", path)
    return handler.load(doc)


def from_messages(messages: list[Any] | dict[str, Any], format: str | None = None) -> Conversation:
    """A conversation from plain Python objects: a list of messages or a request body (OpenAI, Anthropic,
    Gemini …).
    """
    from monitor.conversation.jsonio import dumps

    doc = Document(dumps(messages).encode("utf-8"))
    handler = BY_NAME[format] if format else detect(doc)
    if handler is None:
        raise ConversationError("is no conversation of a known format")
    return handler.load_body(messages)


def dump(conv: Conversation) -> bytes:
    """The conversation in its own format; what nobody changed is as it was in the input."""
    return conv.handler.dump(conv)
