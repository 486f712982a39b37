"""Between the proxy and the log: taps that cost the traffic next to nothing, and the thread that reads them.

A tap only appends to a list; pieces go to the worker when enough of them have gathered and when the call is over. If
the worker falls behind by more than :data:`BACKLOG` bytes, the middle of bodies is left out (a call's figures stand at
its beginning and end) rather than memory being filled or traffic held up. Whatever goes wrong here ends here.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

from monitor.recorder.evidence import MessageDigests
from monitor.recorder.http1 import Request, Response
from monitor.recorder.logfile import CallLog
from monitor.recorder.pieces import (
    CLIENT_BYTES,
    HEAD,
    REQUEST,
    REQUEST_GAP,
    RESPONSE,
    RESPONSE_GAP,
    UPSTREAM_BYTES,
    End,
    Op,
    Settings,
)
from monitor.recorder.record import CallJob, without_bodies
from monitor.recorder.upstreams import Route

BATCH = 256 * 1024  # bytes gathered before they go to the worker
KEPT = 64 * 1024  # the last bytes of what cannot be handed over
BACKLOG = 48 * 1024 * 1024  # bytes the worker may be behind
HELD = 32  # lines that may be kept for a moment while the worker is busy
TUNNEL_DELAY_S = 0.005  # pieces of an upgraded connection gather this long
_OP_COST = 120  # what an entry costs beside its bytes


class Capture:
    """The tap of one call. No method raises or waits."""

    __slots__ = ("_dead", "_job", "_ops", "_received", "_recorder", "_sent", "_size", "_timer", "client_gone")

    def __init__(self, recorder: Recorder, job: CallJob | None) -> None:
        self._recorder = recorder
        self._job = job
        self._dead = job is None
        self._ops: list[Op] = []
        self._size = 0
        self._sent = self._received = 0
        self._timer: asyncio.TimerHandle | None = None
        self.client_gone = False

    def request(self, payload: list[bytes], done: bool) -> None:
        """Bytes of the request's body went to the upstream."""
        for piece in payload:
            self._sent += len(piece)
            self._add(REQUEST, 0.0, piece, len(piece))

    def head(self, response: Response, now: float) -> None:
        """The head of the answer came at ``now`` (monotonic seconds)."""
        self._add(HEAD, now, response, 1024)

    def response(self, payload: list[bytes], now: float) -> None:
        """Bytes of the answer's body went to the client."""
        data = b"".join(payload) if len(payload) > 1 else payload[0]
        self._received += len(data)
        self._add(RESPONSE, now, data, len(data))

    def tunnel(self, from_client: bool, data: bytes) -> None:
        """Bytes of an upgraded connection passed."""
        if from_client:
            self._sent += len(data)
        else:
            self._received += len(data)
        self._add(CLIENT_BYTES if from_client else UPSTREAM_BYTES, time.monotonic(), data, len(data))
        if self._timer is None and not self._dead:  # a call inside a WebSocket ends without the connection ending
            self._timer = asyncio.get_running_loop().call_later(TUNNEL_DELAY_S, self._tick)

    def finish(self, error: str | None, request_complete: bool, framing_complete: bool) -> None:
        """The call is over."""
        if self._dead or self._job is None:
            return
        if self._timer is not None:
            self._timer.cancel()
        end = End(
            time.monotonic(),
            error,
            self.client_gone,
            request_complete,
            framing_complete,
            self._sent,
            self._received,
        )
        if self._size > KEPT and not self._recorder.has_room(self._size):
            self._shorten()
        self._recorder.submit(self._job, self._ops, self._size, end)
        self._ops, self._dead, self._job = [], True, None

    def _add(self, what: int, at: float, value: Any, size: int) -> None:
        if self._dead:
            return
        self._ops.append((what, at, value))
        self._size += size + _OP_COST
        if self._size > BATCH:
            self._flush()

    def _tick(self) -> None:
        self._timer = None
        if self._ops:
            self._flush()

    def _flush(self) -> None:
        if self._job is not None and self._recorder.has_room(self._size):
            self._recorder.submit(self._job, self._ops, self._size, None)
            self._ops, self._size = [], 0
        elif self._size > 2 * BATCH:
            self._shorten()

    def _shorten(self) -> None:
        """Keep heads and the last pieces; mark where something is missing."""
        kept: list[Op] = []
        size, missing = 0, set()
        for op in reversed(self._ops):
            cost = _OP_COST + (len(op[2]) if isinstance(op[2], bytes) else 0)
            if op[0] in (HEAD, REQUEST_GAP, RESPONSE_GAP) or size + cost <= KEPT:
                kept.append(op)
                size += cost
            else:
                missing.add(op[0])
        kept.reverse()
        if REQUEST in missing:
            kept.insert(0, (REQUEST_GAP, 0.0, b""))
        if missing - {REQUEST}:
            first = next((i for i, op in enumerate(kept) if op[0] in (RESPONSE, UPSTREAM_BYTES)), len(kept))
            kept.insert(first, (RESPONSE_GAP, 0.0, b""))
        self._ops, self._size = kept, size
        self._recorder.note_shortened(self)


