"""The text panels: decision, forecast, composition, why, and the screen without data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from monitor.dashboard.model.text import (
    UNKNOWN,
    Line,
    calls,
    clip,
    duration,
    fill,
    fit,
    line_width,
    moment,
    percent,
    printable,
    spread,
    tokens,
    usd,
    wrap,
)
from monitor.decision.model import ACTION_WORDS, Costs, Decision, Signal
from monitor.reports.words import ASSUMED, ESTIMATED
from monitor.sessions.view import Forecast, Range, SessionView

ACTION_STYLE = {
    "continue": "good",
    "trim": "warn",
    "compact_at_boundary": "warn",
    "compact_now": "bad",
    "notes_new_window": "mark",
    "fresh": "mark",
}
#: in lists, where a word does not fit: never the colour alone
ACTION_SHORT = {
    "continue": "go on",
    "trim": "trim",
    "compact_at_boundary": "soon",
    "compact_now": "now!",
    "notes_new_window": "notes",
    "fresh": "fresh",
}

#: signal id -> (label, kind), in the order of the panel; the sheet "why" lists all there are
SIGNALS: dict[str, tuple[str, str]] = {
    "fill": ("fill", "share"),
    "prompt_tokens": ("prompt", "tokens"),
    "usable_limit": ("usable limit", "tokens"),
    "tokens_per_call": ("growth a turn", "tokens"),
    "calls_to_limit": ("turns left", "range"),
    "cache_state": ("cache", "word"),
    "cache_expires_s": ("cache lives for", "seconds"),
    "idle_s": ("idle", "seconds"),
    "cache_hit_ratio": ("cache hits", "share"),
    "boundary_score": ("boundary", "score"),
    "pending_tool_call": ("tool pending", "bool"),
    "loop": ("loop", "bool"),
    "compactions": ("compactions", "count"),
    "break_even_calls": ("pays back after", "calls"),
    "remaining_calls": ("turns to come", "calls"),
    "optimal_size": ("best size", "tokens"),
}
#: shown as "–" where unknown; the others are left out then
_ALWAYS = frozenset({"fill", "usable_limit", "calls_to_limit", "cache_state"})
_UNIT_KIND = {
    "tokens": "tokens", "tokens/call": "tokens", "share": "share", "ratio": "share", "%": "share",
    "score": "score", "s": "seconds", "seconds": "seconds", "calls": "calls", "usd": "usd",
}  # fmt: skip
_HOW_MARK = {"assumed": ASSUMED, "estimated": ESTIMATED}


def action_word(decision: Decision | None) -> tuple[str, str]:
    """The advice as a word and its style."""
    if decision is None:
        return "NO ADVICE", "dim"
    return ACTION_WORDS.get(decision.action, decision.action.upper()), ACTION_STYLE.get(decision.action, "bold")


def signal_value(signal: Signal) -> str:
    """A signal as people read it; "–" where it is not known."""
    kind = SIGNALS.get(signal.id, ("", ""))[1] or _UNIT_KIND.get(signal.unit, "")
    text = _value(signal.value, kind, signal.unit)
    if text == UNKNOWN:
        return text
    mark = _HOW_MARK.get(signal.how, "")
    return f"{mark}{text}" if mark == ESTIMATED else f"{text}{mark}"


def _value(value: Any, kind: str, unit: str) -> str:
    if value is None:
        return UNKNOWN
    if isinstance(value, Range):
        return calls(value.p10, value.p50, value.p90)
    if isinstance(value, Mapping):
        try:
            return calls(float(value["p10"]), float(value["p50"]), float(value["p90"]))
        except (KeyError, TypeError, ValueError):
            return UNKNOWN
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        if kind == "tokens":
            return tokens(value)
        if kind == "share":
            return percent(value)
        if kind == "seconds":
            return duration(value)
        if kind == "calls":
            return f"{value:.0f} turns" if value >= 0 else "at once"
        if kind == "usd":
            return usd(value)
        if kind == "score":
            return f"{value:.2f}"
        return f"{value:g}" if unit == "count" else f"{value:g} {unit}".rstrip()
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, Sequence):
        return ", ".join(str(item) for item in value)
    return str(value)


def decision_lines(decision: Decision | None, width: int, height: int = 99) -> list[Line]:
    """The advice: word, rule, reasons, costs of the three ways, what would change it, then the signals."""
    if decision is None:
        return [(("no advice for this session", "dim"),), (("needs one finished turn", "dim"),)]
    word, style = action_word(decision)
    rule: Line = (("rule ", "dim"), (printable(decision.rule), ""), (f" · {decision.confidence} confidence", "dim"))
    if len(word) + 2 + line_width(rule) <= width:
        out = [spread(((word, style + " bold"),), rule, width)]
    else:
        out = [((word, style + " bold"),)]
        out += (
            [rule]
            if line_width(rule) <= width
            else [fit(rule[:2], width), ((f"{decision.confidence} confidence", "dim"),)]
        )
    reasons = []
    for reason in decision.reasons:
        pieces = wrap(printable(reason), width - 2)
        reasons += [("· " if i == 0 else "  ") + piece for i, piece in enumerate(pieces)]
    next_lines = wrap("→ " + printable(decision.next), width) if decision.next else []
    costs = cost_lines(decision.costs, decision.action, width)
    room = height - len(out) - len(next_lines) - len(costs)
    out.extend(((line, ""),) for line in reasons[: max(2, room)])
    out.extend(costs)
    out.extend(((line, "accent"),) for line in next_lines)
    out.extend(signal_lines(decision, width))
    return out


def signal_lines(decision: Decision, width: int) -> list[Line]:
    """The signals, in two columns where they fit."""
    cells: list[tuple[str, str, str]] = []
    for name, (label, _kind) in SIGNALS.items():
        signal = decision.signals.get(name)
        if signal is None or (signal.value is None and name not in _ALWAYS):
            continue
        value = signal_value(signal)
        cells.append((label, value, "dim" if value == UNKNOWN else ""))
    half = (width - 2) // 2
    two = width >= 52
    column = half if two else width
    rows = [_label_value(*cell, column) for cell in cells]
    if not two:
        return rows
    middle = -(-len(rows) // 2)
    out: list[Line] = []
    for i in range(middle):
        left = rows[i]
        right = rows[i + middle] if i + middle < len(rows) else ()
        out.append((*fit(left, half), ("  ", ""), *right))
    return out


def _label_value(label: str, value: str, style: str, width: int) -> Line:
    return spread(((clip(printable(label), max(4, width - 8)), "dim"),), ((value, style),), width)


def cost_lines(costs: Costs | None, action: str, width: int) -> list[Line]:
    """What the three ways cost over the next calls, the cheapest marked: in one line where there is room for it."""
    ways = [
        ("continue", costs.continue_usd if costs else None),
        ("compact", costs.compact_usd if costs else None),
        ("new window", costs.new_window_usd if costs else None),
    ]
    known = [value for _name, value in ways if value is not None]
    if costs is None or not known:
        return [((text, "dim"),) for text in wrap("costs: no price is known for this model", width)]
    best = min(known, default=None)
    mark = ESTIMATED if costs.assumed else ""
    line: Line = ((f"{costs.calls} more turns: ", "dim"),)
    for i, (name, value) in enumerate(ways):
        cheapest = value is not None and value == best
        line = (*line, (f"{' · ' if i else ''}{name} ", "dim"), (usd(value, mark), "good bold" if cheapest else ""))
    if line_width(line) <= width:
        return [fit(line, width)]
    out: list[Line] = [((f"{costs.calls} more turns would cost", "dim"),)]
    top = max(known, default=0) or 1
    bar = max(0, min(14, width - 22))
    for name, value in ways:
        size = 0 if value is None else max(1, round(value / top * bar)) if bar else 0
        cheapest = value is not None and value == best
        out.append(
            (
                (fill(name, 11), ""),
                (fill(usd(value, mark), 9, ">"), "good bold" if cheapest else ""),
                (" ", ""),
                ("▪" * size, "good" if cheapest else "dim"),
            )
        )
    return out


def forecast_lines(view: SessionView | None, width: int, zone: Any = None) -> list[Line]:
    """Turns left to both limits, growth, and the allowance of the subscription where the log has it."""
    if view is None:
        return []
    forecast = view.forecast
    out: list[Line] = []

    def row(label: str, value: str, note: str = "", style: str = "") -> None:
        line: Line = ((fill(label, 12), "dim"), (value, style))
        if note:
            line = spread(line, ((note, "dim"),), width)
        out.append(fit(line, width))

    mark = ASSUMED if view.usable_limit_assumed else ""
    usable = tokens(view.usable_limit) + (mark if view.usable_limit is not None else "")
    row("to usable", _turns(forecast.calls_to_limit if forecast else None), usable, "bold")
    limit = tokens(view.context_limit, "≥" if view.context_limit_source == "observed" else "")
    row("to limit", _turns(forecast.calls_to_window if forecast else None), limit)
    if forecast is None or (forecast.calls_to_limit is None and forecast.calls_to_window is None):
        out.extend(((line, "dim"),) for line in wrap(_why_no_forecast(view, forecast), width))
    else:
        if forecast.exchanges_to_limit is not None:
            span = forecast.exchanges_to_limit
            row("in messages", calls(span.p10, span.p50, span.p90), "of the user")
        if forecast.seconds_to_limit is not None:
            seconds = forecast.seconds_to_limit
            row("in time", duration(seconds.p50), f"{duration(seconds.p10)} – {duration(seconds.p90)}")
    if forecast is not None and forecast.tokens_per_call is not None:
        note = f"90% below {tokens(forecast.next_delta_p90)}" if forecast.next_delta_p90 is not None else ""
        row("growth", f"+{tokens(forecast.tokens_per_call)} a turn", note)
        if forecast.own_contexts:
            row("range from", f"{forecast.own_contexts} contexts", "of your own")
    paid = [cost.verdict for cost in view.compaction_costs if cost.verdict != "unknown"]
    if paid:
        row("compactions", f"{paid.count('paid back')} of {len(paid)} paid back")
    quota = view.quota
    if quota is not None:
        until = f"resets {moment(quota.resets, zone)}" if quota.resets is not None else ""
        row("allowance", f"{quota.used_percent:.0f}% used", until, "warn" if quota.used_percent >= 80 else "")
    return out


def _turns(span: Range | None) -> str:
    return UNKNOWN if span is None else f"{calls(span.p10, span.p50, span.p90)} turns"


def _why_no_forecast(view: SessionView, forecast: Forecast | None) -> str:
    if view.totals_only:
        return "the log holds sums only, no single turns"
    if view.context_limit is None and view.usable_limit is None:
        return "limit not known: --context-limit N"
    seen = forecast.deltas if forecast is not None else 0
    return f"needs 8 turns since the last reset, has {seen}"
