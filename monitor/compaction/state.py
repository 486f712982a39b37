"""The state of a conversation: what a summary carries on. Plain data; made by :mod:`collect`, written by
:mod:`render`.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from monitor.compaction.actions import Todo
from monitor.compaction.rules import Rule, Said

FileUse = Literal["modified", "created", "read", "deleted"]


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """A command with its last result. ``before`` = an earlier result of the other kind."""

    command: str
    status: Literal["passed", "failed", "unknown"]
    word: str = ""  # the line that says so
    code: int | None = None
    turn: int | None = None
    check: bool = True  # verifies something; False: does something
    before: Literal["passed", "failed", ""] = ""
    covered: str = ""  # a wider check that passed later


class Error(msgspec.Struct, frozen=True, kw_only=True):
    """An error in its exact words."""

    text: str
    place: str = ""
    command: str = ""
    resolved: bool = False
    turn: int | None = None


class Commit(msgspec.Struct, frozen=True):
    """A commit that was made, or one the conversation speaks of."""

    hash: str
    subject: str = ""
    made: bool = True


class Foreign(msgspec.Struct, frozen=True):
    """Text in tool output that gives orders: named, never followed. ``text`` is not written anywhere."""

    source: str
    text: str


class State(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a summary carries. Lists are in the order of the conversation."""

    goal: tuple[Said, ...] = ()
    rules: tuple[Rule, ...] = ()
    said: tuple[Said, ...] = ()
    files: dict[str, FileUse] = {}
    checks: tuple[Check, ...] = ()
    commits: tuple[Commit, ...] = ()
    errors: tuple[Error, ...] = ()
    todos: tuple[Todo, ...] = ()
    findings: tuple[Said, ...] = ()
    decisions: tuple[Said, ...] = ()
    dead_ends: tuple[Said, ...] = ()
    values: tuple[Said, ...] = ()
    next: tuple[Said, ...] = ()
    foreign: tuple[Foreign, ...] = ()
    names: tuple[str, ...] = ()  # identifiers, addresses and hosts that are spoken of, the most used first
    root: str = ""  # folder the paths are relative to
    last: int = 0  # number of the last user message
    folded: int = 0  # number of the last one that is folded
    unanswered: bool = False  # the last message is the user's
    newest: str = ""  # its words

    def paths(self, *uses: FileUse) -> list[str]:
        """The files of these uses, in order of first touch."""
        return [p for p, u in self.files.items() if u in uses]

    def open_todos(self) -> list[Todo]:
        """Tasks in work first, then those waiting."""
        return [t for t in self.todos if t.status == "active"] + [t for t in self.todos if t.status == "open"]

    def active_rules(self) -> list[Rule]:
        """The rules that hold."""
        return [r for r in self.rules if r.standing == "active"]
