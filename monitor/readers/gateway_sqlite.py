"""Rows of a gateway's SQLite file, opened read-only; only the columns asked for are read."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from monitor.readers.base import FileContext, Head, ReadError

MAGIC = b"SQLite format 3\x00"
_BLOCKED = "the database is in use and cannot be read now; copy it with its -wal file, or try again"


def has_table(head: Head, table: str, *columns: str) -> bool:
    """Whether the beginning of a SQLite file holds the definition of a table with these columns."""
    if not head.data.startswith(MAGIC):
        return False
    found = re.search(
        rb'CREATE TABLE "?`?' + table.encode() + rb'"?`? *\((.{0,8000})', head.data, re.DOTALL | re.IGNORECASE
    )
    return found is not None and all(column.encode() in found.group(1) for column in columns)


def rows(context: FileContext, table: str, wanted: tuple[str, ...], order: str) -> Iterator[dict[str, Any]]:
    """Rows of a table with those of the wanted columns that it has.

    Raises:
        ReadError: no file (standard input), not readable, or no such table.
    """
    if context.path is None:
        raise ReadError("a database must be given as a file")
    try:
        with closing(_open(context.path)) as connection:
            known = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
            names = [name for name in wanted if name in known]
            if order not in known:
                raise ReadError(f"the database has no table {table} of the expected shape")
            chosen = ", ".join(f'"{name}"' for name in names)
            for row in connection.execute(f'SELECT {chosen} FROM "{table}" ORDER BY "{order}"'):
                yield dict(zip(names, row))
    except sqlite3.Error as error:
        locked = "locked" in str(error) or "busy" in str(error)
        raise ReadError(_BLOCKED if locked else "the database is damaged or cannot be opened") from error


def _open(path: Path) -> sqlite3.Connection:
    uri = path.absolute().as_uri()
    connection = sqlite3.connect(f"{uri}?mode=ro", uri=True, timeout=5)
    try:
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall()
    except sqlite3.OperationalError:
        # write-ahead mode in a folder that cannot be written to: what is in the file itself can still be read
        connection.close()
        connection = sqlite3.connect(f"{uri}?mode=ro&immutable=1", uri=True, timeout=5)
    return connection
