"""Codex rollout JSONL: ``response_item`` lines since the newest ``compacted`` line, which resets the history."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from monitor.conversation.formats.base import Document
from monitor.conversation.formats.codex_forks import own, whole
from monitor.conversation.formats.responses import make_item, make_output, parse_item
from monitor.conversation.formats.session import SessionFormat, encode_line, last_time, renumber
from monitor.conversation.jsonio import Line
from monitor.conversation.marks import looks_like_summary
from monitor.conversation.model import (
    CompactionOptions,
    Conversation,
    Message,
    Role,
    Text,
    ToolCall,
)
from monitor.conversation.units import number_exchanges

_NOT_SENT = ("ghost_snapshot", "other")
_ENVELOPE = ("response_item", "event_msg", "turn_context", "compacted")


class Codex(SessionFormat):
    """Records ``{timestamp, type, payload}``; the items are those of the Responses API.

    ``Message.raw`` is the item itself (the payload), not the line.
    """

    name = provider = "codex"

    def sniff(self, doc: Document) -> float:
        for obj in doc.objects():
            if obj.get("type") == "session_meta" or ("payload" in obj and obj.get("type") in _ENVELOPE):
                return 0.95
        return 0.0

    def load(self, doc: Document) -> Conversation:
        conv = super().load(doc)
        lines, note = whole(conv.lines, doc.path)
        if not note:
            return conv
        if len(lines) != len(conv.lines):
            told = self.from_lines(lines, doc.path)
            conv = msgspec.structs.replace(told, size=conv.size, source_bytes=conv.source_bytes)
        return msgspec.structs.replace(conv, notes=(*conv.notes, note))

    def parse_lines(self, lines: tuple[Line, ...]) -> list[Message]:
        out: list[Message] = []
        for i, line in enumerate(lines):
            if line.obj is None:
                continue
            payload = line.obj.get("payload")
            payload = payload if isinstance(payload, dict) else {}
            stamp = line.obj.get("timestamp")
            time = stamp if isinstance(stamp, str) else None
            if line.obj.get("type") == "response_item" and payload.get("type") not in _NOT_SENT:
                m = parse_item(payload)
                out.append(
                    msgspec.structs.replace(m, where=f"line {line.number}", line=line.number, source=i, time=time)
                )
            elif line.obj.get("type") == "compacted":
                out.extend(self._compacted(line, i, payload, time))
        return out

    def _compacted(self, line: Line, source: int, payload: dict[str, Any], time: str | None) -> list[Message]:
        """The items of a ``compacted`` record, marked ``history``."""
        items = payload.get("replacement_history")
        told = payload.get("message")
        told = told if isinstance(told, str) else ""
        out: list[Message] = []
        for k, item in enumerate(items if isinstance(items, list) else []):
            if not isinstance(item, dict) or item.get("type") in _NOT_SENT:
                continue
            m = parse_item(item)
            summary = m.is_summary or (
                m.role == "user" and bool(told) and told in m.text  # a message the summary quotes is the user's
            )
            out.append(
                msgspec.structs.replace(
                    m,
                    where=f"line {line.number}.replacement_history[{k}]",
                    line=line.number,
                    source=source,
                    sub=k,
                    mark="history",
                    is_summary=summary,
                    time=time,
                )
            )
        if not isinstance(items, list) and told:
            m = parse_item(make_item("user", told))
            out.append(
                msgspec.structs.replace(
                    m,
                    where=f"line {line.number}.message",
                    line=line.number,
                    source=source,
                    mark="history",
                    is_summary=True,
                    time=time,
                )
            )
        return out

    def effective(self, lines: tuple[Line, ...], messages: tuple[Message, ...]) -> list[Message]:
        reset = max((m.source for m in messages if m.mark == "history" and m.source is not None), default=-1)
        return [m for m in messages if m.source is not None and m.source >= reset]

    def history(self, conv: Conversation) -> tuple[Message, ...]:
        """Everything once: of a ``compacted`` record its summary, and those items that do not stand before it.

        A file a compaction wrote anew holds what it kept in that record and nowhere else.
        """
        every: list[Message] = []
        seen: set[object] = set()
        for m in self.parse_lines(conv.lines):
            key = (m.role, m.text, tuple(c.id for c in m.calls), tuple(r.call_id for r in m.results))
            if m.mark == "history" and not m.is_summary and not m.opaque and not looks_like_summary(m.text):
                if key in seen:
                    continue
            else:
                seen.add(key)
            every.append(m)
        return tuple(number_exchanges(every))

    def describe(self, conv: Conversation) -> Conversation:
        meta = next((x.obj for x in conv.lines if x.obj and x.obj.get("type") == "session_meta"), None)
        payload = meta.get("payload") if meta else None
        payload = payload if isinstance(payload, dict) else {}
        base = payload.get("base_instructions") or payload.get("instructions")
        text = base.get("text") if isinstance(base, dict) else base
        system: tuple[Message, ...] = ()
        if isinstance(text, str) and text:
            system = (Message("system", (Text(text),), base, where="session_meta"),)
        model = None
        for line in reversed(conv.lines):
            if line.obj and line.obj.get("type") == "turn_context" and isinstance(line.obj.get("payload"), dict):
                model = line.obj["payload"].get("model")
                break
        session = payload.get("id")
        return msgspec.structs.replace(
            conv,
            system=system,
            model=model if isinstance(model, str) else None,
            session=session if isinstance(session, str) else None,
        )

    # ---------------------------------------------------------------- out
    def view(self, raw: Any) -> Message:
        return parse_item(raw)

    def make(self, role: Role, text: str) -> dict[str, Any]:
        return make_item(role, text)

    def new_message(self, conv: Conversation, role: Role, text: str, *, summary: bool = False) -> Message:
        m = parse_item(make_item(role, text))
        return msgspec.structs.replace(m, is_summary=summary or m.is_summary)

    def new_results(self, conv: Conversation, calls: Sequence[ToolCall], text: str) -> list[Message]:
        return [parse_item(make_output(c, text)) for c in calls]

    def record(self, message: Message, old: dict[str, Any]) -> dict[str, Any]:
        return {**old, "payload": message.raw}

    def insert(self, conv: Conversation, message: Message, before: dict[str, Any] | None) -> dict[str, Any]:
        stamp = (before or {}).get("timestamp") or last_time(conv.lines)
        record: dict[str, Any] = {"timestamp": stamp}
        if before and isinstance(before.get("ordinal"), int):
            record["ordinal"] = before["ordinal"]
        return {**record, "type": "response_item", "payload": message.raw}

    def current_lines(self, conv: Conversation) -> list[Line]:
        return own(super().current_lines(conv), conv.source_bytes)

    def rewrite(self, conv: Conversation) -> list[Line]:
        """As the base does, and a changed replacement_history is written into its own ``compacted`` record."""
        reset = next((m.source for m in conv.original if m.mark == "history"), None)
        if reset is None:
            return super().rewrite(conv)
        # items stay in the record as long as they come before the first line item
        inside: list[Message] = []
        rest = list(conv.messages)
        while rest and (rest[0].mark == "history" or rest[0].source is None):
            inside.append(rest.pop(0))
        trailing = [m for m in conv.original if m.mark != "history"]
        rest = [m if m.mark != "history" else msgspec.structs.replace(m, source=None) for m in rest]
        lines = super().rewrite(msgspec.structs.replace(conv, messages=tuple(rest), original=tuple(trailing)))
        record = conv.lines[reset]
        assert record.obj is not None
        old = record.obj["payload"]
        items = [m.raw for m in inside]
        before = [m.raw for m in conv.original if m.mark == "history"]
        if len(items) == len(before) and all(a is b for a, b in zip(items, before)):
            return lines
        payload = {k: v for k, v in old.items() if k != "replacement_history_metadata"}
        new = {**record.obj, "payload": {**payload, "replacement_history": items}}
        return [encode_line(new, line) if line.obj is record.obj else line for line in lines]

    def compacted(
        self, conv: Conversation, summary: str, kept: Sequence[Message], options: CompactionOptions
    ) -> Conversation:
        """``session_meta`` and a ``compacted`` record whose replacement_history is developer items, summary, kept.

        Figures of before the compaction (``token_count``) would make Codex compact again at once, wherever they stand:
        they are left out, with ``append`` too.
        """
        head, tail = self.split_kept(conv, kept)
        items = [m.raw for m in head]
        items.append(make_item("user", summary))
        if options.acknowledgement:
            items.append(make_item("assistant", options.acknowledgement))
        items += [m.raw for m in tail]
        stamp = options.timestamp or last_time(conv.lines)
        meta = [x for x in conv.lines if x.obj and x.obj.get("type") == "session_meta"][:1]
        contexts = [x for x in conv.lines if x.obj and x.obj.get("type") == "turn_context"][-1:]
        old = list(conv.lines) if options.append else [*meta, *contexts]
        if options.append:
            old = [x for x in old if not _stale_usage(x)]
        ordinals = [x.obj["ordinal"] for x in conv.lines if x.obj and isinstance(x.obj.get("ordinal"), int)]
        record: dict[str, Any] = {"timestamp": stamp}
        if ordinals:
            record["ordinal"] = max(ordinals) + 1
        record |= {"type": "compacted", "payload": {"message": summary, "replacement_history": items}}
        line = encode_line(record, conv.lines[0] if conv.lines else None)
        result = self.from_lines(renumber([*old, line]), conv.path)
        return msgspec.structs.replace(result, notes=conv.notes)


def _stale_usage(line: Line) -> bool:
    payload = line.obj.get("payload") if line.obj else None
    return isinstance(payload, dict) and payload.get("type") == "token_count"


CODEX = Codex()
