"""Codex rollouts: header, payloads and compacted records (rules X), then the history as Responses items (rules R)."""

from __future__ import annotations

from monitor.conversation.model import Conversation
from monitor.conversation.rules import responses
from monitor.conversation.rules.base import Entry, Findings


def check(conv: Conversation, out: Findings) -> None:
    """Judge a rollout by its lines and by the items it would send; Codex sends them with store off."""
    for line in conv.lines:
        where = f"line {line.number}"
        if line.error:
            out.add("X-bad-line", where, line.error)
        if line.obj is None:
            continue
        payload = line.obj.get("payload")
        if not isinstance(payload, dict):
            out.add("X-no-payload", where, "line without payload")
            payload = {}
        if line.obj.get("type") == "compacted" and not (payload.get("message") or payload.get("replacement_history")):
            told = "compacted record with neither message nor replacement_history"
            out.add("X-compacted-empty", where, told)
    first = next((x.obj for x in conv.lines if x.obj is not None), None)
    if first is None or first.get("type") != "session_meta":
        out.add("X-no-session-meta", "line 1", "first line is not session_meta")
    if not conv.messages:
        out.add("empty-conversation", "file", "no response items")
        return
    responses.check([Entry(m.raw, m.where) for m in conv.messages], out, name="item", store=False)
