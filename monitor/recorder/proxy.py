"""The two sides of a proxied connection, as asyncio protocols.

Each client connection has at most one upstream connection of its own, so that what one side does (cut, stall, close)
is what the other side sees. Bytes are written on in the callback that received them; when one side cannot take more,
reading from the other stops. Nothing here waits for the recorder: the tap never raises and never blocks.
"""

from __future__ import annotations

import asyncio
import json
import time

from monitor.recorder import http1
from monitor.recorder.connect import ConnectError
from monitor.recorder.http1 import Body, HttpError, Response
from monitor.recorder.link import Call, Shared, outgoing
from monitor.recorder.upstreams import Upstream

HIGH_WATER = 256 * 1024  # bytes written but not taken by the other side, before reading from the first side stops
LINGER_S = 1.0  # a refused client may still be sending; closing at once would reset the answer away


class ClientSide(asyncio.Protocol):
    """A connection of a client."""

    def __init__(self, shared: Shared) -> None:
        self.shared = shared
        self.transport: asyncio.Transport
        self.call: Call | None = None
        self.up: UpstreamSide | None = None
        self.congested = False  # the client takes no more for now
        self._buffer = bytearray()  # bytes behind the current request, or a head that is not complete
        self._scanned = 0
        self._refused = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.set_write_buffer_limits(high=HIGH_WATER)
        self.shared.clients.add(self)

    def data_received(self, data: bytes) -> None:
        call = self.call
        if self._refused:
            return
        if call is None:
            self._buffer += data
            self._next()
        elif call.tunnel:
            if self.up is not None:
                self.up.transport.write(data)
            call.tap.tunnel(True, data)
        elif not call.body.done:
            self._body(call, data)
        else:
            self._buffer += data
            self._flow()

    def _next(self) -> None:
        """Begin with the next request if its head is there."""
        while self._buffer[:2] == b"\r\n":  # some clients send an empty line behind a body (RFC 9112 section 2.2)
            del self._buffer[:2]
        end = http1.head_end(self._buffer, self._scanned)
        if end is None:
            self._scanned = len(self._buffer)
            if self._scanned > http1.MAX_HEAD:
                self.refuse(HttpError(431, "The head of the request is too long."))
            return
        head, rest = bytes(self._buffer[:end]), bytes(self._buffer[end:])
        self._buffer.clear()
        self._scanned = 0
        try:
            request = http1.parse_request(head)
            route = self.shared.admit(request)
            body = http1.request_body(request)
            used, payload = body.feed(rest)
        except HttpError as error:
            self.refuse(error)
            return
        upgrade = http1.wants_websocket(request)
        tap = self.shared.recorder.begin(request, route)
        keep = http1.keeps_alive(request.minor, request.headers)
        call = self.call = Call(request, route, tap, body, keep, upgrade)
        self._buffer += rest[used:]
        out = outgoing(request, route, upgrade) + rest[:used]
        up = self.up
        if up is not None and up.upstream is route.upstream and not up.transport.is_closing():
            up.start(call)
            up.transport.write(out)
        else:
            if up is not None:
                self.up = None
                up.close()
            call.waiting, call.waiting_size = [out], len(out)
            call.task = asyncio.get_running_loop().create_task(self._connect(call))
        tap.request(payload, body.done)
        self._flow()

    def _body(self, call: Call, data: bytes) -> None:
        """Pass on a piece of the request's body."""
        try:
            used, payload = call.body.feed(data)
        except HttpError as error:
            self._end(call, "bad_request")
            self._drop_upstream()
            if call.response is None:
                self.refuse(error)
            else:
                self.transport.close()
            return
        piece = data
        if used < len(data):
            piece = data[:used]
            self._buffer += data[used:]
        if self.up is not None:
            self.up.transport.write(piece)
        else:
            call.waiting.append(piece)
            call.waiting_size += used
        call.tap.request(payload, call.body.done)
        if call.body.done and call.answered:
            self.finish(call)
        else:
            self._flow()

    async def _connect(self, call: Call) -> None:
        upstream = call.route.upstream
        try:
            transport, up = await self.shared.connector.open(upstream, lambda: UpstreamSide(self, upstream))
        except ConnectError as error:
            if self.call is call:
                self._end(call, error.kind)
                self.refuse(HttpError(502, error.sentence, error.kind))
            return
        call.task = None
        if self.call is not call:  # the client went while the connection was made
            transport.abort()
            return
        self.up = up
        up.start(call)
        transport.write(b"".join(call.waiting))
        call.waiting, call.waiting_size = [], 0
        self._flow()

    def finish(self, call: Call) -> None:
        """Request and answer are complete: make ready for the next request, or close."""
        self._end(call, None)
        up = self.up
        if up is not None and not call.keep_upstream:
            self._drop_upstream(flush=True)
        if not call.keep_client:
            self.transport.close()
            return
        self._flow()
        if self._buffer:
            self._next()

    def upstream_lost(self, call: Call | None, exc: Exception | None) -> None:
        """The upstream closed. Idle: the next request opens a new connection. Else the client sees the same end."""
        self.up = None
        if call is None:
            return
        error = None
        if call.response is None:
            error = "upstream_closed"
        elif (
            not call.tunnel and not call.answered and (exc is not None or not isinstance(call.answer, http1.CloseBody))
        ):
            error = "upstream_cut"
        self._end(call, error)
        self.transport.close()

    def refuse(self, error: HttpError) -> None:
        """Answer by ourselves, in a shape that the SDKs show to their users."""
        text = {
            "type": "error",
            "error": {"type": f"ctxmon_{error.kind}", "message": f"ctxmon record: {error.sentence}"},
        }
        body = json.dumps(text).encode()
        head = b"HTTP/1.1 %d %s\r\n" % (error.status, b"ctxmon recorder")
        head += b"Content-Type: application/json\r\nX-Ctxmon-Error: %s\r\n" % error.kind.encode()
        head += b"Content-Length: %d\r\nConnection: close\r\n\r\n" % len(body)
        self._refused = True
        self._buffer.clear()
        if self.transport.is_closing():
            return
        self.transport.resume_reading()
        self.transport.write(head + body)
        if self.transport.can_write_eof():
            self.transport.write_eof()
        asyncio.get_running_loop().call_later(LINGER_S, self.transport.close)

    def eof_received(self) -> bool:
        self._gone()
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self._gone()
        self.shared.clients.discard(self)

    def abort(self, reason: str) -> None:
        """The recorder ends: give up on whatever is under way."""
        if self.call is not None:
            self._end(self.call, reason)
        self._drop_upstream()
        self.transport.abort()

    def pause_writing(self) -> None:
        self.congested = True
        if self.up is not None:
            self.up.transport.pause_reading()

    def resume_writing(self) -> None:
        self.congested = False
        if self.up is not None:
            self.up.transport.resume_reading()

    def _flow(self) -> None:
        """Read from the client only what can be passed on or kept in a small buffer."""
        call, up = self.call, self.up
        stop = len(self._buffer) > http1.MAX_HEAD or (up is not None and up.congested)
        if stop or (call is not None and call.waiting_size > HIGH_WATER):
            self.transport.pause_reading()
        elif not self.transport.is_closing():
            self.transport.resume_reading()

    flow = _flow

    def _gone(self) -> None:
        """The client hung up: cancel at the upstream, as a direct connection would."""
        call = self.call
        if call is not None:
            call.tap.client_gone = True
            self._end(call, None)
        self._drop_upstream()

    def _end(self, call: Call, error: str | None) -> None:
        """Let go of a call and have it recorded."""
        self.call = None
        if call.task is not None:
            if call.task is not asyncio.current_task():
                call.task.cancel()
            call.task = None
        if self.up is not None:
            self.up.call = None
        call.tap.finish(error, request_complete=call.body.done, framing_complete=call.answered)

    def _drop_upstream(self, flush: bool = False) -> None:
        up, self.up = self.up, None
        if up is not None:
            up.close(flush)


