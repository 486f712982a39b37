"""Server-sent events: the payloads of a stream of ``data:`` lines, whole or piece by piece.

Rules (WHATWG server-sent events, and what providers do): an event ends at an empty line; LF, CR and CRLF end a line;
several ``data:`` lines of one event are joined by LF; lines that begin with a colon are comments (OpenRouter keeps
connections open with them); ``event``, ``id`` and ``retry`` lines carry nothing needed here, as every provider repeats
the type in the payload. A stream that was cut off loses its last event, unless that event's payload is complete JSON.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from monitor.readers.lines import Skipped, objects
from monitor.readers.patterns import lazy

_decode = msgspec.json.Decoder().decode
_FIELD = lazy(rb"\s*(?:\xef\xbb\xbf)?(?:(?:data|event|id|retry):|:[^\n]*\n\s*(?:data|event|id|retry|:))")
_DONE = b"[DONE]"


def looks_like(data: bytes) -> bool:
    """Whether bytes are an event stream, judged by their beginning."""
    return _FIELD.match(data[:4096]) is not None


class SseReader:
    """Payloads of a stream that arrives in pieces; the result does not depend on where the pieces are cut."""

    def __init__(self) -> None:
        self._rest = b""
        self._started = False

    def feed(self, chunk: bytes) -> list[bytes]:
        """Payloads of the events that are complete with this piece."""
        data = self._rest + chunk
        # a CR at the end may be the first half of a CRLF
        held = b""
        if data.endswith(b"\r"):
            data, held = data[:-1], b"\r"
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if not self._started and data:
            if len(data) < 3 and b"\xef\xbb\xbf".startswith(data):
                self._rest = data + held
                return []
            data = data.removeprefix(b"\xef\xbb\xbf")
            self._started = True
        end = data.rfind(b"\n\n")
        if end < 0:
            self._rest = data + held
            return []
        self._rest = data[end + 2 :] + held
        return list(_events(data[:end]))

    def close(self) -> list[bytes]:
        """The stream has ended: the payload of an event without its empty line, if there is one."""
        rest, self._rest = self._rest.replace(b"\r\n", b"\n").replace(b"\r", b"\n"), b""
        return list(_events(rest))


def payloads(data: bytes) -> list[bytes]:
    """Payloads of a whole stream, the last one even if its empty line is missing."""
    reader = SseReader()
    return reader.feed(data) + reader.close()


def _events(data: bytes) -> Iterator[bytes]:
    for block in data.split(b"\n\n"):
        if not block:
            continue
        if block.startswith(b"data: ") and b"\n" not in block:  # by far the most
            yield block[6:]
            continue
        if not block.strip(b"\n"):
            continue
        lines = [line for line in block.split(b"\n") if line.startswith(b"data:") or line == b"data"]
        if lines:
            yield b"\n".join(line[5:].removeprefix(b" ") for line in lines)


def documents(data: bytes) -> tuple[list[Any], bool]:
    """JSON payloads of a stream, and whether its last payload was whole. Payloads that are no JSON are left out."""
    return parse(payloads(data))


def parse(parts: Iterable[bytes]) -> tuple[list[Any], bool]:
    """JSON values of payloads, and whether the last one was whole (``[DONE]`` is)."""
    found: list[Any] = []
    whole = True
    for part in parts:
        text = part.strip()
        if not text:
            continue
        if text == _DONE:
            whole = True
            continue
        try:
            found.append(_decode(text))
            whole = True
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            try:
                found.extend(objects(text + b"\n"))
                whole = True
            except (Skipped, RecursionError):
                whole = False
    return found, whole
