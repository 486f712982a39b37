"""Trimming: tool results and old call arguments made smaller, every message stays.

Cut are, outside the last exchanges: reads of a file that was changed later (stale) or read again (superseded), then
head and tail of what is left, with error lines rescued; of searches and pages titles and conclusions; long arguments of
calls (the text of a written file). Each cut says how much is gone. All is done in one pass, as every change to an old
message breaks the provider's prompt cache from there on.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from monitor.compaction import outcome, values
from monitor.compaction.actions import Action, action
from monitor.conversation.model import Conversation, Message, Part, ToolCall, ToolResult
from monitor.conversation.tokens import count

HEAD, TAIL = 600, 600
ARGUMENT = 400
#: results shorter than this stay as they are
SHORT = 1_600


class Trimmed(msgspec.Struct, frozen=True):
    """The conversation with results trimmed; what was done, by kind, in tokens saved."""

    conv: Conversation
    saved: dict[str, int]
    messages: int


def trim(conv: Conversation, keep_from: int, *, aggressive: bool = False) -> Trimmed:
    """Trim what stands before message ``keep_from``. ``aggressive``: shorter heads and tails (small windows)."""
    stale, superseded = _outdated(conv.messages)
    acts = {}
    saved: dict[str, int] = {}
    out: list[Message] = []
    n = 0
    head = HEAD // 2 if aggressive else HEAD
    for m in conv.messages:
        for call in m.calls:
            acts[call.id] = action(call)
        if m.index >= keep_from or m.typed or m.is_summary or m.role == "system":
            out.append(m)
            continue
        changes: dict[int, Part | None] = {}
        for at, part in enumerate(m.parts):
            new: Part | None = None
            if isinstance(part, ToolResult):
                kind, text = _result(
                    part, acts.get(part.call_id), part.call_id in stale, part.call_id in superseded, head
                )
                new = msgspec.structs.replace(part, text=text) if text is not None else None
            elif isinstance(part, ToolCall):
                kind, value = "arguments of calls", _arguments(part)
                new = msgspec.structs.replace(part, raw_arguments=value) if value is not None else None
            if new is not None:
                gain = _size(part) - _size(new)
                if gain > 0:
                    changes[at] = new
                    saved[kind] = saved.get(kind, 0) + gain
        if changes:
            n += 1
            m = conv.edit(m, changes)
        out.append(m)
    return Trimmed(conv.with_messages(out) if n else conv, saved, n)


def _size(part: Part) -> int:
    return (
        count(part.text)
        if isinstance(part, ToolResult)
        else count(part.arguments_text)
        if isinstance(part, ToolCall)
        else 0
    )


def _outdated(messages: Sequence[Message]) -> tuple[set[str], set[str]]:
    """(ids of reads of files changed later, ids of reads whose file was read again later)."""
    reads: dict[str, list[str]] = {}
    stale: set[str] = set()
    superseded: set[str] = set()
    acts: dict[str, Action] = {}
    for m in messages:
        for call in m.calls:
            acts[call.id] = action(call)
        for result in m.results:
            act = acts.get(result.call_id)
            if act is None or result.is_error:
                continue
            if act.op == "read" and len(act.paths) == 1:
                superseded.update(reads.get(act.paths[0], ()))
                reads.setdefault(act.paths[0], []).append(result.call_id)
            for path in (*act.paths, *act.created, *act.deleted) if act.op in ("edit", "write", "delete") else ():
                stale.update(reads.pop(path, ()))
    return stale, superseded - stale


def _result(part: ToolResult, act: Action | None, stale: bool, superseded: bool, edge: int) -> tuple[str, str | None]:
    """(kind of trimming, the new text or None)."""
    if stale or superseded:
        why = "the file was changed since" if stale else "the file was read again later"
        path = act.paths[0] if act and act.paths else "file"
        return "outdated reads", f"[{path}: {len(part.text)} characters removed; {why}]"
    if len(part.text) < SHORT:
        return "", None
    if act is not None and act.op in ("search", "fetch"):
        return "searches and pages", _page(part.text, act, edge)
    return "long results", shorten(part.text, edge, edge, failed=part.is_error)


def shorten(text: str, head: int, tail: int, *, failed: bool = False) -> str:
    """Head and tail of an output at ends of lines, error lines between them kept, repeated lines told once."""
    text = outcome.clean(text)
    if len(text) <= head + tail + 200:
        return text
    start = text[:head].rsplit("\n", 1)[0] if "\n" in text[:head] else text[:head]
    end = text[-tail:].split("\n", 1)[-1] if "\n" in text[-tail:] else text[-tail:]
    middle = text[len(start) : len(text) - len(end)]
    rescued = [
        f"{p.text}{f' (at {p.place})' if p.place else ''}"
        for p in outcome.problems(middle, failed, 8)
        if p.text not in start and p.text not in end
    ]
    lines = middle.count("\n")
    gone = f"[… {len(middle)} characters{f' in {lines} lines' if lines > 1 else ''} removed …]"
    return "\n".join([start, gone, *([*rescued, "[…]"] if rescued else []), end])


def _page(text: str, act: Action, edge: int) -> str:
    """Titles, definite sentences and the end of a page; the first hits of a search."""
    lines = [x.rstrip() for x in outcome.clean(text).split("\n") if x.strip()]
    if act.op == "search":
        kept = lines[:12]
        return "\n".join([*kept, f"[… {len(lines) - len(kept)} more lines removed …]"]) if len(lines) > 12 else text
    titles = [x for x in lines if re.match(r"\s{0,3}#{1,4}\s|\s*<h[1-4]|^[A-Z][^.]{3,80}$", x)][:20]
    told = values.of_document(text, 6)
    return "\n".join(
        dict.fromkeys(
            [
                *lines[:2],
                *titles,
                f"[… page of {len(text)} characters shortened to titles and definite sentences …]",
                *told,
                text[-edge // 2 :].split("\n", 1)[-1],
            ]
        )
    )


def _arguments(call: ToolCall) -> Any | None:
    """The arguments with long texts cut, None where none is long. Commands and patches keep their first lines."""
    raw = call.raw_arguments
    value = call.arguments
    if value is None:
        return _cut(raw) if isinstance(raw, str) and len(raw) > 3 * ARGUMENT else None
    new = {k: _cut(v) if isinstance(v, str) else _cut_list(v) if isinstance(v, list) else v for k, v in value.items()}
    if new == value:
        return None
    if isinstance(raw, str):
        from monitor.conversation.jsonio import dumps

        return dumps(new)
    return new


def _cut_list(items: list[Any]) -> list[Any]:
    return [
        {k: _cut(v) if isinstance(v, str) else v for k, v in x.items()}
        if isinstance(x, dict)
        else (_cut(x) if isinstance(x, str) else x)
        for x in items
    ]


def _cut(text: str) -> str:
    if len(text) <= 2 * ARGUMENT:
        return text
    return (
        f"{text[:ARGUMENT]}\n[… {len(text) - ARGUMENT - ARGUMENT // 2} characters removed …]\n{text[-ARGUMENT // 2 :]}"
    )
