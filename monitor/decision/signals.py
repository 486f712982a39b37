"""Signals: from the facts of a session to named values with a unit and a word on how each was obtained.

Definitions follow the design's list S1 … S17 (see :mod:`monitor.decision.specs`). Unknown is None and never fires a
rule. ``how``: ``logged``, ``computed``, ``estimated``, ``assumed``, ``inferred``, ``lower bound`` or ``unknown``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from monitor.decision import economics
from monitor.decision.facts import Facts
from monitor.decision.model import Costs, Signal
from monitor.decision.phase import Phase, phase
from monitor.decision.specs import SPECS
from monitor.decision.table import Settings
from monitor.pricing import PriceTable
from monitor.records import Step

#: a summary call needs room for its instruction and its answer
SUMMARY_INSTRUCTION, SUMMARY_ROOM = 2_000, 8_000
#: windows above this have no use for a threshold in absolute tokens
THRESHOLD_OFF_ABOVE = 400_000
#: characters per token of tool results, between code and prose of the common tokenizers
CHARS_PER_TOKEN = 3.7
_KEEP_RESULTS = 3
_CALLS_PER_TODO_MAX = 60.0


class Measured(msgspec.Struct, frozen=True, gc=False):
    """All signals of one moment, and what the cost of the three ways is computed from."""

    signals: dict[str, Signal]
    values: dict[str, Any]
    situation: economics.Situation | None
    notes: tuple[str, ...]  # what the costs assume


_WORDS = {"seconds": "s", "bool": "", "word": "", "text": ""}
_UNITS = {id: _WORDS.get(spec.kind, spec.kind) for id, spec in SPECS.items()}


class _Board:
    """Collects signals; a value of None is ``unknown`` whatever was said."""

    def __init__(self) -> None:
        self.signals: dict[str, Signal] = {}
        self.values: dict[str, Any] = {}

    def put(self, id: str, value: Any, how: str = "computed") -> None:
        self.values[id] = value
        self.signals[id] = Signal(id=id, value=value, unit=_UNITS[id], how=how if value is not None else "unknown")


def measure(
    facts: Facts, *, now_ms: int, prices: PriceTable | None, threshold: int | None, settings: Settings
) -> Measured:
    """Compute every signal.

    Args:
        now_ms: the present, milliseconds since the epoch.
        prices: for break-even and costs; without it the usual ratios are assumed.
        threshold: the user's own size in prompt tokens, None for none.
        settings: of the decision table (assumed sizes, caps).
    """
    board = _Board()
    idle = None if facts.time is None else max(0.0, (now_ms - facts.time) / 1000)
    state = phase(facts.steps, idle_s=idle, now_ms=now_ms)
    used = None if facts.prompt is None else facts.prompt + (facts.output or 0)
    _sizes(board, facts, used, settings)
    _growth(board, facts, used)
    _phase(board, facts, state)
    _compactions(board, facts, used, settings)
    _cache(board, facts, idle)
    situation, notes = _economics(board, facts, used, state, now_ms, prices, settings)
    _tools(board, facts, used)
    off = facts.context_limit is not None and facts.context_limit > THRESHOLD_OFF_ABOVE
    board.put("threshold", None if off else threshold, "set by you")
    quota = facts.quota
    board.put("quota_used", None if quota is None else quota.used_percent / 100, "logged")
    return Measured(board.signals, board.values, situation, notes)


def _sizes(board: _Board, facts: Facts, used: int | None, settings: Settings) -> None:
    window, limit = facts.context_limit, facts.usable_limit
    board.put("prompt_tokens", facts.prompt, facts.prompt_how)
    board.put("used", used, facts.prompt_how)
    board.put("context_limit", window, "logged or from the table")
    board.put("usable_limit", limit, "assumed" if facts.usable_assumed else "logged")
    board.put("limit_known", limit is not None)
    board.put("fill", used / limit if used is not None and limit else None)
    whole = facts.whole_window
    fits = None if used is None or whole is None else used + SUMMARY_INSTRUCTION + SUMMARY_ROOM <= whole
    board.put("summary_fits", fits)
    board.put("overflow", facts.overflow, "logged")
    board.put("calls", facts.calls, "logged")
    soft, hard = settings.caps(facts.model, window)
    board.put("quality_soft", soft, "assumed")
    board.put("quality_hard", hard, "assumed")


def _growth(board: _Board, facts: Facts, used: int | None) -> None:
    seen = facts.forecast
    left = seen.calls_to_limit if seen is not None and not facts.pending_reset else None
    board.put("tokens_per_call", seen.tokens_per_call if seen is not None else None)
    board.put("next_delta_p90", seen.next_delta_p90 if seen is not None else None)
    board.put("deltas", seen.deltas if seen is not None else 0)
    board.put(
        "calls_to_limit", None if left is None else {"p10": left.p10, "p50": left.p50, "p90": left.p90}, "estimated"
    )
    board.put("calls_p10", left.p10 if left is not None else None, "estimated")
    board.put("calls_p50", left.p50 if left is not None else None, "estimated")
    window, grow = facts.whole_window, board.values["next_delta_p90"]
    room = None
    if used is not None and window is not None and grow is not None:
        # small windows cannot spare the whole reserve
        room = round(window - used - grow - min(SUMMARY_INSTRUCTION + SUMMARY_ROOM, window // 10))
    board.put("room_next", room, "estimated")


def _phase(board: _Board, facts: Facts, state: Phase) -> None:
    known = bool(facts.steps)
    waiting = (state.pending > 0 or facts.in_flight) if known or facts.in_flight else None
    board.put("pending_tool_call", waiting, "inferred" if state.abandoned else "logged")
    board.put("pending_calls", state.pending if known else None, "logged")
    board.put("boundary_score", 0.0 if facts.in_flight else state.boundary, "estimated")
    board.put("boundary_reasons", ", ".join(state.boundary_why) or None, "estimated")
    board.put("topic_change", state.topic, "estimated")
    board.put("topic_depends", state.topic_depends, "estimated")
    board.put("topic_reasons", ", ".join(state.topic_why) or None, "estimated")
    board.put("loop", state.loop)
    board.put("loop_count", state.loop_count if known else None)
    board.put("loop_reason", state.loop_why or None)
    board.put("corrections", state.corrections if known else None, "estimated")
    board.put("task_complete", state.task_complete, "estimated")
    todos = state.todos
    board.put("todos_open", None if todos is None else todos[0] + todos[1], "logged")
    board.put("todos_done", None if todos is None else todos[2], "logged")


def _compactions(board: _Board, facts: Facts, used: int | None, settings: Settings) -> None:
    latest, limit = facts.latest, facts.usable_limit
    board.put("compactions", facts.compactions, "logged or inferred")
    since = latest[-1].calls_since if latest else None
    after = latest[-1].after if latest else None
    share = after / limit if after is not None and limit else None
    grown = max(0.0, (used - after) / limit) if used is not None and after is not None and limit else None
    board.put("calls_since_compaction", since)
    board.put("after_compaction", share)
    board.put("growth_since_compaction", grown)
    thrash = False
    if latest and latest[-1].calls_since <= 30:
        now = latest[-1].calls_since
        thrash = (
            (len(latest) == 3 and latest[0].calls_since - now <= 30)
            or (len(latest) >= 2 and latest[-2].calls_since - now <= 8)
            or (share is not None and share > 0.60)
        )
    board.put("thrash", thrash)
    rest = settings.after_compaction
    settled = since is None or since >= rest.calls or (grown is not None and grown >= rest.growth)
    board.put("settled", settled)


def _cache(board: _Board, facts: Facts, idle: float | None) -> None:
    warm = facts.warmth
    board.put("cache_hit_ratio", facts.cache_hit_ratio)
    board.put("warm_hit_ratio", warm.reads / warm.prompts if warm.prompts else None)
    board.put("warm_calls", warm.calls)
    board.put("idle_s", None if idle is None else round(idle), "logged")
    how = "logged" if facts.ttl_logged else "assumed"
    life = facts.ttl_s if facts.cache_reported else None
    board.put("cache_ttl_s", life, how)
    age = idle / life if idle is not None and life and not facts.pending_reset else None
    board.put("cache_age", age, how)
    board.put("cache_expires_s", None if age is None or idle is None or life is None else round(life - idle), how)
    state = "unknown" if age is None else "cold" if age > 1 else "cooling" if age >= 0.8 else "warm"
    board.put("cache_state", state, how)


def _remaining(facts: Facts, state: Phase, settings: Settings) -> tuple[float, bool]:
    """Calls still to come and whether that is known: open todos x calls per finished todo, else an assumption."""
    todos = state.todos
    if todos is not None and todos[2] and not todos[0] + todos[1]:
        return 0.0, True
    if todos is not None and state.calls_per_todo is not None:
        return (todos[0] + todos[1]) * min(state.calls_per_todo, _CALLS_PER_TODO_MAX), True
    return float(settings.remaining_calls), False


def _economics(
    board: _Board,
    facts: Facts,
    used: int | None,
    state: Phase,
    now_ms: int,
    prices: PriceTable | None,
    settings: Settings,
) -> tuple[economics.Situation | None, tuple[str, ...]]:
    remaining, known = _remaining(facts, state, settings)
    board.put("remaining_calls", remaining, "estimated" if known else "assumed")
    board.put("remaining_known", known)
    price = None
    if prices is not None and facts.model:
        # the next calls are served as the last one was
        price = prices.lookup(facts.model, facts.provider, now_ms, facts.service_tier)
    growth = board.values["tokens_per_call"]
    if used is None:
        for id in ("break_even_calls", "optimal_size", "tier_step", "calls_to_tier", "return_needed"):
            board.put(id, None)
        return None, ()
    notes: list[str] = []
    prefix = settings.fixed_tokens
    if facts.opening is not None:
        prefix = min(facts.opening, settings.fixed_tokens_max)
    else:
        notes.append(f"fixed part {prefix:,} tokens")
    prefix = min(prefix, used)
    summary, kept = settings.summary_tokens, settings.keep_tokens
    after = facts.latest[-1].after if facts.latest else None
    if after is not None and after > prefix:
        # this session's own compaction is the best guess at the next one
        kept = max(0, after - prefix - summary)
    else:
        notes.append(f"summary {summary:,} and kept tail {kept:,} tokens")
    if growth is None:
        growth = settings.growth_tokens
        notes.append(f"growth {growth:,} tokens a call")
    warm = facts.warmth
    share = warm.found / warm.expected if warm.expected and warm.calls >= 3 else 1.0
    cold = board.values["cache_state"] == "cold"
    situation = economics.Situation(
        price=price,
        context=used,
        prefix=prefix,
        summary=summary,
        kept=kept,
        growth=max(float(growth), 1.0),
        instruction=settings.instruction_tokens,
        cache="cold" if cold else "warm",
        ttl="1h" if (facts.ttl_s or 0) >= 3600 and facts.ttl_logged else "5m",
        hit_share=min(1.0, share),
    )
    how = "estimated"
    if economics.assumed(situation):
        how = "assumed"
        notes.append("usual price ratios, as the model has no known price")
    if not known:
        notes.append(f"{remaining:.0f} calls still to come")
    even = economics.break_even_compact(situation)
    board.put("break_even_calls", None if even is None else round(max(0.0, even), 1), how)
    best = economics.optimal_size(situation, reread=settings.reread_tokens, extra_calls=settings.rework_calls)
    board.put("optimal_size", min(max(best, settings.optimal_min), settings.optimal_max), how)
    step = economics.next_tier(price, used)
    if step is not None and facts.usable_limit is not None and step.above >= facts.usable_limit:
        step = None  # the client compacts before
    board.put("tier_step", None if step is None else step.above, "price table")
    board.put("calls_to_tier", None if step is None else round(step.tokens_left / max(float(growth), 1.0), 1), how)
    needed = economics.return_threshold(situation)
    board.put("return_needed", None if needed is None else round(min(needed, 1.0), 3), how)
    return situation, tuple(notes)


def _tools(board: _Board, facts: Facts, used: int | None) -> None:
    """Tokens in old tool results, from their sizes in the log; a lower bound where only the latest steps are kept."""
    results: Sequence[Step] = [s for s in facts.steps if s.kind == "tool_result"][:-_KEEP_RESULTS]
    size = sum(step.size for step in results) / CHARS_PER_TOKEN
    # results before the last reset are gone already; without their times nothing can be said
    if not results or used is None or facts.compactions or facts.pending_reset or facts.trimmed:
        board.put("tool_tokens", None)
        board.put("tool_share", None)
        return
    size = min(size, float(used))
    board.put("tool_tokens", round(size), "lower bound")
    board.put("tool_share", round(size / used, 3) if used else None, "lower bound")


def cost_of(measured: Measured, calls: int, settings: Settings) -> Costs | None:
    """USD of ``calls`` more calls three ways; None where there is no context to speak of."""
    if measured.situation is None:
        return None
    window = economics.NewWindow(
        notes=settings.notes_tokens, reread=settings.reread_tokens, extra_calls=settings.rework_calls
    )
    found = economics.costs(measured.situation, calls, window=window)
    return Costs(
        continue_usd=found.go_on,
        compact_usd=found.compact,
        new_window_usd=found.new_window,
        calls=calls,
        assumed=measured.notes,
    )
