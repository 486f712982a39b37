"""Binds the recorder's address, serves until it is told to stop, and ends without losing a line."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import signal
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from monitor.recorder.capture import Recorder
from monitor.recorder.connect import Connector
from monitor.recorder.link import Shared
from monitor.recorder.logfile import CallLog, LogOptions
from monitor.recorder.pieces import Settings
from monitor.recorder.proxy import ClientSide
from monitor.recorder.upstreams import Routes, Upstream, UpstreamError

DEFAULT_PORT = 8788
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
GRACE_S = 5.0  # calls under way may finish this long after the first signal to stop
#: worker threads give way to the traffic after this many seconds (Python's default is 0.005)
SWITCH_S = 0.0001


class BindError(Exception):
    """The address cannot be used; the text is one sentence for people."""


@dataclass(frozen=True, slots=True)
class Options:
    """What ``ctxmon record`` was asked for."""

    routes: Routes
    log: Path
    port: int = DEFAULT_PORT
    address: str = "127.0.0.1"
    allow_hosts: frozenset[str] = frozenset()
    bodies: bool = False
    ca_file: Path | None = None
    use_proxy: bool = True
    log_options: LogOptions = field(default_factory=LogOptions)


def is_loopback(address: str) -> bool:
    """Whether an address of this machine cannot be reached from others."""
    if address == "localhost":
        return True
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def bind(address: str, port: int) -> socket.socket:
    """A listening socket.

    Raises:
        BindError: with the reason and what to do.
    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    # the protocol must be named: asyncio turns Nagle's algorithm off only for sockets that say so, and with it on
    # every kept-alive stream waits for the other side's acknowledgement
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if sys.platform == "win32":
            made.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((address, port))
        made.listen(512)
    except (OSError, OverflowError) as error:
        made.close()
        why = getattr(error, "strerror", None) or "not a port"
        raise BindError(
            f"Port {port} of {address} cannot be used ({why}); choose another with --port, or --port 0 for a free one."
        ) from None
    made.setblocking(False)
    return made


def names_itself(upstream: Upstream, port: int) -> bool:
    """Whether an upstream is the recorder's own address, which would ask itself for ever."""
    return upstream.port == port and (upstream.host in LOOPBACK or is_loopback(upstream.host))


async def serve(
    options: Options,
    ready: Callable[[str], None],
    warn: Callable[[str], None],
    stop: asyncio.Event | None = None,
) -> int:
    """Record until a signal comes or ``stop`` is set; gives the number of lines that could not be written.

    ``ready`` gets the base address once connections are accepted; ``warn`` gets sentences about trouble.

    Raises:
        BindError, UpstreamError, ConnectError: the address, an upstream or the certificate file cannot be used.
    """
    listening = bind(options.address, options.port)
    log = CallLog(options.log, warn, options.log_options)
    try:
        port = listening.getsockname()[1]
        for upstream in options.routes.all:
            if names_itself(upstream, port):
                raise UpstreamError(f"The upstream {upstream.url} is this recorder's own address.")
        connector = Connector(options.ca_file, options.use_proxy)
        connector.prepare(options.routes.all)
    except BaseException:
        listening.close()
        raise
    log.start()
    recorder = Recorder(log, warn, Settings(bodies=options.bodies))
    hosts = LOOPBACK | options.allow_hosts | {options.address}
    shared = Shared(options.routes, connector, recorder, hosts, any_address=not is_loopback(options.address))
    sys.setswitchinterval(SWITCH_S)
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(_fault_teller(warn))
    stop = stop or asyncio.Event()
    hurry = asyncio.Event()
    server = await loop.create_server(lambda: ClientSide(shared), sock=listening)
    with _signals(loop, stop, hurry):
        shown = f"[{options.address}]" if ":" in options.address else options.address
        ready(f"http://{shown}:{port}")
        try:
            await stop.wait()
        except asyncio.CancelledError:  # Ctrl-C where the loop takes no signals: end in order all the same
            if (task := asyncio.current_task()) is not None:
                task.uncancel()
        server.close()
        await _drain(shared, hurry)
    for client in list(shared.clients):
        client.abort("recorder_stopped")
    await asyncio.sleep(0)  # let the closed connections go
    written = await loop.run_in_executor(None, recorder.close)
    return log.missing or int(not written)


def _fault_teller(warn: Callable[[str], None]) -> Callable[[asyncio.AbstractEventLoop, dict[str, Any]], None]:
    """Faults of a single connection are told once per kind, as a sentence."""
    said: set[str] = set()

    def tell(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        name = type(context.get("exception")).__name__ if context.get("exception") else "fault"
        if name not in said:
            said.add(name)
            warn(f"A connection was given up because of an internal fault ({name}); others go on.")

    return tell


async def _drain(shared: Shared, hurry: asyncio.Event) -> None:
    """Let calls under way finish, but not for ever, and not once a second signal has come."""
    until = asyncio.get_running_loop().time() + GRACE_S
    while any(c.call is not None for c in shared.clients) and not hurry.is_set():
        left = until - asyncio.get_running_loop().time()
        if left <= 0:
            return
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(hurry.wait(), min(0.05, left))


@contextlib.contextmanager
def _signals(loop: asyncio.AbstractEventLoop, stop: asyncio.Event, hurry: asyncio.Event):  # type: ignore[no-untyped-def]
    """SIGINT and SIGTERM end the recorder, a second one at once. Where the loop takes no signals (Windows, other
    threads) the interpreter's KeyboardInterrupt does."""

    def asked() -> None:
        if stop.is_set():
            hurry.set()
        stop.set()

    taken = []
    for number in (signal.SIGINT, signal.SIGTERM):
        try:
            loop.add_signal_handler(number, asked)
            taken.append(number)
        except (NotImplementedError, RuntimeError, ValueError):
            continue
    try:
        yield
    finally:
        for number in taken:
            loop.remove_signal_handler(number)
