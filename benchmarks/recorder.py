"""What the recorder costs: added latency, and throughput at many streams, against a direct connection and mitmdump.

    python benchmarks/recorder.py [--streams 32] [--seconds 6] [--mitmdump PATH] [--provider URL] [--json FILE]

Three processes: the client (this one), the proxy under test, and a provider that streams server-sent events. The ways
(direct, recorder, mitmdump) take turns within one run, so that what else the machine does hits all of them alike; the
figures to look at are the differences and ratios. CPU seconds of the proxy are given per thousand calls.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

EVENTS = 60
WORDS = "a piece of an answer as a model would stream it, with some length to it"


def sse_events() -> list[bytes]:
    """An answer in the form of Anthropic's stream."""
    usage = {
        "input_tokens": 12,
        "cache_read_input_tokens": 20_000,
        "cache_creation_input_tokens": 300,
        "output_tokens": 1,
    }
    start = {"id": "msg_bench", "type": "message", "role": "assistant", "model": "m", "content": [], "usage": usage}
    events = [
        ("message_start", {"message": start}),
        ("content_block_start", {"index": 0, "content_block": {"type": "text", "text": ""}}),
    ]
    events += [("content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": WORDS}})] * EVENTS
    events += [
        ("content_block_stop", {"index": 0}),
        ("message_delta", {"delta": {"stop_reason": "end_turn"}, "usage": {**usage, "output_tokens": 400}}),
    ]
    events += [("message_stop", {})]
    return [f"event: {k}\ndata: {json.dumps({'type': k} | v)}\n\n".encode() for k, v in events]


def request_body(size: int) -> bytes:
    """A conversation of about ``size`` bytes."""
    messages = []
    while len(json.dumps(messages)) < size:
        messages.append({"role": "user", "content": [{"type": "text", "text": "row of a listing\n" * 60}]})
        messages.append({"role": "assistant", "content": [{"type": "text", "text": "on to the next step. " * 20}]})
    return json.dumps({"model": "claude-bench", "max_tokens": 1000, "stream": True, "messages": messages}).encode()


# ----------------------------------------------------------------------------------------------------------- provider


