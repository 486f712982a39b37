"""Where the dashboard's data come from: a feed polled in a worker thread, one frozen snapshot per change.

The dashboard knows nothing of files and formats. It is given a :class:`Feed`, asks it in a thread of its own, and draws
what the newest :class:`Snapshot` says. Whatever goes wrong in a feed becomes a :class:`~monitor.records.Problem` on the
screen, never the end of the program.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

import msgspec

from monitor.decision.model import Decision
from monitor.records import Problem
from monitor.sessions.view import SessionView

if TYPE_CHECKING:
    from monitor.sessions.composition import Composition


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """Everything the screen may show at one moment. ``time`` is the feed's clock in milliseconds since the epoch."""

    time: int
    sessions: tuple[SessionView, ...] = ()  # newest activity first
    problems: tuple[Problem, ...] = ()
    decisions: dict[str, Decision] = msgspec.field(default_factory=dict)  # by session
    files: int = 0
    bytes_read: int = 0
    loading: bool = False  # the first reading is not finished yet
    searched: tuple[str, ...] = ()  # the places that were looked at, for the empty screen


class Feed(Protocol):
    """A source of snapshots. ``poll`` and ``wait`` are called in one worker thread, ``close`` once at the end."""

    def poll(self) -> Snapshot | None:
        """Read what is new. Returns a snapshot, or None if nothing changed since the last one."""

    def wait(self, timeout: float) -> bool:
        """Sleep until something may be new, at most ``timeout`` seconds. True if something changed."""

    def close(self) -> None:
        """Give back files and watches."""

    # A feed may also have ``explain(view) -> Decision | None``: the present decision with every row of the table
    # (:attr:`Decision.rows`), made only when somebody asks why, ``backtest(view) -> Callable[[int], str] | None``: what
    # other policies would have cost, written for a width, and ``examine(view) -> Composition | None``: what the context
    # consists of. They are called in other threads than ``poll`` and must only use the view and what never changes.


FeedFactory = Callable[[], Feed]


class FeedThread(threading.Thread):
    """Polls a feed and hands each snapshot to ``publish`` until it is stopped.

    ``publish`` is called in this thread and must be safe for that. ``failed`` gets one sentence when the feed itself
    breaks; the thread then goes on, more slowly, as a passing fault (a vanished mount) should not end a day's watch.
    """

    #: a burst of appended lines is shown in steps of this many seconds, so that drawing keeps up with reading
    STEP = 0.03
    #: the longest sleep in one piece; bounds how long stopping takes
    WAIT = 0.5
    #: after a failure
    RETRY = 2.0

    def __init__(
        self,
        factory: FeedFactory,
        publish: Callable[[Snapshot], object],
        failed: Callable[[str], object],
    ) -> None:
        super().__init__(name="ctxmon-feed", daemon=True)
        self._factory = factory
        self._publish = publish
        self._failed = failed
        self._feed: Feed | None = None
        self._stop_event = threading.Event()

    def run(self) -> None:
        """Open the feed, then poll and wait in turns."""
        feed = self._feed
        try:
            while not self._stop_event.is_set():
                try:
                    if feed is None:
                        feed = self._feed = self._factory()
                    snapshot = feed.poll()
                    if snapshot is not None and not self._stop_event.is_set():
                        self._publish(snapshot)
                        if self._stop_event.wait(self.STEP):
                            break
                    feed.wait(self.WAIT)
                except Exception as error:
                    if self._stop_event.is_set():
                        break
                    self._failed(f"reading stopped for a moment: {type(error).__name__}: {error}"[:300])
                    self._stop_event.wait(self.RETRY)
        finally:
            if feed is not None:
                feed.close()

    def explain(self, view: SessionView) -> Decision | None:
        """The present decision of a session with all rows of the table, None if the feed does not know."""
        made = getattr(self._feed, "explain", None)
        decision = made(view) if made is not None else None
        return decision if isinstance(decision, Decision) else None

    def backtest(self, view: SessionView) -> Callable[[int], str] | None:
        """What other policies would have done with a session, for a width; None if the feed cannot tell."""
        made = getattr(self._feed, "backtest", None)
        return made(view) if made is not None else None

    def examine(self, view: SessionView) -> Composition | None:
        """What the context of a session consists of; None if the feed cannot tell."""
        made = getattr(self._feed, "examine", None)
        return made(view) if made is not None else None

    def stop(self, timeout: float = 2.0) -> None:
        """Ask the thread to end and wait for it, at most ``timeout`` seconds."""
        self._stop_event.set()
        if self.is_alive() and threading.current_thread() is not self:
            self.join(timeout)


class FixedFeed:
    """A feed that says one thing and then stays silent: ``--once``, pictures, a session opened for reading."""

    def __init__(self, snapshot: Snapshot, examine: Callable[[SessionView], Composition | None] | None = None) -> None:
        self._snapshot: Snapshot | None = snapshot
        self.examine = examine or (lambda view: None)
        self._closed = threading.Event()

    def poll(self) -> Snapshot | None:
        """The snapshot at the first call, None ever after."""
        snapshot, self._snapshot = self._snapshot, None
        return snapshot

    def wait(self, timeout: float) -> bool:
        """Sleeps; nothing ever changes."""
        self._closed.wait(timeout)
        return False

    def close(self) -> None:
        """Ends a wait."""
        self._closed.set()
