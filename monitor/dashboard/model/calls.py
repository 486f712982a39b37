"""One call in words: the read-out above the chart, the detail panel, the copy as JSON."""

from __future__ import annotations

from datetime import tzinfo

from monitor.dashboard.model.text import (
    UNKNOWN,
    Line,
    duration,
    exact,
    fit,
    join_fitting,
    line_width,
    moment,
    percent,
    printable,
    tokens,
    usd,
    wrap,
)
from monitor.records import Event
from monitor.reports import shape
from monitor.reports.words import (
    ASSUMED,
    AT_LEAST,
    ESTIMATED,
    cause_word,
    event_word,
    read_share,
    turn_cost_mark,
    turn_mark,
    turn_output_mark,
    why_missed,
)
from monitor.sessions.view import SessionView, Turn

OUTCOME_STYLE = {"hit": "good", "partial": "warn", "miss": "bad", "first": "dim", "unreported": "dim"}


def outcome(turn: Turn) -> tuple[str, str]:
    """What the cache did, in words, and the style of them: ``("miss: expired", "bad")``."""
    if turn.call.status == "error":
        return "failed", "bad"
    if turn.call.status == "in_flight":
        return "in flight", "warn"
    word = turn.cache_outcome
    style = OUTCOME_STYLE.get(word, "dim")
    if turn.cache_miss_cause is not None:
        return f"{word}: {cause_word(turn.cache_miss_cause)}", style
    return ("not reported" if word == "unreported" else word), style


def readout(turn: Turn | None, count: int, width: int, zone: tzinfo | None = None) -> Line:
    """The line above the chart: the call under the cursor, most important figures first when room is short."""
    if turn is None:
        return fit((("no turns", "dim"),), width)
    call = turn.call
    mark = turn_mark(turn)
    parts: list[tuple[int, Line]] = [
        (0, ((f"#{turn.index}", "bold"), (f" of {count:,}" if width >= 60 else "", "dim"))),
        (9, ((moment(call.time, zone), "dim"),)),
        (0, ((tokens(call.prompt_tokens, mark), "bold"),)),
    ]
    share = read_share(turn)
    if call.cache_read_tokens is not None:
        read: Line = (("■ ", "read"), ("cached ", "dim"), (tokens(call.cache_read_tokens), ""))
        parts.append((2, read))
        parts.append((1, ((percent(share), outcome(turn)[1]),)))
    if call.cache_write_tokens is not None and (call.cache_write_tokens or call.cache_read_tokens is not None):
        parts.append((4, (("■ ", "write"), ("write ", "dim"), (tokens(call.cache_write_tokens), ""))))
    if call.fresh_tokens is not None:
        parts.append((3, (("■ ", "fresh"), ("new ", "dim"), (tokens(call.fresh_tokens), ""))))
    parts.append((6, (("out ", "dim"), (tokens(call.output_tokens, turn_output_mark(turn)), ""))))
    word, style = outcome(turn)
    if style != "good":
        parts.append((5, ((word, style),)))
    if turn.cost_usd is not None:
        parts.append((7, ((usd(turn.cost_usd, turn_cost_mark(turn)), ""),)))
    return fit(join_fitting(parts, width), width)


