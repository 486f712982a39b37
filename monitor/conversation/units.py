"""Atomic units and exchanges: where a conversation may be cut.

A unit holds a call and all its results, parallel calls, the lines of one API message, and reasoning with
what it belongs to. Whatever order a client wrote them in, a unit is a contiguous run of messages, and
cutting between two units never parts a call from its result (rules C1, A3, R1, R3, G2 of the providers).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from monitor.conversation.messages import Message, Thinking

UnitKind = Literal["system", "summary", "user", "assistant", "tools", "opaque"]


class Unit(msgspec.Struct, frozen=True, eq=False):
    """A run of messages that stay or go together; ``start`` and ``stop`` are positions in the list given."""

    start: int
    stop: int
    messages: tuple[Message, ...]
    kind: UnitKind
    exchange: int | None
    open_calls: tuple[str, ...] = ()  # ids of calls without a result

    @property
    def typed(self) -> bool:
        """True where the unit holds something the user typed."""
        return any(m.typed for m in self.messages)


class Exchange(msgspec.Struct, frozen=True, eq=False):
    """A typed user message up to the next one. ``number`` 0: what stands before the first of them."""

    number: int
    start: int
    stop: int
    messages: tuple[Message, ...]

    @property
    def user(self) -> Message | None:
        """The user message that opens it."""
        return self.messages[0] if self.messages and self.messages[0].typed else None


def number_exchanges(messages: Sequence[Message]) -> list[Message]:
    """The messages with their exchange numbers filled in, counting typed user messages from 1."""
    count = 0
    out = []
    for m in messages:
        if m.typed:
            count += 1
        number = count or None
        out.append(m if m.exchange == number else msgspec.structs.replace(m, exchange=number))
    return out


def exchanges(messages: Sequence[Message]) -> list[Exchange]:
    """Group ``messages`` by exchange. Numbers are kept where the messages carry them, so they survive a
    cut.
    """
    out: list[Exchange] = []
    start, number = 0, 0
    for i, m in enumerate(messages):
        if not m.typed:
            continue
        if i > start:
            out.append(Exchange(number, start, i, tuple(messages[start:i])))
        start, number = i, m.exchange if m.exchange is not None else number + 1
    if start < len(messages):
        out.append(Exchange(number, start, len(messages), tuple(messages[start:])))
    return out


def pair_results(messages: Sequence[Message]) -> tuple[dict[int, list[int]], set[tuple[int, str]]]:
    """Which message answers which: ({index of result message: [indexes of call messages]}, unanswered
    (index, id)).

    A result belongs to the newest earlier call of its id; where there is none, to the first later one
    (displaced).
    """
    owner: dict[str, int] = {}
    later: dict[str, int] = {}
    for i in range(len(messages) - 1, -1, -1):
        for call in messages[i].calls:
            later[call.id] = i
    pairs: dict[int, list[int]] = {}
    unanswered: set[tuple[int, str]] = set()
    for i, m in enumerate(messages):
        for part in m.calls:
            owner[part.id] = i
            unanswered.add((i, part.id))
        for result in m.results:
            at = owner.get(result.call_id, later.get(result.call_id))
            if at is None:
                continue
            unanswered.discard((at, result.call_id))
            pairs.setdefault(i, []).append(at)
    return pairs, unanswered


def units(messages: Sequence[Message]) -> list[Unit]:
    """The atomic units of ``messages``, in order; together they cover every message exactly once."""
    n = len(messages)
    reach = list(range(n))  # reach[i] = last index that must stay with i

    def join(a: int, b: int) -> None:
        lo, hi = (a, b) if a < b else (b, a)
        reach[lo] = max(reach[lo], hi)

    pairs, unanswered = pair_results(messages)
    for i, calls in pairs.items():
        for at in calls:
            join(at, i)
    groups: dict[str, int] = {}
    for i, m in enumerate(messages):
        if m.group:
            join(groups.setdefault(m.group, i), i)
    _join_reasoning(messages, join)
    out: list[Unit] = []
    start = 0
    end = -1
    for i in range(n):
        end = max(end, reach[i])
        if i == end:
            out.append(_unit(messages, start, i + 1, unanswered))
            start = i + 1
    return out


def _join_reasoning(messages: Sequence[Message], join: object) -> None:
    """Reasoning items stay with the items of the same answer that follow them."""
    assert callable(join)
    first: int | None = None
    body = False
    for i, m in enumerate(messages):
        if m.role != "assistant" or m.opaque or m.group:
            first = None
            continue
        reasoning = bool(m.parts) and all(isinstance(p, Thinking) for p in m.parts)
        if reasoning and (first is None or body):
            first, body = i, False
            continue
        if first is not None:
            join(first, i)
            body = body or not reasoning


def _unit(messages: Sequence[Message], start: int, stop: int, unanswered: set[tuple[int, str]]) -> Unit:
    part = tuple(messages[start:stop])
    open_calls = tuple(c.id for i, m in enumerate(part, start) for c in m.calls if (i, c.id) in unanswered)
    kind: UnitKind
    if any(m.calls or m.results for m in part):
        kind = "tools"
    elif any(m.opaque for m in part):
        kind = "opaque"
    elif any(m.is_summary for m in part):
        kind = "summary"
    elif part[0].role in ("system", "user"):
        kind = "system" if part[0].role == "system" else "user"
    else:
        kind = "assistant"
    return Unit(start, stop, part, kind, part[0].exchange, open_calls)
