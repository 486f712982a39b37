"""The contract's JSON as tables written by hand, and a check of any value against them.

One line a field: name, then its type. ``?`` behind a type: null where unknown. A word list after the type is the whole
vocabulary of the field. ``[NAME]``: a list of records of that table; ``{NAME}``: one record (``{NAME}?`` or null).
Types: ``str`` (not empty), ``text`` (may be empty), ``int`` (0 or more), ``count`` (1 or more), ``num`` (finite),
``bool``, ``time`` (UTC, ISO 8601, milliseconds, Z), ``date``, ``strs`` (list of str), ``texts``, ``counts`` ({str: int}),
``any``.
A field that the contract does not name may be there as well; one that it names has to be there.
"""

from __future__ import annotations

import math
import re
from typing import Any

from tests.e2e import contract_tables

_TIME = re.compile(r"\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-5]\d\.\d{3}Z")
_DATE = re.compile(r"\d{4}-[01]\d-[0-3]\d")
_CHAIN = re.compile(r"main|side|agent:.+", re.S)


def _whole(value: Any) -> bool:
    return type(value) is int and value >= 0


def _number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


_TYPES = {
    "str": lambda value: isinstance(value, str) and value != "",
    "text": lambda value: isinstance(value, str),
    "int": _whole,
    "count": lambda value: _whole(value) and value > 0,
    "num": _number,
    "ratio": lambda value: _number(value) and 0 <= value <= 1,
    "bool": lambda value: isinstance(value, bool),
    "time": lambda value: isinstance(value, str) and _TIME.fullmatch(value) is not None,
    "date": lambda value: isinstance(value, str) and _DATE.fullmatch(value) is not None,
    "chain": lambda value: isinstance(value, str) and _CHAIN.fullmatch(value) is not None,
    "texts": _texts,
    "strs": lambda value: _texts(value) and "" not in value,
    "counts": lambda value: isinstance(value, dict) and all(_whole(number) for number in value.values()),
    "any": lambda value: True,
}


class Field:
    """One line of a table."""

    def __init__(self, line: str) -> None:
        self.name, kind, *words = line.split()
        self.nullable = kind.endswith("?")
        self.kind = kind.rstrip("?")
        self.words = frozenset(words)


def _parse(text: str) -> dict[str, list[Field]]:
    tables: dict[str, list[Field]] = {}
    parents: dict[str, str] = {}
    current = ""
    for line in text.splitlines():
        if line.startswith("  "):
            tables[current].append(Field(line))
        elif line.strip():
            current, _, parent = line.partition(" + ")
            tables[current] = []
            if parent:
                parents[current] = parent
    for name, parent in parents.items():
        tables[name] = tables[parent] + tables[name]
    return tables


TABLES = _parse(contract_tables.TABLES)


def names(table: str) -> list[str]:
    """The fields of a table, in order."""
    return [field.name for field in TABLES[table]]


def faults(value: Any, table: str, where: str = "") -> list[str]:
    """Everything in which a value differs from its table; empty if nothing."""
    where = where or table
    if not isinstance(value, dict):
        return [f"{where}: {value!r} is no object"]
    found: list[str] = []
    for field in TABLES[table]:
        place = f"{where}.{field.name}"
        if field.name not in value:
            found.append(f"{place}: missing")
            continue
        item = value[field.name]
        if item is None:
            if not field.nullable:
                found.append(f"{place}: null")
        elif field.kind.startswith("["):
            if not isinstance(item, list):
                found.append(f"{place}: {item!r} is no list")
            else:
                for number, row in enumerate(item):
                    found += faults(row, field.kind[1:-1], f"{place}[{number}]")
        elif field.kind.startswith("{"):
            found += faults(item, field.kind[1:-1], place)
        elif not _TYPES[field.kind](item):
            found.append(f"{place}: {item!r} is no {field.kind}")
        elif field.words and not set(item if isinstance(item, dict) else [item]) <= field.words:
            found.append(f"{place}: {item!r} is none of {sorted(field.words)}")
    return found
