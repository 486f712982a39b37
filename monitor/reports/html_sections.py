"""Parts of the HTML report that sum over all sessions: models, days, cache misses, backtest, problems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from monitor.decision.model import ACTION_WORDS
from monitor.records import Problem
from monitor.reports import gather, shape
from monitor.reports.clock import Clock
from monitor.reports.doctor import advice
from monitor.reports.html_parts import Raw, amount_bar, details, esc, section, table, tag
from monitor.reports.replayed import MOST_CALLS, Summary
from monitor.reports.text import UNKNOWN, tokens, usd
from monitor.reports.words import AT_LEAST, CAUSES, ESTIMATED, cause_word, cost_mark, output_mark, plural
from monitor.sessions.misses import by_cause
from monitor.sessions.view import Loaded, SessionView


def models(views: Sequence[SessionView]) -> Raw:
    """What each model was used for and cost; empty where one session has one model."""
    rows = shape.by_model(views)
    if len(views) == 1 and len(rows) == 1:
        return Raw("")
    return section("models", "Cost by model", _sums(rows, "model"))


def days(views: Sequence[SessionView], clock: Clock, now: int) -> Raw:
    """Sums by calendar day of the zone; empty where there is but one."""
    rows = gather.by_day(views, clock)
    if len(rows) < 2:
        return Raw("")
    body: list[object] = [_sums(rows[-31:], "date")]
    if len(rows) > 31:
        body.append(details(f"{plural(len(rows) - 31, 'earlier day')}", _sums(rows[:-31], "date")))
    return section("days", "Cost by day", *body, note="UTC" if clock.utc else clock.name(now))


def _sums(groups: Sequence[dict[str, Any]], key: str) -> Raw:
    used = [row for row in groups if row["calls"]]
    if not used:
        return Raw("")
    largest = max((row["cost_usd"] or 0.0 for row in used), default=0.0)
    rows = [
        (
            row[key] or "(not known)",
            f"{row['calls']:,}",
            tokens(row["prompt_tokens"]),
            tokens(row["cache_read_tokens"]),
            tokens(row["cache_write_tokens"]),
            tokens(row["fresh_tokens"]),
            tokens(row["output_tokens"], mark=output_mark(row)),
            usd(row["cost_usd"], mark=cost_mark(row)),
            amount_bar(row["cost_usd"], largest),
        )
        for row in used
    ]
    head = (key, "turns", "prompt", "read", "write", "fresh", "output", "cost", "")
    return table(head, rows, left=(0, 8), caption=f"sums by {key}")


def misses(views: Sequence[SessionView]) -> Raw:
    """Cache misses by cause, with what they cost above a cache read."""
    found = by_cause(views)
    if not found:
        return Raw("")
    largest = max((row.cost or 0.0 for row in found), default=0.0)
    rows = [
        (
            cause_word(row.cause),
            CAUSES.get(row.cause, ""),
            f"{row.calls:,}",
            f"{row.partial:,}",
            usd(row.cost, mark=AT_LEAST if row.unpriced and row.cost is not None else ""),
            amount_bar(row.cost, largest),
        )
        for row in found
    ]
    head = ("cause", "", "turns", "of these partial", "cost of it", "")
    note = "what was paid above a cache read"
    return section(
        "misses", "Cache misses by cause", table(head, rows, left=(0, 1, 5), caption="cache misses by cause"), note=note
    )


def backtest(views: Sequence[SessionView], found: Summary | None, clock: Clock) -> Raw:
    """Policies against what happened, or where to get that."""
    if found is None:
        if not any(turn for view in views for turn in view.turns[1:2]):
            return Raw("")
        text = f"Not made here: it is for up to {MOST_CALLS:,} turns. `ctxmon backtest PATH` replays any number."
        return section("backtest", "Backtest", tag("p", text, class_="soft"))
    rows = []
    for row in (found.actual, *found.policies):
        cost = usd(row.cost_usd, mark=ESTIMATED if row.cost_low is not None else "")
        between = f"{usd(row.cost_low)} to {usd(row.cost_high)}" if row.cost_low is not None else UNKNOWN
        against = UNKNOWN if row is found.actual else f"{row.prompt_difference:+,}"
        acts = f"{sum(row.actions.values())}" + (f"+{row.forced}" if row.forced else "")
        lead = f"{len(row.leads)} of {row.compactions}" if row is not found.actual and row.compactions else UNKNOWN
        name = "what happened" if row is found.actual else row.policy
        rows.append(
            (name, acts, tokens(row.prompt_tokens), against, cost, between, f"{row.calls_over_90_percent:,}", lead)
        )
    head = ("policy", "acts", "prompt tokens", "against what happened", "cost", "range", "turns over 90 %", "foreseen")
    body: list[object] = [table(head, rows, caption="policies against what happened")]
    if found.advice:
        said = [
            (change.index, clock(change.time), ACTION_WORDS[change.action], change.rule) for change in found.advice[:60]
        ]
        said_table = table(
            ("turn", "time", "advice", "rule"), said, left=(1, 2, 3), caption="what the table would have said"
        )
        body.append(details("What the decision table would have said, and when", said_table))
    assumed = "Each policy is carried out on the same work. Acts: compactions, new windows, trims, + those forced. "
    body.append(tag("p", assumed + "Assumed: " + "; ".join(found.assumptions) + ".", class_="soft"))
    note = f"{plural(found.sessions, 'session')}, {plural(found.calls, 'turn')} replayed"
    return section("backtest", "Backtest", *body, note=note)


def problems(found: Loaded) -> Raw:
    """What could not be read, where, and what to do."""
    told = [problem for problem in found.problems if isinstance(problem, Problem)]
    if not told:
        return Raw("")
    reasons: dict[str, list[Problem]] = {}
    for problem in told:
        reasons.setdefault(problem.reason, []).append(problem)
    rows = []
    for reason, these in sorted(reasons.items(), key=lambda entry: -len(entry[1])):
        places = [f"{p.file}{f':{p.line}' if p.line is not None else ''}" for p in these[:5] if p.file]
        more = f" and {len(these) - 5:,} more" if len(these) > 5 else ""
        where = Raw("<br>".join(f"<code>{esc(place)}</code>" for place in places) + more)
        rows.append(
            (f"{len(these):,}", tag("span", reason, class_="wrap"), where, tag("span", advice(reason), class_="wrap"))
        )
    body = table(("times", "what", "where", "what to do"), rows, left=(1, 2, 3), caption="problems while reading")
    return section("problems", "Problems while reading", body)
