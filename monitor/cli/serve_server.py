"""The web server of `ctxmon serve`: textual-serve with a page that asks nobody else for anything, and a door.

Whoever reaches the page sees the logs. Listening on loopback keeps other machines out, but not other pages in the same
browser: they may open a connection to 127.0.0.1, too, or give it a name of their own. So the address must be ours and
the page that asks must be the one served here.
"""

from __future__ import annotations

import logging
from pathlib import Path

from aiohttp import web
from textual_serve.server import Server

TEMPLATES = Path(__file__).resolve().parent.parent / "data" / "serve"
#: dashboards at once; each is a process of its own
MOST_WINDOWS = 8


class Door(Server):
    """Serves the dashboard to pages of this server only."""

    def __init__(self, command: str, host: str, port: int) -> None:
        super().__init__(command, host=host, port=port, title="ctxmon", templates_path=TEMPLATES)
        self.windows = 0

    def initialize_logging(self) -> None:
        """Only what went wrong is told, on stderr."""
        logging.basicConfig(level=logging.WARNING, format="ctxmon serve: %(message)s")
        logging.getLogger("aiohttp.access").disabled = True

    async def on_startup(self, app: web.Application) -> None:
        """Nothing is printed on stdout."""

    def check(self, request: web.Request) -> None:
        """Let in only requests to our own address, from our own page.

        Raises:
            web.HTTPForbidden: the request was sent by another page or under another name.
        """
        own = self.public_url.partition("://")[2]
        origin = request.headers.get("Origin")
        if request.host != own or (origin is not None and origin != self.public_url):
            raise web.HTTPForbidden(text=f"This is open on {self.public_url} only, for its own page.\n")

    async def handle_index(self, request: web.Request) -> web.StreamResponse:
        """The page. The usual other name of this machine leads to it."""
        if request.host == f"localhost:{self.port}":
            raise web.HTTPFound(self.public_url + "/")
        self.check(request)
        answer: web.StreamResponse = await super().handle_index(request)
        socket = "ws" + self.public_url.removeprefix("http")
        answer.headers["Content-Security-Policy"] = (
            "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; font-src 'self'; "
            f"img-src 'self' data:; connect-src 'self' {socket}; frame-ancestors 'none'; form-action 'none'"
        )
        answer.headers["Cache-Control"] = "no-store"
        answer.headers["X-Content-Type-Options"] = "nosniff"
        return answer

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        """One window: a dashboard of its own."""
        self.check(request)
        if self.windows >= MOST_WINDOWS:
            raise web.HTTPServiceUnavailable(text=f"{MOST_WINDOWS} windows are open; close one of them.\n")
        self.windows += 1
        try:
            return await super().handle_websocket(request)
        finally:
            self.windows -= 1

    async def handle_download(self, request: web.Request) -> web.StreamResponse:
        """A file the dashboard hands over."""
        self.check(request)
        return await super().handle_download(request)


def make(command: str, host: str, port: int) -> Door:
    """A server that runs ``command`` for each window; ``serve()`` runs it until it is interrupted."""
    return Door(command, host, port)
