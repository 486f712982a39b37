"""Reading one file, once or as it grows.

A :class:`Tail` remembers how far it has read (whole lines only) and how to know the file again (first KiB and the bytes
before the offset). It reads appended bytes only, and everything anew when the file was truncated, replaced or rewritten.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from monitor.readers import CERTAIN, choose
from monitor.readers.base import (
    DEFAULT_OPTIONS,
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
from monitor.readers.lines import MAX_LINE, Skipped, iterate, objects
from monitor.records import Call, Problem, Record, SessionInfo
from monitor.sources.discovery import reason

_HEAD_PRINT, _TAIL_PRINT = 1024, 256
#: below this score nobody knows the format
SURE_ENOUGH = 0.3
#: a whole file up to this size cannot hold a line longer than allowed, so lines need no limit
_SMALL = MAX_LINE
UNKNOWN_FORMAT = "no usage was found: the format of this file is not known (try `ctxmon doctor`, or a column map with --map)"
NO_USAGE = "there is no usage in this file (it is known as {title}, but holds no token counts)"


@dataclass(slots=True)
class Batch:
    """Records of one file. ``replace``: they are all the file says; what it said before is gone."""

    file: str
    records: list[Record]
    replace: bool
    bytes_read: int = 0


@dataclass(slots=True)
class Tail:
    """One file being read. ``read()`` may be called again and again."""

    path: Path
    options: ReadOptions = field(default=DEFAULT_OPTIONS)
    reader: Reader | None = None
    score: float = 0.0
    parser: Parser | None = None
    offset: int = 0
    lines: int = 0
    calls: int = 0
    bytes_read: int = 0
    note: str = ""
    _stamp: tuple[int, int, int] | None = None
    _print: tuple[int, int, int] | None = None
    _torn_size: int = -1

    @property
    def name(self) -> str:
        return str(self.path)

    def read(self, final: bool = False) -> Batch | None:
        """What the file says beyond what is known; None if nothing changed.

        Args:
            final: nobody will ask again, so a last line without a line feed counts if it is whole.
        """
        try:
            status = os.stat(self.path)
        except OSError as error:
            if self._stamp is None:
                return self._failed(f"cannot be opened: {reason(error)}")
            self._stamp = None  # gone for now; what it said stays
            return None
        stamp = (status.st_size, status.st_mtime_ns, status.st_ino)
        if stamp == self._stamp and not (final and self._torn_size == status.st_size):
            return None
        first_time = self._stamp is None and self.parser is None
        try:
            if self.reader is None or not self.reader.lines or first_time or not self._same_file(status.st_size):
                batch = self._whole(final)
            else:
                batch = self._appended(final)
        except ReadError as error:
            return self._failed(str(error))
        except OSError as error:
            return self._failed(f"cannot be read: {reason(error)}")
        except (MemoryError, RecursionError):
            return self._failed("it is too large or too deeply nested to be read")
        self._stamp = stamp
        return batch

    def _failed(self, why: str) -> Batch:
        self.note = why
        return Batch(self.name, [Problem(self.name, None, why)], replace=self.parser is None)

    @property
    def unfinished(self) -> bool:
        """Whether a last line without line feed has been held back."""
        return self._torn_size >= 0

    # ------------------------------------------------------------------------------------------------ reading
    def _whole(self, final: bool) -> Batch:
        context = FileContext(name=self.name, path=self.path, options=self.options)
        head = read_head(context)
        self.offset = self.lines = self.calls = 0
        self.parser = None
        if not head.data.strip(b" \t\r\n\x00"):
            return self._failed("the file is empty" if not head.data else "the file holds nothing but blanks")
        self.reader, self.score = choose(head, self.options.source)
        if self.score < CERTAIN and not head.complete:
            head = read_head(context, LONG_HEAD_BYTES)
            self.reader, self.score = choose(head, self.options.source)
        if self.reader is None or (self.score < SURE_ENOUGH and self.options.source is None):
            self.reader = None
            return self._failed(binary(head) or UNKNOWN_FORMAT)
        self.parser = self.reader.parser(context)
        if self.reader.lines:
            packed = compressed(head)
            with context.open() if packed else self.path.open("rb", buffering=1 << 20) as stream:
                self._feed(iterate(stream) if packed or self._large() else stream, final or packed)
        else:
            self.parser.read(context)
            self.bytes_read += self._size()
            self.lines = 0
        return self._batch(replace=True)

    def _appended(self, final: bool) -> Batch:
        with self.path.open("rb", buffering=1 << 20) as stream:
            stream.seek(self.offset)
            self._feed(iterate(stream) if self._large() else stream, final)
        return self._batch(replace=False)

    def _feed(self, stream: Iterable[bytes], final: bool) -> None:
        """Hand whole lines to the parser; a last line without line feed only when nobody will come back for it."""
        assert self.parser is not None
        counter = _Counter(stream, final)
        self.parser.feed(counter, self.lines + 1)
        self.offset += counter.bytes
        self.lines += counter.lines
        self.bytes_read += counter.bytes + len(counter.torn)
        self._torn_size = self.offset + len(counter.torn) if counter.torn else -1
        self._print = self._fingerprint()

    def _batch(self, replace: bool) -> Batch:
        assert self.parser is not None
        assert self.reader is not None
        records = self.parser.take()
        self.calls += sum(1 for record in records if isinstance(record, Call))
        known = self.calls or any(isinstance(r, SessionInfo) and r.totals_only for r in records)
        self.note = ""
        if replace and not known:
            self.note = NO_USAGE.format(title=self.reader.title)
            records.append(Problem(self.name, None, self.note))
        return Batch(self.name, records, replace, self.bytes_read)

    def _size(self) -> int:
        try:
            return os.stat(self.path).st_size
        except OSError:
            return 0

    def _large(self) -> bool:
        return self._size() > _SMALL

    # ------------------------------------------------------------------------------------------------ identity
    def _fingerprint(self) -> tuple[int, int, int] | None:
        if self.reader is None or not self.reader.lines:
            return None
        try:
            with self.path.open("rb") as stream:
                head = stream.read(min(_HEAD_PRINT, self.offset))
                stream.seek(max(0, self.offset - _TAIL_PRINT))
                tail = stream.read(min(_TAIL_PRINT, self.offset))
        except OSError:
            return None
        return self.offset, zlib.crc32(head), zlib.crc32(tail)

    def _same_file(self, size: int) -> bool:
        """Whether what was read is still at the beginning of the file and only bytes were added."""
        if size < self.offset or self._print is None or self._print[0] != self.offset:
            return False
        if size == self.offset and self._torn_size < 0:
            return False  # same size, newer time: edited in place
        return self._fingerprint() == self._print


class _Counter:
    """Passes whole lines on and counts them; keeps a torn last line back unless it is final."""

    __slots__ = ("bytes", "final", "lines", "source", "torn")

    def __init__(self, source: Iterable[bytes], final: bool) -> None:
        self.source, self.final = source, final
        self.bytes = self.lines = 0
        self.torn = b""

    def __iter__(self) -> Iterator[bytes]:
        size = count = 0
        for line in self.source:
            if line[-1:] != b"\n" and (not self.final or not whole(line)):
                self.torn = line
                break
            size += len(line)
            count += 1
            yield line
        self.bytes, self.lines = size, count


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
    if sample.startswith(b"SQLite format 3"):
        return "this SQLite database is not one that is known (see `ctxmon doctor`)"
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
        if reader is None or (score < SURE_ENOUGH and options.source is None):
            return Batch(name, [Problem(name, None, binary(head) or UNKNOWN_FORMAT)], True), None
        parser = reader.parser(context)
        parser.read(context)
        records = parser.take()
    except ReadError as error:
        return Batch(name, [Problem(name, None, str(error))], True), None
    if not any(isinstance(record, Call | SessionInfo) for record in records):
        records.append(Problem(name, None, NO_USAGE.format(title=reader.title)))
    return Batch(name, records, True, len(data)), reader
