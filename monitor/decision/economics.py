"""What going on, compacting, a new window and trimming cost, and after how many calls a change pays back.

Closed forms over tokens and prices; pure, no clock, nothing read. Symbols as in the decision notes, section 2:
``C0`` context now, ``F`` fixed prefix (system, tools, project; survives a compaction), ``S`` summary, ``K`` kept tail,
``C1 = F + S + K``, ``d`` new tokens a call, ``q`` summary instruction, ``o`` output a call, ``rho``/``omega``/``phi``
cache read, cache write and output in units of the input price. Every request is billed at the tier of its own size.

Money is USD, or None where the price is unknown. Break-evens need ratios only: for an unknown price they use the
usual ones (rho 0.1, omega 1.25 or 2, phi 5) and :func:`assumed` says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Literal

import msgspec

from monitor.pricing.model import Price, Tier

Summary = Literal["cached", "flattened"]
"""How the summary call sends the history: over the live prefix (``cached``) or as plain text of its own."""

_HORIZON = 1 << 14  # calls looked ahead where tiers leave no closed form


class Situation(msgspec.Struct, frozen=True, kw_only=True):
    """Where a context stands. Tokens, but for ``price`` and the states of the cache.

    ``hit_share``: measured share of the prefix that is read from the cache at all (1: always); the rest is written
    again. ``ttl``: life time the client asks for, which decides the price of a write. Defaults are those of the notes
    where nothing better is known.
    """

    price: Price | None
    context: int
    prefix: int = 20_000
    summary: int = 4_000
    kept: int = 10_000
    growth: float = 1_700.0
    instruction: int = 1_000
    output: float = 300.0
    cache: Literal["warm", "cold"] = "warm"
    ttl: Literal["5m", "1h"] = "5m"
    hit_share: float = 1.0

    @property
    def compacted(self) -> int:
        """C1: size right after a compaction."""
        return self.prefix + self.summary + self.kept


class NewWindow(msgspec.Struct, frozen=True, kw_only=True):
    """A fresh window opened with notes: their size, what is read again, over how many extra calls.

    ``by_agent``: the agent writes the notes as its last call here; else the user does, free of charge.
    ``prefix_warm``: system prompt and tools are still cached from the old window.
    """

    notes: int = 2_000
    reread: int = 15_000
    extra_calls: int = 4
    by_agent: bool = True
    prefix_warm: bool = True


class Costs(msgspec.Struct, frozen=True, kw_only=True):
    """USD of the ways to make the same number of calls. None: the price is unknown."""

    go_on: float | None
    compact: float | None
    new_window: float | None


class ReturnCosts(msgspec.Struct, frozen=True, kw_only=True):
    """USD of coming back once after a break, by what was done about the cache."""

    still_warm: float
    cold: float
    compacted_before: float
    compacted_after_cached: float
    compacted_after_flattened: float
    new_window: float


class NextTier(msgspec.Struct, frozen=True):
    """The next price step: prompts above it cost ``input_factor`` and ``output_factor`` times as much, as a whole."""

    above: int
    tokens_left: int
    input_factor: float
    output_factor: float


class _Step(msgspec.Struct, frozen=True, gc=False):
    """Prices per token above a prompt size."""

    above: int
    fresh: float
    read: float
    write: float
    output: float


# -- prices ----------------------------------------------------------------------------------------------------
def assumed(s: Situation) -> bool:
    """True if the ratios are the usual ones because the price is not known."""
    return s.price is None or s.price.input is None or s.price.output is None


@lru_cache(maxsize=256)
def _steps(price: Price | None, ttl: str) -> tuple[_Step, ...]:
    """Per-token prices, ascending by size. A list without a cache price bills such tokens as input."""
    if price is None or price.input is None or price.output is None:
        return (_Step(0, 1.0, 0.1, 2.0 if ttl == "1h" else 1.25, 5.0),)
    out = []
    rates: list[tuple[int, Price | Tier]] = [(0, price), *((t.above, t) for t in price.tiers)]
    for above, r in rates:
        fresh = price.input if r.input is None else r.input
        short = fresh if r.cache_write_5m is None else r.cache_write_5m
        long = short if r.cache_write_1h is None else r.cache_write_1h
        out.append(
            _Step(
                above,
                fresh / 1e6,
                (fresh if r.cache_read is None else r.cache_read) / 1e6,
                (long if ttl == "1h" else short) / 1e6,
                (price.output if r.output is None else r.output) / 1e6,
            )
        )
    return tuple(out)


def _at(s: Situation, prompt: float) -> _Step:
    steps = _steps(s.price, s.ttl)
    for step in reversed(steps):
        if prompt > step.above:
            return step
    return steps[0]


def effective_read(s: Situation, step: _Step) -> float:
    """Price of a prefix token when only ``hit_share`` of it is found: rho_eff = h rho + (1 - h) omega."""
    return s.hit_share * step.read + (1.0 - s.hit_share) * step.write


def next_tier(price: Price | None, prompt: int) -> NextTier | None:
    """The step that a growing prompt meets next; None if there is none or the price is unknown."""
    if price is None or price.input is None or price.output is None:
        return None
    steps = _steps(price, "5m")
    here = next(st for st in reversed(steps) if prompt > st.above or st.above == 0)
    for st in steps:
        if st.above >= prompt and st.above > here.above and here.fresh and here.output:
            return NextTier(st.above, st.above - prompt, st.fresh / here.fresh, st.output / here.output)
    return None


# -- runs of calls ---------------------------------------------------------------------------------------------
def _run(s: Situation, start: float, calls: int, rewritten: float) -> float:
    """Price of ``calls`` calls on a context of ``start`` tokens: each reads what is there and writes ``growth`` more.

    ``rewritten`` tokens of the start are written by the first call instead of read.
    """
    if calls <= 0:
        return 0.0
    d, total, done = s.growth, 0.0, 0
    steps = _steps(s.price, s.ttl)
    for i, step in enumerate(steps):
        last = i + 1 == len(steps)
        # call number n (from 1) has a prompt of start + n d: those up to the next step are billed here
        until = calls if last else min(calls, _calls_below(start, d, steps[i + 1].above, calls))
        n = until - done
        if n <= 0:
            continue
        read = effective_read(s, step)
        old = n * start + d * (until * (until - 1) - done * (done - 1)) / 2
        total += read * old + n * (step.write * d + step.output * s.output)
        if done == 0:
            total += (step.write - read) * rewritten
        done = until
    return total


def _calls_below(start: float, growth: float, limit: int, calls: int) -> int:
    if start + growth > limit:
        return 0
    return calls if growth <= 0 else math.floor((limit - start) / growth)


def _go_on(s: Situation, calls: int) -> float:
    return _run(s, s.context, calls, s.context if s.cache == "cold" else 0)


def _summary_call(s: Situation, how: Summary) -> float:
    """The request that writes the summary."""
    if how == "cached":
        step = _at(s, s.context + s.instruction)
        history = s.context * (step.write if s.cache == "cold" else effective_read(s, step))
    else:
        step = _at(s, s.context - s.prefix + s.instruction)
        history = (s.context - s.prefix) * step.fresh
    return history + s.instruction * step.fresh + s.summary * step.output


def _compact(s: Situation, calls: int, how: Summary) -> float:
    # a cached summary call warms the prefix again; a flattened one leaves it as cold as it was
    prefix = s.prefix if s.cache == "cold" and how == "flattened" else 0
    return _summary_call(s, how) + _run(s, s.compacted, calls, s.summary + s.kept + prefix)


def _open(s: Situation, w: NewWindow) -> float:
    """Everything before the first useful call of a new window."""
    total = 0.0
    if w.by_agent:
        step = _at(s, s.context)
        total += s.context * (step.write if s.cache == "cold" else effective_read(s, step)) + w.notes * step.output
    size = float(s.prefix + w.notes)
    part = w.reread / w.extra_calls if w.extra_calls > 0 else 0.0
    for i in range(w.extra_calls):
        step = _at(s, size + part)
        read = effective_read(s, step)
        total += read * size + step.write * part + step.output * s.output
        if i == 0:
            total += (step.write - read) * (w.notes + (0 if w.prefix_warm else s.prefix))
        size += part
    return total


def _new_window(s: Situation, calls: int, w: NewWindow) -> float:
    fresh = 0.0
    if w.extra_calls <= 0:  # notes and re-read text come with the first useful call
        fresh = w.notes + w.reread + (0 if w.prefix_warm else s.prefix)
    return _open(s, w) + _run(s, s.prefix + w.notes + w.reread, calls, fresh)


def _trim(s: Situation, calls: int, dropped: int, after: int) -> float:
    left = s.context - dropped
    return _run(s, left, calls, left if s.cache == "cold" else min(after, left))


# -- money -----------------------------------------------------------------------------------------------------
def continue_cost(s: Situation, calls: int) -> float | None:
    """USD of ``calls`` more calls on the context as it is."""
    return None if assumed(s) else _go_on(s, calls)


def summary_cost(s: Situation, how: Summary = "cached") -> float | None:
    """USD of the summary call alone. With another model's price and ``flattened``: what a cheaper one would ask."""
    return None if assumed(s) else _summary_call(s, how)


