"""The line at the top: which session, how full, what to do; and how fresh all of it is."""

from __future__ import annotations

from monitor.dashboard.model.panels import action_word
from monitor.dashboard.model.text import (
    Line,
    ago,
    calls,
    clip,
    fit,
    join_fitting,
    line_width,
    percent,
    printable,
    spread,
    tokens,
)
from monitor.decision.model import Decision
from monitor.reports.words import ASSUMED, used_mark, used_tokens
from monitor.sessions.view import SessionView

#: a session that was active within this time counts as running
ACTIVE_MS = 90_000


def is_active(view: SessionView, now: int) -> bool:
    """Whether the session did something a moment ago. A time far in the future is a wrong clock, not activity."""
    return view.last is not None and abs(now - view.last) < ACTIVE_MS


def name_of(view: SessionView) -> str:
    """What people call a session: its working directory if known, else its id."""
    return printable(view.project or view.session)


def header(
    view: SessionView | None,
    decision: Decision | None,
    width: int,
    *,
    now: int,
    sessions: int = 0,
    problems: int = 0,
    paused: bool = False,
    follow: bool = True,
    loading: bool = False,
    title: str = "ctxmon",
) -> Line:
    """The header in ``width`` cells: advice and fill are kept longest."""
    if view is None:
        state: Line = (("◌ reading", "dim"),) if loading else (("○ waiting", "dim"),)
        return spread(((f" {title} ", "title"), (" ", ""), *state), _warn(problems), width)
    active = is_active(view, now)
    dot = ("⏸ paused", "warn") if paused else ("●", "good") if active else ("○", "dim")
    word, style = action_word(decision)
    size = tokens(used_tokens(view), used_mark(view))
    limit = view.usable_limit or view.context_limit
    if limit is not None:
        mark = ASSUMED if view.usable_limit is not None and view.usable_limit_assumed else ""
        size += f"/{tokens(limit)}{mark}"
    full = view.fill
    full_style = "bad" if full is not None and full >= 0.9 else "warn" if full is not None and full >= 0.7 else ""
    model = view.last_turn.call.model if view.last_turn and view.last_turn.call.model else None
    name_room = max(6, min(28, width // 4))
    parts: list[tuple[int, Line]] = [
        (8, ((f" {title}", "title"),)),
        (2, (dot, (" " + clip(name_of(view), name_room), "bold"))),
        (7, ((clip(printable(model or ""), 24), "dim"),)) if model else (99, ()),
        (5, ((size, ""),)),
        (1, ((percent(full), f"{full_style} bold"),)) if full is not None else (99, ()),
        (0, ((f" {word} ", f"badge {style}"),)),
    ]
    if view.forecast is not None and view.forecast.calls_to_limit is not None:
        span = view.forecast.calls_to_limit
        parts.append((4, (("~", "dim"), (calls(span.p10, span.p50, span.p90), ""), (" turns left", "dim"))))
    elif view.forecast is not None and view.forecast.calls_to_window is not None:
        span = view.forecast.calls_to_window
        parts.append((4, (("~", "dim"), (calls(span.p10, span.p50, span.p90), ""), (" turns left", "dim"))))
    right: list[tuple[int, Line]] = []
    if loading:  # what is shown is not all of it yet
        right.append((2, (("◌ reading", "accent"),)))
    if problems:
        right.append((3, _warn(problems)))
    if sessions > 1:
        right.append((9, ((f"{sessions} sessions", "dim"),)))
    right.append((6, ((ago(view.last, now), "dim"),)))
    right.append((5, (("follow ▸", "accent") if follow else ("browsing", "dim"),)))
    parts = [part for part in parts if part[1]]
    left = join_fitting(parts, width - 1)
    room = width - line_width(left) - 3
    tail = join_fitting(right, room) if room > 0 else ()
    if tail:
        return spread(left, (*tail, (" ", "")), width)
    return fit(left, width)


def _warn(problems: int) -> Line:
    if not problems:
        return ()
    return ((f"⚠ {problems} problem{'s' if problems > 1 else ''}", "warn"),)
