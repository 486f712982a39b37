"""Databases by URL: LiteLLM's ``LiteLLM_SpendLogs``, the table ``logs`` of one-api and new-api, Bifrost's ``logs``.

``postgresql://user@host/db`` and ``sqlite:///path/to/file.db`` through SQLAlchemy (extra ``db``). The password is best
left to ``PGPASSWORD`` or ``~/.pgpass``; one in the URL is used and never shown. SQLite files of opencode, Hermes and
other agents are given to their own readers.

Sessions are opened read-only, rows come through a server-side cursor in chunks, and only columns with numbers, times
and names are selected: request and answer bodies stay in the database, except where ``--session-by prefix`` asks for
messages to be compared (LiteLLM keeps them in ``proxy_server_request``).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from monitor.readers import gateway_values as values
from monitor.readers import litellm, new_api
from monitor.readers.base import DEFAULT_OPTIONS, FileContext, ReadError, ReadOptions
from monitor.readers.new_api_rows import lenient_row
from monitor.records import Record
from monitor.sources.files import Batch
from monitor.sources.shown import shown

CHUNK = 5000
MISSING = "reading databases needs a package that is not installed: pip install '.[db]'"
_FORM = "expected postgresql://user@host/database or sqlite:///path/to/file.db"
_OVERLAP_MS = 10 * 60_000  # rows are written when a call ends: look again at those that began shortly before the last

NEW_API = (
    "id",
    "created_at",
    "type",
    "username",
    "token_name",
    "model_name",
    "quota",
    "prompt_tokens",
    "completion_tokens",
    "use_time",
    "elapsed_time",
    "request_id",
    "group",
    "other",
)
_LITELLM = (
    "request_id",
    "call_type",
    "api_key",
    "spend",
    "total_tokens",
    "prompt_tokens",
    "completion_tokens",
    "startTime",
    "endTime",
    "model",
    "model_group",
    "custom_llm_provider",
    "user",
    "cache_hit",
    "end_user",
    "session_id",
    "status",
    "litellm_call_id",
)
#: parts of LiteLLM's metadata that hold numbers or tell who sent a call
_PARTS = (
    "usage_object",
    "additional_usage_values",
    "model_map_information",
    "error_information",
    "status",
    "user_agent",
)


class Database:
    """One database. :meth:`poll` gives rows that are new since the last time.

    Args:
        address: the URL.
        options: ``source`` forces which table is read; ``session_by="prefix"`` fetches request bodies.
        since_ms: rows from before then are left out.
    """

    def __init__(self, address: str, options: ReadOptions = DEFAULT_OPTIONS, *, since_ms: int | None = None) -> None:
        self._options = options
        self._since_ms = since_ms
        self._address = address
        self.name = shown(address)
        self.title = "database"
        self._engine: Any = None
        self._table = ""
        self._columns: list[str] = []
        self._litellm: litellm.Rows | None = None
        self._new_api: new_api.Rows | None = None
        self._last: Any = None
        self._seen: set[str] = set()
        self._first = True

    def poll(self) -> Batch:
        """Records of rows that are new.

        Raises:
            ReadError: no such database, no access, no known table, or the extra is not installed.
        """
        try:
            import sqlalchemy
        except ImportError as error:
            raise ReadError(MISSING) from error
        try:
            if self._engine is None:
                self._open(sqlalchemy)
            records = self._rows(sqlalchemy)
        except sqlalchemy.exc.SQLAlchemyError as error:
            raise ReadError(f"the database cannot be read ({cause(error)})") from None
        replace, self._first = self._first, False
        return Batch(self.name, records, replace)

    def close(self) -> None:
        """Close all connections."""
        if self._engine is not None:
            self._engine.dispose()
            self._engine = None

    # ------------------------------------------------------------------------------------------------ opening
    def _open(self, sqlalchemy: Any) -> None:
        try:
            url = sqlalchemy.engine.make_url(self._address)
        except sqlalchemy.exc.ArgumentError:
            raise ReadError(f"this is no database URL; {_FORM}") from None
        backend = url.get_backend_name()
        if backend == "sqlite":
            path = Path(url.database or "")
            if not path.is_file():
                raise ReadError("there is no such SQLite file; an absolute path needs four slashes: sqlite:////home/…")
            # ``mode=ro`` never creates or changes a file
            engine = sqlalchemy.create_engine(f"sqlite:///file:{_quoted(path)}?mode=ro&uri=true")
        elif backend == "postgresql":
            try:
                engine = sqlalchemy.create_engine(
                    url.set(drivername="postgresql+psycopg"),
                    connect_args={"options": "-c default_transaction_read_only=on", "connect_timeout": 15},
                    pool_pre_ping=True,
                )
            except ImportError as error:
                raise ReadError(MISSING) from error
        else:
            raise ReadError(f"databases of this kind are not read; {_FORM}")
        self._engine = engine
        self._choose(sqlalchemy.inspect(engine))

    def _choose(self, inspector: Any) -> None:
        tables = set(inspector.get_table_names())
        source = self._options.source
        if "LiteLLM_SpendLogs" in tables and source in (None, "litellm"):
            self._take("LiteLLM_SpendLogs", inspector, "LiteLLM table")
            self._litellm = litellm.Rows(self.name)
            return
        if "logs" in tables:
            columns = {column["name"] for column in inspector.get_columns("logs")}
            if {"created_at", "model_name", "prompt_tokens"} <= columns and source in (None, "new-api", "one-api"):
                self._take("logs", inspector, "new-api / one-api log")
                kind = source or ("new-api" if columns & {"other", "use_time"} else "one-api")
                self._new_api = new_api.Rows(self.name, kind)
                return
            if {"token_usage", "provider", "model", "timestamp"} <= columns and source in (None, "table"):
                self._take("logs", inspector, "Bifrost log")
                return
        raise ReadError(
            "no known table in this database: expected LiteLLM_SpendLogs, or logs of one-api, new-api or Bifrost"
        )

    def _take(self, table: str, inspector: Any, title: str) -> None:
        self._table, self.title = table, title
        self._columns = [column["name"] for column in inspector.get_columns(table)]

    # ------------------------------------------------------------------------------------------------ rows
    def _rows(self, sqlalchemy: Any) -> list[Record]:
        if self._litellm is not None:
            return self._litellm_rows(sqlalchemy, self._litellm)
        if self._new_api is not None:
            return self._new_api_rows(sqlalchemy, self._new_api)
        return self._bifrost_rows(sqlalchemy)

    def _select(self, sqlalchemy: Any, wanted: list[Any], order: str, where: list[Any]) -> Iterator[dict[str, Any]]:
        query = sqlalchemy.select(*wanted).select_from(sqlalchemy.table(self._table)).where(*where)
        query = query.order_by(sqlalchemy.column(order))
        with self._engine.connect() as connection:
            result = connection.execution_options(stream_results=True, yield_per=CHUNK).execute(query)
            for row in result.mappings():
                yield dict(row)

    def _new_api_rows(self, sqlalchemy: Any, maker: new_api.Rows) -> list[Record]:
        column = sqlalchemy.column
        wanted = [column(name) for name in NEW_API if name in self._columns]
        where = []
        if self._since_ms is not None:
            where.append(column("created_at") >= self._since_ms // 1000)
        if self._last is not None:
            where.append(column("id") > self._last)
        rows = []
        for row in self._select(sqlalchemy, wanted, "id", where):
            self._last = row.get("id", self._last)
            rows.append(lenient_row(row))
        return list(maker.calls(rows, [None] * len(rows)))

    def _litellm_rows(self, sqlalchemy: Any, maker: litellm.Rows) -> list[Record]:
        start = sqlalchemy.column("startTime")
        where = []
        since = self._last if self._last is not None else self._since_ms
        if since is not None:
            moment = values.moment(since - (_OVERLAP_MS if self._last is not None else 0))
            postgres = self._engine.dialect.name == "postgresql"
            where.append(start >= (moment.replace(tzinfo=None) if postgres else f"{moment:%Y-%m-%d %H:%M:%S}"))
        records: list[Record] = []
        for row in self._select(sqlalchemy, self._litellm_columns(sqlalchemy), "startTime", where):
            time = values.time_ms(row.get("startTime"))
            self._last = time if time is not None else self._last
            id = str(row.get("request_id"))
            if id in self._seen:
                continue
            self._seen.add(id)
            records += maker.records(self._payload(row), None)
        return values.latest(records)

    def _litellm_columns(self, sqlalchemy: Any) -> list[Any]:
        """What is asked of LiteLLM's table: numbers, times and names."""
        column = sqlalchemy.column
        wanted = [column(name) for name in _LITELLM if name in self._columns]
        if "metadata" in self._columns:
            if self._engine.dialect.name == "postgresql":  # the numbers only: metadata also holds headers and texts
                from sqlalchemy.dialects.postgresql import JSONB

                meta = sqlalchemy.cast(column("metadata"), JSONB)
                wanted += [meta[part].label(f"meta_{part}") for part in _PARTS]
            else:
                wanted.append(column("metadata"))
        if self._options.session_by == "prefix" and "proxy_server_request" in self._columns:
            wanted.append(column("proxy_server_request"))
        return wanted

    def _payload(self, row: dict[str, Any]) -> litellm.Payload:
        """A row of that query as the reader knows it."""
        parts = {part: row.pop(f"meta_{part}") for part in _PARTS if f"meta_{part}" in row}
        if parts:
            row["metadata"] = parts
        return litellm.payload_of(row)

    def _bifrost_rows(self, sqlalchemy: Any) -> list[Record]:
        from monitor.readers.known_tables import BIFROST, bifrost_call

        column = sqlalchemy.column
        wanted = [column(name) for name in BIFROST if name in self._columns]
        where = [column("timestamp") >= self._last] if self._last is not None else []
        records: list[Record] = []
        for row in self._select(sqlalchemy, wanted, "timestamp", where):
            self._last = row["timestamp"]
            id = str(row.get("id"))
            if id not in self._seen:
                self._seen.add(id)
                records.append(bifrost_call(row, self.name, None))
        return records


