from __future__ import annotations

import gzip
import zlib

import brotli
import pytest
import zstandard

from monitor.recorder.decode import STEP, DecodeError, decoder

TEXT = b"".join(b"event %d: some words, \xe6\x88\x91 \n" % i for i in range(3000))
RAW = zlib.compressobj(6, zlib.DEFLATED, -15)
ENCODED = {
    "": TEXT,
    "identity": TEXT,
    "gzip": gzip.compress(TEXT),
    "x-gzip": gzip.compress(TEXT[:999]) + gzip.compress(TEXT[999:]),
    "deflate": zlib.compress(TEXT),
    "DEFLATE": RAW.compress(TEXT) + RAW.flush(),
    "zstd": zstandard.compress(TEXT[:50_000]) + zstandard.compress(TEXT[50_000:]),
    "br": brotli.compress(TEXT),
    "br, gzip": gzip.compress(brotli.compress(TEXT)),
}


@pytest.mark.parametrize("encoding", ENCODED)
@pytest.mark.parametrize("step", [1, 1000, 1 << 20])
def test_every_encoding_in_any_cuts(encoding: str, step: int) -> None:
    data, engine = ENCODED[encoding], decoder(encoding)
    got = b"".join(b"".join(engine.feed(data[i : i + step])) for i in range(0, len(data), step))
    assert got == TEXT


def test_flushed_part_is_decoded_before_the_end() -> None:
    engine = zlib.compressobj(6, zlib.DEFLATED, 31)
    part = engine.compress(b"data: 1\n\n") + engine.flush(zlib.Z_SYNC_FLUSH)
    assert b"".join(decoder("gzip").feed(part)) == b"data: 1\n\n"


@pytest.mark.parametrize("encoding", ["gzip", "zstd", "br", "deflate"])
def test_broken_bytes(encoding: str) -> None:
    with pytest.raises(DecodeError):
        list(decoder(encoding).feed(b"\x07not compressed at all" * 200))


def test_unknown_and_stacked_encodings() -> None:
    for name in ("compress", "gzip,gzip,gzip,gzip"):
        with pytest.raises(DecodeError):
            decoder(name)


@pytest.mark.parametrize(("encoding", "bound"), [("gzip", STEP), ("zstd", 64 << 20), ("br", 2 * STEP)])
def test_a_bomb_comes_in_bounded_pieces(encoding: str, bound: int) -> None:
    bomb = {"gzip": gzip.compress, "zstd": zstandard.compress, "br": brotli.compress}[encoding](bytes(9_000_000))
    sizes = [len(piece) for piece in decoder(encoding).feed(bomb)]
    assert sum(sizes) == 9_000_000 and max(sizes) <= bound
