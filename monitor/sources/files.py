"""Reading one file, once or as it grows.

A :class:`Tail` remembers how far it has read (whole lines only) and how to know the file again (first KiB and the
bytes before the offset). It reads appended bytes only, and everything anew when the file was truncated, replaced or
rewritten.
"""

from __future__ import annotations

import os
import time
import zlib
from pathlib import Path
from typing import IO

import msgspec

from monitor.readers import CERTAIN, choose
from monitor.readers.base import (
    DEFAULT_OPTIONS,
    HEAD_BYTES,
    LONG_HEAD_BYTES,
    FileContext,
    Head,
    Parser,
    Reader,
    ReadError,
    ReadOptions,
    compressed,
    read_head,
)
from monitor.readers.lines import MAX_LINE, Skipped, batches, objects
from monitor.records import Call, Problem, Record, SessionInfo
from monitor.sources.discovery import reason

#: after so many times a file is taken for one that often returns to old records: nothing of it is forgotten any more
_REREADS = 3
_HEAD_PRINT, _TAIL_PRINT = 1024, 256
#: below this score nobody knows the format
SURE_ENOUGH = 0.3
_BUFFER = 1 << 20
UNKNOWN_FORMAT = (
    "no usage was found: the format of this file is not known (try `ctxmon doctor`, or a column map with --map)"
)
EMPTY = "the file is empty"
NO_USAGE = "there is no usage in this file (it is known as {title}, but holds no token counts)"


class Batch(msgspec.Struct):
    """Records of one file. ``replace``: they are all the file says; what it said before is gone."""

    file: str
    records: list[Record]
    replace: bool
    bytes_read: int = 0


_DATABASES = (".db", ".sqlite", ".sqlite3")


