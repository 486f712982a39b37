"""Sessions as the JSON of the contract. One function per record; nothing is computed here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from monitor.decision.model import Decision
from monitor.readers.times import iso
from monitor.records import Call, Event, Problem
from monitor.sessions.sums import total
from monitor.sessions.view import CompactionCost, Forecast, Range, SessionView, Sums, Turn

_DAY_MS = 86_400_000


def call(turn: Turn) -> dict[str, Any]:
    """A CALL."""
    row = _call(turn.call)
    row.update(
        window=turn.window,
        index=turn.index,
        exchange=turn.exchange,
        context_limit=turn.context_limit,
        context_limit_source=turn.context_limit_source,
        cost_usd=turn.cost_usd,
        cost_source=turn.cost_source,
        cache_outcome=turn.cache_outcome,
        cache_miss_cause=turn.cache_miss_cause,
    )
    return row


def copy(found: Call) -> dict[str, Any]:
    """A CALL that another session owns (``--copies``)."""
    return {**_call(found), "inherited": True}


def _call(found: Call) -> dict[str, Any]:
    return {
        "session": found.session,
        "session_evidence": found.session_evidence,
        "chain": found.chain,
        "window": None,
        "index": None,
        "exchange": found.exchange,
        "time": iso(found.time),
        "duration_ms": found.duration_ms,
        "source": found.source,
        "provider": found.provider,
        "model": found.model,
        "prompt_tokens": found.prompt_tokens,
        "fresh_tokens": found.fresh_tokens,
        "cache_read_tokens": found.cache_read_tokens,
        "cache_write_tokens": found.cache_write_tokens,
        "cache_write_1h_tokens": found.cache_write_1h_tokens,
        "output_tokens": found.output_tokens,
        "output_is_lower_bound": found.output_is_lower_bound,
        "reasoning_tokens": found.reasoning_tokens,
        "billed_prompt_tokens": found.billed_prompt_tokens,
        "context_limit": found.context_limit,
        "context_limit_source": "logged" if found.context_limit else None,
        "cost_usd": found.cost_usd,
        "cost_source": "logged" if found.cost_usd is not None else None,
        "status": found.status,
        "purpose": found.purpose,
        "cache_outcome": None,
        "cache_miss_cause": None,
        "file": found.file,
        "line": found.line,
        "call_id": found.call_id,
    }


def event(found: Event) -> dict[str, Any]:
    """An EVENT."""
    return {
        "kind": found.kind,
        "evidence": found.evidence,
        "session": found.session,
        "chain": found.chain,
        "trigger": found.trigger,
        "time": iso(found.time),
        "tokens_before": found.tokens_before,
        "tokens_after": found.tokens_after,
        "recorded_before": found.recorded_before,
        "recorded_after": found.recorded_after,
        "summary_tokens": found.summary_tokens,
        "after_call": found.after_call,
        "before_call": found.before_call,
        "file": found.file,
        "line": found.line,
    }


def problem(found: Problem) -> dict[str, Any]:
    """A PROBLEM."""
    return {"file": found.file, "line": found.line, "reason": found.reason}


_SUMS = (
    "calls",
    "prompt_tokens",
    "fresh_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "cache_write_1h_tokens",
    "output_tokens",
    "output_is_lower_bound",
    "reasoning_tokens",
    "billed_prompt_tokens",
    "side_calls",
    "error_calls",
    "cost_usd",
    "cost_is_estimate",
    "unpriced_calls",
    "calls_without_usage",
)


def sums(found: Sums) -> dict[str, Any]:
    """Sums under the names of the contract."""
    return {name: getattr(found, name) for name in _SUMS}


def session(view: SessionView, decision: dict[str, Any] | None = None) -> dict[str, Any]:
    """A SESSION."""
    quota = view.quota
    return {
        "session": view.session,
        "source": view.source,
        "session_evidence": view.evidence,
        "project": view.project,
        "parent": view.parent,
        "models": list(view.models),
        "first": iso(view.first),
        "last": iso(view.last),
        **sums(view.sums),
        "exchanges": view.exchanges,
        "peak_prompt_tokens": view.peak_prompt_tokens,
        "last_prompt_tokens": view.last_prompt_tokens,
        "context_limit": view.context_limit,
        "context_limit_source": view.context_limit_source,
        "usable_limit": view.usable_limit,
        "fill": _round(view.fill),
        "cache_hit_ratio": _round(view.cache_hit_ratio),
        "prefix_hit_ratio": _round(view.prefix_hit_ratio),
        "cache_misses": view.cache_misses,
        "quota": {"used_percent": quota.used_percent, "resets": iso(quota.resets), "window_min": quota.window_min}
        if quota is not None
        else None,
        "windows": view.windows,
        "compactions": view.compactions,
        "inferred_compactions": view.inferred_compactions,
        "inherited_calls": view.inherited_calls,
        "totals_only": view.totals_only,
        "forecast": forecast(view.forecast),
        "decision": decision,
        "chains": [
            {
                "chain": chain.chain,
                "calls": chain.calls,
                "peak": chain.peak_prompt_tokens,
                "peak_prompt_tokens": chain.peak_prompt_tokens,
                "windows": chain.windows,
            }
            for chain in view.chains
        ],
        "compaction_costs": [
            {
                "before_call": cost.event.before_call,
                "evidence": cost.event.evidence,
                "summary_call_tokens": cost.summary_call_tokens,
                "summary_call_usd": cost.summary_call_usd,
                "summary_call_estimated": cost.summary_call_estimated,
                "rewrite_tokens": cost.rewrite_tokens,
                "rewrite_usd": cost.rewrite_usd,
                "saved_tokens": cost.saved_tokens,
                "saved_usd": cost.saved_usd,
                "break_even_call": cost.break_even_call,
                "calls_after": cost.calls_after,
                "verdict": cost.verdict,
            }
            for cost in balances(view)
        ],
    }


def balances(view: SessionView) -> list[CompactionCost]:
    """The balances of those compactions that are shown (a view may be narrowed to a time or a model)."""
    shown = {id(event) for event in view.events}
    return [cost for cost in view.compaction_costs if id(cost.event) in shown or cost.event in view.events]


def forecast(found: Forecast | None) -> dict[str, Any] | None:
    """A session's forecast; None where there is nothing to say."""
    if found is None or found.tokens_per_call is None:
        return None
    return {
        "calls_to_limit": span(found.calls_to_limit),
        "calls_to_window": span(found.calls_to_window),
        "tokens_per_call": found.tokens_per_call,
        "exchanges_to_limit": span(found.exchanges_to_limit),
        "seconds_to_limit": span(found.seconds_to_limit),
        "own_contexts": found.own_contexts,
    }


