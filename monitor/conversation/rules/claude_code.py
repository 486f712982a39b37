"""Claude Code session files: links, boundaries and lines (rules K), then what would be sent (rules A)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from monitor.conversation.formats.claude_code import is_boundary
from monitor.conversation.jsonio import ident
from monitor.conversation.model import Conversation, Message
from monitor.conversation.rules import anthropic
from monitor.conversation.rules.base import Entry, Findings


def check(conv: Conversation, out: Findings) -> None:
    """Judge a session by its lines and by the request it leads to."""
    records = [(x.number, x.obj) for x in conv.lines if x.obj is not None]
    bad = set()
    for line in conv.lines:
        if line.error:
            bad.add(line.number)
            out.add("K-bad-line", f"line {line.number}", line.error)
    _links(records, bad, out)
    _boundaries(records, out)
    if not conv.messages:
        out.add("empty-conversation", "file", "no messages")
        return
    anthropic.check(merged(conv.messages), out, session=True)


def _links(records: list[tuple[int, dict[str, Any]]], bad: set[int], out: Findings) -> None:
    first: dict[Any, int] = {}
    sessions = set()
    for number, record in records:
        uuid, kind = ident(record.get("uuid")), record.get("type")
        if uuid is None:
            continue
        where = f"line {number}"
        if uuid in first and number not in bad:
            out.add("K-duplicate-uuid", where, f"uuid {uuid} already on line {first[uuid]}")
        first.setdefault(uuid, number)
        if kind in ("user", "assistant"):
            if record.get("sessionId"):
                sessions.add(ident(record["sessionId"]))
            message = record.get("message")
            role = message.get("role") if isinstance(message, dict) else None
            if role != kind:
                out.add("K-role-mismatch", where, f"type {kind} with role {role!r}")
    for number, record in records:
        parent = ident(record.get("parentUuid"))
        if not record.get("uuid") or parent is None:
            continue
        if parent not in first:
            out.add("K-parent-missing", f"line {number}", f"parentUuid {parent} is not in the file")
        elif first[parent] > number:
            out.warn("K-parent-later", f"line {number}", "parent comes later in the file")
    if len(sessions) > 1:
        out.warn("K-session-mixed", "file", f"{len(sessions)} session ids")


def _boundaries(records: list[tuple[int, dict[str, Any]]], out: Findings) -> None:
    told = {ident(r.get("parentUuid")) for _, r in records if r.get("type") == "user" and r.get("isCompactSummary")}
    for number, record in records:
        if not is_boundary(record):
            continue
        if record.get("parentUuid") is not None:
            out.add("K-boundary-parent", f"line {number}", "compact_boundary must have parentUuid null")
        if ident(record.get("uuid")) not in told:
            out.add("K-boundary-summary", f"line {number}", "compact_boundary is not followed by a summary line")


def merged(messages: Sequence[Message]) -> list[Entry]:
    """The lines as the messages of a request: lines of one answer joined, user lines joined with results first."""
    out: list[dict[str, Any]] = []
    names: list[str] = []
    groups: list[str] = []
    for m in messages:
        inner = m.raw.get("message")
        content = inner.get("content") if isinstance(inner, dict) else None
        found = anthropic.blocks(content)
        role = "assistant" if m.role == "assistant" else "user"
        if out and out[-1]["role"] == role and (role == "user" or (m.group and groups[-1] == m.group)):
            if role == "user":
                have = out[-1]["content"]
                results = [b for b in found if anthropic.kind(b) == "tool_result"]
                at = sum(anthropic.kind(b) == "tool_result" for b in have)
                have[at:at] = results
                have.extend(b for b in found if anthropic.kind(b) != "tool_result")
            else:
                out[-1]["content"].extend(found)
            continue
        out.append({"role": role, "content": list(found)})
        names.append(m.where)
        groups.append(m.group)
    return [Entry(raw, name) for raw, name in zip(out, names)]
