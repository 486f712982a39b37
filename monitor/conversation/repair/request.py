"""The request around the messages: cache marks, compaction blocks, tools."""

from __future__ import annotations

from collections.abc import Iterator

from monitor.conversation.model import Message
from monitor.conversation.repair.base import Sheet
from monitor.conversation.repair.pairs import call_text
from monitor.conversation.rules.anthropic import blocks, kind


def fix_compaction(sheet: Sheet) -> None:
    """A signed compaction block stands for all before it: that goes; of several the newest stays."""
    if sheet.broken("A6-compaction-in-system"):
        system = sheet.conv.body.get("system")
        kept = [b for b in system if kind(b) != "compaction"] if isinstance(system, list) else system
        sheet.say("system: compaction block removed")
        sheet.conv = sheet.conv.with_body({"system": kept or None})
    if not sheet.broken("A6-compaction-misplaced", "A6-compaction-many"):
        return
    spots = [
        (i, k)
        for i, m in enumerate(sheet.conv.messages)
        for k, b in enumerate(blocks(m.raw.get("content")))
        if kind(b) == "compaction" and b.get("signature") is not None
    ]
    if not spots:
        return
    i, k = spots[-1]
    m = sheet.conv.messages[i]
    content = blocks(m.raw.get("content"))[k:]
    sheet.say(f"{m.where}: what stands before the newest compaction block removed ({i} message(s))")
    first = sheet.reparse(m, {**m.raw, "content": content})
    sheet.put([first, *sheet.conv.messages[i + 1 :]])


def fix_request(sheet: Sheet) -> None:
    """Cache marks, empty system blocks, control items, tool blocks without tools."""
    conv = sheet.conv
    body = conv.body if isinstance(conv.body, dict) and not conv.bare else None
    if sheet.broken("A2-empty-text-block") and body and isinstance(body.get("system"), list):
        kept = [b for b in body["system"] if kind(b) != "text" or str(b.get("text") or "").strip()]
        if len(kept) != len(body["system"]):
            sheet.say("system: empty text block removed")
            sheet.conv = sheet.conv.with_body({"system": kept or None})
    if sheet.broken("A7-cache-control"):
        _cache_marks(sheet)
    if sheet.broken("R5-compaction-previous-id") and body:
        sheet.say("request: previous_response_id removed")
        sheet.conv = sheet.conv.with_body({"previous_response_id": None})
    if sheet.broken("R-trigger-misplaced"):
        triggers = [m for m in sheet.conv.messages if m.raw.get("type") == "compaction_trigger"]
        sheet.say("compaction_trigger moved to the end")
        rest = [m for m in sheet.conv.messages if m.raw.get("type") != "compaction_trigger"]
        sheet.put([*rest, *triggers[-1:]])
    if sheet.broken("A9-no-tools"):
        sheet.say("tool calls and results turned into text, as the request declares no tools")
        sheet.each(lambda m: call_text(sheet, m, results=True) if m.calls or m.results else m)


def _cache_marks(sheet: Sheet) -> None:
    """Keep the last four marks of the request: those of tools and system, then the newest of the messages."""
    body = sheet.conv.body if isinstance(sheet.conv.body, dict) and not sheet.conv.bare else {}
    lists = [body.get("tools"), body.get("system")]
    fixed = sum(bool(b.get("cache_control")) for x in lists if isinstance(x, list) for b in x if isinstance(b, dict))
    if fixed > 4:
        sheet.say("request: cache_control marks of the tool definitions removed")
        tools = [{k: v for k, v in t.items() if k != "cache_control"} for t in body.get("tools") or []]
        sheet.conv = sheet.conv.with_body({"tools": tools or None})
        return
    spots = list(_marked(sheet))
    drop = set(spots[: max(len(spots) - (4 - fixed), 0)])
    by_message: dict[int, list[int]] = {}
    for i, k in drop:
        by_message.setdefault(i, []).append(k)

    def change(m: Message) -> Message:
        ks = by_message.get(m.index)
        if not ks:
            return m
        content = [
            {key: v for key, v in b.items() if key != "cache_control"} if k in ks else b
            for k, b in enumerate(m.raw["content"])
        ]
        return sheet.reparse(m, {**m.raw, "content": content})

    n = sheet.each(change)
    if n:
        sheet.say(f"messages: {len(drop)} cache_control mark(s) removed, the last ones kept")


def _marked(sheet: Sheet) -> Iterator[tuple[int, int]]:
    for i, m in enumerate(sheet.conv.messages):
        content = m.raw.get("content")
        for k, b in enumerate(content if isinstance(content, list) else []):
            if isinstance(b, dict) and b.get("cache_control"):
                yield i, k
