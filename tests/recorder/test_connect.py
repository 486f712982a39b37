"""TLS is verified, always; the HTTPS proxy of the environment is a tunnel."""

from __future__ import annotations

import asyncio
import base64
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from monitor.recorder.connect import ConnectError, Connector
from monitor.recorder.upstreams import parse_upstream

from .conftest import Start, Upstream, payload, request

OPENSSL = shutil.which("openssl")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A certificate for localhost and 127.0.0.1, signed by nobody but itself; the key is beside it."""
    if OPENSSL is None:
        pytest.skip("openssl is not installed, no certificate can be made")
    folder = tmp_path_factory.mktemp("tls")
    made = subprocess.run(
        [OPENSSL, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
         "-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")],
        capture_output=True,
    )  # fmt: skip
    if made.returncode:
        pytest.skip("this openssl cannot make the certificate")
    yield folder / "cert.pem"


async def secure(certificate: Path) -> Upstream:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_name("key.pem"))
    return await Upstream().start(ssl=context)


async def test_unknown_authority_is_refused(certificate: Path, record: Start) -> None:
    upstream = await secure(certificate)
    rec = await record(upstream.url)
    got = await rec.raw(request("/v1/messages", b'{"model":"m"}'))
    assert got.startswith(b"HTTP/1.1 502 ") and b"certificate" in got
    (line,) = await rec.lines()
    assert line["sent"] is False and line["error"] == {"from": "recorder", "type": "tls"} and upstream.asked == []
    await upstream.stop()


async def test_authority_of_the_user_is_trusted(certificate: Path, record: Start) -> None:
    upstream = await secure(certificate)
    rec = await record(upstream.url, ca_file=certificate)
    body = b"x" * 3_000_000
    assert payload(await rec.raw(request("/x", body))) == b"ok" and upstream.asked[0].body == body
    await upstream.stop()


async def test_certificate_for_another_name_is_refused(
    certificate: Path, record: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    upstream = await secure(certificate)
    monkeypatch.setattr("monitor.recorder.upstreams.KNOWN", {})
    rec = await record(upstream.url.replace("127.0.0.1", "127.0.0.2"), ca_file=certificate)
    got = await rec.raw(request("/x"))
    assert got.startswith(b"HTTP/1.1 502 ") and upstream.asked == []
    await upstream.stop()


async def test_tunnel_through_the_proxy_of_the_environment(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    upstream = await secure(certificate)
    heads: list[bytes] = []

    async def tunnel(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        if b"refuse" in heads[-1]:
            writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
            writer.close()
            return
        there, out = await asyncio.open_connection("127.0.0.1", int(upstream.url.rpartition(":")[2]))
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")

        async def pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
            while data := await source.read(65536):
                sink.write(data)
            sink.close()

        await asyncio.gather(pump(reader, out), pump(there, writer))

    proxy = await asyncio.start_server(tunnel, "127.0.0.1", 0)
    port = proxy.sockets[0].getsockname()[1]
    for name in ("http_proxy", "HTTP_PROXY", "no_proxy", "NO_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTPS_PROXY", f"http://me:p%40ss@127.0.0.1:{port}")
    monkeypatch.setenv("https_proxy", f"http://me:p%40ss@127.0.0.1:{port}")
    done = asyncio.get_running_loop().create_future()

    class Answer(asyncio.Protocol):
        def data_received(self, data: bytes) -> None:
            done.set_result(data)

    connector = Connector(certificate)
    transport, _ = await connector.open(parse_upstream(f"https://localhost:{upstream.url.rpartition(':')[2]}"), Answer)
    transport.write(b"GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert (await done).endswith(b"ok")
    transport.close()
    assert heads[0].startswith(b"CONNECT localhost:") and base64.b64encode(b"me:p@ss") in heads[0]
    with pytest.raises(ConnectError) as error:
        await connector.open(parse_upstream("https://refuse.example"), Answer)
    assert error.value.kind == "proxy" and "407" in error.value.sentence
    proxy.close()
    await upstream.stop()


async def test_name_that_does_not_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(ConnectError) as error:
        await Connector(use_proxy=False).open(parse_upstream("http://no-such-host.invalid"), asyncio.Protocol)
    assert error.value.kind == "connect" and "no-such-host.invalid" in error.value.sentence


def test_certificate_file_that_is_none(tmp_path: Path) -> None:
    empty = tmp_path / "none.pem"
    empty.write_text("nothing", encoding="utf-8")
    for path in (empty, tmp_path / "missing.pem"):
        with pytest.raises(ConnectError) as error:
            Connector(path).prepare([parse_upstream("https://x.example")])
        assert path.name in error.value.sentence
