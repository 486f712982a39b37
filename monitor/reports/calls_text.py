"""Calls as tables for eyes: one for each session, so that what all its calls share is said once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from monitor.records import Call
from monitor.reports.clock import Clock
from monitor.reports.text import UNKNOWN, Ink, Stream, clean, cut, middle, percent, tokens, usd, width
from monitor.reports.text import table as aligned
from monitor.reports.words import (
    MISS,
    PARTIAL,
    cause_word,
    chain_name,
    event_sign,
    event_word,
    plural,
    read_share,
    turn_cost_mark,
    turn_mark,
    turn_output_mark,
)
from monitor.sessions.view import Loaded, SessionView, Turn

#: what the dashboard lists of a call and a narrow terminal can do without, first to go first
_DROP = ("cost", "model", "write", "fresh", "read", "output", "hit")
#: columns from which on a chain has a column of its own
_WIDE = 110


def table(
    found: Loaded,
    turns: Sequence[Turn],
    out: Stream | None = None,
    *,
    copies: Sequence[Call] = (),
    zone: str | None = None,
    most: int | None = None,
) -> str:
    """One line per call in time order within its session, with what happened before it.

    Args:
        turns: the calls to show.
        out: where it will go (decides about colour); None: plain.
        copies: calls that other sessions own; told below as a number per session.
        most: columns; None: those of the terminal.

    Raises:
        ReportError: there is no such time zone.
    """
    ink = Ink(out)
    clock = Clock(zone)
    most = max(40, most if most is not None else width())
    groups: dict[str, list[Turn]] = {}
    for turn in turns:
        groups.setdefault(turn.call.session, []).append(turn)
    if not groups and not copies:
        return "No calls."
    views = {view.session: view for view in found.sessions}
    inherited: dict[str, int] = {}
    for call in copies:
        inherited[call.session] = inherited.get(call.session, 0) + 1
    lines: list[str] = []
    for session, group in groups.items():
        lines += [*([""] if lines else []), *_session(session, group, views.get(session), clock, ink, most)]
        if count := inherited.pop(session, 0):
            lines.append(f"  and {plural(count, 'inherited turn')} owned by another session (--format json lists them)")
    for session, count in inherited.items():
        lines.append(f"session {clean(session)}: {plural(count, 'inherited turn')} owned by another session")
    return "\n".join(lines)


def _session(
    session: str, turns: Sequence[Turn], view: SessionView | None, clock: Clock, ink: Ink, most: int
) -> list[str]:
    models = list(dict.fromkeys(turn.call.model for turn in turns))
    chains = {turn.call.chain for turn in turns}
    days = {clock.day(turn.call.time) for turn in turns if turn.call.time is not None}
    about = [turns[0].call.source, plural(len(turns), "call")]
    if len(models) == 1:
        about.append(clean(models[0] or "model not known"))
    if len(days) == 1:
        about.append(next(iter(days)) or UNKNOWN)
    title = middle(clean(session), max(20, most // 2))
    rest = cut(" · " + " · ".join(about), most - len("session ") - len(title))
    marks = _marks(view)
    by_column = len(chains) > 1 and most >= _WIDE
    head = ["turn", "chain", "time", "model", "prompt", "read", "write", "fresh", "output", "hit", "cost", "note"]
    form = "%H:%M:%S" if len(days) <= 1 else "%m-%d %H:%M:%S"
    rows = []
    for turn in turns:
        call = turn.call
        rows.append([
            str(turn.index),
            chain_name(call.chain, 14),
            clock(call.time, form),
            cut(clean(call.model or UNKNOWN), 24),
            tokens(call.prompt_tokens, mark=turn_mark(turn)),
            tokens(call.cache_read_tokens),
            tokens(call.cache_write_tokens),
            tokens(call.fresh_tokens),
            tokens(call.output_tokens, mark=turn_output_mark(turn)),
            percent(read_share(turn)),
            usd(turn.cost_usd, mark=turn_cost_mark(turn)),
            _note(turn, marks.get(turn.index, {}), ink, name_chain=not by_column and len(chains) > 1),
        ])  # fmt: skip
    never = [name for name, out in (("chain", not by_column), ("model", len(models) == 1)) if out]
    for name in never:
        place = head.index(name)
        del head[place]
        for row in rows:
            del row[place]
    right = "".join("l" if name in ("chain", "time", "model", "note") else "r" for name in head)
    return [
        ink("session ", "dim") + ink(title, "bold") + ink(rest, "dim"),
        *aligned(head, rows, right=right, ink=ink, indent="", most=most, drop=_DROP, flex="note", least=6),
    ]


def _marks(view: SessionView | None) -> Mapping[int, dict[str, str]]:
    """What happened before each call: kind of event and words for it."""
    marks: dict[int, dict[str, str]] = {}
    for event in view.events if view is not None else ():
        place = event.before_call if event.before_call is not None else event.after_call
        if place is not None:
            marks.setdefault(place, {})[event.kind] = f"{event_sign(event)} {event_word(event)}"
    return marks


def _note(turn: Turn, marks: Mapping[str, str], ink: Ink, name_chain: bool) -> str:
    call = turn.call
    notes = []
    if name_chain and call.chain not in ("main", "side"):
        notes.append(ink(chain_name(call.chain, 14), "cyan"))
    if call.status != "ok":
        notes.append(ink(_STATUS.get(call.status, call.status), "red" if call.status == "error" else "yellow"))
    if call.purpose != "work":
        notes.append(ink("summarises" if call.purpose == "compaction" else "side call", "dim"))
    notes += [ink(mark, "yellow") for mark in marks.values()]
    if turn.cache_miss_cause is not None:
        sign, colour = (MISS, "red") if turn.cache_outcome == "miss" else (PARTIAL, "yellow")
        why = "" if turn.cache_miss_cause in marks else f": {cause_word(turn.cache_miss_cause)}"
        notes.append(ink(f"{sign} {turn.cache_outcome}{why}", colour))
    return " ".join(notes)


_STATUS = {"error": "failed", "in_flight": "in flight", "estimated": "~ estimated"}
