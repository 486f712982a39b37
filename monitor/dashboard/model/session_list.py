"""The list of sessions: rows, filter, order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from monitor.dashboard.model.header import is_active, name_of
from monitor.dashboard.model.panels import ACTION_SHORT, ACTION_STYLE
from monitor.dashboard.model.tables import Column
from monitor.dashboard.model.text import UNKNOWN, Span, ago, percent, printable, tokens, usd
from monitor.decision.model import Decision
from monitor.reports.words import cost_mark, turn_mark
from monitor.sessions.view import SessionView

SORTS = ("activity", "fill", "cost", "turns")


class SessionRow(NamedTuple):
    """A session with what the list needs beside it."""

    view: SessionView
    decision: Decision | None
    now: int
    name: str = ""


def _dot(row: SessionRow) -> Span:
    if is_active(row.view, row.now):
        return ("●", "good")
    return ("○", "dim")


def _name(row: SessionRow) -> Span:
    return (row.name or name_of(row.view), "")


def _id(row: SessionRow) -> Span:
    text = row.view.session
    return (printable(text if len(text) <= 12 else text[:8]), "dim")


def _now(row: SessionRow) -> Span:
    last = row.view.last_turn
    return (tokens(row.view.last_prompt_tokens, turn_mark(last) if last else ""), "")


def _fill(row: SessionRow) -> Span:
    value = row.view.fill
    style = "dim" if value is None else "bad" if value >= 0.9 else "warn" if value >= 0.7 else ""
    return (percent(value), style)


def _hits(row: SessionRow) -> Span:
    value = row.view.cache_hit_ratio
    return (percent(value), "dim" if value is None else "warn" if value < 0.6 else "")


def _cost(row: SessionRow) -> Span:
    cost = row.view.sums.cost_usd
    return (usd(cost, cost_mark(row.view.sums)), "" if cost is not None else "dim")


def _advice(row: SessionRow) -> Span:
    if row.decision is None:
        return (UNKNOWN, "dim")
    return (ACTION_SHORT.get(row.decision.action, row.decision.action), ACTION_STYLE.get(row.decision.action, ""))


def _model(row: SessionRow) -> Span:
    return (printable(row.view.models[-1]) if row.view.models else UNKNOWN, "dim")


COLUMNS = (
    Column("dot", "", 1, "<", 1, _dot),
    Column("name", "session", 10, "<", 1, _name, True),
    Column("id", "id", 8, "<", 9, _id),
    Column("source", "source", 11, "<", 8, lambda row: (printable(row.view.source), "dim")),
    Column("model", "model", 16, "<", 10, _model),
    Column("turns", "turns", 6, ">", 5, lambda row: (f"{row.view.sums.calls:,}", "")),
    Column("now", "now", 5, ">", 3, _now),
    Column("fill", "fill", 4, ">", 2, _fill),
    Column("hits", "hits", 4, ">", 7, _hits),
    Column("cost", "cost", 7, ">", 6, _cost),
    Column("last", "last", 6, ">", 11, lambda row: (ago(row.view.last, row.now), "dim")),
    Column("advice", "advice", 6, "<", 4, _advice),
)


class SessionList:
    """The sessions that match a filter, in an order. A row is a :class:`SessionRow`."""

    columns: Sequence[Column] = COLUMNS

    def __init__(self) -> None:
        self.views: list[SessionView] = []
        self.decisions: dict[str, Decision] = {}
        self.now = 0
        self.all = 0
        self.text = ""
        self.sort = SORTS[0]
        self._shared: set[str] = set()
        self._sessions: Sequence[SessionView] = ()
        self._changes = 0

    @property
    def version(self) -> object:
        """Changes with each update."""
        return self._changes

    def update(
        self,
        sessions: Sequence[SessionView],
        decisions: dict[str, Decision],
        now: int,
        text: str = "",
        sort: str = SORTS[0],
    ) -> None:
        """Take over new sessions, filter and order."""
        self.decisions = decisions
        self.now = now
        self._changes += 1
        if sessions is self._sessions and (text, sort) == (self.text, self.sort):
            return
        self.all = len(sessions)
        self._sessions, self.text, self.sort = sessions, text, sort
        words = text.lower().split()
        views = [view for view in sessions if matches(view, words)] if words else list(sessions)
        if sort == "fill":
            views.sort(key=lambda view: -1.0 if view.fill is None else view.fill, reverse=True)
        elif sort == "cost":
            views.sort(key=lambda view: -1.0 if view.sums.cost_usd is None else view.sums.cost_usd, reverse=True)
        elif sort == "turns":
            views.sort(key=lambda view: view.sums.calls, reverse=True)
        self.views = views
        names = Counter(name_of(view) for view in views)
        self._shared = {name for name, count in names.items() if count > 1}

    def tick(self, now: int) -> None:
        """Time passed: ages are shown anew."""
        self.now = now
        self._changes += 1

    def __len__(self) -> int:
        return len(self.views)

    def name(self, number: int) -> str:
        """The id of the session in a row."""
        return self.views[number].session

    def row(self, number: int) -> SessionRow:
        """The session in a row."""
        view = self.views[number]
        name = name_of(view)
        if name in self._shared and name != view.session:
            # several sessions in one folder: the end of the id tells them apart (the beginning may be a time)
            name = f"{name} {printable(view.session[-4:])}"
        return SessionRow(view, self.decisions.get(view.session), self.now, name)

    def find(self, session: str) -> int | None:
        """The row of a session, None if the filter hides it."""
        for i, view in enumerate(self.views):
            if view.session == session:
                return i
        return None


def matches(view: SessionView, words: Sequence[str]) -> bool:
    """Whether each word occurs in the name, id, source or a model of the session."""
    where = " ".join((view.project or "", view.session, view.source, *view.models)).lower()
    return all(word in where for word in words)


def find_session(sessions: Sequence[SessionView], wanted: str | None) -> SessionView | None:
    """A session by id or by the beginning of it; None if there is none or more than one."""
    if not wanted:
        return None
    exact = [view for view in sessions if view.session == wanted]
    if exact:
        return exact[0]
    close = [view for view in sessions if view.session.startswith(wanted)]
    return close[0] if len(close) == 1 else None