def span(found: Range | None) -> dict[str, float] | None:
    """A range as {p10, p50, p90}."""
    return {"p10": found.p10, "p50": found.p50, "p90": found.p90} if found is not None else None


def decision(found: Decision) -> dict[str, Any]:
    """A DECISION. Signals under their ids; marks of unknown and assumed values beside them."""
    costs = found.costs
    return {
        "action": found.action,
        "rule": found.rule,
        "confidence": found.confidence,
        "reasons": list(found.reasons),
        "signals": {name: _plain(signal.value) for name, signal in found.signals.items()},
        "signals_how": {name: signal.how for name, signal in found.signals.items() if signal.how},
        "costs": {
            "continue": costs.continue_usd,
            "compact": costs.compact_usd,
            "new_window": costs.new_window_usd,
            "calls": costs.calls,
            "assumed": list(costs.assumed),
        }
        if costs is not None
        else None,
        "next": found.next,
    }


def _plain(value: Any) -> Any:
    kind = type(value)  # (asked sixty times a decision, of a hundred thousand sessions)
    if kind is float:
        return round(value, 6)
    return span(value) if kind is Range else value


def _round(value: float | None) -> float | None:
    return round(value, 6) if value is not None else None


def totals(views: Sequence[SessionView]) -> dict[str, Any]:
    """TOTALS over sessions."""
    misses: dict[str, int] = {}
    for view in views:
        for cause, count in view.cache_misses.items():
            misses[cause] = misses.get(cause, 0) + count
    peaks = [view.peak_prompt_tokens for view in views if view.peak_prompt_tokens is not None]
    exchanges = [view.exchanges for view in views if view.exchanges is not None]
    return {
        **sums(total(view.sums for view in views)),
        "sessions": len(views),
        "exchanges": sum(exchanges) if exchanges else None,
        "peak_prompt_tokens": max(peaks) if peaks else None,
        "cache_misses": dict(sorted(misses.items())),
        "windows": sum(view.windows for view in views),
        "compactions": sum(view.compactions for view in views),
        "inferred_compactions": sum(view.inferred_compactions for view in views),
        "inherited_calls": sum(view.inherited_calls for view in views),
    }


def by_model(views: Iterable[SessionView]) -> list[dict[str, Any]]:
    """Sums for each model, the largest first."""
    groups: dict[str | None, list[Sums]] = {}
    for view in views:
        for bucket in view.buckets:
            groups.setdefault(bucket.model, []).append(bucket.sums)
    rows = [{"model": model, **sums(total(parts))} for model, parts in groups.items()]
    return sorted(rows, key=lambda row: (-(row["prompt_tokens"] or 0), row["model"] or ""))


def by_day(views: Iterable[SessionView]) -> list[dict[str, Any]]:
    """Sums for each day (UTC), in order; calls without a time come last."""
    groups: dict[int | None, list[Sums]] = {}
    for view in views:
        for bucket in view.buckets:
            groups.setdefault(bucket.day, []).append(bucket.sums)
    ordered = sorted(groups.items(), key=lambda entry: (entry[0] is None, entry[0] or 0))
    return [{"date": day_text(day), **sums(total(parts))} for day, parts in ordered]


def day_text(day: int | None) -> str | None:
    """Days since the epoch as an ISO date."""
    text = iso(day * _DAY_MS) if day is not None else None
    return text[:10] if text is not None else None
