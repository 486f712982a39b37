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
from monitor.reports.text import UNKNOWN, Ink, Stream, clean, cut, table, tokens, usd

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
    lines = [
        ink("ctxmon backtest", "bold") + f" · {len(tested)} {many} · {calls:,} turns · table {clean(table_name)}",
        ink(
            "each policy carried out on the same work; cost with its range under kinder and harsher assumptions", "dim"
        ),
        "",
    ]
    lines += policies_table(actual, sums, ink)
    if len(tested) == 1:
        lines += ["", *_timeline(tested[0], ink)]
    else:
        lines += ["", *_by_session(tested, ink, width)]
    lines += ["", *assumed(assumptions, threshold, ink)]
    if suggestions is not None:
        lines += ["", *_suggested(suggestions, actual, ink)]
    return "\n".join(lines)


def policies_table(actual: PolicySum, sums: Sequence[PolicySum], ink: Ink) -> list[str]:
    """Every policy against what happened, and what the columns mean."""
    lines = table(
        ["policy", "acts", "prompt", "cost", "against what happened", "≥90%", "lead"],
        [_line(actual, "what happened"), *(_line(row, row.policy) for row in sums)],
        right="lrrrrrl",
        ink=ink,
    )
    return [*lines, "", *_footnotes(actual, sums, ink)]


def _line(row: PolicySum, name: str) -> list[str]:
    acts = sum(row.actions.values())
    done = f"{acts}" + (f"+{row.forced}" if row.forced else "")
    cost = usd(row.cost_usd)
    if row.cost_low is not None and row.cost_high is not None and row.cost_high - row.cost_low > 0.005:
        cost = f"~{cost} ({_short(row.cost_low)}–{_short(row.cost_high)})"
    against = UNKNOWN
    if row.policy != "actual":
        against = f"{_signed_tokens(row.prompt_difference)}, {_signed_usd(row.cost_difference)}"
    lead = UNKNOWN
    if row.leads:
        lead = f"{middle(row.leads):.0f} turns, {len(row.leads)} of {row.compactions}"
    elif row.policy != "actual" and row.compactions:
        lead = f"0 of {row.compactions}"
    return [name, done, tokens(row.prompt_tokens), cost, against, f"{row.calls_over_90_percent:,}", lead]


def _short(value: float) -> str:
    return f"${value:,.0f}" if abs(value) >= 10 else usd(value)


def _signed_tokens(value: int) -> str:
    return f"{'+' if value > 0 else ''}{tokens(value)}"


def _signed_usd(value: float | None) -> str:
    if value is None:
        return "cost –"
    return f"{'+' if value > 0 else '−' if value < 0 else '±'}{usd(abs(value))}"


def _footnotes(actual: PolicySum, sums: Sequence[PolicySum], ink: Ink) -> list[str]:
    notes = [
        "acts: compactions, new windows, trims (+ those the window forces); ≥90%: turns over 90 % of the usable limit;",
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
    return [ink(f"  {note}", "dim") for note in notes]


def _undecided(row: PolicySum, actual: PolicySum) -> bool:
    if row.cost_low is None or row.cost_high is None or actual.cost_usd is None:
        return False
    return row.cost_low < actual.cost_usd < row.cost_high


def _timeline(t: Tested, ink: Ink) -> list[str]:
    """When the first policy (the table) would have said what."""
    first = t.replays[0]
    lines = [ink(f"what {first.policy} would have said, and when", "bold")]
    for change in first.changes[:_MOST_CHANGES]:
        when = (iso(change.time) or "")[:16].replace("T", " ") if change.time is not None else "–"
        lines.append(f"  turn {change.index:>4}  {when}  {ACTION_WORDS[change.action]}  {ink(change.rule, 'dim')}")
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
    lines = [ink(f"where {name} makes the largest difference", "bold")]
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
                cut(said, max(20, width - 75)),
            ]
        )
    head = ["session", "turns", "compactions", "cost", "difference", "first advice"]
    return lines + table(head, body, right="lrrrrl", ink=ink)


def assumed(a: Assumptions, threshold: int | None, ink: Ink) -> list[str]:
    """What the figures rest on, with the options that change it."""
    return [
        ink("assumed", "bold"),
        f"  a compaction writes a summary of {a.summary_tokens:,} tokens (--summary-tokens) and leaves "
        + (
            f"{a.after_tokens:,} tokens (--after-tokens)"
            if a.after_tokens
            else f"a tail of {a.keep_tokens:,} (--keep-tokens)"
        ),
        f"  a new window gets {a.notes_tokens:,} tokens of notes (--notes-tokens)",
        f"  after either {a.reread_tokens:,} tokens are read again over {a.rework_calls} extra turns"
        " (--reread-tokens, --rework-calls)",
        "  range: half the summary and nothing read again, to twice both",
        f"  the table's threshold is {f'{threshold:,} prompt tokens' if threshold else 'off'} (--threshold)",
        "  growth, pauses and cache faults are as they happened; where a real compaction is left out, growth is a mean",
        "  real compactions are charged the same rework, so that only more or fewer of them make a difference",
    ]


def _suggested(s: Suggestions, actual: PolicySum, ink: Ink) -> list[str]:
    lines = [ink("what your own history suggests", "bold") + ink(" (shown, never applied)", "dim")]
    if s.growth_mean is not None and s.growth_median is not None:
        lines.append(f"  growth: {s.growth_mean:,.0f} tokens a turn on average, {s.growth_median:,.0f} in the median")
    if s.calls_between_compactions is not None:
        fill = f" at {s.fill_at_compaction:.0%} of the usable limit" if s.fill_at_compaction is not None else ""
        left = f", leaving {s.size_after_compaction:,} tokens" if s.size_after_compaction is not None else ""
        lines.append(f"  you compacted every {s.calls_between_compactions:.0f} turns (median){fill}{left}")
    if s.thresholds:
        lines.append("  compacting at a size, against what happened:")
        for row in s.thresholds:
            mark = "  ← cheapest" if row.tokens == s.best else ""
            lines.append(
                f"    {row.tokens:>7,}  {_signed_usd(row.cost_difference):>10}"
                f"  ({_signed_usd(row.low)} to {_signed_usd(row.high)}){mark}"
            )
    if s.best is not None and s.as_good is not None:
        low, high = s.as_good
        span = f"{low:,} to {high:,} tokens cost about the same" if low != high else f"{low:,} tokens stands out"
        lines.append(f"  {span} (within 2 % of what was paid); --threshold {s.best} would ask for it")
        chosen = next(row for row in s.thresholds if row.tokens == s.best)
        if chosen.low < 0 < chosen.high:
            lines.append("  whether it saves anything depends on the assumptions above: their range crosses zero")
    if s.forecast_factors is not None:
        p10, p50, p90 = s.forecast_factors
        lines.append(
            f"  turns left turned out to be {p50:g} times the forecast mean in the median ({p10:g}–{p90:g}),"
            f" over {s.forecast_windows} windows"
        )
    elif s.forecast_windows:
        lines.append(f"  {s.forecast_windows} windows tell how far forecasts were off; it takes 10 to say it")
    if len(lines) == 1:
        lines.append("  nothing yet: no compactions and too few turns")
    return lines
