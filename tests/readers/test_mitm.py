from __future__ import annotations

import gzip
import io
import json
from typing import Any

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from monitor.readers.mitm import FlowError, flows
from tests.readers.exchange_samples import (
    SECRET,
    SESSION,
    calls,
    chat_reply,
    chat_request,
    problems,
    records,
    response_object,
    sniff,
)


def pack(value: Any) -> bytes:
    """A tnetstring."""
    if value is None:
        kind, data = b"~", b""
    elif isinstance(value, bool):
        kind, data = b"!", b"true" if value else b"false"
    elif isinstance(value, int):
        kind, data = b"#", str(value).encode()
    elif isinstance(value, float):
        kind, data = b"^", repr(value).encode()
    elif isinstance(value, bytes):
        kind, data = b",", value
    elif isinstance(value, str):
        kind, data = b";", value.encode()
    elif isinstance(value, list):
        kind, data = b"]", b"".join(map(pack, value))
    else:
        kind, data = b"}", b"".join(pack(key) + pack(item) for key, item in value.items())
    return str(len(data)).encode() + b":" + data + kind


def flow(
    request: Any, reply: Any, *, at=1775808000.5, status=200, path=b"/v1/chat/completions", encoding=b"", **more
) -> dict[Any, Any]:
    content = json.dumps(reply).encode() if reply is not None else None
    if content is not None:
        content = {b"gzip": gzip.compress, b"br": brotli.compress, b"zstd": zstandard.compress}.get(encoding, bytes)(
            content
        )
    return {
        "type": "http",
        "version": 21,
        "request": {
            "method": b"POST",
            "scheme": b"https",
            "host": "api.openai.com",
            "port": 443,
            "path": path,
            "headers": [[b"Authorization", f"Bearer {SECRET}".encode()], [b"session_id", SESSION.encode()]],
            "content": json.dumps(request).encode(),
            "timestamp_start": at,
        },
        "response": {
            "status_code": status,
            "headers": [[b"content-encoding", encoding]],
            "content": content,
            "timestamp_end": at + 1.25,
        }
        if status
        else None,
        "error": None,
        "websocket": None,
        **more,
    }


@pytest.mark.parametrize("encoding", [b"", b"gzip", b"br", b"zstd"])
def test_a_flow_is_a_call(encoding):
    data = pack(flow(chat_request("a"), chat_reply(31000, 64, 30720), encoding=encoding))
    (call,) = calls(records("mitm", data))
    assert (call.prompt_tokens, call.cache_read_tokens, call.output_tokens) == (31000, 30720, 64)
    assert (call.session, call.time, call.duration_ms, call.line) == (SESSION, 1_775_808_000_500, 1250, 1)
    assert SECRET not in repr(records("mitm", data))


def test_flows_are_put_in_order_of_their_start():
    made = [flow(chat_request("a"), chat_reply(10 + n, 1, id=f"c{n}"), at=1775808000.0 - n) for n in range(3)]
    assert [call.prompt_tokens for call in calls(records("mitm", b"".join(map(pack, made))))] == [12, 11, 10]


def test_no_answer_no_body_and_an_abort():
    data = b"".join(
        pack(made)
        for made in (
            flow(chat_request("a"), None, status=0),
            flow(chat_request("a"), None),
            flow(chat_request("a"), None, error={"msg": "Client disconnected.", "timestamp": 1.0}),
            flow(chat_request("a"), None, error={"msg": "peer closed connection", "timestamp": 1.0}),
            flow(chat_request("a"), {"error": {"code": "rate_limit_exceeded"}}, status=429),
        )
    )
    assert [call.status for call in calls(records("mitm", data))] == ["error", "ok", "ok", "error", "error"]


def test_web_sockets():
    body = response_object(2374, 9)
    frames = [
        [
            1,
            True,
            json.dumps({"type": "response.create", "model": "m", "input": "a"}).encode(),
            1775808000.0,
            False,
            False,
        ],
        [1, False, json.dumps({"type": "response.completed", "response": body}).encode(), 1775808001.0, False, False],
    ]
    made = flow({}, None, path=b"/v1/responses", status=101, websocket={"messages": frames})
    made["request"]["method"] = b"GET"
    (call,) = calls(records("mitm", pack(made)))
    assert (call.prompt_tokens, call.duration_ms) == (2374, 1000)


def test_a_dump_that_is_still_being_written_gives_what_is_whole():
    data = pack(flow(chat_request("a"), chat_reply(10, 1))) + pack(flow(chat_request("a"), chat_reply(20, 1)))[:-9]
    found = records("mitm", data)
    assert [call.prompt_tokens for call in calls(found)] == [10]
    (problem,) = problems(found)
    assert (problem.line, "not finished" in problem.reason) == (2, True)


def test_damage_and_very_old_dumps_are_named():
    (problem,) = problems(records("mitm", pack(flow(chat_request("a"), None)) + b"12:garbage"))
    assert problem.line == 2
    (problem,) = problems(records("mitm", b"no flow at all"))
    assert "damaged" in problem.reason
    (problem,) = problems(records("mitm", pack({b"request": {b"method": b"GET"}, b"version": [0, 10]})))
    assert "mitmdump -nr OLD -w NEW" in problem.reason


def test_other_records_are_ignored():
    data = pack({"type": "tcp", "version": 21, "messages": []}) + pack({"type": "dns", "version": 21}) + pack({"a": 1})
    assert records("mitm", data) == []


def test_sniffing():
    assert sniff("mitm", pack(flow(chat_request("a"), None))) > 0.9
    assert sniff("mitm", pack({b"request": None})) > 0.9  # old, to be named
    for data in (b"12:34:56 started\n", b"5:hello,", b"{}", b"", b"2026-04-10: x"):
        assert sniff("mitm", data) == 0


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.binary(max_size=9)
    | st.text(st.characters(codec="utf-8"), max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=4), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=4), VALUES, max_size=3))
def test_records_are_read_as_they_were_written(value):
    assert list(flows(io.BytesIO(pack(value) * 2))) == [value, value]


@given(st.binary(max_size=60), st.integers(0, 200))
def test_any_bytes_end_in_a_sentence(junk, cut):
    data = pack(flow(chat_request("a"), None))[:cut] + junk
    try:
        list(flows(io.BytesIO(data)))
    except FlowError as error:
        assert str(error)
