"""Codex forks that copy nothing: their ``session_meta`` names the parent and the line of it that they go on from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from monitor.conversation.formats.session import encode_line
from monitor.conversation.jsonio import Line, split_lines

_UPTO = "forked_from_ordinal_exclusive"
_ID = re.compile(r"[0-9A-Fa-f][0-9A-Fa-f-]{7,63}")
_ROOTS = ("sessions", "archived_sessions")
_DEEPEST = 16


def whole(lines: Sequence[Line], path: str) -> tuple[list[Line], str]:
    """The lines with those of the parents put behind the header, and a note for the user ("" where nothing was named).

    The header then names no line any more: a file written from these lines holds all of it.
    """
    if not lines or _kind(lines[0]) != "session_meta":
        return list(lines), ""
    found: list[Line] = []
    names: list[str] = []
    missing = ""
    meta, limit = _payload(lines[0]), float("inf")
    while isinstance(meta.get(_UPTO), int) and len(names) < _DEEPEST:
        limit = min(limit, meta[_UPTO])
        parent = _find(meta.get("forked_from_id"), path)
        data = _read(parent) if parent is not None else None
        if parent is None or data is None:
            missing = "goes on from another session whose file cannot be read here: what was said there is not known"
            break
        told = split_lines(data)
        names.append(parent.name)
        found[:0] = [line for line in told if _kind(line) != "session_meta" and _before(line, limit)]
        meta = _payload(next((line for line in told if _kind(line) == "session_meta"), None))
    if not names:
        return list(lines), missing
    payload = {key: value for key, value in _payload(lines[0]).items() if key not in (_UPTO, "forked_from_id")}
    record = {**(lines[0].obj or {}), "payload": payload}
    head = msgspec.structs.replace(encode_line(record, lines[0]), number=lines[0].number)
    note = missing or f"goes on from {names[0]}: what was said there was read, too"
    return [head, *found, *lines[1:]], note


def own(lines: Sequence[Line], source: bytes) -> list[Line]:
    """The lines of a file that was made whole without those of its parents, which stay where they are.

    A client that knows the fork puts the parent's history in front of what stands here.
    """
    header = next(iter(split_lines(source.partition(b"\n")[0])), None)
    first = header.obj.get("ordinal") if header is not None and header.obj is not None else None
    if header is None or not isinstance(first, int) or not isinstance(_payload(header).get(_UPTO), int):
        return list(lines)
    return [header if _kind(line) == "session_meta" else line for line in lines if not _before(line, first)]


def _kind(line: Line) -> Any:
    return line.obj.get("type") if line.obj is not None else None


def _payload(line: Line | None) -> dict[str, Any]:
    payload = line.obj.get("payload") if line is not None and line.obj is not None else None
    return payload if isinstance(payload, dict) else {}


def _before(line: Line, limit: float) -> bool:
    ordinal = line.obj.get("ordinal") if line.obj is not None else None
    return isinstance(ordinal, int) and ordinal < limit


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:  # gone meanwhile, or not for everybody
        return None


def _find(thread: Any, path: str) -> Path | None:
    """The file of a thread: beside this one, or in the tree of sessions that this one lies in."""
    if not path or path == "-" or not isinstance(thread, str) or _ID.fullmatch(thread) is None:
        return None
    try:
        folder = Path(path).resolve().parent
        roots = [up for up in folder.parents if up.name in _ROOTS][:1]
        for place, name in ((folder, f"*{thread}.jsonl"), *((root, f"**/*{thread}.jsonl") for root in roots)):
            for found in sorted(place.glob(name)):
                if found.is_file():
                    return found
    except OSError:
        return None
    return None