def _quoted(path: Path) -> str:
    from urllib.parse import quote

    return quote(path.absolute().as_posix())


_STATES = {
    "28P01": "the password is wrong",
    "28000": "this user may not log in",
    "3D000": "there is no such database",
    "42501": "this user may not read the table",
    "42703": "a column is missing",
}
#: what a failed connection says, which has no state
_WORDS = (
    ("password authentication failed", "the password is wrong"),
    ("no password supplied", "a password is needed; set PGPASSWORD"),
    ("role", "there is no such user"),
    ("database", "there is no such database"),
    ("refused", "no server answers there"),
    ("timeout", "the server does not answer in time"),
    ("translate host", "there is no such host"),
    ("resolve", "there is no such host"),
    ("name or service not known", "there is no such host"),
)


def cause(error: Any) -> str:
    """A short word for what went wrong, without anything of the URL."""
    origin = getattr(error, "orig", None) or error
    state = getattr(origin, "sqlstate", None)
    if state in _STATES:
        return _STATES[state]
    text = str(origin).lower()
    for word, meaning in _WORDS:
        if word in text and (word not in ("role", "database") or "does not exist" in text):
            return meaning
    name = type(origin).__name__
    return f"{name} {state}" if state else f"{name}; see the server's own log"


def read(address: str, options: ReadOptions = DEFAULT_OPTIONS) -> tuple[Batch, str]:
    """All rows of a database, and a title for people; SQLite files of agents go to their own readers.

    Raises:
        ReadError: as :meth:`Database.poll`.
    """
    if address.startswith("sqlite:///"):
        found = _agent_file(address, options)
        if found is not None:
            return found
    database = Database(address, options)
    try:
        batch = database.poll()
        return batch, database.title
    finally:
        database.close()


def _agent_file(address: str, options: ReadOptions) -> tuple[Batch, str] | None:
    """A database file that one of the file readers knows."""
    from monitor.readers import choose
    from monitor.readers.base import read_head

    path = Path(address.removeprefix("sqlite:///").split("?", 1)[0])
    if not path.is_file():
        return None
    context = FileContext(name=str(path), path=path, options=options)
    try:
        reader, score = choose(read_head(context), options.source)
    except OSError as error:
        raise ReadError(f"the file cannot be opened ({error.strerror})") from error
    if reader is None or score < 0.3 or reader.source in ("new-api", "one-api", "table"):
        return None  # tables of gateways are read here
    parser = reader.parser(context)
    parser.read(context)
    return Batch(shown(address), _renamed(parser.take(), shown(address)), True), reader.title


def _renamed(records: list[Record], name: str) -> list[Record]:
    return [msgspec.structs.replace(record, file=name) if hasattr(record, "file") else record for record in records]
