"""``ctxmon diff``: what a compaction kept, lost and invented."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from monitor.cli import common
from monitor.cli.common import CommandError

DESCRIPTION = """What a compaction kept, lost and invented: A is the conversation before, B after it. With one file:
each compaction the agent itself made in that session (Claude Code, Codex, Pi, opencode). The questions are taken from
the conversation before (rules of the user, files, checks, commits, errors, tasks, decisions, values) and asked of the
one after it; what the summary names and the source does not contain is invented."""


def add_parser(subparsers: Any, parent: argparse.ArgumentParser) -> None:
    """Options of `diff`."""
    parser = common.command(subparsers, "diff", parent, DESCRIPTION)
    parser.add_argument("a", metavar="A", help="conversation or session file")
    parser.add_argument("b", metavar="B", nargs="?", help="the compacted one")
    parser.add_argument("--call", type=int, metavar="N", help="which request of A, where it holds several, from 0")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="output (default: text)")


def run(args: argparse.Namespace) -> int:
    """Run the command: 0 done, 2 usage, 3 nothing usable or no compaction in the file."""
    from monitor.compaction import compare
    from monitor.conversation import load
    from monitor.conversation.model import ConversationError

    try:
        a = load(args.a, call=args.call)
        b = load(args.b) if args.b else None
    except ConversationError as err:
        raise CommandError(str(err), common.NOTHING) from None
    if b is not None:
        made = [compare.between(a, b)]
        titles = [f"{args.a} -> {args.b}"]
    else:
        made = compare.made_by_agent(a)
        titles = [f"compaction {m.index + 1}, {m.where}{f', {m.time}' if m.time else ''}" for m in made]
    if args.format == "json":
        body: dict[str, Any] = {
            "schema": "ctxmon.diff/1",
            "a": args.a,
            "b": args.b,
            "compactions": [compare.as_json(m) for m in made],
        }
        print(json.dumps(body, ensure_ascii=False, indent=1))
    elif made:
        print("\n\n".join(compare.as_text(m, title) for m, title in zip(made, titles)))
    if not made:
        print(
            f"ctxmon diff: {args.a}: holds no compaction with the conversation before it; name the compacted file as B",
            file=sys.stderr,
        )
        return common.NOTHING
    return 0
