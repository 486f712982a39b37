"""What a format must be able to do. One file per format beside this one; each ends in one instance of a
Format.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from monitor.conversation.edit import write_block
from monitor.conversation.jsonio import Line, dump_like, loads, split_lines
from monitor.conversation.model import (
    CompactionOptions,
    Conversation,
    ConversationError,
    Message,
    Part,
    Role,
    ToolCall,
)
from monitor.conversation.units import number_exchanges

_MISSING: Any = object()


class Document:
    """The bytes of a file, decoded when somebody asks: once as one JSON value, once as lines."""

    def __init__(self, data: bytes, path: str = "", call: int | None = None) -> None:
        self.data, self.path = data, path
        self.call = call  # which of several conversations or requests, from 0; None: the format chooses
        self._json: Any = _MISSING
        self._lines: tuple[Line, ...] | None = None
        self.json_error = ""

    @classmethod
    def of(cls, value: Any) -> Document:
        """A document of a value decoded already."""
        doc = cls(b"")
        doc._json = value
        return doc

    @property
    def json(self) -> Any:
        """The whole file as one JSON value; None where it is none (``json_error`` says why)."""
        if self._json is _MISSING:
            data = self.data[3:] if self.data.startswith(b"\xef\xbb\xbf") else self.data
            try:
                self._json = loads(data)
            except ValueError as err:
                self._json, self.json_error = None, str(err)
        return self._json

    @property
    def lines(self) -> tuple[Line, ...]:
        """The file as lines of JSON."""
        if self._lines is None:
            self._lines = split_lines(self.data)
        return self._lines

    def objects(self, most: int = 40) -> list[dict[str, Any]]:
        """The first objects of the lines, for sniffing."""
        out = []
        for line in self.lines:
            if line.obj is not None:
                out.append(line.obj)
                if len(out) >= most:
                    break
        return out


class Format:
    """Base of all formats: a JSON document with one list of messages. Session formats override most of it."""

    name = ""
    provider = ""
    message_keys: tuple[str, ...] = ("messages",)  # where the list of messages may stand in the body
    jsonl = False

    # ---------------------------------------------------------------- in
    def sniff(self, doc: Document) -> float:
        """How surely the document is of this format: 0 (not) to 1 (certain)."""
        raise NotImplementedError

    def load(self, doc: Document) -> Conversation:
        """The conversation in ``doc``. Raises ConversationError where it holds none."""
        body = doc.json
        if body is None:
            raise ConversationError(f"is not valid JSON ({doc.json_error})", doc.path)
        conv = self.load_body(body, doc.path)
        return msgspec.structs.replace(conv, size=len(doc.data), source_bytes=doc.data)

    def load_body(self, body: Any, path: str = "") -> Conversation:
        """A conversation from a parsed request body or bare list."""
        bare = isinstance(body, list)
        key = "" if bare else self.list_key(body)
        items = body if bare else (body.get(key) if isinstance(body, dict) else None)
        if not isinstance(items, list):
            raise ConversationError(f"holds no list of {self.message_keys[0]}", path)
        messages = number_exchanges(self.parse_list(items, key or self.message_keys[0]))
        model = None if bare else body.get("model")
        return Conversation(
            format=self.name,
            provider=self.provider,
            handler=self,
            path=path,
            body=body,
            bare=bare,
            messages=tuple(messages),
            original=tuple(messages),
            model=model if isinstance(model, str) else None,
            system=() if bare else tuple(self.parse_system(body)),
        )

    def list_key(self, body: Any) -> str:
        """The key of the body under which the messages stand."""
        if isinstance(body, dict):
            for key in self.message_keys:
                if isinstance(body.get(key), list):
                    return key
        return self.message_keys[0]

    def parse_list(self, items: list[Any], key: str) -> list[Message]:
        """Messages of the list, in order, one for each item (also for items that are none)."""
        return [msgspec.structs.replace(self.parse(item), index=i, where=f"{key}[{i}]") for i, item in enumerate(items)]

    def parse(self, item: Any) -> Message:
        """The neutral view of one item."""
        raise NotImplementedError

    def view(self, raw: Any) -> Message:
        """The neutral view of a raw object as it stands in ``Message.raw``."""
        return self.parse(raw)

    def parse_system(self, body: dict[str, Any]) -> list[Message]:
        """System prompts that stand beside the messages."""
        return []

    def history(self, conv: Conversation) -> tuple[Message, ...]:
        """All messages of the file (see Conversation.history)."""
        return conv.messages

    # ---------------------------------------------------------------- out
    def dump(self, conv: Conversation) -> bytes:
        """The bytes of the conversation; the input's own where nothing changed."""
        if not conv.changed and conv.source_bytes and not conv.container:
            return conv.source_bytes
        return dump_like(self.body(conv), conv.source_bytes or b"{\n ")

    def body(self, conv: Conversation) -> Any:
        """The document with the present messages in it."""
        items = [m.raw for m in conv.messages]
        if conv.bare:
            return items
        return {**conv.body, self.list_key(conv.body): items}

    def write_part(self, block: Any, old: Part, new: Part) -> Any:
        """The raw block of ``old`` holding ``new`` instead."""
        return write_block(block, old, new)

    def new_message(self, conv: Conversation, role: Role, text: str, *, summary: bool = False) -> Message:
        """A message of this format's shape."""
        message = self.parse(self.make(role, text))
        return msgspec.structs.replace(message, is_summary=summary or message.is_summary)

    def make(self, role: Role, text: str) -> dict[str, Any]:
        """The raw object of a message with one text."""
        return {"role": role, "content": text}

    def new_results(self, conv: Conversation, calls: Sequence[ToolCall], text: str) -> list[Message]:
        """Messages that answer ``calls`` with ``text``."""
        raise NotImplementedError

    def compacted(
        self, conv: Conversation, summary: str, kept: Sequence[Message], options: CompactionOptions
    ) -> Conversation:
        """System messages, the summary as a user message, an acknowledgement if asked, then ``kept``."""
        head, tail = self.split_kept(conv, kept)
        messages = [*head, self.new_message(conv, "user", summary, summary=True)]
        if options.acknowledgement:
            messages.append(self.new_message(conv, "assistant", options.acknowledgement))
        return conv.with_messages([*messages, *tail])

    def split_kept(self, conv: Conversation, kept: Sequence[Message]) -> tuple[list[Message], list[Message]]:
        """(what stands before the summary: system messages, leading opaque items; the rest of ``kept``)."""
        kept_ids = {id(m) for m in kept}
        head = [m for m in conv.messages if m.role == "system" and id(m) not in kept_ids]
        at = 0
        while at < len(kept) and (kept[at].opaque or kept[at].role == "system"):
            at += 1
        return [*head, *kept[:at]], list(kept[at:])
