"""Longer texts: problems, why a decision was taken, a backtest, the screen without data."""

from __future__ import annotations

import re
from collections.abc import Sequence

from monitor.dashboard.feed import Snapshot
from monitor.dashboard.model.panels import ACTION_STYLE, SIGNALS, decision_lines, signal_value
from monitor.dashboard.model.text import Line, clip, fill, fit, line_width, printable, wrap
from monitor.decision.model import ACTION_WORDS, Decision
from monitor.records import Problem
from monitor.sessions.view import SessionView

#: so many problems are listed; a broken file can have one for each of its lines
_LISTED = 300


def problem_lines(problems: Sequence[Problem], width: int) -> list[Line]:
    """What could not be read: place and sentence of each, in full."""
    if not problems:
        return [(("everything could be read", "dim"),)]
    out: list[Line] = []
    for problem in problems[:_LISTED]:
        place = printable(problem.file) + ("" if problem.line is None else f":{problem.line}")
        if len(place) > width - 2:
            place = "…" + place[-(width - 3) :]
        out.append((("⚠ ", "warn"), (place, "bold")))
        out.extend((("  " + line, ""),) for line in wrap(printable(problem.reason), width - 2))
    if len(problems) > _LISTED:
        out.append(((f"and {len(problems) - _LISTED:,} more: ctxmon doctor lists them", "dim"),))
    return out


def why_lines(decision: Decision, width: int) -> list[Line]:
    """How the decision came about: every row of the table in order, its conditions with their numbers, what fired."""
    out = decision_lines(decision, width)
    if decision.costs is not None and decision.costs.assumed:
        out.append(())
        out.append((("the costs assume", "bold"),))
        for text in decision.costs.assumed:
            out.extend(((f"  {line}", ""),) for line in wrap(printable(text), width - 2))
    if decision.rows:
        out.append(())
        out += [((text, "bold"),) for text in wrap("the table, first row that holds wins", width)]
    for row in decision.rows:
        rule: Line = (
            ("▶ " if row.fired else "  ", "accent"),
            (fill(printable(row.rule), 24), "bold" if row.fired else ""),
        )
        action = (ACTION_WORDS.get(row.action, row.action), ACTION_STYLE.get(row.action, "") if row.fired else "dim")
        out += [(*rule, action)] if line_width((*rule, action)) <= width else [fit(rule, width), (("  ", ""), action)]
        for text, held in row.conditions:
            sign, style = {True: ("✓", "good"), False: ("✗", "dim"), None: ("?", "warn")}[held]
            for i, line in enumerate(wrap(printable(text), width - 6)):
                out.append(((f"    {sign} " if i == 0 else "      ", style), (line, "" if held else "dim")))
    others = [signal for name, signal in decision.signals.items() if name not in SIGNALS and signal.value is not None]
    if others:
        out.append(())
        out.append((("further signals", "bold"),))
        for signal in others:
            label: Line = ((fill(signal.id.replace("_", " "), 26), "dim"),)
            if width < 60:  # below its name
                out.append(label)
                label = (("  ", ""),)
            for text in wrap(f"{signal_value(signal)} ({signal.how})", width - line_width(label)):
                out.append((*label, (text, "")))
                label = ((" " * line_width(label), ""),)
    return out


_STYLED = re.compile("\x1b\\[[0-9;]*m")


def replay_lines(text: str, view: SessionView, width: int) -> list[Line]:
    """The text of a backtest in lines; with a word where the live view knows less than the command does."""
    out: list[Line] = []
    for line in _STYLED.sub("", text).splitlines()[1:]:
        heading = bool(line) and not line.startswith(" ") and out[-1:] == [()]
        style = "dim" if line.startswith("  ") else "bold" if heading else ""
        out.append(((clip(printable(line), width), style),) if line else ())
    if not view.steps_complete:
        out.append(())
        words = "The live view keeps the latest steps only: boundaries are told for the end. ctxmon backtest reads all."
        out.extend(((line, "dim"),) for line in wrap(words, width))
    return out


def empty_lines(snapshot: Snapshot | None, width: int) -> list[Line]:
    """The screen without any session: what was looked at, and how to go on."""
    out: list[Line] = [()]
    if snapshot is None or snapshot.loading:
        what = "Looking for logs …"
        if snapshot is not None and snapshot.files:
            what = f"Reading … {snapshot.files:,} files, {snapshot.bytes_read / 1e6:,.1f} MB"
        return [(), ((what, "bold"),)]
    out.append((("No calls of a model found yet", "bold"),))
    out.append(())
    if snapshot.searched:
        out.append((("Looked at", "dim"),))
        for place in snapshot.searched[:6]:
            out += [(("  " + line, ""),) for line in wrap(printable(place), max(1, width - 2))]
        if len(snapshot.searched) > 6:
            out.append(((f"  and {len(snapshot.searched) - 6} more places", "dim"),))
        out.append(())
    if snapshot.problems:
        out.append(((f"{len(snapshot.problems)} could not be read", "warn"),))
        for problem in snapshot.problems[:4]:
            for line in wrap(f"{printable(problem.file)}: {printable(problem.reason)}", width - 2):
                out.append((("  " + line, ""),))
        out.append(())
    out.append((("How to go on", "dim"),))
    for command, why in HOW_TO_GO_ON:
        if width >= 76:
            out.append((("  " + fill(command, 32), "accent"), (why, "")))
        else:
            out.append((("  " + command, "accent"),))
    out.append(())
    out.extend(
        ((line, "dim"),)
        for line in wrap(
            "This screen stays open: the first turn of a session that starts now appears by itself.", width
        )
    )
    return out


HOW_TO_GO_ON = (
    ("ctxmon PATH", "a log file, a folder, or - for stdin"),
    ("ctxmon sample_logs", "the samples that come with the source"),
    ("ctxmon record --upstream URL", "record a client through a local proxy"),
    ("ctxmon doctor PATH", "say what was found and what was not read"),
)
