"""`report` and `backtest` of call tables too big for memory: buckets of whole sessions, alone or with Dask."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from monitor.cli import common

if TYPE_CHECKING:
    from monitor.decision.simulate import Assumptions
    from monitor.decision.table import Table
    from monitor.fleet.run import Request
    from monitor.records import Problem

FORMATS = ("text", "json", "csv")


def options(parser: argparse.ArgumentParser) -> None:
    """The options for call tables too big for memory."""
    group = parser.add_argument_group("call tables too big for memory (docs/scale.md)")
    group.add_argument("--fleet", action="store_true",
                       help="read tables and databases in buckets of whole sessions, in little memory")  # fmt: skip
    group.add_argument("--buckets", type=_number, metavar="N", help="so many buckets (default: by the number of rows)")
    group.add_argument("--workers", type=_number, metavar="N", help="with N Dask worker processes on this machine")
    group.add_argument("--scheduler", metavar="ADDRESS", help="with a running Dask scheduler, e.g. tcp://host:8786")
    group.add_argument("--temp", metavar="DIR",
                       help="where the buckets are kept meanwhile; all workers must see it")  # fmt: skip


def _number(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r}: give a whole number from 1")
    return int(text)


def request(args: argparse.Namespace, *, detail: bool = False) -> Request:
    """What the options ask to read.

    Raises:
        CommandError: an option has a wrong value, or no path is given.
    """
    from monitor.fleet.plan import MOST_BUCKETS
    from monitor.fleet.run import Request

    if not args.paths:
        raise common.CommandError("--fleet needs to be told what to read: a folder of call tables, or a database")
    if args.workers and args.scheduler:
        raise common.CommandError("--workers starts processes here, --scheduler uses running ones: give one of them")
    if args.buckets and args.buckets > MOST_BUCKETS:
        raise common.CommandError(f"--buckets {args.buckets}: at most {MOST_BUCKETS}")
    asked_for = common.request(args, detail=detail)
    return Request(
        paths=[str(path) for path in asked_for.paths],
        options=asked_for.options,
        settings=asked_for.settings,
        wanted=asked_for.wanted,
        buckets=args.buckets,
        workers=args.workers or 0,
        scheduler=args.scheduler,
        temp=args.temp,
        progress=common.progress(args),
    )


def report(args: argparse.Namespace) -> int:
    """`report` in buckets. Exit code 3 if no session was found.

    Raises:
        CommandError: a format or option that buckets do not have, a missing package, or no workers.
    """
    if args.format not in FORMATS:
        raise common.CommandError(f"--fleet writes {', '.join(FORMATS)}; {args.format} is for what fits into memory")
    if args.tz is not None and args.tz.upper() not in ("UTC", "ETC/UTC", "Z"):
        raise common.CommandError(f"--tz {args.tz}: with --fleet days and times are in UTC")
    from monitor.fleet.crew import FleetError
    from monitor.fleet.run import gather
    from monitor.reports import fleet_report, fleet_text

    now = common.now_ms(args)
    wanted = request(args)
    start = fleet_report.Start(now=now, prices=wanted.settings.prices, form=args.format)
    try:
        with gather(wanted) as fleet:
            tally = fleet.tally(start)
            _clear(wanted.progress)
            _tell(args, fleet.problems)
            with output(args.output) as stream:
                if args.format == "json":
                    fleet_report.write_json(tally, fleet.problems, now, stream)
                elif args.format == "csv":
                    fleet_report.write_csv(tally, stream)
                else:
                    terminal = sys.stdout if args.output is None else None
                    stream.write(fleet_text.text(tally, fleet.problems, fleet.calls, out=terminal) + "\n")
            return 0 if tally.sessions else common.NOTHING
    except FleetError as error:
        raise common.CommandError(str(error), 1) from error


def backtest(
    args: argparse.Namespace,
    table: Table,
    assumptions_of: Callable[[argparse.Namespace, Callable[[], int | None]], Assumptions],
) -> int:
    """`backtest` in buckets. Exit code 3 if there is no session to replay.

    Raises:
        CommandError: a missing package, or no workers.
    """
    from monitor.fleet.crew import FleetError
    from monitor.fleet.run import gather
    from monitor.reports import fleet_backtest, text

    wanted = request(args, detail=True)
    try:
        with gather(wanted) as fleet:
            assumptions = assumptions_of(args, lambda: fleet.tally(fleet_backtest.SizeTally).middle())
            start = fleet_backtest.Start(
                prices=wanted.settings.prices,
                table=table,
                threshold=args.threshold or None,
                assumptions=assumptions,
                rows=args.format == "json",
            )
            tally = fleet.tally(start)
            _clear(wanted.progress)
            _tell(args, fleet.problems)
            if not tally.sessions:
                if not args.quiet:
                    print("No session with at least two calls of known size was found: nothing to replay.",
                          file=sys.stderr)  # fmt: skip
                return common.NOTHING
            if args.format == "json":
                fleet_backtest.write_json(tally, start, sys.stdout)
            else:
                sys.stdout.write(fleet_backtest.text(tally, start, out=sys.stdout, width=text.width()) + "\n")
            return 0
    except FleetError as error:
        raise common.CommandError(str(error), 1) from error


def _tell(args: argparse.Namespace, problems: list[Problem]) -> None:
    from monitor.sessions.view import Loaded

    common.tell_problems(args, Loaded(sessions=(), problems=problems, files=()))


@contextmanager
def output(out: Path | None) -> Iterator[IO[str]]:
    """Stdout, or a file that is written beside and moved into place.

    Raises:
        CommandError: the file cannot be written.
    """
    if out is None:
        yield sys.stdout
        return
    import os
    import tempfile

    temporary = ""
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{out.name}.", dir=out.parent)
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace", newline="\n") as stream:
            yield stream
        Path(temporary).replace(out)
    except OSError as error:
        raise common.CommandError(f"{out}: cannot be written ({error.strerror})", 1) from error
    finally:
        if temporary:
            Path(temporary).unlink(missing_ok=True)


def _clear(told: object) -> None:
    if isinstance(told, common.Progress):
        told.clear()
