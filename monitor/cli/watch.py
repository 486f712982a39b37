"""`ctxmon watch`: the dashboard, live; without a terminal the text report."""

from __future__ import annotations

import argparse
import os
import sys
from datetime import tzinfo
from typing import Any

from monitor.cli import common
from monitor.cli.decide import tokens

DESCRIPTION = """The dashboard. It follows growing logs. Without a terminal on stdout the text report is printed \
instead."""


def add_parser(subparsers: Any, parent: argparse.ArgumentParser) -> None:
    """Options of `watch`."""
    parser = common.command(subparsers, "watch", parent, DESCRIPTION)
    common.paths(parser)
    parser.add_argument("--once", action="store_true", help="draw one frame and end")
    parser.add_argument("--call", type=int, metavar="N", help="put the cursor on turn N of the session")
    parser.add_argument("--notify", action="store_true", help="ring the bell and notify when the advice changes")
    parser.add_argument("--tz", metavar="ZONE", help="time zone, e.g. Europe/Berlin (default: local)")
    parser.add_argument("--polling", action="store_true", help="look at files by polling (network file systems)")
    parser.add_argument("--threshold", type=tokens, default=100_000, metavar="TOKENS",
                        help="prompt tokens from which to advise a compaction (default 100k, 0: off)")  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Open the dashboard, or print the report where there is no terminal. Exit code 3 if that has no session."""
    zone = zone_of(args.tz)
    # a browser (`serve`) is no terminal, but has a driver of its own
    if not args.once and not sys.stdout.isatty() and not os.environ.get("TEXTUAL_DRIVER"):
        from monitor.cli import report

        args.output = None
        found = common.load(args)
        report.write(args, found, "text")
        return 0 if found.sessions else common.NOTHING
    from monitor.dashboard import run as run_dashboard
    from monitor.dashboard.compact_file import FileCompactor
    from monitor.dashboard.live import LiveFeed

    request = common.request(args)
    feeds: list[LiveFeed] = []

    def feed() -> LiveFeed:
        feeds.append(
            LiveFeed(
                request.paths,
                options=request.options,
                settings=request.settings,
                wanted=request.wanted,
                threshold=args.threshold or None,
                polling=args.polling or None,
                once=args.once,
            )
        )
        return feeds[-1]

    code = int(
        run_dashboard(
            feed,
            once=args.once,
            session=args.session,
            call=args.call,
            notify=args.notify,
            zone=zone,
            compactor=FileCompactor(args.config),
            verbose=args.verbose,
        )
    )
    if args.verbose:
        for made in feeds:
            print(made.follower.told(), file=sys.stderr)
    return code


def zone_of(name: str | None) -> tzinfo | None:
    """The time zone asked for; None: the machine's own.

    Raises:
        CommandError: there is no such time zone.
    """
    if name is None:
        return None
    from monitor.reports.clock import Clock
    from monitor.reports.errors import ReportError

    try:
        return Clock(name).zone
    except ReportError as error:
        raise common.CommandError(str(error)) from error
