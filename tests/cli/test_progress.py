"""How far a long reading is: told on a terminal only, and taken away at the end."""

from __future__ import annotations

import argparse
import io
import itertools
import sys
from pathlib import Path

import pytest

from monitor.cli import common, main
from tests.dashboard.claude_log import write_log


def terminal_of(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    shown = io.StringIO()
    shown.isatty = lambda: True  # type: ignore[method-assign]
    monkeypatch.setattr(sys, "stderr", shown)
    return shown


def test_it_is_for_terminals() -> None:
    assert common.progress(argparse.Namespace(quiet=False)) is None


def test_it_begins_after_a_second_and_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = terminal_of(monkeypatch)
    assert common.progress(argparse.Namespace(quiet=True)) is None
    clock = iter([0.0, 0.5, 2.0, 2.05, 2.06])
    monkeypatch.setattr("monitor.cli.common.time.monotonic", lambda: next(clock))
    tell = common.progress(argparse.Namespace(quiet=False))
    assert tell is not None
    tell("reading", 1, 4)
    tell.clear()
    assert terminal.getvalue() == ""
    tell("reading", 2, 4)
    assert "reading: 2 of 4 (50%)" in terminal.getvalue()
    tell("reading", 3, 4)  # too soon after the last one
    assert "3 of 4" not in terminal.getvalue()
    tell("reading", 4, 4)
    assert "reading: 4 of 4 (100%)" in terminal.getvalue()
    tell.clear()
    assert terminal.getvalue().endswith("\r" + " " * len("reading: 4 of 4 (100%)") + "\r")


@pytest.mark.parametrize("command", ["report", "calls", "backtest"])
def test_commands_tell_how_many_files_are_read(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal = terminal_of(monkeypatch)
    for name in ("a", "b", "c"):
        write_log(tmp_path / f"{name}.jsonl", 3)
    clock = itertools.count(0.0, 2.0)
    monkeypatch.setattr("monitor.cli.common.time.monotonic", lambda: next(clock))
    assert main([command, str(tmp_path)]) == 0
    for place in (1, 2, 3):
        assert f"files read: {place} of 3" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r" + " " * len("files read: 3 of 3 (100%)") + "\r")
