"""The command line. One thin module per command; a module is imported only when its command is used."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Callable, Sequence
from types import ModuleType

from monitor._version import __version__
from monitor.cli import streams
from monitor.cli.parsers import COMMANDS, Parser

EXAMPLES = """examples:
  ctxmon                                   watch the agents' logs of this machine
  ctxmon report ~/.claude/projects         what was used, cached, compacted and paid
  ctxmon decide session.jsonl              what to do now, and why
  ctxmon compact chat.json -o smaller.json

`ctxmon COMMAND --help` tells the options of a command. A "turn" on the screen is one API call.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command. Returns its exit code (contract.md: 0 ok, 1 failure, 2 usage, 3 nothing usable)."""
    args = list(sys.argv[1:] if argv is None else argv)
    streams.prepare()
    command, rest = _split(args)
    if command is None:
        try:
            return _top(rest)
        except OSError as error:
            return streams.unwritable("", error)
    try:
        module = importlib.import_module(f"monitor.cli.{COMMANDS[command][0]}")
    except ModuleNotFoundError as error:
        print(f"ctxmon {command}: this installation lacks {error.name}", file=sys.stderr)
        return 1
    parser, subparsers = _parser()
    from monitor.cli import common

    module.add_parser(subparsers, common.options())
    try:
        parsed = parser.parse_args([command, *rest])
    except SystemExit as stop:
        return int(stop.code or 0) if isinstance(stop.code, int) or stop.code is None else 2

    def work() -> int | None:
        _lighten()
        settled = common.settled(parsed)
        if not settled:
            return module.run(parsed)  # type: ignore[no-any-return]
        subparsers.choices[command].set_defaults(**settled)
        return module.run(parser.parse_args([command, *rest]))  # type: ignore[no-any-return]

    return _run(work, command)


def entry() -> None:
    """The program: one command, and the end of the process."""
    streams.finish(main())


def _lighten() -> None:
    """Load msgspec without a package that it only prefers (9 ms of CPU, a fifth of a short command) and without a
    module that is asked for nothing but the name of the system (2 ms)."""
    if "msgspec" in sys.modules or "typing_extensions" in sys.modules:
        return
    sys.modules["typing_extensions"] = None  # type: ignore[assignment]
    brief = "platform" not in sys.modules and hasattr(os, "uname")
    if brief:
        sys.modules["platform"] = system = ModuleType("platform")
        vars(system)["system"] = lambda: os.uname().sysname
    try:
        import msgspec  # noqa: F401
    finally:
        del sys.modules["typing_extensions"]
        if brief:
            del sys.modules["platform"]


def _run(work: Callable[[], int | None], command: str) -> int:
    from monitor.cli.common import CommandError

    try:
        return int(work() or 0)
    except CommandError as error:
        print(f"ctxmon {command}: {error}", file=sys.stderr)
        return error.code
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        if isinstance(error, OSError) and streams.refused(error):
            return streams.unwritable(command, error)
        return _failure(command, error)
    finally:
        _flush()


def _flush() -> None:
    """What was found out of cached sessions is kept for the next time; only if they were used at all."""
    recall = sys.modules.get("monitor.sessions.recall")
    if recall is not None:
        recall.flush()


def _failure(command: str, error: Exception) -> int:
    """A fault of ours: one sentence, and where to find the rest. The trace is shown only on request."""
    if os.environ.get("CTXMON_TRACE"):
        raise error
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    where = ""
    if frame is not None:
        name = frame.tb_frame.f_code.co_filename.replace("\\", "/").rpartition("/monitor/")[2]
        where = f" in {name}:{frame.tb_lineno}"
    print(
        f"ctxmon {command}: a fault of the program ({type(error).__name__}{where}); nothing was changed. "
        "Please report it; CTXMON_TRACE=1 shows the details.",
        file=sys.stderr,
    )
    return 1


def _split(args: list[str]) -> tuple[str | None, list[str]]:
    if args and args[0] in COMMANDS:
        return args[0], args[1:]
    if args and args[0] in ("-h", "--help", "--version", "help"):
        return None, args
    return "watch", args


def _top(args: list[str]) -> int:
    if args[0] == "--version":
        print(f"ctxmon {__version__}")
        return 0
    if len(args) > 1 and args[1] in COMMANDS:
        return main([args[1], "--help"])
    parser, subparsers = _parser()
    for name, (_, text) in COMMANDS.items():
        subparsers.add_parser(name, help=text)
    parser.print_help()
    return 0


def _parser() -> tuple[Parser, argparse._SubParsersAction[Parser]]:
    parser = Parser(
        prog="ctxmon",
        description="See how an agent's context grows call by call, why the prompt cache was missed, and when to "
        "compact or open a new window.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"ctxmon {__version__}")
    return parser, parser.add_subparsers(
        prog="ctxmon", dest="command", metavar="COMMAND", title="commands"
    )  # without a name it would lay out the help to find one, and load a module for that
