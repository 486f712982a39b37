"""The commands, and argument parsers that load nothing they do not need: what every command waits for."""

from __future__ import annotations

import argparse
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: command -> (module, what it does)
COMMANDS: dict[str, tuple[str, str]] = {
    "watch": ("watch", "the dashboard, live (the default command)"),
    "calls": ("calls", "one record per call"),
    "report": ("report", "sessions, windows, compactions, cache, cost, decision"),
    "decide": ("decide", "go on, trim, compact or open a new window: the decision with its numbers"),
    "backtest": ("backtest", "what a decision table would have said on past sessions"),
    "compact": ("compact", "compact an exported conversation (the original is never changed)"),
    "check": ("check", "validate a conversation file for a provider"),
    "show": ("show", "read back a part of a conversation or session file"),
    "diff": ("diff", "what a compaction kept, lost and invented"),
    "record": ("record", "recording pass-through proxy on loopback"),
    "statusline": ("statusline", "one line for a coding agent's status bar"),
    "doctor": ("doctor", "what was found, in which format, and what could not be read"),
    "prices": ("prices", "the price and context-limit table in use"),
    "serve": ("serve", "the dashboard in a browser, on loopback"),
}


def width() -> int:
    """Columns of the terminal, as ``shutil`` tells them; that module loads three compressors, which takes 3 ms."""
    try:
        columns = int(os.environ["COLUMNS"])
    except (KeyError, ValueError):
        columns = 0
    if columns <= 0:
        try:
            columns = os.get_terminal_size(sys.__stdout__.fileno() if sys.__stdout__ is not None else 1).columns
        except (ValueError, OSError):
            columns = 0
    return columns if columns > 0 else 80


class _Plain(argparse.HelpFormatter):
    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=width() - 2)


class _Raw(_Plain, argparse.RawDescriptionHelpFormatter):
    """Leaves the lines of descriptions as they are."""


class Parser(argparse.ArgumentParser):
    """An argument parser whose help is as wide as the terminal. Every option asks for a formatter, not only help."""

    def __init__(self, **options: Any) -> None:
        raw = options.get("formatter_class") is argparse.RawDescriptionHelpFormatter
        super().__init__(**{**options, "formatter_class": _Raw if raw else _Plain})


# texts of argparse are not translated here; looking for translations loads a module and asks the disk for each of them
vars(argparse)["_"] = lambda text: text
