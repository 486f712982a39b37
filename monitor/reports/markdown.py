"""The report as Markdown for pull requests: compact tables, no colours, nothing that a name in a log could break."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from monitor.decision.model import ACTION_WORDS, Decision
from monitor.reports import gather, shape
from monitor.reports.clock import Clock
from monitor.reports.session_text import forecast
from monitor.reports.text import UNKNOWN, Ink, clean, percent, tokens, usd
from monitor.reports.words import (
    ASSUMED,
    AT_LEAST,
    CAUSES,
    ESTIMATED,
    chain_name,
    cost_mark,
    output_mark,
    plural,
    short,
    used_mark,
    used_tokens,
)
from monitor.sessions.misses import by_cause
from monitor.sessions.view import Loaded, SessionView

_MOST_SESSIONS, _MOST_COMPACTIONS, _MOST_ROWS = 20, 10, 14
#: characters that mean something in Markdown, in the middle of a line or of a table
_SPECIAL = str.maketrans({c: f"\\{c}" for c in "\\`*_{}[]<>|~#"} | {"@": "&#64;", "&": "&amp;"})


def text(found: Loaded, decisions: Mapping[str, Decision], now: int, *, zone: str | None = None) -> str:
    """`report --format md`.

    Args:
        decisions: by session.
        now: milliseconds since the epoch.
        zone: name of the time zone times are shown in; None: the machine's.

    Raises:
        ReportError: there is no such time zone.
    """
    clock = Clock(zone)
    views = found.sessions
    if not views:
        return "### Context report\n\nNo session with calls was found."
    total = shape.totals(views)
    facts = [plural(len(views), "session"), plural(total["calls"], "turn")]
    firsts = [view.first for view in views if view.first is not None]
    lasts = [view.last for view in views if view.last is not None]
    if firsts and lasts:
        facts.append(f"{clock.period(min(firsts), max(lasts))} {clock.name(max(lasts))}")
    parts = ["### Context report", plain(" · ".join(facts)), _totals(views, total)]
    if len(views) == 1:
        parts += _session(views[0], decisions.get(views[0].session), clock)
    else:
        parts.append(_sessions(views, decisions))
    parts += [_compactions(views, clock), _misses(views), _models(views), _days(views, clock, now)]
    from monitor.reports.report_text import notes

    told = [line.strip() for line in notes(found, total, Ink(None), 10_000) if line.strip()]
    parts.append("\n".join(f"- {plain(line)}" for line in told))
    return "\n\n".join(part for part in parts if part)


def plain(value: object) -> str:
    """Text that means nothing to Markdown: no markup, no link, no mention of a person."""
    return clean(str(value)).translate(_SPECIAL).replace("://", "&#58;//")


def table(head: Sequence[str], rows: Sequence[Sequence[object]], left: Sequence[int] = (0,)) -> str:
    """A table; the columns in ``left`` hold text, the others numbers. None is the dash of unknown values."""
    rule = "|".join(":--" if place in left else "--:" for place in range(len(head)))
    lines = [f"| {' | '.join(head)} |", f"|{rule}|"]
    for row in rows:
        lines.append(f"| {' | '.join(UNKNOWN if cell is None else plain(cell) for cell in row)} |")
    return "\n".join(lines)


def _titled(title: str, body: str) -> str:
    return f"**{title}**\n\n{body}"


def _totals(views: Sequence[SessionView], total: Mapping[str, Any]) -> str:
    prompts, reads = total["prompt_tokens"], total["cache_read_tokens"]
    row = (
        tokens(prompts),
        f"{tokens(reads)} ({percent(reads / prompts if reads is not None and prompts else None)})",
        tokens(total["cache_write_tokens"]),
        tokens(total["fresh_tokens"]),
        tokens(total["output_tokens"], mark=output_mark(total)),
        tokens(total["peak_prompt_tokens"]),
        sum(total["cache_misses"].values()) if reads is not None else None,
        total["compactions"],
        usd(total["cost_usd"], mark=cost_mark(total)),
    )
    head = ("prompt", "cache read", "cache write", "fresh", "output", "peak", "misses", "compactions", "cost")
    return table(head, [row], left=())


def _sessions(views: Sequence[SessionView], decisions: Mapping[str, Decision]) -> str:
    rows: list[Sequence[object]] = []
    for view in views[:_MOST_SESSIONS]:
        cost = usd(view.sums.cost_usd, mark=cost_mark(view.sums))
        if view.totals_only:
            used = f"sum {tokens(view.sums.prompt_tokens)}"
            rows.append((short(view.session), view.source, None, used, None, None, None, None, cost, "totals only"))
            continue
        decision = decisions.get(view.session)
        inferred = f" ({ESTIMATED}{view.inferred_compactions})" if view.inferred_compactions else ""
        rows.append(
            (
                short(view.session),
                view.source,
                f"{view.sums.calls:,}" + (f"+{view.sums.side_calls:,}" if view.sums.side_calls else ""),
                _context(view),
                tokens(view.peak_prompt_tokens),
                percent(view.cache_hit_ratio),
                sum(view.cache_misses.values()) if view.cache_hit_ratio is not None else None,
                f"{view.compactions}{inferred}",
                cost,
                ACTION_WORDS[decision.action] if decision is not None else None,
            )
        )
    head = ("session", "source", "turns", "context now", "peak", "hit", "misses", "compactions", "cost", "advice")
    body = table(head, rows, left=(0, 1, 9))
    if len(views) > _MOST_SESSIONS:
        body += f"\n\n… and {len(views) - _MOST_SESSIONS:,} older sessions"
    return _titled("Sessions", body)


def _context(view: SessionView) -> str:
    mark = ASSUMED if view.usable_limit is not None and view.usable_limit_assumed else ""
    full = f" ({percent(view.fill)})" if view.fill is not None else ""
    return f"{tokens(used_tokens(view), mark=used_mark(view))} of {tokens(view.usable_limit)}{mark}{full}"


def _session(view: SessionView, decision: Decision | None, clock: Clock) -> list[str]:
    models = ", ".join(view.models) or "model not known"
    facts = [f"session {view.session}", view.source, models]
    if view.totals_only:
        return [plain(" · ".join(facts)), "The tool logs totals per session only: no curve, no advice."]
    facts += [f"context now {_context(view)}", forecast(view)]
    parts = [plain(" · ".join(facts))]
    if decision is not None:
        reasons = "\n".join(f"- {plain(reason)}" for reason in decision.reasons)
        rule = f"**{ACTION_WORDS[decision.action]}** (rule `{decision.rule}`, confidence {decision.confidence})"
        parts.append(f"{rule}\n\n{reasons}\n\nNext: {plain(decision.next)}")
    found = gather.windows(view)
    if len(found) > 1:
        rows = [
            (
                chain_name(row.chain),
                row.window,
                f"{row.first.index}–{row.last.index}",
                tokens(row.opened),
                tokens(row.peak),
                tokens(row.closed),
                row.ended.kind if row.ended is not None else None,
            )
            for row in found[:_MOST_ROWS]
        ]
        head = ("chain", "window", "turns", "first prompt", "peak", "last", "ended by")
        parts.append(_titled("Windows", table(head, rows, left=(0, 6))))
    return parts


def _compactions(views: Sequence[SessionView], clock: Clock) -> str:
    rows = []
    for view in views:
        for cost in shape.balances(view):
            event = cost.event
            rows.append(
                (
                    event.time or 0,
                    (
                        short(view.session),
                        clock(event.time, "%m-%d %H:%M"),
                        event.before_call,
                        f"{tokens(event.tokens_before)} → {tokens(event.tokens_after)}",
                        ", ".join(part for part in (event.evidence, event.trigger) if part),
                        cost.break_even_call,
                        cost.calls_after,
                        cost.verdict,
                    ),
                )
            )
    if not rows:
        return ""
    rows.sort(key=lambda row: row[0], reverse=True)
    head = ("session", "time", "turn", "before → after", "evidence", "pays after", "turns since", "verdict")
    body = table(head, [row for _, row in rows[:_MOST_COMPACTIONS]], left=(0, 1, 4, 7))
    if len(rows) > _MOST_COMPACTIONS:
        body += f"\n\n… and {len(rows) - _MOST_COMPACTIONS:,} more"
    return _titled("Compactions", body)


def _misses(views: Sequence[SessionView]) -> str:
    rows = [
        (
            CAUSES.get(row.cause, row.cause),
            row.calls,
            row.partial,
            usd(row.cost, mark=AT_LEAST if row.unpriced and row.cost is not None else ""),
        )
        for row in by_cause(views)
    ]
    return _titled("Cache misses", table(("cause", "turns", "of these partial", "cost of it"), rows)) if rows else ""


def _models(views: Sequence[SessionView]) -> str:
    groups = [row for row in shape.by_model(views) if row["calls"]]
    if len(groups) < 2:
        return ""
    return _titled("By model", _sums(groups[:_MOST_ROWS], "model"))


def _days(views: Sequence[SessionView], clock: Clock, now: int) -> str:
    groups = [row for row in gather.by_day(views, clock) if row["calls"]]
    if len(groups) < 2:
        return ""
    zone = "UTC" if clock.utc else plain(clock.name(now))
    return _titled(f"By day ({zone})", _sums(groups[-_MOST_ROWS:], "date"))


def _sums(groups: Sequence[dict[str, Any]], key: str) -> str:
    rows = [
        (
            row[key] or "(not known)",
            f"{row['calls']:,}",
            tokens(row["prompt_tokens"]),
            tokens(row["cache_read_tokens"]),
            tokens(row["output_tokens"], mark=output_mark(row)),
            usd(row["cost_usd"], mark=cost_mark(row)),
        )
        for row in groups
    ]
    return table((key, "turns", "prompt", "cache read", "output", "cost"), rows)
