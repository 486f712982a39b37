"""The report for eyes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from monitor.decision.model import ACTION_WORDS, Decision
from monitor.reports import gather, shape
from monitor.reports.clock import Clock
from monitor.reports.tables import compactions, groups_table, misses_table, totals_table
from monitor.reports.text import UNKNOWN, Ink, Stream, bar, clean, cut, percent, table, tokens, usd, width, wrap
from monitor.reports.words import (
    ASSUMED,
    AT_LEAST,
    ESTIMATED,
    INKS,
    cost_mark,
    plural,
    short,
    used_mark,
    used_tokens,
)
from monitor.sessions.misses import by_cause
from monitor.sessions.view import Loaded, SessionView

_MOST_SESSIONS, _MOST_DAYS, _MOST_MODELS = 20, 14, 12


def text(
    found: Loaded,
    decisions: Mapping[str, Decision],
    now: int,
    *,
    out: Stream | None = None,
    zone: str | None = None,
    most: int | None = None,
) -> str:
    """The report of loaded sessions. One session is shown in full, several as a list with sums.

    Args:
        now: milliseconds since the epoch.
        out: where it will go (decides about colour); None: plain.
        zone: name of the time zone times are shown in; None: the machine's.
        most: columns; None: those of the terminal. Narrow ones lose columns of less weight, nothing is broken.

    Raises:
        ReportError: there is no such time zone.
    """
    ink = Ink(out)
    clock = Clock(zone)
    most = max(40, most if most is not None else width())
    if not found.sessions:
        return "\n".join(["No session with calls was found.", *wrap(_HOW_TO_GO_ON, most, "")])
    total = shape.totals(found.sessions)
    lines = [*_title(found, total, clock, ink, most), ""]
    if len(found.sessions) == 1:
        from monitor.reports.session_text import session

        view = found.sessions[0]
        lines += session(view, decisions.get(view.session), clock, ink, most)
    else:
        lines += [*totals_table(total, ink, most), "", *_sessions(found, decisions, clock, ink, most)]
        lines += compactions(found.sessions, clock, ink, most)
    lines += misses_table(by_cause(found.sessions), ink, most)
    models = shape.by_model(found.sessions)
    if len(found.sessions) > 1 or len(models) > 1:
        lines += groups_table("By model", models, "model", ink, most, _MOST_MODELS)
    days = gather.by_day(found.sessions, clock)
    if len(days) > 1:
        name = "UTC" if clock.utc else clock.name(now)
        lines += groups_table(f"By day ({name})", days, "date", ink, most, _MOST_DAYS)
    lines += notes(found, total, ink, most)
    return "\n".join(lines)


_HOW_TO_GO_ON = "Name a log file or folder (`ctxmon report PATH`), or ask `ctxmon doctor PATH` what was seen there."


def _title(found: Loaded, total: dict[str, Any], clock: Clock, ink: Ink, most: int) -> list[str]:
    firsts = [view.first for view in found.sessions if view.first is not None]
    lasts = [view.last for view in found.sessions if view.last is not None]
    parts = [plural(len(found.sessions), "session"), plural(total["calls"], "turn")]
    if firsts and lasts:
        parts.append(clock.period(min(firsts), max(lasts)))
        if not clock.utc or clock.asked:
            parts[-1] += f" {clock.name(max(lasts))}"
    return [ink("ctxmon report", "bold") + cut(" · " + " · ".join(parts), most - 13)]


def _sessions(found: Loaded, decisions: Mapping[str, Decision], clock: Clock, ink: Ink, most: int) -> list[str]:
    about = "  a turn is one API call; now: the context after the last turn"
    lines = [ink("Sessions", "bold") + ink(cut(about, most - 8), "dim")]
    head = ["session", "last", "source", "project", "turns", "now/limit", "", "full", "peak", "hit", "misses",
            "compactions" if most >= 110 else "comp.", "cost", "advice"]  # fmt: skip
    rows = [
        _session_row(view, decisions.get(view.session), clock, ink, most) for view in found.sessions[:_MOST_SESSIONS]
    ]
    drop = ("project", "last", "", "source", "peak", "misses", "hit", "turns", "comp.", "cost", "full", "now/limit")
    lines += table(head, rows, right="llllrrlrrrrrrl", ink=ink, most=most, drop=drop, flex="session", least=6)
    if len(found.sessions) > _MOST_SESSIONS:
        lines.append(f"  … and {len(found.sessions) - _MOST_SESSIONS:,} more (--format json lists all)")
    return lines


def _session_row(view: SessionView, decision: Decision | None, clock: Clock, ink: Ink, most: int) -> list[str]:
    head = [
        short(view.session),
        clock(view.last if view.last is not None else view.first, "%m-%d %H:%M"),
        view.source,
        cut(clean(view.project or UNKNOWN), 16),
    ]
    cost = usd(view.sums.cost_usd, mark=cost_mark(view.sums))
    if view.totals_only:
        used = f"sum {tokens(view.sums.prompt_tokens)}"
        return [*head, UNKNOWN, used, "", *[UNKNOWN] * 5, cost, ink("totals only", "dim")]
    limit = tokens(view.usable_limit) + (ASSUMED if view.usable_limit is not None and view.usable_limit_assumed else "")
    compactions = str(view.compactions)
    if view.inferred_compactions:
        compactions += f" ({ESTIMATED}{view.inferred_compactions})"
    advice = UNKNOWN
    if decision is not None:
        advice = ink(ACTION_WORDS[decision.action], INKS[decision.action])
    return [
        *head,
        f"{view.sums.calls:,}" + (f"+{view.sums.side_calls:,}" if view.sums.side_calls else ""),
        f"{tokens(used_tokens(view), mark=used_mark(view))}/{limit}",
        bar(view.fill),
        percent(view.fill),
        tokens(view.peak_prompt_tokens),
        percent(view.cache_hit_ratio),
        str(sum(view.cache_misses.values())) if view.cache_hit_ratio is not None else UNKNOWN,
        compactions,
        cost,
        advice,
    ]


def notes(found: Loaded, total: Mapping[str, Any], ink: Ink, most: int) -> list[str]:
    """What the marks mean and what is not in the figures."""
    views = found.sessions
    told = []
    if any(view.usable_limit_assumed and view.usable_limit is not None for view in views):
        told.append(f"{ASSUMED} limit: by the client's own rule, not logged (--context-limit sets it)")
    told += sum_notes(total)
    if total["inherited_calls"]:
        copies = plural(total["inherited_calls"], "copy", "copies")
        told.append(f"{copies} of turns in resumed or forked sessions; each turn counts once")
    if any(view.totals_only for view in views):
        told.append("totals only: the tool logs sums per session and no calls, so there is no curve and no advice")
    if found.problems:
        told.append(f"{plural(len(found.problems), 'problem')} while reading (`ctxmon doctor` lists them)")
    return ["", *(ink(line, "dim") for note in told for line in wrap(note, most))] if told else []


def sum_notes(total: Mapping[str, Any]) -> list[str]:
    """What the marks of sums mean, and what is in none of them."""
    told = []
    if total["output_is_lower_bound"]:
        told.append(f"{AT_LEAST} output: answers that were logged before they were finished; output and cost are at "
                    "least this")  # fmt: skip
    if total["inferred_compactions"]:
        told.append(f"{ESTIMATED} compactions: so many are inferred from token counts, the log has no mark")
    if total["cost_is_estimate"]:
        told.append(f"{ESTIMATED} cost: the price is that of a model with a similar name, or tokens are estimates")
    if total["unpriced_calls"]:
        told.append(f"{plural(total['unpriced_calls'], 'turn')} without a known price not in the cost "
                    "(--prices FILE adds prices)")  # fmt: skip
    if total["calls_without_usage"]:
        told.append(f"{plural(total['calls_without_usage'], 'turn')} without token counts in the log")
    if total["side_calls"]:
        told.append(f"+{plural(total['side_calls'], 'side call')} (titles, routing, token counting) beside the turns, "
                    "in no sum")  # fmt: skip
    if total["error_calls"]:
        told.append(f"{plural(total['error_calls'], 'request')} failed: in the cost where the log says what it was")
    return told


__all__ = ["Clock", "short", "text"]
