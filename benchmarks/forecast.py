"""How good the forecast is: replayed over past contexts, against simpler ways of forecasting.

    python benchmarks/forecast.py [--made 300] [--seed 1] [--tree DIR] [--logs PATH ...] [--json FILE]

For every context fixed sizes are taken as limits and forecasts are made on the way to each
(``monitor/sessions/refit.py``). Told of each way: MAE in calls, bias (median of forecast / real, 1 is none), share
within a factor of two. Of the program's own way also: how often its 80 % range held the truth, with the built-in
factors and with factors fitted to the other sessions; and how many of the compactions at the limit it warned of at
least five calls ahead (warning: the lower end of the range is five calls or fewer).
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.inference import analyse
from benchmarks.made_sessions import sessions
from monitor.sessions.forecast import FACTORS, MIN_DELTAS, Factors
from monitor.sessions.refit import Point, Sample, Segment, crossings, fit, samples, segments
from monitor.sessions.view import SessionView

AHEAD = 5


def ewma(points: Sequence[Point]) -> float | None:
    """The program's own: exponentially weighted mean since the reset."""
    return points[-1].mean


def mean(points: Sequence[Point]) -> float | None:
    """Mean of all growth since the reset."""
    return statistics.fmean(p.delta for p in points if p.delta is not None)


def last_ten(points: Sequence[Point]) -> float | None:
    """Mean of the last ten."""
    return statistics.fmean([p.delta for p in points if p.delta is not None][-10:])


def median(points: Sequence[Point]) -> float | None:
    """Median of what grew."""
    grown = [p.delta for p in points if p.delta is not None and p.delta > 0]
    return statistics.median(grown) if grown else None


def theil_sen(points: Sequence[Point]) -> float | None:
    """Median of the slopes between any two of the last twenty calls."""
    last = [point.prompt for point in points[-20:]]
    slopes = [(last[j] - last[i]) / (j - i) for i in range(len(last)) for j in range(i + 1, len(last))]
    return statistics.median(slopes) if slopes else None


WAYS: dict[str, Callable[[Sequence[Point]], float | None]] = {
    "EWMA 0.15 (ctxmon)": ewma,
    "mean of last 10": last_ten,
    "mean since reset": mean,
    "Theil-Sen of last 20": theil_sen,
    "median of growth": median,
}


def errors(parts: Iterable[Segment], way: Callable[[Sequence[Point]], float | None]) -> list[tuple[float, int]]:
    """(forecast, real) calls at every place where the program forecasts."""
    found: list[tuple[float, int]] = []
    for segment in parts:
        for place, calls, level in crossings(segment.points):
            if segment.points[place].deltas < MIN_DELTAS:
                continue
            growth = way(segment.points[: place + 1])
            left = level - segment.points[place].used
            # a way that sees no growth promises no end; count it as ten times too many
            found.append((left / growth if growth is not None and growth > 0 else calls * 10.0, calls))
    return found


def figures(pairs: Sequence[tuple[float, int]]) -> dict[str, float]:
    ratios = [forecast / real for forecast, real in pairs if forecast > 0]
    return {
        "mae_calls": statistics.fmean(abs(forecast - real) for forecast, real in pairs),
        "bias": statistics.median(ratios),
        "within_2x": sum(0.5 <= ratio <= 2 for ratio in ratios) / len(pairs),
    }


def covered(sample: Sample, factors: Factors) -> bool:
    _, low, _, high = next(row for row in factors if sample.fill < row[0])
    return sample.forecast * low <= sample.calls <= sample.forecast * high


def coverage(judged: Sequence[Sample]) -> dict[str, float | None]:
    """Share of forecasts whose range held the truth: built-in factors, and factors of the other sessions."""
    built_in = sum(covered(sample, FACTORS) for sample in judged) / len(judged)
    fitted: list[bool] = []
    for name in {sample.session for sample in judged}:
        factors = fit([sample for sample in judged if sample.session != name])
        if factors is not None:
            fitted += [covered(sample, factors) for sample in judged if sample.session == name]
    return {"built_in": built_in, "fitted": sum(fitted) / len(fitted) if fitted else None}


def warnings(parts: Iterable[Segment], factors: Factors) -> dict[str, Any]:
    """Compactions at the limit and when the forecast began to warn of them."""
    leads: list[int] = []
    calls = warned_calls = 0
    for segment in parts:
        limit = segment.usable_limit
        if limit is None:
            continue
        first: int | None = None
        for place, point in enumerate(segment.points):
            if point.deltas < MIN_DELTAS or point.mean is None or point.mean <= 0:
                continue
            calls += 1
            left = (limit - point.used) / point.mean
            low = next(row[1] for row in factors if point.used / limit < row[0]) if left > 0 else 0.0
            if left * low <= AHEAD:
                warned_calls += 1
                first = place if first is None else first
        last = segment.points[-1].used if segment.points else 0
        if segment.ended and last >= 0.9 * limit and segment.points[-1].deltas >= MIN_DELTAS + AHEAD:
            leads.append(len(segment.points) - 1 - first if first is not None else -1)
    return {
        "compactions_at_the_limit": len(leads),
        "warned_5_ahead": sum(lead >= AHEAD for lead in leads) / len(leads) if leads else None,
        "lead_median": statistics.median(leads) if leads else None,
        "calls_under_warning": warned_calls / calls if calls else None,
    }


def views_of(args: argparse.Namespace) -> dict[str, list[SessionView]]:
    found: dict[str, list[SessionView]] = {}
    if args.made:
        found["made sessions"] = [analyse(made.name, made.records) for made in sessions(args.made, args.seed)]
    if args.tree is not None or args.logs:
        from monitor.pricing import PriceTable
        from monitor.sessions.build import Settings
        from monitor.sessions.load import Request, load

        def read(paths: list[str]) -> list[SessionView]:
            request = Request(paths=paths, settings=Settings(prices=PriceTable.load()), cache=False)
            return list(load(request).sessions)

        if args.tree is not None:
            found["tree"] = read([str(args.tree / "projects")])
        if args.logs:
            found["logs"] = read(args.logs)
    return found


def judge(views: Iterable[SessionView]) -> dict[str, Any]:
    parts = segments(views)
    judged = samples(parts)
    ways = {name: figures(pairs) for name, way in WAYS.items() if (pairs := errors(parts, way))}
    return {
        "contexts": len({sample.segment for sample in judged}),
        "forecasts": len(judged),
        "ways": ways,
        "coverage_80": coverage(judged) if judged else None,
        "factors": fit(judged),
        "warnings": warnings(parts, FACTORS),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--made", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tree", type=Path)
    parser.add_argument("--logs", nargs="*", default=[])
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    told = {name: judge(views) for name, views in views_of(args).items()}
    for name, found in told.items():
        print(f"{name}: {found['contexts']} contexts, {found['forecasts']} forecasts")
        print(f"  {'way':<24}{'MAE calls':>10}{'bias':>8}{'within x2':>11}")
        for way, one in found["ways"].items():
            print(f"  {way:<24}{one['mae_calls']:>10.1f}{one['bias']:>8.2f}{one['within_2x']:>11.2f}")
        print(f"  80 % range held the truth: {_shares(found['coverage_80'])}")
        print(f"  fitted factors: {found['factors']}")
        print(f"  {_shares(found['warnings'])}")
    if args.json is not None:
        args.json.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    return 0


def _shares(values: dict[str, Any] | None) -> str:
    told = (f"{k} {v:.2f}" if isinstance(v, float) else f"{k} {v}" for k, v in (values or {}).items())
    return ", ".join(told)


if __name__ == "__main__":
    sys.exit(main())
