"""Entries of a HAR file one by one: a capture of hundreds of megabytes needs the memory of its largest entry."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO

from monitor.readers.patterns import lazy

_CHUNK = 1 << 20
#: one entry holds one request and its answer; a larger one is skipped
MAX_ENTRY = 128 * 1024 * 1024
#: strings are skipped as a whole; a lone quote is a string that goes on behind the end of the buffer
_TOKEN = lazy(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[{}\[\]"]', re.DOTALL)
_ARRAY = lazy(rb"\s*:\s*\[")


class ScanError(Exception):
    """The file is no HAR, or ends too early; one clear sentence."""


class Entries:
    """Iterates over the raw bytes of the objects in ``log.entries``; ``cut`` tells whether the file ended inside."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._buffer = b""
        self._end = False
        self.cut = False
        self.skipped = 0

    def _more(self, keep_from: int) -> bool:
        """Drop what is done and read on; False at the end of the file."""
        piece = self._stream.read(_CHUNK) if not self._end else b""
        self._buffer = self._buffer[keep_from:] + piece
        self._end = not piece
        return bool(piece)

    def _find(self) -> int:
        """Position behind the opening bracket of ``log.entries``.

        Raises:
            ScanError: there is none.
        """
        depth, at = 0, 0
        while True:
            restart = at
            for token in _TOKEN.finditer(self._buffer, at):
                found = token[0]
                if found == b'"':
                    restart = token.start()
                    break
                restart = token.end()
                if found in (b"{", b"["):
                    depth += 1
                elif found in (b"}", b"]"):
                    depth -= 1
                elif depth == 2 and found == b'"entries"':
                    follows = _ARRAY.match(self._buffer, token.end())
                    if follows is not None:
                        return follows.end()
                    if token.end() + 64 > len(self._buffer) and not self._end:
                        restart = token.start()
                        break
            if not self._more(restart):
                raise ScanError("it is no HAR file: there is no list of entries in it")
            at = 0
            if len(self._buffer) > MAX_ENTRY:
                raise ScanError("it is no HAR file: there is no list of entries in it")

    def __iter__(self) -> Iterator[bytes]:
        at = self._find()
        depth, start, scan = 0, at, at
        while True:
            restart = scan
            for token in _TOKEN.finditer(self._buffer, scan):
                found = token[0]
                if found == b'"':
                    restart = token.start()
                    break
                restart = token.end()
                if found == b"{" or found == b"[":
                    if depth == 0:
                        start = token.start()
                    depth += 1
                elif found == b"}":
                    depth -= 1
                    if depth == 0:
                        yield self._buffer[start : token.end()]
                elif found == b"]":
                    if depth == 0:
                        return
                    depth -= 1
            keep = start if depth else restart
            scan = restart - keep
            if not self._more(keep):
                self.cut = True
                return
            start = 0
            if len(self._buffer) > MAX_ENTRY:
                depth, scan = self._skip(depth, scan)

    def _skip(self, depth: int, scan: int) -> tuple[int, int]:
        """Pass over an entry that is too large; returns depth 0 and the position behind it."""
        self.skipped += 1
        while True:
            restart = scan
            for token in _TOKEN.finditer(self._buffer, scan):
                found = token[0]
                if found == b'"':
                    restart = token.start()
                    break
                restart = token.end()
                if found in (b"{", b"["):
                    depth += 1
                elif found in (b"}", b"]"):
                    depth -= 1
                    if depth == 0:
                        return 0, token.end()
            if (restart == scan and len(self._buffer) - scan > 8 * MAX_ENTRY) or not self._more(restart):
                self._buffer = b""
                return 0, 0
            scan = 0
