"""`ctxmon doctor`: what was found, in which format, and what could not be read and why."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from monitor.cli import common

DESCRIPTION = """Per file: format and how sure, lines, calls, problems by kind, and what to do."""


def add_parser(subparsers: Any, parent: argparse.ArgumentParser) -> None:
    """Options of `doctor`."""
    parser = common.command(subparsers, "doctor", parent, DESCRIPTION)
    common.paths(parser)
    parser.add_argument(
        "--suggest-map", type=Path, metavar="FILE", help="propose a column map (YAML) for an unknown table"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text", help="output format (default: text)")


def run(args: argparse.Namespace) -> int:
    """Print what was found. Exit code 3 if nothing was usable."""
    if args.suggest_map is not None:
        return _suggest(args.suggest_map)
    from monitor.sessions.load import load

    found = load(common.request(args))
    if args.format == "json":
        import msgspec

        from monitor.reports import shape

        files = [msgspec.structs.asdict(report) for report in found.files]
        problems = [shape.problem(problem) for problem in found.problems]  # type: ignore[arg-type]
        body = {"schema": "ctxmon.doctor/1", "files": files, "sessions": len(found.sessions), "problems": problems}
        common.write_output(msgspec.json.encode(body).decode(), None)
    else:
        common.write_output(_text(found, args.verbose), None)
    return 0 if found.sessions else common.NOTHING


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


def _text(found: Any, verbose: bool) -> str:
    from monitor.reports.text import UNKNOWN, Ink, clean, table

    ink = Ink(sys.stdout)
    lines = [ink("ctxmon doctor", "bold") + f" · {len(found.files)} files · {len(found.sessions)} sessions", ""]
    kinds = Counter((report.source, report.title) for report in found.files)
    rows = []
    for (source, title), count in kinds.most_common():
        these = [report for report in found.files if report.source == source]
        rows.append(
            (
                source or "(not known)",
                title or UNKNOWN,
                str(count),
                str(sum(report.calls for report in these)),
                str(sum(report.problems for report in these)),
                f"{min(report.confidence for report in these):.2f}" if source else UNKNOWN,
            )
        )
    lines += table(("source", "format", "files", "calls", "problems", "sure (least)"), rows, right="llrrrr", ink=ink)
    shown = found.files if verbose or len(found.files) <= 25 else [r for r in found.files if r.note or r.problems][:40]
    if shown:
        lines += ["", ink("Files", "bold")]
        listed = [
            (
                clean(report.file),
                report.source or UNKNOWN,
                str(report.lines) if report.lines is not None else UNKNOWN,
                str(report.calls),
                report.note,
            )
            for report in shown
        ]
        lines += table(("file", "source", "lines", "calls", "note"), listed, right="llrrl", ink=ink)
    if found.problems:
        lines += ["", ink("Problems", "bold")]
        reasons: dict[str, list[Any]] = {}
        for problem in found.problems:
            reasons.setdefault(problem.reason, []).append(problem)
        for reason, these in sorted(reasons.items(), key=lambda entry: -len(entry[1])):
            lines.append(f"  {len(these)} × {reason}")
            for problem in these[: None if verbose else 3]:
                place = f":{problem.line}" if problem.line is not None else ""
                lines.append(f"      {clean(problem.file)}{place}")
            if not verbose and len(these) > 3:
                lines.append(f"      … and {len(these) - 3} more (-v)")
    if not found.sessions:
        lines += ["", "No calls were found. Name a log file, or give a column map for a table (--suggest-map FILE)."]
    return "\n".join(lines)
