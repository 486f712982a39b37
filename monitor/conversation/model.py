"""The neutral conversation: what every format is read into and written from.

It consists of messages (:mod:`monitor.conversation.messages`), which keep their source objects: a message nobody
changed is written back as the same object, and a session line nobody changed as the same bytes.

A :class:`Conversation` is immutable; every change gives a new one:

* ``conv.with_messages(messages)``  another list of messages, in the same file (repair, trimming);
* ``conv.edit(message, {part index: new part or None})``  one message with some parts replaced or removed;
* ``conv.new_message(role, text)``  a message of the format's own shape;
* ``conv.compacted(summary, kept, options)``  the format's own way to stand on a summary.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import msgspec

from monitor.conversation import units
from monitor.conversation.edit import edit
from monitor.conversation.jsonio import Line
from monitor.conversation.messages import (
    Image,
    Message,
    Opaque,
    Other,
    Part,
    Path,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from monitor.conversation.units import Exchange, Unit

#: whoever handles conversations needs their messages as well: one door to both
__all__ = [
    "CompactionOptions",
    "Conversation",
    "ConversationError",
    "Handler",
    "Image",
    "Message",
    "Opaque",
    "Other",
    "Part",
    "Path",
    "Role",
    "Text",
    "Thinking",
    "ToolCall",
    "ToolResult",
    "unreadable",
]


class ConversationError(Exception):
    """A file that cannot be used: one clear sentence, with the file and (if known) the line."""

    def __init__(self, reason: str, file: str = "", line: int | None = None) -> None:
        self.reason, self.file, self.line = reason, file, line
        where = f"{file}, line {line}: " if file and line else f"{file}: " if file else ""
        super().__init__(f"{where}{reason}")


def unreadable(path: str, err: OSError) -> ConversationError:
    """The error for a file that the system does not open."""
    if os.path.isdir(path):
        return ConversationError("cannot be read: it is a folder; name one conversation or session file in it", path)
    return ConversationError(f"cannot be read ({err.strerror or err})", path)


class CompactionOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What a format needs to write a compaction. Nothing here is taken from the clock."""

    timestamp: str = ""  # ISO 8601 with Z; "" = that of the last line
    tokens_before: int | None = None
    trigger: str = "manual"
    append: bool = False  # session files: keep the history in the file and append the compaction
    acknowledgement: str = ""  # assistant message behind the summary (message formats only); "" = none
    read_files: tuple[str, ...] = ()  # Pi stores these beside the summary
    modified_files: tuple[str, ...] = ()


class Handler(Protocol):
    """What a conversation, and whoever judges or mends one, asks of the format it came in.

    Every :class:`monitor.conversation.formats.base.Format` is one; its methods say what they do.
    """

    name: str
    message_keys: tuple[str, ...]
    jsonl: bool

    def load_body(self, body: Any, path: str = "") -> Conversation: ...

    def list_key(self, body: Any) -> str: ...

    def parse_list(self, items: list[Any], key: str) -> list[Message]: ...

    def view(self, raw: Any) -> Message: ...

    def parse_system(self, body: dict[str, Any]) -> list[Message]: ...

    def history(self, conv: Conversation) -> tuple[Message, ...]: ...

    def dump(self, conv: Conversation) -> bytes: ...

    def body(self, conv: Conversation) -> Any: ...

    def write_part(self, block: Any, old: Part, new: Part) -> Any: ...

    def new_message(self, conv: Conversation, role: Role, text: str, *, summary: bool = False) -> Message: ...

    def new_results(self, conv: Conversation, calls: Sequence[ToolCall], text: str) -> list[Message]: ...

    def compacted(
        self, conv: Conversation, summary: str, kept: Sequence[Message], options: CompactionOptions
    ) -> Conversation: ...


