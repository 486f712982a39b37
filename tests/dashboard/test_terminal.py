"""Pipes and terminals."""

from __future__ import annotations

import os
import sys

import pytest

from monitor.dashboard import terminal
from monitor.dashboard.terminal import PipedInput, own_terminal


def wait_for(pipe: PipedInput, size: int, *, ended: bool = False) -> None:
    for _ in range(2_000):
        if pipe.size >= size and pipe.ended >= ended:
            return
        os.sched_yield() if hasattr(os, "sched_yield") else None
        pipe._lock.acquire(timeout=0.001)
        if pipe._lock.locked():
            pipe._lock.release()
    raise AssertionError("nothing came through the pipe")


def test_only_finished_lines_until_the_pipe_ends() -> None:
    read, write = os.pipe()
    pipe = PipedInput(read)
    os.write(write, b'{"a":1}\n{"b"')
    wait_for(pipe, 12)
    assert pipe.data() == b'{"a":1}\n'
    os.write(write, b":2}")
    os.close(write)
    wait_for(pipe, 15, ended=True)
    assert pipe.data() == b'{"a":1}\n{"b":2}'
    os.close(read)


@pytest.mark.skipif(sys.platform == "win32", reason="descriptors are moved on POSIX only")
def test_streams_are_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    read, write = os.pipe()
    tty = os.open(os.devnull, os.O_RDWR)
    before, kept = sys.__stderr__, os.dup(0)
    monkeypatch.setattr(terminal, "_piped", None)
    real = os.open
    monkeypatch.setattr(os, "open", lambda path, flags: os.dup(tty) if path == "/dev/tty" else real(path, flags))
    try:
        os.dup2(read, 0)
        with own_terminal():
            assert os.fstat(0).st_rdev == os.fstat(tty).st_rdev
            piped = terminal.piped()
            assert piped is not None
            os.write(write, b"x\n")
            wait_for(piped, 2)
            assert piped.data() == b"x\n"
        assert os.fstat(0).st_ino == os.fstat(read).st_ino and sys.__stderr__ is before
        os.close(write)
        wait_for(piped, 2, ended=True)
    finally:
        os.dup2(kept, 0)
        for descriptor in (kept, read, tty):
            os.close(descriptor)


@pytest.mark.skipif(sys.platform == "win32", reason="descriptors are moved on POSIX only")
def test_in_a_browser_the_pipes_are_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    read, write = os.pipe()
    kept = os.dup(0)
    monkeypatch.setenv("TEXTUAL_DRIVER", "textual.drivers.web_driver:WebDriver")
    try:
        os.dup2(read, 0)
        with own_terminal():
            assert os.fstat(0).st_ino == os.fstat(read).st_ino
    finally:
        os.dup2(kept, 0)
        for descriptor in (kept, read, write):
            os.close(descriptor)
