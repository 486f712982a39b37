"""Base of the session files (JSONL): lines that nobody changed keep their bytes, links are mended where lines go."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from monitor.conversation.formats.base import Document, Format
from monitor.conversation.jsonio import Line, dumps, ident
from monitor.conversation.model import Conversation, ConversationError, Message
from monitor.conversation.units import number_exchanges

_COMPACT = re.compile(rb'^\{"(?:[^"\\]|\\.)*":\S')


class SessionFormat(Format):
    """A file of one record a line. Subclasses say which lines are messages and which of them the model sees."""

    jsonl = True
    message_keys: tuple[str, ...] = ()
    id_key = ""  # key of a record's own id, "" where records are not linked
    parent_key = ""
    linear = False  # one line of records: whatever hung on a record hangs on what is put behind it

    def load(self, doc: Document) -> Conversation:
        lines = doc.lines
        if not any(line.obj is not None for line in lines):
            first = lines[0] if lines else None
            raise ConversationError("holds no JSON record", doc.path, first.number if first else None)
        conv = self.from_lines(lines, doc.path)
        return msgspec.structs.replace(conv, size=len(doc.data), source_bytes=doc.data)

    def from_lines(self, lines: Sequence[Line], path: str = "") -> Conversation:
        """A conversation from the lines of a file."""
        lines = tuple(lines)
        everything = tuple(number_exchanges(self.parse_lines(lines)))
        seen = tuple(msgspec.structs.replace(m, index=i) for i, m in enumerate(self.effective(lines, everything)))
        return self.describe(
            Conversation(
                format=self.name,
                provider=self.provider,
                handler=self,
                path=path,
                lines=lines,
                messages=seen,
                original=seen,
            )
        )

    # ---------------------------------------------------------------- what a subclass tells
    def parse_lines(self, lines: tuple[Line, ...]) -> list[Message]:
        """All messages in the file, in file order."""
        raise NotImplementedError

    def effective(self, lines: tuple[Line, ...], messages: tuple[Message, ...]) -> list[Message]:
        """Those the model would see, in its order."""
        return list(messages)

    def describe(self, conv: Conversation) -> Conversation:
        """``conv`` with session id, model and system prompts filled in."""
        return conv

    def relink(self, record: dict[str, Any], parent: Any) -> dict[str, Any]:
        """The record hanging on another parent."""
        return {**record, self.parent_key: parent}

    def insert(self, conv: Conversation, message: Message, before: dict[str, Any] | None) -> dict[str, Any]:
        """The record of a new message that comes after the record ``before``."""
        raise NotImplementedError

    # ---------------------------------------------------------------- out
    def history(self, conv: Conversation) -> tuple[Message, ...]:
        return tuple(number_exchanges(self.parse_lines(conv.lines)))

    def dump(self, conv: Conversation) -> bytes:
        if not conv.changed and conv.source_bytes:
            return conv.source_bytes
        return b"\n".join(line.raw for line in self.current_lines(conv)) + b"\n"

    def current_lines(self, conv: Conversation) -> list[Line]:
        """The lines as they will be written."""
        return self.rewrite(conv) if conv.messages_changed else list(conv.lines)

    def rewrite(self, conv: Conversation) -> list[Line]:
        """The lines of the file with the changes of ``conv.messages`` worked in.

        Lines of messages that are gone go, and what hung on them hangs on their parent. New and moved ones stand
        behind the message before them. All other lines stay as they are.
        """
        if self.disordered(conv):
            return self._in_order(conv)
        home = {m.source: i for i, m in enumerate(conv.original) if m.source is not None}
        stays: dict[int, Message] = {}
        behind: dict[int | None, list[Message]] = {}  # anchor line -> messages to stand behind it
        after: dict[int, int] = {}  # line -> anchor of the new or moved messages right before it
        anchor: int | None = None
        last, fresh = -1, False
        for m in conv.messages:
            at = home.get(m.source) if m.source is not None else None
            if at is not None and m.source is not None and at > last:
                if fresh:
                    after[m.source] = -1 if anchor is None else anchor
                stays[m.source] = m
                anchor, last, fresh = m.source, at, False
            else:
                behind.setdefault(anchor, []).append(m)
                fresh = True
        gone: dict[Any, Any] = {}
        for i in home if self.id_key else ():
            obj = conv.lines[i].obj
            if i not in stays and obj is not None:
                gone[ident(obj.get(self.id_key))] = obj.get(self.parent_key)
        out: list[Line] = []
        tails: dict[int, Any] = {}  # anchor -> id of the last record put behind it
        renamed: dict[Any, Any] = {}  # anchor id -> id of the last record behind it
        others = {ident((x.obj or {}).get(self.id_key)) for i, x in enumerate(conv.lines) if i not in home} - {None}
        first = min(stays, default=None)
        for i, line in enumerate(conv.lines):
            if i == first or (first is None and i == len(conv.lines) - 1):
                tails[-1] = self._insert_all(conv, behind.get(None, []), self._above(conv, first), out)
            if i in home and i not in stays:
                continue
            tail = tails.get(after[i]) if i in after else None
            if tail is not None and after[i] >= 0 and ident((line.obj or {}).get(self.parent_key)) in others:
                tail = None  # a record between them hangs on the new one already
            passing = renamed if self.linear or i not in home else {}
            out.append(self._line(line, stays.get(i), gone, tail, passing))
            if i in behind:
                tails[i] = self._insert_all(conv, behind[i], out[-1].obj, out)
                renamed[ident((line.obj or {}).get(self.id_key))] = tails[i]
        return out

    def _above(self, conv: Conversation, first: int | None) -> dict[str, Any] | None:
        """The record that the first message hangs on: what is put before that message hangs on it instead."""
        up = (conv.lines[first].obj or {}).get(self.parent_key) if first is not None and self.parent_key else None
        if not isinstance(up, str):
            return None
        return next((x.obj for x in conv.lines[:first] if x.obj is not None and x.obj.get(self.id_key) == up), None)

    def disordered(self, conv: Conversation) -> bool:
        """True where children stand before their parents: then links and order do not tell the same."""
        if not self.id_key or not any(isinstance(m.raw.get(self.id_key), str) for m in conv.original):
            return False
        roots = [m for m in conv.original[1:] if m.raw.get(self.parent_key) is None and not m.is_summary]
        if roots and not conv.original[0].is_summary:
            return True
        place = {m.raw.get(self.id_key): m.source for m in conv.original if isinstance(m.raw.get(self.id_key), str)}
        for m in conv.original:
            up = m.raw.get(self.parent_key)
            at = place.get(up) if isinstance(up, str) else None
            if at is not None and m.source is not None and at > m.source:
                return True
        return False

    def _in_order(self, conv: Conversation) -> list[Line]:
        """All other lines first, then the messages one behind the other, each hanging on the one before it."""
        mine = {m.source for m in conv.original}
        kept = {m.source for m in conv.messages}
        gone = {
            ident(m.raw.get(self.id_key)): m.raw.get(self.parent_key) for m in conv.original if m.source not in kept
        }
        out = [self._line(line, None, gone) for i, line in enumerate(conv.lines) if i not in mine]
        known = {
            (line.obj or {}).get(self.id_key) for line in out if isinstance((line.obj or {}).get(self.id_key), str)
        }
        before: dict[str, Any] | None = None
        for m in conv.messages:
            if m.source is None:
                before = self._insert(conv, m, before, out)
                continue
            up = m.raw.get(self.parent_key)
            if before is not None:
                up = before.get(self.id_key)
            elif not isinstance(up, str) or up not in known:
                up = None
            record = self.relink(self.record(m, conv.lines[m.source].obj or {}), up)
            if not isinstance(record.get(self.id_key), str):
                record[self.id_key] = new_id("record", m.source, up)
            out.append(encode_line(record, conv.lines[m.source]))
            before = out[-1].obj
        return out

    def _insert_all(
        self, conv: Conversation, messages: list[Message], before: dict[str, Any] | None, out: list[Line]
    ) -> Any:
        """Write new messages behind the record ``before``; the id of the last one."""
        for m in messages:
            before = self._insert(conv, m, before, out)
        return (before or {}).get(self.id_key)

    def _line(
        self,
        line: Line,
        message: Message | None,
        gone: Mapping[Any, Any],
        parent: Any = None,
        renamed: Mapping[Any, Any] | None = None,
    ) -> Line:
        obj = line.obj
        if obj is None:
            return line
        new = obj
        if message is not None and message.raw is not obj:
            new = self.record(message, obj)
        if self.parent_key and (self.parent_key in new or parent is not None):
            up = new.get(self.parent_key) if parent is None else parent
            seen = set()
            while ident(up) in gone and ident(up) not in seen:
                seen.add(ident(up))
                up = gone[ident(up)]
            up = (renamed or {}).get(ident(up), up)
            if up != new.get(self.parent_key):
                new = self.relink(new, up)
        return line if new is obj else encode_line(new, line)

    def record(self, message: Message, old: dict[str, Any]) -> dict[str, Any]:
        """The record of a changed message (``message.raw`` where the raw object is the whole record)."""
        raw = message.raw
        assert isinstance(raw, dict)
        return raw

    def _insert(self, conv: Conversation, m: Message, before: dict[str, Any] | None, out: list[Line]) -> dict[str, Any]:
        record = self.insert(conv, m, before)
        style = out[-1] if out else (conv.lines[0] if conv.lines else None)
        out.append(encode_line(record, style))
        return record


def encode_line(record: dict[str, Any], style: Line | None = None) -> Line:
    """A record as a line, written with or without spaces as the line ``style`` was."""
    compact = bool(style and _COMPACT.match(style.raw))
    text = dumps(record, compact=compact)
    return Line(style.number if style else 0, text.encode("utf-8"), record)


def renumber(lines: Sequence[Line]) -> tuple[Line, ...]:
    """The lines numbered from 1, as they will stand in the file."""
    return tuple(
        line if line.number == i else msgspec.structs.replace(line, number=i) for i, line in enumerate(lines, 1)
    )


def last_time(lines: Sequence[Line]) -> str:
    """The timestamp of the last line that has one, "" if none has."""
    for line in reversed(lines):
        if line.obj is not None and isinstance(line.obj.get("timestamp"), str):
            return str(line.obj["timestamp"])
    return ""


def new_id(*parts: object) -> str:
    """A made-up uuid that depends on ``parts`` only, so that the same run gives the same file."""
    import hashlib

    d = hashlib.sha256("\0".join(map(str, parts)).encode("utf-8", "surrogatepass")).hexdigest()
    return f"{d[:8]}-{d[8:12]}-4{d[13:16]}-8{d[17:20]}-{d[20:32]}"
