"""The decision as a frozen value: what `decide` prints, `report` lists and the dashboard draws."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Action = Literal["continue", "trim", "compact_at_boundary", "compact_now", "notes_new_window", "fresh"]
Confidence = Literal["high", "medium", "low"]

#: exit codes of `decide --exit-code` (contract.md)
EXIT_CODES: dict[str, int] = {
    "continue": 0,
    "trim": 10,
    "compact_at_boundary": 11,
    "compact_now": 12,
    "notes_new_window": 13,
    "fresh": 14,
}

#: the words people read
ACTION_WORDS: dict[str, str] = {
    "continue": "CONTINUE",
    "trim": "TRIM",
    "compact_at_boundary": "COMPACT AT BOUNDARY",
    "compact_now": "COMPACT NOW",
    "notes_new_window": "NOTES + NEW WINDOW",
    "fresh": "START FRESH",
}


class Signal(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One signal: value (None = unknown), unit for people, and how it was obtained."""

    id: str
    value: Any
    unit: str = ""
    how: str = ""  # logged, computed, assumed, estimated, unknown


class RowTrace(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """Why a row of the table fired or did not (`decide --explain`)."""

    rule: str
    fired: bool
    action: Action
    conditions: tuple[tuple[str, bool | None], ...]  # text with numbers filled in, outcome (None = signal unknown)


class Costs(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """USD over ``calls`` further calls, three ways; None where the model has no price."""

    continue_usd: float | None
    compact_usd: float | None
    new_window_usd: float | None
    calls: int
    assumed: tuple[str, ...] = ()


class Decision(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """What to do with a session, by which rule, with the numbers behind it."""

    session: str
    action: Action
    rule: str
    confidence: Confidence
    reasons: tuple[str, ...]
    signals: dict[str, Signal]
    costs: Costs | None
    next: str  # what would change this
    rows: tuple[RowTrace, ...] = ()
