"""Any table of calls by a column map (``--map FILE``).

Where: any CSV, TSV, JSON, JSON-lines, XLSX or Parquet file with one row for each call: exports of Vercel and in-house
gateways, access logs, forks with their own columns. ``ctxmon doctor --suggest-map FILE`` proposes a map. Without a map
are read: the table that ``ctxmon calls --format csv`` writes, and tables of known shape (JSON logs of Kong, Envoy AI
Gateway with the field names of its examples, rows of Bifrost and Braintrust: :mod:`monitor.readers.known_tables`).

What is read: the columns the map names; see :mod:`monitor.readers.column_map`. Delimiter and encoding are found; the
unit of a time is told by the size of its number unless the map says it; times without a zone are UTC.

Prompt tokens: ``prompt`` includes the cached part if the map says ``input_includes_cached: true`` and leaves it out if
it says false. If it says nothing the rows decide: one row whose cached part is larger than its prompt proves for the
whole table that prompts leave it out; else they include it. ``fresh`` (input without cache) may stand for ``prompt``.

Unknown: every field without a column. Without a session column sessions are formed from origin, model and growth. A row
without any token is a call whose usage is unknown; with a status that tells of a failure it is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from monitor.readers import gateway_sqlite, known_tables, table_rows
from monitor.readers import gateway_values as values
from monitor.readers.base import BaseParser, FileContext, Head, ReadError, read_head
from monitor.readers.column_map import ColumnMap, MapError, load_map, parse_map
from monitor.readers.table_calls import CELLS, OWN, OWN_CELLS, Maker, cleaners, own_cost, proves_exclusive
from monitor.records import Call

__all__ = ["READER", "READERS", "ColumnMap", "MapError", "load_map", "parse_map"]

_TIME, _PROMPT, _READ = (CELLS.index(name) for name in ("time", "prompt", "cached"))
OWN_COLUMNS = ("session", "session_evidence", "prompt_tokens", "cache_read_tokens", "output_tokens", "purpose")
_HINT = (
    "this table is of no known kind: name its columns with --map FILE; 'ctxmon doctor --suggest-map FILE' proposes one"
)


#: fields of a map that make a row a call
_COUNTS = {"prompt", "fresh", "cached", "cache_write", "output"}


class TableParser(BaseParser):
    """Reads one table; all rows are seen before the first call is made, as a later row may tell the usage rule."""

    def read(self, context: FileContext) -> None:
        columns = self.options.map if isinstance(self.options.map, ColumnMap) else None
        if columns is None:
            seen_first = table_rows.peek(read_head(context))
            kind = known_tables.kind_of(seen_first.columns, seen_first.rows[0] if seen_first.rows else None)
            if kind is not None:
                self._known(context, kind)
                return
            columns = _own(seen_first)
        cells_of = cell_reader(columns)
        found: list[tuple[int | None, list[Any]]] = []
        seen: set[str] = set()
        first: dict[str, Any] | None = None
        for line, row in table_rows.rows(context, self.problem, columns.rows):
            first = first or row
            seen.update(row)
            found.append((line, cells_of(row)))
        if not found:
            if columns.rows:
                self.problem(None, f"there are no rows at '{columns.rows}', where the map says they are")
            return
        if self._check(columns, seen, first or {}):
            return  # rows without any count are no calls
        inclusive = columns.input_includes_cached
        if inclusive is None:
            inclusive = not any(proves_exclusive(cells[_PROMPT], cells[_READ]) for _, cells in found)
        maker = Maker(self.file)
        for line, cells in found:
            if cells[_TIME] is None and "time" in columns.columns:
                self._bad_time(line)
            self.records.append(maker.call(cells, line, inclusive))

    def _known(self, context: FileContext, kind: str) -> None:
        groups = values.Sightings("chain")
        found: dict[str, Call] = {}
        for line, row in table_rows.rows(context, self.problem):
            call = known_tables.call_of(kind, row, self.file, line)
            for one in groups.see(known_tables.group_of(kind, row), call) if call is not None else ():
                found[one.key] = one
        self.records += values.written_order(list(found.values()))

    def _check(self, columns: ColumnMap, seen: set[str], row: dict[str, Any]) -> bool:
        """Say which columns of the map are not there; True if none of those with tokens is."""
        missing = set()
        for name, column in columns.columns.items():
            if column not in seen and column.split(".")[0] not in seen and values.at(row, column) is None:
                self.problem(None, f"the table has no column '{column}', which the map names for '{name}'")
                missing.add(name)
        return _COUNTS.isdisjoint(columns.columns.keys() - missing)

    def _bad_time(self, line: int | None) -> None:
        if sum(1 for record in self.records if not isinstance(record, Call)) < 20:
            self.problem(line, "the time of this row cannot be read; the row counts, without a time")


def _own(found: table_rows.Peek) -> ColumnMap:
    if found.has(*OWN_COLUMNS):
        return OWN
    raise ReadError(_HINT if found.columns or found.kind not in ("xlsx", "parquet") else table_rows.MISSING)


Getter = Callable[[Any], Any]


def cell_reader(columns: ColumnMap, names: Sequence[str] = CELLS) -> Callable[[dict[str, Any]], list[Any]]:
    """A function from a row to its cells (some of :data:`table_calls.CELLS`); what has no column is always unknown."""
    own = columns is OWN
    steps: list[tuple[Getter, Getter]] = []
    clean = cleaners(columns)
    for name in names:
        column = name if own and name in OWN_CELLS else columns.columns.get(name)
        steps.append((clean[name], _own_cost if own and name == "cost" else _getter(column)))
    return lambda row: [tidy(get(row)) for tidy, get in steps]


def _own_cost(row: dict[str, Any]) -> Any:
    return own_cost(row.get("cost_usd"), row.get("cost_source"))


def _getter(column: str | None) -> Getter:
    if column is None:
        return _nothing
    name = column
    if "." in name:
        return lambda row: values.at(row, name)
    return lambda row: row.get(name)


def _nothing(row: dict[str, Any]) -> Any:
    return None


class TableReader:
    """Tables by a column map, and our own ``calls`` tables."""

    source = "table"
    title = "table with a column map"
    lines = False

    def sniff(self, head: Head) -> float:
        found = table_rows.peek(head)
        if found.has(*OWN_COLUMNS):
            return 0.9
        if known_tables.kind_of(found.columns, found.rows[0] if found.rows else None) is not None:
            return 0.8
        if found.kind in ("xlsx", "parquet") and not found.columns:
            return 0.4  # cannot be looked into: reading it says what is missing
        return 0.0

    def parser(self, context: FileContext) -> TableParser:
        return TableParser(context)


class BifrostParser(BaseParser):
    """Reads the table ``logs`` of Bifrost's SQLite file."""

    def read(self, context: FileContext) -> None:
        for row in gateway_sqlite.rows(context, "logs", known_tables.BIFROST, "timestamp"):
            self.records.append(known_tables.bifrost_call(row, self.file, None))


class BifrostDatabase:
    """Bifrost's database file (``logs.db``)."""

    source = "table"
    title = "Bifrost database"
    lines = False

    def sniff(self, head: Head) -> float:
        return 0.95 if gateway_sqlite.has_table(head, "logs", "token_usage", "provider", "object_type") else 0.0

    def parser(self, context: FileContext) -> BifrostParser:
        return BifrostParser(context)


READER = TableReader()
READERS = [READER, BifrostDatabase()]
