"""The file side of a compaction: read once, notice changes, one run at a time, all or nothing written."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from monitor.compaction.options import CompactionError
from monitor.conversation.files import write_new
from monitor.conversation.model import ConversationError, unreadable

#: a lock older than this is left behind by a run that died
STALE_S = 3600


class Stamp(msgspec.Struct, frozen=True):
    """What a file was when it was read."""

    path: str
    size: int
    mtime_ns: int
    sha256: str


def read(path: str) -> tuple[bytes, Stamp | None]:
    """The bytes of the input and its stamp; stdin (``-``) has none. Raises ConversationError."""
    if path == "-":
        import sys

        return sys.stdin.buffer.read(), None
    try:
        info = os.stat(path)
        data = Path(path).read_bytes()
    except OSError as err:
        raise unreadable(path, err) from None
    return data, Stamp(path, info.st_size, info.st_mtime_ns, hashlib.sha256(data).hexdigest())


def unchanged(stamp: Stamp | None) -> None:
    """Raises CompactionError where the input is no longer what was read: somebody goes on writing to it."""
    if stamp is None:
        return
    try:
        info = os.stat(stamp.path)
        if (info.st_size, info.st_mtime_ns) == (stamp.size, stamp.mtime_ns):
            return
        same = hashlib.sha256(Path(stamp.path).read_bytes()).hexdigest() == stamp.sha256
    except OSError:
        same = False
    if not same:
        raise CompactionError(
            f"{stamp.path}: changed while it was compacted, so the result would miss the newest part; nothing "
            f"was written, run it again"
        )


def refuse_existing(out: str, source: str, force: bool) -> None:
    """Raises CompactionError (usage) before any work is done for an output that could not be written anyway."""
    target = Path(out)
    try:
        same = source != "-" and target.exists() and Path(source).exists() and target.samefile(source)
    except OSError:
        same = False
    if same:
        raise CompactionError(f"{out}: is the input; the input is never overwritten, choose another output", 2)
    if target.exists() and not force:
        raise CompactionError(f"{out}: exists already; --force overwrites it", 2)
    if not target.absolute().parent.is_dir():
        raise CompactionError(f"{out}: the folder {target.absolute().parent} does not exist", 2)


@contextmanager
def locked(out: str) -> Iterator[None]:
    """Hold the lock of an output file (``OUT.lock`` beside it). Raises CompactionError where another run holds it."""
    lock = Path(f"{out}.lock")
    for attempt in (1, 2):
        try:
            handle = os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
            break
        except FileExistsError:
            if attempt == 1 and _stale(lock):
                lock.unlink(missing_ok=True)
                continue
            raise CompactionError(
                f"{out}: another compaction is writing it (lock {lock}); wait for it, or remove the lock if none is "
                f"running"
            ) from None
        except OSError as err:
            raise CompactionError(f"{out}: cannot be written ({err.strerror or err})") from None
    try:
        os.write(handle, str(os.getpid()).encode())
        os.close(handle)
        yield
    finally:
        lock.unlink(missing_ok=True)


def _stale(lock: Path) -> bool:
    """True where the run that made the lock is gone: its process does not exist, or the lock is very old."""
    try:
        pid = int(lock.read_text(encoding="utf-8") or 0)
        age = time.time() - lock.stat().st_mtime
    except (OSError, ValueError):
        return False
    if age > STALE_S:
        return True
    if os.name != "posix" or pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


def write(out: str, data: bytes, source: str, force: bool) -> None:
    """Write the output whole or not at all. Raises CompactionError."""
    try:
        write_new(out, data, source=source, force=force)
    except ConversationError as err:
        raise CompactionError(str(err)) from None
