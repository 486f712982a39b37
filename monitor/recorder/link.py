"""What the two sides of a proxied connection share: the upstreams, the check of who asks, and one call's state."""

from __future__ import annotations

import asyncio
import ipaddress
from dataclasses import dataclass, field
from typing import Protocol

from monitor.recorder import http1
from monitor.recorder.capture import Capture, Recorder
from monitor.recorder.connect import Connector
from monitor.recorder.http1 import Body, HttpError, Request, Response
from monitor.recorder.upstreams import Route, Routes


@dataclass(slots=True, eq=False)
class Call:
    """One request on its way and its answer."""

    request: Request
    route: Route
    tap: Capture
    body: Body  # framing of the request
    keep_client: bool  # the client keeps its connection open afterwards
    upgrade: bool
    waiting: list[bytes] = field(default_factory=list)  # for the upstream, while there is no connection yet
    waiting_size: int = 0
    task: asyncio.Task[None] | None = None
    response: Response | None = None
    answer: Body = field(default_factory=http1.NoBody)  # framing of the response
    keep_upstream: bool = True
    plain: bool = False  # the client speaks HTTP/1.0: chunks are taken out of their framing
    answered: bool = False
    tunnel: bool = False


class Client(Protocol):
    """A connection of a client, as far as the end of the recorder has to do with it."""

    call: Call | None  # under way

    def abort(self, reason: str) -> None:
        """The recorder ends: give up on whatever is under way."""


@dataclass(slots=True)
class Shared:
    """What all connections have in common."""

    routes: Routes
    connector: Connector
    recorder: Recorder
    hosts: frozenset[str]  # names the Host header may have
    any_address: bool = False  # or any numeric address: a rebound name is never one
    clients: set[Client] = field(default_factory=set)

    def admit(self, request: Request) -> Route:
        """Check who is asked for and find the upstream.

        Raises:
            HttpError: a Host header that is not this machine's (DNS rebinding), CONNECT, an unknown path.
        """
        values = http1.get_all(request.headers, b"host")
        if len(values) > 1 or (not values and request.minor == 1):
            raise HttpError(400, "A request has exactly one Host header.")
        if values and not self._is_ours(host_name(values[0])):
            raise HttpError(
                421,
                "This recorder answers only to its own address; a page or name elsewhere asked for it.",
                "wrong_host",
            )
        if request.method == b"CONNECT":
            raise HttpError(
                405,
                "This is a recording proxy with fixed upstreams: use it as a base URL, not as an HTTP proxy.",
                "no_proxy",
            )
        return self.routes.find(request.target)

    def _is_ours(self, name: str) -> bool:
        if name in self.hosts:
            return True
        if not self.any_address:
            return False
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True


def host_name(value: bytes) -> str:
    """The name in a Host header: in lower case, without port and brackets."""
    text = value.decode("latin-1").strip().lower()
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.partition(":")[0].rstrip(".")


def outgoing(request: Request, route: Route, upgrade: bool) -> bytes:
    """The request head for the upstream: Host replaced, headers of the connection left out, all else as it came."""
    headers = http1.passed_on(request.headers, frozenset({b"expect"}) if request.minor == 0 else frozenset())
    host = route.upstream.authority.encode("ascii", "replace")
    headers = [(name, host if name.lower() == b"host" else value) for name, value in headers]
    if request.minor == 0 and http1.get(headers, b"host") is None:
        headers.insert(0, (b"Host", host))
    if upgrade:
        headers.append((b"Connection", b"Upgrade"))
        headers.append((b"Upgrade", http1.get(request.headers, b"upgrade") or b"websocket"))
    elif not http1.keeps_alive(request.minor, request.headers):
        headers.append((b"Connection", b"close"))
    return http1.serialise(request.method + b" " + route.target + b" HTTP/1.1", headers)
