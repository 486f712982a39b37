"""The file of the call log: one JSON line per call, appended whole, rotated by size and age, its owner's alone.

A thread of its own writes, so that a slow disk holds up neither traffic nor reading. Lines wait in memory up to a
bound while the file cannot be written; there is one warning per outage. Whole lines go to the system in one call before
the next are begun: when the process is killed, every line written is there, and a torn last line can only stem from the
machine itself going down. It is closed off with a line end when the log is opened again.
"""

from __future__ import annotations

import errno
import itertools
import os
import re
import stat
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

RETRY_S = 2.0  # between attempts while the file cannot be written
_TOGETHER, _PIECE = 64, 256 * 1024  # lines, and bytes, that are written in one piece


@dataclass(frozen=True, slots=True)
class LogOptions:
    """How the log is kept. Sizes in bytes, ages in seconds, None for no limit."""

    rotate_size: int | None = 256 * 1024 * 1024
    rotate_age: float | None = None
    keep: int | None = None  # rotated files that stay; None: all
    fsync: bool = False  # have each line on the disk before the next
    pending: int = 64 * 1024 * 1024  # bytes of lines that may wait


def default_log() -> Path:
    """Where the log lies unless told otherwise: the user's state folder."""
    if os.name == "nt":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    else:
        base = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    return base / "ctxmon" / "calls.jsonl"


