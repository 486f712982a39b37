"""Pi session files: header, tree and compactions, then calls and results on the visible path (rules P)."""

from __future__ import annotations

from typing import Any

from monitor.conversation.formats.pi import is_tree
from monitor.conversation.jsonio import ident
from monitor.conversation.model import Conversation, Message
from monitor.conversation.rules.base import Entry, Findings, any_format, image_count, readable

_OTHER_ROLES = ("bashExecution", "custom", "branchSummary", "compactionSummary")
PI_ROLES = ("user", "assistant", "toolResult", *_OTHER_ROLES)


def check(conv: Conversation, out: Findings) -> None:
    """Judge a session by its entries and by the path the model would see."""
    for line in conv.lines:
        if line.error:
            out.add("P-bad-line", f"line {line.number}", line.error)
    _entries(conv, out)
    if not conv.messages:
        out.add("empty-conversation", "file", "no entries")
        return
    _Path(out).run(conv.messages)


def _entries(conv: Conversation, out: Findings) -> None:
    records = [(x.number, x.obj) for x in conv.lines if x.obj is not None]
    if not records or records[0][1].get("type") != "session":
        out.add("P-no-header", "line 1", "first line is not the session header")
    tree = is_tree(conv.lines)
    first: dict[Any, int] = {}
    for number, entry in records:
        if entry.get("type") == "session":
            continue
        where, eid = f"line {number}", ident(entry.get("id"))
        if tree:
            if not eid:
                out.add("P-no-id", where, "entry without id")
            elif eid in first:
                out.add("P-duplicate-id", where, f"id {eid} already on line {first[eid]}")
            parent = ident(entry.get("parentId"))
            if parent is not None and parent not in first:
                out.add("P-parent-missing", where, f"parentId {parent} is not an earlier entry")
            if eid:
                first.setdefault(eid, number)
        if entry.get("type") == "compaction":
            if not str(entry.get("summary") or "").strip():
                out.add("P-compaction-empty", where, "compaction entry without summary")
            kept = ident(entry.get("firstKeptEntryId"))
            if entry.get("firstKeptEntryId") and kept not in first:
                out.add("P-first-kept-missing", where, "firstKeptEntryId is not an earlier entry")


class _Path:
    """Walks the visible path; ``open`` are the calls waiting for their results."""

    def __init__(self, out: Findings) -> None:
        self.out = out
        self.called: dict[str, str] = {}
        self.open: dict[str, str] = {}
        self.answered: set[str] = set()

    def run(self, messages: tuple[Message, ...]) -> None:
        has_user = False
        for m in messages:
            if m.raw.get("type") != "message":
                has_user = True  # summaries and custom messages are sent as user messages
                continue
            message = m.raw.get("message")
            entry = Entry(message if isinstance(message, dict) else {}, m.where)
            any_format(entry.raw, m.where, self.out)
            role = entry.raw.get("role")
            has_user = has_user or role == "user"
            if role == "toolResult":
                self._result(entry)
                continue
            for cid, owner in self.open.items():
                self.out.add("P2-unanswered-call", owner, f"call {cid} has no result before {m.where}")
            self.open = {}
            self._message(entry, role)
        for cid, owner in self.open.items():
            self.out.add("P2-open-call", owner, f"call {cid} has no result at the end")
        if not has_user:
            self.out.add("no-user-message", "file", "no user message at all")

    def _message(self, entry: Entry, role: Any) -> None:
        raw, where = entry.raw, entry.where
        content = raw.get("content")
        if role == "user":
            if not readable(content) and not image_count(content):
                self.out.add("P-empty-content", where, "empty user message")
        elif role == "assistant":
            if raw.get("stopReason") in ("error", "aborted"):
                return  # Pi does not send them
            if not content:
                self.out.add("P-empty-content", where, "empty assistant message")
            for block in content if isinstance(content, list) else []:
                if isinstance(block, dict) and block.get("type") == "toolCall":
                    self._call(ident(block.get("id")), where)
        elif role not in _OTHER_ROLES:
            self.out.add("role-unknown", where, f"role {role!r}")

    def _call(self, cid: Any, where: str) -> None:
        if not cid:
            self.out.add("P-bad-call-id", where, "toolCall without id")
        elif cid in self.called:
            self.out.add("P-duplicate-call-id", where, f"call id {cid} already used at {self.called[cid]}")
        self.called[cid] = where
        self.open[cid] = where
        self.answered.discard(cid)

    def _result(self, entry: Entry) -> None:
        cid, where = ident(entry.raw.get("toolCallId")), entry.where
        if cid in self.open:
            del self.open[cid]
            self.answered.add(cid)
        elif cid in self.answered:
            self.out.add("P2-double-answer", where, f"second result for {cid}")
        elif cid in self.called:
            self.out.add("P1-result-displaced", where, f"result for {cid} comes after the model went on")
        else:
            self.out.add("P1-orphan-result", where, f"result for {cid}, which no earlier entry calls")
