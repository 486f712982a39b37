"""opencode's database. See :mod:`monitor.readers.opencode`."""

from __future__ import annotations

import sqlite3

from monitor.readers import sqlite_files as sqlite
from monitor.readers.agent_values import JsonDocument
from monitor.readers.base import FileContext
from monitor.readers.opencode_build import Builder
from monitor.readers.opencode_shapes import told


class OpencodeDatabaseParser(JsonDocument):
    """Reads all sessions of the database."""

    def read(self, context: FileContext) -> None:
        with sqlite.connection(context, self.problem) as database:
            builder = Builder(self.file, self.options, lambda part: _part(database, part))
            for id, parent, directory, created in sqlite.select(
                database, "session", ("id", "parent_id", "directory", "time_created"), self.problem
            ):
                if (name := sqlite.text(id)) is not None:
                    builder.session(name, sqlite.text(parent), sqlite.text(directory), created)
            bad = self._messages(database, builder) + self._parts(database, builder)
            if bad:
                self.problem(None, f"{bad} rows hold no valid JSON; they were skipped")
            self.records += builder.records()

    def _messages(self, database: sqlite3.Connection, builder: Builder) -> int:
        bad = 0
        names = ("id", "session_id", "time_created", "data")
        for id, session, created, data in sqlite.select(database, "message", names, self.problem):
            value = told(data) if isinstance(data, bytes) else None
            name, owner = sqlite.text(id), sqlite.text(session)
            if value is None or name is None or owner is None:
                bad += 1
                continue
            builder.message(name, owner, value, created)
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


def _part(database: sqlite3.Connection, id: str) -> bytes | None:
    try:
        row = database.execute("SELECT data FROM part WHERE id = ?", (id,)).fetchone()
    except sqlite.DAMAGE:
        return None
    return row[0] if row is not None and isinstance(row[0], bytes) else None