def compact_cost(s: Situation, calls: int, how: Summary = "cached") -> float | None:
    """USD of compacting now and making ``calls`` calls on what is left."""
    return None if assumed(s) else _compact(s, calls, how)


def new_window_cost(s: Situation, calls: int, window: NewWindow | None = None) -> float | None:
    """USD of opening a new window with notes and making ``calls`` useful calls in it."""
    return None if assumed(s) else _new_window(s, calls, window or NewWindow())


def trim_cost(s: Situation, calls: int, dropped: int, after: int) -> float | None:
    """USD of dropping ``dropped`` tokens with ``after`` tokens behind them, and ``calls`` calls then."""
    return None if assumed(s) else _trim(s, calls, dropped, after)


def costs(s: Situation, calls: int, how: Summary = "cached", window: NewWindow | None = None) -> Costs:
    """The three ways side by side, for the same ``calls`` useful calls."""
    return Costs(
        go_on=continue_cost(s, calls),
        compact=compact_cost(s, calls, how),
        new_window=new_window_cost(s, calls, window),
    )


# -- break-even ------------------------------------------------------------------------------------------------
def break_even_compact(s: Situation, how: Summary = "cached") -> float | None:
    """Calls after which a compaction has paid back; below 0: at once. None: never (it would not shrink enough)."""
    # k* = [sigma C0 + q + phi S + (omega - rho)(S + K)] / [rho (C0 - C1)]; growth and output cancel
    return _pays_back(s, s.context - s.compacted, lambda k: _compact(s, k, how) - _go_on(s, k))


