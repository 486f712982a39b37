"""The signals a decision may rest on: name, kind, unit and meaning. One list for code, tables, help and docs.

Numbers in brackets (S1 …) are those of the design's signal list. Kinds say how a value is compared and shown:
``share`` 0..1 shown as per cent, ``tokens``, ``calls``, ``count``, ``seconds``, ``score`` 0..1, ``bool``,
``word``, ``range`` (p10, p50, p90 of calls), ``text`` (for people, cannot be compared).
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Kind = Literal["share", "tokens", "calls", "count", "seconds", "score", "bool", "word", "range", "text"]


class Spec(msgspec.Struct, frozen=True, gc=False):
    """One signal: id, kind, words for people, and how it is obtained."""

    id: str
    kind: Kind
    title: str
    meaning: str


_LIST = (
    Spec("prompt_tokens", "tokens", "prompt", "prompt tokens of the last work call of the main chain"),
    Spec("used", "tokens", "used", "prompt plus output of that call: what the next prompt starts from (S2)"),
    Spec("context_limit", "tokens", "window", "the model's window"),
    Spec("usable_limit", "tokens", "usable limit", "where the client compacts by itself"),
    Spec("limit_known", "bool", "limit known", "the usable limit is known"),
    Spec("fill", "share", "fill", "used / usable limit (S1)"),
    Spec("room_next", "tokens", "room after the next call", "window - used - p90 of growth - room for a summary"),
    Spec("summary_fits", "bool", "a summary fits", "used + 2,000 + 8,000 tokens fit into the window"),
    Spec("overflow", "bool", "overflow", "the provider refused a prompt as too long since the last reset"),
    Spec("tokens_per_call", "tokens", "growth per call", "weighted mean of growth since the last reset (S3)"),
    Spec("next_delta_p90", "tokens", "growth of the next call, p90", "nine in ten calls grow by less (S3)"),
    Spec("deltas", "count", "growth samples", "calls with known growth since the last reset"),
    Spec("calls_to_limit", "range", "calls to the limit", "forecast to the usable limit (S4)"),
    Spec("calls_p10", "calls", "calls to the limit, p10", "one in ten sessions has fewer left (S4)"),
    Spec("calls_p50", "calls", "calls to the limit, median", "(S4)"),
    Spec("calls", "count", "calls", "work calls of the main chain"),
    Spec("pending_tool_call", "bool", "tool call waiting", "a tool call has no result yet, or an answer streams (S5)"),
    Spec("pending_calls", "count", "tool calls waiting", "how many (S5)"),
    Spec("boundary_score", "score", "boundary score", "how much it looks like the end of a phase (S6)"),
    Spec("boundary_reasons", "text", "because", "what went into the boundary score"),
    Spec("topic_change", "score", "topic change", "how much the last message opens another subject (S7)"),
    Spec("topic_depends", "bool", "depends on earlier work", "that message points back at what was there (S7)"),
    Spec("topic_reasons", "text", "because", "what went into the topic change"),
    Spec("compactions", "count", "compactions", "in the main chain so far (S8)"),
    Spec("calls_since_compaction", "calls", "calls since compaction", "work calls since the last one (S8)"),
    Spec("after_compaction", "share", "size after compaction", "first prompt after the last one / usable limit (S8)"),
    Spec("growth_since_compaction", "share", "growth since compaction", "of the usable limit (S8)"),
    Spec("thrash", "bool", "thrash", "3 compactions in 30 calls, 2 in 8, or one that left over 60 % (S8)"),
    Spec("settled", "bool", "settled", "no compaction a moment ago: 5 calls or 10 % growth since (S8)"),
    Spec("cache_hit_ratio", "share", "cache hit ratio", "reads / prompts over work calls with figures"),
    Spec("warm_hit_ratio", "share", "warm hit ratio", "same, last 10 calls that could have hit (S9)"),
    Spec("warm_calls", "count", "calls it rests on", "calls behind the warm hit ratio (S9)"),
    Spec("idle_s", "seconds", "idle", "since the start of the last request (S10)"),
    Spec("cache_ttl_s", "seconds", "cache life", "of an unused prefix (S10)"),
    Spec("cache_age", "share", "cache age", "idle / cache life (S10)"),
    Spec("cache_expires_s", "seconds", "cache expires in", "negative: it has expired (S10)"),
    Spec("cache_state", "word", "cache", "warm, cooling (from 80 % of its life), cold, unknown (S10)"),
    Spec("loop", "bool", "loop", "the same thing fails again and again, or is corrected again (S11)"),
    Spec("loop_count", "count", "repeats", "failures of one thing among the latest results (S11)"),
    Spec("loop_reason", "text", "because", "what repeats"),
    Spec("corrections", "count", "corrections", "by the user on one matter (S11)"),
    Spec("break_even_calls", "calls", "break-even", "calls until a compaction has paid for itself (S12)"),
    Spec("remaining_calls", "calls", "calls still to come", "open todos x calls per todo, else assumed (S13)"),
    Spec("remaining_known", "bool", "calls to come known", "from open todos, not assumed (S13)"),
    Spec("tool_share", "share", "old tool results", "tokens in results older than the last 3 / used (S14)"),
    Spec("tool_tokens", "tokens", "old tool results", "their size (S14)"),
    Spec("tier_step", "tokens", "next price step", "prompt size above which a request costs more (S15)"),
    Spec("calls_to_tier", "calls", "calls to the price step", "at the mean growth (S15)"),
    Spec("optimal_size", "tokens", "best size to compact", "cheapest in the long run, between 60k and 250k (S16)"),
    Spec("quality_soft", "tokens", "quality, soft cap", "above it answers tend to get worse (S17)"),
    Spec("quality_hard", "tokens", "quality, hard cap", "(S17)"),
    Spec("return_needed", "share", "return needed", "compacting before expiry pays if you return likelier than this"),
    Spec("threshold", "tokens", "your threshold", "--threshold; off for windows over 400,000 tokens"),
    Spec("task_complete", "bool", "task complete", "all todos are done, or the user said thanks"),
    Spec("todos_open", "count", "open todos", "waiting and in progress"),
    Spec("todos_done", "count", "done todos", ""),
    Spec("below_since", "count", "below since call", "when held advice first lay clearly below its thresholds"),
    Spec("quota_used", "share", "quota used", "of the subscription's allowance, as logged"),
)
SPECS: dict[str, Spec] = {spec.id: spec for spec in _LIST}
#: words a signal of kind ``word`` may have
WORDS: dict[str, tuple[str, ...]] = {"cache_state": ("warm", "cooling", "cold", "unknown")}
#: kinds that compare as numbers
NUMERIC = frozenset(("share", "tokens", "calls", "count", "seconds", "score"))


def shown(id: str, value: Any) -> str:
    """A value in words for people: ``86 %``, ``142,300``, ``12 (5–40)``, ``4 min``; ``–`` if unknown."""
    if value is None:
        return "–"
    kind = SPECS[id].kind if id in SPECS else "count"
    return shown_as(kind, value)


def shown_as(kind: Kind, value: Any) -> str:
    """See :func:`shown`."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if kind == "share":
        return f"{value * 100:.0f} %"
    if kind == "tokens":
        return f"{value:,.0f}"
    if kind == "range":
        return f"{amount(value['p50'])} ({amount(value['p10'])}–{amount(value['p90'])})"
    if kind in ("calls", "count"):
        return amount(value)
    if kind == "seconds":
        return duration(value)
    if kind == "score":
        return f"{value:.2f}"
    return str(value)


def amount(value: float) -> str:
    """A count: whole above ten, one decimal below."""
    return f"{value:,.0f}" if abs(value) >= 9.95 or float(value).is_integer() else f"{value:.1f}"


def duration(seconds: float) -> str:
    """``45 s``, ``12 min``, ``3 h``, ``2 d``; the sign is kept."""
    sign, size = ("-", -seconds) if seconds < 0 else ("", seconds)
    for limit, unit, word in ((120, 1, "s"), (7_200, 60, "min"), (172_800, 3_600, "h")):
        if size < limit:
            return f"{sign}{size / unit:.0f} {word}"
    return f"{sign}{size / 86_400:.0f} d"
