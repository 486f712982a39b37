"""What is being looked at: session, line, cursor, window, order — and every move a key or the mouse can make.

The desk knows sizes but no widgets. Screens call its methods and then draw what it says.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo
from typing import NamedTuple

from monitor.dashboard.feed import Snapshot
from monitor.dashboard.model.call_list import FILTERS, EventList, TurnList
from monitor.dashboard.model.call_list import SORTS as TURN_SORTS
from monitor.dashboard.model.curve import MAIN, Curve, choices
from monitor.dashboard.model.session_list import SORTS, SessionList, find_session
from monitor.dashboard.model.sight import Sight
from monitor.dashboard.model.state import ViewState
from monitor.dashboard.model.window import Window
from monitor.decision.model import Decision
from monitor.records import Problem
from monitor.sessions.view import SessionView, Turn

_KEPT_CURVES = 4
#: with nothing newer than this, a fresh start shows the session that was looked at last time
_RECENT_MS = 3_600_000


class Advice(NamedTuple):
    """A session whose advice changed, with the old and the new action."""

    view: SessionView
    before: str
    after: str


class Desk:
    """The newest snapshot, the session being looked at, its curve and its tables."""

    def __init__(
        self,
        state: ViewState | None = None,
        *,
        session: str | None = None,
        call: int | None = None,
        zone: tzinfo | None = None,
        glyphs: bool = False,
    ) -> None:
        state = state or ViewState()
        self.zone = zone
        self.glyphs = glyphs
        self.snapshot: Snapshot | None = None
        self.pending: Snapshot | None = None
        self.paused = False
        self.failures: list[Problem] = []
        self.sessions = SessionList()
        self.turns = TurnList(zone)
        self.events = EventList(zone)
        self.session_sort = state.sort if state.sort in SORTS else SORTS[0]
        self.turn_sort = state.turn_sort if state.turn_sort in TURN_SORTS else TURN_SORTS[0]
        self.turn_filter = FILTERS[0]
        self.filter_text = ""
        self.elapsed_ms = 0  # since the snapshot was made
        self.newest = False  # always look at the session that was active last
        self.sight = Sight(level=state.level, share=state.share, mode=state.scale)
        self._session = ""
        self._wanted = session or ""
        self._wanted_call = call
        self._settled = False
        self._remembered = state.session
        self._curves: dict[tuple[str, str], Curve] = {}

    # what there is -----------------------------------------------------------------------------------------------

    @property
    def view(self) -> SessionView | None:
        """The session being looked at."""
        return self.sight.curve.view

    @property
    def choice(self) -> str:
        """The line of context being drawn."""
        return self.sight.curve.choice

    @property
    def decision(self) -> Decision | None:
        """The advice for the session being looked at."""
        return self.snapshot.decisions.get(self._session) if self.snapshot else None

    @property
    def turn(self) -> Turn | None:
        """The call under the cursor."""
        return self.sight.turn

    @property
    def now(self) -> int:
        """The feed's clock, moved on by what passed since."""
        return self.snapshot.time + self.elapsed_ms if self.snapshot else 0

    @property
    def loading(self) -> bool:
        """Whether the first reading still runs."""
        return self.snapshot is None or self.snapshot.loading

    @property
    def all_problems(self) -> tuple[Problem, ...]:
        """What could not be read, and what went wrong in the feed itself."""
        read = self.snapshot.problems if self.snapshot else ()
        return (*self.failures, *read)

    # what comes in -----------------------------------------------------------------------------------------------

    def apply(self, snapshot: Snapshot) -> list[Advice]:
        """Take over a snapshot; while paused it is only kept. Returns the sessions whose advice changed."""
        if self.paused:
            self.pending = snapshot
            return []
        before = self.snapshot
        self.snapshot = snapshot
        self.elapsed_ms = 0
        self._list_sessions()
        view = self._choose()
        if view is not None:
            self._take(view)
        if before is None or before.loading:  # what is said of half a history is no advice
            return []
        changed = []
        for one in snapshot.sessions:
            old, new = before.decisions.get(one.session), snapshot.decisions.get(one.session)
            if old is not None and new is not None and old.action != new.action:
                changed.append(Advice(one, old.action, new.action))
        return changed

    def tick(self, elapsed_ms: int) -> None:
        """Time passed and nothing came in: only ages change."""
        self.elapsed_ms = elapsed_ms
        self.sessions.tick(self.now)

    def fail(self, sentence: str) -> None:
        """A failure of the feed; the newest three are kept."""
        if not self.failures or self.failures[-1].reason != sentence:
            self.failures = [*self.failures, Problem("(feed)", None, sentence)][-3:]

    def _list_sessions(self) -> None:
        snapshot = self.snapshot
        if snapshot is not None:
            self.sessions.update(
                snapshot.sessions, snapshot.decisions, snapshot.time, self.filter_text, self.session_sort
            )

    def _choose(self) -> SessionView | None:
        """The session to look at: the one in use, else the wanted, the remembered, the newest."""
        assert self.snapshot is not None
        sessions = self.snapshot.sessions
        if not sessions:
            return None
        if self._wanted and (view := find_session(sessions, self._wanted)):
            self._wanted = ""
            self._settled = True
            return view
        if self.newest:
            return sessions[0]
        if self._wanted and not self.snapshot.loading:
            self.fail(f"no session, or more than one, begins with {self._wanted!r}; the newest is shown")
            self._wanted = ""
        if not self._settled:
            # what is read first is not what matters most: until all is read, or somebody chooses, the newest is shown
            self._settled = not self.snapshot.loading
            return self._first_choice(sessions)
        current = next((view for view in sessions if view.session == self._session), None)
        return current if current is not None else self._first_choice(sessions)

    def _first_choice(self, sessions: Sequence[SessionView]) -> SessionView:
        """The remembered session, unless something newer is running: that is what a fresh start is about."""
        remembered = find_session(sessions, self._remembered)
        newest = sessions[0]
        if remembered is not None and (newest.last is None or self.now - newest.last > _RECENT_MS):
            return remembered
        return newest

    def _take(self, view: SessionView) -> None:
        """Bring curve, cursor and tables to the state of a session."""
        sight = self.sight
        choice = sight.curve.choice
        if view.session != self._session:
            first = not self._session
            self._session = view.session
            choice = MAIN
            if not first:
                sight.reset()
            sight.follow = True
        available = choices(view)
        if choice not in available:
            choice = available[0]
        self._draw(view, choice)
        if self._wanted_call is not None:
            wanted, self._wanted_call = self._wanted_call, None
            sight.point_at_index(wanted)
        self._list_turns()

    def _draw(self, view: SessionView, choice: str) -> None:
        """Make the sight show this line of this session; the cursor stays at its call where it can."""
        sight = self.sight
        key = (view.session, choice)
        curve = self._curves.pop(key, None) or Curve(view.session, choice)
        self._curves[key] = curve
        while len(self._curves) > _KEPT_CURVES:
            self._curves.pop(next(iter(self._curves)))
        at = sight.turn.index if sight.turn is not None and not sight.follow else None
        if curve.view is not view:
            curve.update(view)
        sight.curve = curve
        if at is None or not len(curve):
            sight.stick()
        else:
            sight.cursor = min(curve.position_of(at), len(curve) - 1)

    def _list_turns(self) -> None:
        view = self.view
        self.turns.update(view, sort=self.turn_sort, only=self.turn_filter, chain=self.choice)
        self.events.update(view)

    # moves -------------------------------------------------------------------------------------------------------

    def next_chain(self, step: int = 1) -> str:
        """The next line of context: main, all of them, each subagent. Returns its name."""
        view = self.view
        if view is None:
            return self.choice
        available = choices(view)
        at = available.index(self.choice) if self.choice in available else 0
        choice = available[(at + step) % len(available)]
        if choice != self.choice:
            self.sight.zoomed = False
            self.sight.window = Window()
            self._draw(view, choice)
            turn = self.turn
            if turn is not None and not self.sight.follow:
                self.sight.point_at_index(turn.index)
            self._list_turns()
        return choice

    def select(self, session: str) -> None:
        """Look at another session."""
        if self.snapshot is None or session == self._session:
            return
        view = next((view for view in self.snapshot.sessions if view.session == session), None)
        if view is not None:
            self.newest = False
            self._settled = True
            self._take(view)

    def step_session(self, step: int) -> None:
        """The next or previous session of the list."""
        if not len(self.sessions):
            return
        row = self.sessions.find(self._session)
        row = 0 if row is None else max(0, min(len(self.sessions) - 1, row + step))
        self.select(self.sessions.views[row].session)

    def filter_sessions(self, text: str) -> None:
        """List only sessions with these words."""
        self.filter_text = text
        self._list_sessions()

    def sort_sessions(self, key: str | None = None) -> str:
        """Order the sessions by ``key``, or by the next one."""
        self.session_sort = key if key in SORTS else SORTS[(SORTS.index(self.session_sort) + 1) % len(SORTS)]
        self._list_sessions()
        return self.session_sort

    def sort_turns(self, key: str | None = None) -> str:
        """Order the turns by ``key``, or by the next one."""
        if key not in TURN_SORTS:
            key = TURN_SORTS[(TURN_SORTS.index(self.turn_sort) + 1) % len(TURN_SORTS)]
        self.turn_sort = key
        self._list_turns()
        return key

    def filter_turns(self) -> str:
        """Show the next kind of turns only."""
        self.turn_filter = FILTERS[(FILTERS.index(self.turn_filter) + 1) % len(FILTERS)]
        self._list_turns()
        return self.turn_filter

    def pause(self) -> list[Advice]:
        """Stop taking over snapshots, or take over the newest one. Returns the sessions whose advice changed."""
        self.paused = not self.paused
        if self.paused or self.pending is None:
            return []
        snapshot, self.pending = self.pending, None
        return self.apply(snapshot)

    def state(self, theme: str, panel: str) -> ViewState:
        """What is worth remembering."""
        sight = self.sight
        return ViewState(
            theme=theme,
            session=self._session,
            panel=panel,
            sort=self.session_sort,
            turn_sort=self.turn_sort,
            share=sight.share,
            scale=sight.scale,
            level=sight.window.level if sight.zoomed else None,
        )
