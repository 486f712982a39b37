"""Calls left until a limit: growth since the last reset, told as a range.

The growth of an agent's context is heavy-tailed: a few calls make most of it, so the median promises about twice too
many calls. An exponentially weighted mean of the deltas since the last reset is unbiased; the range around it is
empirical (reference decision 6: factors by how full the context is).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from monitor.records import Call
from monitor.sessions.view import Basis, Forecast, Range, Turn

ALPHA = 0.15
MIN_DELTAS = 8
_RECENT = 64  # calls that tell how large the next delta may be
#: (fill, p10, p50, p90): what calls left turned out to be, as a multiple of (limit - used) / mean
Factors = tuple[tuple[float, float, float, float], ...]
FACTORS: Factors = ((0.5, 0.32, 0.98, 3.2), (0.7, 0.42, 1.06, 3.1), (0.85, 0.48, 1.00, 3.5), (9.9, 0.54, 1.10, 3.7))


def weighted(mean: float | None, delta: float) -> float:
    """The weighted mean growth after one more delta; None before the first one."""
    return float(delta) if mean is None else mean + ALPHA * (delta - mean)


def context_after(call: Call) -> int | None:
    """Tokens in the context after a call: its prompt and its answer."""
    return None if call.prompt_tokens is None else call.prompt_tokens + (call.output_tokens or 0)


def recent_growth(turns: Iterable[Turn], window: int) -> tuple[list[int], float | None]:
    """Of the latest work calls of main: what the context grew by in a window, and the middle of the seconds between.

    Args:
        turns: the latest first.
    """
    deltas: list[int] = []
    gaps: list[int] = []
    later: int | None = None
    seen = 0
    for turn in turns:
        call = turn.call
        if call.chain != "main" or call.purpose != "work":
            continue
        seen += 1
        if seen > _RECENT:
            break
        delta, time = turn.delta, call.time
        if delta is not None and turn.window == window:
            deltas.append(delta)
        if later is not None and time is not None and later >= time:
            gaps.append(later - time)
        later = time
    return deltas, _middle(gaps) / 1000 if gaps else None


def _middle(values: list[int]) -> float:
    """The median (the module for it takes 3 ms to load)."""
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def forecast(
    *,
    used: int | None,
    usable: int | None,
    window: int | None,
    mean_delta: float | None,
    deltas: int,
    recent: Sequence[int],
    calls_per_exchange: float | None = None,
    seconds_per_call: float | None = None,
    factors: Factors = FACTORS,
) -> Forecast | None:
    """The forecast of a chain.

    Args:
        used: prompt plus output of the last work call, in tokens.
        usable, window: limits in tokens.
        mean_delta: weighted mean growth in tokens per call since the last reset.
        deltas: how many deltas it rests on; fewer than 8 give no ranges.
        recent: the latest deltas, for the size of the next one.
    """
    if used is None:
        return None
    if deltas < MIN_DELTAS or mean_delta is None:
        return Forecast(calls_to_limit=None, calls_to_window=None, tokens_per_call=None, deltas=deltas)
    ordered = sorted(recent)
    basis = Basis(used, usable, window, mean_delta, calls_per_exchange, seconds_per_call)
    told = Forecast(
        calls_to_limit=None,
        calls_to_window=None,
        tokens_per_call=round(mean_delta, 1),
        next_delta_p90=float(ordered[min(len(ordered) - 1, int(len(ordered) * 0.9))]) if ordered else None,
        deltas=deltas,
        basis=basis,
    )
    return with_factors(told, factors)


def with_factors(told: Forecast, factors: Factors, contexts: int | None = None) -> Forecast:
    """The same forecast with ranges by other factors.

    Args:
        contexts: how many contexts of the user's own history the factors are from; None: they are the built-in ones.
    """
    basis = told.basis
    if basis is None:
        return told
    to_limit = _range(basis.used, basis.usable, basis.mean, factors)
    per_exchange = basis.calls_per_exchange
    return msgspec.structs.replace(
        told,
        calls_to_limit=to_limit,
        calls_to_window=_range(basis.used, basis.window, basis.mean, factors),
        exchanges_to_limit=_scaled(to_limit, 1 / per_exchange if per_exchange else None),
        seconds_to_limit=_scaled(to_limit, basis.seconds_per_call),
        own_contexts=contexts,
    )


def _range(used: int, limit: int | None, mean: float, factors: Factors) -> Range | None:
    if limit is None or limit <= 0 or mean <= 0:
        return None
    left = (limit - used) / mean
    if left <= 0:
        return Range(0.0, 0.0, 0.0)
    fill = used / limit
    _, low, middle, high = next(row for row in factors if fill < row[0])
    return Range(round(left * low, 1), round(left * middle, 1), round(left * high, 1))


def _scaled(calls: Range | None, by: float | None) -> Range | None:
    if calls is None or by is None:
        return None
    return Range(round(calls.p10 * by, 1), round(calls.p50 * by, 1), round(calls.p90 * by, 1))