class Recorder:
    """Owns the worker thread and hands its lines to the log. ``warn`` gets a sentence, once per kind of trouble."""

    def __init__(
        self,
        log: CallLog,
        warn: Callable[[str], None],
        settings: Settings | None = None,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._log = log
        self._warn = warn
        self._settings = settings or Settings()
        self._wall = wall
        self._digests = MessageDigests()
        self._queue: SimpleQueue[tuple[CallJob, list[Op], int, End | None] | None] = SimpleQueue()
        # written by one thread each, read by both
        self._put = 0
        self._done = 0
        self._held = 0  # lines the log was told to wait with
        self._said: set[str] = set()
        self.calls = 0  # lines made
        self._thread = threading.Thread(target=self._run, name="ctxmon-record", daemon=True)
        self._thread.start()

    def begin(self, request: Request, route: Route) -> Capture:
        """A tap for a request that has just come."""
        try:
            job = CallJob(
                request,
                route,
                int(self._wall() * 1000),
                time.monotonic(),
                self._settings,
                self._digests,
                self._emit,
            )
        except Exception as error:
            self._trouble(error)
            return Capture(self, None)
        return Capture(self, job)

    def has_room(self, size: int) -> bool:
        """Whether the worker is near enough to be given ``size`` more bytes."""
        return self._put - self._done + size <= BACKLOG

    def submit(self, job: CallJob, ops: list[Op], size: int, end: End | None) -> None:
        """Hand pieces of a call to the worker; ``end`` with the last of them."""
        self._put += size
        self._queue.put((job, ops, size, end))

    def note_shortened(self, capture: Capture) -> None:
        """Say once that details of calls are being left out."""
        self._once(
            "behind",
            "The recorder cannot keep up; parts of large bodies are not looked at (the traffic is not affected).",
        )

    def close(self, timeout: float = 10.0) -> bool:
        """Write what has come and end the worker and the log. False if that took longer than ``timeout`` seconds."""
        self._queue.put(None)
        until = time.monotonic() + timeout
        self._thread.join(timeout)
        return self._log.close(max(0.1, until - time.monotonic())) and not self._thread.is_alive()

    def _run(self) -> None:
        while (item := self._queue.get()) is not None:
            job, ops, size, end = item
            # a fault in reading a call must end neither the recording of others nor lose this one's line
            try:
                job.take(ops)
            except Exception as error:
                job.found.lossy = True
                self._trouble(error)
            if end is not None:
                try:
                    job.finish(end)
                except Exception as error:
                    self._trouble(error)
            if self._held and self._queue.empty():
                self._held = 0
                self._log.wake()
            self._done += size
            del item, job, ops  # hold nothing while waiting

    def _emit(self, record: dict[str, Any]) -> None:
        self.calls += 1
        # while other calls wait to be read, lines go to the log in groups
        self._held = self._held + 1 if self._held < HELD and not self._queue.empty() else 0
        self._log.write(record, without_bodies(record) if self._settings.bodies else None, more=self._held > 0)

    def _trouble(self, error: Exception) -> None:
        name = type(error).__name__
        self._once("fault", f"A call could not be read for the log ({name}); the traffic is not affected.")

    def _once(self, kind: str, sentence: str) -> None:
        if kind not in self._said:
            self._said.add(kind)
            self._warn(sentence)
