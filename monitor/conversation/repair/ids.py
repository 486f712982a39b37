"""Ids of calls, results and items: missing, illegal or used twice."""

from __future__ import annotations

import re
from typing import Any

from monitor.conversation.model import Message, Part, ToolCall, ToolResult
from monitor.conversation.repair.base import Sheet

_LEGAL = re.compile(r"[a-zA-Z0-9_-]+")
_CODES = [
    "C3-bad-id",
    "C3-duplicate-id",
    "A4-bad-id",
    "A4-duplicate-id",
    "R-bad-call-id",
    "R-duplicate-call-id",
    "P-bad-call-id",
    "P-duplicate-call-id",
    "A3-orphan-result",  # also where a result has no id at all
    "R1-orphan-output",
    "P1-orphan-result",
]


def fix_ids(sheet: Sheet) -> None:
    """Give every call an id of its own and its results the same one, in the order of the file."""
    if sheet.broken("R-duplicate-item-id"):
        _item_ids(sheet)
    if not sheet.broken(*_CODES):
        return
    strict = sheet.conv.provider in ("anthropic", "claude-code")
    used: set[str] = set()
    current: dict[str, list[str]] = {}  # id as written -> new ids still waiting for a result
    unnamed: list[str] = []  # new ids of calls that had none, of the latest answer
    unasked: list[str] = []  # those, and the ids of its other calls that no result names
    replaced: dict[str, str] = {}
    known = {c.id for m in sheet.conv.messages for c in m.calls if c.id}
    named = {r.call_id for m in sheet.conv.messages for r in m.results if r.call_id}

    def rename(m: Message) -> Message:
        changes: dict[int, Part | None] = {}
        here: set[str] = set()
        if m.calls:
            unnamed.clear()  # the results of a call follow it
            unasked.clear()
        for k, p in enumerate(m.parts):
            if isinstance(p, ToolCall):
                new = _free(p.id, used, strict, len(used))
                if p.id and p.id not in here:
                    current[p.id] = []
                here.add(p.id)
                used.add(new)
                if p.id:
                    current.setdefault(p.id, []).append(new)
                else:
                    unnamed.append(new)
                if p.id not in named:
                    unasked.append(new)
                if new != p.id:
                    sheet.say(f"{m.where}: call id {p.id or '(none)'} replaced by {new}")
                    changes[k] = ToolCall(new, p.name, p.raw_arguments, p.kind)
                if p.id:
                    replaced[p.id] = new
            elif isinstance(p, ToolResult):
                waiting = current.get(p.call_id) or _waiting(p.call_id, known, unnamed, unasked)
                new = waiting[0] if waiting else replaced.get(p.call_id, p.call_id)
                for one in (waiting, unnamed, unasked):
                    if new in one:
                        one.remove(new)
                if new and new != p.call_id:
                    changes[k] = ToolResult(new, p.text, p.is_error, p.images, p.name, p.kind)
        return sheet.conv.edit(m, changes) if changes else m

    sheet.each(rename)


def _waiting(call_id: str, known: set[str], unnamed: list[str], unasked: list[str]) -> list[str]:
    """Calls that a result belongs to by its place: without an id any unanswered one, else one that has none itself."""
    if not call_id:
        return unasked
    return unnamed if call_id not in known else []


def _free(wanted: str, used: set[str], strict: bool, n: int) -> str:
    base = wanted or f"call_{n + 1}"
    if strict and not _LEGAL.fullmatch(base):
        base = re.sub(r"[^a-zA-Z0-9_-]+", "_", base) or f"call_{n + 1}"
    new, k = base, 2
    while new in used:
        new, k = f"{base}_{k}", k + 1
    return new


def _item_ids(sheet: Sheet) -> None:
    seen: set[Any] = set()

    def drop(m: Message) -> Message:
        iid = m.raw.get("id") if isinstance(m.raw, dict) else None
        if not isinstance(iid, str) or not iid:
            return m
        if iid not in seen:
            seen.add(iid)
            return m
        sheet.say(f"{m.where}: item id {iid}, already used, removed")
        return sheet.reparse(m, {k: v for k, v in m.raw.items() if k != "id"})

    sheet.each(drop)