class CallLog:
    """Append records with :meth:`write`; never raises, never waits for the disk. ``warn`` gets sentences for people."""

    def __init__(
        self,
        path: Path,
        warn: Callable[[str], None],
        options: LogOptions | None = None,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self.path = path
        self.options = options or LogOptions()
        self.written = 0  # lines
        self.lost = 0  # lines given up because too many were waiting
        self._warn = warn
        self._wall = wall
        self._encode = msgspec.json.Encoder().encode
        self._fd: int | None = None
        self._size = 0
        self._born = 0.0
        self._torn = False
        self._failing = False
        self._no_rotation_before = 0.0
        self._waiting: deque[bytes] = deque()
        self._waiting_size = 0
        self._closing = False
        self._wake = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="ctxmon-log", daemon=True)

    def start(self) -> bool:
        """Open the file and start the writer. False, with a warning, if the file cannot be opened for now."""
        try:
            self._open()
        except OSError as error:
            self._cannot(error)
        self._thread.start()
        return not self._failing

    def write(self, record: dict[str, Any], smaller: dict[str, Any] | None = None, more: bool = False) -> None:
        """Queue one record, or ``smaller`` in its place if too much is waiting; ``more`` follow at once, or a wake."""
        line = self._encode(record) + b"\n"
        if smaller is not None and self._waiting_size + len(line) > self.options.pending:
            line = self._encode(smaller) + b"\n"
        with self._wake:
            if self._waiting_size + len(line) > self.options.pending:
                self.lost += 1
                first = self.lost == 1
            else:
                self._waiting.append(line)
                self._waiting_size += len(line)
                first = False
            if not more:
                self._wake.notify()
        if first:
            self._warn(f"The call log {self.path} cannot be written fast enough; calls are missing in it from now on.")

    def wake(self) -> None:
        """Have what is queued written."""
        with self._wake:
            self._wake.notify()

    def close(self, timeout: float = 5.0) -> bool:
        """Write what waits and end the writer. False if that took longer than ``timeout`` seconds."""
        with self._wake:
            self._closing = True
            self._wake.notify()
        if self._thread.ident is not None:
            self._thread.join(timeout)
        return not self._thread.is_alive() and not self._waiting

    @property
    def missing(self) -> int:
        """Lines that are not in the file: given up, or still waiting."""
        return self.lost + len(self._waiting)

    # ------------------------------------------------------------------------------------------- in the writer's thread

    def _run(self) -> None:
        while True:
            with self._wake:
                while not self._waiting and not self._closing:
                    self._wake.wait()
                if not self._waiting:
                    break
                lines = self._group()
            done = self._append(lines)
            with self._wake:
                for line in lines[:done]:
                    self._waiting.popleft()
                    self._waiting_size -= len(line)
            if done == len(lines):
                continue
            with self._wake:
                if self._closing:
                    break
                self._wake.wait_for(lambda: self._closing, RETRY_S)
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _group(self) -> list[bytes]:
        """The lines to write in one piece: one, or those that wait while there is room up to the next rotation."""
        lines = [self._waiting[0]]
        size, end = len(lines[0]), self.options.rotate_size
        if self.options.fsync or self._failing:
            return lines
        for line in itertools.islice(self._waiting, 1, _TOGETHER):
            size += len(line)
            if size > _PIECE or (end and self._size + size > end):
                break
            lines.append(line)
        return lines

    def _append(self, lines: list[bytes]) -> int:
        """Write lines in one piece; gives how many of them are written, the others must be tried again."""
        data = lines[0] if len(lines) == 1 else b"".join(lines)
        whole = 0
        try:
            self._follow()
            self._rotate_if_due(len(data))
            if self._fd is None:
                self._open()
            assert self._fd is not None
            if self._torn:
                os.write(self._fd, b"\n")
                self._size += 1
                self._torn = False
            done = os.write(self._fd, data)
            self._size += done
            whole = len(lines) if done == len(data) else data.count(b"\n", 0, done)
            self.written += whole
            if done < len(data):  # the disk is full: take the half line back, or close it off later
                self._take_back(done - data.rfind(b"\n", 0, done) - 1)
                raise OSError(errno.ENOSPC, "No space left on device")
        except OSError as error:
            self._cannot(error)
            return whole
        self._failing = False
        if self.options.fsync:
            try:
                os.fsync(self._fd)
            except OSError as error:  # the line is written; to write it again would double it
                self._cannot(error)
        return whole

    def _cannot(self, error: OSError) -> None:
        if not self._failing:
            self._failing = True
            self._warn(
                f"The call log {self.path} cannot be written ({error.strerror or type(error).__name__}); "
                "the traffic goes on, calls are kept in memory as long as there is room."
            )

    def _take_back(self, done: int) -> None:
        assert self._fd is not None
        if not done:
            return
        try:
            os.ftruncate(self._fd, self._size - done)
            self._size -= done
        except OSError:
            self._torn = True

    def _open(self) -> None:
        parent = self.path.parent
        if not parent.exists():
            parent.mkdir(parents=True, mode=0o700, exist_ok=True)
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
        fd = os.open(self.path, flags, 0o600)
        try:
            state = os.fstat(fd)
            if hasattr(os, "fchmod") and state.st_mode & 0o077 and stat.S_ISREG(state.st_mode):
                os.fchmod(fd, 0o600)
            self._size = state.st_size
            self._torn = False
            if state.st_size:
                os.lseek(fd, -1, os.SEEK_END)
                self._torn = os.read(fd, 1) != b"\n"
            self._born = self._begun(fd) or self._wall()
        except OSError:
            os.close(fd)
            raise
        self._fd = fd

    def _begun(self, fd: int) -> float | None:
        """Time of the first line, so that rotation by age holds across restarts."""
        os.lseek(fd, 0, os.SEEK_SET)
        head = os.read(fd, 4096)
        at = head.find(b'"time":"')
        if at < 0:
            return None
        try:
            return datetime.fromisoformat(head[at + 8 : at + 32].decode("ascii")).timestamp()
        except ValueError:
            return None

    def _follow(self) -> None:
        """Open the file anew if it was moved or removed by others (logrotate, a second recorder)."""
        if self._fd is None:
            return
        try:
            there = os.stat(self.path)
            mine = os.fstat(self._fd)
            if (there.st_ino, there.st_dev) == (mine.st_ino, mine.st_dev):
                self._size = there.st_size
                return
        except FileNotFoundError:
            pass
        os.close(self._fd)
        self._fd = None

    def _rotate_if_due(self, coming: int) -> None:
        if self._fd is None or not self._size:
            return
        size, age = self.options.rotate_size, self.options.rotate_age
        now = self._wall()
        if not ((size and self._size + coming > size) or (age and now - self._born >= age)):
            return
        if now < self._no_rotation_before or not self.path.is_file():
            return
        os.close(self._fd)
        self._fd = None
        stamp = datetime.fromtimestamp(now, UTC).strftime("%Y%m%dT%H%M%SZ")
        # several in a second are numbered, and a number is not used again when its file has been removed
        number = max((number + 1 for at, number, _ in self._rotated() if at == stamp), default=0)
        while (target := self._aside(stamp, number)).exists():
            number += 1
        try:
            self.path.rename(target)
        except OSError:  # on Windows while somebody reads the file: go on with it, try again later
            self._no_rotation_before = now + 60
            return
        self._prune()

    def _aside(self, stamp: str, number: int) -> Path:
        again = f"-{number}" if number else ""
        return self.path.with_name(f"{self.path.stem}-{stamp}{again}{self.path.suffix}")

    def _rotated(self) -> list[tuple[str, int, Path]]:
        """The files moved aside: time, number within that second, path; oldest first."""
        name = re.compile(rf"{re.escape(self.path.stem)}-(\d{{8}}T\d{{6}}Z)(?:-(\d+))?{re.escape(self.path.suffix)}")
        try:
            found = [(name.fullmatch(path.name), path) for path in self.path.parent.iterdir()]
        except OSError:  # a folder that may be written to and not listed
            return []
        return sorted((match[1], int(match[2] or 0), path) for match, path in found if match)

    def _prune(self) -> None:
        if self.options.keep is None:
            return
        rotated = self._rotated()
        for _, _, old in rotated[: max(0, len(rotated) - self.options.keep)]:
            old.unlink(missing_ok=True)
