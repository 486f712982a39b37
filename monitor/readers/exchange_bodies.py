"""Bodies of captured requests and answers: from the bytes a capture holds to JSON values.

Captures keep bodies decoded, still compressed, or as base64, and often with headers that say otherwise; so the bytes
decide. gzip, zstd, zlib (deflate), HTTP chunk framing and AWS event-stream frames have a beginning of their own; brotli
and bare deflate have none and are tried only where a header names them and the bytes are no text.
"""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Iterator
from typing import Any

import msgspec

from monitor.readers import sse
from monitor.readers.lines import Skipped, objects
from monitor.readers.patterns import lazy

_decode = msgspec.json.Decoder().decode
#: no body of use decompresses to more; a decompression bomb must not
MAX_BODY = 512 * 1024 * 1024
_STEP = 1 << 20
_CHUNK_HEAD = lazy(rb"([0-9A-Fa-f]{1,8})(?:;[^\r\n]*)?\r\n")
_BASE64 = lazy(rb"[A-Za-z0-9+/\s]{16}")
_BYTES_FIELD = lazy(rb'"bytes"\s*:\s*"([A-Za-z0-9+/=]+)"')
_TEXT_START = frozenset(b' \t\r\n{["0123456789-tfndei:\xef')


class BodyError(Exception):
    """A body that cannot be undone; one clear sentence without its content."""


def plain(data: bytes, encoding: str = "") -> bytes:
    """A body without chunk framing, compression and base64, as its bytes tell.

    Args:
        data: the body as captured.
        encoding: the Content-Encoding header, used only for brotli and bare deflate.

    Raises:
        BodyError: damaged, too large, or in an encoding without a decoder.
    """
    for _ in range(4):
        undone = _layer(data, encoding)
        if undone is None:
            return data
        data = undone
    return data


def _layer(data: bytes, encoding: str) -> bytes | None:
    head = data[:4]
    if head[:2] == b"\x1f\x8b":
        return _zlib(data, 31, "gzip")
    if head == b"\x28\xb5\x2f\xfd":
        return _zstd(data)
    if len(head) >= 2 and head[0] & 0x0F == 8 and head[0] >> 4 <= 7 and (head[0] << 8 | head[1]) % 31 == 0:
        return _zlib(data, 15, "deflate")
    if "deflate" in encoding and not _is_text(data):  # bare: such bytes may begin with any letter
        try:
            return _zlib(data, -15, "deflate")
        except BodyError:
            if data[0] not in _TEXT_START:
                raise  # else it was undone already, and is text of another encoding
    if framed := unchunk(data):
        return framed
    if not data or data[0] in _TEXT_START or sse.looks_like(data):
        return _base64(data, encoding) if data[:1].isalnum() else None
    if (text := _base64(data, encoding)) is not None:
        return text
    return _brotli(data) if "br" in encoding else None


def _is_text(data: bytes) -> bool:
    """Whether bytes are UTF-8, but for a character that is cut at the end."""
    try:
        data[:4096].decode()
    except UnicodeDecodeError as error:
        return error.start > 0 and error.start >= min(len(data), 4096) - 3
    return b"\x00" not in data[:4096]


def _zlib(data: bytes, bits: int, name: str) -> bytes:
    """Undo gzip or deflate; a body cut in the middle gives what came before the cut."""
    out = bytearray()
    while data:
        engine = zlib.decompressobj(bits)
        begun = len(out)
        while data and not engine.eof:
            try:
                out += engine.decompress(data, _STEP)
            except zlib.error as error:
                if len(out) == begun:
                    raise BodyError(f"a body compressed with {name} is damaged") from error
                return bytes(out)
            data = engine.unconsumed_tail if not engine.eof else engine.unused_data
            if len(out) > MAX_BODY:
                raise BodyError("a compressed body is too large to be read")
        if not data or data[:2] != b"\x1f\x8b" or bits != 31:
            break
    return bytes(out)


def _zstd(data: bytes) -> bytes:
    try:
        import zstandard
    except ImportError as error:  # pragma: no cover - a core dependency
        raise BodyError("a body is compressed with zstd: install the package zstandard to read it") from error
    out = bytearray()
    engine = zstandard.ZstdDecompressor(max_window_size=1 << 27).decompressobj(read_across_frames=True)
    for at in range(0, len(data), 4096):
        try:
            out += engine.decompress(data[at : at + 4096])
        except zstandard.ZstdError as error:
            if not out:
                raise BodyError("a body compressed with zstd is damaged") from error
            break
        if len(out) > MAX_BODY:
            raise BodyError("a compressed body is too large to be read")
    return bytes(out)


def _brotli(data: bytes) -> bytes | None:
    try:
        import brotli
    except ImportError as error:  # pragma: no cover - a core dependency
        raise BodyError("a body is compressed with brotli: install the package brotli to read it") from error
    out = bytearray()
    engine = brotli.Decompressor()
    for at in range(0, len(data), 4096):
        try:
            out += engine.process(data[at : at + 4096])
        except brotli.error:
            return bytes(out) or None
        if len(out) > MAX_BODY:
            raise BodyError("a compressed body is too large to be read")
    return bytes(out) or None


