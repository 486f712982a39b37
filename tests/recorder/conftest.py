"""A scriptable upstream on loopback, and the recorder in front of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest_asyncio

from monitor.recorder.logfile import LogOptions
from monitor.recorder.server import Options, serve
from monitor.recorder.upstreams import Routes, parse_upstream

Handler = Callable[["Asked", asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Asked:
    """A request as the upstream got it."""

    method: str
    target: str
    headers: list[tuple[str, str]]
    body: bytes
    reader: asyncio.StreamReader

    def header(self, name: str) -> str | None:
        return next((v for k, v in self.headers if k.lower() == name), None)


async def read_chunked(reader: asyncio.StreamReader) -> bytes:
    out = b""
    while size := int((await reader.readline()).split(b";")[0], 16):
        out += await reader.readexactly(size)
        await reader.readexactly(2)
    while (await reader.readline()) != b"\r\n":
        pass
    return out


class Upstream:
    """An HTTP/1.1 server whose answers are written by a handler, byte by byte if it likes."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.connections = 0
        self.hung_up = asyncio.Event()  # a client went away
        self.handler: Handler = ok
        self.url = ""
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[Any]] = set()

    async def start(self, ssl: Any = None) -> Upstream:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=ssl)
        scheme = "https" if ssl else "http"
        self.url = f"{scheme}://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def stop(self) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                method, target, _ = head[0].split(" ")
                headers = [(n, v.strip()) for n, _, v in (line.partition(":") for line in head[1:] if line)]
                lower = {n.lower(): v for n, v in headers}
                if lower.get("expect") == "100-continue":
                    writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
                if lower.get("transfer-encoding") == "chunked":
                    body = await read_chunked(reader)
                else:
                    body = await reader.readexactly(int(lower.get("content-length", 0)))
                asked = Asked(method, target, headers, body, reader)
                self.asked.append(asked)
                await self.handler(asked, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            self.hung_up.set()
        finally:
            writer.close()


async def ok(asked: Asked, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")


def answer(body: bytes, kind: str = "application/json", status: str = "200 OK", extra: str = "") -> Handler:
    """A handler that gives a body of known length."""

    async def handler(asked: Asked, writer: asyncio.StreamWriter) -> None:
        head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n{extra}Content-Length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)

    return handler


def stream(pieces: list[bytes], kind: str = "text/event-stream", extra: str = "", end: bool = True) -> Handler:
    """A handler that gives a chunked body, a chunk per piece; without ``end`` the connection is cut behind them."""

    async def handler(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n{extra}Transfer-Encoding: chunked\r\n\r\n".encode())
        for piece in pieces:
            writer.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            await writer.drain()
        if end:
            writer.write(b"0\r\n\r\n")
        else:
            await writer.drain()
            writer.close()
            raise ConnectionError

    return handler


@dataclass
class Recording:
    """A recorder that runs."""

    address: str
    log: Path
    warnings: list[str]
    stop_event: asyncio.Event
    task: asyncio.Task[int]
    ended: list[int] = field(default_factory=list)

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])

    async def stop(self) -> int:
        """End it; gives how many lines were lost."""
        if not self.ended:
            self.stop_event.set()
            self.ended.append(await self.task)
        return self.ended[0]

    async def lines(self) -> list[dict[str, Any]]:
        """End it and read its log."""
        await self.stop()
        return [json.loads(x) for x in self.log.read_text(encoding="utf-8").splitlines()]

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 26)

    async def raw(self, data: bytes) -> bytes:
        """Send bytes and read to the end of the connection."""
        reader, writer = await self.connect()
        writer.write(data)
        try:
            return await asyncio.wait_for(reader.read(), 10)
        finally:
            writer.close()


Start = Callable[..., Awaitable[Recording]]


@pytest_asyncio.fixture
async def upstream() -> AsyncIterator[Upstream]:
    made = await Upstream().start()
    yield made
    await made.stop()


@pytest_asyncio.fixture
async def record(tmp_path: Path) -> AsyncIterator[Start]:
    """Starts recorders: ``await record(url_or_spec, …, **options)``."""
    running: list[Recording] = []

    async def start(*specs: str, **options: Any) -> Recording:
        log = options.pop("log", tmp_path / "calls.jsonl")
        log_options = options.pop("log_options", LogOptions())
        routes = Routes.of([parse_upstream(s) for s in specs])
        asked = Options(routes=routes, log=log, port=0, log_options=log_options, use_proxy=False, **options)
        address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        warnings: list[str] = []
        stop = asyncio.Event()
        task = asyncio.create_task(serve(asked, address.set_result, warnings.append, stop))
        await asyncio.wait({task, address}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            task.result()
        made = Recording(address.result(), log, warnings, stop, task)
        running.append(made)
        return made

    yield start
    for made in running:
        await made.stop()


def request(path: str, body: bytes = b"", headers: str = "", method: str = "POST", host: str = "127.0.0.1") -> bytes:
    """A request as bytes, with the connection closed behind it."""
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def payload(response: bytes) -> bytes:
    """The body of a response, out of its chunks if it has them."""
    head, _, body = response.partition(b"\r\n\r\n")
    if b"chunked" not in head.lower():
        return body
    out = b""
    while body:
        size, _, body = body.partition(b"\r\n")
        n = int(size.split(b";")[0], 16)
        if not n:
            break
        out, body = out + body[:n], body[n + 2 :]
    return out
