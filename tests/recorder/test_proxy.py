"""What passes through is what was sent, in both directions, whatever either side does."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import json
import os
import random

import httpx
import pytest

from monitor.recorder import capture
from monitor.recorder import record as record_module

from .conftest import Asked, Start, Upstream, answer, payload, request, stream

BODY = json.dumps({"model": "m", "messages": [{"role": "user", "content": "Prüfung – 完成 ✅"}]}).encode()


async def test_request_arrives_as_it_was_sent(upstream: Upstream, record: Start) -> None:
    rec = await record(upstream.url)
    headers = "X-Api-Key: sk-abcdefgh12345\r\nAccept-Encoding: gzip, br\r\nX-Odd-CASE:  two  words \r\nKeep-Alive: timeout=5\r\nCookie: a=b\r\n"
    await rec.raw(request("/v1/messages?beta=true&x=%20y", BODY, headers))
    asked = upstream.asked[0]
    assert (asked.method, asked.target, asked.body) == ("POST", "/v1/messages?beta=true&x=%20y", BODY)
    assert asked.header("host") == upstream.url.removeprefix("http://")
    sent = dict(asked.headers)
    assert sent["X-Odd-CASE"] == "two  words" and sent["Cookie"] == "a=b" and sent["Accept-Encoding"] == "gzip, br"
    assert "Keep-Alive" not in sent and sent["Connection"] == "close"


async def test_prefixes_lead_to_their_upstreams(upstream: Upstream, record: Start) -> None:
    rec = await record(f"one={upstream.url}", f"two={upstream.url}/base/v1")
    await rec.raw(request("/one/v1/chat/completions"))
    await rec.raw(request("/two/chat/completions?a=1"))
    assert [a.target for a in upstream.asked] == ["/v1/chat/completions", "/base/v1/chat/completions?a=1"]
    refused = await rec.raw(request("/three/v1"))
    assert refused.startswith(b"HTTP/1.1 404 ") and b"/one/, /two/" in refused
    assert len(upstream.asked) == 2


@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"])
async def test_every_method_passes(upstream: Upstream, record: Start, method: str) -> None:
    rec = await record(upstream.url)
    got = await rec.raw(request("/v1/models", b"x", method=method))
    assert upstream.asked[0].method == method and upstream.asked[0].body == b"x" and payload(got) == b"ok"


async def test_response_passes_as_it_is(upstream: Upstream, record: Start) -> None:
    zipped = gzip.compress(b'{"a":1}')
    extra = (
        "Content-Encoding: gzip\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nX-Request-ID: q\r\nKeep-Alive: timeout=9\r\n"
    )
    upstream.handler = answer(
        zipped, status="307 Temporary Redirect", extra=extra + "Location: https://elsewhere/x\r\n"
    )
    rec = await record(upstream.url)
    got = await rec.raw(request("/v1/x"))
    head = got.partition(b"\r\n\r\n")[0].split(b"\r\n")
    assert head[0] == b"HTTP/1.1 307 Temporary Redirect" and payload(got) == zipped
    assert head[1:] == [
        b"Content-Type: application/json", b"Content-Encoding: gzip", b"Set-Cookie: a=1", b"Set-Cookie: b=2",
        b"X-Request-ID: q", b"Location: https://elsewhere/x", b"Content-Length: %d" % len(zipped), b"Connection: close",
    ]  # fmt: skip


async def test_chunk_framing_and_trailers_pass_byte_by_byte(upstream: Upstream, record: Start) -> None:
    wire = b"5;ext=1\r\nhello\r\n6\r\n world\r\n0\r\nX-Sum: abc\r\n\r\n"

    async def odd(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n")
        for i in range(len(wire)):
            writer.write(wire[i : i + 1])
            await writer.drain()
            await asyncio.sleep(0)

    upstream.handler = odd
    rec = await record(upstream.url)
    got = await rec.raw(request("/x"))
    assert got.partition(b"\r\n\r\n")[2] == wire and b"Trailer: X-Sum" in got


async def test_chunked_request_passes_with_its_framing(upstream: Upstream, record: Start) -> None:
    rec = await record(upstream.url)
    rnd = random.Random(1)
    data = rnd.randbytes(50_000)
    wire = b"POST /up HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
    at = 0
    while at < len(data):
        n = rnd.choice((1, 7, 4000))
        wire += b"%x\r\n%s\r\n" % (len(data[at : at + n]), data[at : at + n])
        at += n
    got = await rec.raw(wire + b"0\r\n\r\n")
    assert payload(got) == b"ok" and upstream.asked[0].body == data


async def test_body_that_ends_with_the_connection(upstream: Upstream, record: Start) -> None:
    async def until_close(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nall of it")
        await writer.drain()
        writer.close()
        raise ConnectionError

    upstream.handler = until_close
    rec = await record(upstream.url)
    got = await rec.raw(b"GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert got.endswith(b"Connection: close\r\n\r\nall of it")


async def test_connections_are_kept_and_pipelined_requests_answered_in_order(upstream: Upstream, record: Start) -> None:
    async def echo(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(asked.target), asked.target.encode()))

    upstream.handler = echo
    rec = await record(upstream.url)
    three = b"".join(b"GET /%d HTTP/1.1\r\nHost: localhost\r\n\r\n" % i for i in range(3))
    got = await rec.raw(three + request("/last", method="GET"))
    assert [part[-2:] for part in got.split(b"HTTP/1.1 200 OK")[1:4]] == [b"/0", b"/1", b"/2"] and got.endswith(
        b"/last"
    )
    assert upstream.connections == 1


async def test_upstream_that_closes_between_requests_is_asked_again(upstream: Upstream, record: Start) -> None:
    async def and_close(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok")
        await writer.drain()
        writer.close()
        raise ConnectionError

    upstream.handler = and_close
    rec = await record(upstream.url)
    async with httpx.AsyncClient(base_url=rec.address) as client:
        for _ in range(3):
            assert (await client.get("/x")).text == "ok"
    assert upstream.connections == 3


async def test_head_and_empty_answers_have_no_body(upstream: Upstream, record: Start) -> None:
    async def by_method(asked: Asked, writer: asyncio.StreamWriter) -> None:
        status = b"200 OK" if asked.method == "HEAD" else b"304 Not Modified"
        writer.write(b"HTTP/1.1 " + status + b"\r\nContent-Length: 50\r\n\r\n")

    upstream.handler = by_method
    rec = await record(upstream.url)
    async with httpx.AsyncClient(base_url=rec.address) as client:
        for method in ("HEAD", "GET", "HEAD"):
            got = await client.request(method, "/x")
            assert got.content == b"" and got.headers["content-length"] == "50"
    assert upstream.connections == 1


async def test_interim_responses_and_expect_pass(upstream: Upstream, record: Start) -> None:
    rec = await record(upstream.url)
    reader, writer = await rec.connect()
    writer.write(b"POST /x HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n")
    assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
    writer.write(b"body")
    assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 OK") and upstream.asked[0].body == b"body"
    writer.close()


async def test_old_client_gets_no_chunks(upstream: Upstream, record: Start) -> None:
    upstream.handler = stream([b"one", b"two"])
    rec = await record(upstream.url)
    got = await rec.raw(b"GET /x HTTP/1.0\r\n\r\n")
    head, _, body = got.partition(b"\r\n\r\n")
    assert body == b"onetwo" and b"ransfer-" not in head
    assert upstream.asked[0].header("host") == upstream.url.removeprefix("http://")


async def test_pieces_are_not_held_back(upstream: Upstream, record: Start) -> None:
    go = asyncio.Event()

    async def in_two(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n")
        await go.wait()
        writer.write(b"3\r\ntwo\r\n0\r\n\r\n")

    upstream.handler = in_two
    rec = await record(upstream.url)
    reader, writer = await rec.connect()
    writer.write(request("/x"))
    assert (await asyncio.wait_for(reader.readuntil(b"one\r\n"), 10)).endswith(b"3\r\none\r\n")
    go.set()
    assert (await reader.read()).endswith(b"two\r\n0\r\n\r\n")
    writer.close()


async def test_a_client_that_does_not_read_stops_the_upstream(upstream: Upstream, record: Start) -> None:
    block, count, sent = os.urandom(65536), 600, 0

    async def much(asked: Asked, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (len(block) * count))
        for _ in range(count):
            writer.write(block)
            await writer.drain()
            sent += 1

    upstream.handler = much
    rec = await record(upstream.url)
    reader, writer = await rec.connect()
    reader._limit = 65536  # the reader buffers twice this and then stops taking
    writer.write(request("/x"))
    before = -1
    while sent != before:  # until nothing moves any more
        before = sent
        await asyncio.sleep(0.2)
    assert sent < count // 2
    got = hashlib.sha256()
    await reader.readuntil(b"\r\n\r\n")
    while data := await reader.read(1 << 20):
        got.update(data)
    assert got.hexdigest() == hashlib.sha256(block * count).hexdigest()
    writer.close()


async def test_client_that_hangs_up_cancels_at_the_upstream(upstream: Upstream, record: Start) -> None:
    async def endless(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            writer.write(b"a\r\ndata: {}\n\n\r\n")
            await writer.drain()
            if await asked.reader.read(1) == b"":
                raise ConnectionError

    upstream.handler = endless
    rec = await record(upstream.url)
    reader, writer = await rec.connect()
    writer.write(request("/v1/messages", BODY))
    await reader.readuntil(b"data: {}")
    writer.close()
    await asyncio.wait_for(upstream.hung_up.wait(), 10)
    (line,) = await rec.lines()
    assert line["client_gone"] and not line["complete"] and line["error"] is None and line["usage"] is None


async def test_a_cut_upstream_is_a_cut_client(upstream: Upstream, record: Start) -> None:
    upstream.handler = stream([b"data: 1\n\n"], end=False)
    rec = await record(upstream.url)
    async with httpx.AsyncClient(base_url=rec.address) as client:
        with pytest.raises(httpx.RemoteProtocolError):
            await client.post("/v1/messages", content=BODY)
    (line,) = await rec.lines()
    assert (
        not line["complete"] and line["error"] == {"from": "upstream", "type": "upstream_cut"} and line["status"] == 200
    )


async def test_upstream_that_closes_without_an_answer(upstream: Upstream, record: Start) -> None:
    async def gone(asked: Asked, writer: asyncio.StreamWriter) -> None:
        raise ConnectionError

    upstream.handler = gone
    rec = await record(upstream.url)
    assert await rec.raw(request("/v1/messages", BODY)) == b""
    (line,) = await rec.lines()
    assert line["status"] is None and line["error"]["type"] == "upstream_closed" and line["sent"]


async def test_upstream_that_cannot_be_reached(upstream: Upstream, record: Start) -> None:
    await upstream.stop()
    rec = await record(upstream.url)
    async with httpx.AsyncClient(base_url=rec.address) as client:
        got = await client.post("/v1/messages", content=BODY)
    assert got.status_code == 502 and got.headers["x-ctxmon-error"] == "connect"
    assert "cannot be reached" in got.json()["error"]["message"]
    (line,) = await rec.lines()
    assert line["sent"] is False and line["status"] is None and line["error"] == {"from": "recorder", "type": "connect"}


async def test_answer_before_the_request_is_whole(upstream: Upstream, record: Start) -> None:
    server = await asyncio.start_server(refuse_early, "127.0.0.1", 0)
    rec = await record(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    reader, writer = await rec.connect()
    writer.write(b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\nfirst")
    assert (await reader.read()).endswith(b"too large")
    writer.close()
    server.close()


async def refuse_early(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"first")
    writer.write(b"HTTP/1.1 413 Content Too Large\r\nContent-Length: 9\r\nConnection: close\r\n\r\ntoo large")
    await writer.drain()
    writer.close()


@pytest.mark.parametrize(
    ("wire", "status"),
    [
        (request("/x", host="evil.example"), 421),
        (request("/x", host="127.0.0.1.evil.example:8788"), 421),
        (b"GET /x HTTP/1.1\r\n\r\n", 400),
        (b"GET /x HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n", 400),
        (b"CONNECT api.example:443 HTTP/1.1\r\nHost: localhost\r\n\r\n", 405),
        (b"GET http://other.example/x HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
        (
            b"POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            400,
        ),
        (b"POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc", 400),
        (b"POST /x HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n", 501),
        (b"POST /x HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", 400),
        (b"GET /x HTTP/2.0\r\nHost: localhost\r\n\r\n", 505),
        (b"GET /x HTTP/1.1\r\nHost: localhost\r\nBad Name: 1\r\n\r\n", 400),
        (b"GET /x HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 300_000, 431),
    ],
)
async def test_what_is_refused_never_reaches_the_upstream(
    upstream: Upstream, record: Start, wire: bytes, status: int
) -> None:
    rec = await record(upstream.url)
    got = await rec.raw(wire)
    assert got.startswith(b"HTTP/1.1 %d " % status) and json.loads(payload(got))["error"]["message"]
    assert upstream.asked == []


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:99", "127.0.0.1:1", "[::1]:8788"])
async def test_own_names_are_answered(upstream: Upstream, record: Start, host: str) -> None:
    rec = await record(upstream.url)
    assert payload(await rec.raw(request("/x", host=host))) == b"ok"


async def test_more_names_can_be_allowed(upstream: Upstream, record: Start) -> None:
    rec = await record(upstream.url, allow_hosts=frozenset({"host.docker.internal"}))
    assert payload(await rec.raw(request("/x", host="host.docker.internal:8788"))) == b"ok"


async def test_fault_in_reading_a_call_does_not_touch_it(
    upstream: Upstream, record: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("secret words")

    monkeypatch.setattr(record_module.CallJob, "_answer", broken)
    upstream.handler = answer(b'{"usage":{"prompt_tokens":1}}')
    rec = await record(upstream.url)
    for _ in range(3):
        assert payload(await rec.raw(request("/v1/chat/completions", BODY))) == b'{"usage":{"prompt_tokens":1}}'
    lines = await rec.lines()
    assert len(lines) == 3 and all(line["lossy"] and line["usage"] is None for line in lines)
    assert len(rec.warnings) == 1 and "RuntimeError" in rec.warnings[0] and "secret" not in rec.warnings[0]


async def test_fault_in_starting_a_tap_does_not_touch_the_call(
    upstream: Upstream, record: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise KeyError("x")

    monkeypatch.setattr(capture, "CallJob", broken)
    rec = await record(upstream.url)
    assert payload(await rec.raw(request("/v1/chat/completions", BODY))) == b"ok"
    assert await rec.lines() == [] and len(rec.warnings) == 1


async def test_many_streams_at_once_stay_apart(upstream: Upstream, record: Start) -> None:
    async def numbered(asked: Asked, writer: asyncio.StreamWriter) -> None:
        mark = asked.body
        events = [b'data: {"id":"%s","model":"m","choices":[{"delta":{"content":"x"}}]}\n\n' % mark] * 20
        events.append(b'data: {"id":"%s","choices":[],"usage":{"prompt_tokens":%s}}\n\ndata: [DONE]\n\n' % (mark, mark))
        await stream(events)(asked, writer)

    upstream.handler = numbered
    rec = await record(upstream.url)

    async def one(number: int) -> None:
        got = payload(await rec.raw(request("/v1/chat/completions", b"%d" % number)))
        assert got.count(b'"id":"%d"' % number) == 21

    await asyncio.gather(*(one(i) for i in range(1000, 1064)))
    lines = await rec.lines()
    assert sorted(line["usage"]["prompt_tokens"] for line in lines) == list(range(1000, 1064))
