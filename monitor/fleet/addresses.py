"""Gateway databases as a stream of records: so many rows at a time, never the whole table.

What a row means is decided by the readers of :mod:`monitor.sources.database`; here it is only read in pieces. LiteLLM
makes up a session id for each call that brings none: the database itself counts how often an id occurs, so that no
list of all ids is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

from monitor.readers import gateway_values as values
from monitor.readers import known_tables, litellm, new_api
from monitor.readers.base import ReadError, ReadOptions
from monitor.readers.new_api_rows import lenient_row
from monitor.records import Call, Record
from monitor.sources import database
from monitor.sources.address import REST, read_address

CHUNK = 20_000
_TIMES = "ctxmon_times"
Make = Callable[[list[dict[str, Any]]], Sequence[Record]]


def chunks(address: str, options: ReadOptions, size: int | None = None) -> Iterator[Sequence[Record]]:
    """Records of everything at an address.

    Databases are streamed; a gateway's REST interface is read as a whole.

    Args:
        address: as for :func:`monitor.sources.address.read_address`.
        size: rows at a time (20,000).

    Raises:
        ReadError: no such database, no access, no known table, or the extra ``db`` is not installed.
    """
    if address.startswith(REST):
        yield read_address(address, options)[0].records
        return
    source = _Streamed(address, options)
    try:
        yield from source.chunks(size or CHUNK)
    finally:
        source.close()


class _Counted(values.Sightings):
    """Session ids that the database has counted already: each that is told occurs more than once."""

    def known(self, id: str | None) -> bool:
        return id is not None

    def see(self, id: str | None, call: Call) -> list[Call]:
        return [call]


class _Streamed(database.Database):
    """A database of which chunk after chunk is read."""

    def chunks(self, size: int) -> Iterator[Sequence[Record]]:
        try:
            import sqlalchemy
        except ImportError as error:
            raise ReadError(database.MISSING) from error
        try:
            self._open(sqlalchemy)
            rows, make = self._reader(sqlalchemy)
            while chunk := list(islice(rows, size)):
                yield make(chunk)
        except sqlalchemy.exc.SQLAlchemyError as error:
            raise ReadError(f"the database cannot be read ({database.cause(error)})") from None

    def _reader(self, sqlalchemy: Any) -> tuple[Iterator[dict[str, Any]], Make]:
        """The rows of the table, and what makes records of them."""
        column = sqlalchemy.column
        if self._litellm is not None:
            wanted = self._litellm_columns(sqlalchemy)
            if "session_id" in self._columns:
                wanted.append(self._times(sqlalchemy))
            return self._select(sqlalchemy, wanted, "startTime", []), self._litellm_records
        if self._new_api is not None:
            wanted = [column(name) for name in database.NEW_API if name in self._columns]
            return self._select(sqlalchemy, wanted, "id", []), self._new_api_records
        wanted = [column(name) for name in known_tables.BIFROST if name in self._columns]
        return self._select(sqlalchemy, wanted, "timestamp", []), self._bifrost_records

    def _times(self, sqlalchemy: Any) -> Any:
        """How many calls have this row's session id; answers from LiteLLM's own cache are no calls."""
        column = sqlalchemy.column
        cached = column("request_id").contains("_cache_hit", autoescape=True)
        if "cache_hit" in self._columns:
            told = sqlalchemy.func.lower(sqlalchemy.cast(column("cache_hit"), sqlalchemy.String))
            cached = cached | (sqlalchemy.func.coalesce(told, "").in_(("true", "1", "yes", "hit")))
        calls = sqlalchemy.func.count(sqlalchemy.case((cached, None), else_=1))
        return calls.over(partition_by=column("session_id")).label(_TIMES)

    def _litellm_records(self, rows: list[dict[str, Any]]) -> Sequence[Record]:
        if self._maker is None:
            self._maker = litellm.Rows(self.name, ids=_Counted())
        records: list[Record] = []
        for row in rows:
            if (row.pop(_TIMES, None) or 0) < 2:
                row["session_id"] = None
            records += self._maker.records(self._payload(row), None)
        return values.latest(records)

    def _new_api_records(self, rows: list[dict[str, Any]]) -> Sequence[Record]:
        assert self._new_api is not None
        # a maker for each chunk: keys hold the row's own id, so nothing has to be remembered
        maker = new_api.Rows(self.name, self._new_api.source)
        return maker.calls([lenient_row(row) for row in rows], [None] * len(rows))

    def _bifrost_records(self, rows: list[dict[str, Any]]) -> Sequence[Record]:
        return [known_tables.bifrost_call(row, self.name, None) for row in rows]

    _maker: litellm.Rows | None = None