class Tail:
    """One file being read. ``read()`` may be called again and again.

    ``lines`` and ``offset`` (bytes) are how far it has been read, ``bytes_read`` what that took in all, ``calls`` how
    many it told, ``note`` why it told nothing; ``reader`` and ``score`` tell its format and how sure that is.
    """

    __slots__ = (
        "_doubtful", "_first_crc", "_first_size", "_last", "_packed", "_rereads", "_stamp", "_torn_size", "bytes_read",
        "calls", "database", "lines", "name", "note", "offset", "options", "parser", "path", "reader", "score",
        "unfinished",
    )  # fmt: skip

    def __init__(self, path: Path, options: ReadOptions = DEFAULT_OPTIONS) -> None:
        self.path, self.options = path, options
        self.name = str(path)
        self.reader: Reader | None = None
        self.score = 0.0
        self.parser: Parser | None = None
        self.offset = self.lines = self.calls = self.bytes_read = 0
        self.note = ""
        self._stamp: tuple[int, ...] | None = None
        self._doubtful = False  # whether the file may have changed since without another stamp
        self._packed = self.database = False
        self._rereads = 0  # because a line went on with what had been forgotten
        self._forget()

    def _forget(self) -> None:
        self.offset = self.lines = self.calls = 0
        self._torn_size = -1
        self.unfinished = False  # whether a last line without line feed is held back that may be whole
        # what the file can be known by again: its first KiB and the bytes before the offset
        self._first_crc = self._first_size = 0
        self._last = b""

    def read(self, final: bool = False) -> Batch | None:
        """What the file says beyond what is known; None if nothing changed.

        Args:
            final: nobody will ask again, so a last line without a line feed counts if it is whole.
        """
        try:
            stamp = self._look()
        except OSError as error:
            if self.parser is not None and isinstance(error, FileNotFoundError):
                self._stamp = None  # gone for now; what it said stays
                return None
            return self._refused(f"cannot be opened: {reason(error)}")
        if stamp == self._stamp and not (final and self._torn_size == stamp[0] and self.unfinished):
            if not self._doubtful:
                return None
            self._doubtful = _doubtful(stamp)
            lines = self.reader is not None and self.reader.lines and not self._packed
            if self._as_read() if lines else self._doubtful:
                return None
        first_time = self._stamp is None and self.parser is None
        doubtful = _doubtful(stamp)
        try:
            if self.reader is None or not self.reader.lines or first_time or not self._same_file(stamp[0]):
                batch = self._whole(final)
            else:
                batch = self._appended(final)
        except OSError as error:
            return self._refused(f"cannot be read: {reason(error)}")
        except ReadError as error:
            batch = self._failed(str(error))
        except (MemoryError, RecursionError):
            batch = self._failed("it is too large or too deeply nested to be read")
        self._stamp, self._doubtful = stamp, doubtful
        return batch

    def _look(self) -> tuple[int, ...]:
        """How the file looks from outside: equal to what it was means unchanged, unless that was doubtful.

        Raises:
            OSError: it cannot be looked at.
        """
        status = os.stat(self.name)
        stamp = status.st_size, status.st_mtime_ns, status.st_ino
        if not self.name.endswith(_DATABASES):
            return stamp
        try:
            beside = os.stat(self.name + "-wal")  # SQLite writes new rows there first
        except OSError:
            return stamp
        return *stamp, beside.st_size, beside.st_mtime_ns

    def changed(self) -> bool:
        """Whether reading may tell something new: a quick look for those who follow thousands of files."""
        try:
            return self._look() != self._stamp or self._doubtful or self.unfinished
        except OSError:
            return self._stamp is not None

    def _failed(self, why: str) -> Batch:
        self.note = why
        return Batch(self.name, [Problem(self.name, None, why)], replace=self.parser is None)

    def _refused(self, why: str) -> Batch | None:
        """It will be tried again, and told once."""
        return self._failed(why) if why != self.note else None

    @property
    def changed_at(self) -> int:
        """When the file last changed (ns), as it was known when it was read; 0 if it could not be."""
        return max(self._stamp[1::3]) if self._stamp is not None else 0

    @property
    def stamp(self) -> tuple[int, int, int] | None:
        """Size, time of change (ns) and inode the file had when it was read; None if it could not be, or is more."""
        stamp = self._stamp
        return (stamp[0], stamp[1], stamp[2]) if stamp is not None and len(stamp) == 3 else None

    # ------------------------------------------------------------------------------------------------ reading
    def _whole(self, final: bool) -> Batch:
        context = FileContext(name=self.name, path=self.path, options=self.options)
        self._forget()
        self.parser = None
        with open(self.path, "rb", _BUFFER) as stream:
            data = stream.read(HEAD_BYTES)
            head = Head(data, self.name, len(data) < HEAD_BYTES, self.path, data[:16])
            self._packed = compressed(head)
            self.database = data.startswith(b"SQLite format 3")
            if self._packed:
                head = read_head(context)
            if not head.data.strip(b" \t\r\n\x00"):
                return self._failed(EMPTY if not head.data else "the file holds nothing but blanks")
            self.reader, self.score = choose(head, self.options.source)
            if self.score < CERTAIN and not head.complete:
                head = read_head(context, LONG_HEAD_BYTES)
                self.reader, self.score = choose(head, self.options.source)
            if self.score < SURE_ENOUGH and (laid_out := as_lines(context, head)) is not None:
                self.reader, self.score = laid_out
                self._packed = True  # it is no file of lines as it lies there
            if self.reader is None or (self.score < SURE_ENOUGH and self.options.source is None):
                self.reader = None
                return self._failed(binary(head) or UNKNOWN_FORMAT)
            self.parser = self.reader.parser(context)
            if self._rereads >= _REREADS:
                self.parser.forgets = False
            if not self.reader.lines:
                self.parser.read(context)
                self.bytes_read += self._size()
            elif self._packed:
                with context.open() as unpacked:
                    self._feed(unpacked, True)
            else:
                stream.seek(0)
                self._feed(stream, final)
        batch = self._batch(replace=True)
        if context.damage:
            batch.records.append(Problem(self.name, None, context.damage))
        return batch

    def _appended(self, final: bool) -> Batch:
        with open(self.path, "rb", _BUFFER) as stream:
            stream.seek(self.offset)
            self._feed(stream, final)
        if self.parser is not None and self.parser.reread:
            self._rereads += 1
            return self._whole(final)
        return self._batch(replace=False)

    def _feed(self, stream: IO[bytes], final: bool) -> None:
        """Hand whole lines to the parser; a last line without line feed only when nobody will come back for it."""
        assert self.parser is not None
        feed = self.parser.feed
        # a whole file up to this size cannot hold a line longer than allowed, so lines need no limit
        limit = MAX_LINE if self._packed or self._size() > MAX_LINE else None
        torn = b""
        for lines in batches(stream, limit):
            if lines[-1][-1:] != b"\n" and (not final or not whole(lines[-1])):
                torn = lines.pop()
            if lines:
                feed(lines, self.lines + 1)
                size = sum(map(len, lines))
                self.offset += size
                self.bytes_read += size
                self.lines += len(lines)
                self._remember(lines)
            if torn:
                break
        self.bytes_read += len(torn)
        self._torn_size = self.offset + len(torn) if torn else -1
        self.unfinished = bool(torn) and not final

    def _batch(self, replace: bool) -> Batch:
        assert self.parser is not None
        assert self.reader is not None
        records = self.parser.take()
        self.calls += sum(1 for record in records if isinstance(record, Call))
        known = self.calls or any(isinstance(r, SessionInfo) and r.totals_only for r in records)
        if known and replace and self.score < SURE_ENOUGH and not any(map(tells_tokens, records)):
            # a reader was forced on a file it does not know, and found nothing in it
            known, records, self.calls = False, [r for r in records if isinstance(r, Problem)], 0
        self.note = ""
        # a file that another one's reader takes along (the parts of a message, a manifest) owes nothing itself
        if replace and not known and not getattr(self.parser, "companion", False):
            self.note = NO_USAGE.format(title=self.reader.title)
            records.append(Problem(self.name, None, self.note))
        return Batch(self.name, records, replace, self.bytes_read)

    def _size(self) -> int:
        try:
            return os.stat(self.path).st_size
        except OSError:
            return 0

    # ------------------------------------------------------------------------------------------------ identity
    def _remember(self, lines: list[bytes]) -> None:
        """Keep what the file can be known by again. From what was read, as the file may change meanwhile."""
        for line in lines:
            if self._first_size == _HEAD_PRINT:
                break
            part = line[: _HEAD_PRINT - self._first_size]
            self._first_crc, self._first_size = zlib.crc32(part, self._first_crc), self._first_size + len(part)
        last = b""
        for line in reversed(lines):
            last = line[-_TAIL_PRINT:] + last
            if len(last) >= _TAIL_PRINT:
                break
        else:
            last = self._last + last
        self._last = last[-_TAIL_PRINT:]

    def _same_file(self, size: int) -> bool:
        """Whether what was read is still at the beginning of the file and only bytes were added."""
        if size < self.offset or self._packed:
            return False
        if size == self.offset and self._torn_size < 0:
            return False  # same size, newer time: edited in place
        return self._as_read()

    def _as_read(self) -> bool:
        """Whether what was read of a file of lines still begins and ends as it did."""
        try:
            with open(self.path, "rb", 0) as stream:
                first = stream.read(self._first_size)
                stream.seek(self.offset - len(self._last))
                return zlib.crc32(first) == self._first_crc and stream.read(len(self._last)) == self._last
        except OSError:
            return False