class UpstreamSide(asyncio.Protocol):
    """The connection to an upstream that belongs to one client connection."""

    def __init__(self, client: ClientSide, upstream: Upstream) -> None:
        self.client = client
        self.upstream = upstream
        self.transport: asyncio.Transport
        self.call: Call | None = None
        self.congested = False
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.set_write_buffer_limits(high=HIGH_WATER)

    def start(self, call: Call) -> None:
        """Serve a call on this connection."""
        self.call = call
        self._buffer = b""
        if self.client.congested:
            self.transport.pause_reading()

    def close(self, flush: bool = False) -> None:
        """Hang up; ``flush`` lets what is already written go out first."""
        self.call = None
        if flush:
            self.transport.close()
        else:
            self.transport.abort()

    def data_received(self, data: bytes) -> None:
        call = self.call
        if call is None:  # nothing was asked (a time-out notice of the server, for one)
            self.transport.abort()
        elif call.tunnel:
            self.client.transport.write(data)
            call.tap.tunnel(False, data)
        elif call.response is None:
            self._buffer += data
            self._head(call)
        else:
            self._body(call, data, b"")

    def _head(self, call: Call) -> None:
        """Take the head of the response if it is there; interim responses are passed on."""
        while (end := http1.head_end(self._buffer)) is not None:
            head, self._buffer = self._buffer[:end], self._buffer[end:]
            try:
                response = http1.parse_response(head)
                body = http1.response_body(response, call.request.method)
            except HttpError as error:
                self._broken(call, error)
                return
            if response.status >= 200 or response.status == 101:
                self._final(call, response, body)
                return
            if call.request.minor == 1:
                start = b"HTTP/1.1 %d %s" % (response.status, response.reason)
                self.client.transport.write(http1.serialise(start, http1.passed_on(response.headers)))
        if len(self._buffer) > 4 * http1.MAX_HEAD:
            self._broken(call, HttpError(502, "The head of the response is too long.", "bad_upstream_response"))

    def _broken(self, call: Call, error: HttpError) -> None:
        client = self.client
        client._end(call, error.kind)
        client._drop_upstream()
        client.refuse(error)

    def _final(self, call: Call, response: Response, body: Body) -> None:
        call.response, call.answer = response, body
        call.keep_upstream = http1.keeps_alive(response.minor, response.headers)
        rest, self._buffer = self._buffer, b""
        headers = http1.passed_on(response.headers)
        start = b"HTTP/1.1 %d %s" % (response.status, response.reason)
        call.tap.head(response, time.monotonic())
        if response.status == 101:
            call.tunnel = True
            headers += [
                (b"Connection", b"Upgrade"),
                (b"Upgrade", http1.get(response.headers, b"upgrade") or b"websocket"),
            ]
            self.client.transport.write(http1.serialise(start, headers) + rest)
            if rest:
                call.tap.tunnel(False, rest)
            return
        if isinstance(body, http1.ChunkedBody):
            # with both, the length means nothing and must not travel on (RFC 9112 section 6.3)
            dropped = {b"content-length"}
            if call.request.minor == 0:
                call.plain, call.keep_client = True, False
                dropped |= {b"transfer-encoding", b"trailer"}
            headers = [(n, v) for n, v in headers if n.lower() not in dropped]
        elif isinstance(body, http1.CloseBody):
            call.keep_client = False
        if not call.keep_client:
            headers.append((b"Connection", b"close"))
        elif call.request.minor == 0:
            headers.append((b"Connection", b"keep-alive"))
        self._body(call, rest, http1.serialise(start, headers))

    def _body(self, call: Call, data: bytes, head: bytes) -> None:
        """Pass on a piece of the response: the head if it is the first, then the bytes as they came."""
        client = self.client
        try:
            used, payload = call.answer.feed(data)
        except HttpError:
            # the client judges by itself what it makes of a broken framing
            client.transport.write(head + data)
            client._end(call, "upstream_cut")
            client._drop_upstream()
            client.transport.close()
            return
        piece = b"".join(payload) if call.plain else data if used == len(data) else data[:used]
        if head or piece:
            client.transport.write(head + piece if head else piece)
        if payload:
            call.tap.response(payload, time.monotonic())
        if call.answer.done and not call.answered:
            call.answered = True
            if used < len(data):
                call.keep_upstream = False  # bytes that belong to no answer
            if call.body.done:
                client.finish(call)

    def connection_lost(self, exc: Exception | None) -> None:
        call, self.call = self.call, None
        if self.client.up is self:
            self.client.upstream_lost(call, exc)

    def pause_writing(self) -> None:
        self.congested = True
        self.client.flow()

    def resume_writing(self) -> None:
        self.congested = False
        self.client.flow()
