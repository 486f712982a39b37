"""The feed of the real thing: follow files, keep sessions, decide. See :mod:`monitor.dashboard.feed`."""

from __future__ import annotations

import os
import time
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import msgspec

from monitor.dashboard.feed import Snapshot
from monitor.dashboard.piped import PipedLog
from monitor.dashboard.terminal import piped
from monitor.decision import decide
from monitor.decision.model import Decision
from monitor.readers.base import DEFAULT_OPTIONS, ReadOptions
from monitor.records import Problem
from monitor.sessions.build import Settings
from monitor.sessions.filter import Wanted, narrow
from monitor.sessions.store import Store
from monitor.sessions.view import SessionView
from monitor.sources.address import AddressFollower
from monitor.sources.discovery import agent_folders
from monitor.sources.follow import Follower

if TYPE_CHECKING:
    from monitor.sessions.composition import Composition

#: the advice of a session depends on the time (a cache grows cold): it is looked at anew this often (ms)
_AGAIN = 5_000
#: how often the user's own history is asked how far forecasts are off (ms)
_LEARN = 10 * 60_000
#: seconds between looks at a pipe
_PIPE_S = 0.05
#: seconds between two steps of packing what is old
_TIDY_S = 0.05
#: so many of the latest records of a session stay as they are, older ones are packed
_HOT = 4_096
#: so many of the latest turns are looked at when a context is taken apart
_EXAMINED = 4_000
#: of so many of the newest sessions
_NEWEST = 5
#: after so long without a call (ms) nothing of a session grows cold any more, and a look now and then is enough
_ASLEEP, _RARELY = 2 * 3_600_000, 60_000


