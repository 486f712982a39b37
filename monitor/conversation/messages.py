"""Messages and their parts: what a conversation of any format consists of.

Lossless by construction: a :class:`Message` keeps the source object it came from (``raw``) and where in the
file it stood; the parsed view (role, parts) only helps to reason about it.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from monitor.conversation.jsonio import dumps

Role = Literal["system", "user", "assistant", "tool"]
Path = tuple[str | int, ...]


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