class Provider(asyncio.Protocol):
    """Reads requests of known length, answers each with a chunked stream, an event per write."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self.buffer = bytearray()
        self.need: int | None = None

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while True:
            if self.need is None:
                end = self.buffer.find(b"\r\n\r\n")
                if end < 0:
                    return
                head = bytes(self.buffer[:end]).lower()
                at = head.find(b"content-length:")
                self.need = end + 4 + (int(head[at + 15 :].split(b"\r\n")[0]) if at >= 0 else 0)
            if len(self.buffer) < self.need:
                return
            del self.buffer[: self.need]
            self.need = None
            asyncio.get_running_loop().create_task(self.answer())

    async def answer(self) -> None:
        write = self.transport.write  # type: ignore[attr-defined]
        write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
        for piece in PIECES:
            write(piece)
            await asyncio.sleep(0)
        write(b"0\r\n\r\n")


PIECES = [b"%x\r\n%s\r\n" % (len(e), e) for e in sse_events()]
ANSWER = sum(map(len, sse_events()))


async def provide() -> None:
    import socket

    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    sock.bind(("127.0.0.1", 0))
    sock.listen(512)
    server = await asyncio.get_running_loop().create_server(Provider, sock=sock)
    print(f"http://127.0.0.1:{sock.getsockname()[1]}", flush=True)
    await server.serve_forever()


# ------------------------------------------------------------------------------------------------------------- client


class Client(asyncio.Protocol):
    """Sends one request at a time and notes when the first and the last byte of the answer came."""

    def __init__(self) -> None:
        self.done: asyncio.Future[tuple[float, float]] | None = None
        self.first = 0.0
        self.tail = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        if not self.first:
            self.first = time.perf_counter()
        self.tail = (self.tail + data)[-5:]
        if self.tail == b"0\r\n\r\n" and self.done is not None and not self.done.done():
            self.done.set_result((self.first, time.perf_counter()))

    def connection_lost(self, exc: Exception | None) -> None:
        if self.done is not None and not self.done.done():
            self.done.set_exception(ConnectionError("the connection was closed"))

    async def call(self, request: bytes) -> tuple[float, float]:
        """Milliseconds to the first and to the last byte."""
        self.first, self.tail = 0.0, b""
        self.done = asyncio.get_running_loop().create_future()
        begun = time.perf_counter()
        self.transport.write(request)  # type: ignore[attr-defined]
        first, last = await self.done
        return (first - begun) * 1e3, (last - begun) * 1e3


async def connect(base: str) -> Client:
    host, port = base.removeprefix("http://").split(":")
    _, client = await asyncio.get_running_loop().create_connection(Client, host, int(port))
    return client


def http_request(base: str, size: int) -> bytes:
    body = request_body(size)
    host = base.removeprefix("http://")
    head = f"POST /v1/messages HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
    return head.encode() + b"Content-Length: %d\r\n\r\n" % len(body) + body


async def latency(ways: dict[str, str], size: int, rounds: int) -> dict[str, list[tuple[float, float]]]:
    """Calls one after the other, the ways taking turns; (first byte, last byte) in milliseconds."""
    clients = {name: await connect(base) for name, base in ways.items()}
    requests = {name: http_request(base, size) for name, base in ways.items()}
    seen: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for number in range(rounds + 10):
        for name, client in clients.items():
            got = await client.call(requests[name])
            if number >= 10:
                seen[name].append(got)
    return seen


async def throughput(base: str, size: int, streams: int, seconds: float) -> float:
    """Calls a second with ``streams`` connections at once."""
    request = http_request(base, size)
    clients = [await connect(base) for _ in range(streams)]
    until = time.perf_counter() + seconds
    count = 0

    async def work(client: Client) -> None:
        nonlocal count
        while time.perf_counter() < until:
            await client.call(request)
            count += 1

    begun = time.perf_counter()
    await asyncio.gather(*map(work, clients))
    return count / (time.perf_counter() - begun)


# -------------------------------------------------------------------------------------------------------------- proxies

RECORD = (
    "import argparse,sys;from monitor.cli import record;p=argparse.ArgumentParser();"
    "record.add_parser(p.add_subparsers(),argparse.ArgumentParser(add_help=False));"
    "a=p.parse_args(['record',*sys.argv[1:]]);sys.exit(a.run(a))"
)


@contextlib.contextmanager
def process(command: list[str]) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A program that prints its address on the first line of stdout."""
    proc = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert proc.stdout is not None
        yield proc, proc.stdout.readline().strip()
    finally:
        proc.terminate()
        proc.wait(15)


def free_port() -> int:
    import socket

    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


@contextlib.contextmanager
def mitmdump(program: str, upstream: str, folder: Path) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """mitmdump in reverse mode, streaming, with its log to a file."""
    port = free_port()
    command = [program, "--mode", f"reverse:{upstream}", "--listen-host", "127.0.0.1", "-p", str(port), "-q"]
    command += ["--set", "stream_large_bodies=1", "--set", f"confdir={folder}", "-w", str(folder / "flows.mitm")]
    proc = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        import socket

        for _ in range(100):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.1)
        yield proc, f"http://127.0.0.1:{port}"
    finally:
        proc.terminate()
        proc.wait(15)


