"""HTTP/1.1 messages as far as a pass-through proxy needs them: heads, and where a body ends.

Bodies are passed on as the bytes they came in, chunk framing included; what is parsed here only finds the end of a
message and hands the payload to the recorder. Strict where leniency would let two parties disagree about a message's
end (RFC 9112 sections 2.2, 5, 6 and 7.1), tolerant where it is harmless (bare line feeds in heads).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

MAX_HEAD = 256 * 1024
MAX_TRAILERS = 64 * 1024

Headers = list[tuple[bytes, bytes]]  # names as sent, in order

_HEAD_END = re.compile(rb"\r?\n\r?\n")
_TOKEN = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_BAD_VALUE = re.compile(rb"[\x00\r\n]")
_TARGET = re.compile(rb"[\x21-\x7e\x80-\xff]+")
_CHUNK_SIZE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\r\n]*)?")

#: what concerns one connection only (RFC 9110 section 7.6.1) and is never passed on
HOP_BY_HOP = frozenset({b"connection", b"keep-alive", b"proxy-connection", b"proxy-authorization", b"te", b"upgrade"})


class HttpError(Exception):
    """A request that is refused here: the status to answer with and a sentence for people."""

    def __init__(self, status: int, sentence: str, kind: str = "bad_request") -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence
        self.kind = kind


@dataclass(slots=True)
class Request:
    """The head of a request. ``minor`` is the digit behind ``HTTP/1.``."""

    method: bytes
    target: bytes
    minor: int
    headers: Headers


@dataclass(slots=True)
class Response:
    """The head of a response."""

    minor: int
    status: int
    reason: bytes
    headers: Headers


def head_end(buffer: bytearray | bytes, start: int = 0) -> int | None:
    """Offset behind the blank line that ends a head, searched from ``start``; None if it has not come yet."""
    found = _HEAD_END.search(buffer, max(0, start - 3))
    return found.end() if found else None


def _lines(head: bytes) -> list[bytes]:
    return [line[:-1] if line.endswith(b"\r") else line for line in head.rstrip(b"\r\n").split(b"\n")]


def _headers(lines: list[bytes], status: int) -> Headers:
    out: Headers = []
    for line in lines:
        name, colon, value = line.partition(b":")
        value = value.strip(b" \t")
        if not colon or not _TOKEN.fullmatch(name) or _BAD_VALUE.search(value):
            raise HttpError(status, "A header line is malformed.")
        out.append((name, value))
    return out


def parse_request(head: bytes) -> Request:
    """Parse a request head (with or without its blank line).

    Raises:
        HttpError: 400 for anything malformed, 505 for another version than 1.0 and 1.1.
    """
    lines = _lines(head)
    parts = lines[0].split(b" ")
    if len(parts) != 3 or not _TOKEN.fullmatch(parts[0]) or not _TARGET.fullmatch(parts[1]):
        raise HttpError(400, "The request line is malformed.")
    if parts[2] not in (b"HTTP/1.1", b"HTTP/1.0"):
        raise HttpError(505, "Only HTTP/1.1 and HTTP/1.0 are spoken here.")
    return Request(parts[0], parts[1], int(parts[2][-1:]), _headers(lines[1:], 400))


def parse_response(head: bytes) -> Response:
    """Parse a response head; folded header lines of old servers are joined.

    Raises:
        HttpError: 502 for anything malformed.
    """
    lines = _lines(head)
    parts = lines[0].split(b" ", 2)
    if len(parts) < 2 or not re.fullmatch(rb"HTTP/1\.[0-9]", parts[0]) or not re.fullmatch(rb"[0-9]{3}", parts[1]):
        raise HttpError(502, "The upstream's status line is malformed.", "bad_upstream_response")
    joined: list[bytes] = []
    for line in lines[1:]:
        if line[:1] in (b" ", b"\t") and joined:
            joined[-1] += b" " + line.strip(b" \t")
        else:
            joined.append(line)
    headers = _headers(joined, 502)
    return Response(min(1, int(parts[0][-1:])), int(parts[1]), parts[2] if len(parts) > 2 else b"", headers)


def get(headers: Headers, name: bytes) -> bytes | None:
    """First value of a header; ``name`` in lower case."""
    for key, value in headers:
        if len(key) == len(name) and key.lower() == name:
            return value
    return None


def get_all(headers: Headers, name: bytes) -> list[bytes]:
    """All values of a header; ``name`` in lower case."""
    return [value for key, value in headers if len(key) == len(name) and key.lower() == name]


def tokens(headers: Headers, name: bytes) -> list[bytes]:
    """The comma separated tokens of all lines of a header, in lower case."""
    return [t.strip().lower() for value in get_all(headers, name) for t in value.split(b",") if t.strip()]


def passed_on(headers: Headers, also_drop: frozenset[bytes] = frozenset()) -> Headers:
    """The headers without those of the connection (the ones ``Connection`` names included) and ``also_drop``."""
    named = {t for t in tokens(headers, b"connection") if t not in (b"close", b"keep-alive")}
    # a client must not be able to make us drop what frames or authorises the message
    named -= {b"content-length", b"transfer-encoding", b"host", b"authorization", b"content-type"}
    drop = HOP_BY_HOP | also_drop | named
    return [(name, value) for name, value in headers if name.lower() not in drop]


def serialise(start: bytes, headers: Headers) -> bytes:
    """A head as bytes, blank line included."""
    return b"\r\n".join([start, *(name + b": " + value for name, value in headers), b"", b""])


# --------------------------------------------------------------------------------------------------------------- bodies


class Body(Protocol):
    """Finds the end of a body in the bytes of a connection."""

    done: bool

    def feed(self, data: bytes) -> tuple[int, list[bytes]]:
        """Take bytes; gives how many of them belong to the message, and the payload among them.

        Raises:
            HttpError: the framing is broken.
        """


class NoBody:
    """A message that ends with its head."""

    done = True

    def feed(self, data: bytes) -> tuple[int, list[bytes]]:
        return 0, []


class LengthBody:
    """A body of known length."""

    __slots__ = ("done", "left")

    def __init__(self, length: int) -> None:
        self.left = length
        self.done = length == 0

    def feed(self, data: bytes) -> tuple[int, list[bytes]]:
        size = len(data)
        if size >= self.left:
            end, self.left, self.done = self.left, 0, True
            return end, [data if end == size else data[:end]]
        self.left -= size
        return size, [data]


class CloseBody:
    """A response body that ends with the connection."""

    __slots__ = ("done",)

    def __init__(self) -> None:
        self.done = False

    def feed(self, data: bytes) -> tuple[int, list[bytes]]:
        return len(data), [data]


_SIZE, _DATA, _DATA_END, _TRAILERS = range(4)


class ChunkedBody:
    """A body in chunks (RFC 9112 section 7.1), trailers included; cuts may fall anywhere."""

    __slots__ = ("_left", "_partial", "_state", "_trailers", "done")

    def __init__(self) -> None:
        self.done = False
        self._state = _SIZE
        self._left = 0  # bytes of the current chunk that are still to come
        self._partial = b""  # a line, or the CR LF behind a chunk, that is not complete yet
        self._trailers = 0

    def feed(self, data: bytes) -> tuple[int, list[bytes]]:
        payload: list[bytes] = []
        pos, size = 0, len(data)
        while pos < size and not self.done:
            if self._state == _DATA:
                end = min(size, pos + self._left)
                payload.append(data[pos:end])
                self._left -= end - pos
                pos = end
                if self._left == 0:
                    self._state = _DATA_END
            elif self._state == _DATA_END:
                take = 2 - len(self._partial)
                self._partial += data[pos : pos + take]
                pos = min(size, pos + take)
                if len(self._partial) == 2:
                    if self._partial != b"\r\n":
                        raise HttpError(400, "A chunk does not end where its size says.")
                    self._partial = b""
                    self._state = _SIZE
            elif self._partial or self._state == _TRAILERS or (pos := self._whole_chunks(data, pos, payload)) < size:
                pos = self._line(data, pos)
        return pos, payload

    @staticmethod
    def _whole_chunks(data: bytes, pos: int, payload: list[bytes]) -> int:
        """Take chunks that are there from size line to end, the common case; gives where the first other one begins."""
        while (end := data.find(b"\r\n", pos, pos + 16)) > 0:
            line = data[pos:end]
            if not line.isalnum():  # with an extension, or broken: the long way
                break
            try:
                size = int(line, 16)
            except ValueError:
                break
            stop = end + 2 + size
            if not size or data[stop : stop + 2] != b"\r\n":
                break
            payload.append(data[end + 2 : stop])
            pos = stop + 2
        return pos

    def _line(self, data: bytes, pos: int) -> int:
        """Take a size or trailer line; gives the position behind what was used."""
        end = data.find(b"\n", pos)
        if end < 0:
            self._partial += data[pos:]
            if len(self._partial) > MAX_TRAILERS:
                raise HttpError(400, "A line of the chunk framing is too long.")
            return len(data)
        line = self._partial + data[pos : end + 1]
        self._partial = b""
        if not line.endswith(b"\r\n"):
            raise HttpError(400, "A line of the chunk framing ends without CR LF.")
        if self._state == _SIZE:
            size = _CHUNK_SIZE.fullmatch(line, 0, len(line) - 2)
            if not size:
                raise HttpError(400, "A chunk size is malformed.")
            self._left = int(size[1], 16)
            self._state = _DATA if self._left else _TRAILERS
        elif line == b"\r\n":
            self.done = True
        else:
            self._trailers += len(line)
            if self._trailers > MAX_TRAILERS:
                raise HttpError(400, "The trailers are too long.")
        return end + 1


def _content_length(headers: Headers, status: int) -> int | None:
    values = {v.strip() for value in get_all(headers, b"content-length") for v in value.split(b",")}
    if not values:
        return None
    if len(values) > 1 or not re.fullmatch(rb"[0-9]{1,18}", only := values.pop()):
        raise HttpError(status, "The content length is malformed.")
    return int(only)


def request_body(request: Request) -> Body:
    """How the body of a request is framed.

    Raises:
        HttpError: framing that two parties could read differently (RFC 9112 section 6.3).
    """
    coding = tokens(request.headers, b"transfer-encoding")
    length = _content_length(request.headers, 400)
    if coding:
        if length is not None or request.minor == 0:
            raise HttpError(400, "A request must not have both a length and a transfer encoding.")
        if coding != [b"chunked"]:
            raise HttpError(501, "Only the transfer encoding 'chunked' is known here.")
        return ChunkedBody()
    return LengthBody(length) if length else NoBody()


def response_body(response: Response, method: bytes) -> Body:
    """How the body of a response to a request with ``method`` is framed (RFC 9112 section 6.3)."""
    if method == b"HEAD" or response.status in (204, 304) or 100 <= response.status < 200:
        return NoBody()
    coding = tokens(response.headers, b"transfer-encoding")
    if coding:
        return ChunkedBody() if coding[-1] == b"chunked" else CloseBody()
    length = _content_length(response.headers, 502)
    if length is None:
        return CloseBody()
    return LengthBody(length) if length else NoBody()


def keeps_alive(minor: int, headers: Headers) -> bool:
    """Whether the sender of this head keeps the connection open afterwards (RFC 9112 section 9.3)."""
    said = tokens(headers, b"connection")
    return b"keep-alive" in said and b"close" not in said if minor == 0 else b"close" not in said


def wants_websocket(request: Request) -> bool:
    """Whether a request asks to turn the connection into a WebSocket."""
    return (
        request.minor == 1
        and b"upgrade" in tokens(request.headers, b"connection")
        and b"websocket" in tokens(request.headers, b"upgrade")
    )
