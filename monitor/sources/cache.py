"""What was made of files that have not changed since: numbers and ids, in one SQLite file in the user's cache folder.

The unit is a *part*: files whose sessions have nothing to do with those of other files. A part is stored and found as a
whole, so nothing in it can be half old. A file is unchanged if its size, time and inode are. What results depend on
besides the files (settings, the program itself) is in ``how``: rows of another ``how`` are not found, and go with time.

It holds no text of any conversation: what is stored are packed records (:mod:`monitor.records`), their sums, and the
paths of the files. Several processes may use it at once. Whatever is wrong with it, it is ignored; one note says so.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

try:  # hashlib itself loads OpenSSL, which takes 3 ms
    from _blake2 import blake2b
except ImportError:  # pragma: no cover - another Python than CPython
    from hashlib import blake2b

if TYPE_CHECKING:
    import sqlite3

T = TypeVar("T")

#: layout of the tables; another one is another file
SCHEMA = 1
#: days that a row nobody asked for stays, and the size in bytes beyond which everything is dropped
_DAYS, _MOST = 60, 2 << 30
#: seconds to wait for another process that is writing
_PATIENCE = 2.0
#: so many rows are looked up one by one; for more, all are read
_FEW = 64
#: turns are numbered by part and session; a part has fewer sessions than this leaves room for
_SHIFT = 32
_TABLES = (
    "CREATE TABLE IF NOT EXISTS parts (id INTEGER PRIMARY KEY AUTOINCREMENT, how BLOB, day INTEGER, count INTEGER, "
    "head BLOB)",
    "CREATE TABLE IF NOT EXISTS files (how BLOB, name TEXT, part INTEGER, place INTEGER, size INTEGER, mtime INTEGER, "
    "inode INTEGER, PRIMARY KEY (how, name)) WITHOUT ROWID",
    "CREATE INDEX IF NOT EXISTS files_of ON files (part)",
    "CREATE TABLE IF NOT EXISTS turns (id INTEGER PRIMARY KEY, data BLOB)",
    "CREATE TABLE IF NOT EXISTS names (part INTEGER PRIMARY KEY, data BLOB)",
    "CREATE TABLE IF NOT EXISTS derived (part INTEGER, place INTEGER, name TEXT, data BLOB, "
    "PRIMARY KEY (part, place, name)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS apart (digest BLOB PRIMARY KEY, day INTEGER) WITHOUT ROWID",
    f"PRAGMA user_version = {SCHEMA}",
)

#: what a file must still be like: size in bytes, time of change in nanoseconds, inode
Stamp = tuple[int, int, int]
#: the part a file belongs to, its place in it, and its stamp
Known = tuple[int, int, Stamp]


class Packed(msgspec.Struct):
    """A part to be stored: its files in order, what is always needed, the turns of each session, all names used."""

    files: Sequence[tuple[str, Stamp]]
    head: bytes
    turns: Sequence[bytes]
    names: bytes


def folder(environ: Mapping[str, str] | None = None, home: Path | None = None, platform: str = sys.platform) -> Path:
    """The program's folder among the user's caches."""
    env = os.environ if environ is None else environ
    if env.get("XDG_CACHE_HOME"):
        return Path(env["XDG_CACHE_HOME"]) / "ctxmon"
    base = Path.home() if home is None else home
    if platform == "win32":
        local = env.get("LOCALAPPDATA")
        return (Path(local) if local else base / "AppData" / "Local") / "ctxmon" / "cache"
    return base / ("Library/Caches" if platform == "darwin" else ".cache") / "ctxmon"


def location() -> Path:
    """The cache's file."""
    return folder() / f"results-{SCHEMA}.sqlite"


def clear() -> Path:
    """Remove the cache. Returns where it is (or would be).

    Raises:
        OSError: it cannot be removed.
    """
    place = location()
    for end in ("", "-journal", "-wal", "-shm"):
        place.with_name(place.name + end).unlink(missing_ok=True)
    return place


def code(package: Path, names: Iterable[str]) -> bytes:
    """A digest of some files and folders of a package as they are on disk: results of another program are not ours."""
    found = [sys.version, msgspec.__version__]
    for name in names:
        place = package / name
        if place.is_dir():
            with os.scandir(place) as entries:
                files = [(entry.name, entry.stat()) for entry in entries if entry.is_file()]
        else:
            files = [(place.name, place.stat())]
        found += [f"{name}/{file} {status.st_size} {status.st_mtime_ns}" for file, status in files]
    return _digest(sorted(found))


