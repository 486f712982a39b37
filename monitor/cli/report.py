"""`ctxmon report`: sessions, windows, compactions, cache, cost, decision."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from monitor.cli import common

FORMATS = ("text", "json", "csv", "html", "md")

DESCRIPTION = """What was used, cached, compacted and paid."""


def add_parser(subparsers: Any, parent: argparse.ArgumentParser) -> None:
    """Options of `report`."""
    parser = common.command(subparsers, "report", parent, DESCRIPTION)
    common.paths(parser)
    parser.add_argument("--format", choices=FORMATS, default="text", help="output format (default: text)")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="write to FILE")
    parser.add_argument(
        "--tz", metavar="ZONE", help="time zone for people's output, e.g. Europe/Berlin (default: local)"
    )


def run(args: argparse.Namespace) -> int:
    """Print the report. Exit code 3 if no session was found."""
    found = common.load(args)
    write(args, found, args.format)
    return 0 if found.sessions else common.NOTHING


def write(args: argparse.Namespace, found: Any, form: str) -> None:
    """The report of loaded sessions in one of the formats."""
    from monitor.decision import decide

    now = common.now_ms(args)
    prices = common.price_table(args)
    out = getattr(args, "output", None)
    decisions = {view.session: decide(view, now_ms=now, prices=prices) for view in found.sessions}
    if form == "json":
        import msgspec

        from monitor.reports.report_json import body

        common.write_output(msgspec.json.encode(body(found, decisions, now)).decode(), out)
    elif form == "csv":
        from monitor.reports.report_json import csv_text

        common.write_output(csv_text(found, decisions), out)
    elif form == "html":
        from monitor.reports.html import page

        common.write_output(page(found, decisions, now), out)
    elif form == "md":
        from monitor.reports.markdown import text as markdown

        common.write_output(markdown(found, decisions, now), out)
    else:
        from monitor.reports.report_text import text

        common.write_output(
            text(found, decisions, now, out=sys.stdout if out is None else None, zone=getattr(args, "tz", None)), out
        )
