"""What a reader is: one file per log format behind a scored registry.

A reader says how sure it is of a file's head (:meth:`Reader.sniff`) and makes a :class:`Parser` for one file. There
are two kinds:

* *line readers* (``lines = True``): the parser is fed raw lines, as they are appended, and hands out the records that
  are new or have changed since the last :meth:`Parser.take`. A record with the same identity replaces the earlier one.
* *document readers* (``lines = False``): the parser reads the whole file through :class:`FileContext` in one go and is
  made anew when the file changes.
"""

from __future__ import annotations

import codecs
import io
import zlib
from collections.abc import Callable, Iterable
from typing import IO, TYPE_CHECKING, Any, Protocol, cast, runtime_checkable

import msgspec

from monitor.readers.lines import Skipped, readable
from monitor.records import Problem, Record

if TYPE_CHECKING:
    from pathlib import Path

#: a head is first this long; a longer one is read only where the short one does not tell the format
HEAD_BYTES, LONG_HEAD_BYTES = 32 * 1024, 1024 * 1024


class ReadError(Exception):
    """A file that cannot be read at all; the text is one clear sentence for people."""


class ReadOptions(msgspec.Struct, frozen=True):
    """What the user asked for that changes how files are read."""

    detail: bool = False  # every Step, not only the latest ones of each chain
    source: str | None = None  # force a reader
    map: Any = None  # column map (readers.columns.ColumnMap)
    session_by: str | None = None  # force one way of forming sessions


DEFAULT_OPTIONS = ReadOptions()


class Head(msgspec.Struct, frozen=True):
    """The beginning of a file, decompressed: what a reader may judge by. Never the name alone."""

    data: bytes
    name: str = ""
    complete: bool = False  # data is the whole file
    path: Path | None = None
    raw_magic: bytes = b""  # first bytes as on disk (before decompression)


class FileContext(msgspec.Struct):
    """One input as a parser sees it: name for people, path if there is one, a way to open the bytes."""

    name: str
    path: Path | None = None
    data: bytes | None = None  # stdin or an unpacked member
    options: ReadOptions = DEFAULT_OPTIONS
    damage: str = ""  # why the rest of it could not be decompressed

    def _damaged(self, why: str) -> None:
        self.damage = why

    def open(self) -> IO[bytes]:
        """Decompressed bytes of the whole input, read-only, in UTF-8. What is damaged ends there (``damage``).

        Raises:
            ReadError: compressed in a way that cannot be undone here.
            OSError: the file cannot be opened.
        """
        if self.data is not None:
            return open_bytes(self.data, self._damaged)
        if self.path is None:
            raise ReadError("there is nothing to read")
        return open_plain(self.path, self._damaged)


class Parser(Protocol):
    """Reads one file. For ``forgets`` and ``reread`` see :class:`BaseParser`."""

    forgets: bool
    reread: bool

    def feed(self, lines: Iterable[bytes], first: int) -> None:
        """Take raw lines (with or without their line feed); ``first`` is the number of the first one, from 1."""

    def read(self, context: FileContext) -> None:
        """Document readers: read everything."""

    def take(self) -> list[Record]:
        """Records that are new or changed since the last call; problems among them."""


class BaseParser:
    """Holds what every parser needs; a parser overrides ``feed`` or ``read`` and, if it upserts, ``take``.

    ``forgets``: records that were taken long ago may be let go of. ``reread``: a line has come that goes on with one of
    those, so the whole file must be read anew by a fresh parser.
    """

    forgets = True
    reread = False

    def __init__(self, context: FileContext) -> None:
        self.file = context.name
        self.options = context.options
        self.records: list[Record] = []

    def feed(self, lines: Iterable[bytes], first: int) -> None:
        raise NotImplementedError("this format is read as a whole")

    def read(self, context: FileContext) -> None:
        from monitor.readers.lines import iterate

        with context.open() as stream:
            self.feed(iterate(stream), 1)

    def take(self) -> list[Record]:
        out, self.records = self.records, []
        return out

    def problem(self, line: int | None, reason: str) -> None:
        """Note something that could not be read; ``reason`` is one sentence without content of the file."""
        self.records.append(Problem(self.file, line, reason))

    def values_of(self, raw: bytes, number: int) -> list[Any]:
        """The JSON values of a line that a quick decoder refused, as far as it can be read; a broken rest is noted."""

        def note(skipped: Skipped) -> None:
            if not skipped.torn:
                self.problem(number, str(skipped))

        return readable(raw, note)


@runtime_checkable
class Reader(Protocol):
    """One log format. ``source`` is the word of the contract; ``title`` is for people."""

    source: str
    title: str
    lines: bool

    def sniff(self, head: Head) -> float:
        """How sure this format is, 0 (no) to 1 (certain), from the content."""

    def parser(self, context: FileContext) -> Parser:
        """A fresh parser for one file."""