def break_even_new_window(s: Situation, window: NewWindow | None = None) -> float | None:
    """Calls after which a new window with notes has paid back; below 0: at once. None: never."""
    w = window or NewWindow()
    saved = s.context - (s.prefix + w.notes + w.reread)
    return _pays_back(s, saved, lambda k: _new_window(s, k, w) - _go_on(s, k))


def break_even_trim(s: Situation, dropped: int, after: int) -> float | None:
    """Calls after which dropping tool results has paid back: (omega - rho) t / (rho x) while warm."""
    return _pays_back(s, dropped, lambda k: _trim(s, k, dropped, after) - _go_on(s, k))


def _pays_back(s: Situation, saved: float, extra: Callable[[int], float]) -> float | None:
    """Where the extra cost of a change, over k calls and against going on, meets zero."""
    if saved <= 0:
        return None
    first = extra(1)
    gain = first - extra(2)  # what every further call saves, as long as no price step is met
    even = 1.0 + first / gain if gain > 0 else None
    if _at(s, s.context + max(s.instruction, s.growth * max(2.0, even or 2.0))).above == 0:
        return even
    if first <= 0:
        return min(1.0, even or 1.0)
    low, high = 1, 2
    while extra(high) > 0:  # it falls with every call: a larger prompt is never cheaper, at any step
        low, high = high, high * 2
        if high > _HORIZON:
            return None
    while high - low > 1:
        mid = (low + high) // 2
        low, high = (mid, high) if extra(mid) > 0 else (low, mid)
    above, below = extra(low), extra(high)
    return low + above / (above - below)