def unchunk(data: bytes) -> bytes | None:
    """A body without its HTTP/1.1 chunk framing; None if it has none. The last chunk may be cut."""
    match = _CHUNK_HEAD.match(data)
    if match is None:
        return None
    out = bytearray()
    while match is not None:
        size, start = int(match[1], 16), match.end()
        if size == 0:
            return bytes(out)
        out += data[start : start + size]
        if start + size >= len(data):  # cut
            return bytes(out)
        if data[start + size : start + size + 2] != b"\r\n":
            return None
        match = _CHUNK_HEAD.match(data, start + size + 2)
    return bytes(out) if out else None


def _base64(data: bytes, encoding: str) -> bytes | None:
    """What base64 text holds, if that is something a body may be; None if the text is no base64."""
    if _BASE64.match(data) is None:
        return None
    try:
        out = base64.b64decode(b"".join(data.split()), validate=True)
    except (ValueError, binascii.Error):
        return None
    if "deflate" in encoding or "br" in encoding:
        return out  # raw bytes, as the header says: neither has a beginning that is sure enough
    known = out[:2] == b"\x1f\x8b" or out[:4] == b"\x28\xb5\x2f\xfd" or out[:1] in (b"{", b"[") or sse.looks_like(out)
    return out if known or is_event_stream(out) else None


# ------------------------------------------------------------------------------------------------- AWS event streams
def is_event_stream(data: bytes) -> bool:
    """Whether bytes begin with a frame of ``application/vnd.amazon.eventstream`` (the prelude has a checksum)."""
    return len(data) >= 16 and zlib.crc32(data[:8]) == int.from_bytes(data[8:12], "big")


def frames(data: bytes) -> Iterator[tuple[str, bytes]]:
    """``(event type, payload)`` of AWS event-stream frames; stops at the first cut or damaged one."""
    at = 0
    while is_event_stream(data[at : at + 16]):
        total = int.from_bytes(data[at : at + 4], "big")
        headers = int.from_bytes(data[at + 4 : at + 8], "big")
        if total < 16 + headers or at + total > len(data):
            return
        start = at + 12
        yield _event_type(data[start : start + headers]), data[start + headers : at + total - 4]
        at += total


def _event_type(raw: bytes) -> str:
    at = 0
    while at < len(raw):
        size = raw[at]
        name, kind = raw[at + 1 : at + 1 + size], raw[at + 1 + size : at + 2 + size]
        at += 2 + size
        if kind == b"\x07":  # a string: the only kind Bedrock sends
            length = int.from_bytes(raw[at : at + 2], "big")
            if name in (b":event-type", b":exception-type"):
                return raw[at + 2 : at + 2 + length].decode("utf-8", "replace")
            at += 2 + length
        else:
            at += {b"\x00": 0, b"\x01": 0, b"\x02": 1, b"\x03": 2, b"\x04": 4, b"\x05": 8, b"\x08": 8, b"\x09": 16}.get(
                kind, len(raw)
            )
    return ""


def _event_documents(data: bytes) -> Iterator[Any]:
    for kind, payload in frames(data):
        value = one(payload)
        if isinstance(value, dict) and isinstance(value.get("bytes"), str):
            yield from _inner(value["bytes"].encode("ascii", "replace"))
        elif isinstance(value, dict):
            yield value if kind in value or not kind else {kind: value}


def _inner(text: bytes) -> Iterator[Any]:
    try:
        value = one(base64.b64decode(text))
    except (ValueError, binascii.Error):
        return
    if value is not None:
        yield value


# ---------------------------------------------------------------------------------------------------------- to JSON
def one(data: bytes | str) -> Any:
    """One JSON value, or None."""
    try:
        return _decode(data)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        pass
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    try:
        found = objects(raw + b"\n")
    except (Skipped, RecursionError):
        return None
    return found[0] if len(found) == 1 else None


def documents(data: bytes) -> tuple[list[Any], bool]:
    """JSON values of an answer, and whether its end is there.

    Takes one document, an array of stream parts (Gemini), an event stream, JSON lines (Ollama), AWS event-stream
    frames, and such frames damaged by having been kept as text (their payloads are searched for).
    """
    text = data.strip(b" \t\r\n\x00").removeprefix(b"\xef\xbb\xbf").lstrip()
    if not text:
        return [], True
    if is_event_stream(data):
        found = list(_event_documents(data))
        return found, bool(found)
    if sse.looks_like(text):
        return sse.documents(text)
    try:
        return _flat(_decode(text)), True
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        pass
    if text[:1] in (b"{", b"["):
        return _lines(text)
    found = [value for match in _BYTES_FIELD.finditer(data) for value in _inner(match[1])]
    return found or list(_search(data)), bool(found)


def _flat(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _lines(text: bytes) -> tuple[list[Any], bool]:
    if text[:1] == b"[":  # an array of stream parts that was cut: its whole elements count
        found = list(_search(text[1:]))
        return found, False
    found = []
    whole = True
    for line in text.split(b"\n"):
        try:
            found.extend(objects(line + b"\n"))
            whole = True
        except Skipped as skipped:
            found.extend(skipped.objects)
            whole = False
    if not found:
        return list(_search(text)), False
    return found, whole


def _search(data: bytes) -> Iterator[Any]:
    """Whole JSON objects that stand somewhere in bytes (a damaged stream, an array that was cut)."""
    import json

    decoder = json.JSONDecoder(strict=False)
    text = data.decode("utf-8", "replace")
    at = text.find('{"')
    tries = 0
    while at >= 0 and tries < 2000:
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            tries += 1
            at = text.find('{"', at + 1)
            continue
        yield value
        at = text.find('{"', end)
