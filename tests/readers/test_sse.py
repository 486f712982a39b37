from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from monitor.readers import sse
from monitor.readers.exchange_reply import ReplyReader
from tests.readers.exchange_samples import anthropic_events


def test_an_event_ends_at_an_empty_line_whatever_ends_a_line():
    for end in (b"\n", b"\r\n", b"\r"):
        data = end.join([b"event: a", b"data: 1", b"", b": comment", b"data: 2", b"data: 3", b"id: 9", b"", b""])
        assert sse.payloads(data) == [b"1", b"2\n3"]


def test_only_one_space_behind_the_colon_belongs_to_the_field():
    assert sse.payloads(b"data:x\n\ndata:  y\n\ndata\n\ndatabase: z\n\n") == [b"x", b" y", b""]


def test_the_last_event_counts_without_its_empty_line_if_it_is_whole():
    found, whole = sse.documents(b'data: {"a":1}\n\ndata: {"b":2}')
    assert found == [{"a": 1}, {"b": 2}] and whole
    found, whole = sse.documents(b'data: {"a":1}\n\ndata: {"b":')
    assert found == [{"a": 1}] and not whole


def test_done_and_comments_are_no_payload():
    assert sse.documents(b': OPENROUTER PROCESSING\n\ndata: {"a":1}\n\ndata: [DONE]\n\n') == ([{"a": 1}], True)


def test_a_stream_is_known_by_its_beginning():
    assert sse.looks_like(b"event: message_start\ndata: {}")
    assert sse.looks_like(b"\xef\xbb\xbfdata: {}")
    assert sse.looks_like(b": comment\n\ndata: {}")
    assert not sse.looks_like(b'{"data": 1}')
    assert not sse.looks_like(b"database: x")


LINES = st.lists(
    st.sampled_from([b"data: {}", b"data:1", b"", b": c", b"event: x", b"data: \xe2\x80\xa8", b"id: 4"]), max_size=25
)


@given(LINES, st.sampled_from([b"\n", b"\r\n", b"\r"]), st.lists(st.integers(1, 7), max_size=40))
def test_the_pieces_a_stream_comes_in_make_no_difference(parts, end, sizes):
    data = end.join(parts)
    whole = sse.SseReader()
    expected = whole.feed(data) + whole.close()
    pieces = sse.SseReader()
    found: list[bytes] = []
    at = 0
    for size in sizes:
        found += pieces.feed(data[at : at + size])
        at += size
    found += pieces.feed(data[at:]) + pieces.close()
    assert found == expected == sse.payloads(data.replace(end, b"\n"))


@given(st.integers(0, 2000), st.sampled_from([b"\n", b"\r\n"]))
def test_a_cut_stream_never_claims_more_than_the_whole_one(cut, end):
    data = b"".join(b"data: " + json.dumps(event).encode() + end * 2 for event in anthropic_events(7, 100, 20, 300))
    reader = ReplyReader()
    for value in sse.documents(data[:cut])[0]:
        reader.feed(value)
    reply = reader.reply()
    assert reply.tokens.prompt in (None, 127)
    assert reply.tokens.output is None or reply.tokens.output <= 300
    assert reply.complete is (reply.tokens.output == 300)


@given(st.binary(max_size=300))
def test_any_bytes_are_read_without_an_error(data):
    sse.documents(data)
    sse.looks_like(data)
