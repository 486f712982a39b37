"""Claude Code session JSONL: records linked by uuid and parentUuid; the newest line decides which chain is
live.

What the model sees (found by resuming hand-made files with the real client): the chain of the last user or
assistant record back to its root or to the last ``compact_boundary``, with the other lines of the same
answers and the results that hang on them; then, where the boundary names a preserved segment, those records
stand behind the summary.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from monitor.conversation.formats.anthropic import parse_message
from monitor.conversation.formats.base import Document
from monitor.conversation.formats.session import SessionFormat, encode_line, last_time, new_id, renumber
from monitor.conversation.jsonio import Line
from monitor.conversation.marks import looks_synthetic
from monitor.conversation.model import (
    CompactionOptions,
    Conversation,
    Message,
    Role,
    ToolCall,
)

_KEEP_FIELDS = ("isSidechain", "userType", "entrypoint", "cwd", "sessionId", "version", "gitBranch", "slug")
_STATE_LINES = ("mode", "permission-mode", "custom-title", "agent-name", "agent-color")


def uuid_of(record: dict[str, Any], key: str = "uuid") -> str | None:
    """The id (or parent's id) of a record; None where it is no string."""
    value = record.get(key)
    return value if isinstance(value, str) else None


def is_boundary(record: dict[str, Any]) -> bool:
    """True for the record that marks a compaction."""
    return record.get("type") == "system" and record.get("subtype") == "compact_boundary"


class ClaudeCode(SessionFormat):
    """One record a line; each content block of an answer is a line of its own."""

    name = provider = "claude-code"
    id_key, parent_key = "uuid", "parentUuid"

    def sniff(self, doc: Document) -> float:
        for obj in doc.objects():
            if "uuid" in obj and "parentUuid" in obj and obj.get("type") in ("user", "assistant", "system"):
                content = obj.get("message")
                if isinstance(content, dict) and "parts" in content:
                    return 0.0  # Qwen Code: Gemini-shaped messages in the same envelope
                return 0.95
            if "sessionId" in obj and ("uuid" in obj or "parentUuid" in obj):
                return 0.9
        return 0.0

    def parse_lines(self, lines: tuple[Line, ...]) -> list[Message]:
        out = []
        for i, line in enumerate(lines):
            obj = line.obj
            if obj is None or obj.get("type") not in ("user", "assistant"):
                continue
            where = f"line {line.number}"
            out.append(msgspec.structs.replace(self.view(obj), where=where, line=line.number, source=i))
        return out

    def view(self, raw: Any) -> Message:
        obj: dict[str, Any] = raw
        message = obj.get("message")
        role, parts, summary, synthetic = parse_message(message, ("message",))
        kind: Role = "assistant" if obj.get("type") == "assistant" else ("user" if role == "assistant" else role)
        if kind == "user":
            summary = bool(obj.get("isCompactSummary")) or summary
            synthetic = _synthetic(obj) or synthetic
        mid = message.get("id") if isinstance(message, dict) else None
        skipped = bool(obj.get("isApiErrorMessage")) or (
            isinstance(message, dict) and message.get("model") == "<synthetic>"
        )
        return Message(
            kind,
            parts,
            obj,
            group=mid if isinstance(mid, str) and kind == "assistant" else "",
            is_summary=summary,
            synthetic=synthetic,
            mark="sidechain" if obj.get("isSidechain") else ("skipped" if skipped else ""),
            time=obj.get("timestamp") if isinstance(obj.get("timestamp"), str) else None,
        )

    def effective(self, lines: tuple[Line, ...], messages: tuple[Message, ...]) -> list[Message]:
        side = not any(m.mark == "" for m in messages)  # a subagent's file is all sidechain
        wanted = {"", "sidechain"} if side else {""}
        by_id = {o["uuid"]: o for o in (x.obj for x in lines) if o and isinstance(o.get("uuid"), str)}
        live = [m for m in messages if m.mark in wanted]
        chain, boundary = self._chain(live[-1].raw if live else None, by_id)
        answers = {m.group for m in live if m.group and uuid_of(m.raw) in chain}
        chain |= {uuid_of(m.raw) for m in live if m.group in answers}
        for m in live:
            if m.role != "assistant" and m.results and uuid_of(m.raw, "parentUuid") in chain:
                chain.add(uuid_of(m.raw))
        seen = [m for m in messages if uuid_of(m.raw) in chain and m.mark != "skipped"]
        kept = self._preserved(boundary, by_id, live) if boundary else []
        if not kept:
            return seen
        kept_ids = {id(m) for m in kept}
        seen = [m for m in seen if id(m) not in kept_ids]
        at = next((i for i, m in enumerate(seen) if m.is_summary), -1) + 1
        return [*seen[:at], *kept, *seen[at:]]

    def _chain(
        self, leaf: dict[str, Any] | None, by_id: dict[str, dict[str, Any]]
    ) -> tuple[set[Any], dict[str, Any] | None]:
        chain: set[Any] = set()
        record = leaf
        while record is not None and uuid_of(record) not in chain:
            chain.add(uuid_of(record))
            if is_boundary(record):
                return chain, record
            parent = record.get("parentUuid")
            record = by_id.get(parent) if isinstance(parent, str) else None
        return chain, None

    def _preserved(
        self, boundary: dict[str, Any], by_id: dict[str, dict[str, Any]], live: list[Message]
    ) -> list[Message]:
        meta = boundary.get("compactMetadata")
        segment = meta.get("preservedSegment") if isinstance(meta, dict) else None
        if not isinstance(segment, dict):
            return []
        head, tail = segment.get("headUuid"), segment.get("tailUuid")
        ids: set[Any] = set()
        record = by_id.get(tail) if isinstance(tail, str) else None
        while record is not None and uuid_of(record) not in ids:
            ids.add(uuid_of(record))
            if uuid_of(record) == head:
                break
            parent = record.get("parentUuid")
            record = by_id.get(parent) if isinstance(parent, str) else None
        if head not in ids:
            return []
        groups = {m.group for m in live if m.group and uuid_of(m.raw) in ids}
        ids |= {uuid_of(m.raw) for m in live if m.group in groups}
        calls = {c.id for m in live if uuid_of(m.raw) in ids for c in m.calls}
        return [m for m in live if uuid_of(m.raw) in ids or any(r.call_id in calls for r in m.results)]

    def describe(self, conv: Conversation) -> Conversation:
        session = next((m.raw.get("sessionId") for m in conv.messages if m.raw.get("sessionId")), None)
        model = None
        for m in reversed(conv.messages):
            inner = m.raw.get("message")
            if m.role == "assistant" and isinstance(inner, dict) and isinstance(inner.get("model"), str):
                model = inner["model"]
                break
        return msgspec.structs.replace(conv, session=session if isinstance(session, str) else None, model=model)

    # ---------------------------------------------------------------- out
    def make(self, role: Role, text: str) -> dict[str, Any]:
        return {"type": role, "message": {"role": role, "content": text}}

    def new_message(self, conv: Conversation, role: Role, text: str, *, summary: bool = False) -> Message:
        raw = self.make("assistant" if role == "assistant" else "user", text)
        if role == "assistant":
            raw["message"]["content"] = [{"type": "text", "text": text}]
        if summary:
            raw |= {"isCompactSummary": True, "isVisibleInTranscriptOnly": True}
        return self.view(raw)

    def new_results(self, conv: Conversation, calls: Sequence[ToolCall], text: str) -> list[Message]:
        blocks = [{"type": "tool_result", "tool_use_id": c.id, "content": text, "is_error": True} for c in calls]
        return [self.view({"type": "user", "message": {"role": "user", "content": blocks}})]

    def insert(self, conv: Conversation, message: Message, before: dict[str, Any] | None) -> dict[str, Any]:
        like = before or next((x.obj for x in conv.lines if x.obj and "uuid" in x.obj), None) or {}
        parent = before.get("uuid") if before else None
        known = {k: like[k] for k in _KEEP_FIELDS if k in like}
        record: dict[str, Any] = {"parentUuid": parent} | known | message.raw | {"parentUuid": parent}
        if "uuid" not in message.raw:
            record["uuid"] = new_id("insert", parent, len(conv.lines), message.raw.get("message"))
            record["timestamp"] = like.get("timestamp") or last_time(conv.lines)
        return record

    def compacted(
        self, conv: Conversation, summary: str, kept: Sequence[Message], options: CompactionOptions
    ) -> Conversation:
        """State lines, ``compact_boundary``, the summary line, the kept records hanging on it.

        With ``append`` everything stays in the file and the kept records are written again behind the
        summary, under new ids and without usage, so that no reader counts them twice.
        """
        head, tail = self.split_kept(conv, kept)
        kept_records = [m.raw for m in [*head, *tail]]
        template = next((x.obj for x in reversed(conv.lines) if x.obj and x.obj.get("uuid")), None) or {}
        known = {k: template[k] for k in _KEEP_FIELDS if k in template} | {"isSidechain": False}
        stamp = options.timestamp or last_time(conv.lines)
        seed = (conv.session, summary, len(conv.lines), len(kept_records))
        boundary_id, summary_id = new_id("boundary", *seed), new_id("summary", *seed)
        meta: dict[str, Any] = {"trigger": options.trigger}
        if options.tokens_before is not None:
            meta["preTokens"] = options.tokens_before
        folded = [m for m in conv.messages if all(m.raw is not r for r in kept_records)]
        boundary = {
            "parentUuid": None,
            "logicalParentUuid": folded[-1].raw.get("uuid") if folded else None,
            **known,
            "type": "system",
            "subtype": "compact_boundary",
            "content": "Conversation compacted",
            "isMeta": False,
            "timestamp": stamp,
            "uuid": boundary_id,
            "level": "info",
            "compactMetadata": meta,
        }
        told = {
            "parentUuid": boundary_id,
            **known,
            **self.make("user", summary),
            "isVisibleInTranscriptOnly": True,
            "isCompactSummary": True,
            "uuid": summary_id,
            "timestamp": stamp,
        }
        records: list[dict[str, Any]] = [boundary, told]
        parent = summary_id
        if options.acknowledgement:
            ack = self.new_message(conv, "assistant", options.acknowledgement).raw
            parent = new_id("ack", *seed)
            records.append({"parentUuid": summary_id, **known, **ack, "uuid": parent, "timestamp": stamp})
        for record in kept_records:
            copy = self.relink(record, parent)
            if copy.get("isSidechain"):  # a subagent's conversation becomes one that can be resumed
                copy["isSidechain"] = False
            if options.append:
                copy = _copy(copy, boundary_id)
            parent = copy.setdefault("uuid", new_id("kept", parent, copy.get("message")))
            records.append(copy)
        style = next((x for x in conv.lines if x.obj and "uuid" in x.obj), conv.lines[0] if conv.lines else None)
        new = [encode_line(r, style) for r in records]
        old = list(conv.lines) if options.append else [x for x in conv.lines if _is_state(x)]
        result = self.from_lines(renumber([*old, *new]), conv.path)
        return msgspec.structs.replace(result, notes=conv.notes)


def _is_state(line: Line) -> bool:
    return line.obj is not None and line.obj.get("type") in _STATE_LINES


def _copy(record: dict[str, Any], seed: str) -> dict[str, Any]:
    """A kept record written a second time: new ids, no usage."""
    out = {**record, "uuid": new_id("copy", seed, record.get("uuid"))}
    message = record.get("message")
    if isinstance(message, dict):
        message = {k: v for k, v in message.items() if k != "usage"}
        if isinstance(message.get("id"), str):
            message["id"] = "msg_" + new_id("copy", seed, message["id"]).replace("-", "")[:24]
        out["message"] = message
    out.pop("requestId", None)
    return out


def _synthetic(obj: dict[str, Any]) -> bool:
    """User rows the client made up: meta rows, notifications of background tasks."""
    if obj.get("isMeta"):
        return True
    origin = obj.get("origin")
    if isinstance(origin, dict) and origin.get("kind") not in (None, "user", "human"):
        return True
    return obj.get("promptSource") == "system" and looks_synthetic(str((obj.get("message") or {}).get("content")))


CLAUDE_CODE = ClaudeCode()
