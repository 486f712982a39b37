"""Heads are read strictly, and the end of a body is found wherever the pieces are cut."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.recorder import http1
from monitor.recorder.http1 import ChunkedBody, CloseBody, HttpError, LengthBody, NoBody


def test_request_head() -> None:
    head = http1.parse_request(b"POST /v1/x?y HTTP/1.1\r\nHost: a\r\nX-Two:  b c \r\nEmpty:\r\n\r\n")
    assert (head.method, head.target, head.minor) == (b"POST", b"/v1/x?y", 1)
    assert head.headers == [(b"Host", b"a"), (b"X-Two", b"b c"), (b"Empty", b"")]


def test_bare_line_feeds_end_a_head_too() -> None:
    data = b"GET / HTTP/1.1\nHost: a\n\nrest"
    assert http1.head_end(data) == len(data) - 4
    assert http1.parse_request(data[:-4]).headers == [(b"Host", b"a")]


@pytest.mark.parametrize("cut", range(1, 40))
def test_end_of_a_head_is_found_across_pieces(cut: int) -> None:
    data = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\nbody"
    first = http1.head_end(data[:cut])
    assert first == (None if cut < 35 else 35) and http1.head_end(data, cut if first is None else 0) == 35


@pytest.mark.parametrize(
    "head",
    [
        b"GET  / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\n folded: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nNo colon\r\n\r\n",
        b"GET / HTTP/1.1\r\nSpace : x\r\n\r\n",
        b"GET / HTTP/1.1\r\nX: a\rb\r\n\r\n",
        b"GET / HTTP/1.1\r\nX: a\x00b\r\n\r\n",
        b"G(T / HTTP/1.1\r\n\r\n",
        b"GET /\x01 HTTP/1.1\r\n\r\n",
    ],
)
def test_malformed_request_heads_are_refused(head: bytes) -> None:
    with pytest.raises(HttpError) as error:
        http1.parse_request(head)
    assert error.value.status == 400


def test_response_head_with_folded_line_and_empty_reason() -> None:
    head = http1.parse_response(b"HTTP/1.1 200 \r\nX: a\r\n  b\r\n\r\n")
    assert (head.status, head.reason, head.headers) == (200, b"", [(b"X", b"a b")])
    assert http1.parse_response(b"HTTP/1.0 404\r\n\r\n").minor == 0
    with pytest.raises(HttpError):
        http1.parse_response(b"ICY 200 OK\r\n\r\n")


def test_headers_of_the_connection_are_left_out() -> None:
    headers = [
        (b"Connection", b"close, X-Mine, Content-Length"),
        (b"x-mine", b"1"),
        (b"Content-Length", b"3"),
        (b"TE", b"trailers"),
        (b"A", b"b"),
    ]
    assert http1.passed_on(headers) == [(b"Content-Length", b"3"), (b"A", b"b")]


@pytest.mark.parametrize(
    ("headers", "kind"),
    [
        ([], NoBody),
        ([(b"content-length", b"0")], NoBody),
        ([(b"Content-Length", b"5")], LengthBody),
        ([(b"Content-Length", b"5, 5")], LengthBody),
        ([(b"Transfer-Encoding", b"Chunked")], ChunkedBody),
    ],
)
def test_framing_of_requests(headers: http1.Headers, kind: type) -> None:
    assert isinstance(http1.request_body(http1.Request(b"POST", b"/", 1, headers)), kind)


@pytest.mark.parametrize(
    ("method", "status", "headers", "kind"),
    [
        (b"HEAD", 200, [(b"content-length", b"5")], NoBody),
        (b"GET", 204, [], NoBody),
        (b"GET", 304, [(b"content-length", b"5")], NoBody),
        (b"GET", 200, [(b"content-length", b"5")], LengthBody),
        (b"GET", 200, [(b"transfer-encoding", b"gzip, chunked"), (b"content-length", b"5")], ChunkedBody),
        (b"GET", 200, [(b"transfer-encoding", b"gzip")], CloseBody),
        (b"GET", 200, [], CloseBody),
    ],
)
def test_framing_of_responses(method: bytes, status: int, headers: http1.Headers, kind: type) -> None:
    assert isinstance(http1.response_body(http1.Response(1, status, b"", headers), method), kind)


@pytest.mark.parametrize("length", [b"-1", b"+5", b"5 5", b"0x5", b"5,6", b"1" * 30])
def test_odd_lengths_are_refused(length: bytes) -> None:
    with pytest.raises(HttpError):
        http1.request_body(http1.Request(b"POST", b"/", 1, [(b"content-length", length)]))


@given(
    st.lists(st.binary(min_size=1, max_size=40), max_size=6),
    st.sampled_from([b"", b";ext", b" ; a=b"]),
    st.sampled_from([b"", b"X-Sum: 1\r\n", b"A: b\r\nC: d\r\n"]),
    st.lists(st.integers(1, 9), min_size=1, max_size=8),
    st.booleans(),
)
@settings(max_examples=150, deadline=None)
def test_chunks_in_any_cuts(parts: list[bytes], ext: bytes, trailers: bytes, steps: list[int], upper: bool) -> None:
    wire = b"".join((b"%X" if upper else b"%04x") % len(p) + ext + b"\r\n" + p + b"\r\n" for p in parts)
    wire += b"0\r\n" + trailers + b"\r\n"
    stream = wire + b"NEXT"
    body, got, at, turn, used = ChunkedBody(), b"", 0, 0, 0
    while not body.done:
        piece = stream[at : at + steps[turn % len(steps)]]
        end, payload = body.feed(piece)
        got += b"".join(payload)
        used += end
        at += len(piece)
        turn += 1
    assert (got, used) == (b"".join(parts), len(wire))
    whole = ChunkedBody()
    assert whole.feed(stream) == (len(wire), list(parts)) and whole.done


@pytest.mark.parametrize(
    "wire",
    [
        b"xyz\r\n",
        b"+5\r\nhello\r\n",
        b"5\r\nhelloXX",
        b"5\nhello\r\n",
        b"\r\n",
        b"1_0\r\n",
        b"5\r\nhello\n\n",
        b"f" * 17 + b"\r\n",
        b"1" * 70_000,
    ],
)
def test_broken_chunks_are_refused(wire: bytes) -> None:
    with pytest.raises(HttpError):
        ChunkedBody().feed(wire)


def test_length_ends_inside_a_piece() -> None:
    body = LengthBody(5)
    assert body.feed(b"abc") == (3, [b"abc"]) and not body.done
    assert body.feed(b"deXYZ") == (2, [b"de"]) and body.done


@pytest.mark.parametrize(
    ("minor", "value", "kept"),
    [(1, b"", True), (1, b"close", False), (1, b"Keep-Alive, Close", False), (0, b"", False), (0, b"keep-alive", True)],
)
def test_who_keeps_the_connection(minor: int, value: bytes, kept: bool) -> None:
    assert http1.keeps_alive(minor, [(b"Connection", value)] if value else []) is kept


def test_websocket_is_asked_for() -> None:
    headers = [(b"Connection", b"keep-alive, Upgrade"), (b"Upgrade", b"WebSocket")]
    assert http1.wants_websocket(http1.Request(b"GET", b"/", 1, headers))
    assert not http1.wants_websocket(
        http1.Request(b"GET", b"/", 1, [(b"Connection", b"Upgrade"), (b"Upgrade", b"h2c")])
    )
