"""SQLite databases that agents keep: opened without writing anything, not even beside them.

A database in WAL mode holds its latest rows in ``-wal``. While its agent runs, ``-shm`` is there too and a read-only
connection is all that is needed. Without ``-wal`` the file is whole and is opened as immutable: a read-only connection
would create ``-wal`` and ``-shm`` beside it. With ``-wal`` alone (a copy of both files) both are copied to a temporary
folder, for the same reason.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from monitor.readers.agent_values import SQLITE
from monitor.readers.base import FileContext, Head, ReadError
from monitor.readers.lines import MAX_LINE
from monitor.readers.patterns import lazy

_TABLE = lazy(rb'CREATE TABLE (?:IF NOT EXISTS )?["`\[]?(\w+)')
_NAME = lazy(r"\w+")
#: a copy of a database and its -wal is made up to this size
_MOST_COPIED = 1 << 30
_WAIT_S = 2.0
#: what reading a damaged database raises; its messages may hold bytes of the damage that are no text
DAMAGE = (sqlite3.Error, UnicodeDecodeError)
Note = Callable[[int | None, str], None]


@contextlib.contextmanager
def connection(context: FileContext, note: Note) -> Iterator[sqlite3.Connection]:
    """A connection that cannot write; texts come as bytes, because databases hold invalid UTF-8 now and then.

    Args:
        note: is told where rows may be missing.

    Raises:
        ReadError: it cannot be opened.
    """
    with contextlib.ExitStack() as stack:
        try:
            database = _open(context, note, stack)
            stack.callback(database.close)
            database.text_factory = bytes
            database.execute("PRAGMA query_only = ON")
            database.execute("PRAGMA trusted_schema = OFF")
            database.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except DAMAGE as error:
            raise ReadError(f"this SQLite database cannot be read: {_why(error)}") from error
        yield database


def _open(context: FileContext, note: Note, stack: contextlib.ExitStack) -> sqlite3.Connection:
    path = context.path
    if path is None or not _plain(path):
        return _in_memory(context)
    wal, shared = path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")
    if not wal.exists() or wal.stat().st_size == 0:
        return _uri(path, "immutable=1")
    if shared.exists():
        try:
            database = _uri(path, "mode=ro")
            database.execute("SELECT count(*) FROM sqlite_master").fetchone()
            return database
        except sqlite3.OperationalError:
            note(None, "its -wal file cannot be used, so the latest rows are missing")
            return _uri(path, "immutable=1")
    if path.stat().st_size + wal.stat().st_size > _MOST_COPIED:
        note(None, "its -wal file has no -shm beside it, so the latest rows are missing")
        return _uri(path, "immutable=1")
    import shutil
    import tempfile

    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ctxmon-")))
    for one in (path, wal):
        shutil.copyfile(one, folder / one.name)
    return _uri(folder / path.name, "mode=ro")


def _uri(path: Path, how: str) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.resolve().as_uri()}?{how}", uri=True, timeout=_WAIT_S)


def _plain(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(len(SQLITE)) == SQLITE


def _in_memory(context: FileContext) -> sqlite3.Connection:
    """A database that is no file of its own (standard input, compressed)."""
    with context.open() as stream:
        data = bytearray(stream.read(MAX_LINE + 1))
    if len(data) > MAX_LINE:
        raise ReadError("this database is too large to be read from a stream: name the unpacked file instead")
    if data[18:20] == b"\2\2":
        data[18:20] = b"\1\1"  # marked as WAL, which memory cannot have; the rows are in the file itself
    database = sqlite3.connect(":memory:")
    load = getattr(database, "deserialize", None)
    if load is None:  # a Python built without it
        database.close()
        raise ReadError("a database can only be read from a file here: name the unpacked file instead")
    load(bytes(data))
    return database


def tables(head: Head) -> dict[str, str]:
    """Names of the tables of what may be a database, with the SQL that made them; empty if it is none."""
    if not head.data.startswith(SQLITE):
        return {}
    found = {name.decode("ascii", "replace"): "" for name in _TABLE.findall(head.data)}
    if head.path is not None or head.complete:
        try:
            with connection(_context(head), lambda line, reason: None) as database:
                query = "SELECT name, sql FROM sqlite_master WHERE type = 'table'"
                found = {_text(name): _text(sql) for name, sql in database.execute(query)}
        except (ReadError, OSError, *DAMAGE):
            pass
    return found


def damage(head: Head) -> str | None:
    """A sentence on why a database cannot be read (cut short, locked); None where it can, or nobody knows."""
    if head.path is None and not head.complete:
        return None
    try:
        with connection(_context(head), lambda line, reason: None):
            return None
    except ReadError as error:
        return str(error)
    except OSError:
        return None


def _context(head: Head) -> FileContext:
    return FileContext(head.name, path=head.path, data=None if head.path is not None else head.data)


def columns(database: sqlite3.Connection, table: str) -> frozenset[str]:
    """Names of a table's columns; versions of an agent differ in them.

    Raises:
        DAMAGE: the database is damaged.
    """
    assert _NAME.fullmatch(table)
    return frozenset(_text(row[1]) for row in database.execute(f"PRAGMA table_info({table})"))


def select(database: sqlite3.Connection, table: str, names: tuple[str, ...], note: Note) -> Iterator[tuple[Any, ...]]:
    """The named columns of all rows; NULL for those this version does not have. Damage ends the rows and is noted."""
    try:
        known = columns(database, table)
        wanted = ", ".join(f'"{name}"' if name in known else "NULL" for name in names)
        assert all(_NAME.fullmatch(name) for name in names)
        yield from database.execute(f'SELECT {wanted} FROM "{table}"')
    except DAMAGE as error:
        note(None, f"the table {table} cannot be read to its end: {_why(error)}")


def _why(error: Exception) -> str:
    return str(error) if isinstance(error, sqlite3.Error) else "it is damaged"


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def text(value: Any) -> str | None:
    """A text column as text; empty and NULL are None."""
    if value is None or isinstance(value, float):
        return None
    return _text(value) or None
