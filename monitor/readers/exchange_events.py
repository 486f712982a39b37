"""What happened to a context, as an exchange tells it: compactions, trimmed tool results, overflow."""

from __future__ import annotations

from typing import Any

from monitor.readers.exchange_facts import Facts, State
from monitor.readers.patterns import lazy
from monitor.records import Call, Event, EventKind

_WINDOW = lazy(r"(.*):(\d+)")


def events_of(file: str, facts: Facts, state: State, call: Call) -> list[Event]:
    """Events of a call: overflow, compaction, trims. Their key is the call's, followed by ``#`` and what it was."""
    reply = facts.reply
    ended = facts.end if facts.end is not None else facts.time
    # what made this prompt smaller lies between the call before and this one
    earlier = facts.time - 1 if facts.time is not None else None
    found: list[Event] = []

    def event(kind: EventKind, name: str, time: int | None, recorded: bool, **more: Any) -> None:
        found.append(
            Event(
                kind=kind,
                evidence="recorded" if recorded else "inferred",
                session=call.session,
                chain=facts.who.chain,
                file=file,
                line=facts.line,
                time=time,
                key=f"{call.key}#{name}",
                **more,
            )
        )

    if reply.overflow:
        event("overflow", "overflow", ended, True, detail=reply.error or reply.stop or "")
    if call.status == "error" or call.purpose == "side":
        return found
    if call.purpose == "compaction":
        marked = facts.kind == "compact" or facts.who.kind == "compaction"
        event(
            "compaction",
            "compaction",
            ended,
            marked,
            trigger=facts.who.trigger,
            summary_tokens=reply.summary_tokens or call.output_tokens,
        )
        return found
    if reply.compacted_from is not None:
        event(
            "compaction",
            "compaction",
            facts.time,
            True,
            trigger="auto",
            recorded_before=reply.compacted_from,
            recorded_after=call.prompt_tokens,
            summary_tokens=reply.summary_tokens,
            in_call=call.key,
        )
    elif not state.pending and _new_window(facts, state):
        event("compaction", "window", earlier, state.window is not None)
    if reply.compaction_item:
        event("compaction", "item", ended, True, trigger="auto", recorded_before=call.prompt_tokens)
        state.pending = True
    if reply.cleared is not None:
        if reply.cleared > state.cleared:
            before = None if call.prompt_tokens is None else call.prompt_tokens + reply.cleared
            event("trim", "trim", earlier, True, trigger="auto", recorded_before=before)
        state.cleared = reply.cleared
    return found


def _new_window(facts: Facts, state: State) -> bool:
    """Whether this call opens a window that stands on a summary whose making was not captured."""
    if state.strict is None and state.window is None:
        return False
    old, new = state.window, facts.who.window
    if old is not None and new is not None:
        one, other = _WINDOW.fullmatch(old), _WINDOW.fullmatch(new)
        return one is not None and other is not None and one[1] == other[1] and int(other[2]) == int(one[2]) + 1
    request = facts.request
    if request is None or state.strict is None or not request.continues:
        return False
    strict = facts.strict()
    return bool(strict) and bool(state.strict) and strict[0] != state.strict[0]
