"""Following many files as they grow: native events where there are any, polling as well and instead.

Only appended bytes are read (:class:`~monitor.sources.files.Tail`), and counted. A file that is rotated,
truncated, replaced or rewritten is read anew, one that appears later is found, one that vanishes keeps what it said.
Events name what changed; as they do not reach everything (network file systems, links to elsewhere, lost events), the
files that changed last are looked at often and all files now and then, more seldom where looking takes long.
"""

from __future__ import annotations

import fnmatch
import glob
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from monitor.readers.base import DEFAULT_OPTIONS, ReadOptions
from monitor.records import Problem
from monitor.sources.discovery import may_matter, names, remote
from monitor.sources.files import EMPTY, Batch, Tail

#: seconds between looks at the files that changed last, with events and without
_HOT, _HOT_POLLING = 2.0, 0.25
#: seconds between looks at everything, with events and without, at least
_ALL, _ALL_POLLING = 20.0, 2.0
#: and at least so many times the CPU seconds that a look takes, with events and without
_CPU, _CPU_POLLING = 1_000, 80
#: and the seconds that it takes (a slow file system)
_WALL = 5
#: seconds from the start of watching to a look at what changed before it had started
_AGAIN = 1.0
#: how many files count as recently changed
_HOT_FILES = 64
#: a last line without line feed is taken for finished when nothing came for this long (seconds)
_SETTLED = 1.5


