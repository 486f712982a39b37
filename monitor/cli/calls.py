"""`ctxmon calls`: one record per call."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
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
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="write to FILE (needed for parquet)")


def run(args: argparse.Namespace) -> int:
    """Print the calls. Exit code 3 if no call was found."""
    from monitor.reports import shape

    if args.format == "parquet" and args.output is None:
        raise common.CommandError("parquet is a binary format: name a file with -o FILE")
    found = common.load(args)
    found_turns = [turn for view in reversed(found.sessions) for turn in view.turns]
    if len(found.sessions) > 1:
        found_turns.sort(key=lambda turn: turn.call.time or 0)
    rows = [shape.call(turn) for turn in found_turns]
    if args.copies:
        rows += [shape.copy(call) for call in found.copies]
    if args.format == "json":
        import msgspec

        events = [shape.event(event) for view in found.sessions for event in view.events]
        problems = [shape.problem(problem) for problem in found.problems]  # type: ignore[arg-type]
        body = {"schema": "ctxmon.calls/1", "calls": rows, "events": events, "problems": problems}
        common.write_output(msgspec.json.encode(body).decode(), args.output)
    elif args.format == "ndjson":
        import msgspec

        common.write_output("\n".join(msgspec.json.encode(row).decode() for row in rows), args.output)
    elif args.format == "csv":
        common.write_output(_csv(rows), args.output)
    elif args.format == "parquet":
        _parquet(rows, args.output)
    else:
        from monitor.reports.calls_text import table

        common.write_output(table(found, turns=found_turns, out=sys.stdout), args.output)
    if not rows:
        if not found.problems and not args.quiet:
            print("no calls match", file=sys.stderr)
        return common.NOTHING
    return 0


def _csv(rows: Iterable[dict[str, Any]]) -> str:
    import csv
    import io

    from monitor.records import Call
    from monitor.reports import shape

    names = list(shape.copy(Call(session="", source="", file="")))[:-1]
    out = io.StringIO()
    writer = csv.DictWriter(out, names, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: "" if value is None else value for name, value in row.items()})
    return out.getvalue().rstrip("\n")


def _parquet(rows: list[dict[str, Any]], out: Path) -> None:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise common.CommandError("parquet needs the extra `tables`: pip install '.[tables]'", 1) from error
    temporary = out.with_name(f".{out.name}.part")
    try:
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), temporary)
        temporary.replace(out)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise common.CommandError(f"{out}: cannot be written ({error.strerror})", 1) from error
