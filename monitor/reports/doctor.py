"""What was found and what could not be read: rows for `ctxmon doctor`, as JSON and for eyes."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import msgspec

from monitor.records import Problem
from monitor.reports import shape
from monitor.reports.text import UNKNOWN, Ink, Stream, clean, cut, middle, table, width, wrap
from monitor.reports.words import plural
from monitor.sessions.view import FileReport, Loaded

_MOST_FILES, _MOST_PLACES = 25, 3

#: words of a reason -> what the user can do about it; the first that occurs counts
_ADVICE = (
    ("format of this file is not known", "a table: `ctxmon doctor --suggest-map FILE` proposes a column map for --map; "
                                         "a log you know: force its reader with --source NAME"),
    ("this is no sqlite", "check that the file is a database of a program named in the README"),
    ("sqlite database is not one", "name the program's own database, or export its table as CSV and use --map"),
    ("binary file", "leave it out, or export what it holds as JSON, JSONL or CSV"),
    ("the file is empty", "leave it out, or wait: it is read when the program writes to it"),
    ("nothing but blanks", "leave it out, or wait: it is read when the program writes to it"),
    ("there is no usage in this file", "take a log that holds token counts (a session file, a gateway's log); where a "
                                       "client can log usage, turn it on"),
    ("permission denied", "let your user read it (file permissions), or run as its owner"),
    ("no file matches", "check the pattern, and quote it if the shell should not expand it"),
    ("holds no log files", "name the files, or the folder the program writes its logs to"),
    ("larger than", "split the file, or give it as JSONL"),
    ("too long", "the other lines were read; split the line if its call is missed"),
    ("nested", "the other lines were read"),
    ("cut off", "read it again when it is finished, or fetch it again"),
    ("unfinished", "read it again when it is finished"),
    ("not valid json", "the rest was read; look at that line, or fetch the file again"),
    ("no json", "the rest was read; look at that line, or fetch the file again"),
    ("it is not there any more", "it was moved or deleted while it was read; read again"),
)  # fmt: skip


def advice(reason: str) -> str:
    """What to do about a problem; empty where its own sentence says all there is."""
    lower = reason.lower()
    return next((text for words, text in _ADVICE if words in lower), "")


class Kind(msgspec.Struct):
    """Problems of one kind in one file."""

    reason: str
    count: int
    lines: list[int]


def kinds(problems: Sequence[Problem]) -> dict[str, list[Kind]]:
    """Problems of each file by reason, the most frequent first."""
    found: dict[str, dict[str, Kind]] = {}
    for problem in problems:
        kind = found.setdefault(problem.file, {}).setdefault(problem.reason, Kind(problem.reason, 0, []))
        kind.count += 1
        if problem.line is not None:
            kind.lines.append(problem.line)
    return {file: sorted(rows.values(), key=lambda kind: -kind.count) for file, rows in found.items()}


def duplicates(found: Loaded) -> Mapping[str, int]:
    """Calls of each file that are copies of calls counted elsewhere."""
    copied = Counter(call.file for call in found.copies)
    return {report.file: max(report.duplicates, copied[report.file]) for report in found.files}


def body(found: Loaded) -> dict[str, Any]:
    """`doctor --format json`."""
    by_file, dropped = kinds(_problems(found)), duplicates(found)
    files = []
    for report in found.files:
        row = msgspec.structs.asdict(report)
        row["duplicates"] = dropped[report.file]
        row["problem_kinds"] = [
            {"reason": k.reason, "count": k.count, "lines": k.lines[:20], "advice": advice(k.reason) or None}
            for k in by_file.get(report.file, ())
        ]
        files.append(row)
    return {
        "schema": "ctxmon.doctor/1",
        "files": files,
        "sessions": len(found.sessions),
        "problems": [{**shape.problem(p), "advice": advice(p.reason) or None} for p in _problems(found)],
    }


def _problems(found: Loaded) -> list[Problem]:
    return [problem for problem in found.problems if isinstance(problem, Problem)]


def text(found: Loaded, *, verbose: bool = False, out: Stream | None = None, most: int | None = None) -> str:
    """`doctor` for eyes.

    Args:
        verbose: every file and every place of a problem.
        out: where it will go (decides about colour); None: plain.
        most: columns; None: those of the terminal.
    """
    ink = Ink(out)
    most = max(40, most if most is not None else width())
    by_file, dropped = kinds(_problems(found)), duplicates(found)
    sums_only = {file for view in found.sessions if view.totals_only for file in view.files}
    about = f"{plural(len(found.files), 'file')} · {plural(len(found.sessions), 'session')}"
    lines = [ink("ctxmon doctor", "bold") + f" · {about}", ""]
    if found.files:
        lines += [*_formats(found.files, dropped, ink, most), ""]
        lines += _files(found.files, by_file, dropped, sums_only, verbose, ink, most)
    lines += _reasons(found, verbose, ink, most)
    if not found.sessions:
        hint = (
            "No calls were found. Name a log file or a folder of logs; for a table of an unknown kind "
            "`ctxmon doctor --suggest-map FILE` proposes a column map."
        )
        lines += ["", *wrap(hint, most, "")]
    return "\n".join(lines)


def _formats(files: Sequence[FileReport], dropped: Mapping[str, int], ink: Ink, most: int) -> list[str]:
    groups: dict[tuple[str | None, str | None], list[FileReport]] = {}
    for report in files:
        groups.setdefault((report.source, report.title), []).append(report)
    rows = []
    for (source, title), these in sorted(groups.items(), key=lambda entry: (entry[0][0] is None, -len(entry[1]))):
        rows.append((
            source or "(not known)",
            title or UNKNOWN,
            f"{len(these):,}",
            f"{sum(report.calls for report in these):,}",
            f"{sum(dropped[report.file] for report in these):,}",
            f"{sum(report.problems for report in these):,}",
            f"{min(report.confidence for report in these):.2f}" if source else UNKNOWN,
        ))  # fmt: skip
    head = ("source", "format", "files", "calls", "duplicates", "problems", "sure")
    return table(head, rows, right="llrrrrr", ink=ink, most=most, drop=("format", "sure", "duplicates"), flex="source")


def _files(
    files: Sequence[FileReport],
    by_file: Mapping[str, list[Kind]],
    dropped: Mapping[str, int],
    sums_only: Collection[str],
    verbose: bool,
    ink: Ink,
    most: int,
) -> list[str]:
    shown = files
    if not verbose and len(files) > _MOST_FILES:
        shown = [r for r in files if r.file in by_file or not (r.calls or r.file in sums_only)]
    shown = shown if verbose else shown[:40]
    base = _common(files)
    lines = [ink("Files", "bold") + (f" in {middle(clean(base), most - 9)}" if base else "")] if shown else []
    for report in shown:
        name = clean(report.file[len(base) :].lstrip(os.sep) if base else report.file)
        lines.append("  " + middle(name, most - 2))
        facts = _facts(report, by_file.get(report.file, ()), dropped, report.file in sums_only)
        for line in wrap(" · ".join(facts), most, "      "):
            lines.append(ink(line, "dim" if report.calls or report.file in sums_only else "yellow"))
    if len(shown) < len(files):
        lines.append(f"  … and {plural(len(files) - len(shown), 'file')} without a problem (-v lists all)")
    return lines


def _facts(report: FileReport, found: Sequence[Kind], dropped: Mapping[str, int], sums_only: bool) -> list[str]:
    facts = []
    if report.source is None:
        facts.append("format not known")
    else:
        facts.append(f"{report.title or report.source}, sure {report.confidence:.2f}")
    if report.bytes:
        facts.append(_size(report.bytes))
    if report.lines is not None:
        facts.append(plural(report.lines, "line"))
    facts.append("totals per session, no calls" if sums_only and not report.calls else plural(report.calls, "call"))
    if dropped[report.file]:
        facts.append(plural(dropped[report.file], "duplicate") + " dropped")
    if found:
        facts.append(plural(sum(kind.count for kind in found), "problem"))
    elif report.note:
        facts.append(report.note)
    return facts


def _size(count: int) -> str:
    if count < 1_000:
        return f"{count} B"
    return f"{count / 1_000:.1f} kB" if count < 1_000_000 else f"{count / 1_000_000:.1f} MB"


def _common(files: Sequence[FileReport]) -> str:
    """The folder all files lie in, if there are several."""
    names = [report.file for report in files if "://" not in report.file and report.file != "stdin"]
    if len(names) < 2 or len(names) < len(files):
        return ""
    try:
        return os.path.commonpath(names)
    except ValueError:
        return ""


def _reasons(found: Loaded, verbose: bool, ink: Ink, most: int) -> list[str]:
    """Problems by kind: what, where, and what to do."""
    problems = _problems(found)
    if not problems:
        return []
    reasons: dict[str, list[Problem]] = {}
    for problem in problems:
        reasons.setdefault(problem.reason, []).append(problem)
    lines = ["", ink("What could not be read", "bold")]
    for reason, these in sorted(reasons.items(), key=lambda entry: -len(entry[1])):
        count = f"{len(these):,} × "
        lines += wrap(clean(reason), most, " " * (2 + len(count)), first="  " + ink(count, "yellow"))
        if todo := advice(reason):
            lines += wrap(todo, most, "      ", first="    " + ink("→ ", "green"))
        for problem in these[: None if verbose else _MOST_PLACES]:
            place = f":{problem.line}" if problem.line is not None else ""
            if problem.file:
                lines.append("      " + ink(middle(clean(problem.file), most - 6 - len(place)) + place, "dim"))
        if not verbose and len(these) > _MOST_PLACES:
            lines.append("      " + ink(cut(f"… and {len(these) - _MOST_PLACES:,} more (-v)", most - 6), "dim"))
    return lines
