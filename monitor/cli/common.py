"""What the commands share: options, loading, and errors with an exit code."""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from monitor._version import __version__
from monitor.cli.parsers import COMMANDS, Parser

if TYPE_CHECKING:
    from pathlib import Path

    from monitor.pricing import PriceTable
    from monitor.sessions.load import Request
    from monitor.sessions.view import Loaded

USAGE, NOTHING = 2, 3


class CommandError(Exception):
    """Ends a command with one clear sentence and an exit code (2 usage, 3 nothing usable, 1 other)."""

    def __init__(self, text: str, code: int = USAGE) -> None:
        super().__init__(text)
        self.code = code


def file(text: str) -> Path:
    """A file named on the command line. (The module of paths takes a tenth of a status line's time to load.)"""
    from pathlib import Path

    return Path(text)


def options() -> argparse.ArgumentParser:
    """The common options, as a parent parser."""
    parser = Parser(add_help=False)
    group = parser.add_argument_group("common options")
    group.add_argument("--since", metavar="WHEN", help="only calls since then: ISO date, or 7d, 12h, 30m (UTC)")
    group.add_argument("--until", metavar="WHEN", help="only calls before then")
    group.add_argument("--model", metavar="GLOB", help="only calls of models whose name matches")
    group.add_argument("--session", metavar="ID", help="only this session (the beginning of its id is enough)")
    group.add_argument("--source", metavar="NAME", help="force a reader, e.g. claude-code, codex, litellm, table")
    group.add_argument("--map", metavar="FILE", type=file, help="YAML column map for tables")
    group.add_argument("--session-by", metavar="HOW", choices=("explicit", "chain", "prefix", "lane", "file"),
                       help="form sessions by: explicit, chain, prefix, lane or file")  # fmt: skip
    group.add_argument("--context-limit", metavar="[MODEL=]N", action="append", default=[],
                       help="context window in tokens (200000, 1M), for all or some models")  # fmt: skip
    group.add_argument(
        "--prices", metavar="FILE", type=file, help="own prices (YAML or JSON) on top of the built-in table"
    )
    group.add_argument("--version", action="version", version=f"ctxmon {__version__}")
    group.add_argument("--config", metavar="FILE", type=file,
                       help="settings file, TOML or YAML (default: config.toml in ~/.config/ctxmon)")  # fmt: skip
    group.add_argument("--no-cache", action="store_true", help="read everything anew, keep nothing")
    group.add_argument("-q", "--quiet", action="store_true", help="no notes on stderr")
    group.add_argument("-v", "--verbose", action="store_true", help="more notes on stderr")
    return parser


