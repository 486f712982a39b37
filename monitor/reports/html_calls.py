"""The calls of a picture as a table: exact figures for those who cannot see it, and for its read-out."""

from __future__ import annotations

from collections.abc import Sequence

from monitor.reports.clock import Clock
from monitor.reports.html_parts import Raw
from monitor.reports.sampling import Curve
from monitor.reports.text import UNKNOWN, percent, usd
from monitor.reports.words import MISS, PARTIAL, cause_word, read_share, turn_cost_mark, turn_mark, turn_output_mark
from monitor.sessions.view import Turn


def call_rows(curve: Curve, clock: Clock, days: int) -> tuple[list[str], list[list[str]]]:
    """The calls of a curve as texts under their heads: exact figures, marked where they are no facts."""
    form = "%H:%M:%S" if days <= 1 else "%m-%d %H:%M:%S"
    columns = ["turn", "time", "prompt", "cache read", "cache write", "fresh", "output", "from cache", "cost", "cache"]
    rows = []
    for turn in curve.turns:
        call = turn.call
        rows.append([
            str(turn.index),
            clock(call.time, form),
            _exact(call.prompt_tokens, turn_mark(turn)),
            _exact(call.cache_read_tokens),
            _exact(call.cache_write_tokens),
            _exact(call.fresh_tokens),
            _exact(call.output_tokens, turn_output_mark(turn)),
            percent(read_share(turn)),
            usd(turn.cost_usd, mark=turn_cost_mark(turn)),
            outcome(turn),
        ])  # fmt: skip
    return columns, rows


def _exact(value: int | None, mark: str = "") -> str:
    return UNKNOWN if value is None else f"{mark}{value:,}"


def outcome(turn: Turn) -> str:
    """What the cache did, in words: ``✖ miss: expired``."""
    if turn.cache_miss_cause is not None:
        sign = MISS if turn.cache_outcome == "miss" else PARTIAL
        return f"{sign} {turn.cache_outcome}: {cause_word(turn.cache_miss_cause)}"
    return "not reported" if turn.cache_outcome == "unreported" else turn.cache_outcome


def call_table(name: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Raw:
    """The table behind the picture, written without a function call per cell: there are many. Texts are our own."""
    head = "".join(f'<th scope="col">{column}</th>' for column in columns)
    lines = "\n".join(f"<tr><td>{'</td><td>'.join(row)}</td></tr>" for row in rows)
    return Raw(
        f'<div class="scroll tall" role="region" aria-label="turns of the picture" tabindex="0">'
        f'<table class="calls" id="{name}-t"><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table></div>'
    )
