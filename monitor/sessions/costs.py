"""What cache misses and compactions cost, and what a compaction gave back (reference decision 2.2; tokens, USD).

A compaction costs the summarising call (logged; a pass inside a call, as billed beside the context; else estimated from
the context it had to read) and the cold rewrite by the first call after it: what that call wrote or read fresh, above
the price of a cache read. It saves, on every call of the window it opens, the tokens that are no longer sent: at the
price of a cache read where the call found its prefix warm, at the price of a write or of plain input where it did not.
An estimate is marked.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from monitor.pricing import Price, PriceTable
from monitor.records import Call, Event
from monitor.sessions.view import CompactionCost, CostSource, Turn

#: tokens of a summary where the log does not tell (median of recorded ones: 3,000 to 5,000)
_SUMMARY = 4_000
#: clients whose summarising request repeats the live prefix, so that it is read from the cache (captured requests);
#: others send the history as text, at the price of plain input
_WARM = ("claude-code", "claude-code-otel")
_NEAR = 64  # calls behind a compaction, nothing of its chain followed, among which its summarising call is looked for
_COLD = ("expired", "model_switch", "prefix_changed", "unknown")

Verdict = Literal["paid back", "not yet", "did not pay", "unknown"]


def miss_cost(call: Call, expected: int | None, price: Price | None) -> float | None:
    """USD that the part not found in the cache cost above a cache read: what was written at the price of writes (of one
    hour, of five minutes), the rest at the price of plain input."""
    if expected is None or call.prompt_tokens is None or call.cache_read_tokens is None:
        return None
    missed = min(expected, call.prompt_tokens) - call.cache_read_tokens
    return _above_read(missed, call, price) if missed > 0 else None


def _above_read(tokens: int, call: Call, price: Price | None) -> float | None:
    """USD that ``tokens`` of a call's prompt, not read from the cache, cost more than a read of them."""
    if price is None:
        return None
    rates = price.at(call.prompt_tokens)
    if rates.cache_read is None or rates.input is None:
        return None
    written = min(tokens, call.cache_write_tokens or 0)
    hour = min(written, call.cache_write_1h_tokens or 0)
    total = (tokens - written) * rates.input
    for part, rate in ((written - hour, rates.cache_write_5m), (hour, rates.cache_write_1h)):
        total += part * (rates.input if rate is None else rate)
    return (total - tokens * rates.cache_read) / 1e6


def with_others(
    call: Call, cost: float | None, rough: bool, prices: PriceTable | None
) -> tuple[float | None, CostSource | None, bool]:
    """The cost of a call together with that of passes inside it which other models made, each at its own price."""
    for model, *figures in call.elsewhere or ():
        price = prices.lookup(model, call.provider, call.time, call.service_tier) if prices is not None else None
        usd = price.cost(*figures) if price is not None else None
        if cost is None or price is None or usd is None:
            return None, None, False
        cost, rough = cost + usd, rough or price.estimated
    return (None, None, False) if cost is None else (cost, "table", rough)


def compaction_costs(
    turns: Sequence[Turn], compactions: Sequence[Event], prices: PriceTable | None
) -> tuple[CompactionCost, ...]:
    """The balance of every compaction of a session, in order of time."""
    return tuple(_balance(turns, event, prices) for event in compactions)


class Ledger:
    """The balances of a session that grows: those of closed windows are made once."""

    def __init__(self) -> None:
        self._closed: dict[int, tuple[Event, CompactionCost]] = {}  # by identity of the event

    def balances(
        self, turns: Sequence[Turn], compactions: Sequence[Event], prices: PriceTable | None, settled: int
    ) -> tuple[CompactionCost, ...]:
        """As :func:`compaction_costs`.

        Args:
            settled: so many turns, and the events among them, are the same objects as last time.
        """
        found: list[CompactionCost] = []
        closed: dict[int, tuple[Event, CompactionCost]] = {}
        following: dict[str, int] = {}  # first turn of the next window, by chain
        active = {turn.call.chain for turn in turns[settled:]} if compactions else set()
        for event in reversed(compactions):
            end = following.get(event.chain)
            if end is None and event.chain not in active and event.before_call is not None:
                end = event.before_call  # nothing has been added to its window
            known = self._closed.get(id(event)) if end is not None and end < settled else None
            cost = known[1] if known is not None and known[0] is event else _balance(turns, event, prices)
            if end is not None and end < settled:
                closed[id(event)] = (event, cost)
            if event.before_call is not None:
                following[event.chain] = event.before_call
            found.append(cost)
        self._closed = closed
        return tuple(reversed(found))


def _balance(turns: Sequence[Turn], event: Event, prices: PriceTable | None) -> CompactionCost:
    at = event.before_call
    first = turns[at] if at is not None and at < len(turns) else None
    price = _price(first, prices) if first is not None else None
    tokens, usd, estimated = _summary(turns, event, first, price)
    rewrite = rewrite_usd = None
    if first is not None and first.call.prompt_tokens is not None and first.call.cache_read_tokens is not None:
        rewrite = first.call.prompt_tokens - first.call.cache_read_tokens
        rewrite_usd = _above_read(rewrite, first.call, price)
    freed = None
    if event.tokens_before is not None and event.tokens_after is not None:
        freed = event.tokens_before - event.tokens_after
    window = _window(turns, event)
    saved_usd, even, verdict = _return(turns, event, window, freed, usd, rewrite_usd, prices)
    return CompactionCost(
        event=event,
        summary_call_tokens=tokens,
        summary_call_usd=usd,
        summary_call_estimated=estimated,
        rewrite_tokens=rewrite,
        rewrite_usd=rewrite_usd,
        saved_tokens=freed * len(window) if freed is not None else None,
        saved_usd=saved_usd,
        break_even_call=even,
        calls_after=len(window),
        verdict=verdict,
    )


