"""Connections to an upstream: name, address, TLS with verification, and the HTTPS proxy of the environment."""

from __future__ import annotations

import asyncio
import base64
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from monitor.recorder.upstreams import Upstream

P = TypeVar("P", bound=asyncio.Protocol)


class ConnectError(Exception):
    """No connection: a machine word and a sentence for people."""

    def __init__(self, kind: str, sentence: str) -> None:
        super().__init__(sentence)
        self.kind = kind
        self.sentence = sentence


def tls_context(ca_file: Path | None = None) -> ssl.SSLContext:
    """A context that verifies certificates and names: the system's authorities, those of ``certifi`` where it is
    installed, SSL_CERT_FILE and SSL_CERT_DIR, and ``ca_file``. Verification cannot be switched off.

    Raises:
        OSError: ``ca_file`` cannot be read or holds no certificate.
    """
    context = ssl.create_default_context()
    try:
        import certifi

        context.load_verify_locations(certifi.where())
    except (ImportError, OSError):
        pass  # the system's own authorities do
    if ca_file is not None:
        context.load_verify_locations(str(ca_file))
    return context


class Connector:
    """Opens connections; keeps the TLS context and the proxies of the environment."""

    def __init__(self, ca_file: Path | None = None, use_proxy: bool = True) -> None:
        self._ca_file = ca_file
        self._context: ssl.SSLContext | None = None
        self._proxies = getproxies() if use_proxy else {}

    def prepare(self, upstreams: list[Upstream]) -> None:
        """Load certificates now rather than within the first call.

        Raises:
            ConnectError: the certificate file is not usable.
        """
        if not any(u.tls for u in upstreams):
            return
        try:
            self._context = tls_context(self._ca_file)
        except OSError as error:
            why = error.strerror or type(error).__name__
            raise ConnectError("tls", f"{self._ca_file}: no certificates can be read from it ({why}).") from None

    async def open(self, upstream: Upstream, factory: Callable[[], P]) -> tuple[asyncio.Transport, P]:
        """Connect to ``upstream``; there is no time limit but the system's own.

        Raises:
            ConnectError: with the reason.
        """
        loop = asyncio.get_running_loop()
        context = self._context if upstream.tls else None
        if upstream.tls and context is None:
            context = self._context = tls_context(self._ca_file)
        try:
            proxy = self._proxy_for(upstream)
            if proxy and context:
                return await self._through(proxy, upstream, context, factory)
            transport, protocol = await loop.create_connection(
                factory,
                upstream.host,
                upstream.port,
                ssl=context,
                server_hostname=upstream.host if context else None,
                # a name with a dead IPv6 address must not cost the client its patience (RFC 8305)
                happy_eyeballs_delay=0.25 if not _is_address(upstream.host) else None,
            )
            return transport, protocol
        except ssl.SSLCertVerificationError as error:
            why = error.verify_message or "verification failed"
            raise ConnectError("tls", f"The certificate of {upstream.host} was not accepted: {why}.") from None
        except ssl.SSLError as error:
            raise ConnectError(
                "tls", f"TLS with {upstream.host} failed: {error.reason or 'no reason given'}."
            ) from None
        except OSError as error:
            why = error.strerror or type(error).__name__
            raise ConnectError("connect", f"{upstream.host}:{upstream.port} cannot be reached: {why}.") from None

    def _proxy_for(self, upstream: Upstream) -> str | None:
        url = self._proxies.get(upstream.scheme) or self._proxies.get("all")
        return url if url and not proxy_bypass(upstream.host) else None

    async def _through(
        self, proxy: str, upstream: Upstream, context: ssl.SSLContext, factory: Callable[[], P]
    ) -> tuple[asyncio.Transport, P]:
        """TLS to the upstream inside a CONNECT tunnel of an HTTP proxy."""
        loop = asyncio.get_running_loop()
        parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
        if parts.scheme != "http" or not parts.hostname:
            raise ConnectError("proxy", "The HTTPS proxy of the environment is not an http:// address.")
        target = (
            f"{upstream.host}:{upstream.port}" if ":" not in upstream.host else f"[{upstream.host}]:{upstream.port}"
        )
        head = f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n"
        if parts.username is not None:
            pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            head += f"Proxy-Authorization: Basic {base64.b64encode(pair.encode()).decode()}\r\n"
        plain, waiting = await loop.create_connection(_Waiting, parts.hostname, parts.port or 80)
        try:
            plain.write(head.encode() + b"\r\n")
            status = await waiting.answer
            if not 200 <= status < 300:
                raise ConnectError(
                    "proxy", f"The HTTPS proxy of the environment answered {status} for {upstream.host}."
                )
            protocol = factory()
            secure = await loop.start_tls(plain, protocol, context, server_hostname=upstream.host)
        except BaseException:
            plain.abort()
            raise
        if secure is None:
            raise ConnectError("tls", f"TLS with {upstream.host} failed: the connection was closed.")
        protocol.connection_made(secure)
        return secure, protocol


class _Waiting(asyncio.Protocol):
    """Waits for the answer to a CONNECT; ``answer`` gives its status, 0 if the connection ended."""

    def __init__(self) -> None:
        self.answer: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._buffer = b""

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if self.answer.done() or (b"\r\n\r\n" not in self._buffer and len(self._buffer) < 65536):
            return
        words = self._buffer[:64].split(b" ", 2)
        self.answer.set_result(int(words[1]) if len(words) > 1 and words[1][:3].isdigit() else 0)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.answer.done():
            self.answer.set_result(0)


def _is_address(host: str) -> bool:
    return ":" in host or host.replace(".", "").isdigit()
