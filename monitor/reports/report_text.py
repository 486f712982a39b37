"""The report for eyes."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any

from monitor.decision.model import ACTION_WORDS, Decision
from monitor.reports import shape
from monitor.reports.text import UNKNOWN, Ink, Stream, bar, cells, clean, cut, percent, table, tokens, usd, width
from monitor.sessions.view import Loaded, SessionView

_MOST_SESSIONS, _MOST_DAYS, _MOST_COMPACTIONS = 20, 14, 12
_INKS = {"continue": "green", "trim": "yellow", "compact_at_boundary": "yellow", "compact_now": "red",
         "notes_new_window": "magenta", "fresh": "magenta"}  # fmt: skip


def text(
    found: Loaded, decisions: Mapping[str, Decision], now: int, *, out: Stream | None = None, zone: str | None = None
) -> str:
    """The report of loaded sessions.

    Args:
        now: milliseconds since the epoch.
        out: where it will go (decides about colour); None: plain.
        zone: name of the time zone times are shown in; None: the machine's.
    """
    ink = Ink(out)
    clock = Clock(zone)
    if not found.sessions:
        return "No session with calls was found.\n" + _how_to_go_on()
    total = shape.totals(found.sessions)
    lines = [_title(found, total, clock, ink), ""]
    lines += _totals(total, ink)
    lines += ["", *_sessions(found, decisions, clock, ink)]
    lines += _compactions(found, clock, ink)
    lines += _misses(found, total, ink)
    lines += _groups("By model", shape.by_model(found.sessions), "model", ink)
    days = shape.by_day(found.sessions)
    if len(days) > 1:
        lines += _groups("By day (UTC)", days[-_MOST_DAYS:], "date", ink)
    lines += _notes(found, total)
    return "\n".join(lines)


def _how_to_go_on() -> str:
    return "Name a log file or folder (`ctxmon report PATH`), or ask `ctxmon doctor PATH` what was seen there."


class Clock:
    """Times in one zone."""

    def __init__(self, zone: str | None) -> None:
        self.zone: dt.tzinfo | None = None
        if zone is not None:
            import zoneinfo

            try:
                self.zone = zoneinfo.ZoneInfo(zone)
            except (zoneinfo.ZoneInfoNotFoundError, ValueError) as error:
                from monitor.reports.errors import ReportError

                raise ReportError(f"--tz {zone}: there is no such time zone here (e.g. Europe/Berlin, UTC)") from error

    def __call__(self, ms: int | None, form: str = "%Y-%m-%d %H:%M") -> str:
        if ms is None:
            return UNKNOWN
        moment = dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(milliseconds=ms)
        return moment.astimezone(self.zone).strftime(form)


def _title(found: Loaded, total: dict[str, Any], clock: Clock, ink: Ink) -> str:
    firsts = [view.first for view in found.sessions if view.first is not None]
    lasts = [view.last for view in found.sessions if view.last is not None]
    when = f" · {clock(min(firsts))} to {clock(max(lasts))}" if firsts and lasts else ""
    many = "session" if len(found.sessions) == 1 else "sessions"
    return ink("ctxmon report", "bold") + f" · {len(found.sessions)} {many} · {total['calls']} turns{when}"


def _totals(total: dict[str, Any], ink: Ink) -> list[str]:
    mark = ">" if total["output_is_lower_bound"] else ""
    reads, prompts = total["cache_read_tokens"], total["prompt_tokens"]
    head = ("prompt", "cache read", "cache write", "fresh", "output", "read share", "cost")
    row = (
        tokens(prompts),
        tokens(reads),
        tokens(total["cache_write_tokens"]),
        tokens(total["fresh_tokens"]),
        tokens(total["output_tokens"], mark=mark),
        percent(reads / prompts if reads is not None and prompts else None),
        usd(total["cost_usd"], mark=mark),
    )
    return table(head, [row], right="rrrrrrr", ink=ink)


def _sessions(found: Loaded, decisions: Mapping[str, Decision], clock: Clock, ink: Ink) -> list[str]:
    lines = [ink("Sessions", "bold") + "  (turn = one API call; now/limit: the context after the last turn)"]
    wide = width() >= 118
    head = ["session", "source", "turns", "now/limit", "", "peak", "hit", "misses", "compactions", "cost", "advice"]
    if wide:
        head.insert(2, "project")
        head.insert(1, "last")
    rows = []
    for view in found.sessions[:_MOST_SESSIONS]:
        row = _session_row(view, decisions.get(view.session), ink)
        if wide:
            row.insert(2, cut(clean(view.project or UNKNOWN), 16))
            row.insert(1, clock(view.last, "%m-%d %H:%M"))
        rows.append(row)
    right = "lllrrlrrrrrl"[1:] if not wide else "llllrrlrrrrrl"
    lines += table(head, rows, right=right, ink=ink)
    if len(found.sessions) > _MOST_SESSIONS:
        lines.append(f"  … and {len(found.sessions) - _MOST_SESSIONS} more (--format json lists all)")
    return lines


def _session_row(view: SessionView, decision: Decision | None, ink: Ink) -> list[str]:
    if view.totals_only:
        return [short(view.session), view.source, UNKNOWN, "totals only", "", UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN,
                usd(view.sums.cost_usd), UNKNOWN]  # fmt: skip
    used = None
    if view.last_prompt_tokens is not None:
        used = view.last_prompt_tokens + (view.last_output_tokens or 0)
    limit = tokens(view.usable_limit) + ("?" if view.usable_limit is not None and view.usable_limit_assumed else "")
    misses = sum(view.cache_misses.values())
    compactions = str(view.compactions)
    if view.inferred_compactions:
        compactions += f" (~{view.inferred_compactions})"
    advice = UNKNOWN
    if decision is not None:
        advice = ink(ACTION_WORDS[decision.action], _INKS[decision.action])
    return [
        short(view.session),
        view.source,
        str(view.sums.calls) + (f"+{view.sums.side_calls}" if view.sums.side_calls else ""),
        f"{tokens(used)}/{limit}",
        f"{bar(view.fill)} {percent(view.fill):>4}",
        tokens(view.peak_prompt_tokens),
        percent(view.prefix_hit_ratio),
        str(misses) if view.cache_hit_ratio is not None else UNKNOWN,
        compactions,
        usd(view.sums.cost_usd, mark=">" if view.sums.output_is_lower_bound else ""),
        advice,
    ]


def short(session: str) -> str:
    """A session's id as people need it: the first group of a uuid, the whole of a short name."""
    name = clean(session)
    return name[:8] if len(name) >= 32 else cut(name, 18)


