"""Lines to JSON values where one value may span many lines: the reader of exports and telemetry files.

Accepts JSON lines, one document (compact or pretty-printed), pretty-printed objects written one after the other, and an
array with one element a line. Works on lines as they are appended, so that a growing file can be followed.

A value that spans lines is recognised by a first line that ends with an opening bracket, a comma or a colon. Anything
else that is no JSON is one bad line: it is reported and skipped, and the next line is read afresh.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from monitor.readers.base import FileContext
from monitor.readers.lines import (
    MAX_LINE,
    NOT_JSON,
    TOO_LONG,
    TORN,
    iterate,
    readable,
    strip,
)
from monitor.readers.patterns import lazy

Note = Callable[[int | None, str], None]
decode = msgspec.json.Decoder().decode
_STRING = lazy(rb'"(?:[^"\\]|\\.)*"')
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


class JsonAssembler:
    """Takes raw lines, hands out ``(line number, value)``. ``note`` is told what could not be read."""

    def __init__(self, note: Note) -> None:
        self._note = note
        self._parts: list[bytes] = []
        self._first = 0
        self._depth = 0
        self._size = 0

    def push(self, line: bytes, number: int) -> list[tuple[int, Any]]:
        """Values that are complete with this line. A value over several lines has the number of its first."""
        raw = strip(line)
        if not raw:
            return []
        if self._parts:
            return self._more(line, raw, number)
        try:
            return [(number, decode(raw))]
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            pass
        if raw in (b"[", b"]", b",", b"],"):  # an array with its elements on lines of their own
            return []
        if raw[-1:] == b"," and raw[:1] in (b"{", b"["):
            try:
                return [(number, decode(raw[:-1]))]
            except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
                pass
        if raw[:1] in (b"{", b"[") and raw[-1:] in (b"{", b"[", b",", b":") and self._opens(raw, number):
            return []
        return self._slow(line, number)

    def finish(self) -> None:
        """The input has ended: what is still open is reported."""
        if self._parts:
            self._note(self._first, TORN)
            self._parts = []

    def _opens(self, raw: bytes, number: int) -> bool:
        depth = _depth(raw)
        if depth <= 0:
            return False
        self._parts, self._first, self._depth, self._size = [raw], number, depth, len(raw)
        return True

    def _more(self, line: bytes, raw: bytes, number: int) -> list[tuple[int, Any]]:
        if line[:2] == b'{"' and raw[-1:] == b"}":
            # an object of its own at the margin: what was open before it never ended
            try:
                value = decode(raw)
            except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
                pass
            else:
                self._note(self._first, NOT_JSON)
                self._parts = []
                return [(number, value)]
        self._parts.append(raw)
        self._size += len(raw)
        self._depth += _depth(raw)
        if self._size > MAX_LINE:
            self._note(self._first, TOO_LONG)
            self._parts = []
        elif self._depth <= 0:
            data = b"\n".join(self._parts).rstrip(b",")
            self._parts = []
            try:
                return [(self._first, decode(data))]
            except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
                return self._slow(data + b"\n", self._first)
        return []

    def _slow(self, line: bytes, number: int) -> list[tuple[int, Any]]:
        return [(number, value) for value in readable(line, lambda skipped: self._note(number, str(skipped)))]


def _depth(raw: bytes) -> int:
    bare = _STRING.sub(b"", raw)
    return bare.count(b"{") + bare.count(b"[") - bare.count(b"}") - bare.count(b"]")


def values(context: FileContext, note: Note) -> Iterator[tuple[int | None, Any]]:
    """All JSON values of an input, read as a whole; the number is None for a value that is the whole document.

    Raises:
        ReadError, OSError: as :meth:`FileContext.open`.
    """
    with context.open() as stream:
        data = stream.read()
    yield from values_of(data, note)


def values_of(data: bytes, note: Note) -> Iterator[tuple[int | None, Any]]:
    """As :func:`values`, for bytes at hand. UTF-16 with a byte order mark is accepted (made by some shells)."""
    if data[:2] in _UTF16:
        data = data.decode("utf-16", "replace").encode("utf-8", "replace")
    try:
        whole = decode(strip(data))
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        pass
    else:
        yield None, whole
        return
    assembler = JsonAssembler(note)
    for number, line in enumerate(_lines(data), 1):
        yield from assembler.push(line, number)
    assembler.finish()


def _lines(data: bytes) -> Iterable[bytes]:
    import io

    return iterate(io.BytesIO(data))