def detail(view: SessionView, turn: Turn | None, width: int, zone: tzinfo | None = None) -> list[Line]:
    """Everything known about a call, a line each, for the detail panel."""
    if turn is None:
        return [(("no turn chosen", "dim"),)]
    call = turn.call
    mark = turn_mark(turn)
    out: list[Line] = []

    def row(label: str, value: str, style: str = "", note: str = "", sign: str = "") -> None:
        head: Line = ((f"{label:<9} ", "dim"),) if not sign else (("■ ", sign), (f"{label:<7} ", "dim"))
        for text in wrap(value, max(1, width - 10)) or [""]:
            out.append((*head, (text, style)))
            head = ((" " * 10, ""),)
        if note and line_width(out[-1]) + 1 + len(note) <= width:
            out[-1] = (*out[-1], (" " + note, "dim"))

    word, style = outcome(turn)
    row("time", moment(call.time, zone, date=True), note=f"took {duration(_seconds(call.duration_ms))}")
    row("model", printable(call.model or UNKNOWN), note=printable(call.provider or ""))
    row("place", _place(turn))
    row("prompt", exact(call.prompt_tokens, mark), "bold", _delta(turn))
    row("cached", exact(call.cache_read_tokens), "", percent(read_share(turn)), "read")
    write_note = ""
    if call.cache_write_1h_tokens:
        write_note = f"of it 1 h {tokens(call.cache_write_1h_tokens)}"
    row("write", exact(call.cache_write_tokens), "", write_note, "write")
    row("new", exact(call.fresh_tokens), "", "", "fresh")
    if call.billed_prompt_tokens is not None and call.billed_prompt_tokens != call.prompt_tokens:
        row("billed", exact(call.billed_prompt_tokens), note="several passes inside")
    reasoning = f"reasoning {tokens(call.reasoning_tokens)}" if call.reasoning_tokens else ""
    row("output", exact(call.output_tokens, turn_output_mark(turn)), note=reasoning)
    row("cache", word, style, f"expected {tokens(turn.expected_read)}" if turn.expected_read else "")
    if turn.cache_miss_cause is not None:
        row("why", why_missed(turn))
    if turn.miss_cost_usd:
        row("miss cost", usd(turn.miss_cost_usd, ESTIMATED), "warn")
    source = {"logged": "as logged", "table": "price table"}.get(turn.cost_source or "", "no price known")
    row("cost", usd(turn.cost_usd, turn_cost_mark(turn)), note=source)
    row("window", _limit(view, turn), note=turn.context_limit_source or "")
    row("status", call.status if not call.stop else f"{call.status}, stop {printable(call.stop)}")
    if call.purpose != "work":
        row("purpose", call.purpose)
    for event in _events_at(view, turn):
        out.extend(event_lines(event, width))
    row("file", printable(_tail(call.file, max(8, width - 12 - len(str(call.line or ""))))) + _line(call.line))
    if call.call_id:
        row("id", printable(call.call_id))
    return out


def event_lines(event: Event, width: int) -> list[Line]:
    """An event with its figures: ``compaction  recorded, auto  159k → 21k``."""
    words: list[str] = [event.evidence]
    if event.trigger:
        words.append(event.trigger)
    if event.detail:
        words.append(printable(event.detail))
    style = "bad" if event.kind in ("error", "overflow", "thrash") else "mark"
    line: Line = ((event_word(event), style), ("  " + ", ".join(words), "dim"))
    out = [fit(line, width)]
    if event.tokens_before is not None or event.tokens_after is not None:
        sizes = f"  {tokens(event.tokens_before)} → {tokens(event.tokens_after)}"
        if event.summary_tokens is not None:
            sizes += f", summary {tokens(event.summary_tokens)}"
        out.append(fit(((sizes, ""),), width))
    return out


def _events_at(view: SessionView, turn: Turn) -> list[Event]:
    return [event for event in view.events if event.before_call == turn.index]


def _seconds(ms: int | None) -> float | None:
    return None if ms is None else ms / 1000


def _delta(turn: Turn) -> str:
    if turn.delta is None:
        return ""
    return f"{'+' if turn.delta >= 0 else ''}{tokens(turn.delta)}"


def _place(turn: Turn) -> str:
    parts = [f"turn #{turn.index}", f"window {turn.window}"]
    if turn.exchange is not None:
        parts.append(f"user message {turn.exchange}")
    if turn.call.chain != "main":
        parts.append(printable(turn.call.chain))
    return ", ".join(parts)


def _limit(view: SessionView, turn: Turn) -> str:
    limit = turn.context_limit
    mark = AT_LEAST if turn.context_limit_source == "observed" else ""
    text = tokens(limit, mark)
    if view.usable_limit is not None:
        text += f", usable {tokens(view.usable_limit)}{ASSUMED if view.usable_limit_assumed else ''}"
    return text


def _tail(path: str, width: int) -> str:
    """The end of a path is what tells files apart."""
    return path if len(path) <= width else "…" + path[-(width - 1) :]


def _line(line: int | None) -> str:
    return "" if line is None else f":{line}"


def call_json(turn: Turn) -> str:
    """The call as one JSON object, as ``ctxmon calls --format json`` gives it: what ``y`` copies."""
    import json

    return json.dumps(shape.call(turn), ensure_ascii=False)
