"""A log that comes through a pipe: read line by line as it comes, where its format is one of lines.

Such a log may come all day, so nothing that was read is kept. As long as the format is not certain, and for documents
(JSON, archives, tables), everything is read anew each time something comes.
"""

from __future__ import annotations

from monitor.dashboard.terminal import PipedInput
from monitor.readers import CERTAIN, choose
from monitor.readers.base import LONG_HEAD_BYTES, FileContext, Head, Parser, ReadOptions
from monitor.records import Record
from monitor.sources.files import Batch, read_bytes, whole

_PACKED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd")
NAME = "stdin"


class PipedLog:
    """What the pipe has told. ``poll`` is called by one thread."""

    def __init__(self, pipe: PipedInput, options: ReadOptions) -> None:
        self._pipe, self._options = pipe, options
        self._parser: Parser | None = None
        self._lines = 0
        self._seen = -1

    @property
    def loading(self) -> bool:
        """Whether more may come."""
        return not self._pipe.ended

    def poll(self) -> Batch | None:
        """What is new; None if nothing is."""
        if self._parser is not None:
            return self._more(self._parser)
        ended = self._pipe.ended
        data = self._pipe.data()
        if len(data) == self._seen or not (data or ended):
            return None
        self._seen = len(data)
        self._parser = self._line_parser(data)
        if self._parser is not None:
            batch = self._more(self._parser)
            return Batch(NAME, batch.records if batch is not None else [], True)
        return read_bytes(NAME, data, self._options)[0]

    def _line_parser(self, data: bytes) -> Parser | None:
        """A parser for lines, if the format is certain to be one of lines."""
        if self._pipe.ended or data.startswith(_PACKED):
            return None
        reader, score = choose(Head(data[:LONG_HEAD_BYTES], NAME, False, None, data[:16]), self._options.source)
        if reader is None or not reader.lines or score < CERTAIN:
            return None
        parser = reader.parser(FileContext(name=NAME, data=b"", options=self._options))
        parser.forgets = False  # what has been read cannot be read again
        return parser

    def _more(self, parser: Parser) -> Batch | None:
        lines = _lines(self._pipe.take())
        if lines and not lines[-1].endswith(b"\n") and not whole(lines[-1]):
            lines.pop()  # the pipe broke in the middle of it
        if not lines:
            return None
        parser.feed(lines, self._lines + 1)
        self._lines += len(lines)
        records: list[Record] = parser.take()
        return Batch(NAME, records, False) if records else None


def _lines(data: bytes) -> list[bytes]:
    """Lines with their line feed; only a line feed ends a line."""
    parts = data.split(b"\n")
    last = parts.pop()
    return [part + b"\n" for part in parts] + ([last] if last else [])
