"""opencode's database. See :mod:`monitor.readers.opencode`."""

from __future__ import annotations

import sqlite3

from monitor.readers import opencode_next as version_2
from monitor.readers import sqlite_files as sqlite
from monitor.readers.agent_values import JsonDocument, time_ms
from monitor.readers.base import FileContext
from monitor.readers.opencode_build import Builder
from monitor.readers.opencode_shapes import told


class OpencodeDatabaseParser(JsonDocument):
    """Reads all sessions of the database."""

    def read(self, context: FileContext) -> None:
        with sqlite.connection(context, self.problem) as database:
            builder = Builder(self.file, self.options, lambda part: _part(database, part))
            known = _tables(database)
            for table in ("session", "session_v2"):
                names = ("id", "parent_id", "directory", "time_created")
                rows = sqlite.select(database, table, names, self.problem) if table in known else ()
                for id, parent, directory, created in rows:
                    if (name := sqlite.text(id)) is not None:
                        builder.session(name, sqlite.text(parent), sqlite.text(directory), created)
            bad = 0
            settled: dict[str, int] = {}
            if {"message", "part"} <= known:
                bad = self._messages(database, builder, settled) + self._parts(database, builder)
            if "session_message" in known:
                bad += self._rows(database, builder, settled)
            if bad:
                self.problem(None, f"{bad} rows hold no valid JSON; they were skipped")
            self.records += builder.records()

    def _messages(self, database: sqlite3.Connection, builder: Builder, settled: dict[str, int]) -> int:
        bad = 0
        names = ("id", "session_id", "time_created", "data")
        for id, session, created, data in sqlite.select(database, "message", names, self.problem):
            value = told(data) if isinstance(data, bytes) else None
            name, owner = sqlite.text(id), sqlite.text(session)
            if value is None or name is None or owner is None:
                bad += 1
                continue
            builder.message(name, owner, value, created)
            settled[owner] = max(settled.get(owner, 0), time_ms(created) or 0)
        return bad

    def _rows(self, database: sqlite3.Connection, builder: Builder, settled: dict[str, int]) -> int:
        """Rows of opencode 2; those it took over from the tables before it keep their ids and are known already."""
        bad = 0
        names = ("id", "session_id", "type", "time_created", "data")
        for id, session, kind, created, data in sqlite.select(database, "session_message", names, self.problem):
            row = version_2.row_of(data) if isinstance(data, bytes) else None
            name, owner = sqlite.text(id), sqlite.text(session)
            if row is None or name is None or owner is None:
                bad += 1
                continue
            version_2.add(builder, name, owner, sqlite.text(kind), row, created, settled.get(owner))
        return bad

    def _parts(self, database: sqlite3.Connection, builder: Builder) -> int:
        bad = 0
        for id, message, data in sqlite.select(database, "part", ("id", "message_id", "data"), self.problem):
            value = told(data) if isinstance(data, bytes) else None
            name, owner = sqlite.text(id), sqlite.text(message)
            if value is None or name is None or owner is None:
                bad += 1
                continue
            builder.part(name, owner, value)
        return bad


def _tables(database: sqlite3.Connection) -> set[str]:
    try:
        rows = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    except sqlite.DAMAGE:
        return set()
    return {name for row in rows if (name := sqlite.text(row[0])) is not None}


def _part(database: sqlite3.Connection, id: str) -> bytes | None:
    row_id, _, place = id.partition(":")
    table, key = ("session_message", row_id) if place else ("part", id)
    try:
        row = database.execute(f"SELECT data FROM {table} WHERE id = ?", (key,)).fetchone()
    except sqlite.DAMAGE:
        return None
    data = row[0] if row is not None and isinstance(row[0], bytes) else None
    return version_2.part_of(data, place) if place and data is not None else data