class Conversation(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """A conversation as the model would see it, and the file around it."""

    format: str  # openai-chat, anthropic, responses, gemini, claude-code, codex, pi, cline, opencode, hermes, ...
    provider: str  # rule set that judges it: one of monitor.conversation.rules.PROVIDERS
    handler: Handler
    path: str = ""
    size: int = 0  # bytes of the input
    messages: tuple[Message, ...] = ()
    #: system prompts that stand outside the messages (Anthropic "system", Responses "instructions", Gemini
    #: "systemInstruction", Codex base instructions); never part of ``messages``
    system: tuple[Message, ...] = ()
    body: Any = None  # parsed document of a JSON format (its message list is stale once messages changed)
    bare: bool = False  # the document is only the list of messages
    lines: tuple[Line, ...] = ()  # all lines of a JSONL format
    original: tuple[Message, ...] = ()  # ``messages`` as loaded
    source_bytes: bytes = b""  # the input, for writing unchanged conversations back
    container: str = ""  # "har", "litellm", "api-log" ...: the request body was taken out of such a file
    calls_in_file: int = 0  # how many request bodies that file holds
    call_index: int | None = None  # which of them this is, from 0
    model: str | None = None
    session: str | None = None
    touched: bool = False  # keys of the body were changed
    notes: tuple[str, ...] = ()  # what loading has to tell the user (which of several conversations was taken ...)

    def __repr__(self) -> str:
        """No text of the conversation: representations end up in logs."""
        return f"<Conversation {self.format} {self.path!r}, {len(self.messages)} messages>"

    # ---------------------------------------------------------------- reading
    @property
    def header(self) -> dict[str, Any]:
        """Request-level keys beside the messages (model, tools, temperature ...); {} for a bare list."""
        if self.bare or not isinstance(self.body, dict):
            return {}
        return {k: v for k, v in self.body.items() if k not in self.handler.message_keys}

    @property
    def tools(self) -> list[Any] | None:
        """Tool definitions of the request, None where the file has none."""
        tools = self.header.get("tools")
        return tools if isinstance(tools, list) else None

    def system_messages(self) -> list[Message]:
        """All system prompts: those outside the messages first, then those inside, in order."""
        return [*self.system, *(m for m in self.messages if m.role == "system")]

    def history(self) -> tuple[Message, ...]:
        """All messages the file holds, folded ones and other branches included, in file order.

        Equals ``messages`` for formats that hold no more than the next request. Summaries stand where they
        were made.
        """
        return self.handler.history(self)

    def exchanges(self) -> list[Exchange]:
        """The messages by exchange: a typed user message up to the next one (see
        ``monitor.conversation.units``).
        """
        return units.exchanges(self.messages)

    def units(self) -> list[Unit]:
        """The messages as atomic groups, in order: cut only between them."""
        return units.units(self.messages)

    def user_texts(self) -> list[tuple[int, str]]:
        """(exchange number, text) of every message the user typed, in order."""
        return [(m.exchange or 0, m.text) for m in self.messages if m.typed]

    def last_user(self) -> Message | None:
        """The last message the user typed, None if there is none."""
        return next((m for m in reversed(self.messages) if m.typed), None)

    # ---------------------------------------------------------------- changing
    def with_messages(self, messages: Sequence[Message]) -> Conversation:
        """The same file with these messages; order as given. Links of session lines are mended when dumped."""
        numbered = tuple(m if m.index == i else msgspec.structs.replace(m, index=i) for i, m in enumerate(messages))
        return msgspec.structs.replace(self, messages=numbered)

    def with_body(self, changes: Mapping[str, Any]) -> Conversation:
        """The same messages in a request with other keys; None removes a key. Only for request bodies."""
        body = {k: v for k, v in self.body.items() if k not in changes}
        body |= {k: v for k, v in changes.items() if v is not None}
        system = tuple(self.handler.parse_system(body))
        return msgspec.structs.replace(self, body=body, system=system, touched=True)

    def new_message(self, role: Role, text: str, *, summary: bool = False) -> Message:
        """A user, assistant or system message in the shape of the format. ``summary`` sets its mark where
        it has one.
        """
        return self.handler.new_message(self, role, text, summary=summary)

    def new_results(self, calls: Sequence[ToolCall], text: str) -> list[Message]:
        """Messages that answer these calls (all of one assistant message) with the same text, marked as
        errors.
        """
        return self.handler.new_results(self, calls, text)

    def edit(self, message: Message, changes: Mapping[int, Part | None]) -> Message:
        """``message`` with parts replaced (same kind of part) or removed (None). The other parts stay as
        they are.
        """
        return edit(self.handler.write_part, message, changes)

    def compacted(
        self, summary: str, kept: Sequence[Message], options: CompactionOptions | None = None
    ) -> Conversation:
        """The conversation standing on ``summary`` (a user message), followed by ``kept`` messages.

        System prompts stay first and untouched; opaque compaction items at the start of ``kept`` come before the
        summary, as providers ignore what stands before them. Session files get their own boundary (Claude Code
        ``compact_boundary``, Codex ``compacted``, Pi ``compaction``). The result is re-read from its own
        bytes, so what it shows is what another program will see.
        """
        return self.handler.compacted(self, summary, kept, options or CompactionOptions())

    @property
    def changed(self) -> bool:
        """True where messages or body differ from what was loaded."""
        return self.touched or self.messages_changed

    @property
    def messages_changed(self) -> bool:
        """True where the messages differ from those loaded."""
        return len(self.messages) != len(self.original) or any(
            a.raw is not b.raw for a, b in zip(self.messages, self.original)
        )
