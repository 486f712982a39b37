"""Calls inside a WebSocket: the Responses API takes ``response.create`` messages and answers with stream events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from monitor.recorder import http1
from monitor.recorder.bodies import BodyText
from monitor.recorder.evidence import MessageDigests, decode
from monitor.recorder.found import Found, absorb
from monitor.recorder.http1 import Response
from monitor.recorder.pieces import End, Settings
from monitor.recorder.request import RequestFacts
from monitor.recorder.ws import FrameTap


class Job(Protocol):
    """The call that became a WebSocket, as far as the calls inside it need it: what is known of the connection, where
    their texts and times are noted, and who writes their lines.
    """

    settings: Settings
    digests: MessageDigests
    first_byte: float | None
    request_text: BodyText | None
    response_text: BodyText | None
    emit: Callable[[dict[str, Any]], None]  # takes a finished record

    def line(self, facts: RequestFacts, found: Found, end: End, websocket: bool = False) -> dict[str, Any]:
        """The record of one call."""


class SocketCalls:
    """Follows both directions of one connection and has the job write a line per answered ``response.create``."""

    def __init__(self, job: Job, response: Response) -> None:
        extensions = b",".join(http1.get_all(response.headers, b"sec-websocket-extensions")).lower()
        deflate = b"permessage-deflate" in extensions
        self._job = job
        self._client = FrameTap(self._asked, deflate)
        self._upstream = FrameTap(self._answered, deflate)
        self._facts: RequestFacts | None = None
        self._found: Found | None = None
        self._at = 0.0
        self._sizes = [0, 0]

    def feed(self, from_client: bool, data: bytes, at: float) -> None:
        """Take bytes of one direction, received at ``at`` (monotonic)."""
        self._at = at
        (self._client if from_client else self._upstream).feed(data)

    def gap(self) -> None:
        """Bytes are missing: frames cannot be told apart any more."""
        self._client.broken = self._upstream.broken = True

    def _asked(self, text: bytes) -> None:
        if b"response.create" not in text[:4096] and b"response.create" not in text[-4096:]:
            return
        try:
            message = decode(text)
        except (ValueError, RecursionError):
            return
        if not isinstance(message, dict) or message.get("type") != "response.create":
            return
        if self._found is not None:  # asked again without an answer to the first
            self._emit(complete=False)
        job = self._job
        self._found = Found("openai-responses", self._at)
        self._facts = RequestFacts("", job.digests, None)
        self._facts.load(text)
        self._sizes = [len(text), 0]
        job.first_byte = None
        if job.settings.bodies:
            for kept in (job.request_text, job.response_text):
                if kept is not None:
                    kept.release()
            job.request_text, job.response_text = BodyText(job.settings.budget), BodyText(job.settings.budget)
            job.request_text.add(text)

    def _answered(self, text: bytes) -> None:
        found, job = self._found, self._job
        if found is None:
            return
        self._sizes[1] += len(text)
        if job.first_byte is None:
            job.first_byte = self._at
        if job.response_text is not None:
            job.response_text.add(text + b"\n")
        if found.first_token is not None and b'.delta"' in text[:80]:
            return
        try:
            event: Any = decode(text)
        except (ValueError, RecursionError):
            found.malformed += 1
            return
        if isinstance(event, dict):
            absorb(found, event, self._at, streamed=True)
            if found.ended or found.error is not None:
                self._emit(complete=True)

    def end(self, end: End) -> None:
        """The connection is closed; what was not answered is recorded as it is."""
        if self._found is not None:
            self._emit(complete=False, end=end)

    def _emit(self, complete: bool, end: End | None = None) -> None:
        assert self._found is not None and self._facts is not None
        client_gone, error = (end.client_gone, end.error) if end else (False, None)
        if not complete and error is None and not client_gone:
            error = "upstream_cut"
        over = End(self._at, error, client_gone, True, complete, self._sizes[0], self._sizes[1])
        self._job.emit(self._job.line(self._facts, self._found, over, websocket=True))
        self._facts = self._found = None
