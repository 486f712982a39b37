"""OpenClaw's store.

Where: ``~/.openclaw/agents/<agent>/agent/openclaw-agent.sqlite`` (version 2026.8.1 and newer; before that, and under
the older names ``.clawdbot``, ``.moltbot`` and ``.moldbot``, the same records lie in ``sessions/*.jsonl``), SQLite,
opened read-only.

What is read: ``transcript_events``, one record of Pi's kind in each row, as text or packed with zstd. What the records
say is on the page of Pi's sessions; copies of a session that lie as a file beside the store count once.

Unknown: what Pi's sessions do not tell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from monitor.readers.agent_values import SQLITE, JsonDocument
from monitor.readers.base import FileContext, Head
from monitor.readers.pi import SOURCE, PiParser

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator


class OpenClawParser(JsonDocument):
    """See the module."""

    def read(self, context: FileContext) -> None:
        from monitor.readers import sqlite_files as sqlite  # loaded where there is a database

        broken = 0
        with sqlite.connection(context, self.problem) as database:
            session: str | None = None
            parser: PiParser | None = None
            try:
                for id, number, text, packed in _events(database):
                    name = sqlite.text(id)
                    if name is None:
                        continue
                    if parser is None or name != session:
                        self._end(parser)
                        session, parser = name, PiParser(context, name)
                    line = text if isinstance(text, bytes) else _unpacked(packed)
                    if line is None or line.rstrip()[-1:] != b"}":
                        broken += 1
                        continue
                    parser.feed([line], number if isinstance(number, int) else 0)
            except sqlite.DAMAGE:
                self.problem(None, "the table transcript_events cannot be read to its end")
            self._end(parser)
        if broken:
            self.problem(None, f"{broken} of its records are damaged; they were skipped")

    def _end(self, parser: PiParser | None) -> None:
        if parser is not None:
            self.records += parser.take()


def _events(database: sqlite3.Connection) -> Iterator[tuple[Any, Any, Any, Any]]:
    """Session, number, text and packed text of each record, session by session."""
    from monitor.readers.sqlite_files import columns

    packed = "event_zstd" if "event_zstd" in columns(database, "transcript_events") else "NULL"
    query = f"SELECT session_id, seq, event_json, {packed} FROM transcript_events ORDER BY session_id, seq"
    yield from database.execute(query)


def _unpacked(packed: Any) -> bytes | None:
    """A record that was packed; None if it is damaged or there is none."""
    from monitor.readers.exchange_bodies import BodyError, plain

    try:
        return plain(packed) if isinstance(packed, bytes) else None
    except BodyError:
        return None


class OpenClaw:
    """Reader of OpenClaw's store."""

    source = SOURCE
    title = "OpenClaw store"
    lines = False

    def sniff(self, head: Head) -> float:
        if not head.data.startswith(SQLITE):
            return 0.0
        from monitor.readers import sqlite_files

        return 0.95 if "event_json" in sqlite_files.tables(head).get("transcript_events", "") else 0.0

    def parser(self, context: FileContext) -> OpenClawParser:
        return OpenClawParser(context)


READER = OpenClaw()
