"""WebSockets pass through untouched, compressed or not, and each answered ``response.create`` is a call."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest
import websockets
from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, serve

from monitor.recorder.ws import FrameTap

from .conftest import Start, Upstream

UUID = "0198c0de-0000-7000-8000-000000000001"
USAGE = {"input_tokens": 40, "output_tokens": 5, "input_tokens_details": {"cached_tokens": 30}}
CREATE = {
    "type": "response.create",
    "model": "gpt-x",
    "instructions": "s",
    "input": [{"role": "user", "content": "hi " * 500}],
    "stream": True,
}


async def model(socket: ServerConnection) -> None:
    """Answers each response.create with a stream of events; echoes everything else."""
    number = 0
    async for message in socket:
        asked = json.loads(message) if isinstance(message, str) and message.startswith("{") else None
        if not asked:
            await socket.send(message)
            continue
        number += 1
        response: dict[str, Any] = {"id": f"resp_{number}", "model": "gpt-x", "status": "in_progress", "usage": None}
        await socket.send(json.dumps({"type": "response.created", "response": response}))
        for _ in range(20):
            await socket.send(json.dumps({"type": "response.output_text.delta", "delta": "Größe ✅"}))
        done = {**response, "status": "completed", "usage": USAGE}
        if asked.get("cut"):
            socket.transport.abort()
            return
        await socket.send(json.dumps({"type": "response.completed", "response": done}))


@pytest.mark.parametrize("compression", ["deflate", None])
async def test_calls_in_a_websocket(record: Start, compression: Any) -> None:
    async with serve(model, "127.0.0.1", 0, compression=compression) as server:
        port = server.sockets[0].getsockname()[1]
        rec = await record(f"http://127.0.0.1:{port}")
        headers = {"Authorization": "Bearer sk-secret-0123456789", "session-id": UUID}
        async with connect(
            rec.address.replace("http", "ws") + "/v1/responses",
            additional_headers=headers,
            compression=compression,
            max_size=None,
        ) as client:
            blob = os.urandom(300_000)
            await client.send(blob)
            assert await client.recv() == blob
            await client.send("echo – ✅")
            assert await client.recv() == "echo – ✅"
            for number in (1, 2):
                await client.send(json.dumps({**CREATE, "previous_response_id": f"resp_{number - 1}"}))
                while (got := json.loads(await client.recv()))["type"] != "response.completed":
                    pass
                assert got["response"]["id"] == f"resp_{number}"
        lines = await rec.lines()
    assert [(x["response_id"], x["usage"], x["session"]["previous_response_id"]) for x in lines] == [
        ("resp_1", USAGE, "resp_0"),
        ("resp_2", USAGE, "resp_1"),
    ]
    for line in lines:
        assert (
            line["websocket"]
            and line["complete"]
            and line["status"] == 101
            and line["session"]["codex_session"] == UUID
        )
        assert line["model"] == "gpt-x" and line["stream"] and line["evidence"]["count"] == 1 and line["kind"] == "call"
    assert "sk-secret" not in rec.log.read_text(encoding="utf-8")


async def test_websocket_that_is_cut(record: Start) -> None:
    async with serve(model, "127.0.0.1", 0) as server:
        rec = await record(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        async with connect(rec.address.replace("http", "ws") + "/v1/responses") as client:
            await client.send(json.dumps({**CREATE, "cut": True}))
            with pytest.raises(websockets.ConnectionClosed):
                while True:
                    await client.recv()
        (line,) = await rec.lines()
    assert (
        not line["complete"]
        and line["usage"] is None
        and line["error"]["type"] == "upstream_cut"
        and line["response_id"] == "resp_1"
    )


async def test_close_of_the_client_reaches_the_upstream(record: Start) -> None:
    closed: list[int] = []

    async def wait(socket: ServerConnection) -> None:
        await socket.wait_closed()
        closed.append(socket.close_code or 0)

    async with serve(wait, "127.0.0.1", 0) as server:
        rec = await record(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        async with connect(rec.address.replace("http", "ws")) as client:
            await client.close(4001, "done")
        assert client.close_code == 4001
    assert closed == [4001]


async def test_upstream_that_speaks_no_websocket(upstream: Upstream, record: Start) -> None:
    rec = await record(upstream.url)
    with pytest.raises(websockets.InvalidStatus):
        await connect(rec.address.replace("http", "ws") + "/v1/responses")
    assert upstream.asked[0].header("upgrade") == "websocket" and await rec.lines() == []


def frame(payload: bytes, opcode: int = 1, fin: bool = True, mask: bytes = b"") -> bytes:
    size = len(payload)
    head = bytes([(0x80 if fin else 0) | opcode, (0x80 if mask else 0) | min(size, 126)])
    if size >= 126:
        head += size.to_bytes(2, "big")
    return head + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(payload)) if mask else head + payload


@pytest.mark.parametrize("step", [1, 3, 1000])
def test_fragments_control_frames_and_masks(step: int) -> None:
    wire = frame(b"one ", fin=False, mask=b"\x01\x02\x03\x04") + frame(b"ping", 9) + frame(b"two", 0, mask=b"abcd")
    wire += frame(b"\x00\x01", 2) + frame(b"x" * 300, mask=b"\xff\x00\xff\x00") + frame(b"", 8)
    got: list[bytes] = []
    tap = FrameTap(got.append, deflate=False)
    for at in range(0, len(wire), step):
        tap.feed(wire[at : at + step])
    assert got == [b"one two", b"x" * 300] and not tap.broken


def test_nonsense_is_given_up() -> None:
    tap = FrameTap(lambda _: None, deflate=True)
    tap.feed(b"\xc1\x05hello")
    assert tap.broken
    huge = FrameTap(lambda _: None, deflate=False)
    huge.feed(b"\x81\x7f" + (1 << 40).to_bytes(8, "big"))
    assert huge.broken
