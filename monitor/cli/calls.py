"""`ctxmon calls`: one record per call."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from monitor.cli import common

FORMATS = ("table", "json", "ndjson", "csv", "parquet")

DESCRIPTION = """One record per call (a call is one request to a model)."""


def add_parser(subparsers: Any, parent: argparse.ArgumentParser) -> None:
    """Options of `calls`."""
    parser = common.command(subparsers, "calls", parent, DESCRIPTION)
    common.paths(parser)
    parser.add_argument("--format", choices=FORMATS, default="table", help="output format (default: table)")
    parser.add_argument("--copies", action="store_true", help="list calls inherited from other sessions, too")
    parser.add_argument("--tz", metavar="ZONE", help="time zone of the table, e.g. Europe/Berlin (default: local)")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="write to FILE (needed for parquet)")


def run(args: argparse.Namespace) -> int:
    """Print the calls. Exit code 3 if no call was found, and nothing else that the format shows."""
    from monitor.reports import shape
    from monitor.reports.encode import encodable, listed, to_json

    if args.format == "parquet" and args.output is None:
        raise common.CommandError("parquet is a binary format: name a file with -o FILE")
    check_zone(args.tz)
    found = common.load(args)
    if found.sessions and all(view.totals_only for view in found.sessions):
        print("ctxmon calls: only sums per session are logged here; see `ctxmon report`", file=sys.stderr)
    turns = [turn for view in reversed(found.sessions) for turn in view.turns]
    if len(found.sessions) > 1:
        turns.sort(key=lambda turn: turn.call.time or 0)
    wanted = common.request(args).wanted
    copies = [call for call in found.copies if wanted.call(call)] if args.copies else []
    if args.format == "table":
        from monitor.reports.calls_text import table

        screen = sys.stdout if args.output is None else None
        common.write_output(table(found, turns, screen, copies=copies, zone=args.tz), args.output)
        return 0 if turns or copies else common.NOTHING
    # one after the other: a month of a gateway has millions of them
    rows = chain(map(shape.call, turns), map(shape.copy, copies))
    some = bool(turns or copies)
    if args.format == "json":
        events = [shape.event(event) for view in found.sessions for event in view.events]
        problems = [shape.problem(problem) for problem in found.problems]  # type: ignore[arg-type]
        rest = to_json({"events": events, "problems": problems})[1:]
        calls = listed(rows, ",")
        common.write_output(chain(['{"schema":"ctxmon.calls/1","calls":['], calls, [f"],{rest}"]), args.output)
        return 0 if some or events else common.NOTHING
    if args.format == "ndjson":
        if some or args.output is not None:  # no row is no line, not an empty one
            common.write_output(listed(rows, "\n"), args.output)
    elif args.format == "csv":
        common.write_output(map(encodable, _csv(rows, args.copies)), args.output)
    else:
        _parquet(list(rows), args.output)
    return 0 if some else common.NOTHING


def check_zone(zone: str | None) -> None:
    """A wrong ``--tz`` is told before anything is read.

    Raises:
        CommandError: there is no such time zone.
    """
    from monitor.reports.clock import Clock
    from monitor.reports.errors import ReportError

    try:
        Clock(zone)
    except ReportError as error:
        raise common.CommandError(str(error)) from error


def _csv(rows: Iterable[dict[str, Any]], copies: bool) -> Iterator[str]:
    """The lines of a table."""
    import csv
    import io

    from monitor.records import Call
    from monitor.reports import shape

    names = list(shape.copy(Call(session="", source="", file="")))
    if not copies:
        names.remove("inherited")
    line = io.StringIO()
    writer = csv.DictWriter(line, names, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for row in rows:
        yield line.getvalue()
        line.seek(0)
        line.truncate()
        writer.writerow({name: "" if value is None else value for name, value in row.items()})
    yield line.getvalue()


def _parquet(rows: list[dict[str, Any]], out: Path) -> None:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise common.CommandError("parquet needs the extra `tables`: pip install '.[tables]'", 1) from error
    if not common.replaceable(out):
        raise common.CommandError(f"{out} is no plain file; parquet needs one")
    temporary = out.with_name(f".{out.name}.part")
    try:
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), temporary)
        temporary.replace(out)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise common.CommandError(f"{out}: cannot be written ({error.strerror})", 1) from error
