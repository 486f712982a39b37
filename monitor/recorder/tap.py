"""Reads usage and the like out of a response while it streams, for every API the clients speak.

:class:`ResponseTap` takes the encoded bytes of a response body in any cuts and keeps a bounded part of them:
server-sent events are read one by one, other bodies are kept up to a limit and split on the fly beyond it. What was
found lies in :class:`Found`. Usage objects are kept exactly as the provider gave them; what they mean is decided by
the readers of the log.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from monitor.recorder.bodies import HELD, Budget
from monitor.recorder.decode import DecodeError, Decoder, decoder
from monitor.recorder.evidence import decode
from monitor.recorder.found import Found, absorb
from monitor.recorder.jsonsplit import Splitter

#: a JSON body, or one event of a stream, is kept whole up to here (decoded bytes)
WHOLE = 4 * 1024 * 1024
MEMBER = 256 * 1024
_SPREAD = frozenset({"choices", "output", "content", "candidates"})


class EventScanner:
    """Server-sent events (or JSON lines) in bytes of any cut; calls ``found`` through :func:`absorb` event by event."""

    def __init__(self, found: Found, separator: bytes) -> None:
        self._found = found
        self._separator = separator  # an empty line, or a line end for JSON lines
        self._rest: list[bytes] = []
        self._size = 0
        self._resync = False

    def gap(self) -> None:
        """Bytes are missing here: forget the event that was begun and go on behind the next boundary."""
        self._rest, self._size, self._resync = [], 0, True

    def feed(self, data: bytes, now: float) -> None:
        """Take the next bytes, received at ``now`` (monotonic seconds)."""
        tail = self._rest[-1][-3:] if self._rest else b""
        if self._separator not in (joint := tail + data) and b"\r" not in joint:
            self._keep(data)
            return
        data = b"".join([*self._rest, data])
        held = b""
        if data.endswith(b"\r"):
            data, held = data[:-1], b"\r"
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        self._rest, self._size = [], 0
        end = data.rfind(self._separator)
        if end >= 0:
            begin = 0
            if self._resync:
                begin = data.find(self._separator) + len(self._separator)
                self._resync = False
            for block in data[begin:end].split(self._separator):
                self._event(block, now)
            data = data[end + len(self._separator) :]
        self._keep(data + held)

    def end(self, now: float) -> None:
        """The stream is over; an event without its empty line still counts if it is whole."""
        rest = b"".join(self._rest)
        if rest.strip() and not self._resync:
            self._event(rest.replace(b"\r\n", b"\n"), now)
        self._rest = []

    def _keep(self, data: bytes) -> None:
        if not data:
            return
        self._rest.append(data)
        self._size += len(data)
        if self._size > WHOLE:
            self._found.lossy = True
            self.gap()

    def _event(self, block: bytes, now: float) -> None:
        found = self._found
        # deltas are most of a stream and tell nothing but that output has begun
        if found.first_token is not None and (b"content_block_delta" in (head := block[:64]) or b".delta" in head):
            return
        if self._separator == b"\n":
            payload = block
        elif block.startswith(b"data:") and b"\n" not in block:
            payload = block[5:]
        else:
            payload = b"\n".join(
                line[5:].removeprefix(b" ") for line in block.split(b"\n") if line.startswith(b"data:")
            )
        payload = payload.strip()
        if payload == b"[DONE]":
            found.ended = True
        elif payload:
            try:
                event = decode(payload)
            except (ValueError, RecursionError):
                found.malformed += 1
                return
            if isinstance(event, dict):
                absorb(found, event, now, streamed=True)


class DocumentCollector:
    """A body that is one JSON document: kept whole while it is small, else split into its members."""

    def __init__(self, found: Found, room: Budget) -> None:
        self._found = found
        self._room = room  # shared with the other calls
        self._parts: list[bytes] = []
        self._size = 0
        self._splitter: Splitter | None = None
        self._object: dict[str, Any] = {}

    def gap(self) -> None:
        self._found.lossy = True
        self._held()
        self._splitter, self._size = None, -1

    def _held(self) -> bytes:
        """What was held of the body until now, which is let go."""
        data = b"".join(self._parts)
        self._parts = []
        self._room.left += len(data)
        return data

    def feed(self, data: bytes, now: float) -> None:
        if self._size < 0:
            return
        if self._splitter is not None:
            self._splitter.feed(data)
            return
        self._parts.append(data)
        self._size += len(data)
        self._room.left -= len(data)
        if self._size > WHOLE or self._room.left < 0:
            self._splitter = Splitter(_SPREAD, MEMBER, self._member, self._element)
            self._splitter.feed(self._held())

    def end(self, now: float, complete: bool) -> None:
        """The body is over. Of one that was cut no figures are taken: its client cannot read it either."""
        data = self._held()
        if self._size < 0 or not complete:
            return
        if self._splitter is not None:
            if self._splitter.complete and self._object:
                absorb(self._found, self._object, now, streamed=False)
            return
        if not data.strip():
            return
        try:
            document = decode(data)
        except (ValueError, RecursionError):
            self._found.malformed += 1
            return
        # Gemini streams an array of chunks to those who do not ask for events
        for item in document if isinstance(document, list) else [document]:
            if isinstance(item, dict):
                absorb(self._found, item, now, streamed=isinstance(document, list))

    def _member(self, key: str, value: bytes | None, _digest: bytes) -> None:
        if value is not None and len(self._object) < 64:
            try:
                self._object[key] = decode(value)
            except (ValueError, RecursionError):
                self._found.malformed += 1

    def _element(self, key: str, value: bytes | None, _digest: bytes) -> None:
        item: Any = None
        if value is not None:
            try:
                item = decode(value)
            except (ValueError, RecursionError):
                return
        if not key:
            if isinstance(item, dict):
                absorb(self._found, item, 0.0, streamed=True)
            return
        kept = self._object.setdefault(key, [])
        if isinstance(kept, list) and len(kept) < 256 and isinstance(item, dict):
            # only what names a part, not its contents
            kept.append({k: v for k, v in item.items() if not isinstance(v, dict | list) and len(str(v)) <= 256})


class ResponseTap:
    """What a response body tells. ``keep`` collects the decoded text if the user asked for bodies."""

    def __init__(
        self, found: Found, content_type: str, encoding: str, keep: Any = None, room: Budget | None = None
    ) -> None:
        self._found = found
        self._room = room or Budget(HELD)
        self._kind = content_type.partition(";")[0].strip().lower()
        self._keep = keep
        self._scanner: EventScanner | DocumentCollector | None = None
        self._dead = False
        self._encoded = encoding.strip().lower() not in ("", "identity")
        self._decoder: Decoder | None = None
        try:
            self._decoder = decoder(encoding)
        except DecodeError:
            self._stop()

    def _stop(self) -> None:
        self._dead = self._found.undecodable = True

    @property
    def format(self) -> str:
        """``sse``, ``ndjson``, ``json`` or ``other``."""
        if isinstance(self._scanner, EventScanner):
            return "ndjson" if self._kind.endswith(("ndjson", "jsonl", "json-seq")) else "sse"
        return "json" if self._scanner is not None else "other"

    def feed(self, pieces: Iterable[tuple[bytes, float]]) -> None:
        """Take pieces of the body with the times they came. Until output has begun they are looked at one by one."""
        if self._dead or self._decoder is None:
            return
        waiting: list[bytes] = []
        now = 0.0
        for data, now in pieces:
            if self._found.first_token is None:
                self._take(data, now)
            else:
                waiting.append(data)
        if waiting:
            self._take(b"".join(waiting), now)

    def gap(self) -> None:
        """Bytes are missing here."""
        if self._encoded:
            self._stop()
        elif self._scanner is not None:
            self._scanner.gap()
        if self._keep is not None:
            self._keep.truncated = True

    def end(self, now: float, complete: bool) -> None:
        """The body is over; ``complete`` if its framing was closed."""
        if isinstance(self._scanner, EventScanner):
            self._scanner.end(now)
        elif self._scanner is not None:
            self._scanner.end(now, complete)

    def _take(self, data: bytes, now: float) -> None:
        if self._dead or self._decoder is None:
            return
        try:
            for piece in self._decoder.feed(data):
                if self._keep is not None:
                    self._keep.add(piece)
                if self._scanner is None:
                    self._scanner = self._choose(piece)
                if self._scanner is not None:
                    self._scanner.feed(piece, now)
        except DecodeError:
            self._stop()

    def _choose(self, first: bytes) -> EventScanner | DocumentCollector | None:
        """By the type, else by the first character: some servers name every stream application/json."""
        head = first.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
        if not head:
            return None
        if self._kind.endswith(("ndjson", "jsonl", "json-seq")):
            return EventScanner(self._found, b"\n")
        if head in b"{[":
            return DocumentCollector(self._found, self._room)
        if self._kind == "text/event-stream" or (
            head in b"de:ir" and not self._kind.startswith(("text/html", "image/"))
        ):
            return EventScanner(self._found, b"\n\n")
        return None
