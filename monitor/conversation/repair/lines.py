"""Lines of session files: broken ones, missing headers, links that lead nowhere, boundaries without a summary."""

from __future__ import annotations

from typing import Any

import msgspec

from monitor.conversation.blocks import parts_of
from monitor.conversation.formats.session import SessionFormat, encode_line, last_time, new_id, renumber
from monitor.conversation.jsonio import Line, ident
from monitor.conversation.marks import looks_like_summary
from monitor.conversation.model import Text
from monitor.conversation.repair.base import Sheet

CODES = [
    "K-bad-line",
    "K-boundary-parent",
    "K-boundary-summary",
    "K-duplicate-uuid",
    "K-parent-missing",
    "K-role-mismatch",
    "X-bad-line",
    "X-compacted-empty",
    "X-no-payload",
    "X-no-session-meta",
    "P-bad-line",
    "P-compaction-empty",
    "P-duplicate-id",
    "P-first-kept-missing",
    "P-no-header",
    "P-no-id",
    "P-parent-missing",
]


def fix_lines(sheet: Sheet) -> None:
    """Mend the lines and read the session anew from them."""
    handler = sheet.conv.handler
    # a line that lost its type may be the user message that is missed
    lost = handler.name == "claude-code" and sheet.broken("A1-first-not-user", "no-user-message")
    if not (lost or sheet.broken(*CODES)) or not isinstance(handler, SessionFormat):
        return
    present = renumber(handler.current_lines(sheet.conv)) if sheet.conv.messages_changed else sheet.conv.lines
    lines = [x for x in present if x.obj is not None]
    for x in present:
        if x.obj is None:
            sheet.say(f"line {x.number}: line that is no JSON object removed")
        elif x.error:
            sheet.say(f"line {x.number}: objects glued together put on lines of their own")
    lines = [msgspec.structs.replace(x, error="") if x.error else x for x in lines]
    lines = [_plain_ids(x, n, handler.id_key, handler.parent_key) for n, x in enumerate(lines)]
    mend = {"claude-code": _claude_code, "codex": _codex, "pi": _pi}[handler.name]
    lines = mend(sheet, lines)
    fresh = handler.from_lines(renumber(lines), sheet.conv.path)
    sheet.conv = msgspec.structs.replace(fresh, notes=sheet.conv.notes, touched=True)


def _plain_ids(line: Line, n: int, own: str, up: str) -> Line:
    """Ids of other types than text become text, so that they can be compared."""
    obj = line.obj
    if obj is None or not own:
        return line
    changes: dict[str, Any] = {}
    if own in obj and obj[own] is not None and not isinstance(obj[own], str):
        changes[own] = new_id("line", n, ident(obj[own]))
    if obj.get(up) is not None and not isinstance(obj[up], str):
        changes[up] = None
    return _set(line, **changes) if changes else line


def _set(line: Line, **changes: Any) -> Line:
    assert line.obj is not None
    return encode_line({**line.obj, **changes}, line)


def _role(entry: dict[str, Any]) -> Any:
    message = entry.get("message")
    return message.get("role") if isinstance(message, dict) else None


def _obj(line: Line) -> dict[str, Any]:
    assert line.obj is not None
    return line.obj


#: fields of a Claude Code record that differ between two copies of it
_OF_COPY = ("timestamp", "parentUuid", "sessionId", "version", "cwd", "gitBranch")


def _content(line: Line) -> dict[str, Any]:
    return {k: v for k, v in _obj(line).items() if k not in _OF_COPY}


