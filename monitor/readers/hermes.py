"""Hermes agent: totals for each session, because its database has no figures of single calls.

Where: ``$HERMES_HOME/state.db`` or ``~/.hermes/state.db`` (``profiles/<name>/state.db``), SQLite, opened read-only.

What is read: the table ``sessions``; where its figures are missing, ``session_model_usage``. A session is shown without
a curve. A compression ends a session and a child goes on with it: the parent that ended so has a recorded compaction,
and every child names its parent. Messages are not read.

Prompt tokens: ``input_tokens + cache_read_tokens + cache_write_tokens``, summed over all calls.

Unknown: everything about single calls; whether ``reasoning_tokens`` are part of ``output_tokens`` (they are not added).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from monitor.readers import usage
from monitor.readers.agent_values import SQLITE, JsonDocument, folder_name, time_ms, tokens
from monitor.readers.base import FileContext, Head
from monitor.records import Event, SessionInfo

if TYPE_CHECKING:
    import sqlite3

SOURCE = "hermes"
_FIGURES = ("input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens")
_SESSION = ("id", "parent_session_id", "started_at", "ended_at", "end_reason", "cwd", *_FIGURES)
Figures = tuple[int | None, int | None, int | None, int | None]


class HermesParser(JsonDocument):
    """See the module."""

    def read(self, context: FileContext) -> None:
        from monitor.readers import sqlite_files as sqlite  # loaded where there is a database

        with sqlite.connection(context, self.problem) as database:
            by_model = self._by_model(database)
            for row in sqlite.select(database, "sessions", _SESSION, self.problem):
                self._session(row, by_model)

    def _by_model(self, database: sqlite3.Connection) -> dict[str, Figures]:
        """Sums over the models of a session, where this version keeps them."""
        from monitor.readers import sqlite_files as sqlite

        found: dict[str, Figures] = {}
        try:
            if not sqlite.columns(database, "session_model_usage"):
                return found
        except sqlite.DAMAGE:
            return found
        for id, *figures in sqlite.select(database, "session_model_usage", ("session_id", *_FIGURES), self.problem):
            name = sqlite.text(id)
            if name is not None:
                found[name] = _add(found.get(name), _counts(figures))
        return found

    def _session(self, row: tuple[Any, ...], by_model: dict[str, Figures]) -> None:
        from monitor.readers import sqlite_files as sqlite

        session, parent = sqlite.text(row[0]), sqlite.text(row[1])
        if session is None:
            return
        started, ended = (_time(value) for value in row[2:4])
        figures = _counts(row[6:10])
        if not any(figures):
            figures = by_model.get(session, figures)
        fresh, read, write, said = figures
        total = usage.additive(fresh, read, write, said, rule="hermes")
        sums = (total.prompt, total.fresh, total.read, total.write, total.output)
        self.records.append(
            SessionInfo(session=session, source=SOURCE, file=self.file, parent=parent, started=started,
                        cwd_name=folder_name(sqlite.text(row[5])),
                        totals_only=sums if any(figures) else None)
        )  # fmt: skip
        if sqlite.text(row[4]) in ("compression", "compressed", "compaction"):
            self.records.append(
                Event(kind="compaction", evidence="recorded", session=session, file=self.file, time=ended,
                      key=f"hermes:compaction:{session}")
            )  # fmt: skip


def _counts(values: Any) -> Figures:
    fresh, read, write, said = (tokens(value) for value in values)
    return fresh, read, write, said


def _add(old: Figures | None, new: Figures) -> Figures:
    if old is None:
        return new
    fresh, read, write, said = (
        None if a is None and b is None else (a or 0) + (b or 0) for a, b in zip(old, new, strict=True)
    )
    return fresh, read, write, said


def _time(value: Any) -> int | None:
    return time_ms(value.decode("utf-8", "replace") if isinstance(value, bytes) else value)


class Hermes:
    """Reader of Hermes agent's database."""

    source = SOURCE
    title = "Hermes agent database"
    lines = False

    def sniff(self, head: Head) -> float:
        if not head.data.startswith(SQLITE):
            return 0.0
        from monitor.readers import sqlite_files

        found = sqlite_files.tables(head)
        if not {"sessions", "messages"} <= found.keys():
            return 0.0
        own = "parent_session_id" in found["sessions"] and "end_reason" in found["sessions"]
        return 0.9 if own or "session_model_usage" in found else 0.0

    def parser(self, context: FileContext) -> HermesParser:
        return HermesParser(context)


READER = Hermes()
