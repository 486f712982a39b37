"""Following many files as they grow: native events where there are any, polling as well and instead.

Only appended bytes are read (:class:`~monitor.sources.files.Tail`); ``bytes_read`` counts them. A file that is rotated,
truncated, replaced or rewritten is read anew, one that appears later is found, one that vanishes keeps what it said.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from monitor.readers.base import DEFAULT_OPTIONS, ReadOptions
from monitor.records import Problem
from monitor.sources.discovery import expand, may_be_log
from monitor.sources.files import Batch, Tail

#: seconds between looks at the files that changed last, with events and without
_HOT, _HOT_POLLING = 2.0, 0.25
#: seconds between looks at everything, with events and without
_ALL, _ALL_POLLING = 20.0, 2.0
#: how many files count as recently changed
_HOT_FILES = 64
#: a last line without line feed is taken for finished when nothing came for this long (seconds)
_SETTLED = 1.5


class Follower:
    """Yields what the files below some paths say, as they say it.

    Args:
        paths: files, folders and globs; they may appear later.
        options: how to read.
        polling: do not use native events (network file systems, containers).
        clock: seconds, for tests.
    """

    def __init__(
        self,
        paths: Sequence[str],
        options: ReadOptions = DEFAULT_OPTIONS,
        *,
        polling: bool | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.paths = list(paths)
        self.options = options
        self.tails: dict[str, Tail] = {}
        self.problems: list[Problem] = []
        self.bytes_read = 0
        self.polling = bool(os.environ.get("CTXMON_POLLING")) if polling is None else polling
        self._clock = clock
        self._queue: list[Tail] = []
        self._changed: set[str] = set()
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []
        self._next_hot = self._next_all = 0.0
        self._hot: dict[str, float] = {}
        self._watched: set[tuple[str, bool]] = set()

    # ------------------------------------------------------------------------------------------------ looking
    def poll(self, budget: float = 0.1) -> list[Batch]:
        """What is new. Stops after about ``budget`` seconds; :attr:`loading` tells whether more is waiting."""
        now = self._clock()
        if now >= self._next_all:
            self._scan()
            self._next_all = now + (_ALL_POLLING if self.polling else _ALL)
            self._next_hot = now + (_HOT_POLLING if self.polling else _HOT)
            self._watch()
        elif now >= self._next_hot:
            self._enqueue(self._hot)
            self._next_hot = now + (_HOT_POLLING if self.polling else _HOT)
        self._take_events()
        batches: list[Batch] = []
        end = self._clock() + budget
        while self._queue:
            tail = self._queue.pop()
            batch = self._read(tail)
            if batch is not None:
                batches.append(batch)
            if self._clock() > end:
                break
        return batches

    @property
    def loading(self) -> bool:
        """Whether files are still waiting to be read for the first time or anew."""
        return bool(self._queue)

    def wait(self, timeout: float) -> bool:
        """Sleep until something may have changed, at most ``timeout`` seconds."""
        if self._queue:
            return True
        until = min(self._next_all, self._next_hot) - self._clock()
        changed = self._wake.wait(max(0.0, min(timeout, until)))
        self._wake.clear()
        return changed

    def close(self) -> None:
        """End the watching threads."""
        self._stop.set()
        self._wake.set()
        for thread in self._threads:
            thread.join(2.0)
        self._threads.clear()

    def _scan(self) -> None:
        """Look at everything: new files, and files whose size or time changed."""
        self.problems = []
        for path in expand(self.paths, self.problems):
            name = str(path)
            tail = self.tails.get(name)
            if tail is None:
                tail = self.tails[name] = Tail(path, self.options)
                self._queue.append(tail)
            else:
                self._queue.append(tail)
        # newest first: what people want to see is at the end of the list, from which files are taken
        if any(tail.parser is None for tail in self._queue):
            self._queue.sort(key=_age)

    def _enqueue(self, names: Iterable[str]) -> None:
        waiting = {id(tail) for tail in self._queue}
        for name in list(names):
            tail = self.tails.get(name)
            if tail is not None and id(tail) not in waiting:
                self._queue.append(tail)

    def _read(self, tail: Tail) -> Batch | None:
        before = tail.bytes_read
        batch = tail.read(final=False)
        if (batch is None or not batch.records) and tail.unfinished and self._settled(tail):
            batch = tail.read(final=True)
        self.bytes_read += tail.bytes_read - before
        if batch is not None:
            self._hot[tail.name] = self._clock()
            if len(self._hot) > _HOT_FILES:
                del self._hot[min(self._hot, key=lambda name: self._hot[name])]
        return batch

    def _settled(self, tail: Tail) -> bool:
        try:
            return time.time() - tail.path.stat().st_mtime > _SETTLED
        except OSError:
            return False

    # ------------------------------------------------------------------------------------------------ events
    def _take_events(self) -> None:
        with self._lock:
            changed, self._changed = self._changed, set()
        fresh = False
        names = []
        for name in changed:
            if name in self.tails:
                names.append(name)
            elif may_be_log(Path(name).name):
                fresh = True
        self._enqueue(names)
        if fresh:
            self._scan()

    def _watch(self) -> None:
        """Start watching what is not watched yet; without native events everything is polled."""
        if self.polling:
            return
        folders: dict[tuple[str, bool], None] = {}
        for name in self.paths:
            path = Path(name).expanduser()
            try:
                if path.is_dir():
                    folders[(str(path), True)] = None
                elif path.parent.is_dir():
                    folders[(str(path.parent), False)] = None
            except OSError:
                continue
        for folder, recursive in folders:
            if (folder, recursive) in self._watched:
                continue
            self._watched.add((folder, recursive))
            thread = threading.Thread(target=self._listen, args=(folder, recursive), name="ctxmon-watch", daemon=True)
            thread.start()
            self._threads.append(thread)

    def _listen(self, folder: str, recursive: bool) -> None:
        try:
            from watchfiles import watch

            for changes in watch(
                folder,
                step=10,
                debounce=50,
                recursive=recursive,
                stop_event=self._stop,
                watch_filter=None,
                raise_interrupt=False,
                rust_timeout=1000,
                ignore_permission_denied=True,
            ):
                with self._lock:
                    self._changed.update(name for _, name in changes)
                self._wake.set()
        except Exception:
            # no native events here (limits, network file system, no such platform): poll
            self.polling = True
            self._next_all = self._next_hot = 0.0
            self._wake.set()


def _age(tail: Tail) -> float:
    try:
        return tail.path.stat().st_mtime
    except OSError:
        return 0.0


def follower(paths: Sequence[str], **options: Any) -> Follower:
    """A follower of paths, or of the agents' own folders where none are named."""
    from monitor.sources.discovery import agent_folders

    names = list(paths) or [str(folder) for folder in agent_folders()]
    return Follower(names, **options)