def _claude_code(sheet: Sheet, lines: list[Line]) -> list[Line]:
    seen: dict[str, list[dict[str, Any]]] = {}  # uuid -> what its records say
    renamed: dict[Any, str] = {}
    out: list[Line] = []
    for n, x in enumerate(lines):
        uuid = _obj(x).get("uuid")
        if isinstance(uuid, str) and _content(x) in seen.get(uuid, ()):
            sheet.say(f"line {x.number}: second record of the same uuid removed")
            continue
        if ident(_obj(x).get("parentUuid")) in renamed:
            x = _set(x, parentUuid=renamed[ident(_obj(x)["parentUuid"])])
        if isinstance(uuid, str):
            seen.setdefault(uuid, []).append(_content(x))
            if len(seen[uuid]) > 1:  # another one: what comes later hangs on it
                renamed[uuid] = new_id("record", n, uuid)
                sheet.say(f"line {x.number}: record given a uuid of its own")
                x = _set(x, uuid=renamed[uuid])
        message = _obj(x).get("message")
        kind = _obj(x).get("type")
        inner = message if isinstance(message, dict) else {"content": []}
        if uuid and (not isinstance(kind, str) or not kind) and inner.get("role") in ("user", "assistant"):
            kind = inner["role"]
            sheet.say(f"line {x.number}: type set to {kind}, the role of the message")
            x = _set(x, type=kind)
        if kind in ("user", "assistant") and uuid and inner.get("role") != kind:
            sheet.say(f"line {x.number}: role set to {kind}, the type of the record")
            x = _set(x, message={**inner, "role": kind})
        out.append(x)
    if sheet.broken("K-boundary-summary"):
        out = _mark_summaries(sheet, out)
    summaries = [x for x in out if _obj(x).get("isCompactSummary") and _obj(x).get("type") == "user"]
    told = {ident(_obj(x).get("parentUuid")) for x in summaries}
    gone: dict[Any, Any] = {}
    kept: list[Line] = []
    for x in out:
        obj = _obj(x)
        if obj.get("subtype") == "compact_boundary":
            if ident(obj.get("uuid")) not in told:
                sheet.say(f"line {x.number}: compaction boundary without a summary removed")
                gone[ident(obj.get("uuid"))] = obj.get("logicalParentUuid") or obj.get("parentUuid")
                continue
            if obj.get("parentUuid") is not None:
                sheet.say(f"line {x.number}: parentUuid of the boundary set to null")
                x = _set(x, parentUuid=None)
        kept.append(x)
    return _mend_parents(sheet, kept, "uuid", "parentUuid", gone)


def _mark_summaries(sheet: Sheet, lines: list[Line]) -> list[Line]:
    """A user record right behind a boundary that reads as a summary is its summary, though the mark is lost."""
    boundaries = {ident(_obj(x).get("uuid")) for x in lines if _obj(x).get("subtype") == "compact_boundary"}
    out: list[Line] = []
    for x in lines:
        obj, message = _obj(x), _obj(x).get("message")
        behind = obj.get("type") == "user" and ident(obj.get("parentUuid")) in boundaries
        content = message.get("content") if isinstance(message, dict) else None
        text = "\n".join(p.text for p in parts_of(content, ()) if isinstance(p, Text)) if behind else ""
        if not obj.get("isCompactSummary") and looks_like_summary(text):
            sheet.say(f"line {x.number}: marked as the summary of the boundary it hangs on")
            x = _set(x, isCompactSummary=True, isVisibleInTranscriptOnly=True)
        out.append(x)
    return out


def _mend_parents(
    sheet: Sheet, lines: list[Line], own: str, up: str, gone: dict[Any, Any], earlier: bool = False
) -> list[Line]:
    """Records whose parent is not there hang on the record before them; a removed parent is passed over."""
    ids = {_obj(x).get(own) for x in lines if isinstance(_obj(x).get(own), str)}
    out: list[Line] = []
    before: Any = None
    past: set[Any] = set()
    for x in lines:
        obj = _obj(x)
        parent = obj.get(up)
        for _ in range(len(gone)):
            if not isinstance(parent, str) or parent not in gone:
                break
            parent = gone[parent]
        if obj.get(own) and parent is not None:
            missing = not isinstance(parent, str) or parent not in (past if earlier else ids)
            if missing:
                sheet.say(f"line {x.number}: hung on the record before it, as its {up} is not in the file")
                parent = before
        if parent != obj.get(up) and up in obj:
            x = _set(x, **{up: parent})
        if isinstance(obj.get(own), str):
            if not obj.get("isSidechain"):
                before = obj[own]
            past.add(obj[own])
        out.append(x)
    return out


