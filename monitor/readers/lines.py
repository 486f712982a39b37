"""Bytes to JSON objects: the one place that knows what log files do to lines.

Rules (each met in real logs): only LF ends a record (U+2028, U+2029, NEL are ordinary characters); CR before LF, a byte
order mark, and runs of NUL left by a crash are no content; two objects may be glued on one line by two writers; the
last line may still be being written; numbers may be NaN; strings may hold lone surrogates; nesting may be deeper than
any parser likes; a line may be larger than memory should hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import IO, Any

import msgspec

#: a longer line is skipped and reported: no log record of use is that large (images are a few MB)
MAX_LINE = 256 * 1024 * 1024
_CHUNK = 1 << 20
BOM = b"\xef\xbb\xbf"

TORN = "the last line is not finished (still being written, or cut off)"
NOT_JSON = "this line is not valid JSON; it was skipped"
TOO_DEEP = "this line is nested too deeply to be read; it was skipped"
TOO_LONG = f"this line is longer than {MAX_LINE // (1024 * 1024)} MB; it was skipped"


@cache
def _raw_decode() -> Any:
    """The tolerant decoder; few files need it, and loading it takes 2 ms."""
    import json

    return json.JSONDecoder(strict=False).raw_decode


class Skipped(ValueError):
    """A line (or the rest of one) that is no JSON; the text is a reason for people. ``objects`` came before it."""

    def __init__(self, reason: str, objects: list[Any], torn: bool = False) -> None:
        super().__init__(reason)
        self.objects = objects
        self.torn = torn


def iterate(stream: IO[bytes], limit: int = MAX_LINE) -> Iterator[bytes]:
    """Lines of a stream with their LF; a line over ``limit`` bytes comes as an empty line (memory stays bounded)."""
    while True:
        line = stream.readline(limit)
        if not line:
            return
        if len(line) >= limit and not line.endswith(b"\n"):
            while True:
                rest = stream.readline(_CHUNK)
                if not rest or rest.endswith(b"\n"):
                    break
            yield b"\x00too long\n"
            continue
        yield line


def batches(stream: IO[bytes], limit: int | None = None) -> Iterator[list[bytes]]:
    """Lines of a stream with their LF, about a megabyte at a time; far quicker than one by one.

    Args:
        limit: see :func:`iterate`; None where the whole input is known to be smaller than a line may be.
    """
    if limit is None:
        while lines := stream.readlines(_CHUNK):
            yield lines
        return
    held: list[bytes] = []
    size = 0
    for line in iterate(stream, limit):
        held.append(line)
        size += len(line)
        if size >= _CHUNK:
            yield held
            held, size = [], 0
    if held:
        yield held


def strip(line: bytes) -> bytes:
    """A line without line end, byte order mark and NUL padding."""
    line = line.strip(b" \t\r\n\x00")
    return line[3:].lstrip() if line.startswith(BOM) else line


def objects(line: bytes) -> list[Any]:
    """All JSON values on one line (usually one; two when writers collided), the slow and tolerant way.

    Accepts NaN, lone surrogates, control characters inside strings and invalid UTF-8 (replaced).

    Raises:
        Skipped: nothing, or not all of it, is JSON; carries what came before and whether it merely ends early.
    """
    if line.startswith(b"\x00too long"):
        raise Skipped(TOO_LONG, [])
    raw = strip(line)
    if not raw:
        return []
    text = raw.decode("utf-8", "surrogatepass") if _is_utf8(raw) else raw.decode("utf-8", "replace")
    found: list[Any] = []
    decode = _raw_decode()
    position, end = 0, len(text)
    while position < end:
        try:
            value, position = decode(text, position)
        except RecursionError:
            raise Skipped(TOO_DEEP, found) from None
        except ValueError as error:
            at = getattr(error, "pos", position)
            torn = not line.endswith(b"\n") and (at >= end - 1 or "Unterminated" in str(error) or text[-1] not in "}]")
            raise Skipped(TORN if torn else NOT_JSON, found, torn) from None
        found.append(value)
        while position < end and text[position] in " \t\r\n\x00,":
            position += 1
    return found


def readable(line: bytes, note: Callable[[Skipped], object] | None = None) -> list[Any]:
    """The JSON values of a line as far as it can be read; ``note`` is told why the rest of it cannot."""
    try:
        return objects(line)
    except Skipped as skipped:
        if note is not None:
            note(skipped)
        return skipped.objects


def later(raw: bytes | msgspec.Raw) -> Any:
    """A JSON value inside a line that was kept as it is; None if it cannot be read.

    The decoder of the line looks into such a value only as far as to find its end, so it may still hold bytes that are
    no text, numbers that are too large, or more levels than can be read.
    """
    try:
        return _fast(raw)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        pass
    found = readable(bytes(raw))
    return found[0] if found else None


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return False
    return True


def documents(data: bytes) -> list[Any]:
    """All JSON values of a whole file: one document, JSON lines, or objects written one after the other.

    Raises:
        Skipped: as :func:`objects`.
    """
    if not data.endswith(b"\n"):
        return objects(data)
    return objects(data)


def first_objects(data: bytes, count: int = 40) -> Iterator[dict[str, Any]]:
    """The JSON objects of the first lines of a head, one by one, for sniffing; what cannot be read is left out.

    One head is shown to many readers, most of which look at its first lines only: lines are taken apart when somebody
    asks for them, and once. Nobody changes what he is shown.
    """
    global _opened
    opened = _opened
    if opened.data is not data:
        opened = _opened = _Opened(data)
    for place in range(count):
        while place >= len(opened.found):
            if not opened.more():
                return
        yield opened.found[place]


class _Opened:
    """A head, taken apart as far as somebody has looked."""

    __slots__ = ("_start", "data", "found")

    def __init__(self, data: bytes) -> None:
        self.data, self._start = data, 0
        self.found: list[dict[str, Any]] = []

    def more(self) -> bool:
        """Read the next line; False if there is none."""
        start, data = self._start, self.data
        if start >= len(data):
            return False
        end = data.find(b"\n", start)
        line = data[start : end + 1] if end >= 0 else data[start:]
        self._start = start + len(line)
        if strip(line[:64])[:1] in (b"{", b""):  # in a document laid out over lines hardly any is an object
            self.found += [value for value in _values(line) if isinstance(value, dict)]
        return True


_opened = _Opened(b"")  # the head that was looked at last


_fast = msgspec.json.Decoder().decode


def _values(line: bytes) -> list[Any]:
    try:
        return [_fast(line)]
    except (msgspec.DecodeError, RecursionError):
        pass
    return readable(line)
