"""Databases of agents: opened without writing, in WAL mode, damaged, from a stream."""

from __future__ import annotations

import gzip
import shutil
import sqlite3
from pathlib import Path

import pytest

from monitor.readers import sqlite_files
from monitor.readers.base import FileContext, ReadError
from tests.readers.agent_help import head

notes: list[str] = []


def note(line: int | None, reason: str) -> None:
    notes.append(reason)


def rows(context: FileContext) -> list[int]:
    notes.clear()
    with sqlite_files.connection(context, note) as database:
        return [row[0] for row in sqlite_files.select(database, "t", ("x",), note)]


def at(path: Path) -> FileContext:
    return FileContext(str(path), path=path)


def wal(path: Path) -> sqlite3.Connection:
    """A database in WAL mode with one row in the file and one in -wal only."""
    base = sqlite3.connect(path)
    base.execute("PRAGMA journal_mode = WAL")
    base.execute("CREATE TABLE t (x)")
    base.execute("INSERT INTO t VALUES (1)")
    base.commit()
    base.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    base.execute("INSERT INTO t VALUES (2)")
    base.commit()
    return base


def test_rows_in_the_wal_are_seen_while_the_agent_runs(tmp_path: Path) -> None:
    base = wal(tmp_path / "a.db")
    assert rows(at(tmp_path / "a.db")) == [1, 2]
    base.close()


def test_nothing_is_written_beside_the_database(tmp_path: Path) -> None:
    base = wal(tmp_path / "a.db")
    copy = tmp_path / "copy"
    copy.mkdir()
    for name in ("a.db", "a.db-wal"):
        shutil.copy(tmp_path / name, copy / name)
    base.close()
    assert rows(at(copy / "a.db")) == [1, 2]
    assert sorted(path.name for path in copy.iterdir()) == ["a.db", "a.db-wal"]
    assert rows(at(tmp_path / "a.db")) == [1, 2]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.db", "copy"]


def test_a_large_copy_without_shm_is_read_without_its_wal_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = wal(tmp_path / "a.db")
    copy = tmp_path / "copy"
    copy.mkdir()
    for name in ("a.db", "a.db-wal"):
        shutil.copy(tmp_path / name, copy / name)
    base.close()
    monkeypatch.setattr(sqlite_files, "_MOST_COPIED", 10)
    assert rows(at(copy / "a.db")) == [1]
    assert "latest rows are missing" in notes[0]


def test_a_database_from_a_stream(tmp_path: Path) -> None:
    wal(tmp_path / "a.db").close()
    data = (tmp_path / "a.db").read_bytes()
    assert rows(FileContext("stdin", data=data)) == [1, 2]
    packed = tmp_path / "a.db.gz"
    packed.write_bytes(gzip.compress(data))
    assert rows(at(packed)) == [1, 2]


@pytest.mark.parametrize("data", [b"SQLite format 3\0" + b"x" * 4000, b"SQLite format 3\0", b"no database"])
def test_damage_is_one_clear_sentence(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.db"
    path.write_bytes(data)
    with pytest.raises(ReadError, match="cannot be read"):
        rows(at(path))
    with pytest.raises(ReadError, match="cannot be read"):
        rows(FileContext("stdin", data=data))


def test_damage_inside_ends_the_rows_and_is_noted(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    base = sqlite3.connect(path)
    base.execute("CREATE TABLE t (x)")
    base.executemany("INSERT INTO t VALUES (?)", [("y" * 500,) for _ in range(200)])
    base.commit()
    base.close()
    data = bytearray(path.read_bytes())
    data[3 * 4096 :] = b"\xff" * (len(data) - 3 * 4096)
    path.write_bytes(data)
    assert len(rows(at(path))) < 200
    assert "cannot be read to its end" in notes[0]


def test_it_cannot_write(tmp_path: Path) -> None:
    wal(tmp_path / "a.db").close()
    with sqlite_files.connection(at(tmp_path / "a.db"), note) as database, pytest.raises(sqlite3.OperationalError):
        database.execute("INSERT INTO t VALUES (3)")


def test_columns_a_version_does_not_have_are_null(tmp_path: Path) -> None:
    wal(tmp_path / "a.db").close()
    with sqlite_files.connection(at(tmp_path / "a.db"), note) as database:
        assert list(sqlite_files.select(database, "t", ("x", "later"), note)) == [(1, None), (2, None)]


def test_tables_of_a_head(tmp_path: Path) -> None:
    wal(tmp_path / "a.db").close()
    data = (tmp_path / "a.db").read_bytes()
    assert sqlite_files.tables(head(data, tmp_path / "a.db")).keys() == {"t"}
    assert sqlite_files.tables(head(data)).keys() == {"t"}
    assert sqlite_files.tables(head(b"{}")) == {}