class Cache:
    """The file, opened when it is first needed. After an error it holds nothing and takes nothing.

    Args:
        how: digest of all that results depend on besides the files.
        place: another file than the user's.
    """

    def __init__(self, how: bytes, place: Path | None = None) -> None:
        self.how = how
        self.note = ""  # what is wrong with it, one sentence for the user
        self._place = location() if place is None else place
        self._day = int(time.time() // 86_400)
        self._open: sqlite3.Connection | None = None
        self._ready = self._off = False

    # ------------------------------------------------------------------------------------------------ reading
    def known(self, names: Sequence[str]) -> dict[str, Known]:
        """Files that are known, whatever they are like now: these, and perhaps others."""
        select = "SELECT name, part, place, size, mtime, inode FROM files WHERE how = ?"
        if len(names) > _FEW:
            rows = self._rows(select, self.how)
        else:
            rows = [row for name in names for row in self._rows(f"{select} AND name = ?", self.how, name)]
        return {row[0]: (row[1], row[2], row[3:]) for row in rows}

    def heads(self, parts: Sequence[int]) -> dict[int, tuple[int, bytes]]:
        """How many files these parts have, and what is always needed of them."""
        rows = self._of("SELECT id, count, head, day FROM parts WHERE", "id", parts)
        if any(row[3] != self._day for row in rows):
            self._used(parts)
        return {row[0]: (row[1], row[2]) for row in rows}

    def turns(self, part: int, place: int) -> bytes | None:
        """The turns of one session of a part; None if they are gone."""
        rows = self._rows("SELECT data FROM turns WHERE id = ?", (part << _SHIFT) + place)
        return rows[0][0] if rows else None

    def names(self, parts: Sequence[int]) -> dict[int, bytes]:
        """All names that are used in these parts."""
        return dict(self._of("SELECT part, data FROM names WHERE", "part", parts))

    def derived(self, parts: Sequence[int]) -> dict[tuple[int, int, str], bytes]:
        """What was derived from the sessions of these parts: by part, place of the session in it, and name."""
        rows = self._of("SELECT part, place, name, data FROM derived WHERE", "part", parts)
        return {row[:3]: row[3] for row in rows}

    def apart(self, parts: Iterable[int]) -> bool:
        """Whether it is known that these parts have no name in common."""
        return bool(self._rows("SELECT 1 FROM apart WHERE digest = ?", _together(parts)))

    def _of(self, select: str, column: str, parts: Sequence[int]) -> list[Any]:
        if len(parts) <= _FEW:
            return [row for part in parts for row in self._rows(f"{select} {column} = ?", part)]
        wanted = set(parts)
        return [row for row in self._rows(f"{select} {column} >= ?", min(wanted)) if row[0] in wanted]

    # ------------------------------------------------------------------------------------------------ writing
    def put(self, packed: Iterable[Packed], others: Sequence[int]) -> list[int]:
        """Store parts, in place of whatever is there for their files, in one transaction.

        Args:
            others: parts that are known to have nothing in common with these and with each other.

        Returns:
            Their numbers, in order; none if they could not be stored.
        """

        def store(connection: sqlite3.Connection) -> list[int]:
            added = [self._insert(connection, one) for one in packed]
            connection.execute("INSERT OR REPLACE INTO apart VALUES (?, ?)", (_together([*others, *added]), self._day))
            self._prune(connection)
            return added

        return self._write(store) or []

    def derive(self, rows: Iterable[tuple[int, int, str, bytes]]) -> None:
        """Store what was derived from sessions: part, place of the session in it, name, data."""
        self._write(
            lambda connection: connection.executemany("INSERT OR IGNORE INTO derived VALUES (?, ?, ?, ?)", rows)
        )

    def _write(self, action: Callable[[sqlite3.Connection], T]) -> T | None:
        """Do something in one transaction; None if it cannot be done."""
        connection = self._connect(write=True)
        if connection is None:
            return None
        import sqlite3

        try:
            connection.execute("BEGIN IMMEDIATE")
            try:
                if not self._ready:
                    for statement in _TABLES:
                        connection.execute(statement)
                result = action(connection)
                connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise
        except sqlite3.Error as error:
            self._failed(error)
            return None
        self._ready = True
        return result

    def _insert(self, connection: sqlite3.Connection, one: Packed) -> int:
        query = "SELECT part FROM files WHERE how = ? AND name = ?"
        for part in {row[0] for name, _ in one.files for row in connection.execute(query, (self.how, name))}:
            _drop(connection, part)
        row = (self.how, self._day, len(one.files), one.head)
        added = connection.execute("INSERT INTO parts (how, day, count, head) VALUES (?, ?, ?, ?)", row).lastrowid
        assert added is not None
        turns = [((added << _SHIFT) + place, data) for place, data in enumerate(one.turns)]
        connection.executemany("INSERT INTO turns VALUES (?, ?)", turns)
        connection.execute("INSERT INTO names VALUES (?, ?)", (added, one.names))
        files = [(self.how, name, added, place, *stamp) for place, (name, stamp) in enumerate(one.files)]
        connection.executemany("INSERT INTO files VALUES (?, ?, ?, ?, ?, ?, ?)", files)
        return added

    def _prune(self, connection: sqlite3.Connection) -> None:
        """Drop what nobody asked for in a long time, and everything if it is too much."""
        for row in connection.execute("SELECT id FROM parts WHERE day < ?", (self._day - _DAYS,)).fetchall():
            _drop(connection, row[0])
        connection.execute("DELETE FROM apart WHERE day < ?", (self._day - _DAYS,))
        pages, free, size = (
            connection.execute(f"PRAGMA {what}").fetchone()[0] for what in ("page_count", "freelist_count", "page_size")
        )
        if (pages - free) * size > _MOST:
            for table in ("parts", "files", "turns", "names", "derived", "apart"):
                connection.execute(f"DELETE FROM {table}")

    def _used(self, parts: Sequence[int]) -> None:
        import sqlite3

        if self._open is not None:
            with suppress(sqlite3.Error):  # it is only a date
                self._open.execute("BEGIN IMMEDIATE")
                self._open.executemany("UPDATE parts SET day = ? WHERE id = ?", [(self._day, part) for part in parts])
                self._open.execute("COMMIT")

    # ------------------------------------------------------------------------------------------------ the file
    def _rows(self, query: str, *values: object) -> list[Any]:
        connection = self._connect()
        if connection is None:
            return []
        import sqlite3

        try:
            return connection.execute(query, values).fetchall()
        except sqlite3.Error as error:
            self._failed(error)
            return []

    def _connect(self, write: bool = False) -> sqlite3.Connection | None:
        """The open file; for reading only if there is something to read."""
        if self._off:
            return None
        if self._open is None:
            if not write and not self._place.exists():
                return None
            try:
                import sqlite3
            except ImportError:  # pragma: no cover - a Python without it
                self._off = True
                return None
            try:
                if write and not self._place.exists():
                    self._place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                    os.close(os.open(self._place, os.O_CREAT | os.O_RDWR, 0o600))
                self._open = sqlite3.connect(
                    self._place, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
                )
                # a power cut may cost the cache, never more
                self._open.execute("PRAGMA synchronous = OFF")
                self._open.execute("PRAGMA page_size = 16384")
                self._ready = self._open.execute("PRAGMA user_version").fetchone()[0] == SCHEMA
            except (OSError, sqlite3.Error) as error:
                self._failed(error)
                return None
        return self._open if self._ready or write else None

    def _failed(self, error: Exception) -> None:
        """Nothing more of it in this run. What is broken is removed, so that the next run begins anew."""
        self.close()
        self._off = True
        text = str(error)
        if text.startswith(("database is locked", "database table is locked")):
            return  # another process is writing
        if "malformed" in text or "not a database" in text:
            with suppress(OSError):
                self._place.unlink()
        self.note = (
            f"the cache {self._place} is not used ({text}); everything was read anew "
            "(`ctxmon doctor --clear-cache` removes it, --no-cache does without)"
        )

    def close(self) -> None:
        """Close the file."""
        if self._open is not None:
            self._open.close()
            self._open = None

    def __del__(self) -> None:
        self.close()


def _drop(connection: sqlite3.Connection, part: int) -> None:
    connection.execute("DELETE FROM parts WHERE id = ?", (part,))
    first = part << _SHIFT
    connection.execute("DELETE FROM turns WHERE id BETWEEN ? AND ?", (first, first + (1 << _SHIFT) - 1))
    for table in ("files", "names", "derived"):
        connection.execute(f"DELETE FROM {table} WHERE part = ?", (part,))


def _together(parts: Iterable[int]) -> bytes:
    return _digest(map(str, sorted(parts)))


def _digest(texts: Iterable[str]) -> bytes:
    return blake2b("\n".join(texts).encode("utf-8", "surrogatepass"), digest_size=16).digest()
