"""Makes the lines of the ctxmon call log from what was tapped of a call. Runs in the recorder's worker thread."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs

from monitor.recorder import http1
from monitor.recorder.bodies import BodyText
from monitor.recorder.evidence import MessageDigests, digest, identifier
from monitor.recorder.found import Api, Found
from monitor.recorder.http1 import Request, Response
from monitor.recorder.pieces import CLIENT_BYTES, HEAD, REQUEST, REQUEST_GAP, RESPONSE, RESPONSE_GAP, End, Op, Settings
from monitor.recorder.request import RequestFacts, codex_metadata
from monitor.recorder.tap import ResponseTap
from monitor.recorder.upstreams import Route
from monitor.recorder.wscalls import SocketCalls

SCHEMA = "ctxmon.call/1"

_API: list[tuple[re.Pattern[str], Api, str]] = [
    (re.compile(r"/chat/completions$"), "openai-chat", "call"),
    (re.compile(r"/responses$"), "openai-responses", "call"),
    (re.compile(r"/responses/compact$"), "openai-responses", "compact"),
    (re.compile(r"/responses/input_tokens$"), "openai-responses", "count"),
    (re.compile(r"/messages$"), "anthropic", "call"),
    (re.compile(r"/messages/count_tokens$"), "anthropic", "count"),
    (re.compile(r":(?:generateContent|streamGenerateContent)$"), "gemini", "call"),
    (re.compile(r":countTokens$"), "gemini", "count"),
    (re.compile(r"/responses/[^/]+$"), "openai-responses", "fetch"),
]
_MODEL_IN_PATH = re.compile(r"/models/([^/:]+)(?::[A-Za-z]+)?$")
_SECRET_PART = re.compile(r"(?:sk-|sk_|AIza|gsk_|hf_|xai-|pplx-|key-)[A-Za-z0-9_-]{8,}|[A-Za-z0-9_-]{48,}")
_AUTH = (b"authorization", b"x-api-key", b"x-goog-api-key", b"api-key")
#: headers that name the conversation: header, field of ``session``
_SESSION_HEADERS = (
    (b"x-claude-code-session-id", "claude_session"),
    (b"x-claude-code-agent-id", "claude_agent"),
    (b"x-codex-window-id", "codex_window"),
    (b"session-id", "codex_session"),
    (b"session_id", "codex_session"),
    (b"thread-id", "codex_thread"),
    (b"conversation_id", "codex_thread"),
    (b"x-session-id", "client_session"),
    (b"x-parent-session-id", "parent_session"),
    (b"x-session-affinity", "session_affinity"),
    (b"helicone-session-id", "helicone_session"),
    (b"x-magpie-session", "magpie_session"),
)
_CLIENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.@-]*(?:/[A-Za-z0-9_.+-]+)?")

#: errors of ours after which the upstream has never seen the request
UNSENT = ("connect", "tls", "proxy")


def without_bodies(record: dict[str, Any]) -> dict[str, Any]:
    """A record with the texts left out, for when there is no room for them."""
    kept = {k: v for k, v in record.items() if k not in ("request_body", "response_body")}
    return {**kept, "bodies_truncated": True}


def api_of(path: str) -> tuple[Api, str]:
    """API and kind (call, count, compact) that a path speaks of; ``other`` for any other path."""
    for pattern, api, kind in _API:
        if pattern.search(path):
            return api, kind
    return "other", "call"


def iso(ms: int) -> str:
    """Milliseconds since the epoch as ISO 8601 in UTC."""
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def credentials(request: Request) -> list[bytes]:
    """The keys a request carries, longest first; used to keep them out of the log, and never written."""
    found = []
    for name in _AUTH:
        for value in http1.get_all(request.headers, name):
            found.append(value.split(b" ")[-1])
    query = request.target.partition(b"?")[2].decode("latin-1")
    found += [
        v.encode("latin-1") for key in ("key", "api_key", "api-key", "token") for v in parse_qs(query).get(key, [])
    ]
    return sorted({f for f in found if len(f) >= 8}, key=len, reverse=True)


def clean_path(path: str, secrets: list[bytes]) -> str:
    """A path without parts that are keys or look like one."""
    hidden = {s.decode("latin-1") for s in secrets}
    parts = path.split("/")
    return "/".join("[redacted]" if p in hidden or _SECRET_PART.fullmatch(p) else p for p in parts)[:512]


def header(request: Request, name: bytes) -> str:
    return (http1.get(request.headers, name) or b"").decode("latin-1")


class CallJob:
    """Turns the tapped pieces of one client request into lines; ``emit`` takes each finished record."""

    def __init__(
        self,
        request: Request,
        route: Route,
        wall_ms: int,
        started: float,
        settings: Settings,
        digests: MessageDigests,
        emit: Callable[[dict[str, Any]], None],
    ) -> None:
        self.request, self.route = request, route
        self.wall_ms, self.started = wall_ms, started
        self.settings, self.digests, self.emit = settings, digests, emit
        self.api, self.kind = api_of(route.path)
        if self.kind == "fetch" and request.method != b"GET":
            self.api, self.kind = "other", "call"
        self.secrets = credentials(request)
        self.response: Response | None = None
        self.first_byte: float | None = None
        self.found = Found(self.api, started)
        self.request_text = BodyText(settings.budget) if settings.bodies else None
        self.response_text = BodyText(settings.budget) if settings.bodies else None
        self.facts = RequestFacts(header(request, b"content-encoding"), digests, self.request_text, settings.room)
        self.tap: ResponseTap | None = None
        self.socket: SocketCalls | None = None  # once the connection has become a WebSocket

    def take(self, ops: list[Op]) -> None:
        """Take tapped pieces in the order they came."""
        answer: list[tuple[bytes, float]] = []
        for what, at, value in ops:
            if what == RESPONSE:
                answer.append((value, at))
                continue
            if answer:
                self._answer(answer)
                answer = []
            if what == REQUEST:
                self.facts.feed(value)
            elif what == HEAD:
                self._head(value)
            elif what == REQUEST_GAP:
                self.facts.gap()
            elif what == RESPONSE_GAP:
                self.found.lossy = True
                if self.tap is not None:
                    self.tap.gap()
                elif self.socket is not None:
                    self.socket.gap()
            elif self.socket is not None:
                self.socket.feed(what == CLIENT_BYTES, value, at)
        if answer:
            self._answer(answer)

    def _head(self, response: Response) -> None:
        self.response = response
        if response.status == 101:
            self.socket = SocketCalls(self, response)
            return
        kind = (http1.get(response.headers, b"content-type") or b"").decode("latin-1")
        encoding = b",".join(http1.get_all(response.headers, b"content-encoding")).decode("latin-1")
        self.tap = ResponseTap(self.found, kind, encoding, self.response_text, self.settings.room)

    def _answer(self, pieces: list[tuple[bytes, float]]) -> None:
        if self.first_byte is None:
            self.first_byte = pieces[0][1]
        if self.tap is not None:
            self.tap.feed(pieces)

    def finish(self, end: End) -> None:
        """The call is over: write its line, if it was a call to a model that was really sent."""
        try:
            if self.socket is not None:
                self.socket.end(end)
            else:
                self._finish(end)
        finally:
            for text in (self.request_text, self.response_text):
                if text is not None:
                    text.release()

    def _finish(self, end: End) -> None:
        self.facts.end()
        if self.tap is not None:
            self.tap.end(end.at, end.framing_complete)
        fetched = self.kind == "fetch"
        if fetched and not (self.found.response_id and self.found.usage):
            return  # still being made, or not there
        if not fetched and self.request.method != b"POST":
            return
        if self.response is None and not end.request_complete and not end.error:
            return
        if self.api == "other" and self.found.usage is None and self.facts.model is None:
            return
        self.emit(self.line(self.facts, self.found, end))

    def line(self, facts: RequestFacts, found: Found, end: End, websocket: bool = False) -> dict[str, Any]:
        """One record of the call log (docs/record.md describes every field)."""
        status = self.response.status if self.response is not None else None
        complete = end.framing_complete or found.ended
        if found.usage and found.finished and complete:
            found.usage_final = True
        path = clean_path(self.route.path, self.secrets)
        in_path = _MODEL_IN_PATH.search(path)
        api = found.api if found.api != "other" else self.api
        error = found.error if status is None or status >= 400 or found.error else None
        if error is None and status is not None and status >= 400:
            error = {"from": "upstream"}
        if end.error is not None and not (found.ended and end.error == "upstream_cut"):
            error = {"from": "upstream" if end.error.startswith("upstream") else "recorder", "type": end.error}
        compaction = facts.compaction()
        if found.applied_edits:
            compaction["applied_edits"] = found.applied_edits
        if found.compaction_items:
            compaction["items"] = found.compaction_items
        hints = facts.hints()
        retry = header(self.request, b"x-stainless-retry-count")
        if retry.isdecimal():
            hints["retry"] = int(retry)
        if found.counted_tokens is not None and self.kind == "count":
            hints["counted_tokens"] = found.counted_tokens
            if found.original_tokens is not None:
                hints["original_tokens"] = found.original_tokens
        stream = facts.value("stream")
        record: dict[str, Any] = {
            "schema": SCHEMA,
            "time": iso(self.wall_ms + round((found.started - self.started) * 1000)),
            "duration_ms": round((end.at - found.started) * 1000),
            "first_byte_ms": None if self.first_byte is None else round((self.first_byte - found.started) * 1000),
            "first_token_ms": None if found.first_token is None else round((found.first_token - found.started) * 1000),
            "upstream": self.route.upstream.label,
            "host": self.route.upstream.host,
            "method": self.request.method.decode("ascii"),
            "path": path,
            "status": status,
            "sent": end.error not in UNSENT,
            "api": api,
            "kind": self.kind,
            "stream": stream if isinstance(stream, bool) else websocket or "streamGenerateContent" in path,
            "websocket": websocket,
            "complete": complete,
            "request_complete": end.request_complete,
            "client_gone": end.client_gone,
            "error": error,
            "model": facts.model or (in_path[1] if in_path else None),
            "response_model": found.model,
            "response_id": found.response_id,
            "stop": found.stop,
            "usage": found.usage,
            "usage_start": found.usage_start,
            "usage_final": found.usage_final if found.usage else None,
            "service_tier": found.service_tier,
            "session": self._session(facts),
            "evidence": facts.digests(),
            "compaction": compaction or None,
            "hints": hints,
            "client": self._client(),
            "origin": self._origin(),
            "bytes": {"request": end.request_bytes, "response": end.response_bytes},
            "lossy": (facts.lossy or found.lossy or found.undecodable or bool(found.malformed)) or None,
        }
        if self.settings.bodies:
            self._bodies(record)
        return record

    def _session(self, facts: RequestFacts) -> dict[str, str]:
        out: dict[str, str] = {}
        for name, member in _SESSION_HEADERS:
            value = identifier(header(self.request, name))
            if value and member not in out:
                out[member] = value
        found = codex_metadata(header(self.request, b"x-codex-turn-metadata") or None)
        return {**facts.session(), **{k: v for k, v in found.items() if v}, **out}

    def _client(self) -> str | None:
        words = _CLIENT.findall(header(self.request, b"user-agent")[:200])
        return next((w[:64] for w in words if identifier(w.partition("/")[0]) and w.encode() not in self.secrets), None)

    def _origin(self) -> str | None:
        """Tells callers apart: 4 bytes of a digest of the key and the user agent; too short to lead back to a key."""
        agent = header(self.request, b"user-agent").encode("latin-1")
        mark = b"\0".join([*self.secrets, agent])
        return digest(mark)[:4].hex() if mark else None

    def _bodies(self, record: dict[str, Any]) -> None:
        assert self.request_text is not None and self.response_text is not None
        record["request_body"] = self.request_text.text(self.secrets)
        record["response_body"] = self.response_text.text(self.secrets)
        record["response_format"] = "ws" if self.socket is not None else self.tap.format if self.tap else None
        record["bodies_truncated"] = self.request_text.truncated or self.response_text.truncated
