"""Content encodings undone piece by piece, with a bound on what one piece may grow to."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Protocol

STEP = 256 * 1024  # decoded bytes handed on at a time
#: zstd (and old brotli) give all the output of an input at once; small inputs keep a decompression bomb small
SLICE = 1024


class DecodeError(Exception):
    """The body cannot be decoded: unknown encoding, decoder missing, or broken bytes."""


class Decoder(Protocol):
    """Undoes one content encoding."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Decoded pieces.

        Raises:
            DecodeError: the bytes are broken.
        """


class Identity:
    """Nothing to undo."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        if data:
            yield data


class _Zlib:
    """gzip and deflate; deflate may come without its zlib wrapper, as browsers accept it too."""

    def __init__(self, deflate: bool) -> None:
        self._wbits: int | None = None if deflate else zlib.MAX_WBITS | 16
        self._engine: zlib._Decompress | None = None
        self._held = b""  # the first byte, until the second tells whether there is a wrapper

    def feed(self, data: bytes) -> Iterator[bytes]:
        if self._wbits is None:
            data = self._held + data
            if len(data) < 2:
                self._held = data
                return
            wrapped = data[0] & 0x0F == 8 and (data[0] << 8 | data[1]) % 31 == 0
            self._wbits = zlib.MAX_WBITS if wrapped else -zlib.MAX_WBITS
        while data:
            if self._engine is None:
                self._engine = zlib.decompressobj(self._wbits)
            try:
                out = self._engine.decompress(data, STEP)
            except zlib.error as error:
                raise DecodeError("broken compression") from error
            if out:
                yield out
            if self._engine.eof:  # another member may follow
                data, self._engine = self._engine.unused_data, None
            else:
                data = self._engine.unconsumed_tail


class _Zstd:
    def __init__(self) -> None:
        try:
            import zstandard
        except ImportError as error:
            raise DecodeError("zstandard is not installed") from error
        self._error: type[Exception] = zstandard.ZstdError
        self._make = zstandard.ZstdDecompressor(max_window_size=1 << 27).decompressobj
        self._engine = self._make()

    def feed(self, data: bytes) -> Iterator[bytes]:
        for at in range(0, len(data), SLICE):
            piece = data[at : at + SLICE]
            while piece:
                try:
                    out = self._engine.decompress(piece)
                except self._error as error:
                    raise DecodeError("broken compression") from error
                if out:
                    yield out
                piece = b""
                if self._engine.eof:  # the next frame begins with the bytes left over
                    piece = self._engine.unused_data
                    self._engine = self._make()


class _Brotli:
    def __init__(self) -> None:
        try:
            import brotli
        except ImportError as error:
            raise DecodeError("brotli is not installed") from error
        self._error: type[Exception] = brotli.error
        self._engine = brotli.Decompressor()
        self._bounded = hasattr(self._engine, "can_accept_more_data")  # since brotli 1.2

    def feed(self, data: bytes) -> Iterator[bytes]:
        for at in range(0, len(data), SLICE):
            piece = data[at : at + SLICE]
            try:
                if not self._bounded:
                    yield self._engine.process(piece)
                    continue
                out = self._engine.process(piece, output_buffer_limit=STEP)
                yield out
                # a full piece may not have been all, even where more input would be taken
                while len(out) >= STEP or not self._engine.can_accept_more_data():
                    out = self._engine.process(b"", output_buffer_limit=STEP)
                    yield out
            except self._error as error:
                raise DecodeError("broken compression") from error


class _Chain:
    """Several encodings, undone in the reverse order of their application."""

    def __init__(self, decoders: list[Decoder]) -> None:
        self._decoders = decoders

    def feed(self, data: bytes) -> Iterator[bytes]:
        return self._through(0, data)

    def _through(self, index: int, data: bytes) -> Iterator[bytes]:
        if index == len(self._decoders):
            yield data
            return
        for piece in self._decoders[index].feed(data):
            yield from self._through(index + 1, piece)


def decoder(encoding: str) -> Decoder:
    """A decoder for the value of a Content-Encoding header ("" for none).

    Raises:
        DecodeError: an encoding that is not known here.
    """
    made: list[Decoder] = []
    for name in (part.strip().lower() for part in encoding.split(",")):
        if name in ("", "identity"):
            continue
        if name in ("gzip", "x-gzip"):
            made.insert(0, _Zlib(deflate=False))
        elif name == "deflate":
            made.insert(0, _Zlib(deflate=True))
        elif name == "zstd":
            made.insert(0, _Zstd())
        elif name == "br":
            made.insert(0, _Brotli())
        else:
            raise DecodeError("unknown content encoding")
    if len(made) > 3:
        raise DecodeError("too many content encodings")
    return Identity() if not made else made[0] if len(made) == 1 else _Chain(made)