def _compactions(found: Loaded, clock: Clock, ink: Ink) -> list[str]:
    rows = []
    for view in found.sessions:
        for cost in view.compaction_costs:
            event = cost.event
            rows.append((event.time or 0, [
                short(view.session),
                clock(event.time, "%m-%d %H:%M"),
                str(event.before_call) if event.before_call is not None else UNKNOWN,
                f"{tokens(event.tokens_before)} → {tokens(event.tokens_after)}",
                event.trigger or UNKNOWN,
                event.evidence,
                tokens(cost.rewrite_tokens),
                tokens(cost.saved_tokens),
                str(cost.break_even_call) if cost.break_even_call is not None else UNKNOWN,
                cost.verdict,
            ]))  # fmt: skip
    if not rows:
        return []
    rows.sort(key=lambda row: row[0], reverse=True)
    head = ("session", "time", "turn", "before → after", "trigger", "evidence", "rewritten", "saved", "pays after",
            "verdict")  # fmt: skip
    lines = ["", ink("Compactions", "bold")]
    lines += table(head, [row for _, row in rows[:_MOST_COMPACTIONS]], right="llrrllrrrl", ink=ink)
    if len(rows) > _MOST_COMPACTIONS:
        lines.append(f"  … and {len(rows) - _MOST_COMPACTIONS} more")
    return lines


_CAUSES = {
    "compaction": "after a compaction",
    "trim": "tool results were dropped",
    "model_switch": "another model",
    "expired": "pause longer than the cache lives",
    "prefix_changed": "the beginning of the prompt changed",
    "unknown": "cause unknown",
}


def _misses(found: Loaded, total: dict[str, Any], ink: Ink) -> list[str]:
    if not total["cache_misses"]:
        return []
    costs: dict[str, float] = {}
    for view in found.sessions:
        for turn in view.turns:
            if turn.cache_miss_cause is not None and turn.miss_cost_usd is not None:
                costs[turn.cache_miss_cause] = costs.get(turn.cache_miss_cause, 0.0) + turn.miss_cost_usd
    rows = [
        (cause, _CAUSES.get(cause, ""), str(count), usd(costs.get(cause)))
        for cause, count in sorted(total["cache_misses"].items(), key=lambda entry: -entry[1])
    ]
    return ["", ink("Cache misses", "bold"), *table(("cause", "", "turns", "cost of it"), rows, right="llrr", ink=ink)]


def _groups(title: str, groups: list[dict[str, Any]], key: str, ink: Ink) -> list[str]:
    rows = [
        (
            clean(row[key] or "(not known)"),
            str(row["calls"]),
            tokens(row["prompt_tokens"]),
            tokens(row["cache_read_tokens"]),
            tokens(row["cache_write_tokens"]),
            tokens(row["fresh_tokens"]),
            tokens(row["output_tokens"], mark=">" if row["output_is_lower_bound"] else ""),
            usd(row["cost_usd"]),
        )
        for row in groups
        if row["calls"]
    ]
    if not rows:
        return []
    head = (key, "turns", "prompt", "read", "write", "fresh", "output", "cost")
    return ["", ink(title, "bold"), *table(head, rows, right="lrrrrrrr", ink=ink)]


def _notes(found: Loaded, total: dict[str, Any]) -> list[str]:
    notes = []
    if any(view.usable_limit_assumed and view.usable_limit is not None for view in found.sessions):
        notes.append("? limit: by the client's own rule, not logged (--context-limit sets it)")
    if total["output_is_lower_bound"]:
        notes.append("> output: some answers were logged before they were finished; output and cost are at least this")
    if total["inferred_compactions"]:
        notes.append("~ compactions: so many of them inferred from token counts, the log has no mark")
    if total["unpriced_calls"]:
        notes.append(f"{total['unpriced_calls']} turns of models without a known price are not in the cost")
    if total["error_calls"]:
        notes.append(f"{total['error_calls']} requests failed (not counted)")
    if total["inherited_calls"]:
        notes.append(f"{total['inherited_calls']} copies of turns in resumed or forked sessions counted once")
    if found.problems:
        notes.append(f"{len(found.problems)} problems while reading (`ctxmon doctor` lists them)")
    return ["", *(f"  {note}" for note in notes)] if notes else []


__all__ = ["Clock", "cells", "short", "text"]