def _summary(
    turns: Sequence[Turn], event: Event, first: Turn | None, price: Price | None
) -> tuple[int | None, float | None, bool]:
    """Input tokens and USD of the summarising request, and whether they are an estimate."""
    logged = _summary_call(turns, event)
    if logged is not None:
        return logged.call.prompt_tokens, logged.cost_usd, False
    if event.in_call and first is not None and first.call.key == event.in_call:
        call = first.call
        if call.billed is not None and call.billed_prompt_tokens is not None and call.prompt_tokens is not None:
            # one pass of several inside the call: what was billed beyond the context itself
            beside = call.billed_prompt_tokens - call.prompt_tokens
            usd = None
            if price is not None:
                whole = price.cost_of(call.billed)
                own = price.cost(call.fresh_tokens, call.cache_read_tokens, call.cache_write_tokens,
                                 call.cache_write_1h_tokens, call.output_tokens)  # fmt: skip
                usd = whole - own if whole is not None and own is not None else None
            return beside, usd, event.recorded_before is not None and beside != event.recorded_before
    tokens = event.tokens_before
    if price is None or tokens is None:
        return tokens, None, True
    output = event.summary_tokens
    before = turns[event.after_call].call if event.after_call is not None else None
    warm = before is not None and before.source in _WARM
    if output is None and warm:
        output = event.recorded_after  # what this client states is the summary alone
    output = output or _SUMMARY
    usd = price.cost(0, tokens, 0, 0, output) if warm else price.cost(tokens, 0, 0, 0, output)
    return tokens, usd, True


def _return(
    turns: Sequence[Turn],
    event: Event,
    window: Sequence[Turn],
    freed: int | None,
    usd: float | None,
    rewrite_usd: float | None,
    prices: PriceTable | None,
) -> tuple[float | None, int | None, Verdict]:
    """USD saved so far, the call of the window at which savings exceed the cost, and the verdict."""
    if freed is None:
        return None, None, "unknown"
    if freed <= 0:
        return None, None, "did not pay"
    spent = usd + (rewrite_usd or 0.0) if usd is not None else None
    saved = 0.0
    even: int | None = None
    for number, turn in enumerate(window, 1):
        gain = _gain(turn, freed, _price(turn, prices), first=number == 1)
        if gain is None:
            return None, None, "unknown"
        saved += gain
        if even is None and spent is not None and saved >= spent:
            even = number
    if spent is None or not window:
        return (saved if window else None), None, "unknown"
    if even is None and (each := _gain(window[-1], freed, _price(window[-1], prices), first=True)):
        even = len(window) + math.ceil((spent - saved) / each - 1e-9)  # if it goes on warm
    if saved >= spent:
        return saved, even, "paid back"
    last = _last_of_chain(turns, event.chain)
    open_end = last is not None and window[-1].index == last.index
    return saved, even, "not yet" if open_end else "did not pay"


def _gain(turn: Turn, freed: int, price: Price | None, first: bool) -> float | None:
    """USD that a call would have cost more with the freed tokens in its prompt.

    Args:
        first: the first call after the compaction, whose own miss says nothing of a context that was not compacted.
    """
    call = turn.call
    if price is None or call.prompt_tokens is None:
        return None
    read, write, hour = call.cache_read_tokens, call.cache_write_tokens, call.cache_write_1h_tokens
    cold = not first and turn.cache_outcome == "miss" and turn.cache_miss_cause in _COLD
    one_price = not price.tiers or call.prompt_tokens + freed <= price.tiers[0].above
    if one_price and not cold and read is not None and price.cache_read is not None:
        return freed * price.cache_read / 1e6
    fresh, output = call.fresh_tokens, call.output_tokens or 0
    now = price.cost(fresh, read, write, hour, output)
    if read is None or (cold and not write):
        fresh = None if fresh is None else fresh + freed
    elif cold:
        write = (write or 0) + freed
        hour = hour + freed if hour else hour
    else:
        read += freed
    then = price.cost(fresh, read, write, hour, output)
    return then - now if then is not None and now is not None else None


def _price(turn: Turn, prices: PriceTable | None) -> Price | None:
    call = turn.call
    if prices is None:
        return None
    return prices.lookup(call.model, call.provider, call.time, call.service_tier)


def _window(turns: Sequence[Turn], event: Event) -> list[Turn]:
    """Work calls of the window that a compaction opened."""
    if event.before_call is None:
        return []
    opened = turns[event.before_call].window
    found = []
    for place in range(event.before_call, len(turns)):
        turn = turns[place]
        if turn.call.chain != event.chain or turn.call.purpose != "work":
            continue
        if turn.window != opened:
            break
        if turn.call.answered:
            found.append(turn)
    return found


def _last_of_chain(turns: Sequence[Turn], chain: str) -> Turn | None:
    for turn in reversed(turns):
        call = turn.call
        if call.chain == chain and call.works:
            return turn
    return None


def _summary_call(turns: Sequence[Turn], event: Event) -> Turn | None:
    """The logged call that wrote the summary: purpose compaction, between the calls around the event.

    Of several (a subagent may have been compacted meanwhile) the last one that began before the event was written.
    """
    start = event.after_call + 1 if event.after_call is not None else 0
    end = event.before_call if event.before_call is not None else start + _NEAR
    found = [turn for turn in turns[start:end] if turn.call.purpose == "compaction"]
    if len(found) > 1 and event.time is not None:
        found = [t for t in found if t.call.time is None or t.call.time <= event.time][-1:] or found
    return found[0] if found else None