class Follower:
    """Yields what the files below some paths say, as they say it.

    Args:
        paths: files, folders and globs; they may appear later.
        options: how to read.
        polling: do not use native events; None: where they do not tell all (a path on a network file system).
        begun: an empty file is a log that was just begun, and no trouble.
        once: only what there is will be read, nothing has to be watched.
        clock: seconds, for tests.
    """

    def __init__(
        self,
        paths: Sequence[str],
        options: ReadOptions = DEFAULT_OPTIONS,
        *,
        polling: bool | None = None,
        begun: bool = False,
        once: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.paths = list(paths)
        self.options = options
        self.tails: dict[str, Tail] = {}
        self.problems: list[Problem] = []
        self.bytes_read = self.bytes_appended = self.bytes_again = 0
        self._wanted = [str(Path(name).expanduser()) for name in self.paths]
        if polling is None:
            polling = bool(os.environ.get("CTXMON_POLLING")) or any(map(remote, self._wanted))
        self.polling = polling
        self._clock, self._begun, self._once = clock, begun, once
        self._queue: list[Tail] = []
        self._changed: set[str] = set()
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._threads: list[threading.Thread] = []
        self._next_hot = self._next_all = self._next_new = 0.0
        self._new = False  # something came that is not known yet
        self._hot: dict[str, int] = {}
        self._real: dict[str, str] = {}  # name of each file that is followed by a link to it
        self._watched: dict[tuple[str, bool], tuple[int, threading.Event]] = {}
        self._watching = False

    # ------------------------------------------------------------------------------------------------ looking
    def poll(self, budget: float = 0.1) -> list[Batch]:
        """What is new. Stops after about ``budget`` seconds; :attr:`loading` tells whether more is waiting."""
        now = self._clock()
        if now >= self._next_all:
            self._scan()
            self._next_hot = now + (_HOT_POLLING if self.polling else _HOT)
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
        if not (self._queue or self._watching or self._once):
            # what watches is loaded when all is read: the first picture needs none
            self._watching = True
            self._watch()
        return batches

    @property
    def loading(self) -> bool:
        """Whether files are still waiting to be read for the first time or anew."""
        return bool(self._queue)

    def wait(self, timeout: float) -> bool:
        """Sleep until something may have changed, at most ``timeout`` seconds."""
        if self._queue:
            return True
        until = min(self._next_all, self._next_hot, self._next_new if self._new else self._next_all) - self._clock()
        changed = self._wake.wait(max(0.0, min(timeout, until)))
        self._wake.clear()
        return changed

    def told(self) -> str:
        """What following took, as a sentence."""
        first = self.bytes_read - self.bytes_appended - self.bytes_again
        return (
            f"files followed{' by polling' if self.polling else ''}: {len(self.tails):,}; "
            f"bytes read: {first:,} at first, {self.bytes_appended:,} appended, {self.bytes_again:,} rewritten"
        )

    def close(self) -> None:
        """End the watching threads."""
        for _, stop in self._watched.values():
            stop.set()
        self._wake.set()
        for thread in self._threads:
            thread.join(2.0)
        self._threads.clear()

    def _scan(self) -> None:
        """Look at everything: new files, and files whose size or time changed."""
        begun, used = self._clock(), time.thread_time()
        self.problems, self._new = [], False
        waiting = {id(tail) for tail in self._queue}
        for name in names(self.paths, self.problems):
            tail = self.tails.get(name)
            if tail is None:
                tail = self.tails[name] = Tail(Path(name), self.options)
            elif id(tail) in waiting or not tail.changed():
                continue
            self._queue.append(tail)
        # newest first: what people want to see is at the end of the list, from which files are taken
        if any(tail.parser is None for tail in self._queue):
            self._queue.sort(key=_age)
        now = self._clock()
        pause = _WALL * (now - begun)
        least, share = (_ALL_POLLING, _CPU_POLLING) if self.polling else (_ALL, _CPU)
        self._next_new = now + pause
        self._next_all = begun + max(least, share * (time.thread_time() - used), pause)
        if self._watching:
            self._watch()

    def _enqueue(self, names: Iterable[str]) -> None:
        waiting = {id(tail) for tail in self._queue}
        for name in names:
            tail = self.tails.get(name)
            if tail is not None and id(tail) not in waiting and tail.changed():
                self._queue.append(tail)

    def _read(self, tail: Tail) -> Batch | None:
        before, known = tail.bytes_read, tail.parser is not None
        batch = tail.read(final=False)
        if (batch is None or not batch.records) and tail.unfinished and self._settled(tail):
            batch = tail.read(final=True)
        read = tail.bytes_read - before
        self.bytes_read += read
        if known and batch is not None:
            if batch.replace:
                self.bytes_again += read
            else:
                self.bytes_appended += read
        if batch is not None:
            if self._begun and tail.note == EMPTY:
                batch.records.clear()
            self._hot[tail.name] = min(tail.changed_at, time.time_ns())
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
        self._new = self._new or not changed <= self.tails.keys()
        self._enqueue(changed)
        if self._new and self._clock() >= self._next_new:
            self._scan()

    def _watch(self) -> None:
        """Start watching what is not watched yet; without native events everything is polled."""
        if self.polling:
            return
        for name in self._wanted:
            try:
                roots = list(self._roots(Path(name)))
            except OSError:
                continue
            for folder, recursive, inode in roots:
                old, stop = self._watched.get((folder, recursive), (None, None))
                if old == inode:
                    continue
                if stop is not None:
                    stop.set()  # the folder was removed and has come again
                stop = threading.Event()
                self._watched[folder, recursive] = inode, stop
                listen = threading.Thread(
                    target=self._listen, args=(folder, recursive, stop), name="ctxmon-watch", daemon=True
                )
                listen.start()
                self._threads.append(listen)
                self._next_all = min(self._next_all, self._clock() + _AGAIN)

    def _roots(self, path: Path) -> Iterator[tuple[str, bool, int]]:
        """Folders in which what concerns a path happens, whether all below them does, and their inodes."""
        if path.is_dir():
            yield str(path), True, path.stat().st_ino
            return
        if path.is_symlink():
            real = path.resolve()
            self._real[str(real)] = str(path)
            if real.parent.is_dir():
                yield str(real.parent), False, real.parent.stat().st_ino
        folder = path.parent
        while not folder.exists() and glob.has_magic(str(folder)):
            folder = folder.parent
        pattern = folder != path.parent
        while not folder.is_dir():
            if folder == folder.parent:
                return
            folder, pattern = folder.parent, False
        yield str(folder), pattern, folder.stat().st_ino

    def _listen(self, folder: str, recursive: bool, stop: threading.Event) -> None:
        root = os.path.abspath(folder)
        try:
            from watchfiles import watch

            for changes in watch(
                root,
                step=25,
                debounce=50,
                recursive=recursive,
                stop_event=stop,
                watch_filter=None,
                raise_interrupt=False,
                rust_timeout=1000,
                ignore_permission_denied=True,
            ):
                told = {self._named(folder, root, name) for _, name in changes} - {""}
                if told:
                    with self._lock:
                        self._changed |= told
                    self._wake.set()
        except Exception:
            # no native events here (limits, network file system, no such platform): poll
            self.polling = True
            self._next_all = self._next_hot = 0.0
            self._wake.set()

    def _named(self, folder: str, root: str, name: str) -> str:
        """What is known by another name (a relative one, a link) by that; empty if it does not concern us."""
        if not name.startswith(root):
            root = os.path.realpath(folder)  # macOS tells names without links
        if name.startswith(root):
            rest = name[len(root) :].lstrip(os.sep)
            name = os.path.join(folder, rest) if folder != os.curdir or folder in self._wanted else rest
        name = self._real.get(name, name)
        if name in self.tails:
            return name
        if folder in self._wanted:
            return name if may_matter(name) else ""
        # in a folder that holds more than was asked for: what was, folders on the way to it, and what fits a pattern
        ours = any(path.startswith(name) or fnmatch.fnmatch(name, path) for path in self._wanted)
        return name if ours else ""


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
