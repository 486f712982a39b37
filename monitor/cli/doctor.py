"""`ctxmon doctor`: what was found, in which format, and what could not be read and why."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from monitor.cli import common

DESCRIPTION = """Per file: format and how sure, lines, calls, duplicates, problems by kind, and what to do."""


def add_parser(subparsers: Any, parent: argparse.ArgumentParser) -> None:
    """Options of `doctor`."""
    parser = common.command(subparsers, "doctor", parent, DESCRIPTION)
    common.paths(parser)
    parser.add_argument(
        "--suggest-map", type=Path, metavar="FILE", help="propose a column map (YAML) for an unknown table"
    )
    parser.add_argument("--clear-cache", action="store_true", help="remove what was kept of files read before")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="output format (default: text)")


def run(args: argparse.Namespace) -> int:
    """Print what was found. Exit code 3 if nothing was usable."""
    if args.suggest_map is not None:
        return _suggest(args.suggest_map)
    if args.clear_cache:
        return _clear_cache()
    from monitor.reports import doctor
    from monitor.reports.encode import to_json
    from monitor.sessions.load import load

    found = load(common.request(args))
    if args.format == "json":
        common.write_output(to_json(doctor.body(found)), None)
    else:
        common.write_output(doctor.text(found, verbose=args.verbose, out=sys.stdout), None)
    return 0 if found.sessions else common.NOTHING


def _clear_cache() -> int:
    from monitor.sources import cache

    try:
        print(f"The cache is empty: {cache.clear()}")
    except OSError as error:
        raise common.CommandError(f"{error.filename}: cannot be removed ({error.strerror})", 1) from error
    return 0


def _suggest(path: Path) -> int:
    from monitor.readers.base import FileContext, ReadError
    from monitor.readers.suggest_map import suggest

    try:
        print(suggest(FileContext(name=str(path), path=path)).rstrip("\n"))
    except ReadError as error:
        raise common.CommandError(f"{path}: {error}", common.NOTHING) from error
    except OSError as error:
        raise common.CommandError(f"{path}: cannot be opened ({error.strerror})", common.NOTHING) from error
    return 0
