from __future__ import annotations

import pytest

from monitor.recorder.http1 import HttpError
from monitor.recorder.upstreams import Routes, UpstreamError, parse_upstream


@pytest.mark.parametrize(
    ("text", "name", "url", "label"),
    [
        ("https://api.anthropic.com", "", "https://api.anthropic.com", "anthropic"),
        ("https://api.openai.com/", "", "https://api.openai.com", "openai"),
        ("http://127.0.0.1:11434/v1/", "", "http://127.0.0.1:11434/v1", "127.0.0.1"),
        ("http://[::1]:80/x", "", "http://[::1]/x", "::1"),
        ("local=http://127.0.0.1:1", "local", "http://127.0.0.1:1", "local"),
        ("gemini", "gemini", "https://generativelanguage.googleapis.com", "gemini"),
    ],
)
def test_forms(text: str, name: str, url: str, label: str) -> None:
    up = parse_upstream(text)
    assert (up.name, up.url, up.label) == (name, url, label)


@pytest.mark.parametrize(
    "text",
    ["ftp://x", "anthropics", "https://", "https://user:pw@x.example", "https://x.example/?a=b", "https://x.example/#f",
     "Big=https://x.example", "https://x.example:port", "https://x.example/\u00fc", "https://x.example/a b", "=https://x"],
)  # fmt: skip
def test_what_cannot_be_used_is_said(text: str) -> None:
    with pytest.raises(UpstreamError) as error:
        parse_upstream(text)
    assert str(error.value).endswith(".") and "pw" not in str(error.value)


def test_two_of_a_kind_are_refused() -> None:
    with pytest.raises(UpstreamError):
        Routes.of([parse_upstream("a=http://x"), parse_upstream("a=http://y")])
    with pytest.raises(UpstreamError):
        Routes.of([parse_upstream("http://x"), parse_upstream("http://y")])


@pytest.mark.parametrize(
    ("target", "sent", "path"),
    [
        (b"/v1/messages?beta=true", b"/v1/messages?beta=true", "/v1/messages"),
        (b"/", b"/", "/"),
        (b"/?x", b"/?x", "/"),
        (b"/named/v1/x?y=%2F", b"/base/v1/x?y=%2F", "/v1/x"),
        (b"/named", b"/base", "/"),
        (b"/named?q", b"/base?q", "/"),
        (b"/namedx/y", b"/namedx/y", "/namedx/y"),
        (b"//named/x", b"//named/x", "//named/x"),
        (b"*", b"*", "*"),
    ],
)
def test_routes(target: bytes, sent: bytes, path: str) -> None:
    routes = Routes.of([parse_upstream("http://root.example"), parse_upstream("named=http://other.example/base")])
    route = routes.find(target)
    assert (route.target, route.path) == (sent, path)
    assert route.upstream.host == ("other.example" if sent.startswith(b"/base") else "root.example")


@pytest.mark.parametrize("target", [b"http://evil.example/x", b"evil.example:443", b"*", b"/other/x"])
def test_nothing_else_is_reachable(target: bytes) -> None:
    with pytest.raises(HttpError):
        Routes.of([parse_upstream("named=http://x.example")]).find(target)
