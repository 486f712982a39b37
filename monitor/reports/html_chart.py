"""The curve of a session as inline SVG: tokens of each prompt by where they came from, limits, resets, forecast.

The pictures are stretched to the width there is; everything with letters lies over them as HTML, so that it keeps its
size on every screen. Horizontal units are calls, vertical units are thousandths of the picture's height.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import msgspec

from monitor.records import Event
from monitor.reports.clock import Clock
from monitor.reports.html_calls import call_table, outcome
from monitor.reports.html_parts import Raw, details, esc, tag
from monitor.reports.sampling import Curve
from monitor.reports.text import UNKNOWN, tokens, usd
from monitor.reports.words import (
    ASSUMED,
    MISS,
    PARTIAL,
    event_sign,
    event_word,
    plural,
    read_share,
    span,
    used_tokens,
)
from monitor.sessions.view import SessionView, Turn

HEIGHT = 1000
_MOST_MARKS, _MOST_MISS_MARKS, _MOST_RESET_LINES, _SEPARATE = 300, 60, 40, 90
#: limits this many times above the peak would press the curve flat; they are told in words instead
_TOO_HIGH = 4.0
#: a forecast narrower than this share of the picture has no room for its words
_LABEL_SHARE = 0.15
_CLASSES = {
    "compaction": "ev-c",
    "clear": "ev-c",
    "microcompaction": "ev-t",
    "trim": "ev-t",
    "model_switch": "ev-s",
    "rewind": "ev-s",
    "fork": "ev-s",
}


class Frame(msgspec.Struct, frozen=True, kw_only=True):
    """Units of a picture: ``calls`` are real, ``ahead`` are those of the forecast; ``top`` is its height in tokens."""

    calls: int
    ahead: int
    top: int

    def left(self, place: float) -> str:
        """A place on the x axis in per cent of the width."""
        return f"{100 * place / (self.calls + self.ahead):.2f}".rstrip("0").rstrip(".")

    def y(self, size: float) -> int:
        """Tokens to units from the top."""
        return HEIGHT - round(HEIGHT * min(size, self.top) / self.top)


def frame_of(view: SessionView, curve: Curve) -> Frame:
    """How far the picture of a session reaches: to its limits where they are near, and some calls ahead."""
    peak = max((turn.call.prompt_tokens or 0 for turn in curve.turns), default=0)
    used = used_tokens(view) if curve.chain == "main" else None
    top = float(max(peak, used or 0, 1))
    if curve.chain == "main":
        for limit in (view.usable_limit, view.context_limit):
            if limit is not None and limit <= _TOO_HIGH * peak:
                top = max(top, limit)
    ahead = 0
    left = view.forecast.calls_to_limit if view.forecast is not None and curve.chain == "main" else None
    if left is not None and left.p90 > 0 and used is not None:
        ahead = min(math.ceil(left.p90), max(6, curve.calls // 3))
        if view.usable_limit is not None and view.usable_limit > top:
            top = min(float(view.usable_limit), 1.6 * top)  # room for the fan to open
    return Frame(calls=max(1, curve.calls), ahead=ahead, top=math.ceil(top * 1.06))


def picture(
    view: SessionView, curve: Curve, clock: Clock, name: str, columns: Sequence[str], rows: Sequence[Sequence[str]]
) -> Raw:
    """The figure: read-out, legend, curve, marks, cache strip, and the table of the same calls behind it.

    Args:
        name: prefix of the ids in this figure.
        columns, rows: the calls of the curve as texts, as :func:`call_rows` makes them.
    """
    frame = frame_of(view, curve)
    known = any(turn.call.cache_read_tokens is not None for turn in curve.turns)
    places = "" if curve.whole else " ".join(str(place) for place in curve.places)
    last = " · ".join(f"{head} {cell}" for head, cell in zip(columns, rows[-1]) if cell and cell != UNKNOWN)
    plot = (
        f'<div class="plot" data-span="{frame.calls + frame.ahead}" data-calls="{frame.calls}" data-places="{places}" '
        f'data-table="{name}-t">'
        f'<div class="grid">{_scale(frame)}<div class="area">{_svg(view, curve, frame)}{_limits(view, curve, frame)}'
        f'{_forecast_label(view, frame)}<b class="at" hidden></b></div></div>'
        f'<div class="marks" aria-hidden="true">{_marks(view, curve, frame, clock)}</div>'
        + (f'<div class="strip">{_strip(curve, frame)}</div>' if known else "")
        + f'<div class="axis" aria-hidden="true">{_axis(curve, frame)}</div></div>'
    )
    note = "" if curve.whole else (
        f" One real turn stands for each column; every miss and every reset is kept: {len(curve.turns):,} of "
        f"{curve.calls:,} turns."
    )  # fmt: skip
    unfold = f"Table of the {plural(len(rows), 'turn')} in this picture"
    return Raw(
        f'<figure aria-labelledby="{name}-c">{_legend(curve, known)}'
        f'<p class="readout" id="{name}-r"><b>last turn</b> {esc(last)}</p>{plot}'
        f'<figcaption id="{name}-c">{esc(_caption(curve))}{esc(note)}</figcaption></figure>'
        f"{details(unfold, call_table(name, columns, rows))}"
    )


def _caption(curve: Curve) -> str:
    line = "Prompt tokens of every turn" if curve.chain == "main" else f"Prompt tokens of every turn of {curve.chain}"
    return f"{line}, by where they came from; below, how much of the prompt came from the cache."


# ------------------------------------------------------------------------------------------------------------- curve
def step_path(curve: Curve, frame: Frame, size: Callable[[Turn], int]) -> str:
    """The outline of stepped columns; each shown call reaches to the next one."""
    out = [f"M0 {HEIGHT}"]
    at = HEIGHT
    ends = [*list(curve.places)[1:], curve.calls]
    for turn, begin, end in zip(curve.turns, curve.places, ends):
        y = frame.y(size(turn))
        if y != at:
            out.append(f"v{y - at}")
            at = y
        out.append(f"h{end - begin}")
    out.append(f"V{HEIGHT}z")
    return "".join(out)


def _svg(view: SessionView, curve: Curve, frame: Frame) -> str:
    peak = max((turn.call.prompt_tokens or 0 for turn in curve.turns), default=0)
    label = (
        f"{plural(curve.calls, 'turn')}; prompt from {tokens(curve.turns[0].call.prompt_tokens)} to "
        f"{tokens(curve.turns[-1].call.prompt_tokens)}, largest {tokens(peak)}"
    )
    layers: tuple[tuple[str, Callable[[Turn], int]], ...] = (
        ("untold", lambda turn: (turn.call.prompt_tokens or 0) if turn.call.cache_read_tokens is None else 0),
        ("fresh", lambda turn: 0 if turn.call.cache_read_tokens is None else turn.call.prompt_tokens or 0),
        ("write", lambda turn: _warm(turn) + _written(turn)),
        ("read", _warm),
    )
    paths = "".join(f'<path class="{kind}" d="{step_path(curve, frame, size)}"/>' for kind, size in layers)
    gaps = ""
    if 1 < frame.calls <= _SEPARATE:
        lines = "".join(f"M{place} 0V{HEIGHT}" for place in range(1, frame.calls))
        gaps = f'<path class="gap" d="{lines}"/>'
    return (
        f'<svg viewBox="0 0 {frame.calls + frame.ahead} {HEIGHT}" preserveAspectRatio="none" role="img" '
        f'aria-label="{esc(label)}">{paths}{gaps}{_reset_lines(view, curve)}{_fan(view, frame)}</svg>'
    )


def _warm(turn: Turn) -> int:
    return min(turn.call.cache_read_tokens or 0, turn.call.prompt_tokens or 0)


def _written(turn: Turn) -> int:
    """Tokens written to the cache; where only that figure is missing it is what the others leave over."""
    call = turn.call
    if call.cache_read_tokens is None or call.prompt_tokens is None:
        return 0
    if call.cache_write_tokens is None and call.fresh_tokens is not None:
        return max(0, call.prompt_tokens - call.cache_read_tokens - call.fresh_tokens)
    return min(call.cache_write_tokens or 0, call.prompt_tokens - _warm(turn))


def _reset_lines(view: SessionView, curve: Curve) -> str:
    places = [
        curve.place_of(event.before_call)
        for event in view.events
        if event.kind in ("compaction", "clear") and event.chain == curve.chain and event.before_call is not None
    ]
    if len(places) > _MOST_RESET_LINES:
        return ""  # the falls are seen, and the signs below tell them
    lines = "".join(f"M{place:g} 0V{HEIGHT}" for place in places)
    return f'<path class="reset" d="{lines}"/>' if lines else ""


def _fan(view: SessionView, frame: Frame) -> str:
    """The forecast: where the context will be, one in ten lies on each side of the fan."""
    used = used_tokens(view)
    left = view.forecast.calls_to_limit if view.forecast is not None else None
    limit = view.usable_limit
    if not frame.ahead or left is None or used is None or limit is None or used >= limit:
        return ""
    ceiling = min(limit, frame.top)

    def ray(calls: float) -> tuple[float, float]:
        """Where a ray that needs so many calls leaves the picture or reaches the limit."""
        reach = calls * (ceiling - used) / (limit - used)
        if reach <= frame.ahead:
            return frame.calls + reach, ceiling
        return frame.calls + frame.ahead, used + (limit - used) * frame.ahead / calls

    fast, slow, middle = ray(left.p10), ray(left.p90), ray(left.p50)
    points = [(float(frame.calls), float(used)), fast]
    if fast[1] >= ceiling and slow[1] < ceiling:
        points.append((frame.calls + frame.ahead, ceiling))
    points.append(slow)
    shape = " ".join(f"{x:.2f},{frame.y(y)}" for x, y in points)
    line = f"M{frame.calls} {frame.y(used)}L{middle[0]:.2f} {frame.y(middle[1])}"
    return f'<polygon class="fan" points="{shape}"/><path class="mid" d="{line}"/>'


def _strip(curve: Curve, frame: Frame) -> str:
    """Share of each prompt that came from the cache, and a sign on each miss; lines where there are many."""
    base = msgspec.structs.replace(frame, top=1000)
    path = step_path(curve, base, lambda turn: round(1000 * (read_share(turn) or 0.0)))
    found = [(place, turn) for place, turn in zip(curve.places, curve.turns) if turn.cache_miss_cause is not None]
    whole = sum(1 for _, turn in found if turn.cache_outcome == "miss")
    label = f"share of the prompt from the cache; {plural(whole, 'miss', 'misses')}, {len(found) - whole:,} partial"
    ticks, signs = "", ""
    if len(found) > _MOST_MISS_MARKS:
        lines = (f"M{place + 0.5:g} {0 if turn.cache_outcome == 'miss' else 500}V{HEIGHT}" for place, turn in found)
        ticks = f'<path class="miss" d="{"".join(lines)}"/>'
    else:
        signs = "".join(_miss_sign(place, turn, frame) for place, turn in found)
    return (
        f'<svg viewBox="0 0 {frame.calls + frame.ahead} {HEIGHT}" preserveAspectRatio="none" role="img" '
        f'aria-label="{label}"><path class="read" d="{path}"/>{ticks}</svg>{signs}'
    )


def _miss_sign(place: int, turn: Turn, frame: Frame) -> str:
    words = f"turn {turn.index}, {outcome(turn)}"
    if turn.miss_cost_usd is not None:
        words += f", {usd(turn.miss_cost_usd)} above a cache read"
    sign = MISS if turn.cache_outcome == "miss" else PARTIAL
    return f'<i aria-hidden="true" style="left:{frame.left(place + 0.5)}%" title="{esc(words)}">{sign}</i>'


# ------------------------------------------------------------------------------------------------- letters over it
def nice_step(top: float, lines: int = 4) -> int:
    """A round distance between grid lines: 1, 2, 2.5 or 5 times a power of ten."""
    rough = max(1.0, top / lines)
    power = 10.0 ** math.floor(math.log10(rough))
    for factor in (1.0, 2.0, 2.5, 5.0):
        if power * factor >= rough * 0.999:
            return max(1, round(power * factor))
    return int(power * 10)


def _scale(frame: Frame) -> str:
    step = nice_step(frame.top)
    lines = []
    for size in range(0, frame.top + 1, step):
        text = "0" if not size else tokens(size).replace(".0k", "k").replace(".00M", "M")
        lines.append(f'<span class="y" style="bottom:{100 * size / frame.top:.1f}%">{text}</span>')
    return "".join(lines)


def _limits(view: SessionView, curve: Curve, frame: Frame) -> str:
    if curve.chain != "main":
        return ""
    out, high = [], []
    mark = ASSUMED if view.usable_limit_assumed else ""
    for name, limit, kind in (
        (f"usable limit {tokens(view.usable_limit)}{mark}", view.usable_limit, "usable"),
        (f"window {tokens(view.context_limit)}", view.context_limit, "window"),
    ):
        if limit is None:
            continue
        if limit > frame.top:
            high.append(name)
            continue
        out.append(f'<b class="limit {kind}" style="bottom:{100 * limit / frame.top:.2f}%"><i>{name}</i></b>')
    if high:
        out.append(f'<b class="above"><i>↑ {" · ".join(high)}</i></b>')
    return "".join(out)


def _forecast_label(view: SessionView, frame: Frame) -> str:
    left = view.forecast.calls_to_limit if view.forecast is not None else None
    if left is None or frame.ahead < _LABEL_SHARE * frame.calls:
        return ""
    text = f"{span(left.p10, left.p50, left.p90, '≈ ')} turns to the limit"
    return f'<b class="ahead"><i>{text}</i></b>'


def event_words(event: Event, clock: Clock) -> str:
    """An event in a sentence: what, when, by which evidence, and what it did to the size."""
    parts = [event_word(event), event.evidence]
    if event.trigger:
        parts.append(event.trigger)
    if event.tokens_before is not None or event.tokens_after is not None:
        parts.append(f"{tokens(event.tokens_before)} → {tokens(event.tokens_after)}")
    if event.before_call is not None:
        parts.append(f"before turn {event.before_call}")
    if event.time is not None:
        parts.append(clock(event.time, "%m-%d %H:%M:%S"))
    return ", ".join(parts)


def _marks(view: SessionView, curve: Curve, frame: Frame, clock: Clock) -> str:
    events = [event for event in view.events if event.chain == curve.chain]
    if len(events) > _MOST_MARKS:
        events = [event for event in events if event.kind in ("compaction", "clear")][:_MOST_MARKS]
    out = []
    for event in events:
        index = event.before_call
        if index is None:
            index = event.after_call + 1 if event.after_call is not None else None
        if index is None:
            continue
        sign = event_sign(event)
        left = frame.left(min(curve.place_of(index), float(frame.calls)))
        kind = _CLASSES.get(event.kind, "ev-e")
        out.append(f'<i class="{kind}" style="left:{left}%" title="{esc(event_words(event, clock))}">{sign}</i>')
    return "".join(out)


def _axis(curve: Curve, frame: Frame) -> str:
    """Numbers of turns below the picture, at even distances."""
    count = min(6, len(curve.turns))
    chosen = sorted({round(k * (len(curve.turns) - 1) / max(1, count - 1)) for k in range(count)})
    out = []
    for n in chosen:
        left = frame.left(curve.places[n] + 0.5)
        out.append(f'<span style="left:{left}%">{curve.turns[n].index}</span>')
    return "".join(out)


def _legend(curve: Curve, known: bool) -> Raw:
    entries = []
    if known:
        entries += [("read", "cache read"), ("write", "cache write"), ("fresh", "fresh")]
    if any(turn.call.cache_read_tokens is None for turn in curve.turns):
        entries.append(("untold", "no cache figures"))
    boxes = "".join(f'<span><i class="box {kind}"></i>{text}</span>' for kind, text in entries)
    meanings = (("▲", "compaction"), ("▼", "trim"), (MISS, "cache miss"), (PARTIAL, "partial miss"))
    signs = [f"<span>{sign} {text}</span>" for sign, text in meanings]
    return tag("p", Raw(boxes + "".join(signs)), class_="legend")


def spark(sizes: Sequence[int], label: str) -> Raw:
    """A curve as small as a word."""
    if len(sizes) < 2:
        return Raw("")
    top = max(max(sizes), 1)
    points = " ".join(f"{x},{30 - round(28 * size / top)}" for x, size in enumerate(sizes))
    return Raw(
        f'<svg class="spark" viewBox="0 0 {len(sizes) - 1} 32" preserveAspectRatio="none" role="img" '
        f'aria-label="{esc(label)}"><polyline points="{points}"/></svg>'
    )