def command(subparsers: Any, name: str, parent: argparse.ArgumentParser, description: str) -> argparse.ArgumentParser:
    """The parser of a command, with the common options."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        name, parents=[parent], help=COMMANDS[name][1], description=description
    )
    return parser


def paths(parser: argparse.ArgumentParser) -> None:
    """The PATH arguments."""
    parser.add_argument("paths", nargs="*", metavar="PATH",
                        help="file, folder, glob, - or an address; none: the agents' own log folders")  # fmt: skip


def in_buckets(args: argparse.Namespace) -> bool:
    """Whether the options ask for call tables to be read in buckets; commands without such options never do."""
    return any(getattr(args, name, None) for name in ("fleet", "workers", "scheduler", "buckets", "temp"))


def now_ms(args: argparse.Namespace | None = None) -> int:
    """The present, in milliseconds since the epoch; ``args.now`` (tests) replaces it."""
    fixed = getattr(args, "now", None)
    return int(fixed) if fixed is not None else int(time.time() * 1000)


def request(args: argparse.Namespace, *, detail: bool = False) -> Request:
    """What the options ask to load.

    Raises:
        CommandError: an option has a wrong value.
    """
    from monitor.readers import sources
    from monitor.readers.base import ReadOptions
    from monitor.sessions.build import Settings
    from monitor.sessions.filter import Wanted
    from monitor.sessions.limits import Overrides
    from monitor.sessions.load import Request

    source = args.source
    if source is not None and source not in sources():
        raise CommandError(f"--source {source} is not known; known are: {', '.join(sources())}")
    column_map = None
    if args.map is not None:
        from monitor.readers.columns import MapError, load_map

        try:
            column_map = load_map(args.map)
        except MapError as error:
            raise CommandError(f"--map {error}") from error
        except OSError as error:
            raise CommandError(f"--map {args.map}: cannot be opened ({error.strerror})") from error
        source = source or "table"
    now = now_ms(args)
    return Request(
        paths=getattr(args, "paths", ()),
        options=ReadOptions(detail=detail, source=source, map=column_map, session_by=args.session_by),
        settings=Settings(prices=price_table(args), overrides=Overrides(limits(args.context_limit))),
        wanted=Wanted(
            since=moment(args.since, now, "--since"),
            until=moment(args.until, now, "--until"),
            model=args.model,
            session=args.session,
        ),
        cache=not args.no_cache,
    )


def price_table(args: argparse.Namespace) -> PriceTable:
    """The prices in use.

    Raises:
        CommandError: the user's price file is wrong.
    """
    from monitor.pricing import PriceFileError, PriceTable

    try:
        return PriceTable.load(args.prices)
    except PriceFileError as error:
        raise CommandError(str(error)) from error
    except OSError as error:
        raise CommandError(f"--prices {args.prices}: cannot be opened ({error.strerror})") from error


def load(args: argparse.Namespace, *, detail: bool = False) -> Loaded:
    """Load what the options ask for, and tell on stderr what could not be read."""
    from monitor.sessions.load import load as load_sessions

    asked = request(args, detail=detail)
    asked.progress = told = progress(args)
    try:
        found = load_sessions(asked)
    finally:
        if told is not None:
            told.clear()
    tell_problems(args, found)
    if not args.quiet:
        for note in asked.notes:
            print(note, file=sys.stderr)
    protect(getattr(args, "output", None), (report.file for report in found.files))
    return found


class Progress:
    """A line on a terminal's stderr that tells how far the work is, from the second second on."""

    def __init__(self) -> None:
        self._began = self._told = time.monotonic()
        self._shown = 0  # columns

    def __call__(self, what: str, done: int, all: int) -> None:
        now = time.monotonic()
        if now - self._began > 1 and (now - self._told > 0.1 or done == all):
            line = f"{what}: {done:,} of {all:,} ({done / all if all else 1.0:.0%})"
            print("\r" + line.ljust(self._shown), end="", file=sys.stderr, flush=True)
            self._told, self._shown = now, len(line)

    def clear(self) -> None:
        """Take the line away, if there is one."""
        if self._shown:
            print("\r" + " " * self._shown + "\r", end="", file=sys.stderr, flush=True)
            self._shown = 0


def progress(args: argparse.Namespace) -> Progress | None:
    """How far the work is; None where nobody would see it."""
    if args.quiet or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        return None
    return Progress()


def settled(args: argparse.Namespace) -> dict[str, Any]:
    """What options are by the section ``defaults`` of the user's settings file, if they are not given.

    Raises:
        CommandError: the file named is not there, or that section is wrong.
    """
    config: Path | None = getattr(args, "config", None)
    if config is not None and not config.is_file():
        raise CommandError(f"--config {config}: there is no such file")
    from monitor.compaction.settings_file import found

    place = config or found()
    if place is None:
        return {}
    from pathlib import Path

    from monitor.compaction.options import CompactionError
    from monitor.compaction.settings import load

    try:
        kept = load(Path(place), only="defaults")
    except CompactionError as error:
        raise CommandError(str(error), error.code) from None
    defaults = dict(kept.defaults)
    try:
        limits(defaults.get("context_limit", ()))
    except CommandError as error:
        raise CommandError(f"{place}: {error}") from None
    if "tz" in defaults and in_buckets(args):  # always UTC
        del defaults["tz"]
    files = {name: defaults[name] for name in ("prices", "table") if name in defaults}
    beside = Path(kept.path).parent
    return defaults | {name: str(beside / Path(file).expanduser()) for name, file in files.items()}


