"""The words and signs that all reports and the dashboard share, so that all of them say the same."""

from __future__ import annotations

from typing import Any

from monitor.records import Event
from monitor.reports.text import clean, cut, tokens
from monitor.sessions.view import SessionView, Turn

#: marks of values: assumed, estimated or inferred, a lower bound
ASSUMED, ESTIMATED, AT_LEAST = "?", "~", "≥"

#: cause of a miss -> what it means; :func:`cause_word` names it
CAUSES = {
    "compaction": "after a compaction",
    "trim": "tool results were dropped",
    "model_switch": "another model",
    "expired": "a pause longer than the cache lives",
    "prefix_changed": "the beginning of the prompt changed",
    "unknown": "cause unknown",
}

#: kind of event -> (sign where recorded, sign where inferred, word)
EVENTS = {
    "compaction": ("▲", "△", "compaction"),
    "microcompaction": ("▼", "▽", "microcompaction"),
    "trim": ("▼", "▽", "trim"),
    "clear": ("◇", "◇", "clear"),
    "fork": ("┴", "┴", "fork"),
    "rewind": ("◂", "◂", "rewind"),
    "model_switch": ("◆", "◆", "model switch"),
    "error": ("!", "!", "error"),
    "overflow": ("‼", "‼", "overflow"),
    "thrash": ("‼", "‼", "thrash"),
    "unexplained_drop": ("¿", "¿", "unexplained drop"),
}
MISS = "✖"
PARTIAL = "✕"

#: colours of actions on a terminal
INKS = {
    "continue": "green",
    "trim": "yellow",
    "compact_at_boundary": "yellow",
    "compact_now": "red",
    "notes_new_window": "magenta",
    "fresh": "magenta",
}
#: how values were obtained that people should not take for logged ones
HOW = {"assumed": "assumed", "estimated": "estimate", "lower bound": "at least", "inferred": "inferred"}


def short(session: str, most: int = 18) -> str:
    """A session's id as people need it: the first group of a uuid, the whole of a short name."""
    name = clean(session)
    return name[:8] if len(name) >= 32 else cut(name, most)


def chain_name(chain: str, most: int = 16) -> str:
    """``main``, ``agent a532c40``: the id of a subagent shortened to what tells it from others."""
    kind, _, name = clean(chain).partition(":")
    return cut(f"{kind} {name[:8] if len(name) >= 16 else name}" if name else kind, most)


def plural(count: int, one: str, many: str = "") -> str:
    """``1 turn``, ``1,204 turns``."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def span(low: float, middle: float, high: float, about: str = "about ") -> str:
    """A range: ``about 40 (13–128)``, one in ten lies below it and one in ten above."""

    def number(value: float) -> str:
        return f"{value:,.0f}" if value >= 9.95 or value == int(value) else f"{value:.1f}"

    return f"{about}{number(middle)} ({number(low)}–{number(high)})"


def output_mark(sums: Any) -> str:
    """Mark of an output sum (``Sums`` or a row of the JSON)."""
    return AT_LEAST if _of(sums, "output_is_lower_bound") else ""


def cost_mark(sums: Any) -> str:
    """Mark of a sum of costs: at least, where outputs are lower bounds or calls have no price; else ``~``."""
    if _of(sums, "output_is_lower_bound") or _of(sums, "unpriced_calls"):
        return AT_LEAST
    return ESTIMATED if _of(sums, "cost_is_estimate") else ""


def _of(sums: Any, name: str) -> Any:
    return sums.get(name) if isinstance(sums, dict) else getattr(sums, name)


def turn_mark(turn: Turn) -> str:
    """``~`` where the tokens of a call are estimates."""
    return ESTIMATED if turn.call.status == "estimated" else ""


def turn_output_mark(turn: Turn) -> str:
    """``≥`` where the answer was logged before it was finished."""
    return AT_LEAST if turn.call.output_is_lower_bound else turn_mark(turn)


def turn_cost_mark(turn: Turn) -> str:
    """``≥`` where the output is a lower bound, ``~`` where price or tokens are estimates."""
    if turn.call.output_is_lower_bound and turn.cost_source != "logged":
        return AT_LEAST
    return ESTIMATED if turn.cost_estimated else turn_mark(turn)


def cause_word(cause: str) -> str:
    """The cause of a miss as a word: ``model switch``."""
    return cause.replace("_", " ")


_CHANGED = {"tools": "the tools changed", "system": "the system text changed", "history": "the history changed"}


def why_missed(turn: Turn) -> str:
    """Why a call missed the cache, in a sentence; where the bodies show it, what of the prompt was changed."""
    change = turn.prefix_change
    if change is None:
        return CAUSES[turn.cache_miss_cause or "unknown"]
    told = _CHANGED[change.what]
    if change.message is not None:
        told += f" from message {change.message + 1} on"
    if change.depth_tokens is not None:
        told += f", {ESTIMATED}{tokens(change.depth_tokens)} tokens in"
    return told


def event_sign(event: Event) -> str:
    """The sign of an event, another one where it is inferred: ``▲``, ``△``."""
    return EVENTS[event.kind][event.evidence == "inferred"]


def event_word(event: Event) -> str:
    """An event in a word: ``compaction``, ``~compaction`` where it is inferred."""
    return f"{ESTIMATED if event.evidence == 'inferred' else ''}{EVENTS[event.kind][2]}"


def read_share(turn: Turn) -> float | None:
    """Share of the prompt that came from the cache; None where the provider tells no figures."""
    call = turn.call
    if call.prompt_tokens and call.cache_read_tokens is not None:
        return call.cache_read_tokens / call.prompt_tokens
    return None


def used_tokens(view: SessionView) -> int | None:
    """What the next prompt starts from: prompt and output of the last main call."""
    if view.last_prompt_tokens is None:
        return None
    return view.last_prompt_tokens + (view.last_output_tokens or 0)


def used_mark(view: SessionView) -> str:
    """Mark of :func:`used_tokens`."""
    return turn_output_mark(view.last_turn) if view.last_turn is not None else ""
