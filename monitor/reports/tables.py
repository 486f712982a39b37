"""Tables for eyes that more than one report has: sums, compactions, cache misses, groups by model or day."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from monitor.reports import shape
from monitor.reports.clock import Clock
from monitor.reports.text import UNKNOWN, Ink, clean, percent, table, tokens, usd
from monitor.reports.words import AT_LEAST, CAUSES, cost_mark, output_mark, short
from monitor.sessions.misses import MissRow
from monitor.sessions.view import SessionView

_MOST_COMPACTIONS = 12


def totals_table(total: Mapping[str, Any], ink: Ink, most: int) -> list[str]:
    """Sums in one row. ``total`` has the names of the contract."""
    reads, prompts = total["cache_read_tokens"], total["prompt_tokens"]
    head = ["prompt", "cache read", "cache write", "fresh", "output", "read share", "cost"]
    row = [
        tokens(prompts),
        tokens(reads),
        tokens(total["cache_write_tokens"]),
        tokens(total["fresh_tokens"]),
        tokens(total["output_tokens"], mark=output_mark(total)),
        percent(reads / prompts if reads is not None and prompts else None),
        usd(total["cost_usd"], mark=cost_mark(total)),
    ]
    if total["reasoning_tokens"]:
        head.insert(5, "reasoning")
        row.insert(5, tokens(total["reasoning_tokens"]))
    return table(
        head, [row], right="rrrrrrrr", ink=ink, most=most, drop=("reasoning", "read share", "cache write", "fresh")
    )


def compactions(views: Sequence[SessionView], clock: Clock, ink: Ink, most: int) -> list[str]:
    """What compactions took and gave, the latest first."""
    several = len(views) > 1
    rows = []
    for view in views:
        for cost in shape.balances(view):
            event = cost.event
            place = f"{event.before_call}" if event.before_call is not None else UNKNOWN
            size = f"{tokens(event.tokens_before)} → {tokens(event.tokens_after)}"
            row = [
                clock(event.time, "%m-%d %H:%M"),
                place,
                size,
                event.trigger or UNKNOWN,
                event.evidence,
                tokens(cost.rewrite_tokens),
                tokens(cost.saved_tokens),
                str(cost.break_even_call) if cost.break_even_call is not None else UNKNOWN,
                str(cost.calls_after),
                ink(cost.verdict, *_VERDICTS.get(cost.verdict, ())),
            ]
            rows.append((event.time or 0, [short(view.session), *row] if several else row))
    if not rows:
        return []
    rows.sort(key=lambda row: row[0], reverse=True)
    head = ["time", "turn", "before → after", "trigger", "evidence", "rewritten", "saved", "pays after", "turns since",
            "verdict"]  # fmt: skip
    right = "lrrllrrrrl"
    if several:
        head, right = ["session", *head], "l" + right
    lines = ["", ink("Compactions", "bold")]
    drop = ("trigger", "turns since", "saved", "evidence", "time", "rewritten", "pays after", "turn")
    lines += table(
        head, [row for _, row in rows[:_MOST_COMPACTIONS]], right=right, ink=ink, most=most, drop=drop, flex="session",
        least=6,
    )  # fmt: skip
    if len(rows) > _MOST_COMPACTIONS:
        lines.append(f"  … and {len(rows) - _MOST_COMPACTIONS} more (--format json lists all)")
    return lines


_VERDICTS = {"paid back": ("green",), "did not pay": ("red",), "not yet": ("yellow",)}


def misses_table(found: Sequence[MissRow], ink: Ink, most: int) -> list[str]:
    """Cache misses by cause, with what they cost above a cache read."""
    if not found:
        return []
    rows = [
        (
            row.cause,
            CAUSES.get(row.cause, ""),
            f"{row.calls:,}",
            f"{row.partial:,}" if row.partial else "",
            usd(row.cost, mark=AT_LEAST if row.unpriced and row.cost is not None else ""),
        )
        for row in found
    ]
    head = ("cause", "", "turns", "partial", "cost of it")
    return [
        "",
        ink("Cache misses", "bold"),
        *table(head, rows, right="llrrr", ink=ink, most=most, drop=("", "partial")),
    ]


def groups_table(
    title: str,
    groups: Sequence[dict[str, Any]],
    key: str,
    ink: Ink,
    most: int,
    limit: int,
) -> list[str]:
    """Sums by model or by day; of days the last ``limit``."""
    used = [row for row in groups if row["calls"]]
    if not used:
        return []
    shown = used[-limit:] if key == "date" else used[:limit]
    rows = [
        (
            clean(row[key] or "(not known)"),
            f"{row['calls']:,}",
            tokens(row["prompt_tokens"]),
            tokens(row["cache_read_tokens"]),
            tokens(row["cache_write_tokens"]),
            tokens(row["fresh_tokens"]),
            tokens(row["output_tokens"], mark=output_mark(row)),
            usd(row["cost_usd"], mark=cost_mark(row)),
        )
        for row in shown
    ]
    head = (key, "turns", "prompt", "read", "write", "fresh", "output", "cost")
    lines = ["", ink(title, "bold")]
    lines += table(
        head, rows, right="lrrrrrrr", ink=ink, most=most, drop=("write", "fresh", "read", "output"), flex=key, least=12
    )
    if len(shown) < len(used):
        which = "earlier days" if key == "date" else "more"
        lines.append(f"  … and {len(used) - len(shown)} {which} (--format json lists all)")
    return lines