def protect(out: Path | None, inputs: Iterable[str]) -> None:
    """Refuse to write an output over an input.

    Raises:
        CommandError: ``out`` is one of the files that were read.
    """
    if out is None or not out.exists():
        return
    for name in inputs:
        try:
            same = out.samefile(name)
        except OSError:
            continue
        if same:
            raise CommandError(f"{out} is one of the inputs, which are never written to; name another file with -o")


def tell_problems(args: argparse.Namespace, found: Loaded, most: int = 12) -> None:
    """Problems as lines on stderr, the first ones in full."""
    if args.quiet:
        return
    shown = found.problems if args.verbose else found.problems[:most]
    for problem in shown:
        print(sentence(problem), file=sys.stderr)
    if len(shown) < len(found.problems):
        print(f"… and {len(found.problems) - len(shown)} more (-v shows all)", file=sys.stderr)


def sentence(problem: object) -> str:
    """``file:line: reason``."""
    file, line, reason = (getattr(problem, name) for name in ("file", "line", "reason"))
    place = f"{file}:{line}: " if line is not None else (f"{file}: " if file else "")
    return f"{place}{reason}"


_AGO = r"(\d+(?:\.\d+)?)\s*([mhdw])$"
_UNITS = {"m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}


def moment(text: str | None, now: int, option: str) -> int | None:
    """A time given as ISO date or as an age (``7d``).

    Raises:
        CommandError: it is neither.
    """
    if text is None:
        return None
    found = re.fullmatch(_AGO, text.strip().lower())
    if found:
        return now - int(float(found.group(1)) * _UNITS[found.group(2)])
    from monitor.readers.times import iso_ms

    value = iso_ms(text.strip())
    if value is None:
        raise CommandError(
            f"{option} {text}: give an ISO date (2026-11-30, 2026-11-30T08:00Z) or an age (7d, 12h, 30m)"
        )
    return value


_SIZES = {"k": 1_000, "m": 1_000_000}


def limits(given: Sequence[str]) -> dict[str, int]:
    """``--context-limit`` values as {pattern: tokens}.

    Raises:
        CommandError: not a positive number of tokens.
    """
    found: dict[str, int] = {}
    for text in given:
        name, _, number = text.rpartition("=")
        match = re.fullmatch(r"(\d+(?:\.\d+)?)([kKmM]?)", number.strip().replace("_", "").replace(",", ""))
        tokens = int(float(match.group(1)) * _SIZES.get(match.group(2).lower(), 1)) if match else 0
        if tokens <= 0:
            raise CommandError(f"--context-limit {text}: give tokens as a number, e.g. 200000, 1M or gpt-5*=400k")
        found[name.strip() or "*"] = tokens
    return found


def write_output(text: str | Iterable[str], out: Path | None) -> None:
    """To stdout, or to a file that is written beside and moved into place.

    Args:
        text: all of it, or its pieces in order, where it may be too large to be held as a whole.

    Raises:
        CommandError: the file cannot be written.
    """
    pieces = _ended((text,) if isinstance(text, str) else text)
    if out is None or str(out) == "-":
        sys.stdout.writelines(pieces)
        return
    if not replaceable(out):
        # a device or pipe (/dev/stdout, a named pipe) is written to, never replaced
        try:
            with out.open("w", encoding="utf-8", newline="\n") as stream:
                stream.writelines(pieces)
        except OSError as error:
            raise CommandError(f"{out}: cannot be written ({error.strerror})", 1) from error
        return
    import tempfile

    temporary = ""
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{out.name}.", dir=out.parent)
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            stream.writelines(pieces)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)  # mkstemp made it private, people's files follow their umask
        os.replace(temporary, out)
        temporary = ""
    except OSError as error:
        raise CommandError(f"{out}: cannot be written ({error.strerror})", 1) from error
    finally:
        if temporary:
            with suppress(OSError):
                os.unlink(temporary)


def _ended(pieces: Iterable[str]) -> Iterator[str]:
    """The pieces, and the line feed that ends a text, where the last one has none."""
    last = ""
    for piece in pieces:
        yield piece
        last = piece or last
    if not last.endswith("\n"):
        yield "\n"


def replaceable(out: Path) -> bool:
    """Whether a file may be moved to this place: there is a plain one, or none."""
    try:
        return out.is_file() or not out.exists()
    except OSError:
        return True