class LiveFeed:
    """Sessions of files that are followed.

    Args:
        paths: what to follow; empty: the agents' own folders.
        settings: prices and limits.
        clock: milliseconds since the epoch.
    """

    def __init__(
        self,
        paths: Sequence[str],
        *,
        options: ReadOptions = DEFAULT_OPTIONS,
        settings: Settings | None = None,
        wanted: Wanted | None = None,
        threshold: int | None = 100_000,
        polling: bool | None = None,
        begun: bool = False,
        once: bool = False,
        clock: Callable[[], int] = lambda: int(time.time() * 1000),
    ) -> None:
        names = [str(path) for path in paths] or [str(folder) for folder in agent_folders()]
        self.searched = tuple(names)
        self.settings = settings or Settings()
        self.wanted = wanted or Wanted()
        self.threshold = threshold
        # with a choice of calls every turn is looked at again and again, so that none may be packed
        whole = self.wanted.since is None and self.wanted.until is None and self.wanted.model is None
        self.store = Store(self.settings, detail=options.detail, hot=_HOT if whole else None)
        self.store.later = True
        self.store.session_by = options.session_by
        pipe = piped() if "-" in names else None
        self._piped = PipedLog(pipe, options) if pipe is not None else None
        self.addresses = [AddressFollower(name, options) for name in names if "://" in name]
        files = [name for name in names if name != "-" and "://" not in name]
        self.follower = Follower(files, options, polling=polling, begun=begun, once=once)
        self.decisions: dict[str, Decision] = {}
        self._clock = clock
        self._decided = 0
        self._learned: int | None = None
        self._first = True
        self._was_loading = False
        self._problems: tuple[Problem, ...] = ()
        self._unread: tuple[Problem, ...] = ()
        self._views: tuple[SessionView, ...] = ()
        self._decided_at: dict[str, int] = {}
        self._rarely = 0

    def poll(self) -> Snapshot | None:
        """Read what is new; None if nothing changed and no advice is due."""
        batches = [*self.follower.poll(), *(address.poll() for address in self.addresses)]
        if self._piped is not None:
            batches.append(self._piped.poll())
        told = [batch for batch in batches if batch is not None]
        for batch in told:
            self.store.apply(batch)
        if told:
            self._unread = tuple(self.store.problems())
        now = self._clock()
        loading = self.follower.loading or (self._piped is not None and self._piped.loading)
        changed = self.store.refresh()
        learned = False
        if not loading and (self._learned is None or now - self._learned >= _LEARN):
            self._learned = now
            learned = self.store.learn()
        problems = (*self.follower.problems, *self._unread)
        due = now - self._decided >= _AGAIN
        if not (changed or due or learned or self._first or loading != self._was_loading or problems != self._problems):
            return None
        if told or changed or learned or self._first:
            self._views = tuple(narrow(self.store.views(), self.wanted))
            again = {view.session for view in (self._views if learned else changed)}
            asked = [view for view in self._views if view.session in again or view.session not in self.decisions]
        else:
            again, asked = set(), []
        if due or self._first:
            self._decided = now
            asked += [view for view in self._views[:_NEWEST] if view.session not in again and self._wakes(view, now)]
            if now - self._rarely >= _RARELY:
                self._rarely = now
        advised = False
        for view in asked:
            before = self.decisions.get(view.session)
            taken = self.decisions[view.session] = decide(
                view, now_ms=now, prices=self.settings.prices, threshold=self.threshold, previous=before
            )
            self._decided_at[view.session] = now
            advised = advised or taken != before
        quiet = not (changed or learned or self._first) and loading == self._was_loading and problems == self._problems
        self._first, self._was_loading, self._problems = False, loading, problems
        if quiet and not advised:
            return None
        return Snapshot(
            time=now,
            sessions=self._views,
            problems=problems,
            decisions=dict(self.decisions),
            files=len(self.follower.tails),
            bytes_read=self.follower.bytes_read,
            loading=loading,
            searched=self.searched,
        )

    def _wakes(self, view: SessionView, now: int) -> bool:
        """Whether time alone may change the advice for a session by now."""
        return view.last is None or now - view.last < _ASLEEP or now - self._rarely >= _RARELY

    def explain(self, view: SessionView) -> Decision | None:
        """The decision as it was taken, with the outcome of every row of the table. Safe in any thread."""
        taken = self.decisions.get(view.session)
        if taken is None:
            return None
        return decide(
            view,
            now_ms=self._decided_at.get(view.session, self._decided),
            prices=self.settings.prices,
            threshold=self.threshold,
            previous=taken,
            explain=True,
        )

    def backtest(self, view: SessionView) -> Callable[[int], str] | None:
        """What other policies would have done with a session, as ``ctxmon backtest`` says it; None if too short.

        The answer is a function that writes it for a width.

        Safe in any thread. May take seconds for a long session.
        """
        from monitor.decision.backtest import backtest
        from monitor.decision.history import actual_sum, policy_sums
        from monitor.decision.simulate import Assumptions, own_after_size
        from monitor.reports import backtest_text

        assumptions = Assumptions(after_tokens=own_after_size([view]))
        tested = backtest([view], prices=self.settings.prices, threshold=self.threshold, assumptions=assumptions)
        if not tested:
            return None
        told = (tested, actual_sum(tested), policy_sums(tested), None, assumptions, "built-in", self.threshold)
        return lambda width: backtest_text.text(*told, width=width)

    def examine(self, view: SessionView) -> Composition | None:
        """What the context of a session consists of, None if its file holds no texts. Safe in any thread.

        Takes a second and about one more for ten megabytes of texts, in a process of its own.
        """
        last = view.last_turn
        if last is None or not os.path.isfile(last.call.file):
            return None
        from monitor.dashboard.aside import aside
        from monitor.sessions.composition import examine

        # earlier turns only help to fit a line; the sums and lists of the view are not looked at
        place = bisect_right(view.turns, last.index, key=lambda turn: turn.index)
        turns = view.turns[max(0, place - _EXAMINED) : place]
        small = msgspec.structs.replace(view, turns=turns, events=(), buckets=(), steps=(), compaction_costs=())
        return aside(examine, small)

    def wait(self, timeout: float) -> bool:
        """Sleep until a file may have changed, or something may have come through the pipe; or tidy up a little."""
        if self.store.tidy():
            timeout = min(timeout, _TIDY_S)
        piping = self._piped is not None and self._piped.loading
        return self.follower.wait(min(timeout, _PIPE_S) if piping else timeout)

    def close(self) -> None:
        """End following."""
        self.follower.close()
        for address in self.addresses:
            address.close()
