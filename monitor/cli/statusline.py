"""`ctxmon statusline`: one line for a coding agent's status bar."""

from __future__ import annotations

import argparse
import gc
import sys
from typing import Any

from monitor.cli import common

DESCRIPTION = """Reads the status JSON of Claude Code on stdin and prints one line: how full the context is, growth,
turns left, cache with time to expiry, quota, and the advice."""


def add_parser(subparsers: Any, parent: argparse.ArgumentParser) -> None:
    """Options of `statusline`."""
    parser = common.command(subparsers, "statusline", parent, DESCRIPTION)
    parser.add_argument("--table", type=common.file, metavar="FILE",
                        help="your own decision table (YAML; takes 20 ms more)")  # fmt: skip
    parser.add_argument("--threshold", type=int, default=100_000, metavar="TOKENS",
                        help="prompt tokens from which to advise a compaction (default 100000, 0: off)")  # fmt: skip
    parser.add_argument("--color", action="store_true", help="colour the advice")
    parser.add_argument("--compare", action="store_true",
                        help="print the client's cache figures beside those of the transcript")  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Print the line. Exit code 2, with one short line, if stdin holds no status JSON."""
    gc.disable()  # the whole process has 60 ms of CPU
    from monitor.reports import statusline

    if sys.stdin is None or sys.stdin.isatty():
        raise common.CommandError("give the agent's status JSON on stdin (see docs/hooks.md)")
    try:
        data = statusline.parse(sys.stdin.buffer.read())
    except (statusline.StatusError, OSError, ValueError):
        print("ctxmon: no status JSON on stdin")
        return common.USAGE
    table = None
    if args.table is not None:
        from monitor.cli.decide import table_of

        table = table_of(args)
    from monitor.sessions.limits import Overrides

    now, prices = common.now_ms(args), common.price_table(args)
    found = statusline.status(data, prices=prices, overrides=Overrides(common.limits(args.context_limit)))
    if args.compare:
        print(statusline.comparison(found, now))
        return 0
    decision = statusline.decision_of(
        found, now_ms=now, prices=prices, table=table, threshold=max(0, args.threshold) or None
    )
    print(statusline.line(found, decision, now, colour=args.color))
    gc.freeze()  # nor is anything looked through at the end
    return 0
