"""The page about the decision table, written from the table itself, so that the two cannot differ."""

from __future__ import annotations

import msgspec

from monitor.decision.model import ACTION_WORDS, EXIT_CODES
from monitor.decision.specs import SPECS, WORDS
from monitor.decision.table import Condition, Row, Table, condition_source

_INTRO = """\
# The decision table

*Written by `scripts/build_data.py` from `monitor/data/decision.yaml`; change that file, not this one.*

`ctxmon decide` measures a session (the signals below), asks the rows from the top, and the first one whose
condition is true decides. A signal that is not known makes a condition neither true nor false; the row then does not
fire. `ctxmon decide --explain` prints every row with the values it saw.

Your own table: `ctxmon decide --print-table > mine.yaml`, change it, and try `ctxmon decide --table mine.yaml
--explain`. A mistake is reported with its line. `ctxmon backtest --table mine.yaml` shows what it would have said in
past sessions.
"""

_CONFIDENCE = """\
## Confidence

* **low**: the window is not known (only rules on absolute sizes can fire), or fewer than 8 calls since the last reset
  have shown how the context grows;
* **medium**: the rule fired on estimated or assumed signals only (boundary score, forecast, assumed calls to come);
* **high**: it fired on figures from the log and the client's known limits.

## Taking advice back

Advice is raised at once. A row marked *sticky* is taken back only after {calls} calls on which the size lay at least
{points} points below its thresholds, or by a compaction, or by a row above it. After a compaction a session counts as
*settled* after {rest} calls or {growth} growth; rows that need it stay silent until then, so that one compaction does
not ask for the next.

## Costs

`continue`, `compact` and `new window` are compared over the calls still to come, in USD at the price table's rates:
reading the prefix from the cache, writing what is new, the summary call, the rewrite after it, notes and re-reading in
a new window. Each request is billed at the price step of its own size. Without a known price there are no costs, and
break-evens use the usual ratios (read 0.1, write 1.25 or 2, output 5) and say so.
"""


def handbook(table: Table) -> str:
    """The page as Markdown."""
    settings = table.settings
    out = [_INTRO, "\n## Rows, in order\n\n", "| # | rule | when | advice |\n|---|---|---|---|\n"]
    for n, row in enumerate(table.rows, 1):
        when = "otherwise" if row.when is None else _cell(row.when)
        out.append(f"| {n} | [`{row.id}`](#{row.id}) | {when} | {ACTION_WORDS[row.action]} |\n")
    out.append("\n")
    for row in table.rows:
        out.append(_row(row))
    out.append(_exit_codes())
    out.append(
        _CONFIDENCE.format(
            calls=settings.hysteresis.calls,
            points=f"{settings.hysteresis.points * 100:g}",
            rest=settings.after_compaction.calls,
            growth=f"{settings.after_compaction.growth:.0%}",
        )
    )
    out.append(_settings(table))
    out.append(_signals())
    return "".join(out)


def _cell(condition: Condition) -> str:
    return f"`{condition_source(condition)}`"


def _row(row: Row) -> str:
    lines = [f"### {row.id}\n\n{row.title}: **{ACTION_WORDS[row.action]}**"]
    lines.append(" (sticky).\n\n" if row.sticky else ".\n\n")
    lines += [f"* {text}\n" for text in row.reasons]
    if row.next:
        lines.append(f"* What would change it: {row.next}\n")
    if row.source:
        lines.append(f"* Why: {row.source}.\n")
    return "".join(lines) + "\n"


def _exit_codes() -> str:
    lines = ["## Exit codes of `ctxmon decide --exit-code`\n\n", "| code | advice | in JSON |\n|---|---|---|\n"]
    lines += [f"| {EXIT_CODES[action]} | {word} | `{action}` |\n" for action, word in ACTION_WORDS.items()]
    lines.append("| 3 | no session was found | |\n\n")
    return "".join(lines)


def _settings(table: Table) -> str:
    lines = ["\n## Assumptions\n\n", "Used only where the log does not tell; `settings:` of a table changes them.\n\n"]
    lines.append("| setting | value |\n|---|---|\n")
    for name, value in msgspec.to_builtins(_full(table)).items():
        if isinstance(value, dict):
            for inner, number in value.items():
                lines.append(f"| {name}.{inner} | {_number(number)} |\n")
        else:
            lines.append(f"| {name} | {_number(value)} |\n")
    return "".join(lines)


def _full(table: Table) -> dict[str, object]:
    out: dict[str, object] = {}
    for field in msgspec.structs.fields(type(table.settings)):
        value = getattr(table.settings, field.name)
        if isinstance(value, msgspec.Struct):
            value = {f.name: getattr(value, f.name) for f in msgspec.structs.fields(type(value))}
        out[field.name] = value
    return out


def _number(value: object) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.0%}"
    return "none" if not value else str(value)


def _signals() -> str:
    lines = ["\n## Signals\n\n", "| signal | kind | meaning |\n|---|---|---|\n"]
    for spec in SPECS.values():
        kind = " / ".join(WORDS[spec.id]) if spec.id in WORDS else spec.kind
        meaning = f"{spec.title}: {spec.meaning}" if spec.meaning else spec.title
        lines.append(f"| `{spec.id}` | {kind} | {meaning.replace('|', chr(92) + '|')} |\n")
    return "".join(lines)