def cpu_seconds(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except OSError:
        return float("nan")


def quantile(values: list[float], q: float) -> float:
    return sorted(values)[min(len(values) - 1, int(q * len(values)))]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--streams", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=6, help="of throughput for each way, in three parts")
    parser.add_argument("--rounds", type=int, default=300, help="calls of the latency part for each way")
    parser.add_argument("--size", type=int, default=60_000, help="bytes of a request")
    parser.add_argument("--mitmdump", default=shutil.which("mitmdump"), help="program to compare with")
    parser.add_argument("--provider", help="address of another provider than the built-in one")
    parser.add_argument("--json", type=Path, help="write the figures there")
    parser.add_argument("--role", choices=["provider"], help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.role:
        asyncio.run(provide())
        return 0
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        provider = args.provider
        if provider is None:
            _, provider = stack.enter_context(process([sys.executable, __file__, "--role", "provider"]))
        log = folder / "calls.jsonl"
        recorder = [sys.executable, "-c", RECORD, "--upstream", provider, "--port", "0", "--log", str(log)]
        proc, address = stack.enter_context(process(recorder))
        ways, pids = {"direct": provider, "recorder": address}, {"recorder": proc.pid}
        if args.mitmdump:
            other, where = stack.enter_context(mitmdump(args.mitmdump, provider, folder))
            ways["mitmdump"], pids["mitmdump"] = where, other.pid
        out = measure(ways, pids, args)
        out["log"] = {"lines": float(sum(1 for _ in log.open("rb")))}
    report(out)
    if args.json:
        args.json.write_text(json.dumps(out, indent=1), encoding="utf-8")
    return 0


def measure(ways: dict[str, str], pids: dict[str, int], args: argparse.Namespace) -> dict[str, dict[str, float]]:
    seen = asyncio.run(latency(ways, args.size, args.rounds))
    out: dict[str, dict[str, float]] = {}
    for name, pairs in seen.items():
        first, last = [p[0] for p in pairs], [p[1] for p in pairs]
        out[name] = {"first_p50": quantile(first, 0.5), "first_p95": quantile(first, 0.95)}
        out[name] |= {"last_p50": quantile(last, 0.5), "last_p95": quantile(last, 0.95)}
        # of each call against the direct one of the same turn
        against = [a[1] - b[1] for a, b in zip(pairs, seen["direct"])]
        out[name] |= {"added_p50": quantile(against, 0.5), "added_p95": quantile(against, 0.95)}
        ahead = [a[0] - b[0] for a, b in zip(pairs, seen["direct"])]
        out[name] |= {"added_first_p50": quantile(ahead, 0.5), "added_first_p95": quantile(ahead, 0.95)}
    rates: dict[str, list[float]] = {name: [] for name in ways}
    cpu = dict.fromkeys(ways, 0.0)
    for _ in range(3):
        for name, base in ways.items():
            before = cpu_seconds(pids[name]) if name in pids else 0.0
            rates[name].append(asyncio.run(throughput(base, args.size, args.streams, args.seconds / 3)))
            if name in pids:
                cpu[name] += cpu_seconds(pids[name]) - before
    for name, values in rates.items():
        out[name]["calls_per_s"] = statistics.mean(values)
        out[name]["of_direct"] = statistics.median(v / d for v, d in zip(values, rates["direct"]))
        out[name]["cpu_s_per_1000"] = cpu[name] / (sum(values) * args.seconds / 3) * 1000
    return out


def report(out: dict[str, dict[str, float]]) -> None:
    print(f"{'':10} {'first byte':>16} {'whole call':>16} {'added':>16} {'at many streams':>24} {'CPU s/1000':>11}")
    print(f"{'':10} {'p50':>8}{'p95':>8} {'p50':>8}{'p95':>8} {'p50':>8}{'p95':>8} {'calls/s':>12}{'of direct':>12}")
    for name, row in out.items():
        if name == "log":
            continue
        print(
            f"{name:10} {row['first_p50']:8.2f}{row['first_p95']:8.2f} {row['last_p50']:8.2f}{row['last_p95']:8.2f} "
            f"{row['added_p50']:8.2f}{row['added_p95']:8.2f} {row['calls_per_s']:12.0f}{row['of_direct']:12.2f} "
            f"{row['cpu_s_per_1000']:11.2f}"
        )


if __name__ == "__main__":
    sys.exit(main())
