"""Compare the figures of two price lists, for ``update_prices.py``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
import price_sources as src

from monitor.pricing import data as shape

FIELDS = ("input", "output", "cache_read", "cache_write_5m", "cache_write_1h")


def replace(p: shape.Period, **changes: Any) -> shape.Period:
    return msgspec.structs.replace(p, **changes)


def full(rates: list[float]) -> shape.Rates:
    """Rates of a rule, which leaves out the write prices where there are none."""
    return tuple((*rates, None, None, None)[:5])  # type: ignore[return-value]


def differences(a: shape.Period, b: shape.Period) -> Iterable[str]:
    """Figures that both periods state and that differ, base and tiers."""
    for name, x, y in zip(FIELDS, a.rates, b.rates):
        if x is not None and y is not None and abs(x - y) > 1e-6 * max(x, y, 1e-3):
            yield f"{name} {x:g} against {y:g}"
    if not a.tiers and not b.tiers:
        return
    if [t[0] for t in a.tiers] != [t[0] for t in b.tiers] and not near_steps(a, b):
        yield f"tiers above {[t[0] for t in a.tiers]} against {[t[0] for t in b.tiers]}"
        return
    for s, t in zip(a.tiers, b.tiers):
        for name, x, y in zip(FIELDS, s[1:], t[1:]):
            if x is not None and y is not None and abs(x - y) > 1e-6 * max(x, y, 1e-3):
                yield f"{name} above {s[0]}: {x:g} against {y:g}"


def near_steps(a: shape.Period, b: shape.Period) -> bool:
    """One list writes "above 199,999" where the other writes "above 200,000": the former is the exact rule."""
    return len(a.tiers) == len(b.tiers) and all(abs(s[0] - t[0]) <= 1 for s, t in zip(a.tiers, b.tiers))


def fill(ours: src.Listed, theirs: shape.Period) -> None:
    """Take today's figures that only LiteLLM states."""
    last = ours.periods[-1]
    rates = tuple(x if x is not None else y for x, y in zip(last.rates, theirs.rates))
    tiers = last.tiers
    if tiers and len(tiers) == len(theirs.tiers):
        tiers = tuple(
            (s[0], *(x if x is not None else y for x, y in zip(s[1:], t[1:]))) for s, t in zip(tiers, theirs.tiers)
        )
    ours.periods[-1] = replace(last, rates=rates, tiers=tiers)
