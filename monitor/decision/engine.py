"""From a session to a decision: signals, table, hysteresis, confidence, costs, and what would change it.

:func:`decide` is what every command calls. It is pure: the time is given, nothing is read but the built-in table.
"""

from __future__ import annotations

from typing import Any

import msgspec

from monitor.decision import economics
from monitor.decision.facts import Facts, facts_of
from monitor.decision.model import ACTION_WORDS, Action, Confidence, Costs, Decision, Signal
from monitor.decision.signals import Measured, cost_of, measure
from monitor.decision.specs import amount
from monitor.decision.table import Condition, Row, Table, builtin, fires, first, holds, sentences, trace
from monitor.pricing import PriceTable
from monitor.sessions.view import SessionView

DEFAULT_THRESHOLD = 100_000
MIN_DELTAS = 8
#: calls ahead that are tried out for "what would change this"
_AHEAD = (1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144)
_SOFT = frozenset(("assumed", "estimated", "lower bound"))
#: how much an advice asks for; hysteresis only delays a change to less
_STRENGTH: dict[Action, int] = {
    "continue": 0,
    "compact_at_boundary": 1,
    "trim": 2,
    "compact_now": 3,
    "notes_new_window": 4,
    "fresh": 5,
}
_NO_ROW = Row(
    id="no-row", title="No row fired", action="continue", reasons=("No row of the table fired, so nothing is advised.",)
)


def decide(
    view: SessionView,
    *,
    now_ms: int,
    prices: PriceTable | None = None,
    table: Table | None = None,
    threshold: int | None = DEFAULT_THRESHOLD,
    previous: Decision | None = None,
    explain: bool = False,
    brief: bool = False,
) -> Decision:
    """What to do with a session.

    Args:
        now_ms: the present, milliseconds since the epoch (UTC).
        prices: for costs in USD; without it (or for an unknown model) the usual ratios are assumed, costs are None.
        table: None for the built-in one.
        threshold: the user's own size in prompt tokens; None for none. Off for windows over 400,000 tokens.
        previous: the decision before this one, for hysteresis.
        explain: also give every row with the outcome of its conditions (:attr:`Decision.rows`).
        brief: leave out reasons, costs and what would change it, where many are asked for.
    """
    return decide_on(
        facts_of(view),
        now_ms=now_ms,
        prices=prices,
        table=table,
        threshold=threshold,
        previous=previous,
        explain=explain,
        brief=brief,
    )


def decide_on(
    facts: Facts,
    *,
    now_ms: int,
    prices: PriceTable | None = None,
    table: Table | None = None,
    threshold: int | None = DEFAULT_THRESHOLD,
    previous: Decision | None = None,
    explain: bool = False,
    brief: bool = False,
) -> Decision:
    """:func:`decide` on facts that were gathered some other way (replay, status line).

    ``brief``: see :func:`decide`; a replay asks thousands of times.
    """
    table = table or builtin()
    measured = measure(facts, now_ms=now_ms, prices=prices, threshold=threshold, settings=table.settings)
    row = first(table, measured.values) or _NO_ROW
    held, below = _held(table, row, measured.values, facts, previous)
    measured.values["below_since"] = below
    measured.signals["below_since"] = Signal(
        id="below_since", value=below, unit="calls", how="computed" if below is not None else "unknown"
    )
    if brief:
        row = held or row
        return Decision(
            session=facts.session,
            action=row.action,
            rule=row.id,
            confidence=_confidence(row, measured),
            reasons=(),
            signals=measured.signals,
            costs=None,
            next="",
        )
    reasons = sentences(held or row, measured.values)
    if held is not None:
        row = held
        reasons = (*reasons, "Held: the size is not clearly below the thresholds yet.")
    costs = cost_of(measured, max(1, round(measured.values["remaining_calls"])), table.settings)
    return Decision(
        session=facts.session,
        action=row.action,
        rule=row.id,
        confidence=_confidence(row, measured),
        reasons=(*reasons, *_dearer(row, costs), *_caveats(facts, measured)),
        signals=measured.signals,
        costs=costs,
        next=row.next or _next(table, row, measured),
        rows=trace(table, measured.values, row.id) if explain else (),
    )


def _held(
    table: Table, row: Row, values: dict[str, Any], facts: Facts, previous: Decision | None
) -> tuple[Row | None, int | None]:
    """The row to stay with (hysteresis), and the call since which it lies clearly below its thresholds."""
    if previous is None or previous.session != facts.session or previous.rule == row.id:
        return None, None
    places = {r.id: n for n, r in enumerate(table.rows)}
    old = next((r for r in table.rows if r.id == previous.rule and r.sticky), None)
    if old is None or _STRENGTH[row.action] >= _STRENGTH[old.action] or places.get(row.id, 1 << 30) < places[old.id]:
        return None, None
    before = previous.signals.get("compactions")
    if before is None or before.value != facts.compactions or facts.pending_reset:
        return None, None
    rule = table.settings.hysteresis
    limit = values.get("usable_limit")
    relaxed = dict(values)
    for id in ("used", "prompt_tokens"):
        if relaxed.get(id) is not None and limit:
            relaxed[id] += rule.points * limit
    if relaxed.get("fill") is not None:
        relaxed["fill"] += rule.points
    if fires(table, old.id, relaxed):
        return old, None
    mark = previous.signals.get("below_since")
    since: int = mark.value if mark is not None and mark.value is not None else facts.calls
    return (old, since) if facts.calls - since < rule.calls else (None, None)


