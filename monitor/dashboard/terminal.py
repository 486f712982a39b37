"""Streams of a full-screen program: keys come from the terminal even if a log is piped in, pictures go to no file.

``tail -f session.jsonl | ctxmon -`` gives the program a pipe where the keyboard would be. The pipe is moved aside and
read in a thread; the terminal takes its place. Textual draws on stderr: ``ctxmon 2>errors`` must not fill that file.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class PipedInput:
    """What comes through a pipe, gathered by a thread. It stays in memory until it is taken and is written nowhere."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._parts: list[bytes] = []
        self._lock = threading.Lock()
        self.size = 0
        self.ended = False
        threading.Thread(target=self._read, name="ctxmon-stdin", daemon=True).start()

    def _read(self) -> None:
        with suppress(OSError):
            while data := os.read(self._descriptor, 1 << 20):
                with self._lock:
                    self._parts.append(data)
                    self.size += len(data)
        self.ended = True

    def data(self) -> bytes:
        """Everything so far, up to the last finished line unless the pipe has ended."""
        with self._lock:
            whole = b"".join(self._parts)
            self._parts = [whole]
        if self.ended:
            return whole
        return whole[: whole.rfind(b"\n") + 1]

    def take(self) -> bytes:
        """As :meth:`data`, but what is returned is kept no longer."""
        ended = self.ended  # first: what comes until then is in what follows
        with self._lock:
            whole = b"".join(self._parts)
            end = len(whole) if ended else whole.rfind(b"\n") + 1
            self._parts = [whole[end:]]
        return whole[:end]


_piped: PipedInput | None = None


def piped() -> PipedInput | None:
    """What is piped into the program; None if stdin is a terminal or closed."""
    global _piped
    if _piped is None:
        with suppress(OSError, ValueError, AttributeError):
            if not os.isatty(sys.stdin.fileno()):
                _piped = PipedInput(os.dup(sys.stdin.fileno()))
    return _piped


@contextmanager
def own_terminal() -> Iterator[None]:
    """While this lasts, fd 0 is the terminal, and what Textual draws on is the terminal as well. All is put back.

    In a browser the pipes *are* the terminal (``TEXTUAL_DRIVER`` names the driver for it): nothing is touched then.
    """
    if os.environ.get("TEXTUAL_DRIVER"):
        yield
        return
    stderr = sys.__stderr__
    saved = _take_keyboard()
    exported = _forget_size()
    out = sys.__stdout__
    if out is not None and out.isatty() and (stderr is None or not stderr.isatty()):
        sys.__stderr__ = out  # type: ignore[misc]
    try:
        yield
    finally:
        sys.__stderr__ = stderr  # type: ignore[misc]
        os.environ.update(exported)
        if saved is not None:
            with suppress(OSError):
                os.dup2(saved, 0)
                os.close(saved)


def _forget_size() -> dict[str, str]:
    """Drop ``COLUMNS`` and ``LINES`` where the terminal tells its size itself; returns them.

    A shell that exports them tells the size it began with: the picture would never follow the window.
    """
    out = sys.__stdout__
    try:
        told = out is not None and all(os.get_terminal_size(out.fileno()))
    except (OSError, ValueError):
        return {}
    return {name: os.environ.pop(name) for name in ("COLUMNS", "LINES") if told and name in os.environ}


def _take_keyboard() -> int | None:
    """Put the terminal where stdin is, if that is a pipe. Returns the pipe, None where nothing had to be done."""
    global _piped
    if sys.platform == "win32":
        return None
    try:
        if os.isatty(0):
            return None
        keyboard = os.open("/dev/tty", os.O_RDWR)
    except OSError:
        return None
    saved = os.dup(0)
    if _piped is None:
        _piped = PipedInput(os.dup(0))
    os.dup2(keyboard, 0)
    os.close(keyboard)
    return saved
