"""Hermes: rows of its ``messages`` table (list or one a line), or its session export with the rows inside.

Rows are OpenAI Chat messages with ``tool_calls`` as JSON text; rows with ``active`` 0 are no longer replayed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from monitor.conversation.formats.base import Document
from monitor.conversation.formats.openai_chat import OpenAIChat
from monitor.conversation.jsonio import dumps, ident, loads
from monitor.conversation.model import Conversation, ConversationError, Message, Role, ToolCall
from monitor.conversation.units import number_exchanges

_ROLES = ("system", "user", "assistant", "tool")


class Hermes(OpenAIChat):
    """Chat messages as database rows."""

    name = "hermes"
    provider = "openai-chat"

    def sniff(self, doc: Document) -> float:
        rows = _sessions(doc)
        return 0.93 if rows else 0.0

    def load(self, doc: Document) -> Conversation:
        sessions = _sessions(doc)
        if not sessions:
            raise ConversationError("holds no Hermes rows", doc.path)
        names = list(sessions)
        at = len(names) - 1 if doc.call is None else doc.call
        if not 0 <= at < len(names):
            raise ConversationError(f"holds {len(names)} sessions; there is no number {at}", doc.path)
        rows, container = sessions[names[at]]
        notes: tuple[str, ...] = ()
        if len(names) > 1:
            notes = (f"session {at} taken of {len(names)} (counted from 0); --call N takes another",)
        messages = []
        for i, row in enumerate(rows):
            if ident(row.get("role")) in _ROLES and row.get("active", 1) not in (0, False):
                m = self.parse(_open(row))
                messages.append(msgspec.structs.replace(m, where=f"messages[{i}]", source=i, time=row.get("timestamp")))
        numbered = number_exchanges(messages)
        seen = tuple(msgspec.structs.replace(m, index=i) for i, m in enumerate(numbered))
        model = container.get("model")
        prompt = container.get("system_prompt")
        system: tuple[Message, ...] = ()
        if isinstance(prompt, str) and prompt:
            from monitor.conversation.model import Text

            system = (Message("system", (Text(prompt),), prompt, where="system_prompt"),)
        return Conversation(
            format=self.name,
            provider=self.provider,
            handler=self,
            path=doc.path,
            size=len(doc.data),
            body={**container, "messages": rows},
            bare=not container,
            messages=seen,
            original=seen,
            system=system,
            source_bytes=doc.data if len(names) == 1 else b"",
            model=model if isinstance(model, str) else None,
            session=names[at] or None,
            notes=notes,
            calls_in_file=len(names),
            call_index=at,
        )

    def parse_list(self, items: list[Any], key: str) -> list[Message]:
        return [
            msgspec.structs.replace(self.parse(_open(item)), index=i, where=f"{key}[{i}]")
            for i, item in enumerate(items)
        ]

    def body(self, conv: Conversation) -> Any:
        rows = self._rows(conv)
        if conv.bare:
            return rows
        out = {**conv.body, "messages": rows}
        if "message_count" in out:
            out["message_count"] = len(rows)
        return out

    def dump(self, conv: Conversation) -> bytes:
        if not conv.changed and conv.source_bytes:
            return conv.source_bytes
        first = conv.source_bytes.lstrip()[:1]
        if first == b"{" and conv.bare:  # one row a line
            return b"".join((dumps(r) + "\n").encode("utf-8") for r in self._rows(conv))
        return super().dump(msgspec.structs.replace(conv, touched=True))

    def _rows(self, conv: Conversation) -> list[Any]:
        """The rows; unchanged messages as the very rows they were."""
        old = conv.body["messages"]
        known = {id(m.raw): old[m.source] for m in conv.original if m.source is not None}
        text_calls = any(isinstance(r.get("tool_calls"), str) for r in old)
        out = []
        for m in conv.messages:
            row = known.get(id(m.raw))
            if row is None:
                before = old[m.source] if m.source is not None and m.source < len(old) else {}
                row = {k: v for k, v in before.items() if v is None} | m.raw
                if text_calls and isinstance(row.get("tool_calls"), list):
                    row["tool_calls"] = dumps(row["tool_calls"])
            out.append(row)
        return out

    def new_message(self, conv: Conversation, role: Role, text: str, *, summary: bool = False) -> Message:
        message = super().new_message(conv, role, text, summary=summary)
        return msgspec.structs.replace(message, raw={**_like(conv), **message.raw})

    def new_results(self, conv: Conversation, calls: Sequence[ToolCall], text: str) -> list[Message]:
        made = super().new_results(conv, calls, text)
        return [
            msgspec.structs.replace(m, raw={**_like(conv), **m.raw, "tool_name": c.name}) for m, c in zip(made, calls)
        ]


def _like(conv: Conversation) -> dict[str, Any]:
    """Session and time a new row takes over from the last one."""
    last = conv.body["messages"][-1] if conv.body["messages"] else {}
    return {k: last[k] for k in ("session_id", "timestamp") if k in last}


def _open(row: dict[str, Any]) -> dict[str, Any]:
    """The row with its tool calls decoded."""
    calls = row.get("tool_calls")
    if not isinstance(calls, str):
        return (
            row if calls is not None or "tool_calls" not in row else {k: v for k, v in row.items() if k != "tool_calls"}
        )
    try:
        value = loads(calls) if calls else []
    except ValueError:
        value = []
    if not value:
        return {k: v for k, v in row.items() if k != "tool_calls"}
    return {**row, "tool_calls": value}


def _is_row(item: Any) -> bool:
    return isinstance(item, dict) and "role" in item and "session_id" in item and "content" in item


def _sessions(doc: Document) -> dict[str, tuple[list[dict[str, Any]], dict[str, Any]]]:
    """Session id -> (rows, the record around them; {} for bare rows), in the order of the file."""
    value = doc.json
    if isinstance(value, dict) and _is_row(value):
        value = [value]
    if value is None:
        value = [line.obj for line in doc.lines if line.obj is not None]
    elif isinstance(value, dict):
        value = [value]
    if not isinstance(value, list) or not value:
        return {}
    out: dict[str, tuple[list[dict[str, Any]], dict[str, Any]]] = {}
    for item in value:
        if _is_row(item):
            out.setdefault(str(item["session_id"]), ([], {}))[0].append(item)
            continue
        rows = item.get("messages") if isinstance(item, dict) else None
        if not isinstance(rows, list) or not rows or not all(_is_row(r) for r in rows):
            return {}
        around = {k: v for k, v in item.items() if k != "messages"}
        out[str(item.get("id") or rows[0]["session_id"])] = (rows, around)
    return out


HERMES = Hermes()