# ---------------------------------------------------------------------------------------------------------------------
GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
UTF16 = (b"\xff\xfe", b"\xfe\xff")  # the mark of what some shells write when output is sent to a file
Told = Callable[[str], None]


def open_plain(path: Path, damaged: Told | None = None) -> IO[bytes]:
    """Open a file for reading, undoing gzip, zstd or UTF-16 by its first bytes (not by its name).

    Args:
        damaged: told why what comes behind what was read cannot be; else that is a ReadError.

    Raises:
        ReadError: zstd without a decoder.
        OSError: as usual.
    """
    raw = io.BufferedReader(io.FileIO(path, "rb"), 1 << 20)
    try:
        inner = _undone(raw, raw.peek(4)[:4])
    except BaseException:
        raw.close()
        raise
    return raw if inner is None else _Owning(inner, raw, damaged)


def open_bytes(data: bytes, damaged: Told | None = None) -> IO[bytes]:
    """Bytes as a stream, with gzip, zstd or UTF-16 undone."""
    raw = io.BytesIO(data)
    inner = _undone(raw, data[:4])
    return raw if inner is None else _Owning(inner, raw, damaged)


def _undone(raw: IO[bytes], magic: bytes) -> IO[bytes] | None:
    if magic[:2] == GZIP:
        import gzip

        return cast(IO[bytes], _Pieces(gzip.GzipFile(fileobj=raw)))
    if magic[:2] in UTF16:
        return cast(IO[bytes], _Recoded(raw))
    return _zstd(raw) if magic == ZSTD else None


def _zstd(raw: IO[bytes]) -> IO[bytes]:
    try:
        import zstandard
    except ImportError as error:  # pragma: no cover - zstandard is a core dependency
        raise ReadError("it is compressed with zstd: install the package zstandard to read it") from error
    stream: IO[bytes] = zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True)
    return stream


class _Pieces:
    """A gzip stream piece by piece: a larger read would lose what comes before damage."""

    def __init__(self, inner: Any) -> None:
        self.read, self.close = inner.read1, inner.close


class _Recoded:
    """UTF-16 with its mark, as UTF-8."""

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw = raw
        self._decode = codecs.getincrementaldecoder("utf-16")("replace").decode
        self._held, self._ended = b"", False

    def read(self, size: int) -> bytes:
        while not self._held and not self._ended:
            data = self._raw.read(1 << 16)
            self._ended = not data
            self._held = self._decode(data, self._ended).encode()
        out, self._held = self._held[:size], self._held[size:]
        return out

    def close(self) -> None:
        self._held = b""


class _Owning(io.BufferedReader):
    """A buffered decompressing stream that closes the file below it too."""

    def __init__(self, inner: IO[bytes], below: IO[bytes], damaged: Told | None) -> None:
        super().__init__(_Raw(inner, below, damaged), 1 << 20)


class _Raw(io.RawIOBase):
    def __init__(self, inner: IO[bytes], below: IO[bytes], damaged: Told | None) -> None:
        self._inner, self._below, self._damaged = inner, below, damaged
        self._told = False  # whether anything has been read

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._inner.read(len(buffer))
        except (OSError, EOFError, zlib.error) as error:
            return self._ends(f"the compressed data is damaged ({error})", error)
        except Exception as error:  # zstandard.ZstdError has no common base
            return self._ends(f"the compressed data is damaged ({type(error).__name__})", error)
        buffer[: len(data)] = data
        self._told |= bool(data)
        return len(data)

    def _ends(self, why: str, error: Exception) -> int:
        """Damage is the end of what can be read, if anything could."""
        if not self._told or self._damaged is None:
            raise ReadError(why) from error
        self._damaged(why)
        return 0

    def close(self) -> None:
        if not self.closed:
            self._inner.close()
            self._below.close()
        super().close()


def read_head(context: FileContext, size: int = HEAD_BYTES) -> Head:
    """The decompressed beginning of an input.

    Raises:
        ReadError, OSError: see :meth:`FileContext.open`.
    """
    if context.data is not None:
        magic, data = context.data[:16], context.data[:size]
    elif context.path is not None:
        with context.path.open("rb", buffering=0) as raw:
            data = raw.read(size)
        magic = data[:16]
    else:
        raise ReadError("there is nothing to read")
    if _packed(magic):
        with context.open() as stream:
            data = stream.read(size)
    return Head(data, context.name, len(data) < size, context.path, magic)


def compressed(head: Head) -> bool:
    """Whether the bytes on disk are not the bytes of the log."""
    return _packed(head.raw_magic)


def _packed(magic: bytes) -> bool:
    return magic[:2] == GZIP or magic[:2] in UTF16 or magic[:4] == ZSTD
