"""Calls as a table for eyes."""

from __future__ import annotations

from collections.abc import Sequence

from monitor.reports.report_text import Clock, short
from monitor.reports.text import UNKNOWN, Ink, Stream, clean, cut, percent, tokens, usd
from monitor.reports.text import table as aligned
from monitor.sessions.view import Loaded, Turn

_EVENTS = {
    "compaction": "▲ compaction",
    "microcompaction": "△ microcompaction",
    "trim": "△ trim",
    "clear": "○ clear",
    "rewind": "↶ rewind",
    "model_switch": "⇄ model",
    "unexplained_drop": "▽ drop",
    "thrash": "‼ thrash",
    "overflow": "✖ overflow",
}


def table(found: Loaded, turns: Sequence[Turn], out: Stream | None = None) -> str:
    """One line per call in time order, with what happened before it."""
    if not turns:
        return "No calls."
    ink = Ink(out)
    clock = Clock(None)
    marks: dict[tuple[str, int], list[str]] = {}
    for view in found.sessions:
        for event in view.events:
            word = _EVENTS.get(event.kind)
            place = event.before_call if event.before_call is not None else event.after_call
            if word is not None and place is not None:
                about = "~" if event.evidence == "inferred" else ""
                marks.setdefault((view.session, place), []).append(about + word)
    several = len({turn.call.session for turn in turns}) > 1
    chains = len({turn.call.chain for turn in turns}) > 1
    head = ["turn", "time", "model", "prompt", "read", "write", "fresh", "output", "hit", "cost", "note"]
    if chains:
        head.insert(1, "chain")
    if several:
        head.insert(0, "session")
    rows = []
    for turn in turns:
        call = turn.call
        notes = list(marks.get((call.session, turn.index), ()))
        if turn.cache_miss_cause is not None:
            notes.append(f"✖ {turn.cache_outcome}: {turn.cache_miss_cause}")
        if call.purpose != "work":
            notes.append(call.purpose)
        if call.status != "ok":
            notes.append(call.status)
        share = None
        if call.prompt_tokens and call.cache_read_tokens is not None:
            share = call.cache_read_tokens / call.prompt_tokens
        row = [
            str(turn.index),
            clock(call.time, "%m-%d %H:%M:%S"),
            cut(clean(call.model or UNKNOWN), 26),
            tokens(call.prompt_tokens),
            tokens(call.cache_read_tokens),
            tokens(call.cache_write_tokens),
            tokens(call.fresh_tokens),
            tokens(call.output_tokens, mark=">" if call.output_is_lower_bound else ""),
            percent(share),
            usd(turn.cost_usd, mark="~" if turn.cost_estimated else ""),
            ink(" ".join(notes), "yellow") if notes else "",
        ]
        if chains:
            row.insert(1, cut(clean(call.chain), 14))
        if several:
            row.insert(0, short(call.session))
        rows.append(row)
    right = ("l" if several else "") + ("rl" if chains else "r") + "llrrrrrrrl"
    return "\n".join(aligned(head, rows, right=right, ink=ink, indent=""))
