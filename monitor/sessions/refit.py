"""The range of the forecast from the user's own history: how far past forecasts were off.

A forecast says "(limit - used) / mean growth" calls; how many it really took, as a multiple of that, is known for every
context that grew past a level. For each context (a window of the main chain) fixed sizes are taken as if they were
limits, and on the way to each the forecast is made at every third call and compared. (The largest size it reached
would be no fair limit, as contexts end where growth is slow; nor would a call just after a jump be a fair moment.) The
tenth, half and nine tenths of these multiples, by how full the context was, replace the built-in factors of
:mod:`monitor.sessions.forecast` once there are ten contexts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import msgspec

from monitor.sessions.forecast import ALPHA, FACTORS, MIN_DELTAS, Factors
from monitor.sessions.view import SessionView

#: contexts with at least one usable forecast that it takes
MIN_SEGMENTS = 10
#: multiples it takes to replace the factors of one stage; with fewer the built-in ones stay
MIN_RATIOS = 10
#: sizes taken as limits, in tokens: each a quarter larger than the one before it
LEVELS = tuple(round(20_000 * 1.25**step) for step in range(19))
EVERY = 3
#: share of a level from which on forecasts are compared
FROM = 0.3


class Point(msgspec.Struct, frozen=True, gc=False):
    """A context after one call."""

    used: int  # prompt and output
    prompt: int
    delta: int | None  # growth by this call
    mean: float | None  # weighted mean growth so far
    deltas: int


class Segment(msgspec.Struct, frozen=True, gc=False):
    """One context from its opening to its last call."""

    session: str
    points: tuple[Point, ...]
    ended: bool  # by a compaction
    usable_limit: int | None = None


class Sample(msgspec.Struct, frozen=True, gc=False):
    """One forecast and what came of it."""

    session: str
    segment: int
    fill: float
    forecast: float  # (limit - used) / mean
    calls: int  # that it really took

    @property
    def ratio(self) -> float:
        return self.calls / self.forecast


def segments(views: Iterable[SessionView]) -> list[Segment]:
    """The contexts of the main chains of some sessions."""
    found: list[Segment] = []
    for view in views:
        ended = {
            view.turns[event.after_call].window
            for event in view.events
            if event.kind == "compaction" and event.chain == "main" and event.after_call is not None
        }
        points: list[Point] = []
        window: int | None = None
        mean: float | None = None
        deltas = 0
        for turn in view.turns:
            call = turn.call
            if call.chain != "main" or call.purpose != "work" or call.status not in ("ok", "estimated"):
                continue
            if turn.window != window:
                if window is not None:
                    found.append(Segment(view.session, tuple(points), window in ended, view.usable_limit))
                window, points, mean, deltas = turn.window, [], None, 0
            if call.prompt_tokens is None:
                continue
            if turn.delta is not None:
                mean = float(turn.delta) if mean is None else mean + ALPHA * (turn.delta - mean)
                deltas += 1
            points.append(Point(call.prompt_tokens + (call.output_tokens or 0), call.prompt_tokens, turn.delta, mean,
                                deltas))  # fmt: skip
        if window is not None:
            found.append(Segment(view.session, tuple(points), window in ended, view.usable_limit))
    return found


def crossings(points: Sequence[Point]) -> Iterable[tuple[int, int, int]]:
    """(index of a forecast, calls until the level was reached, level) for every level that a context reached."""
    for level in LEVELS:
        end = next((place for place, point in enumerate(points) if point.used >= level), None)
        if end is None:
            return
        for place in range(0, end, EVERY):
            if points[place].used >= FROM * level:
                yield place, end - place, level


def samples(parts: Iterable[Segment]) -> list[Sample]:
    """Every forecast that can be judged afterwards."""
    found: list[Sample] = []
    for number, segment in enumerate(parts):
        for place, calls, level in crossings(segment.points):
            point = segment.points[place]
            if point.deltas >= MIN_DELTAS and point.mean is not None and point.mean > 0:
                forecast = (level - point.used) / point.mean
                if forecast > 0:
                    found.append(Sample(segment.session, number, point.used / level, forecast, calls))
    return found


def fit(found: Sequence[Sample]) -> Factors | None:
    """Factors from judged forecasts; None if they are of fewer than ten contexts."""
    if len({sample.segment for sample in found}) < MIN_SEGMENTS:
        return None
    rows: list[tuple[float, float, float, float]] = []
    low = 0.0
    for row in FACTORS:
        ratios = sorted(sample.ratio for sample in found if low <= sample.fill < row[0])
        low = row[0]
        if len(ratios) < MIN_RATIOS:
            rows.append(row)
        else:
            rows.append((row[0], _at(ratios, 0.1), _at(ratios, 0.5), _at(ratios, 0.9)))
    return tuple(rows)


def refit(views: Iterable[SessionView]) -> Factors | None:
    """The factors of a user's own history, None if it holds fewer than ten contexts that a forecast was made for."""
    return fit(samples(segments(views)))


def _at(ordered: Sequence[float], share: float) -> float:
    """A quantile that a new value falls below with at least (above: at most) the share asked for."""
    count = len(ordered)
    if share < 0.5:
        place = math.floor(share * (count + 1)) - 1
    elif share > 0.5:
        place = math.ceil(share * (count + 1)) - 1
    else:
        place = (count - 1) // 2
        return round((ordered[place] + ordered[count // 2]) / 2, 3)
    return round(ordered[min(max(place, 0), count - 1)], 3)
