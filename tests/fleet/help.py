"""What several tests of the fleet do: read by map, plain and in buckets, and compare."""

from __future__ import annotations

import math
from typing import Any

import msgspec

from monitor.fleet.run import Request, gather
from monitor.pricing import PriceTable
from monitor.readers.base import ReadOptions
from monitor.readers.column_map import parse_map
from monitor.reports.fleet_report import ReportTally, Start
from monitor.sessions.build import Settings
from monitor.sessions.load import Request as PlainRequest
from monitor.sessions.load import load
from monitor.sessions.view import SessionView, Turn
from tests.fleet.tables import MAP

NOW = 1_770_000_000_000


class Views:
    """A tally that keeps every view: for comparing all figures, not only sums."""

    def __init__(self, folder: str, bucket: int) -> None:
        self.sessions = 0
        self.views: list[SessionView] = []

    def add(self, view: SessionView) -> None:
        self.sessions += 1
        self.views.append(view)

    def close(self) -> None:
        pass

    def merge(self, other: Views) -> None:
        self.sessions += other.sessions
        self.views += other.views


def options(text: str | None = MAP, **more: Any) -> ReadOptions:
    return ReadOptions(map=parse_map(text), source="table", **more) if text is not None else ReadOptions(**more)


def settings() -> Settings:
    return Settings(prices=PriceTable.load(None))


def plain(paths: list[str], read: ReadOptions | None = None, **more: Any) -> list[SessionView]:
    """The sessions as `report` without buckets sees them."""
    found = load(PlainRequest(paths=paths, options=read or options(), settings=settings(), **more))
    return list(found.sessions)


def bucketed(paths: list[str], buckets: int | None, read: ReadOptions | None = None, **more: Any) -> list[SessionView]:
    """The sessions as buckets give them."""
    request = Request(paths=paths, options=read or options(), settings=settings(), buckets=buckets, **more)
    with gather(request) as fleet:
        return fleet.tally(Views).views


def report(paths: list[str], buckets: int | None, form: str = "json", **more: Any) -> ReportTally:
    request = Request(paths=paths, options=options(), settings=settings(), buckets=buckets, **more)
    with gather(request) as fleet:
        tally = fleet.tally(start(form))
        tally.read = list(tally.spool.rows())  # type: ignore[attr-defined]
        return tally


def start(form: str = "json") -> Start:
    return Start(now=NOW, prices=PriceTable.load(None), form=form)


def by_name(views: list[SessionView]) -> dict[str, Any]:
    """Views as plain values, without what is no figure: versions, and what calls told to find their session by."""
    replace = msgspec.structs.replace

    def bare(turn: Turn) -> Turn:
        return replace(turn, call=replace(turn.call, evidence=None))

    found: dict[str, Any] = {}
    for view in views:
        last = bare(view.last_turn) if view.last_turn is not None else None
        plain = replace(view, version=0, turns=tuple(map(bare, view.turns)), last_turn=last)
        found[view.session] = msgspec.to_builtins(plain)
    return found


def same(one: Any, other: Any, where: str = "") -> None:
    """Equal: whole numbers and texts exactly, fractions to 1e-9."""
    if isinstance(one, float) and isinstance(other, float):
        assert math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12), where
    elif isinstance(one, dict):
        assert isinstance(other, dict) and one.keys() == other.keys(), where
        for name in one:
            same(one[name], other[name], f"{where}/{name}")
    elif isinstance(one, list | tuple):
        assert len(one) == len(other), where
        for n, (a, b) in enumerate(zip(one, other)):
            same(a, b, f"{where}[{n}]")
    else:
        assert type(one) is type(other) and one == other, f"{where}: {one!r} is not {other!r}"
