"""Rules and sentences of a conversation as plain data."""

from __future__ import annotations

from typing import Literal

import msgspec

Standing = Literal["active", "cancelled", "changed"]


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """A rule of the user: ``text`` word for word, ``turn`` = number of the user message, from 1."""

    text: str
    turn: int | None = None
    standing: Standing = "active"
    by: int | None = None  # user message that took it back
    by_text: str = ""  # its words
    kept: bool = False  # it stands in the part that stays as it is
    number: int = 0  # place in the list the user wrote, 0 where it stood in none
    cited: bool = False  # the summary of another program has it between marks of quotation


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence somebody wrote, with the number of the user message it belongs to."""

    text: str
    turn: int | None = None
    quoted: bool = False
    kept: bool = False  # it stands in the part that stays as it is
    weight: float = 0.0
    by: int | None = None  # a later user message takes it back
