"""The report of call tables too big for memory: a tally of sums, and one row per session kept on disk until the end.

The rows, sums and causes are those of the other reports, made session by session with the same functions; a tally only
adds them up. Sums of tokens and counts do not depend on how the table was cut; sums of money may differ in the last
digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO, Any

import msgspec

from monitor.decision import decide
from monitor.pricing import PriceTable
from monitor.readers.times import iso
from monitor.records import Problem
from monitor.reports import shape
from monitor.reports.encode import to_json
from monitor.reports.fleet_spool import Spool
from monitor.reports.report_json import csv_text
from monitor.sessions.misses import MissRow, by_cause, in_order
from monitor.sessions.view import Loaded, SessionView

TOP = 20  # sessions listed in the text


class Top(msgspec.Struct, frozen=True, order=True):
    """A session that may be listed: first by its cost (prompt tokens where nothing has a price), then by name."""

    cost: float
    prompt: int
    session: str
    row: dict[str, Any] = {}


Row = dict[str, Any]


class ReportTally:
    """Sums over sessions, added up from the sums that the other reports show of each.

    ``total``: TOTALS. ``misses``: by cause.
    """

    def __init__(self, folder: str, bucket: int, *, now: int, prices: PriceTable | None, form: str) -> None:
        self.sessions = 0
        self.first: int | None = None
        self.last: int | None = None
        self.total: Row = shape.totals(())
        self.misses: dict[str, MissRow] = {}
        self.assumed_limits = False
        self.top: list[Top] = []
        self._models: dict[str | None, Row] = {}
        self._days: dict[str | None, Row] = {}
        self.spool = Spool(folder, bucket)
        self._form, self._now, self._prices = form, now, prices

    # ------------------------------------------------------------------------------------------------ tally
    def add(self, view: SessionView) -> None:
        """Count a session in."""
        self.sessions += 1
        self._times(view.first, view.last)
        add(self.total, shape.totals((view,)))
        self._groups(shape.by_model((view,)), shape.by_day((view,)))
        for row in by_cause((view,)):
            self._miss(row)
        self.assumed_limits = self.assumed_limits or (view.usable_limit_assumed and view.usable_limit is not None)
        place = (view.sums.cost_usd or 0.0, view.sums.prompt_tokens or 0, view.session)
        listed = self._form == "text" and (len(self.top) < TOP or place > self._least())
        if not listed and self._form == "text":
            return
        decision = decide(view, now_ms=self._now, prices=self._prices)
        if listed:
            self._list([Top(*place, shape.session(view, shape.decision(decision)))])
        elif self._form == "csv":
            text = csv_text(Loaded(sessions=[view], problems=(), files=()), {view.session: decision})
            self.spool.add(view, text.partition("\n")[2])
        else:
            self.spool.add(view, to_json(shape.session(view, shape.decision(decision))))

    def close(self) -> None:
        """The bucket is through: its rows go to disk, in the order in which they will be shown."""
        self._prices = None  # what is sent back needs none
        self.spool.close()

    def merge(self, other: ReportTally) -> None:
        """Add the sums of another bucket."""
        self.sessions += other.sessions
        self._times(other.first, other.last)
        add(self.total, other.total)
        self._groups(other.by_model(), other.by_day())
        for row in other.misses.values():
            self._miss(row)
        self.assumed_limits = self.assumed_limits or other.assumed_limits
        self._list(other.top)
        self.spool.merge(other.spool)

    def _times(self, first: int | None, last: int | None) -> None:
        if first is not None:
            self.first = first if self.first is None else min(self.first, first)
        if last is not None:
            self.last = last if self.last is None else max(self.last, last)

    def _groups(self, models: Sequence[Row], days: Sequence[Row]) -> None:
        for rows, name, into in ((models, "model", self._models), (days, "date", self._days)):
            for row in rows:
                found = into.get(row[name])
                if found is None:
                    into[row[name]] = dict(row)
                else:
                    add(found, row)

    def _miss(self, row: MissRow) -> None:
        self.misses.setdefault(row.cause, MissRow(row.cause)).add(row)

    def _least(self) -> tuple[float, int, str]:
        least = self.top[-1]
        return least.cost, least.prompt, least.session

    def _list(self, more: Sequence[Top]) -> None:
        key = lambda top: (top.cost, top.prompt, top.session)  # noqa: E731
        self.top = sorted([*self.top, *more], key=key, reverse=True)[:TOP]

    # ------------------------------------------------------------------------------------------------ out
    def causes(self) -> list[MissRow]:
        """Cache misses by cause, the most frequent first."""
        return in_order(self.misses.values())

    def by_model(self) -> list[Row]:
        """Sums for each model, the largest first."""
        return sorted(self._models.values(), key=lambda row: (-(row["prompt_tokens"] or 0), row["model"] or ""))

    def by_day(self) -> list[Row]:
        """Sums for each day (UTC), in order; calls without a time come last."""
        return sorted(self._days.values(), key=lambda row: (row["date"] is None, row["date"] or ""))


def add(into: Row, row: Row) -> None:
    """Add the sums of a row to another: numbers add up, of peaks the larger counts, marks stay, unknown is nothing."""
    for name, value in row.items():
        before = into.get(name)
        if value is None or isinstance(value, str):
            continue
        if isinstance(value, dict):
            counts = {**(before or {})}
            add(counts, value)
            into[name] = dict(sorted(counts.items()))
        elif before is None:
            into[name] = value
        elif isinstance(value, bool):
            into[name] = before or value
        elif name.startswith("peak"):
            into[name] = max(before, value)
        else:
            into[name] = before + value


class Start(msgspec.Struct, frozen=True):
    """Makes the tally of a bucket; goes to the workers."""

    now: int
    prices: PriceTable | None
    form: str

    def __call__(self, folder: str, bucket: int) -> ReportTally:
        return ReportTally(folder, bucket, now=self.now, prices=self.prices, form=self.form)


# --- JSON and CSV ----------------------------------------------------------------------------------------------------
def write_json(tally: ReportTally, problems: Sequence[Problem], now: int, stream: IO[str]) -> None:
    """`report --format json` (contract.md), written session by session."""
    stream.write(to_json({"schema": "ctxmon.report/1", "generated": iso(now)})[:-1] + ',"sessions":[')
    for number, row in enumerate(tally.spool.rows()):
        stream.write(("," if number else "") + row)
    rest = {
        "totals": tally.total,
        "by_model": tally.by_model(),
        "by_day": tally.by_day(),
        "problems": [shape.problem(problem) for problem in problems],
    }
    stream.write("]," + to_json(rest)[1:] + "\n")


def write_csv(tally: ReportTally, stream: IO[str]) -> None:
    """`report --format csv`: a row per session."""
    stream.write(csv_text(Loaded(sessions=(), problems=(), files=()), {}) + "\n")
    for row in tally.spool.rows():
        stream.write(row + "\n")
