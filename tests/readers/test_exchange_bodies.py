from __future__ import annotations

import base64
import gzip
import json
import random
import string
import struct
import zlib

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from monitor.readers import exchange_bodies as bodies
from tests.readers.exchange_samples import anthropic_events, sse

DOCUMENT = json.dumps({"id": "msg_1", "usage": {"input_tokens": 5}, "text": "x" * 300}).encode()
GZIP = gzip.compress(DOCUMENT, mtime=0)  # the time is written into it


def deflate(data: bytes, bits: int) -> bytes:
    engine = zlib.compressobj(wbits=bits)
    return engine.compress(data) + engine.flush()


@pytest.mark.parametrize(
    ("data", "header"),
    [
        (DOCUMENT, ""),
        (DOCUMENT, "gzip"),  # the header stayed, the tool has decoded the body
        (DOCUMENT, "br"),
        (GZIP, ""),  # and the other way round
        (GZIP, "br"),
        (deflate(DOCUMENT, 15), ""),
        (deflate(DOCUMENT, -15), "deflate"),
        (zstandard.compress(DOCUMENT), ""),
        (brotli.compress(DOCUMENT), "br"),
        (base64.b64encode(DOCUMENT), ""),
        (base64.b64encode(GZIP), "gzip"),
        (base64.b64encode(zstandard.compress(DOCUMENT)), ""),
        (base64.b64encode(deflate(DOCUMENT, 15)), "deflate"),
        (base64.b64encode(deflate(DOCUMENT, -15)), "deflate"),
        (base64.b64encode(brotli.compress(DOCUMENT)), "br"),
        (gzip.compress(GZIP, mtime=0), "gzip"),
    ],
)
def test_the_bytes_decide_how_a_body_is_undone(data, header):
    assert bodies.plain(data, header) == DOCUMENT


def test_chunk_framing_is_taken_out_also_under_compression_and_when_cut():
    packed = gzip.compress(DOCUMENT)
    framed = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (packed[:40], packed[40:])) + b"0\r\n\r\n"
    assert bodies.plain(framed) == DOCUMENT
    assert bodies.unchunk(b"5;ext=1\r\nhello\r\n4\r\nwo") == b"hellowo"
    assert bodies.unchunk(b"hello") is None
    assert bodies.unchunk(b"5\r\nhelloX\r\n") is None


def test_a_compressed_body_cut_in_the_middle_gives_what_came_before():
    stream = sse(anthropic_events(7, 0, 100, 50)).encode() * 50
    packed = gzip.compress(stream)
    found = bodies.plain(packed[: len(packed) // 2])
    assert found and stream.startswith(found)


def test_damaged_compression_is_named():
    with pytest.raises(bodies.BodyError, match="gzip is damaged"):
        bodies.plain(b"\x1f\x8b\x08\x00" + b"\xff" * 30)
    with pytest.raises(bodies.BodyError, match="zstd is damaged"):
        bodies.plain(b"\x28\xb5\x2f\xfd" + b"\xff" * 30)


def frame(kind: str, payload: bytes) -> bytes:
    name, value = b":event-type", kind.encode()
    headers = bytes([len(name)]) + name + b"\x07" + struct.pack(">H", len(value)) + value
    total = 16 + len(headers) + len(payload)
    prelude = struct.pack(">II", total, len(headers))
    body = prelude + struct.pack(">I", zlib.crc32(prelude)) + headers + payload
    return body + struct.pack(">I", zlib.crc32(body))


def test_aws_frames_of_converse_carry_their_type_outside_the_payload():
    usage = {"inputTokens": 3, "outputTokens": 4, "totalTokens": 7}
    data = frame("messageStart", b'{"role":"assistant"}') + frame("metadata", json.dumps({"usage": usage}).encode())
    found, whole = bodies.documents(data)
    assert found == [{"messageStart": {"role": "assistant"}}, {"metadata": {"usage": usage}}] and whole
    assert bodies.documents(data[:-3])[0] == found[:1]


def test_aws_frames_of_invoke_model_hold_base64_of_the_models_own_events():
    events = anthropic_events(7, 0, 100, 50)
    inner = [
        json.dumps({"bytes": base64.b64encode(json.dumps(e).encode()).decode(), "p": "abc"}).encode() for e in events
    ]
    assert bodies.documents(b"".join(frame("chunk", payload) for payload in inner))[0] == events
    # the same, kept as text: bytes that are no UTF-8 are lost, the payloads are not
    text = b"".join(frame("chunk", payload) for payload in inner).decode("utf-8", "replace").encode()
    assert bodies.documents(text)[0] == events


@pytest.mark.parametrize(
    ("data", "expected", "whole"),
    [
        (b"", [], True),
        (b'\xef\xbb\xbf {"a":1}', [{"a": 1}], True),
        (b'[{"a":1},{"b":2}]', [{"a": 1}, {"b": 2}], True),
        (b'{"a":1}\n{"b":2}\n', [{"a": 1}, {"b": 2}], True),  # JSON lines
        (b'{"a":1}\n{"b":', [{"a": 1}], False),
        (b'[{"a":1},{"b":', [{"a": 1}], False),  # an array of stream parts that was cut
        (b'data: {"a":1}\r\n\r\ndata: {"b":2}\r\n\r\n', [{"a": 1}, {"b": 2}], True),
        (b"<html>", [], False),
    ],
)
def test_documents_of_an_answer(data, expected, whole):
    assert bodies.documents(data) == (expected, whole)


@given(st.binary(max_size=400), st.sampled_from(["", "gzip", "br", "deflate", "zstd"]))
def test_any_bytes_give_values_or_a_clear_error(data, header):
    try:
        plain = bodies.plain(data, header)
    except bodies.BodyError as error:
        assert str(error)
        return
    bodies.documents(plain)


@pytest.mark.parametrize(("again", "first"), [(18, b"e"), (20, b"m")])
def test_bare_deflate_may_begin_with_a_letter(again: int, first: bytes) -> None:
    letters = "".join(random.Random(1).choices(string.ascii_letters, k=600))
    said = json.dumps({"text": letters + letters[100 : 100 + again]}).encode()
    packed = deflate(said, -15)
    assert packed[:1] == first  # the longest repetition is told by the first byte
    assert bodies.plain(packed, "deflate") == said


def test_text_in_another_encoding_that_was_inflated_already_stays() -> None:
    said = '{"text":"für"}'.encode("latin-1")
    assert bodies.plain(said, "deflate") == said