def _confidence(row: Row, measured: Measured) -> Confidence:
    """low: window unknown or too few calls for a forecast; medium: the rule rests on estimates; else high."""
    values = measured.values
    if values["usable_limit"] is None or (values["deltas"] or 0) < MIN_DELTAS:
        return "low"
    return "medium" if row.when is not None and _rests_on_estimates(row.when, measured) else "high"


def _rests_on_estimates(condition: Condition, measured: Measured) -> bool:
    """Whether the parts that made the row fire are estimates; of several reasons to fire the best one counts."""
    if condition.all:
        return any(_rests_on_estimates(part, measured) for part in condition.all)
    if condition.any:
        fired = [part for part in condition.any if holds(part, measured.values)]
        return all(_rests_on_estimates(part, measured) for part in fired)
    names = (condition.signal, condition.other) if condition.other else (condition.signal,)
    return any((s := measured.signals.get(name)) is not None and s.how in _SOFT for name in names)


def _dearer(row: Row, costs: Costs | None) -> tuple[str, ...]:
    """What is to be said where the advice costs more than going on, so that it does not contradict its own costs."""
    if costs is None or costs.continue_usd is None:
        return ()
    paid = {"compact_now": costs.compact_usd, "notes_new_window": costs.new_window_usd}.get(row.action)
    more = 0.0 if paid is None else paid - costs.continue_usd
    if more < 0.005 or more < 0.02 * costs.continue_usd:
        return ()
    calls = "the next call" if costs.calls == 1 else f"the next {costs.calls} calls"
    return (f"Over {calls} it costs about ${more:.2f} more than going on: what it buys is room and a fresh context.",)


def _caveats(facts: Facts, measured: Measured) -> tuple[str, ...]:
    out = []
    if facts.prompt is None and not facts.pending_reset:
        out.append("No call with a known prompt size was found.")
    if facts.pending_reset:
        out.append("The context was just replaced; its new size is known after the next call.")
    if facts.usable_limit is None:
        out.append("The window is not known, so only rules on absolute sizes count (--context-limit N sets it).")
    deltas = measured.values["deltas"] or 0
    if deltas < MIN_DELTAS and facts.prompt is not None:
        out.append(f"Growth is known for {deltas} calls since the last reset; a forecast needs {MIN_DELTAS}.")
    return tuple(out)


def _next(table: Table, row: Row, measured: Measured) -> str:
    """One sentence: after how many calls of the present growth, or by which event, the advice would change."""
    values = measured.values
    if row.action == "compact_at_boundary":
        later = first(table, {**values, "boundary_score": 0.7, "boundary_reasons": ""})
        if later is not None and later.action != row.action:
            return f"At the end of a phase (tests pass, a commit, todos done) it becomes {ACTION_WORDS[later.action]}."
    growth, used = values["tokens_per_call"], values["used"]
    if used is None:
        return "The next call tells the size of the context."
    if growth is None:
        return f"After {MIN_DELTAS} calls since the last reset the growth is known and a forecast can be made."
    if growth <= 0:
        return "The context does not grow at present."
    for n in _AHEAD:
        later = first(table, _projected(measured, n, growth, used, table))
        if later is not None and later.action != row.action:
            size = f"{used + n * growth:,.0f}"
            return (
                f"In about {amount(n)} calls (at {size} tokens): {ACTION_WORDS[later.action]}, {later.title.lower()}."
            )
    return f"Nothing within {_AHEAD[-1]} calls at the present growth."


def _projected(measured: Measured, n: int, growth: float, used: float, table: Table) -> dict[str, Any]:
    """The signals after ``n`` more calls of the present growth, in the middle of a phase and with a warm cache."""
    v = dict(measured.values)
    more = n * growth
    v["used"] = used + more
    moved = {"prompt_tokens": more, "room_next": -more, "calls_p10": -n, "calls_p50": -n, "calls_to_tier": -n}
    for id, by in moved.items():
        if v.get(id) is not None:
            v[id] = max(0.0, v[id] + by) if id.startswith("calls") else v[id] + by
    if v.get("usable_limit"):
        v["fill"] = v["used"] / v["usable_limit"]
        if v.get("growth_since_compaction") is not None:
            v["growth_since_compaction"] += more / v["usable_limit"]
    if v.get("calls_since_compaction") is not None:
        v["calls_since_compaction"] += n
        rest = table.settings.after_compaction
        v["settled"] = (
            v["calls_since_compaction"] >= rest.calls or (v.get("growth_since_compaction") or 0) >= rest.growth
        )
        v["thrash"] = bool(v["thrash"]) and v["calls_since_compaction"] <= 30
    if v["remaining_known"]:
        v["remaining_calls"] = max(0.0, v["remaining_calls"] - n)
    if measured.situation is not None:
        later = msgspec.structs.replace(measured.situation, context=round(v["used"]), cache="warm")
        v["break_even_calls"] = economics.break_even_compact(later)
    if v["cache_state"] != "unknown":
        v["cache_state"], v["cache_age"] = "warm", 0.0
    if v["pending_tool_call"]:
        v["pending_tool_call"] = False
    if v["boundary_score"] is not None:
        v["boundary_score"] = 0.0
    v["topic_change"], v["task_complete"], v["loop"] = None, False, False
    return v
