"""The range of the forecast from the user's own history: how far past forecasts were off.

A forecast says "(limit - used) / mean growth" calls; how many it really took, as a multiple of that, is known for every
context that grew past a level. For each context (a window of the main chain) fixed sizes are taken as if they were
limits, and on the way to each the forecast is made at every third call (in long contexts more rarely, so that none
outweighs the others) and compared. (The largest size it reached would be no fair limit, as contexts end where growth
is slow; nor would a call just after a jump be a fair moment.) The tenth, half and nine tenths of these multiples, by
how full the context was, replace the built-in factors of :mod:`monitor.sessions.forecast` once there are ten contexts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import msgspec

from monitor.sessions.forecast import FACTORS, MIN_DELTAS, Factors, weighted, with_factors
from monitor.sessions.laid import derived, keep_mark
from monitor.sessions.view import SessionView

#: contexts with at least one usable forecast that it takes
MIN_SEGMENTS = 10
#: multiples it takes to replace the factors of one stage; with fewer the built-in ones stay
MIN_RATIOS = 10
#: sizes taken as limits, in tokens: each a quarter larger than the one before it
LEVELS = tuple(round(20_000 * 1.25**step) for step in range(19))
EVERY = 3
#: no context is looked at in more places than this
PLACES = 24
#: share of a level from which on forecasts are compared
FROM = 0.3
#: the newest sessions tell of so many contexts or calls, older ones are not looked at: habits change, and it takes time
RECENT_SEGMENTS, RECENT_CALLS = 40, 3_000
#: sources that are tables of calls, of many people and programs: no history of one's own, and not measured by it
TABLES = frozenset(
    (
        "table", "new-api", "one-api", "litellm", "openrouter", "magpie", "langfuse", "helicone", "bedrock",
        "cloudflare", "portkey", "otel", "claude-code-otel", "codex-otel", "gemini-otel",
    )
)  # fmt: skip


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
    points: Sequence[Point]
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


class Growth(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """What one session tells: for each of its contexts that can be judged, (fill, multiple) of its forecasts."""

    contexts: Sequence[Sequence[tuple[float, float]]]


class Own(msgspec.Struct, frozen=True, gc=False):
    """Factors from the user's own history, and from how many contexts."""

    factors: Factors
    contexts: int


def segments(views: Iterable[SessionView], last: int | None = None) -> list[Segment]:
    """The contexts of the main chains of some sessions.

    Args:
        last: only so many of the latest turns of each are looked at.
    """
    found: list[Segment] = []
    for view in views:
        closing = {e.after_call for e in view.events if e.kind == "compaction" and e.chain == "main"}
        ended: set[int] = set()  # windows
        runs: list[tuple[int, list[Point]]] = []
        points: list[Point] = []
        window: int | None = None
        mean: float | None = None
        deltas = 0
        for turn in view.turns if last is None else view.turns[-last:]:
            if turn.index in closing:
                ended.add(turn.window)
            call = turn.call
            if call.chain != "main" or not call.works:
                continue
            if turn.window != window:
                window, points, mean, deltas = turn.window, [], None, 0
                runs.append((window, points))
            prompt = call.prompt_tokens
            if prompt is None:
                continue
            delta = turn.delta
            if delta is not None:
                mean = weighted(mean, delta)
                deltas += 1
            points.append(Point(prompt + (call.output_tokens or 0), prompt, delta, mean, deltas))
        found += [Segment(view.session, points, window in ended, view.usable_limit) for window, points in runs]
    return found


def crossings(points: Sequence[Point]) -> Iterable[tuple[int, int, int]]:
    """(index of a forecast, calls until the level was reached, level) for every level that a context reached."""
    step = max(EVERY, len(points) // PLACES)
    places = [place for place in range(0, len(points), step) if points[place].deltas >= MIN_DELTAS]
    end = 0
    for level in LEVELS:
        while end < len(points) and points[end].used < level:
            end += 1
        if end == len(points):
            return
        for place in places:
            if place >= end:
                break
            if points[place].used >= FROM * level:
                yield place, end - place, level


def samples(parts: Iterable[Segment]) -> list[Sample]:
    """Every forecast that can be judged afterwards."""
    found: list[Sample] = []
    for number, segment in enumerate(parts):
        for place, calls, level in crossings(segment.points):
            point = segment.points[place]
            if point.mean is not None and point.mean > 0:
                forecast = (level - point.used) / point.mean
                if forecast > 0:
                    found.append(Sample(segment.session, number, point.used / level, forecast, calls))
    return found


def fit(found: Sequence[Sample]) -> Factors | None:
    """Factors from judged forecasts; None if they are of fewer than ten contexts."""
    if len({sample.segment for sample in found}) < MIN_SEGMENTS:
        return None
    return _fitted([(sample.fill, sample.ratio) for sample in found])


def _fitted(judged: Sequence[tuple[float, float]]) -> Factors:
    rows: list[tuple[float, float, float, float]] = []
    low = 0.0
    for row in FACTORS:
        ratios = sorted(ratio for fill, ratio in judged if low <= fill < row[0])
        low = row[0]
        if len(ratios) < MIN_RATIOS:
            rows.append(row)
        else:
            rows.append((row[0], quantile(ratios, 0.1), quantile(ratios, 0.5), quantile(ratios, 0.9)))
    return tuple(rows)


def growth(view: SessionView) -> Growth:
    """How far the forecasts of a session were off, context by context."""
    if len(view.turns) <= MIN_DELTAS:
        return Growth(())
    contexts: dict[int, list[tuple[float, float]]] = {}
    for sample in samples(segments([view], RECENT_CALLS)):
        contexts.setdefault(sample.segment, []).append((round(sample.fill, 3), round(sample.ratio, 3)))
    return Growth(list(contexts.values()))


def own(views: Iterable[SessionView]) -> Own | None:
    """The factors of a user's own history; None if it holds fewer than ten contexts that a forecast was made for.

    Args:
        views: newest first. The newest forty contexts count, of about 3,000 calls.
    """
    contexts: list[Sequence[tuple[float, float]]] = []
    calls = 0
    for view in views:
        if len(contexts) >= RECENT_SEGMENTS or calls >= RECENT_CALLS:
            break
        if view.source in TABLES:
            continue
        calls += min(len(view.turns), RECENT_CALLS)
        contexts += derived(view, "growth", Growth, growth).contexts
    if len(contexts) < MIN_SEGMENTS:
        return None
    return Own(_fitted([pair for context in contexts for pair in context]), len(contexts))


def applied(view: SessionView, found: Own) -> SessionView:
    """The session with the range of its forecast from the user's own history."""
    if view.forecast is None or view.forecast.basis is None or view.source in TABLES:
        return view
    told = with_factors(view.forecast, found.factors, found.contexts)
    return keep_mark(view, msgspec.structs.replace(view, forecast=told))


def quantile(ordered: Sequence[float], share: float) -> float:
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
