"""The backtest for eyes and as JSON: policies against what happened, assumptions, and what the history suggests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from monitor.decision.backtest import Tested
from monitor.decision.history import PolicySum, Suggestions, difference
from monitor.decision.model import ACTION_WORDS
from monitor.decision.simulate import Assumptions
from monitor.readers.times import iso
from monitor.reports.text import UNKNOWN, Ink, Stream, cells, clean, cut, table, tokens, usd, wrap
from monitor.reports.words import ESTIMATED

_MOST_SESSIONS, _MOST_CHANGES = 8, 30


def body(
    tested: Sequence[Tested],
    actual: PolicySum,
    sums: Sequence[PolicySum],
    suggestions: Suggestions | None,
    assumptions: Assumptions,
    table_name: str,
    threshold: int | None,
) -> dict[str, Any]:
    """`backtest --format json`."""
    return {
        "schema": "ctxmon.backtest/1",
        "policies": [_policy(row) for row in (actual, *sums)],
        "sessions": [_session(t) for t in tested],
        "assumptions": {**msgspec.to_builtins(assumptions), "table": table_name, "threshold": threshold},
        "suggestions": None if suggestions is None else _suggestions(suggestions),
    }


def _policy(row: PolicySum) -> dict[str, Any]:
    return {
        "policy": row.policy,
        "sessions": row.sessions,
        "priced_sessions": row.priced_sessions,
        "actions": row.actions,
        "advice": row.said,
        "forced": row.forced,
        "prompt_tokens": row.prompt_tokens,
        "cost_usd": _cents(row.cost_usd),
        "cost_usd_low": _cents(row.cost_low),
        "cost_usd_high": _cents(row.cost_high),
        "calls_over_90_percent": row.calls_over_90_percent,
        "lead_calls": {"p50": middle(row.leads), "foreseen": len(row.leads), "compactions": row.compactions},
        "against_actual": {"prompt_tokens": row.prompt_difference, "cost_usd": _cents(row.cost_difference)},
        "sessions_cheaper": row.sessions_cheaper,
    }


def _session(t: Tested) -> dict[str, Any]:
    view = t.series.view
    return {
        "session": view.session,
        "source": view.source,
        "calls": len(t.series.points),
        "compactions": t.compactions,
        "prompt_tokens": t.prompt_tokens,
        "cost_usd": _cents(t.paid),
        "guessed_growth_calls": sum(p.guessed for p in t.series.points),
        "policies": [
            {
                "policy": r.policy,
                "advice": [
                    {
                        "call": c.index,
                        "time": iso(c.time) if c.time is not None else None,
                        "action": c.action,
                        "rule": c.rule,
                    }
                    for c in r.changes
                ],
                "acts": [{"after_call": t.series.points[n].turn.index, "act": deed} for n, deed in r.outcome.deeds],
                "lead_calls": list(r.leads),
                "against_actual": {
                    "prompt_tokens": r.outcome.prompt_tokens - t.actual.prompt_tokens,
                    "cost_usd": None if (d := difference(t, r)) is None else _cents(d[1]),
                },
            }
            for r in t.replays
        ],
    }


def _suggestions(s: Suggestions) -> dict[str, Any]:
    out: dict[str, Any] = msgspec.to_builtins(s)
    out["applied"] = False
    return out


def _cents(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


def middle(values: Sequence[float]) -> float | None:
    """The median; None of nothing."""
    ordered = sorted(values)
    half = len(ordered) // 2
    if not ordered:
        return None
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


# ------------------------------------------------------------------------------------------------------- text
def text(
    tested: Sequence[Tested],
    actual: PolicySum,
    sums: Sequence[PolicySum],
    suggestions: Suggestions | None,
    assumptions: Assumptions,
    table_name: str,
    threshold: int | None,
    *,
    out: Stream | None = None,
    width: int = 100,
) -> str:
    """`backtest --format text`. ``out`` decides about colour (None: plain)."""
    ink = Ink(out)
    calls = sum(len(t.series.points) for t in tested)
    many = "session" if len(tested) == 1 else "sessions"
    facts = f"{len(tested)} {many} · {calls:,} turns · table {clean(table_name)}"
    lines = [*introduction(facts, ink, width), ""]
    lines += policies_table(actual, sums, ink, width)
    lines += _timeline(tested[0], ink, width) if len(tested) == 1 else _by_session(tested, ink, width)
    lines += ["", *assumed(assumptions, threshold, ink, width)]
    if suggestions is not None:
        lines += ["", *_suggested(suggestions, ink, width)]
    return "\n".join(lines)


def introduction(facts: str, ink: Ink, width: int) -> list[str]:
    """What was replayed, and what the table of policies shows."""
    told = "each policy carried out on the same work; cost with its range under kinder and harsher assumptions"
    name, *more = wrap(f"ctxmon backtest · {facts}", width, "")
    title = name.replace("ctxmon backtest", ink("ctxmon backtest", "bold"))
    return [title, *more, *(ink(line, "dim") for line in wrap(told, width, ""))]


def policies_table(actual: PolicySum, sums: Sequence[PolicySum], ink: Ink, width: int) -> list[str]:
    """Every policy against what happened, and what the columns mean; a narrow terminal gets fewer columns."""
    rows = [_line(actual, "what happened"), *(_line(row, row.policy) for row in sums)]
    whole = [
        [name, acts, size, f"{cost} ({span})" if span else cost, more if dearer == more else f"{more}, {dearer}", *rest]
        for name, acts, size, cost, span, more, dearer, *rest in rows
    ]
    head = ["policy", "acts", "prompt", "cost", "against what happened", "≥90%", "lead"]
    lines = table(head, whole, right="lrrrrrl", ink=ink)
    notes = _footnotes(actual, sums)
    if any(cells(line) > width for line in lines):
        head = ["policy", "acts", "prompt", "cost", "range", "± prompt", "± cost", "≥90%", "lead"]
        drop = ("lead", "≥90%", "acts", "range", "± prompt", "prompt")
        lines = table(head, rows, right="lrrrrrrrl", ink=ink, most=width, drop=drop, flex="policy")
        notes = ["±: against what happened", *notes]
    shown = lines[0].split()
    notes = [note for note in notes if (column := note.partition(":")[0]) not in head or column in shown]
    return [*lines, "", *_notes(notes, ink, width, "dim")]


def _head(text: str, ink: Ink, width: int) -> list[str]:
    return [ink(line, "bold") for line in wrap(text, width, "")]


def _notes(notes: Sequence[str], ink: Ink, width: int, *styles: str) -> list[str]:
    """Sentences, each with a sign in front and as many lines as it needs."""
    return [ink(line, *styles) for note in notes for line in wrap(note, width, "    ", first="  · ")]


def _line(row: PolicySum, name: str) -> list[str]:
    """Policy, acts, prompt tokens, cost and its range, both against what happened, turns over 90 %, lead."""
    acts = sum(row.actions.values())
    done = f"{acts}" + (f"+{row.forced}" if row.forced else "")
    cost, span = usd(row.cost_usd), ""
    if row.cost_low is not None and row.cost_high is not None and row.cost_high - row.cost_low > 0.005:
        cost, span = usd(row.cost_usd, mark=ESTIMATED), f"{_short(row.cost_low)}–{_short(row.cost_high)}"
    more = dearer = UNKNOWN
    if row.policy != "actual":
        more, dearer = _signed_tokens(row.prompt_difference), _signed_usd(row.cost_difference)
    lead = UNKNOWN
    if row.leads:
        lead = f"{middle(row.leads):.0f} turns, {len(row.leads)} of {row.compactions}"
    elif row.policy != "actual" and row.compactions:
        lead = f"0 of {row.compactions}"
    over = f"{row.calls_over_90_percent:,}"
    return [name, done, tokens(row.prompt_tokens), cost, span, more, dearer, over, lead]


def _short(value: float) -> str:
    return f"${value:,.0f}" if abs(value) >= 10 else usd(value)


def _signed_tokens(value: int) -> str:
    return f"{'+' if value > 0 else ''}{tokens(value)}"


def _signed_usd(value: float | None) -> str:
    if value is None:
        return "cost –"
    return f"{'+' if value > 0 else '−' if value < 0 else '±'}{usd(abs(value))}"


def _footnotes(actual: PolicySum, sums: Sequence[PolicySum]) -> list[str]:
    notes = [
        "acts: compactions, new windows, trims (+ those the window forces)",
        "≥90%: turns over 90 % of the usable limit",
        "lead: turns between the first advice to act and a real compaction, and how many of them were foreseen",
    ]
    missing = actual.sessions - actual.priced_sessions
    if missing:
        notes.append(
            f"{missing} of {actual.sessions} sessions have calls without a price and are left out of the costs"
        )
    crossing = [r.policy for r in sums if r.cost_low is not None and _undecided(r, actual)]
    if crossing:
        notes.append("cheaper or dearer than what happened depends on the assumptions: " + ", ".join(crossing))
    return notes


def _undecided(row: PolicySum, actual: PolicySum) -> bool:
    if row.cost_low is None or row.cost_high is None or actual.cost_usd is None:
        return False
    return row.cost_low < actual.cost_usd < row.cost_high


def _timeline(t: Tested, ink: Ink, width: int) -> list[str]:
    """When the first policy (the table) would have said what."""
    first = t.replays[0]
    lines = ["", *_head(f"what {first.policy} would have said, and when", ink, width)]
    rows = []
    for change in first.changes[:_MOST_CHANGES]:
        when = (iso(change.time) or "")[:16].replace("T", " ") if change.time is not None else UNKNOWN
        rows.append([f"turn {change.index:>4}", when, ACTION_WORDS[change.action], ink(change.rule, "dim")])
    lines += table(["", "when", "", "rule"], rows, most=width, drop=("when", "rule"))[1:]
    if len(first.changes) > _MOST_CHANGES:
        lines.append(f"  … and {len(first.changes) - _MOST_CHANGES} more (--format json lists all)")
    return lines


def _by_session(tested: Sequence[Tested], ink: Ink, width: int) -> list[str]:
    """The sessions in which the first policy makes the largest difference."""
    rows = []
    for t in tested:
        d = difference(t, t.replays[0])
        if d is not None and abs(d[1]) > 0.005:
            rows.append((abs(d[1]), t, d))
    rows.sort(key=lambda row: -row[0])
    if not rows:
        return []
    name = tested[0].replays[0].policy
    lines = ["", *_head(f"where {name} makes the largest difference", ink, width)]
    body = []
    for _, t, d in rows[:_MOST_SESSIONS]:
        first = next((c for c in t.replays[0].changes if c.action != "continue"), None)
        said = f"{ACTION_WORDS[first.action]} from turn {first.index}" if first is not None else "CONTINUE throughout"
        body.append(
            [
                cut(clean(t.series.view.session), 12),
                f"{len(t.series.points):,}",
                str(t.compactions),
                usd(t.paid),
                f"{_signed_usd(d[1])} ({_signed_usd(d[0])} to {_signed_usd(d[2])})",
                said,
            ]
        )
    head = ["session", "turns", "compactions", "cost", "difference", "first advice"]
    drop = ("compactions", "turns", "cost")
    return lines + table(head, body, right="lrrrrl", ink=ink, most=width, drop=drop, flex="first advice")


def assumed(a: Assumptions, threshold: int | None, ink: Ink, width: int) -> list[str]:
    """What the figures rest on, with the options that change it."""
    told = [
        f"a compaction writes a summary of {a.summary_tokens:,} tokens (--summary-tokens) and leaves "
        + (
            f"{a.after_tokens:,} tokens (--after-tokens)"
            if a.after_tokens
            else f"a tail of {a.keep_tokens:,} (--keep-tokens)"
        ),
        f"a new window gets {a.notes_tokens:,} tokens of notes (--notes-tokens)",
        f"after either {a.reread_tokens:,} tokens are read again over {a.rework_calls} extra turns"
        " (--reread-tokens, --rework-calls)",
        "range: half the summary and nothing read again, to twice both",
        f"the table's threshold is {f'{threshold:,} prompt tokens' if threshold else 'off'} (--threshold)",
        "growth, pauses and cache faults are as they happened; where a real compaction is left out, growth is a mean",
        "real compactions are charged the same rework, so that only more or fewer of them make a difference",
    ]
    return [ink("assumed", "bold"), *_notes(told, ink, width)]


def _suggested(s: Suggestions, ink: Ink, width: int) -> list[str]:
    lines: list[str] = []
    if s.growth_mean is not None and s.growth_median is not None:
        lines.append(f"growth: {s.growth_mean:,.0f} tokens a turn on average, {s.growth_median:,.0f} in the median")
    if s.calls_between_compactions is not None:
        fill = f" at {s.fill_at_compaction:.0%} of the usable limit" if s.fill_at_compaction is not None else ""
        left = f", leaving {s.size_after_compaction:,} tokens" if s.size_after_compaction is not None else ""
        lines.append(f"you compacted every {s.calls_between_compactions:.0f} turns (median){fill}{left}")
    if s.thresholds:
        lines.append("compacting at a size, against what happened:")
        rows = []
        for row in s.thresholds:
            span = f"({_signed_usd(row.low)} to {_signed_usd(row.high)})"
            best = "← cheapest" if row.tokens == s.best else ""
            rows.append([f"{row.tokens:,}", _signed_usd(row.cost_difference), span, best])
        head = ["", "", "range", ""]
        lines += table(head, rows, right="rrl", indent="    ", most=width, drop=("range",))[1:]
    if s.best is not None and s.as_good is not None:
        low, high = s.as_good
        span = f"{low:,} to {high:,} tokens cost about the same" if low != high else f"{low:,} tokens stands out"
        lines.append(f"{span} (within 2 % of what was paid); --threshold {s.best} would ask for it")
        chosen = next(row for row in s.thresholds if row.tokens == s.best)
        if chosen.low < 0 < chosen.high:
            lines.append("whether it saves anything depends on the assumptions above: their range crosses zero")
    if s.forecast_factors is not None:
        p10, p50, p90 = s.forecast_factors
        lines.append(
            f"turns left turned out to be {p50:g} times the forecast mean in the median ({p10:g}–{p90:g}),"
            f" over {s.forecast_windows} windows"
        )
    elif s.forecast_windows:
        lines.append(f"{s.forecast_windows} windows tell how far forecasts were off; it takes 10 to say it")
    lines = lines or ["nothing yet: no compactions and too few turns"]
    title = _head("what your own history suggests (shown, never applied)", ink, width)
    told = (found for line in lines for found in ([line] if line.startswith(" ") else _notes([line], ink, width)))
    return [*title, *told]
