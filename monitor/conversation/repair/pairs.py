"""Calls and results brought back together: every call answered once, its results directly behind it.

Order of work as in several projects that repair such logs: ids first, then extra results, lost ones, order, and last a
made-up result for what stays unanswered.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from monitor.conversation.blocks import CALL_KINDS
from monitor.conversation.formats.opencode import Opencode
from monitor.conversation.marks import LOST_CALL
from monitor.conversation.model import Message, Text, ToolCall, ToolResult
from monitor.conversation.repair.base import NO_RESULT, Sheet

PAIR_CODES = [
    "C1-orphan-result",
    "C1-result-displaced",
    "C2-double-answer",
    "C2-open-call",
    "C2-unanswered-call",
    "C3-bad-id",
    "C8-orphan-function",
    "A3-double-answer",
    "A3-open-call",
    "A3-orphan-result",
    "A3-result-after-text",
    "A3-result-displaced",
    "A3-result-role",
    "A3-unanswered-call",
    "R1-orphan-output",
    "R1-output-before-call",
    "R1-output-displaced",
    "R2-double-output",
    "R2-open-call",
    "R2-unanswered-call",
    "G2-open-call",
    "G2-orphan-response",
    "G2-response-count",
    "G2-response-mismatch",
    "G2-response-role",
    "G2-unanswered-call",
    "P1-orphan-result",
    "P1-result-displaced",
    "P2-double-answer",
    "P2-open-call",
    "P2-unanswered-call",
]


def fix_pairs(sheet: Sheet) -> None:
    """Put every result behind its call; note or drop what has no place; answer what has no answer."""
    if not sheet.broken(*PAIR_CODES):
        return
    if sheet.conv.provider == "neutral":
        _answer_in_place(sheet)
        return
    if sheet.broken("G2-response-mismatch"):
        _name_calls(sheet)
    carriers, rests = _take_apart(sheet)
    owner = _owners(carriers)
    out: list[tuple[Message, int]] = []  # (message, index of the message it came from)
    i = 0
    messages = carriers
    while i < len(messages):
        m, origin = messages[i]
        if m.results:
            if i not in owner:
                note = _note(sheet, m)
                if note is not None:
                    out.append((note, -1))
            i += 1
            continue
        out.append((m, origin))
        i += 1
        if not m.calls:
            continue
        first = last = i - 1
        while i < len(messages) and _same_group(sheet, messages[last][0], messages[i][0]):
            out.append(messages[i])
            last = i
            i += 1
        out.extend(_answers(sheet, messages, owner, first, last))
    sheet.put(_join(sheet, out, rests))


def _answer_in_place(sheet: Sheet) -> None:
    """Exports whose calls hold their own results: unfinished ones end with an error."""

    def change(m: Message) -> Message:
        answered = {r.call_id for r in m.results}
        missing = [c for c in m.calls if c.id not in answered]
        if not missing or not isinstance(sheet.conv.handler, Opencode):
            return m
        for c in missing:
            sheet.say(f"{m.where}: call {c.id} answered with '{NO_RESULT}'")
        return sheet.conv.handler.answer(m, NO_RESULT)

    sheet.each(change)


def _take_apart(sheet: Sheet) -> tuple[list[tuple[Message, int]], set[int]]:
    """Messages with results as one carrier a result and the rest; where each came from."""
    out: list[tuple[Message, int]] = []
    mixed: set[int] = set()
    for i, m in enumerate(sheet.conv.messages):
        results = [k for k, p in enumerate(m.parts) if isinstance(p, ToolResult)]
        if not results or (len(m.parts) == 1 and m.role == "tool"):
            out.append((m, i))
            continue
        mixed.add(i)
        for n, k in enumerate(results):
            one = sheet.conv.edit(m, {j: None for j in range(len(m.parts)) if j != k})
            one = _as_user(msgspec.structs.replace(one, role="tool"))
            out.append((one if n == 0 else _detached(one), i))
        rest = sheet.conv.edit(m, dict.fromkeys(results))
        if rest.parts:
            rest = rest if m.role == "assistant" else msgspec.structs.replace(rest, role="user")
            out.append((_detached(rest), i))
    return out, mixed


def _as_user(m: Message) -> Message:
    """Results belong into a user message, wherever they stood."""
    raw = m.raw
    if isinstance(raw, dict) and raw.get("role") in ("assistant", "model"):
        raw = {**raw, "role": "user"}
    elif isinstance(raw, dict) and raw.get("type") == "assistant" and isinstance(raw.get("message"), dict):
        inner = {k: v for k, v in raw["message"].items() if k in ("role", "content")} | {"role": "user"}
        raw = {**raw, "type": "user", "message": inner}
    return m if raw is m.raw else msgspec.structs.replace(m, raw=raw, group="")


def _detached(m: Message) -> Message:
    """A second message made from one line: it needs an id of its own."""
    raw = m.raw
    if m.source is not None and isinstance(raw, dict):
        raw = {k: v for k, v in raw.items() if k not in ("uuid", "id")}
    return msgspec.structs.replace(m, raw=raw, source=None, sub=None)


def _owners(messages: Sequence[tuple[Message, int]]) -> dict[int, tuple[int, str]]:
    """Result position -> (position of its call, id); each call once, the newest earlier call first."""
    calls: dict[str, list[int]] = {}
    for i, (m, _) in enumerate(messages):
        for c in m.calls:
            calls.setdefault(c.id, []).append(i)
    taken: set[tuple[int, str]] = set()
    owner: dict[int, tuple[int, str]] = {}
    for i, (m, _) in enumerate(messages):
        for r in m.results:
            earlier = [c for c in calls.get(r.call_id, []) if c < i]
            later = [c for c in calls.get(r.call_id, []) if c > i]
            spot = earlier[-1] if earlier else (later[0] if later else None)
            if spot is not None and (spot, r.call_id) not in taken:
                taken.add((spot, r.call_id))
                owner[i] = (spot, r.call_id)
    return owner


def _same_group(sheet: Sheet, before: Message, m: Message) -> bool:
    """True where two messages with calls are one answer, whose results come after both."""
    if sheet.conv.provider in ("responses", "codex"):
        return bool(m.calls)
    return bool(m.group) and m.group == before.group


def _answers(
    sheet: Sheet,
    messages: Sequence[tuple[Message, int]],
    owner: dict[int, tuple[int, str]],
    first: int,
    last: int,
) -> list[tuple[Message, int]]:
    """The results of the calls of the messages ``first`` to ``last``, made-up ones for those without."""
    found = sorted((i for i, (at, _) in owner.items() if first <= at <= last))
    order = {c.id: n for n, c in enumerate(c for k in range(first, last + 1) for c in messages[k][0].calls)}
    if sheet.conv.provider == "gemini":
        found.sort(key=lambda i: order.get(owner[i][1], 0))
    expected = last + 1
    for i in found:
        if i != expected and messages[i][1] != messages[expected - 1][1] and not _only_results(messages, expected, i):
            sheet.say(f"{messages[i][0].where or 'a result'}: result moved behind its call")
        expected = i + 1
    out = [messages[i] for i in found]
    if sheet.conv.provider == "gemini":
        names = {c.id: c.name for k in range(first, last + 1) for c in messages[k][0].calls}
        out = [(_named(sheet, m, names[m.results[0].call_id]), origin) for m, origin in out]
    answered = {owner[i] for i in found}
    missing: list[ToolCall] = []
    for k in range(first, last + 1):
        for c in messages[k][0].calls:
            if (k, c.id) not in answered:
                missing.append(c)
                answered.add((k, c.id))
                sheet.say(f"{messages[k][0].where}: call {c.id} answered with '{NO_RESULT}'")
    if not missing:
        return out
    if sheet.conv.provider != "gemini" or not found:
        out += [(m, -1) for m in sheet.conv.new_results(missing, NO_RESULT)]
    else:  # in the order of the calls
        single = [(sheet.conv.new_results([c], NO_RESULT)[0], -1) for c in missing]
        out += single
        out.sort(key=lambda pair: order.get(pair[0].results[0].call_id, 0))
    return out


def _name_calls(sheet: Sheet) -> None:
    """Calls of Gemini without a name get that of their response."""
    names = {r.call_id: r.name for m in sheet.conv.messages for r in m.results if r.call_id}

    def change(m: Message) -> Message:
        parts = list(m.raw["parts"]) if m.calls else []
        for c in m.calls:
            at = int(c.path[1])
            call = parts[at]["functionCall"]
            if not isinstance(call.get("name"), str) or not call["name"]:
                parts[at] = {**parts[at], "functionCall": {**call, "name": names.get(c.id) or "unknown"}}
        if not m.calls or parts == m.raw["parts"]:
            return m
        sheet.say(f"{m.where}: call named as its response")
        return sheet.reparse(m, {**m.raw, "parts": parts})

    sheet.each(change)


def _named(sheet: Sheet, m: Message, name: str) -> Message:
    """The result under the name of its call."""
    result = m.results[0]
    if result.name == name:
        return m
    sheet.say(f"{m.where}: response named {name} as its call")
    return sheet.conv.edit(m, {0: msgspec.structs.replace(result, name=name)})


def _only_results(messages: Sequence[tuple[Message, int]], start: int, stop: int) -> bool:
    return start <= stop and all(m.results for m, _ in messages[start:stop])


def _note(sheet: Sheet, m: Message) -> Message | None:
    """A result nobody asked for: dropped if a second one, else kept as a note."""
    result = m.results[0]
    known = any(c.id == result.call_id for x in sheet.conv.messages for c in x.calls)
    if known or not result.text.strip():
        what = "second result" if known else "empty result without its call"
        sheet.say(f"{m.where}: {what} for {result.call_id or 'an unnamed call'} removed")
        return None
    sheet.say(f"{m.where}: result for {result.call_id or 'an unnamed call'}, which nothing calls, kept as a note")
    note = sheet.conv.new_message("user", f"{LOST_CALL}\n{result.text}")
    return msgspec.structs.replace(note, synthetic=True, exchange=m.exchange)


def _join(sheet: Sheet, pairs: list[tuple[Message, int]], mixed: set[int]) -> list[Message]:
    """In block formats neighbouring results become one message, with the rest of their own message behind them."""
    if not sheet.blocks:
        return [m for m, _ in pairs]
    if sheet.conv.provider == "claude-code":  # the client joins user lines itself, results first
        return [m for m, _ in pairs]
    out: list[Message] = []
    origins: set[int] = set()
    before = -2
    for m, origin in pairs:
        after = out[-1] if out else None
        if after is not None and m.results and after.role == "tool" and after.results:
            out[-1] = _merge(sheet, after, m)
            if origin >= 0 and origin not in origins and -1 not in origins:
                sheet.say(f"{m.where}: result put into the message right behind its call")
            origins.add(origin)
        elif after is not None and after.results and origin in origins and origin in mixed and m.role == "user":
            out[-1] = _merge(sheet, after, m)
            if before != origin or sheet.broken("A3-result-after-text"):
                sheet.say(f"{m.where}: results put before the other content")
        else:
            out.append(m)
            origins = {origin}
        before = origin
    return out


def _merge(sheet: Sheet, a: Message, b: Message) -> Message:
    """One message of the blocks of two."""
    key = "parts" if "parts" in a.raw else "content"
    blocks = [*as_list(a.raw.get(key), key), *as_list(b.raw.get(key), key)]
    raw = {**a.raw, key: blocks}
    merged = sheet.reparse(a, raw)
    ids = [p.call_id for p in (*a.results, *b.results)]
    parts: list[Any] = []
    for p in merged.parts:
        parts.append(msgspec.structs.replace(p, call_id=ids.pop(0)) if isinstance(p, ToolResult) else p)
    return msgspec.structs.replace(merged, parts=tuple(parts))


def as_list(content: Any, key: str = "content") -> list[Any]:
    """A content value as a list of blocks."""
    if isinstance(content, list):
        return content
    if not isinstance(content, str) or not content:
        return []
    return [{"text": content} if key == "parts" else {"type": "text", "text": content}]


def fix_kinds(sheet: Sheet) -> None:
    """Outputs of the wrong type get the one their call asks for; calls outside an answer become text."""
    if sheet.broken("R1-wrong-kind"):
        kinds = {c.id: c.kind for m in sheet.conv.messages for c in m.calls}

        def retype(m: Message) -> Message:
            wanted = CALL_KINDS.get(kinds.get(m.results[0].call_id, "")) if m.results else None
            if wanted is None or m.raw.get("type") == wanted:
                return m
            sheet.say(f"{m.where}: output type set to {wanted}")
            return sheet.reparse(m, {**m.raw, "type": wanted})

        sheet.each(retype)
    if sheet.broken("A3-call-role", "G2-call-role"):

        def to_text(m: Message) -> Message:
            if m.role == "assistant" or not m.calls:
                return m
            sheet.say(f"{m.where}: call outside an answer turned into text")
            return call_text(sheet, m)

        sheet.each(to_text)


def call_text(sheet: Sheet, m: Message, results: bool = False) -> Message:
    """``m`` with its calls (and results) as text blocks."""
    changes: dict[int, Any] = {}
    for k, p in enumerate(m.parts):
        if isinstance(p, ToolCall):
            changes[k] = Text(f"[Tool call {p.name}: {p.arguments_text}]")
        elif results and isinstance(p, ToolResult):
            changes[k] = Text(f"[Tool result: {p.text or 'empty'}]")
    edited = sheet.conv.edit(m, changes)
    return sheet.reparse(edited, edited.raw)
