"""The neutral conversation: what every format is read into and written from.

Lossless by construction: a :class:`Message` keeps the source object it came from (``raw``) and where in the
file it stood; the parsed view (role, parts) only helps to reason about it. A message nobody changed is
written back as the same object, and a session line nobody changed as the same bytes.

A :class:`Conversation` is immutable; every change gives a new one:

* ``conv.with_messages(messages)``  another list of messages, in the same file (repair, trimming);
* ``conv.edit(message, {part index: new part or None})``  one message with some parts replaced or removed;
* ``conv.new_message(role, text)``  a message of the format's own shape;
* ``conv.compacted(summary, kept, options)``  the format's own way to stand on a summary.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import msgspec

if TYPE_CHECKING:
    from monitor.conversation.formats.base import Format
    from monitor.conversation.units import Exchange, Unit

Role = Literal["system", "user", "assistant", "tool"]
Path = tuple[str | int, ...]


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


class Text(msgspec.Struct, frozen=True, gc=False):
    """Readable text of a message."""

    text: str
    path: Path = ()


class ToolCall(msgspec.Struct, frozen=True):
    """A call of a tool. ``raw_arguments`` is what the file holds: a JSON string, an object or plain text."""

    id: str
    name: str
    raw_arguments: Any = None
    kind: str = "function"  # the format's own type word: function_call, custom_tool_call, local_shell_call ...
    path: Path = ()

    @property
    def arguments(self) -> dict[str, Any] | None:
        """The arguments as an object; None where they are none (free text, cut JSON)."""
        value = self.raw_arguments
        if isinstance(value, str):
            try:
                value = msgspec.json.decode(value or "{}")
            except (msgspec.MsgspecError, UnicodeError):
                return None
        return value if isinstance(value, dict) else None

    @property
    def arguments_text(self) -> str:
        """The arguments as the model wrote them, as text."""
        value = self.raw_arguments
        if isinstance(value, str):
            return value
        from monitor.conversation.jsonio import dumps

        return "" if value is None else dumps(value)


class ToolResult(msgspec.Struct, frozen=True, gc=False):
    """The answer to a call. ``images`` counts the images inside; their bytes stay in the raw object."""

    call_id: str
    text: str
    is_error: bool = False
    images: int = 0
    name: str = ""
    kind: str = ""
    path: Path = ()


class Thinking(msgspec.Struct, frozen=True, gc=False):
    """Reasoning of the model. ``opaque``: only an encrypted or redacted form exists; ``signed``: bound to
    its place.
    """

    text: str
    signed: bool = False
    opaque: bool = False
    path: Path = ()


class Image(msgspec.Struct, frozen=True, gc=False):
    """An image. ``size`` = characters of the base64 data (None: only a link)."""

    media_type: str
    size: int | None = None
    path: Path = ()


class Opaque(msgspec.Struct, frozen=True, gc=False):
    """A provider's compaction item: to be passed on whole, never to be read or summarised.

    ``text`` is its readable summary where it has one (Anthropic threshold compaction), else "".
    """

    kind: str
    text: str = ""
    path: Path = ()


class Other(msgspec.Struct, frozen=True, gc=False):
    """Any other block (file, audio, server tool, refusal ...): kept, not understood. ``text``: what is
    readable.
    """

    kind: str
    text: str = ""
    path: Path = ()


Part = Text | ToolCall | ToolResult | Thinking | Image | Opaque | Other


class Message(msgspec.Struct, frozen=True, eq=False):
    """One message, item or line of the file.

    ``role`` is ``tool`` where the message holds tool results and no text of its own.
    ``raw`` is the source object: the message itself, or the whole line of a session file.
    """

    role: Role
    parts: tuple[Part, ...]
    raw: Any
    where: str = ""  # "messages[3]", "line 12", "line 8.replacement_history[2]"
    index: int = -1  # position in conv.messages
    line: int | None = None  # line number in a JSONL file, from 1
    source: int | None = None  # index into conv.lines; None: not from a line, or new
    sub: int | None = None  # index inside that line (Codex replacement_history)
    exchange: int | None = None  # number of the user message it belongs to, from 1; None before the first
    group: str = ""  # lines of one API message share it (Claude Code message id); "" = stands alone
    is_summary: bool = False  # summary of an earlier compaction (by the format's mark or a client's known opening)
    synthetic: bool = False  # user role, but not typed by the user (reminders, environment, task notifications)
    opaque: bool = False  # a whole compaction item (Responses, Codex)
    mark: str = ""  # format's own note: "boundary" (a compaction's place in the history), "custom", "skipped"
    time: str | int | float | None = None  # as the file has it

    @property
    def text(self) -> str:
        """All readable text of the message (no calls, no results, no thinking), blocks joined by newlines."""
        return "\n".join(p.text for p in self.parts if isinstance(p, Text))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """Its tool calls, in order."""
        return tuple(p for p in self.parts if isinstance(p, ToolCall))

    @property
    def results(self) -> tuple[ToolResult, ...]:
        """Its tool results, in order."""
        return tuple(p for p in self.parts if isinstance(p, ToolResult))

    @property
    def images(self) -> int:
        """Number of images, those inside tool results included."""
        return sum(1 if isinstance(p, Image) else getattr(p, "images", 0) for p in self.parts)

    @property
    def has_thinking(self) -> bool:
        """True where the message holds reasoning, readable or not."""
        return any(isinstance(p, Thinking) for p in self.parts)

    @property
    def has_opaque(self) -> bool:
        """True where the message holds a provider's compaction item (alone or beside other blocks)."""
        return any(isinstance(p, Opaque) for p in self.parts)

    @property
    def typed(self) -> bool:
        """True for what the user wrote: user role, text or image, no summary, not made up by the client."""
        if self.role != "user" or self.is_summary or self.synthetic or self.opaque:
            return False
        return any(isinstance(p, Text | Image | Other) for p in self.parts)


class Line(msgspec.Struct, frozen=True, eq=False):
    """One line of a JSONL file. ``obj`` is None where ``error`` says why it is no JSON object."""

    number: int
    raw: bytes
    obj: dict[str, Any] | None
    error: str = ""


class CompactionOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What a format needs to write a compaction. Nothing here is taken from the clock."""

    timestamp: str = ""  # ISO 8601 with Z; "" = that of the last line
    tokens_before: int | None = None
    trigger: str = "manual"
    append: bool = False  # session files: keep the history in the file and append the compaction
    acknowledgement: str = ""  # assistant message behind the summary (message formats only); "" = none
    read_files: tuple[str, ...] = ()  # Pi stores these beside the summary
    modified_files: tuple[str, ...] = ()


class Conversation(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """A conversation as the model would see it, and the file around it."""

    format: str  # openai-chat, anthropic, responses, gemini, claude-code, codex, pi, cline, opencode, hermes, ...
    provider: str  # rule set that judges it: one of monitor.conversation.rules.PROVIDERS
    handler: Format
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
        from monitor.conversation.units import exchanges

        return exchanges(self.messages)

    def units(self) -> list[Unit]:
        """The messages as atomic groups, in order: cut only between them."""
        from monitor.conversation.units import units

        return units(self.messages)

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
        from monitor.conversation.edit import edit

        return edit(self.handler, message, changes)

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
