"""`ctxmon decide`: the decision for the newest (or a named) session, with rule, numbers and reasons."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from monitor.cli import common

if TYPE_CHECKING:
    from monitor.decision.model import Decision
    from monitor.decision.table import Table
    from monitor.sessions.view import SessionView

DESCRIPTION = """What to do with the newest session (or the one named): go on, trim, compact at the next boundary,
compact now, save notes and open a new window, or start fresh. With --exit-code: 0 continue, 10 trim, 11 compact at the
next boundary, 12 compact now, 13 notes and new window, 14 start fresh; 3 if there is no session."""
#: seconds between looks while nothing changes: the cache may expire without a word in the log
_WATCH_STEP = 5.0


def add_parser(subparsers: Any, parent: argparse.ArgumentParser) -> None:
    """Options of `decide`."""
    parser = common.command(subparsers, "decide", parent, DESCRIPTION)
    common.paths(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="output format (default: text)")
    parser.add_argument("--table", type=Path, metavar="FILE", help="your own decision table (YAML)")
    parser.add_argument("--threshold", type=tokens, default=100_000, metavar="TOKENS",
                        help="prompt tokens from which to advise a compaction; off for windows over 400,000 "
                             "(default 100k, 0: off)")  # fmt: skip
    parser.add_argument("--explain", action="store_true", help="print every row of the table and every signal")
    parser.add_argument("--exit-code", action="store_true", help="tell the advice by the exit code")
    parser.add_argument("--print-table", action="store_true", help="print the built-in table, to copy and change")
    parser.add_argument("--watch", action="store_true", help="stay, and print a line whenever the advice changes")


def tokens(text: str) -> int:
    """A number of tokens as an option: ``100000``, ``120k``, ``1M``."""
    scale = {"k": 1_000, "m": 1_000_000}.get(text[-1:].lower(), 1)
    number = text[:-1] if scale > 1 else text
    try:
        value = round(float(number.replace("_", "").replace(",", "")) * scale)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: give a number of tokens, such as 100000 or 120k") from None
    if value < 0:
        raise argparse.ArgumentTypeError("a threshold cannot be negative; 0 switches it off")
    return value


def table_of(args: argparse.Namespace) -> Table:
    """The table in use.

    Raises:
        CommandError: the user's table is wrong; the sentence tells file, line and what is expected.
    """
    from monitor.decision.table import TableError, builtin

    if args.table is None:
        return builtin()
    from monitor.decision.table_source import load

    try:
        return load(args.table)
    except TableError as error:
        raise common.CommandError(str(error)) from error


def run(args: argparse.Namespace) -> int:
    """Print the decision. Exit code 3 if there is no session."""
    if args.print_table:
        from monitor.decision.table import SOURCE

        with open(SOURCE, encoding="utf-8") as stream:
            common.write_output(stream.read(), None)
        return 0
    table = table_of(args)
    if args.watch:
        return _watch(args, table)
    found = common.load(args)
    view = newest(found.sessions)
    if view is None:
        if not args.quiet and not found.problems:
            print("No session with calls was found; name a log file or folder.", file=sys.stderr)
        return common.NOTHING
    decision = _decide(args, table, view, None)
    _print(args, table, view, decision)
    if not args.exit_code:
        return 0
    from monitor.decision.model import EXIT_CODES

    return EXIT_CODES[decision.action]


def newest(sessions: Any) -> SessionView | None:
    """The session with the latest activity that has a call to judge by; else the latest one at all."""
    views: list[SessionView] = list(sessions)
    return next((view for view in views if view.last_turn is not None), views[0] if views else None)


def _decide(args: argparse.Namespace, table: Table, view: SessionView, previous: Decision | None) -> Decision:
    from monitor.decision import decide

    return decide(
        view,
        now_ms=common.now_ms(args),
        prices=common.price_table(args),
        table=table,
        threshold=args.threshold or None,
        previous=previous,
        explain=args.explain,
    )


def _print(args: argparse.Namespace, table: Table, view: SessionView, decision: Decision) -> None:
    if args.format == "json":
        import msgspec

        from monitor.reports import shape

        body = {"schema": "ctxmon.decision/1", "session": decision.session, **shape.decision(decision)}
        if args.explain:
            body["rows"] = [
                {
                    "rule": row.rule,
                    "action": row.action,
                    "fired": row.fired,
                    "conditions": [{"text": text, "outcome": outcome} for text, outcome in row.conditions],
                }
                for row in decision.rows
            ]
        common.write_output(msgspec.json.encode(body).decode(), None)
        return
    from monitor.reports import decision_text, text

    width = text.width()
    parts = [decision_text.text(decision, view, out=sys.stdout, width=width)]
    if args.explain:
        parts.append(decision_text.explanation(decision, table, out=sys.stdout, width=width))
    common.write_output("\n\n".join(parts), None)


def _watch(args: argparse.Namespace, table: Table) -> int:
    from monitor.sources.discovery import agent_folders
    from monitor.sources.follow import Follower

    request = common.request(args)
    paths = [str(name) for name in request.paths] or [str(folder) for folder in agent_folders()]
    if not paths:
        raise common.CommandError("no agent's log folder was found on this machine; name a file or folder", 3)
    if any(name == "-" or "://" in name for name in paths):
        raise common.CommandError("--watch follows files and folders; it cannot follow stdin or an address")
    follower = Follower(paths, request.options)
    try:
        return watch(args, table, follower, request, sys.stdout.write)
    finally:
        follower.close()
        if args.verbose:
            print(follower.told(), file=sys.stderr)


def watch(
    args: argparse.Namespace,
    table: Table,
    follower: Any,
    request: Any,
    write: Callable[[str], Any],
    *,
    rounds: int | None = None,
) -> int:
    """Print one line whenever the advice for the newest session changes; ``rounds`` bounds the looks (tests)."""
    from monitor.reports import decision_text
    from monitor.sessions.filter import narrow
    from monitor.sessions.store import Store

    store, learned = Store(request.settings), False
    previous: Decision | None = None
    while rounds is None or rounds > 0:
        rounds = None if rounds is None else rounds - 1
        for batch in follower.poll(0.5):
            store.apply(batch)
        if not follower.loading and not learned:
            learned = True
            store.learn()
        view = newest(narrow(store.views(), request.wanted)) if not follower.loading else None
        if view is not None:
            decision = _decide(args, table, view, previous)
            if (
                previous is None
                or (decision.session, decision.action, decision.rule)
                != (previous.session, previous.action, previous.rule)
            ):  # fmt: skip
                stamp = time.strftime("%H:%M:%S", time.localtime(common.now_ms(args) / 1000))
                write(f"{stamp}  {decision_text.line(decision, out=sys.stdout)}\n")
                sys.stdout.flush()
            previous = decision
        if rounds is None or rounds > 0:
            follower.wait(_WATCH_STEP)
    return 0
