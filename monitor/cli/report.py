"""`ctxmon report`: sessions, windows, compactions, cache, cost, decision."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from monitor.cli import common, fleet

if TYPE_CHECKING:
    from monitor.decision import Decision
    from monitor.pricing import PriceTable
    from monitor.sessions.view import Loaded, SessionView

FORMATS = ("text", "json", "csv", "html", "md")
#: formats that show of several sessions only what is advised
_BRIEF = ("text", "csv", "md")

#: so many decisions are kept in case they are asked for again; a gateway's month has a hundred thousand sessions
_KEPT = 1_000

DESCRIPTION = """What was used, cached, compacted and paid. One session is shown in full, several as a list with sums. \
--format html writes one page that opens offline."""


def add_parser(subparsers: Any, parent: argparse.ArgumentParser) -> None:
    """Options of `report`."""
    parser = common.command(subparsers, "report", parent, DESCRIPTION)
    common.paths(parser)
    parser.add_argument("--format", choices=FORMATS, default="text", help="output format (default: text)")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="write to FILE")
    parser.add_argument(
        "--tz", metavar="ZONE", help="time zone for people's output, e.g. Europe/Berlin (default: local)"
    )
    fleet.options(parser)


def run(args: argparse.Namespace) -> int:
    """Print the report. Exit code 3 if no session was found."""
    from monitor.cli.calls import check_zone

    check_zone(args.tz)
    if common.in_buckets(args):
        return fleet.report(args)
    found = common.load(args)
    write(args, found, args.format)
    return 0 if found.sessions else common.NOTHING


def write(args: argparse.Namespace, found: Loaded, form: str) -> None:
    """The report of loaded sessions in one of the formats.

    Raises:
        CommandError: there is no such time zone, or the file cannot be written.
    """
    from monitor.reports.encode import encodable
    from monitor.reports.errors import ReportError

    now = common.now_ms(args)
    prices = common.price_table(args)
    out = getattr(args, "output", None)
    decisions = Decisions(found.sessions, now, prices, brief=form in _BRIEF and len(found.sessions) > 1)
    if form == "json":
        from monitor.reports import report_json

        # held as a whole before the first of it is written, so that a fault leaves no half a document
        common.write_output(list(report_json.pieces(found, decisions, now)), out)
        return
    try:
        text = _text(args, found, decisions, now, form, prices)
    except ReportError as error:
        raise common.CommandError(str(error)) from error
    common.write_output(encodable(text), out)


class Decisions(Mapping[str, "Decision"]):
    """By session, made when they are asked for: a list of the latest sessions asks for few of thousands.

    Args:
        now: milliseconds since the epoch.
        brief: only what is advised, without reasons and costs.
    """

    def __init__(self, views: Sequence[SessionView], now: int, prices: PriceTable, *, brief: bool) -> None:
        self._views = {view.session: view for view in views}
        self._now, self._prices, self._brief = now, prices, brief
        self._made: dict[str, Decision] = {}

    def __getitem__(self, session: str) -> Decision:
        made = self._made.get(session)
        if made is None:
            from monitor.decision import decide

            view = self._views[session]
            made = decide(view, now_ms=self._now, prices=self._prices, brief=self._brief)
            if len(self._made) < _KEPT:
                self._made[session] = made
        return made

    def __contains__(self, session: object) -> bool:
        return session in self._views

    def get(self, session: str, default: Any = None) -> Any:
        # the inherited one would take any KeyError in a decision for a session that is not there
        return self[session] if session in self._views else default

    def __iter__(self) -> Iterator[str]:
        return iter(self._views)

    def __len__(self) -> int:
        return len(self._views)


def _text(args: argparse.Namespace, found: Loaded, decisions: Decisions, now: int, form: str, prices: Any) -> str:
    out, zone = getattr(args, "output", None), getattr(args, "tz", None)
    if form == "csv":
        from monitor.reports.report_json import csv_text

        return csv_text(found, decisions)
    if form == "html":
        from monitor.reports.html import page

        return page(found, decisions, now, zone=zone, backtest=_backtest(args, found, prices))
    if form == "md":
        from monitor.reports.markdown import text as markdown

        return markdown(found, decisions, now, zone=zone)
    from monitor.reports.report_text import text

    return text(found, decisions, now, out=sys.stdout if out is None else None, zone=zone)


def _backtest(args: argparse.Namespace, found: Loaded, prices: Any) -> Any:
    """The backtest of a small history. It is read once more with all its steps, which is quick as it is small."""
    from monitor.reports.replayed import quick, replayed

    if not found.sessions or not quick(found):
        return None
    if "-" not in args.paths:
        from monitor.sessions.load import load

        found = load(common.request(args, detail=True))
    return replayed(found, prices)
