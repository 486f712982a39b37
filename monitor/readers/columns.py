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

from collections.abc import Callable
from typing import Any

from monitor.readers import gateway_sqlite, known_tables, table_rows, usage
from monitor.readers import gateway_values as values
from monitor.readers.base import BaseParser, FileContext, Head, ReadError, read_head
from monitor.readers.column_map import ColumnMap, MapError, load_map, parse_map
from monitor.records import Call, Evidence, Purpose, SessionEvidence, Status

__all__ = ["READER", "READERS", "ColumnMap", "MapError", "load_map", "parse_map"]

#: the columns of our own ``calls`` tables
OWN = ColumnMap(
    {
        "time": "time",
        "model": "model",
        "prompt": "prompt_tokens",
        "cached": "cache_read_tokens",
        "cache_write": "cache_write_tokens",
        "cache_write_1h": "cache_write_1h_tokens",
        "output": "output_tokens",
        "reasoning": "reasoning_tokens",
        "session": "session",
        "chain": "chain",
        "provider": "provider",
        "status": "status",
        "id": "call_id",
        "duration_ms": "duration_ms",
        "purpose": "purpose",
        "context_limit": "context_limit",
    },
    input_includes_cached=True,
)
_OWN_COLUMNS = ("session", "session_evidence", "prompt_tokens", "cache_read_tokens", "output_tokens", "purpose")
_HINT = (
    "this table is of no known kind: name its columns with --map FILE; 'ctxmon doctor --suggest-map FILE' proposes one"
)

_FAILED = {"error", "failure", "failed", "false", "timeout", "aborted", "cancelled", "canceled", "rejected"}
_ESTIMATED = {"estimated", "estimate"}


class TableParser(BaseParser):
    """Reads one table; all rows are seen before the first call is made, as a later row may tell the usage rule."""

    def __init__(self, context: FileContext) -> None:
        super().__init__(context)
        self._session = values.placeholder(self.file)
        self._keys = values.Ordinals()

    def read(self, context: FileContext) -> None:
        columns = self.options.map if isinstance(self.options.map, ColumnMap) else None
        if columns is None:
            seen_first = table_rows.peek(read_head(context))
            kind = known_tables.kind_of(seen_first.columns, seen_first.rows[0] if seen_first.rows else None)
            if kind is not None:
                self._known(context, kind)
                return
            columns = _own(seen_first)
        get = getters(columns)
        found = []
        seen: set[str] = set()
        for line, row in table_rows.rows(context, self.problem, columns.rows):
            seen.update(row)
            found.append((line, row))
        if not found:
            return
        self._check(columns, seen, found[0][1])
        inclusive = columns.input_includes_cached
        if inclusive is None:
            inclusive = not any(_proves_exclusive(get, row) for _, row in found)
        for line, row in found:
            self.records.append(self._call(get, row, line, inclusive, columns))

    def _known(self, context: FileContext, kind: str) -> None:
        groups = values.Sightings("chain")
        found: dict[str, Call] = {}
        for line, row in table_rows.rows(context, self.problem):
            call = known_tables.call_of(kind, row, self.file, line)
            for one in groups.see(known_tables.group_of(kind, row), call) if call is not None else ():
                found[one.key] = one
        self.records += values.written_order(list(found.values()))

    def _check(self, columns: ColumnMap, seen: set[str], row: dict[str, Any]) -> None:
        for name, column in columns.columns.items():
            if column not in seen and column.split(".")[0] not in seen and values.at(row, column) is None:
                self.problem(None, f"the table has no column '{column}', which the map names for '{name}'")

    def _call(
        self, get: dict[str, Getter], row: dict[str, Any], line: int | None, inclusive: bool, columns: ColumnMap
    ) -> Call:
        tokens = _tokens(get, row, inclusive)
        status = _status(get["status"](row), tokens)
        if status == "error" and not tokens.prompt and not tokens.output:
            tokens = usage.UNKNOWN  # zeros of a request that was refused
        session = values.text(get["session"](row))
        chain, purpose = _place(values.text(get["chain"](row)), values.text(get["purpose"](row)))
        id = values.text(get["id"](row))
        unit = columns.time_unit if columns.time_unit != "iso" else None
        time = values.time_ms(get["time"](row), unit)
        model = values.text(get["model"](row))
        if time is None and "time" in columns.columns:
            self._bad_time(line)
        duration = values.number(get["duration_ms"](row))
        base = f"table:{session}:{time}:{model}:{tokens.prompt}:{tokens.read}:{tokens.output}"
        return Call(
            session=session or self._session,
            session_evidence=_evidence(session, row) if columns is OWN else "explicit" if session else "file",
            source=(values.text(row.get("source")) or "table") if columns is OWN else "table",
            file=self.file,
            line=line,
            chain=chain,
            purpose=purpose,
            call_id=id,
            key=id or self._keys.key(base),
            time=time,
            duration_ms=None if duration is None or duration < 0 else round(duration),
            provider=values.provider_name(get["provider"](row)),
            model=model,
            prompt_tokens=tokens.prompt,
            fresh_tokens=tokens.fresh,
            cache_read_tokens=tokens.read,
            cache_write_tokens=tokens.write,
            cache_write_1h_tokens=tokens.write_1h,
            output_tokens=tokens.output,
            reasoning_tokens=tokens.reasoning,
            billed_prompt_tokens=tokens.billed_prompt,
            context_limit=usage.count(get["context_limit"](row)),
            cost_usd=_own_cost(row) if columns is OWN else values.usd(get["cost"](row)),
            exchange=usage.count(row.get("exchange")) if columns is OWN else None,
            output_is_lower_bound=columns is OWN and values.truth(row.get("output_is_lower_bound")) is True,
            inherited=columns is OWN and values.truth(row.get("inherited")) is True,
            status=status,
            usage_rule=tokens.rule,
            evidence=None if session else Evidence(response_id=id, origin=values.origin("table", get["origin"](row))),
        )

    def _bad_time(self, line: int | None) -> None:
        if sum(1 for record in self.records if not isinstance(record, Call)) < 20:
            self.problem(line, "the time of this row cannot be read; the row counts, without a time")