# -- size and time ---------------------------------------------------------------------------------------------
def optimal_size(s: Situation, how: Summary = "cached", reread: int = 0, extra_calls: int = 0) -> int:
    """T*: the size at which to compact if work goes on for long, in tokens.

    T* = C1 + sqrt(2 d (sigma C1 + X) / rho), the shape of the best order size of a stock; X holds everything a
    compaction costs besides reading the history, with ``reread`` tokens over ``extra_calls`` calls to find the way
    again. Where a price step lies below it, staying under the step is chosen if that is cheaper on average.
    """
    steps = _steps(s.price, s.ttl)
    c1 = float(s.compacted + reread)
    best = _ideal(s, steps[0], how, reread, extra_calls)
    options = {best} | {st.above for st in steps[1:] if c1 + s.growth < st.above < best}
    options |= {size for st in steps[1:] if (size := _ideal(s, st, how, reread, extra_calls)) > st.above}
    if len(options) == 1:
        return round(best)
    return round(min(options, key=lambda t: mean_cost(s, t, how, reread, extra_calls)))


def _ideal(s: Situation, step: _Step, how: Summary, reread: int, extra: int) -> float:
    c1 = float(s.compacted + reread)
    rho = effective_read(s, step)
    if rho <= 0 or s.growth <= 0:
        return c1
    fixed, sigma = _per_compaction(s, step, how, reread, extra)
    return c1 + math.sqrt(2.0 * s.growth * max(0.0, sigma * c1 + fixed) / rho)


def _per_compaction(s: Situation, step: _Step, how: Summary, reread: int, extra: int) -> tuple[float, float]:
    """(X, sigma): cost of one compaction besides the history, and per token of history."""
    rho = effective_read(s, step)
    fixed = s.instruction * step.fresh + s.summary * step.output + (step.write - rho) * (s.summary + s.kept)
    fixed += reread * step.write + extra * (rho * (s.compacted + reread / 2) + step.output * s.output)
    if how == "cached":
        return fixed, rho
    return fixed - s.prefix * step.fresh, step.fresh


def mean_cost(s: Situation, size: float, how: Summary = "cached", reread: int = 0, extra_calls: int = 0) -> float:
    """Average price of a call in the long run if each window is compacted at ``size``; for comparing sizes.

    USD, or units of the input price where the price is unknown. Includes what every way pays (growth, output).
    """
    c1 = float(s.compacted + reread)
    calls = max(1, math.floor((size - c1) / s.growth)) if s.growth > 0 else 1
    step = _at(s, size)
    fixed, sigma = _per_compaction(s, step, how, reread, extra_calls)
    return (_run(s, c1, calls, 0.0) + sigma * size + fixed) / calls


def return_threshold(s: Situation, how: Summary = "cached") -> float | None:
    """Probability of coming back (a rewrite of C0, or of C1 only) above which to compact before the cache expires."""
    saved = _at(s, s.context).write * s.context - _at(s, s.compacted).write * s.compacted
    if s.context <= s.compacted or saved <= 0:
        return None
    warm = msgspec.structs.replace(s, cache="warm")
    return _summary_call(warm, how) / saved


def return_costs(s: Situation, notes: int = 2_000, reread: int = 15_000) -> ReturnCosts | None:
    """USD of the next request after a break, without its own growth and output. None: the price is unknown."""
    if assumed(s):
        return None
    warm = msgspec.structs.replace(s, cache="warm")
    cold = msgspec.structs.replace(s, cache="cold")
    here, small = _at(s, s.context), _at(s, s.compacted)
    rewarmed = effective_read(s, small) * s.prefix + small.write * (s.summary + s.kept)
    opened = s.prefix + notes + reread
    return ReturnCosts(
        still_warm=effective_read(s, here) * s.context,
        cold=here.write * s.context,
        compacted_before=_summary_call(warm, "cached") + small.write * s.compacted,
        compacted_after_cached=_summary_call(cold, "cached") + rewarmed,
        compacted_after_flattened=_summary_call(cold, "flattened") + small.write * s.compacted,
        new_window=_at(s, opened).write * opened,
    )
