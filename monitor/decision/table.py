"""The decision table: ordered rows of conditions on signals; the first row that fires decides.

The built-in table is written in ``monitor/data/decision.yaml`` and compiled into ``decision.json`` by
``scripts/build_data.py``, so that deciding needs no YAML parser. A user's own table is read by
:mod:`monitor.decision.table_source`. A condition knows three outcomes: true, false, and unknown (None) where a signal
is unknown; only true fires a row.
"""

import operator
import os.path
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

import msgspec

from monitor.decision.model import Action, RowTrace
from monitor.decision.specs import SPECS, shown, shown_as

PATH = os.path.join(os.path.dirname(os.path.dirname(__file__)), "data", "decision.json")
#: what it is compiled from
SOURCE = os.path.splitext(PATH)[0] + ".yaml"
Values = Mapping[str, Any]
Test = Callable[[Values], bool | None]
OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


class TableError(ValueError):
    """A table that cannot be used: ``str()`` names the file, the line and what is expected there."""

    def __init__(self, file: str, line: int | None, expected: str) -> None:
        self.file, self.line, self.expected = file, line, expected
        super().__init__(f"{file}, line {line}: {expected}" if line is not None else f"{file}: {expected}")


class Condition(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """One comparison, or a group. Exactly one of ``signal``, ``all``, ``any`` is set.

    ``op``: a comparison, ``is`` (bool), ``not`` (bool), ``known`` or ``unknown``. The right side is ``value`` or
    ``times`` x the signal ``other``.
    """

    signal: str = ""
    op: str = ""
    value: float | str | None = None
    other: str = ""
    times: float = 1.0
    all: "tuple[Condition, ...]" = ()
    any: "tuple[Condition, ...]" = ()


class Row(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """One rule. ``reasons``: sentences with ``{signal}`` in braces; one with an unknown signal is left out.

    ``sticky``: once advised, it is taken back only after some calls clearly below its thresholds (hysteresis).
    """

    id: str
    title: str
    action: Action
    reasons: tuple[str, ...]
    when: Condition | None = None  # None: always
    next: str = ""
    sticky: bool = False
    source: str = ""


class Quality(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """Sizes above which answers get worse. Absolute for large windows, shares of smaller ones."""

    large_window: int = 400_000
    soft: int = 200_000
    hard: int = 400_000
    soft_share: float = 0.60
    hard_share: float = 0.80
    models: dict[str, tuple[int, int]] = {}  # name pattern: (soft, hard)


class Hysteresis(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A sticky row is taken back after ``calls`` calls at least ``points`` (share of the limit) below it."""

    points: float = 0.03
    calls: int = 2


class Rest(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """After a compaction a session is settled after this many calls or this much growth (share of the limit)."""

    calls: int = 5
    growth: float = 0.10


class Settings(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """Assumptions where the log does not tell. Tokens, but for the calls."""

    remaining_calls: int = 20
    growth_tokens: int = 1_700
    fixed_tokens: int = 20_000
    fixed_tokens_max: int = 40_000
    summary_tokens: int = 4_000
    keep_tokens: int = 10_000
    instruction_tokens: int = 1_000
    notes_tokens: int = 2_000
    reread_tokens: int = 15_000
    rework_calls: int = 4
    optimal_min: int = 60_000
    optimal_max: int = 250_000
    quality: Quality = Quality()
    hysteresis: Hysteresis = Hysteresis()
    after_compaction: Rest = Rest()

    def caps(self, model: str | None, window: int | None) -> tuple[int, int]:
        """Soft and hard quality cap in tokens for a model with that window."""
        q = self.quality
        for pattern, caps in q.models.items():
            if fnmatchcase(model or "", pattern):
                return caps
        if window is None or window >= q.large_window:
            return q.soft, q.hard
        return round(window * q.soft_share), round(window * q.hard_share)


class Table(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """Rows in order and the assumptions."""

    rows: tuple[Row, ...]
    settings: Settings = Settings()
    name: str = "built-in"


_compiled: dict[int, tuple[Table, tuple[Test | None, ...]]] = {}
_alone: dict[int, tuple[Condition, Test]] = {}
_builtin: Table | None = None


def builtin() -> Table:
    """The built-in table (read once per process, about 0.2 ms)."""
    global _builtin
    if _builtin is None:
        with open(PATH, "rb") as stream:
            _builtin = msgspec.json.decode(stream.read(), type=Table)
    return _builtin


def tests_of(table: Table) -> tuple[Test | None, ...]:
    """The rows' conditions as functions, made once per table."""
    hit = _compiled.get(id(table))
    if hit is None or hit[0] is not table:
        hit = (table, tuple(None if row.when is None else _compile(row.when) for row in table.rows))
        if len(_compiled) > 16:
            _compiled.clear()
        _compiled[id(table)] = hit
    return hit[1]


def first(table: Table, values: Values) -> Row | None:
    """The first row that fires; None if none does (a user's table without a last row for everything)."""
    for row, test in zip(table.rows, tests_of(table)):
        if test is None or test(values) is True:
            return row
    return None


def fires(table: Table, id: str, values: Values) -> bool:
    """Whether the row of that id fires, whatever stands above it."""
    return any(
        row.id == id and (test is None or test(values) is True) for row, test in zip(table.rows, tests_of(table))
    )


def holds(condition: Condition, values: Values) -> bool:
    """Whether one condition is true by itself."""
    hit = _alone.get(id(condition))
    if hit is None or hit[0] is not condition:
        if len(_alone) > 256:
            _alone.clear()
        hit = _alone[id(condition)] = (condition, _compile(condition))
    return hit[1](values) is True


def _compile(condition: Condition) -> Test:
    if condition.all:
        return _all(tuple(map(_compile, condition.all)))
    if condition.any:
        return _any(tuple(map(_compile, condition.any)))
    name, op = condition.signal, condition.op
    if op == "is":
        return lambda v: v.get(name)
    if op == "not":
        return lambda v: None if (x := v.get(name)) is None else not x
    if op == "known":
        return lambda v: v.get(name) is not None
    if op == "unknown":
        return lambda v: v.get(name) is None
    compare = OPERATORS[op]
    if condition.other:
        return _against(name, compare, condition.other, condition.times)
    value = condition.value
    return lambda v: None if (x := v.get(name)) is None else compare(x, value)


def _against(name: str, compare: Callable[[Any, Any], bool], other: str, times: float) -> Test:
    def test(values: Values) -> bool | None:
        left, right = values.get(name), values.get(other)
        return None if left is None or right is None else compare(left, right * times)

    return test


def _all(parts: tuple[Test, ...]) -> Test:
    def test(values: Values) -> bool | None:
        out: bool | None = True
        for part in parts:
            got = part(values)
            if got is False:
                return False
            if got is None:
                out = None
        return out

    return test


def _any(parts: tuple[Test, ...]) -> Test:
    def test(values: Values) -> bool | None:
        out: bool | None = False
        for part in parts:
            got = part(values)
            if got:
                return True
            if got is None:
                out = None
        return out

    return test


# ----------------------------------------------------------------------------------------------------- words
def condition_text(condition: Condition, values: Values | None = None) -> str:
    """A condition for people; with values, the signal's own value stands beside it: ``fill 71 % >= 85 %``."""
    if condition.all or condition.any:
        word = " and " if condition.all else " or "
        return word.join(
            f"({condition_text(part, values)})" if part.all or part.any else condition_text(part, values)
            for part in condition.all or condition.any
        )
    spec = SPECS[condition.signal]
    now = "" if values is None else f" {shown(condition.signal, values.get(condition.signal))}"
    if condition.op == "is":
        return f"{spec.title}" + (f" ({now.strip()})" if now else "")
    if condition.op == "not":
        return f"not {spec.title}" + (f" ({now.strip()})" if now else "")
    if condition.op in ("known", "unknown"):
        return f"{spec.title}{now} is {condition.op}"
    if condition.other:
        times = "" if condition.times == 1 else f"{condition.times:g} × "
        right = times + SPECS[condition.other].title
        if values is not None:
            right += f" {shown(condition.other, values.get(condition.other))}"
        return f"{spec.title}{now} {condition.op} {right}"
    value = condition.value
    return f"{spec.title}{now} {condition.op} {value if isinstance(value, str) else shown_as(spec.kind, value)}"


def condition_source(condition: Condition) -> str:
    """A condition as it may be written in a table, groups as ``all``/``any`` in words: ``fill >= 85%``."""
    if condition.all or condition.any:
        word = " and " if condition.all else " or "
        return word.join(
            f"({condition_source(part)})" if part.all or part.any else condition_source(part)
            for part in condition.all or condition.any
        )
    name, op = condition.signal, condition.op
    if op in ("is", "not"):
        return name if op == "is" else f"not {name}"
    if op in ("known", "unknown"):
        return f"{name} is {op}"
    if condition.other:
        return f"{name} {op} " + ("" if condition.times == 1 else f"{condition.times:g} * ") + condition.other
    value = condition.value
    if SPECS[name].kind == "share" and isinstance(value, float):
        return f"{name} {op} {value * 100:g}%"
    if SPECS[name].kind == "tokens" and isinstance(value, float) and value and value % 1000 == 0:
        return f"{name} {op} {value / 1000:g}k"
    return f"{name} {op} {value:g}" if isinstance(value, float) else f"{name} {op} {value}"


def trace(table: Table, values: Values, chosen: str) -> tuple[RowTrace, ...]:
    """Every row with the outcome of each of its conditions; ``fired`` marks the one that decided."""
    out = []
    for row in table.rows:
        parts: Sequence[Condition] = () if row.when is None else row.when.all or (row.when,)
        lines = tuple((condition_text(part, values), _compile(part)(values)) for part in parts)
        out.append(
            RowTrace(rule=row.id, fired=row.id == chosen, action=row.action, conditions=lines or (("always", True),))
        )
    return tuple(out)


def sentences(row: Row, values: Values) -> tuple[str, ...]:
    """The row's reasons with numbers filled in; a sentence that needs an unknown signal is left out."""
    return tuple(text for template in row.reasons if (text := fill_in(template, values)) is not None)


def fill_in(template: str, values: Values) -> str | None:
    """Replace ``{signal}`` by its value in words; None if one of them is unknown."""
    out = []
    rest = template
    while True:
        before, brace, after = rest.partition("{")
        out.append(before)
        if not brace:
            return "".join(out)
        name, _, rest = after.partition("}")
        value = values.get(name)
        if value is None:
            return None
        out.append(shown(name, value))
