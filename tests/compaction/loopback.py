"""A model provider on loopback for tests: answers a script of replies, remembers every request."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

GOOD = """\
## Goal
- Double counting in the nightly batch is to end.
## Progress
- The join key was changed and the tests pass.
## Facts
- The cause was that the join used sku only.
## Decisions
- The key is (sku, lot), because GROUP BY takes 40 分.
## Next steps
- Write the report, then make lint pass.
"""


def chat(text: str | None, finish: str = "stop", **message: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": {"role": "assistant", "content": text, **message}, "finish_reason": finish}],
            "usage": {"prompt_tokens": 1000, "completion_tokens": 100, "prompt_tokens_details": {"cached_tokens": 200}}}  # fmt: skip


def responses(text: str | None, status: str = "completed", items: list[Any] | None = None) -> dict[str, Any]:
    message = (
        [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}]
        if text is not None
        else []
    )
    return {"status": status, "output": (items or []) + message, "usage": {"input_tokens": 1000, "output_tokens": 100}}


def anthropic(text: str | None, stop: str = "end_turn", blocks: list[Any] | None = None) -> dict[str, Any]:
    return {"content": (blocks or []) + ([{"type": "text", "text": text}] if text is not None else []), "stop_reason": stop,
            "usage": {"input_tokens": 700, "cache_read_input_tokens": 300, "cache_creation_input_tokens": 0, "output_tokens": 100}}  # fmt: skip


class Reply:
    """An answer: a JSON value, or bytes; with a status, headers, or a connection that is cut."""

    def __init__(
        self,
        body: Any = None,
        status: int = 200,
        headers: dict[str, str] | None = None,
        cut: bool = False,
        wait: float = 0,
    ) -> None:
        self.body, self.status, self.headers, self.cut, self.wait = body, status, headers or {}, cut, wait


class Provider:
    """``replies`` are given in turn, the last one again and again; ``seen`` holds (path, headers, body)."""

    def __init__(self, replies: list[Any]) -> None:
        self.replies = [r if isinstance(r, Reply) else Reply(r) for r in replies]
        self.seen: list[tuple[str, dict[str, str], Any]] = []
        self.url = ""
        self.released = threading.Event()

    def next(self) -> Reply:
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]


@contextmanager
def provider(*replies: Any) -> Iterator[Provider]:
    """A provider that answers with ``replies``, at ``provider.url``."""
    made = Provider(list(replies))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers.get("content-length", 0)))
            made.seen.append((self.path, {k.lower(): v for k, v in self.headers.items()}, json.loads(data)))
            reply = made.next()
            body = reply.body(made.seen[-1][2]) if callable(reply.body) else reply.body
            data = body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode()
            if reply.wait:
                made.released.wait(reply.wait)
            self.send_response(reply.status)
            self.send_header("content-type", "application/json")
            for k, v in reply.headers.items():
                self.send_header(k, v)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data[: len(data) // 2] if reply.cut else data)
            if reply.cut:
                self.close_connection = True

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    made.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        made.released.set()
        server.shutdown()
        server.server_close()
        thread.join(5)
