"""A decision for eyes: advice, rule and reasons, signals with unit and mark, costs, what would change it."""

from __future__ import annotations

from collections.abc import Sequence

from monitor.decision.model import ACTION_WORDS, Decision, RowTrace, Signal
from monitor.decision.specs import SPECS, shown
from monitor.decision.table import Table
from monitor.reports.text import UNKNOWN, Ink, Stream, bar, cells, clean, cut, usd
from monitor.sessions.view import SessionView

INKS = {
    "continue": "green",
    "trim": "yellow",
    "compact_at_boundary": "yellow",
    "compact_now": "red",
    "notes_new_window": "magenta",
    "fresh": "magenta",
}
#: how values were obtained that people should not take for logged ones
_MARKS = {"assumed": "assumed", "estimated": "estimate", "lower bound": "at least", "inferred": "inferred"}
_GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("size", ("fill", "used", "usable_limit", "context_limit", "threshold", "optimal_size", "quality_soft")),
    ("growth", ("tokens_per_call", "next_delta_p90", "calls_to_limit", "deltas", "tier_step", "calls_to_tier")),
    ("cache", ("cache_state", "cache_expires_s", "idle_s", "cache_hit_ratio", "warm_hit_ratio")),
    ("work", ("pending_tool_call", "boundary_score", "topic_change", "loop", "corrections", "todos_open",
              "compactions", "calls_since_compaction", "tool_tokens")),
    ("money", ("break_even_calls", "remaining_calls", "return_needed", "quota_used")),
)  # fmt: skip
_WORTH_SHOWING = 1_000
_UNITS = {"tokens": " tokens", "calls": " turns", "range": " turns"}


def text(decision: Decision, view: SessionView, *, out: Stream | None = None, width: int = 100) -> str:
    """The decision as a page of text. ``out`` decides about colour (None: plain)."""
    ink = Ink(out)
    lines = [_headline(decision, ink), _about(decision, view, ink, width), ""]
    lines += _wrapped([f"  {reason}" for reason in decision.reasons], width)
    lines += ["", *_signals(decision, ink)]
    lines += ["", *_costs(decision, ink, width)]
    lines += ["", *_wrapped([decision.next], width, first=ink("next", "bold") + "   ")]
    return "\n".join(lines)


def line(decision: Decision, *, out: Stream | None = None) -> str:
    """The decision in one line: for `--watch` and notifications."""
    ink = Ink(out)
    values = {name: signal.value for name, signal in decision.signals.items()}
    parts = [ink(ACTION_WORDS[decision.action], INKS[decision.action], "bold"), decision.rule]
    if values.get("fill") is not None:
        parts.append(f"{shown('fill', values['fill'])} of {shown('usable_limit', values['usable_limit'])}")
    elif values.get("used") is not None:
        parts.append(f"{shown('used', values['used'])} tokens")
    if values.get("calls_to_limit") is not None:
        parts.append(f"about {shown('calls_to_limit', values['calls_to_limit'])} turns left")
    parts.append(clean(decision.session)[:8])
    return " · ".join(parts)


def _headline(decision: Decision, ink: Ink) -> str:
    word = ink(ACTION_WORDS[decision.action], INKS[decision.action], "bold")
    return f"{word}   rule {ink(decision.rule, 'bold')} · confidence {decision.confidence}"


def _about(decision: Decision, view: SessionView, ink: Ink, width: int) -> str:
    model = clean(view.last_turn.call.model or UNKNOWN) if view.last_turn is not None else UNKNOWN
    calls = decision.signals["calls"].value or 0
    turns = "1 turn" if calls == 1 else f"{calls:,} turns"
    text = f"session {clean(decision.session)} · {view.source} · {model} · {turns} (one turn = one API call)"
    return ink(cut(text, max(width, 40)), "dim")


def _wrapped(paragraphs: Sequence[str], width: int, first: str = "") -> list[str]:
    """Paragraphs broken at the width; lines keep their paragraph's indent, or stand below the text of ``first``."""
    out = []
    for paragraph in paragraphs:
        indent = " " * (cells(first) or len(paragraph) - len(paragraph.lstrip()))
        current = ""
        for word in paragraph.split():
            if current and cells(indent + current + " " + word) > max(width, 40):
                out.append((first or indent) + current)
                first = ""
                current = word
            else:
                current = f"{current} {word}" if current else word
        out.append((first or indent) + current)
    return out