def _own(found: table_rows.Peek) -> ColumnMap:
    if found.has(*_OWN_COLUMNS):
        return OWN
    raise ReadError(_HINT if found.columns or found.kind not in ("xlsx", "parquet") else table_rows.MISSING)


def _evidence(session: str | None, row: dict[str, Any]) -> SessionEvidence:
    word = row.get("session_evidence")
    if session is None or word not in ("explicit", "chain", "prefix", "lane", "file"):
        return "file" if session is None else "explicit"
    return word  # type: ignore[no-any-return]


def _own_cost(row: dict[str, Any]) -> float | None:
    """Only what a log stated; what came from a price table is worked out anew."""
    return values.usd(row.get("cost_usd")) if row.get("cost_source") == "logged" else None


Getter = Callable[[dict[str, Any]], Any]


def getters(columns: ColumnMap) -> dict[str, Getter]:
    """For every field a function from a row to its value; a field without a column is None in every row."""
    from monitor.readers.column_map import FIELDS

    return {name: _getter(columns.columns.get(name)) for name in FIELDS}


def _getter(column: str | None) -> Getter:
    if column is None:
        return _nothing
    name = column
    if "." in name:
        return lambda row: values.at(row, name)
    return lambda row: row.get(name)


def _nothing(row: dict[str, Any]) -> Any:
    return None


def _proves_exclusive(get: dict[str, Getter], row: dict[str, Any]) -> bool:
    prompt, read = usage.count(get["prompt"](row)), usage.count(get["cached"](row))
    return prompt is not None and read is not None and read > prompt


def _tokens(get: dict[str, Getter], row: dict[str, Any], inclusive: bool) -> usage.Tokens:
    count = usage.count
    prompt, fresh = count(get["prompt"](row)), count(get["fresh"](row))
    read, write = count(get["cached"](row)), count(get["cache_write"](row))
    output, reasoning = count(get["output"](row)), count(get["reasoning"](row))
    hour = count(get["cache_write_1h"](row))
    if prompt is None and fresh is None and output is None:
        return usage.UNKNOWN
    if prompt is None or (fresh is not None and not inclusive):
        return usage.additive(fresh, read, write, output, write_1h=hour, reasoning=reasoning, rule="table fresh")
    if not inclusive:
        return usage.additive(prompt, read, write, output, write_1h=hour, reasoning=reasoning, rule="table exclusive")
    # writes may overlap reads in some providers' figures: only a larger read proves a row exclusive
    guard = read is not None and read > prompt
    return usage.inclusive(prompt, read, write, output, write_1h=hour, reasoning=reasoning, rule="table", guard=guard)


def _place(chain: str | None, purpose: str | None) -> tuple[str, Purpose]:
    if purpose == "compaction":
        return chain or "side", "compaction"
    if purpose == "side" or chain == "side":
        return "side", "side"
    if chain is None or chain == "main" or chain.startswith("agent:"):
        return chain or "main", "work"
    return f"agent:{chain}", "work"


def _status(value: Any, tokens: usage.Tokens) -> Status:
    word = (values.text(value) or "").lower() if not isinstance(value, bool) else str(value).lower()
    code = usage.count(word)
    if word in _FAILED or (code is not None and 400 <= code < 600):
        return "error"
    if word in _ESTIMATED:
        return "estimated"
    return "in_flight" if word == "in_flight" and tokens.prompt is None else "ok"


class TableReader:
    """Tables by a column map, and our own ``calls`` tables."""

    source = "table"
    title = "table with a column map"
    lines = False

    def sniff(self, head: Head) -> float:
        found = table_rows.peek(head)
        if found.has(*_OWN_COLUMNS):
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
