"""What a user's own past suggests: sums over a backtest, and thresholds that would have been cheapest.

Everything here is told, nothing is applied. Sums of money are over sessions in which every call has a price.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from monitor.decision.backtest import Replay, Tested, at_tokens, backtest
from monitor.decision.simulate import Assumptions, Point
from monitor.pricing import PriceTable
from monitor.sessions.refit import MIN_SEGMENTS, quantile
from monitor.sessions.refit import growth as growth_of
from monitor.sessions.view import SessionView

#: sizes that are tried out as thresholds, in tokens
SIZES = (60_000, 80_000, 100_000, 120_000, 150_000, 200_000, 250_000)
#: thresholds whose cost lies this close to the cheapest one are as good
_AS_GOOD = 0.02


class PolicySum(msgspec.Struct, frozen=True, kw_only=True):
    """One policy over all sessions. Costs in USD, None if no session is priced.

    ``*_low``/``*_high``: under kinder and harsher assumptions. Differences are against what really happened.
    """

    policy: str
    sessions: int
    priced_sessions: int
    actions: dict[str, int]  # carried out
    said: dict[str, int]  # work calls after which each action was advised
    forced: int
    prompt_tokens: int
    cost_usd: float | None
    cost_low: float | None
    cost_high: float | None
    calls_over_90_percent: int
    leads: tuple[int, ...]
    compactions: int  # real ones, of which ``leads`` were foreseen
    prompt_difference: int
    cost_difference: float | None
    sessions_cheaper: int


class Threshold(msgspec.Struct, frozen=True, kw_only=True):
    """A size tried out as threshold: difference in USD against what happened, and its range."""

    tokens: int
    cost_difference: float
    low: float
    high: float


class Suggestions(msgspec.Struct, frozen=True, kw_only=True):
    """What the history shows. None or empty: too little of it."""

    sessions: int
    calls: int
    growth_mean: float | None  # tokens per call
    growth_median: float | None
    calls_per_session: float | None  # median
    calls_between_compactions: float | None  # median
    fill_at_compaction: float | None  # median share of the usable limit
    size_after_compaction: int | None  # median tokens
    thresholds: tuple[Threshold, ...]
    best: int | None  # tokens
    as_good: tuple[int, int] | None  # smallest and largest size about as cheap
    forecast_windows: int
    forecast_factors: tuple[float, float, float] | None  # real / forecast calls: p10, p50, p90


def actual_sum(tested: Sequence[Tested]) -> PolicySum:
    """What really happened, in the same shape."""
    paid = [t.paid for t in tested if _priced(t)]
    cost = math.fsum(p for p in paid if p is not None) if paid else None
    real = sum(t.compactions for t in tested)
    return PolicySum(
        policy="actual",
        sessions=len(tested),
        priced_sessions=len(paid),
        actions={"compact_now": real} if real else {},
        said={},
        forced=0,
        prompt_tokens=sum(t.prompt_tokens for t in tested),
        cost_usd=cost,
        cost_low=None,
        cost_high=None,
        calls_over_90_percent=sum(t.actual.over_90 for t in tested),
        leads=(),
        compactions=real,
        prompt_difference=0,
        cost_difference=0.0 if cost is not None else None,
        sessions_cheaper=0,
    )


_NAMES = {"compact": "compact_now", "window": "notes_new_window", "trim": "trim", "forced": "forced"}


def policy_sums(tested: Sequence[Tested]) -> list[PolicySum]:
    """Each policy summed over all sessions, in the order they were given."""
    if not tested:
        return []
    base = actual_sum(tested)
    return [_sum(tested, place, base) for place in range(len(tested[0].replays))]


def _sum(tested: Sequence[Tested], place: int, base: PolicySum) -> PolicySum:
    replays = [t.replays[place] for t in tested]
    deeds = Counter(_NAMES[deed] for r in replays for _, deed in r.outcome.deeds)
    said: Counter[str] = Counter()
    for r in replays:
        said.update(r.said)
    forced = deeds.pop("forced", 0)
    differences = [d for t, r in zip(tested, replays) if (d := difference(t, r)) is not None]
    mid = math.fsum(d[1] for d in differences) if differences else None
    tokens = sum(r.outcome.prompt_tokens - t.actual.prompt_tokens for t, r in zip(tested, replays))
    cost = base.cost_usd

    def total(k: int) -> float | None:
        return None if cost is None or not differences else cost + math.fsum(d[k] for d in differences)

    return PolicySum(
        policy=replays[0].policy,
        sessions=len(tested),
        priced_sessions=len(differences),
        actions=dict(deeds),
        said=dict(said),
        forced=forced,
        prompt_tokens=base.prompt_tokens + tokens,
        cost_usd=total(1),
        cost_low=total(0),
        cost_high=total(2),
        calls_over_90_percent=sum(r.outcome.over_90 for r in replays),
        leads=tuple(lead for r in replays for lead in r.leads),
        compactions=base.compactions,
        prompt_difference=tokens,
        cost_difference=mid,
        sessions_cheaper=sum(d[1] < -1e-9 for d in differences),
    )


def _priced(t: Tested) -> bool:
    return t.paid is not None and t.actual.cost is not None


def difference(t: Tested, r: Replay) -> tuple[float, float, float] | None:
    """USD of a policy against what happened (low, middle, high); None where a call has no price."""
    if not _priced(t):
        return None
    pairs = ((r.low, t.actual_low), (r.outcome, t.actual), (r.high, t.actual_high))
    values = [a.cost - b.cost for a, b in pairs if a.cost is not None and b.cost is not None]
    if len(values) < 3:
        return None
    return min(values), values[1], max(values)


def suggest(views: Sequence[SessionView], *, prices: PriceTable | None, assumptions: Assumptions) -> Suggestions:
    """What the past of these sessions suggests; the sizes are tried out by simulation."""
    tested = backtest(
        views, prices=prices, assumptions=assumptions, policies=[at_tokens(size) for size in SIZES], lean=True
    )
    thresholds = []
    for place, size in enumerate(SIZES):
        found = [d for t in tested if (d := difference(t, t.replays[place])) is not None]
        if found:
            low, mid, high = (math.fsum(d[k] for d in found) for k in range(3))
            thresholds.append(Threshold(tokens=size, cost_difference=mid, low=low, high=high))
    best, as_good = _cheapest(thresholds, tested)
    points = [t.series.points for t in tested]
    growth = sorted(p.growth for row in points for p in row[1:] if p.reset is None)
    resets = [
        (row[n - 1], p, t.series.limit)
        for t, row in zip(tested, points)
        for n, p in enumerate(row)
        if n and p.reset is not None and p.reset.kind == "compaction"
    ]
    contexts = [context for view in views for context in growth_of(view).contexts]
    return Suggestions(
        sessions=len(tested),
        calls=sum(len(row) for row in points),
        growth_mean=math.fsum(growth) / len(growth) if growth else None,
        growth_median=_middle(growth),
        calls_per_session=_middle([float(len(row)) for row in points]),
        calls_between_compactions=_middle([float(n) for row in points for n in _spans(row)]),
        fill_at_compaction=_middle([(b.prompt + b.output) / limit for b, _, limit in resets if limit]),
        size_after_compaction=_whole(_middle([float(p.prompt) for _, p, _ in resets])),
        thresholds=tuple(thresholds),
        best=best,
        as_good=as_good,
        forecast_windows=len(contexts),
        forecast_factors=_forecast_factors(contexts),
    )


def _cheapest(rows: Sequence[Threshold], tested: Sequence[Tested]) -> tuple[int | None, tuple[int, int] | None]:
    """The cheapest size, and the span of sizes about as cheap; None where no policy ever acted."""
    if not rows or not any(r.outcome.deeds for t in tested for r in t.replays):
        return None, None
    paid = math.fsum(t.paid or 0.0 for t in tested if _priced(t))
    best = min(rows, key=lambda row: row.cost_difference)
    near = [row.tokens for row in rows if row.cost_difference - best.cost_difference <= _AS_GOOD * paid]
    return best.tokens, (min(near), max(near))


def _spans(row: Sequence[Point]) -> Iterable[int]:
    """Calls between one real compaction and the next (or the beginning)."""
    start = 0
    for n, point in enumerate(row):
        if n and point.reset is not None:
            if point.reset.kind == "compaction":
                yield n - start
            start = n


def _forecast_factors(contexts: Sequence[Sequence[tuple[float, float]]]) -> tuple[float, float, float] | None:
    """Real calls left over those forecast (p10, p50, p90), of all forecasts that can be judged afterwards."""
    if len(contexts) < MIN_SEGMENTS:
        return None
    ratios = sorted(ratio for context in contexts for _, ratio in context)
    p10, p50, p90 = (round(quantile(ratios, share), 2) for share in (0.1, 0.5, 0.9))
    return p10, p50, p90


def _middle(values: Sequence[float]) -> float | None:
    ordered = sorted(values)
    if not ordered:
        return None
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def _whole(value: float | None) -> int | None:
    return None if value is None else round(value)