def _signals(decision: Decision, ink: Ink) -> list[str]:
    rows: list[tuple[str, str, str, str]] = []
    for group, ids in _GROUPS:
        head = group
        for id in ids:
            signal = decision.signals.get(id)
            if signal is None or (signal.value is None and id not in ("fill", "calls_to_limit", "cache_state")):
                continue
            if id == "tool_tokens" and signal.value < _WORTH_SHOWING:
                continue
            rows.append((head, SPECS[id].title, _value(signal), _note(decision, signal)))
            head = ""
    sizes = [max(cells(row[n]) for row in rows) for n in range(3)]
    out = []
    for head, title, value, note in rows:
        pad = [" " * (size - cells(part)) for size, part in zip(sizes, (head, title, value))]
        left = f"  {ink(head, 'bold')}{pad[0]}  {title}{pad[1]}  {value}"
        out.append((left + (f"{pad[2]}  {ink(note, 'dim')}" if note else "")).rstrip())
    return out


def _value(signal: Signal) -> str:
    spec = SPECS[signal.id]
    text = shown(signal.id, signal.value)
    if signal.value is not None and spec.kind in _UNITS:
        text += _UNITS[spec.kind]
    if signal.id == "fill":
        text = f"{bar(signal.value)} {text}"
    return text


def _note(decision: Decision, signal: Signal) -> str:
    mark = _MARKS.get(signal.how, "")
    if signal.value is None:
        return "not known"
    why = {"boundary_score": "boundary_reasons", "topic_change": "topic_reasons", "loop": "loop_reason"}.get(signal.id)
    reason = decision.signals[why].value if why is not None and why in decision.signals else None
    return ", ".join(part for part in (mark, reason) if part)


def _costs(decision: Decision, ink: Ink, width: int) -> list[str]:
    costs = decision.costs
    if costs is None:
        return []
    if costs.continue_usd is None:
        return _wrapped(
            [ink("costs", "bold") + "  not known: the model has no price in the table (--prices FILE)"], width
        )
    turns = "turn" if costs.calls == 1 else f"{costs.calls:,} turns"
    ways = [
        ("go on", costs.continue_usd),
        ("compact", costs.compact_usd),
        ("new window with notes", costs.new_window_usd),
    ]
    known = [value for _, value in ways if value is not None]
    parts = [
        ink(f"{name} {usd(value, mark='~')}", "bold") if value == min(known) else f"{name} {usd(value, mark='~')}"
        for name, value in ways
    ]
    out = _wrapped([f"the next {turns}: " + " · ".join(parts)], width, first=ink("costs", "bold") + "  ")
    if costs.assumed:
        out += _wrapped(["       assumed: " + ", ".join(costs.assumed)], width)
    return out


def explanation(decision: Decision, table: Table, *, out: Stream | None = None, width: int = 100) -> str:
    """Every row of the table with why it fired or did not, and below it every signal a table may use."""
    ink = Ink(out)
    lines = [ink(f"table: {clean(table.name)}, {len(table.rows)} rows; the first one that fires decides", "bold")]
    passed = False
    for number, row in enumerate(decision.rows, 1):
        lines += _row(number, row, ink, width, passed)
        passed |= row.fired
    lines += ["", ink("signals", "bold")]
    size = max(len(id) for id in SPECS)
    for id, spec in SPECS.items():
        signal = decision.signals.get(id)
        value = shown(id, signal.value) if signal is not None else UNKNOWN
        how = signal.how if signal is not None else "unknown"
        lines.append(f"  {id.ljust(size)}  {value}  " + ink(f"{how}; {spec.meaning or spec.title}", "dim"))
    return "\n".join(lines)


def _row(number: int, row: RowTrace, ink: Ink, width: int, passed: bool) -> list[str]:
    whole = _outcome([outcome for _, outcome in row.conditions])
    if row.fired:
        state, colour = "DECIDES", "green"
    elif passed:
        state, colour = ("would fire, but a row above decided" if whole else "not reached"), "dim"
    else:
        state, colour = ("unknown" if whole is None else "held" if whole else "no"), "dim"
    lines = [f"{number:>3}  {ink(row.rule, 'bold')} → {ACTION_WORDS[row.action]}: {ink(state, colour)}"]
    for condition, outcome in row.conditions:
        mark = ink("✓", "green") if outcome else ink("?", "yellow") if outcome is None else ink("✗", "dim")
        lines += _wrapped([f"       {mark} {condition}"], width)
    return lines


def _outcome(outcomes: Sequence[bool | None]) -> bool | None:
    return False if False in outcomes else None if None in outcomes else True
