"""Rows of opencode 2 as messages and parts of before. See :mod:`monitor.readers.opencode`.

The table ``session_message`` holds a row for each step of a conversation; what it is stands in the column ``type``, the
rest in ``data``: an assistant's row has model, tokens, cost and its content (text, reasoning, tools), a compaction's
what the summarising request used (since 2.0 of September 2026). Source: the schema of session messages in opencode's
repository.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw, Struct

from monitor.readers import agent_values as look
from monitor.readers import opencode_shapes as shape
from monitor.readers.agent_values import obj, rows, time_ms, word
from monitor.readers.lines import Skipped
from monitor.readers.opencode_build import Builder
from monitor.readers.opencode_shapes import Told


class Row(Struct, gc=False):
    """The fields of a row that are looked at."""

    model: Any = None
    agent: Any = None
    tokens: Any = None
    cost: Any = None
    time: Any = None
    finish: Any = None
    error: Any = None
    status: Any = None
    reason: Any = None
    content: Raw = Raw()
    text: Raw = Raw()


class _Part(Struct, gc=False):
    type: Any = None
    state: Raw = Raw()


_row = msgspec.json.Decoder(Row).decode
_parts = msgspec.json.Decoder(list[_Part]).decode


def row_of(data: bytes) -> Row | None:
    """A row from its JSON; None if it is none."""
    return shape.read(
        data, _row, lambda value: Row(**shape.fields_of(value, Row.__struct_fields__, ("content", "text")))
    )


def add(builder: Builder, id: str, session: str, kind: str | None, row: Row, created: Any, settled: int | None) -> None:
    """Hand one row to the builder.

    Args:
        created: the column with the time the row was made, for data that tells none.
        settled: what happened until then (ms) is told by the tables of opencode 1.
    """
    if kind == "assistant":
        if not builder.tells(id):
            _answer(builder, id, session, row, created)
    elif kind == "user":
        if not builder.tells(id):
            builder.message(id, session, Told(role="user", time=row.time), created)
            builder.part(f"{id}:text", id, Told(type="text"))
    elif kind == "compaction":
        time = time_ms(obj(row.time).get("created")) or time_ms(created)
        if settled is None or time is None or time > settled:
            _compaction(builder, id, session, row, created, time)


def _answer(builder: Builder, id: str, session: str, row: Row, created: Any) -> None:
    times = obj(row.time)
    # the answer's end, before the tools it asked for have run
    ended = times.get("streamed") or times.get("completed")
    builder.message(id, session, _told(row, {"created": times.get("created"), "completed": ended}, row.agent), created)
    for number, part in enumerate(_content(row.content)):
        if part.type == "tool":
            builder.part(f"{id}:{number}", id, Told(type="tool"))
        else:
            builder.part(f"{id}:{number}", id, Told(type=part.type if part.type != "text" else "answer"))


def _compaction(builder: Builder, id: str, session: str, row: Row, created: Any, time: int | None) -> None:
    auto = {"auto": True, "manual": False}.get(str(row.reason))
    if row.status == "running":
        return
    if isinstance(row.tokens, dict) or row.status == "failed":
        asked = f"!{id}"  # before it, in the order of ids
        builder.message(asked, session, Told(role="user", time=row.time), created)
        builder.part(f"{asked}:0", asked, Told(type="compaction", auto=auto))
        value = _told(row, {"created": time}, "compaction")
        value.parentID = asked
        builder.message(id, session, value, created)
    else:
        builder.compacted(id, session, time, auto)


def _told(row: Row, times: dict[str, Any], agent: Any) -> Told:
    model, error = obj(row.model), obj(row.error)
    failed = {"name": error.get("type") or error.get("name") or "error", "data": {"message": error.get("message")}}
    return Told(
        role="assistant",
        modelID=model.get("id"),
        providerID=model.get("providerID"),
        agent=agent,
        cost=row.cost,
        tokens=row.tokens if isinstance(row.tokens, dict) else {},
        time=times,
        finish=row.finish,
        error=failed if error else None,
    )


def _content(raw: Raw) -> list[_Part]:
    try:
        return _parts(raw)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return []


def part_of(data: bytes, part: str) -> bytes | None:
    """A part of a row, as parts were kept before; None if there is none. ``part``: what stands behind its row's id."""
    try:
        found = look.loads(data)
    except Skipped:
        return None
    row = found[0] if found and isinstance(found[0], dict) else {}
    if part == "text":
        return msgspec.json.encode({"type": "text", "text": str(row.get("text") or "")})
    content = row.get("content")
    if not isinstance(content, list) or not part.isdecimal() or int(part) >= len(content):
        return None
    tool = obj(content[int(part)])
    state, times = obj(tool.get("state")), obj(tool.get("time"))
    said = [str(one.get("text") or "") for one in rows(state.get("content"))]
    told: dict[str, Any] = {
        "type": "tool",
        "tool": word(tool.get("name")) or "",
        "callID": word(tool.get("id")) or "",
        "state": {
            "status": state.get("status"),
            "input": state.get("input"),
            "output": "\n".join(said),
            "error": str(obj(state.get("error")).get("message") or ""),
            "time": {"start": times.get("ran") or times.get("created"), "end": times.get("completed")},
        },
    }
    return msgspec.json.encode(told)
