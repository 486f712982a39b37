"""`ctxmon backtest`: a decision table and fixed policies replayed over past sessions."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from monitor.cli import common, fleet
from monitor.cli.decide import table_of, tokens

if TYPE_CHECKING:
    from monitor.decision.simulate import Assumptions

DESCRIPTION = """Replays the decision table and fixed policies (never; at a share of the limit; at the client's own
threshold; every N calls; at boundaries) over past sessions: when each would have acted, and tokens and money against
what happened. What your history suggests as thresholds is shown, never applied."""


def add_parser(subparsers: Any, parent: argparse.ArgumentParser) -> None:
    """Options of `backtest`."""
    parser = common.command(subparsers, "backtest", parent, DESCRIPTION)
    common.paths(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="output format (default: text)")
    parser.add_argument("--table", type=Path, metavar="FILE", help="your own decision table (YAML)")
    parser.add_argument("--threshold", type=tokens, default=100_000, metavar="TOKENS",
                        help="prompt tokens from which to advise a compaction (default 100k, 0: off)")  # fmt: skip
    group = parser.add_argument_group("assumptions")
    group.add_argument("--after-tokens", type=tokens, metavar="N",
                       help="size right after a compaction (default: that of your own compactions, else fixed part + "
                            "summary + kept tail)")  # fmt: skip
    group.add_argument("--summary-tokens", type=tokens, metavar="N", help="size of a summary (4000)")
    group.add_argument("--keep-tokens", type=tokens, metavar="N", help="tail that a compaction keeps (10000)")
    group.add_argument("--notes-tokens", type=tokens, default=2_000, metavar="N",
                       help="notes that a new window begins with (2000)")  # fmt: skip
    group.add_argument("--reread-tokens", type=tokens, default=15_000, metavar="N",
                       help="what is read again after either (15000)")  # fmt: skip
    group.add_argument("--rework-calls", type=_count, default=4, metavar="N", help="over so many extra calls (4)")
    group.add_argument("--share", type=_share, default=0.80, metavar="S",
                       help="share of the usable limit of that policy (80%%)")  # fmt: skip
    group.add_argument("--every", type=_positive, default=40, metavar="N", help="N of the policy every N calls (40)")
    group.add_argument("--no-suggestions", action="store_true", help="leave out what the history suggests")
    fleet.options(parser)


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r}: give a whole number of calls")
    return int(text)


def _positive(text: str) -> int:
    value = _count(text)
    if not value:
        raise argparse.ArgumentTypeError("give at least 1")
    return value


def _share(text: str) -> float:
    try:
        value = float(text.rstrip("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: give a share such as 80% or 0.8") from None
    if not 0 < value <= 1:
        raise argparse.ArgumentTypeError(f"{text!r}: a share lies between 0 and 1 (or 1% and 100%)")
    return value


def assumptions_of(args: argparse.Namespace, own_size: Callable[[], int | None]) -> Assumptions:
    """What the options assume.

    Args:
        own_size: tells the size that the own compactions left; asked only if the user names no sizes.
    """
    from monitor.decision.simulate import Assumptions

    named = args.summary_tokens is not None or args.keep_tokens is not None
    return Assumptions(
        after_tokens=args.after_tokens or (None if named else own_size()),
        summary_tokens=4_000 if args.summary_tokens is None else args.summary_tokens,
        keep_tokens=10_000 if args.keep_tokens is None else args.keep_tokens,
        notes_tokens=args.notes_tokens,
        reread_tokens=args.reread_tokens,
        rework_calls=args.rework_calls,
        share=args.share,
        every_calls=args.every,
    )


def run(args: argparse.Namespace) -> int:
    """Print the backtest. Exit code 3 if there is no session to replay."""
    table = table_of(args)
    if common.in_buckets(args):
        return fleet.backtest(args, table, assumptions_of)
    found = common.load(args, detail=True)
    from monitor.decision.backtest import backtest
    from monitor.decision.history import actual_sum, policy_sums, suggest
    from monitor.decision.simulate import own_after_size
    from monitor.reports import backtest_text, text

    assumptions = assumptions_of(args, lambda: own_after_size(found.sessions))
    prices, threshold = common.price_table(args), args.threshold or None
    tested = backtest(found.sessions, prices=prices, table=table, threshold=threshold, assumptions=assumptions)
    if not tested:
        if not args.quiet:
            print("No session with at least two calls of known size was found: nothing to replay.", file=sys.stderr)
        return common.NOTHING
    actual, sums = actual_sum(tested), policy_sums(tested)
    hints = None if args.no_suggestions else suggest(found.sessions, prices=prices, assumptions=assumptions)
    if args.format == "json":
        import msgspec

        body = backtest_text.body(tested, actual, sums, hints, assumptions, table.name, threshold)
        common.write_output(msgspec.json.encode(body).decode(), None)
        return 0
    common.write_output(
        backtest_text.text(
            tested, actual, sums, hints, assumptions, table.name, threshold, out=sys.stdout, width=text.width()
        ),
        None,
    )
    return 0
