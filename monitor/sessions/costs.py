"""What a compaction cost and what it gave back (reference decision 2.2; units: tokens, USD).

Cost: the summarising call (logged, or estimated from the context it had to read) and the cold rewrite of the first call
after it. Gain: what the following calls did not have to read again, until the next reset. An estimate is marked.
"""

from __future__ import annotations

from collections.abc import Sequence

from monitor.pricing import PriceTable
from monitor.records import Event
from monitor.sessions.view import CompactionCost, Turn

#: tokens of a summary where the log does not tell (median of recorded ones: 3,000 to 5,000)
_SUMMARY = 4_000


def compaction_costs(
    turns: Sequence[Turn], compactions: Sequence[Event], prices: PriceTable | None
) -> tuple[CompactionCost, ...]:
    """The balance of every compaction of a session, in order of time."""
    if not compactions:
        return ()
    return tuple(_balance(turns, event, prices) for event in compactions)


def _balance(turns: Sequence[Turn], event: Event, prices: PriceTable | None) -> CompactionCost:
    after = event.before_call
    window = _window(turns, event)
    first = turns[after] if after is not None and after < len(turns) else None
    summary = _summary_call(turns, event)
    price = None
    if first is not None and prices is not None:
        price = prices.lookup(first.call.model, first.call.provider, first.call.time)
    estimated = summary is None
    if summary is not None:
        tokens, usd = summary.call.prompt_tokens, summary.cost_usd
    else:
        tokens, usd = event.tokens_before, None
        if price is not None and tokens is not None:
            # the summarising request repeats the live prefix: read from the cache, answered with the summary
            usd = price.cost(0, tokens, 0, 0, event.summary_tokens or _SUMMARY)
    rewrite = rewrite_usd = None
    if first is not None and first.call.prompt_tokens is not None and first.call.cache_read_tokens is not None:
        rewrite = first.call.prompt_tokens - first.call.cache_read_tokens
        if price is not None and price.cache_read is not None:
            rates = price.at(first.call.prompt_tokens)
            full = rates.cache_write_5m if first.call.cache_write_tokens else rates.input
            if full is not None and rates.cache_read is not None:
                rewrite_usd = rewrite * (full - rates.cache_read) / 1e6
    freed = None
    if event.tokens_before is not None and event.tokens_after is not None:
        freed = event.tokens_before - event.tokens_after
    calls = len(window)
    saved = freed * calls if freed is not None else None
    saved_usd = even = None
    verdict = "unknown"
    if price is not None and freed is not None and freed > 0 and price.cache_read is not None:
        each = freed * price.cache_read / 1e6
        saved_usd = each * calls
        if usd is not None and each > 0:
            spent = usd + (rewrite_usd or 0.0)
            even = -int(-spent // each)
            open_end = bool(window) and window[-1] is _last_of_chain(turns, event.chain)
            verdict = "paid back" if calls >= even else ("not yet" if open_end else "did not pay")
    return CompactionCost(
        event=event,
        summary_call_tokens=tokens,
        summary_call_usd=usd,
        summary_call_estimated=estimated,
        rewrite_tokens=rewrite,
        rewrite_usd=rewrite_usd,
        saved_tokens=saved,
        saved_usd=saved_usd,
        break_even_call=even,
        calls_after=calls,
        verdict=verdict,  # type: ignore[arg-type]
    )


def _window(turns: Sequence[Turn], event: Event) -> list[Turn]:
    """Work calls of the window that a compaction opened."""
    if event.before_call is None:
        return []
    opened = turns[event.before_call].window
    found = []
    for turn in turns[event.before_call :]:
        if turn.call.chain != event.chain or turn.call.purpose != "work" or turn.call.status == "error":
            continue
        if turn.window != opened:
            break
        found.append(turn)
    return found


def _last_of_chain(turns: Sequence[Turn], chain: str) -> Turn | None:
    for turn in reversed(turns):
        if turn.call.chain == chain and turn.call.purpose == "work" and turn.call.status != "error":
            return turn
    return None


def _summary_call(turns: Sequence[Turn], event: Event) -> Turn | None:
    """The logged call that wrote the summary: purpose compaction, between the calls around the event."""
    start = event.after_call + 1 if event.after_call is not None else 0
    end = event.before_call if event.before_call is not None else len(turns)
    for turn in turns[start:end]:
        if turn.call.purpose == "compaction":
            return turn
    return None
