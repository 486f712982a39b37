"""The report of call tables too big for memory, for eyes: sums, dearest sessions, causes of misses, models, days."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from monitor.decision.model import ACTION_WORDS
from monitor.records import Problem
from monitor.reports.clock import Clock
from monitor.reports.fleet_report import ReportTally
from monitor.reports.report_text import sum_notes
from monitor.reports.tables import groups_table, misses_table, totals_table
from monitor.reports.text import UNKNOWN, Ink, Stream, clean, cut, percent, table, tokens, usd, width, wrap
from monitor.reports.words import ASSUMED, ESTIMATED, INKS, cost_mark, plural, short

_MOST_DAYS, _MOST_MODELS = 31, 20


def text(
    tally: ReportTally,
    problems: Sequence[Problem],
    calls: int,
    *,
    out: Stream | None = None,
    most: int | None = None,
) -> str:
    """The report of a tally. Days and times are in UTC.

    Args:
        calls: rows that were read, copies included.
        out: where it will go (decides about colour); None: plain.
        most: columns; None: those of the terminal.
    """
    ink, clock = Ink(out), Clock("UTC")
    most = max(40, most if most is not None else width())
    if not tally.sessions:
        return "No session with calls was found."
    total = tally.total
    parts = [plural(tally.sessions, "session"), plural(total["calls"], "turn")]
    if tally.first is not None and tally.last is not None:
        parts.append(clock.period(tally.first, tally.last) + " UTC")
    lines = [ink("ctxmon report", "bold") + cut(" · " + " · ".join(parts), most - 13), ""]
    lines += totals_table(total, ink, most)
    lines += _sizes(total)
    lines += _sessions(tally, clock, ink, most)
    lines += misses_table(tally.causes(), ink, most)
    lines += groups_table("By model", tally.by_model(), "model", ink, most, _MOST_MODELS)
    lines += groups_table("By day (UTC)", tally.by_day(), "date", ink, most, _MOST_DAYS)
    lines += _notes(tally, total, problems, calls, ink, most)
    return "\n".join(lines)


def _sizes(total: dict[str, Any]) -> list[str]:
    inferred = f" ({ESTIMATED}{total['inferred_compactions']:,})" if total["inferred_compactions"] else ""
    return [
        "",
        f"  {plural(total['windows'], 'window')}, {plural(total['compactions'], 'compaction')}{inferred}, "
        f"largest prompt {tokens(total['peak_prompt_tokens'])}",
    ]


def _sessions(tally: ReportTally, clock: Clock, ink: Ink, most: int) -> list[str]:
    rows = []
    for top in tally.top:
        row = top.row
        decision = row["decision"]
        advice = ink(ACTION_WORDS[decision["action"]], INKS[decision["action"]]) if decision else UNKNOWN
        rows.append(
            [
                short(row["session"]),
                (row["last"] or UNKNOWN)[:16].replace("T", " "),
                cut(clean(" ".join(row["models"])), 24),
                f"{row['calls']:,}",
                tokens(row["prompt_tokens"]),
                tokens(row["peak_prompt_tokens"]),
                percent(row["cache_hit_ratio"]),
                f"{row['compactions']:,}",
                usd(row["cost_usd"], mark=cost_mark(row)),
                advice,
            ]
        )
    head = ["session", "last", "models", "turns", "prompt", "peak", "hit", "comp.", "cost", "advice"]
    shown = "all of them" if len(rows) == tally.sessions else f"the {len(rows)} with the highest cost"
    return [
        "",
        ink("Sessions", "bold") + ink(cut(f"  {shown}; --format json or csv lists every one", most - 8), "dim"),
        *table(head, rows, right="lllrrrrrrl", ink=ink, most=most, drop=("models", "last", "peak", "hit", "comp."),
               flex="session", least=6),
    ]  # fmt: skip


def _notes(
    tally: ReportTally, total: dict[str, Any], problems: Sequence[Problem], calls: int, ink: Ink, most: int
) -> list[str]:
    told = []
    if tally.assumed_limits:
        told.append(f"{ASSUMED} limits behind the advice: by the client's own rule, not logged (--context-limit sets "
                    "them)")  # fmt: skip
    told += sum_notes(total)
    told.append(f"{plural(calls, 'row')} read; a call told twice counts once")
    if problems:
        told.append(f"{plural(len(problems), 'problem')} while reading (-v lists them)")
    return ["", *(ink(line, "dim") for note in told for line in wrap(note, most))]
