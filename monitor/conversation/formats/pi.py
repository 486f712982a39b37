"""Pi session JSONL, v1 (a plain list) and v3 (a tree by parentId whose last line is the leaf).

What the model sees: the path from the root to the last entry; from the newest ``compaction`` on it: its summary, the
entries from ``firstKeptEntryId`` (v1: ``firstKeptEntryIndex``) up to it, then what follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from monitor.conversation.blocks import parts_of, result_text
from monitor.conversation.formats.base import Document
from monitor.conversation.formats.session import SessionFormat, encode_line, last_time, new_id, renumber
from monitor.conversation.jsonio import Line, ident
from monitor.conversation.marks import looks_like_summary, looks_synthetic
from monitor.conversation.model import (
    CompactionOptions,
    Conversation,
    Message,
    Other,
    Part,
    Role,
    Text,
    ToolCall,
    ToolResult,
)

_STATE = ("model_change", "thinking_level_change", "session_info")
_ZERO = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}


class Pi(SessionFormat):
    """Entries: messages, compactions, branch summaries, and settings beside them."""

    name = provider = "pi"
    id_key, parent_key = "id", "parentId"
    linear = True

    def sniff(self, doc: Document) -> float:
        objects = doc.objects()
        for obj in objects:
            if obj.get("type") == "session" and ("cwd" in obj or "version" in obj):
                return 0.95
        if any(o.get("type") == "message" and isinstance(o.get("message"), dict) for o in objects):
            return 0.7
        return 0.0

    def parse_lines(self, lines: tuple[Line, ...]) -> list[Message]:
        out = []
        for i, line in enumerate(lines):
            if line.obj is None:
                continue
            view = self._view(line.obj)
            if view is not None:
                stamp = line.obj.get("timestamp")
                out.append(
                    msgspec.structs.replace(
                        view,
                        where=f"line {line.number}",
                        line=line.number,
                        source=i,
                        time=stamp if isinstance(stamp, str | int) else None,
                    )
                )
        return out

    def _view(self, entry: dict[str, Any]) -> Message | None:
        kind = entry.get("type")
        if kind in ("compaction", "branch_summary"):
            text = entry.get("summary")
            parts: tuple[Part, ...] = (Text(text, ("summary",)),) if isinstance(text, str) and text else ()
            return Message("user", parts, entry, is_summary=kind == "compaction", synthetic=True, mark=str(kind))
        if kind == "custom_message":
            return Message(
                "user", tuple(parts_of(entry.get("content"), ("content",))), entry, synthetic=True, mark="custom"
            )
        m = entry.get("message")
        if kind != "message":
            return None
        if not isinstance(m, dict):
            return Message("user", (), entry, synthetic=True)
        role = m.get("role")
        base = ("message", "content")
        if role == "toolResult":
            text, images = result_text(m.get("content"))
            result = ToolResult(
                str(m.get("toolCallId") or ""),
                text,
                bool(m.get("isError")),
                images,
                str(m.get("toolName") or ""),
                "toolResult",
                ("message",),
            )
            return Message("tool", (result,), entry)
        if role == "assistant":
            failed = m.get("stopReason") in ("error", "aborted")
            parts = tuple(parts_of(m.get("content"), base))
            if failed:  # Pi does not send failed and aborted answers: their calls are no calls
                parts = tuple(Other("toolCall", "", p.path) if isinstance(p, ToolCall) else p for p in parts)
            return Message("assistant", parts, entry, mark="skipped" if failed else "")
        if role == "bashExecution":
            text = f"$ {m.get('command') or ''}\n{m.get('output') or ''}"
            return Message("user", (Text(text, ("message", "output")),), entry, synthetic=True, mark="bash")
        if role in ("compactionSummary", "branchSummary"):
            text = m.get("summary")
            parts = (Text(text, ("message", "summary")),) if isinstance(text, str) and text else ()
            return Message("user", parts, entry, is_summary=role == "compactionSummary", synthetic=True)
        parts = tuple(parts_of(m.get("content"), base))
        text = "\n".join(p.text for p in parts if isinstance(p, Text))
        return Message(
            "user",
            parts,
            entry,
            is_summary=looks_like_summary(text),
            synthetic=role != "user" or looks_synthetic(text),
        )

    def view(self, raw: Any) -> Message:
        found = self._view(raw)
        return found if found is not None else Message("user", (), raw, synthetic=True)

    def effective(self, lines: tuple[Line, ...], messages: tuple[Message, ...]) -> list[Message]:
        by_source = {m.source: m for m in messages}
        path = entry_path(lines)
        order = visible(lines, path)
        return [by_source[i] for i in order if i in by_source]

    def describe(self, conv: Conversation) -> Conversation:
        header = next((x.obj for x in conv.lines if x.obj and x.obj.get("type") == "session"), None) or {}
        model: Any = header.get("modelId")
        for line in reversed(conv.lines):
            obj = line.obj or {}
            inner = obj.get("message")
            if obj.get("type") == "model_change":
                model = obj.get("modelId")
                break
            if isinstance(inner, dict) and inner.get("role") == "assistant" and inner.get("model"):
                model = inner["model"]
                break
        session = header.get("id")
        return msgspec.structs.replace(
            conv,
            model=model if isinstance(model, str) else None,
            session=session if isinstance(session, str) else None,
        )

    # ---------------------------------------------------------------- out
    def make(self, role: Role, text: str) -> dict[str, Any]:
        message: dict[str, Any] = {"role": role, "content": [{"type": "text", "text": text}]}
        if role == "assistant":
            message |= {"usage": dict(_ZERO), "stopReason": "stop"}
        return {"type": "message", "message": message}

    def new_message(self, conv: Conversation, role: Role, text: str, *, summary: bool = False) -> Message:
        view = self._view(self.make("assistant" if role == "assistant" else "user", text))
        assert view is not None
        return msgspec.structs.replace(view, is_summary=summary or view.is_summary)

    def new_results(self, conv: Conversation, calls: Sequence[ToolCall], text: str) -> list[Message]:
        out = []
        for c in calls:
            message = {
                "role": "toolResult",
                "toolCallId": c.id,
                "toolName": c.name,
                "content": [{"type": "text", "text": text}],
                "isError": True,
            }
            view = self._view({"type": "message", "message": message})
            assert view is not None
            out.append(view)
        return out

    def insert(self, conv: Conversation, message: Message, before: dict[str, Any] | None) -> dict[str, Any]:
        stamp = (before or {}).get("timestamp") or last_time(conv.lines)
        raw = dict(message.raw)
        if not is_tree(conv.lines):
            return {"type": "message", "timestamp": stamp, **raw}
        parent = before.get("id") if before and before.get("type") != "session" else None
        made = new_id("insert", parent, len(conv.lines), raw.get("message"))[:8]
        return {
            "type": "message",
            "id": raw.get("id", made),
            "parentId": parent,
            "timestamp": stamp,
            **{k: v for k, v in raw.items() if k not in ("type", "id", "parentId")},
        }

    def compacted(
        self, conv: Conversation, summary: str, kept: Sequence[Message], options: CompactionOptions
    ) -> Conversation:
        """Header, settings, the kept entries, then a ``compaction`` entry that names the first of them.

        Pi takes the summary first all the same. The entry's time must be later than that of the kept answers, or
        their stale usage makes Pi compact again at once; a file without any assistant message would be written twice
        by Pi, so an acknowledgement is added where nothing of the assistant is kept.
        """
        tree = is_tree(conv.lines)
        stamp = max(options.timestamp, last_time(conv.lines))
        header = [x for x in conv.lines if x.obj and x.obj.get("type") == "session"][:1]
        on_path = entry_path(conv.lines)
        state = [conv.lines[i] for i in on_path if (conv.lines[i].obj or {}).get("type") in _STATE]
        style = header[0] if header else (conv.lines[0] if conv.lines else None)
        former = [m for m in kept if m.mark == "compaction"]
        kept = [m for m in kept if m.mark != "compaction"]
        old: list[Line] = list(conv.lines) if options.append else [*header]
        parent: Any = None
        first: Any = None
        seed = (conv.session, summary, len(conv.lines), len(kept))
        if not options.append:
            for line in _last_of_each(state):
                assert line.obj is not None
                entry = self.relink(line.obj, parent) if tree else line.obj
                old.append(line if entry == line.obj else encode_line(entry, line))
                parent = entry.get("id")
        elif on_path and tree:
            parent = (conv.lines[on_path[-1]].obj or {}).get("id")
        in_place = options.append and _is_tail(conv, kept)
        index = len(old)
        if in_place and kept:
            first = kept[0].raw.get("id")
            index = kept[0].source if kept[0].source is not None else index
        elif not in_place:
            for m in kept:
                entry = dict(m.raw)
                if options.append or (tree and "id" not in entry):
                    entry = _fresh(entry, seed)
                if tree:
                    entry["parentId"] = parent
                    parent = entry["id"]
                    first = first or parent
                old.append(encode_line(entry, style) if entry != m.raw else _line_of(conv, m))
        record: dict[str, Any] = {"type": "compaction"}
        made = new_id("compaction", *seed)[:8]
        if tree:
            record |= {"id": made, "parentId": parent}
        record |= {"timestamp": stamp, "summary": summary}
        if tree:
            record["firstKeptEntryId"] = first if first is not None else made
        else:
            record["firstKeptEntryIndex"] = index if kept else len(old)
        record |= {
            "tokensBefore": options.tokens_before or 0,
            "details": {"readFiles": list(options.read_files), "modifiedFiles": list(options.modified_files)},
        }
        old.append(encode_line(record, style))
        if options.acknowledgement or not (options.append or any(m.role == "assistant" for m in kept)):
            ack = self.make("assistant", options.acknowledgement or "Understood.")
            ack |= {"timestamp": stamp}
            if tree:
                ack |= {"id": new_id("ack", *seed)[:8], "parentId": made}
            old.append(encode_line(ack, style))
        result = self.from_lines(renumber(old), conv.path)
        notes = conv.notes
        if former:
            notes += ("a former compaction entry cannot be kept beside the new one and was left out",)
        return msgspec.structs.replace(result, notes=notes)


def is_tree(lines: Sequence[Line]) -> bool:
    """True where entries have ids (v2 and later)."""
    return any(x.obj is not None and x.obj.get("type") != "session" and "id" in x.obj for x in lines)


def entry_path(lines: Sequence[Line]) -> list[int]:
    """Indexes of the lines on the path of the last entry, from the root on; a plain list is its own path."""
    entries = [i for i, x in enumerate(lines) if x.obj is not None and x.obj.get("type") != "session"]
    if not is_tree(lines) or not entries:
        return entries
    by_id = {}
    for i in entries:
        obj = lines[i].obj
        assert obj is not None
        if isinstance(obj.get("id"), str):
            by_id[obj["id"]] = i
    path: list[int] = []
    at: int | None = entries[-1]
    while at is not None and at not in path[-1:] and at not in set(path):
        path.append(at)
        parent = (lines[at].obj or {}).get("parentId")
        at = by_id.get(parent) if isinstance(parent, str) else None
    return path[::-1]


def visible(lines: Sequence[Line], path: list[int]) -> list[int]:
    """The path as the model sees it: newest compaction, kept entries, what follows."""
    at = next((k for k in range(len(path) - 1, -1, -1) if _kind(lines, path[k]) == "compaction"), None)
    if at is None:
        return path
    entry = lines[path[at]].obj or {}
    first = at
    if "firstKeptEntryId" in entry:
        wanted = entry["firstKeptEntryId"]
        first = next((k for k in range(at) if (lines[path[k]].obj or {}).get("id") == wanted), at)
    elif isinstance(entry.get("firstKeptEntryIndex"), int):
        first = min(max(entry["firstKeptEntryIndex"] - 1, 0), at)  # v1 counts the header line
    return [path[at], *path[first:at], *path[at + 1 :]]


def _kind(lines: Sequence[Line], at: int) -> Any:
    return (lines[at].obj or {}).get("type")


def _last_of_each(lines: Sequence[Line]) -> list[Line]:
    last = {ident((x.obj or {}).get("type")): x for x in lines}
    return [x for x in lines if last[ident((x.obj or {}).get("type"))] is x]


def _line_of(conv: Conversation, m: Message) -> Line:
    if m.source is not None and conv.lines[m.source].obj is m.raw:
        return conv.lines[m.source]
    return encode_line(m.raw, conv.lines[0] if conv.lines else None)


def _is_tail(conv: Conversation, kept: Sequence[Message]) -> bool:
    """True where ``kept`` is, unchanged, the end of the path: appending can then point at it."""
    if not kept:
        return True
    tail = conv.original[-len(kept) :]
    if len(tail) != len(kept) or any(a.raw is not b.raw for a, b in zip(tail, kept)):
        return False
    sources = [m.source for m in kept]
    path = entry_path(conv.lines)
    if sources[0] not in path:
        return False
    between = [i for i in path[path.index(sources[0]) :] if _kind(conv.lines, i) == "compaction"]
    return not between


def _fresh(entry: dict[str, Any], seed: tuple[object, ...]) -> dict[str, Any]:
    """An entry written a second time: new id, usage left out so that nothing counts it twice."""
    out = {**entry, "id": new_id("copy", *seed, entry.get("id"), entry.get("message"))[:8]}
    message = entry.get("message")
    if isinstance(message, dict) and "usage" in message:
        out["message"] = {k: v for k, v in message.items() if k != "usage"}
    return out


PI = Pi()
