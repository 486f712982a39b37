"""WebSocket frames (RFC 6455, and permessage-deflate of RFC 7692) read along in one direction; the bytes stay as they
are. Only text messages are of interest: the Responses API sends its events as JSON texts."""

from __future__ import annotations

import zlib
from collections.abc import Callable

MAX_MESSAGE = 16 * 1024 * 1024


class FrameTap:
    """Feed the bytes of one direction; ``on_text`` gets every whole text message. Messages above 16 MB are skipped."""

    def __init__(self, on_text: Callable[[bytes], None], deflate: bool) -> None:
        self._on_text = on_text
        self._deflate = deflate
        self._engine = zlib.decompressobj(-zlib.MAX_WBITS) if deflate else None
        self._buffer = bytearray()
        self._message: list[bytes] = []
        self._size = 0
        self._opcode = 0
        self._compressed = False
        self.broken = False  # the bytes made no sense: nothing more is read from them

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
        if self.broken:
            return
        self._buffer += data
        while not self.broken and self._frame():
            pass
        if len(self._buffer) > MAX_MESSAGE + 16:
            self.broken = True
        if self.broken:
            self._buffer.clear()
            self._message = []

    def _frame(self) -> bool:
        """Take one whole frame off the buffer; False if there is none."""
        buffer = self._buffer
        if len(buffer) < 2:
            return False
        first, second = buffer[0], buffer[1]
        at, length = 2, second & 0x7F
        if length >= 126:
            extra = 2 if length == 126 else 8
            if len(buffer) < at + extra:
                return False
            length = int.from_bytes(buffer[at : at + extra], "big")
            at += extra
        masked = bool(second & 0x80)
        start = at + 4 if masked else at
        if length > MAX_MESSAGE:
            self.broken = True
            return False
        if len(buffer) < start + length:
            return False
        payload = bytes(buffer[start : start + length])
        if masked and length:
            key = bytes(buffer[at : at + 4])
            stream = (key * (length // 4 + 1))[:length]
            payload = (int.from_bytes(payload, "big") ^ int.from_bytes(stream, "big")).to_bytes(length, "big")
        del buffer[: start + length]
        self._take(first, payload)
        return True

    def _take(self, first: int, payload: bytes) -> None:
        opcode = first & 0x0F
        if opcode >= 8:  # close, ping and pong may stand between the frames of a message
            return
        if opcode:
            self._opcode, self._message, self._size = opcode, [], 0
            self._compressed = bool(first & 0x40)
        self._size += len(payload)
        if self._size <= MAX_MESSAGE:
            self._message.append(payload)
        if first & 0x80:
            self._whole()

    def _whole(self) -> None:
        data = b"".join(self._message)
        self._message = []
        if self._compressed:
            if self._engine is None:
                self.broken = True
                return
            try:
                data = self._engine.decompress(data + b"\x00\x00\xff\xff", MAX_MESSAGE)
            except zlib.error:
                self.broken = True
                return
            if self._engine.unconsumed_tail:
                self.broken = True
                return
            if self._engine.eof:  # a sender may close its stream with each message
                self._engine = zlib.decompressobj(-zlib.MAX_WBITS)
        elif self._size > MAX_MESSAGE:
            return
        if self._opcode == 1 and data:
            self._on_text(data)
