"""Where requests may go: a fixed table of upstreams, chosen by the first part of the path, and nowhere else."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from monitor.recorder.http1 import HttpError

#: providers known by name; each serves the paths below /NAME/
KNOWN = {
    "openai": "https://api.openai.com",
    "anthropic": "https://api.anthropic.com",
    "gemini": "https://generativelanguage.googleapis.com",
}
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}")


class UpstreamError(ValueError):
    """An upstream that cannot be used; the text is one sentence for people."""


@dataclass(frozen=True, slots=True)
class Upstream:
    """One place requests may go to. ``name`` is "" for the one that takes every path."""

    name: str
    scheme: str  # http or https
    host: str  # without brackets
    port: int
    base: str  # path in front of the client's, without a slash at its end

    @property
    def tls(self) -> bool:
        return self.scheme == "https"

    @property
    def authority(self) -> str:
        """What goes into the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (443 if self.tls else 80) else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.authority}{self.base}"

    @property
    def label(self) -> str:
        """The name for the log: the prefix, else what the host is known as, else the host."""
        if self.name:
            return self.name
        for name, url in KNOWN.items():
            if urlsplit(url).hostname == self.host:
                return name
        return self.host


def parse_upstream(text: str) -> Upstream:
    """Read ``URL``, ``NAME=URL`` or a known ``NAME``.

    Raises:
        UpstreamError: with a sentence that says what is wrong.
    """
    name, equals, url = text.partition("=")
    if not equals or "/" in name or ":" in name:
        name, url = (text, KNOWN[text]) if text in KNOWN else ("", text)
    elif not name:
        raise UpstreamError("An upstream is written as URL or NAME=URL; the name before = is missing.")
    if name and not _NAME.fullmatch(name):
        raise UpstreamError(f"The name of an upstream is made of a-z, 0-9, - and _, not {name!r}.")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise UpstreamError(f"The upstream {_shown(url)!r} is not a URL: {error}.") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        known = ", ".join(KNOWN)
        raise UpstreamError(f"The upstream {_shown(url)!r} is not an http or https URL, nor one of the names {known}.")
    if parts.username is not None or parts.password is not None:
        raise UpstreamError("Leave user names and passwords out of an upstream URL; the client sends the key.")
    if parts.query or parts.fragment:
        raise UpstreamError("Leave the part behind ? or # out of an upstream URL; the client sends it.")
    if not parts.path.isascii() or re.search(r"[\x00-\x20\x7f]", url):
        raise UpstreamError("Write other than plain ASCII characters of an upstream URL in percent notation.")
    if port is None:
        port = 443 if parts.scheme == "https" else 80
    return Upstream(name, parts.scheme, parts.hostname, port, parts.path.rstrip("/"))


def _shown(url: str) -> str:
    """What may be repeated of an upstream that is not understood: no user, password or query."""
    scheme, mark, rest = url.partition("://")
    if not mark:
        scheme, rest = "", url
    host, slash, path = rest.partition("/")
    return f"{scheme}{mark}{host.rpartition('@')[2]}{slash}{path.partition('?')[0].partition('#')[0]}"


@dataclass(frozen=True, slots=True)
class Route:
    """Where one request goes: the upstream, the target it is asked for, and the path for the log (no query)."""

    upstream: Upstream
    target: bytes
    path: str


@dataclass(slots=True)
class Routes:
    """The table: upstreams by prefix, and at most one that takes everything else."""

    named: dict[bytes, Upstream] = field(default_factory=dict)
    root: Upstream | None = None

    @classmethod
    def of(cls, upstreams: list[Upstream]) -> Routes:
        """Build the table.

        Raises:
            UpstreamError: two upstreams for the same paths.
        """
        table = cls()
        for up in upstreams:
            if up.name:
                if up.name.encode() in table.named:
                    raise UpstreamError(f"There are two upstreams called {up.name}.")
                table.named[up.name.encode()] = up
            elif table.root is not None:
                raise UpstreamError("Only one upstream can do without a name; write NAME=URL for the others.")
            else:
                table.root = up
        return table

    @property
    def all(self) -> list[Upstream]:
        return [*self.named.values(), *([self.root] if self.root else [])]

    def find(self, target: bytes) -> Route:
        """Where a request target goes.

        Raises:
            HttpError: not in origin form (this is no forward proxy), or no upstream has that path.
        """
        if target == b"*" and self.root is not None:
            return Route(self.root, b"*", "*")
        if not target.startswith(b"/"):
            raise HttpError(
                400,
                "This is a recording proxy with fixed upstreams: use it as a base URL, not as an HTTP proxy.",
                "no_proxy",
            )
        path, question, query = target.partition(b"?")
        first, slash, rest = path[1:].partition(b"/")
        upstream = self.named.get(first)
        if upstream is not None:
            path = slash + rest
        elif self.root is not None:
            upstream = self.root
        else:
            known = ", ".join(f"/{n.decode()}/" for n in self.named) or "none"
            raise HttpError(
                404, f"No upstream has this path; the base URL must begin with one of: {known}.", "no_upstream"
            )
        sent = upstream.base.encode("ascii") + path or b"/"
        return Route(upstream, sent + question + query, path.decode("ascii", "replace") or "/")