def _codex(sheet: Sheet, lines: list[Line]) -> list[Line]:
    out: list[Line] = []
    for x in lines:
        payload = _obj(x).get("payload")
        if not isinstance(payload, dict):
            sheet.say(f"line {x.number}: line without payload removed")
        elif _obj(x).get("type") == "compacted" and not (payload.get("message") or payload.get("replacement_history")):
            sheet.say(f"line {x.number}: empty compacted record removed")
        else:
            out.append(x)
    if not sheet.broken("X-no-session-meta"):
        return out
    meta = [x for x in out if _obj(x).get("type") == "session_meta"][:1]
    if not meta:
        stamp = next((_obj(x)["timestamp"] for x in out if isinstance(_obj(x).get("timestamp"), str)), "")
        context: dict[str, Any] = next((_obj(x)["payload"] for x in out if _obj(x).get("type") == "turn_context"), {})
        payload = {
            "id": new_id("session", len(out), stamp),
            "timestamp": stamp,
            "cwd": context.get("cwd") or ".",
            "originator": "codex_cli_rs",
            "cli_version": "0.0.0",
        }
        style = out[0] if out else None
        meta = [encode_line({"timestamp": stamp, "type": "session_meta", "payload": payload}, style)]
    sheet.say("line 1: session_meta put first")
    return [*meta, *(x for x in out if x is not meta[0])]


def _pi(sheet: Sheet, lines: list[Line]) -> list[Line]:
    header = [x for x in lines if _obj(x).get("type") == "session"][:1]
    rest = [x for x in lines if _obj(x).get("type") != "session"]
    tree = any("id" in _obj(x) for x in rest)
    if not header or lines[0] is not header[0]:
        sheet.say("line 1: session header put first")
    if not header:
        stamp = last_time(rest)
        record: dict[str, Any] = {"type": "session"}
        record |= {"version": 3} if tree else {}
        record |= {"id": new_id("session", len(rest), stamp), "timestamp": stamp, "cwd": "."}
        header = [encode_line(record, rest[0] if rest else None)]
    out: list[Line] = []
    gone: dict[Any, Any] = {}
    renamed: dict[Any, Any] = {}
    seen: set[Any] = set()
    for n, x in enumerate(rest):
        obj = _obj(x)
        if obj.get("type") == "compaction" and not str(obj.get("summary") or "").strip():
            sheet.say(f"line {x.number}: compaction entry without a summary removed")
            gone[ident(obj.get("id"))] = obj.get("parentId")
            continue
        if tree:
            x = _entry(sheet, x, n, seen, renamed)
            seen.add(ident(_obj(x).get("id")))
        out.append(x)
    if tree:
        out = _mend_parents(sheet, out, "id", "parentId", gone, earlier=True)
        out = _first_kept(sheet, out)
    return [*header, *out]


def _entry(sheet: Sheet, x: Line, n: int, seen: set[Any], renamed: dict[Any, Any]) -> Line:
    """An entry with an id of its own, hanging on the newest entry of its parent's name."""
    obj = _obj(x)
    changes: dict[str, Any] = {}
    if ident(obj.get("parentId")) in renamed:
        changes["parentId"] = renamed[ident(obj["parentId"])]
    if not isinstance(obj.get("id"), str) or not obj["id"] or ident(obj["id"]) in seen:
        made = new_id("entry", n, obj.get("id"), obj.get("timestamp"))[:8]
        sheet.say(f"line {x.number}: entry given an id of its own")
        if obj.get("id"):
            renamed[ident(obj["id"])] = made
        changes["id"] = made
    return _set(x, **changes) if changes else x


def _first_kept(sheet: Sheet, lines: list[Line]) -> list[Line]:
    """A compaction whose first kept entry is unknown keeps from the last user message before it."""
    out: list[Line] = []
    for x in lines:
        obj = _obj(x)
        ids = [_obj(y).get("id") for y in out]
        if obj.get("type") == "compaction" and obj.get("firstKeptEntryId") and obj["firstKeptEntryId"] not in ids:
            users = [_obj(y)["id"] for y in out if _obj(y).get("type") == "message" and _role(_obj(y)) == "user"]
            first = users[-1] if users else obj.get("id")
            sheet.say(f"line {x.number}: firstKeptEntryId set to the last user message before it")
            x = _set(x, firstKeptEntryId=first)
        out.append(x)
    return out
