"""Columns of a table to clean cells, a batch at a time: Parquet by column, CSV and JSON lines by row.

A cell is what :mod:`monitor.readers.table_calls` makes calls of; its cleaning functions are used here too. Only for
columns whose type leaves nothing to decide (whole numbers, timestamps, names) is the same done for a whole column at
once; a test holds both ways equal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from monitor.readers import gateway_values as values
from monitor.readers import table_rows
from monitor.readers.base import ReadError, open_plain
from monitor.readers.column_map import ColumnMap
from monitor.readers.columns import cell_reader
from monitor.readers.json_stream import JsonAssembler
from monitor.readers.lines import iterate
from monitor.readers.table_calls import CELLS, OWN, OWN_CELLS, cleaners, own_cost

if TYPE_CHECKING:
    import pyarrow as pa

ROWS = 131_072  # rows of a batch: a few tens of MB
_TEXT = ("model", "session", "chain", "provider", "status", "id", "purpose", "origin", "session_evidence", "source")
_FLAGS = ("output_is_lower_bound", "inherited")
_COUNTS = tuple(name for name in CELLS if name not in (*_TEXT, *_FLAGS, "time", "cost", "duration_ms"))
_PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


class Batch:
    """Rows of a table: a column of clean cells for every field that has one, and where each row stands."""

    __slots__ = ("cells", "lines", "rows")

    def __init__(self, cells: dict[str, pa.Array], rows: int, lines: list[int | None] | None = None) -> None:
        self.cells, self.rows, self.lines = cells, rows, lines


def type_of(cell: str) -> pa.DataType:
    """The Arrow type a cell is kept in."""
    import pyarrow as pa

    if cell in _TEXT:
        return pa.string()
    if cell in _FLAGS:
        return pa.bool_()
    return pa.float64() if cell == "cost" else pa.int64()


class Table:
    """One table of calls on disk.

    Args:
        path: Parquet, CSV or JSON lines, the latter also compressed.
        name: as people know it.
        columns: which column holds what; None: it is a table that ``ctxmon calls`` wrote.
        note: is told of each place that could not be read.
    """

    def __init__(
        self, path: Path, name: str, columns: ColumnMap | None, note: Callable[[int | None, str], None]
    ) -> None:
        self.path, self.name, self.note = path, name, note
        self.own = columns is None
        self.map = OWN if columns is None else columns
        self._clean = cleaners(self.map)
        self._missing: dict[str, str] = {}

    # ------------------------------------------------------------------------------------------------ parquet
    def parquet(self, first: int = 0, end: int | None = None) -> Iterator[Batch]:
        """Batches of some of the row groups of a Parquet file.

        Raises:
            ReadError: it is damaged.
        """
        import pyarrow as pa
        from pyarrow import parquet

        try:
            with parquet.ParquetFile(self.path) as file:
                names = set(file.schema_arrow.names)
                sources = {cell: found for cell in CELLS if (found := self._source(cell, names)) is not None}
                wanted = sorted({column for column, _ in sources.values()} | ({"cost_source"} & names))
                groups = range(first, file.num_row_groups if end is None else end)
                for batch in file.iter_batches(ROWS, row_groups=list(groups), columns=wanted, use_threads=False):
                    yield self._from_arrow(batch, sources)
                if not first and file.metadata.num_rows:
                    self._tell_missing(names)
        except pa.ArrowException as error:
            raise ReadError("this Parquet file cannot be read to its end; it is damaged or cut off") from error

    def last_time(self, before: int) -> int:
        """The last known time in the row groups before one: where rows without a time stand; 0 if there is none."""
        from pyarrow import parquet

        with parquet.ParquetFile(self.path) as file:
            source = self._source("time", set(file.schema_arrow.names))
            for group in range(before - 1, -1, -1) if source is not None else ():
                column = file.read_row_group(group, columns=[source[0]])  # type: ignore[index]
                for batch in reversed(column.to_batches()):
                    cells = self._from_arrow(batch, {"time": source}).cells["time"]  # type: ignore[dict-item]
                    known = cells.drop_null()
                    if len(known):
                        return int(known[-1].as_py())
        return 0

    def _source(self, cell: str, names: set[str]) -> tuple[str, str] | None:
        """The column that holds a cell, and the path inside it ("" for the column itself)."""
        if self.own and cell in (*OWN_CELLS, "cost"):
            column: str | None = "cost_usd" if cell == "cost" else cell
        else:
            column = self.map.columns.get(cell)
        if column is None:
            return None
        if column in names:
            return column, ""
        head, dot, rest = column.partition(".")
        while dot:
            if head in names:
                return head, column
            part, dot, rest = rest.partition(".")
            head = f"{head}.{part}"
        self._missing[cell] = column
        return None

    def _from_arrow(self, batch: pa.RecordBatch, sources: dict[str, tuple[str, str]]) -> Batch:
        cells: dict[str, pa.Array] = {}
        for cell, (column, path) in sources.items():
            array = batch.column(column)
            if path:
                array = [values.at({column: value}, path) for value in array.to_pylist()]
            elif self.own and cell == "cost":
                told = batch.column("cost_source").to_pylist() if "cost_source" in batch.schema.names else ()
                array = [own_cost(cost, source) for cost, source in zip(array.to_pylist(), told)] or [None] * len(array)
            cells[cell] = tidy(cell, array, self._clean[cell])
        return Batch(cells, batch.num_rows)

    # ------------------------------------------------------------------------------------------------ rows
    def rows(self, kind: str) -> Iterator[Batch]:
        """Batches of a CSV or JSON lines file, read as a stream.

        Raises:
            ReadError: it is damaged.
            OSError: as usual.
        """
        mapped = [cell for cell in CELLS if self._mapped(cell)]
        read = cell_reader(self.map, mapped)
        seen: set[str] = set()
        first: dict[str, Any] | None = None
        lines: list[int | None] = []
        found: list[list[Any]] = []
        with open_plain(self.path) as stream:
            rows = table_rows.csv_rows(stream, self.note) if kind == "csv" else self._json(stream)
            for line, row in rows:
                first = first or row
                seen.update(row)
                lines.append(line)
                found.append(read(row))
                if len(found) >= ROWS:
                    yield _from_rows(found, lines, mapped)
                    lines, found = [], []
        if found:
            yield _from_rows(found, lines, mapped)
        for cell, column in self.map.columns.items():
            if column not in seen and column.split(".")[0] not in seen and values.at(first or {}, column) is None:
                self._missing[cell] = column
        self._tell_missing(seen)

    def _mapped(self, cell: str) -> bool:
        return cell in self.map.columns or (self.own and cell in (*OWN_CELLS, "cost"))

    def _json(self, stream: Any) -> Iterator[tuple[int | None, dict[str, Any]]]:
        assembler = JsonAssembler(self.note)
        for number, line in enumerate(iterate(stream), 1):
            for at, value in assembler.push(line, number):
                for row in table_rows.unwrap(value, self.map.rows)[0]:
                    if isinstance(row, dict):
                        yield at, row
        assembler.finish()

    def _tell_missing(self, names: set[str]) -> None:
        if not names or self.own:
            return
        for cell, column in self._missing.items():
            self.note(None, f"the table has no column '{column}', which the map names for '{cell}'")

    def constants(self) -> dict[str, Any]:
        """Cells that no column tells: the same in every row."""
        return {cell: None if self._mapped(cell) else self._clean[cell](None) for cell in CELLS}


def tidy(cell: str, array: Any, clean: Callable[[Any], Any]) -> pa.Array:
    """A column of raw values as a column of clean cells."""
    import pyarrow as pa

    kind = type_of(cell)
    if isinstance(array, list):
        return pa.array([clean(value) for value in array], kind)
    if cell in _COUNTS and pa.types.is_signed_integer(array.type):
        return _not_negative(array.cast(pa.int64()))
    if cell == "time" and pa.types.is_timestamp(array.type):
        found = _milliseconds(array)
        if found is not None:
            return found
    elif cell in _TEXT and _is_text(array.type):
        coded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
        names = pa.array([clean(value) for value in coded.dictionary.to_pylist()], kind)
        if cell != "origin" or not coded.null_count:  # no origin is an origin, too
            return names.take(coded.indices)
    return pa.array([clean(value) for value in array.to_pylist()], kind)


def _is_text(kind: pa.DataType) -> bool:
    from pyarrow import types

    return types.is_string(kind) or types.is_large_string(kind) or types.is_dictionary(kind)  # type: ignore[no-any-return]


def _not_negative(array: pa.Array) -> pa.Array:
    import pyarrow as pa
    from pyarrow import compute

    least = compute.min(array).as_py()
    if least is None or least >= 0:
        return array
    return compute.if_else(compute.less(array, 0), pa.scalar(None, pa.int64()), array)


def _milliseconds(array: pa.Array) -> pa.Array | None:
    """Timestamps in milliseconds since the epoch; None where one lies before it."""
    import pyarrow as pa
    from pyarrow import compute

    ticks = _PER_SECOND[array.type.unit]
    number = array.cast(pa.int64())
    least = compute.min(number).as_py()
    if least is not None and least < 0:
        return None
    if ticks < 1_000:
        return compute.multiply(number, 1_000 // ticks)
    return compute.divide(number, ticks // 1_000)


def _from_rows(rows: list[list[Any]], lines: list[int | None], mapped: list[str]) -> Batch:
    import pyarrow as pa

    cells = {cell: pa.array([row[n] for row in rows], type_of(cell)) for n, cell in enumerate(mapped)}
    return Batch(cells, len(rows), list(lines))