def tick(changed: int) -> int:
    """Steps in which the clock of a file system counts (ns), by a time it gave: two changes within one look the same.

    Some count in seconds, up to two, so their times are round; others follow the system's ticks of some ms.
    """
    return 2_000_000_000 if changed % 1_000_000_000 == 0 else 20_000_000


def _doubtful(stamp: tuple[int, ...]) -> bool:
    """Whether a file changed so shortly ago that one more change may not show."""
    now = time.time_ns()
    return any(abs(now - changed) < tick(changed) for changed in stamp[1::3])


def tells_tokens(record: Record) -> bool:
    """Whether a record holds a figure at all."""
    if isinstance(record, Call):
        return record.prompt_tokens is not None or record.output_tokens is not None
    return isinstance(record, SessionInfo) and record.totals_only is not None


def whole(line: bytes) -> bool:
    """Whether a line without line feed is a finished record."""
    try:
        objects(line)
    except Skipped:
        return False
    return True


def binary(head: Head) -> str | None:
    """A sentence for files that are no text at all."""
    sample = head.data[:4096]
    if sample.startswith(b"SQLite format 3\0"):
        from monitor.readers import sqlite_files  # few need it

        return sqlite_files.damage(head) or "this SQLite database is not one that is known (see `ctxmon doctor`)"
    odd = sum(1 for byte in sample if byte < 9 or 13 < byte < 32)
    if sample and odd > len(sample) // 50:
        return "this is a binary file of no known format"
    return None


def read_bytes(name: str, data: bytes, options: ReadOptions = DEFAULT_OPTIONS) -> tuple[Batch, Reader | None]:
    """Records of bytes that are no file (stdin)."""
    context = FileContext(name=name, data=data, options=options)
    if not data.strip(b" \t\r\n\x00"):
        return Batch(name, [Problem(name, None, "the input is empty")], True), None
    try:
        head = read_head(context, LONG_HEAD_BYTES)
        reader, score = choose(head, options.source)
        if score < SURE_ENOUGH and (laid_out := as_lines(context, head)) is not None:
            reader, score = laid_out
        if reader is None or (score < SURE_ENOUGH and options.source is None):
            return Batch(name, [Problem(name, None, binary(head) or UNKNOWN_FORMAT)], True), None
        parser = reader.parser(context)
        parser.read(context)
        records = parser.take()
    except ReadError as error:
        return Batch(name, [Problem(name, None, str(error))], True), None
    if not any(isinstance(record, Call | SessionInfo) for record in records):
        records.append(Problem(name, None, NO_USAGE.format(title=reader.title)))
    if context.damage:
        records.append(Problem(name, None, context.damage))
    return Batch(name, records, True, len(data)), reader


def as_lines(context: FileContext, head: Head) -> tuple[Reader, float] | None:
    """The reader of records that are not one on a line, and how sure it is; the context then holds them as lines."""
    if head.data.lstrip(b" \t\r\n\xef\xbb\xbf")[:1] not in (b"[", b"{"):
        return None
    from monitor.readers import relined

    changed = relined.head_of(head)
    if changed is None:
        return None
    reader, score = choose(changed, context.options.source)
    if reader is None or not reader.lines or score < SURE_ENOUGH:
        return None
    context.data, why = relined.relined(context)
    context.damage = context.damage or why
    return reader, score
