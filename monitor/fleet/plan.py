"""What is to be read, in parts that can be read one by one or at the same time."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from monitor.readers import CERTAIN, choose, columns, table_rows
from monitor.readers.base import LONG_HEAD_BYTES, FileContext, Head, ReadError, ReadOptions, compressed, read_head
from monitor.readers.column_map import ColumnMap
from monitor.records import Problem
from monitor.sessions.build import Settings
from monitor.sessions.filter import Wanted
from monitor.sessions.refit import TABLES
from monitor.sources.discovery import expand, reason
from monitor.sources.files import SURE_ENOUGH, UNKNOWN_FORMAT, binary
from monitor.sources.shown import shown

Kind = Literal["parquet", "csv", "jsonl", "file", "address"]
_PART_ROWS = 1_000_000  # rows of a Parquet file that are read in one go
_ROW_BYTES = {"parquet": 30, "csv": 120, "jsonl": 250, "file": 400}  # for a guess at how many rows a file holds
_BUCKET_ROWS = 80_000
MOST_BUCKETS = 512
MISSING = "call tables in buckets need packages that are not installed: pip install '.[fleet]'"
NO_STDIN = "standard input cannot be read in buckets; give a file or a folder, or leave --fleet out"
NOT_A_TABLE = "this is a log of {title}, no table of calls: its sessions may share calls, so read it without --fleet"


class Part(msgspec.Struct, frozen=True):
    """A piece of the input that one process reads.

    ``file`` is the name for people, ``path`` absolute (of a database its address, which may hold a password);
    ``order`` ranks the files, ``title`` says what is in them. Of a large Parquet file only the row groups from
    ``first`` to ``end`` (exclusive). ``forced``: the user said how to read it, the content alone does not.
    """

    number: int
    order: int
    file: str
    path: str
    kind: Kind
    first: int = 0
    end: int | None = None
    title: str = ""
    forced: bool = False


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a process needs to know to do a part of the work. ``folder``: where buckets are kept meanwhile."""

    parts: Sequence[Part]
    buckets: int
    folder: str
    options: ReadOptions
    settings: Settings
    wanted: Wanted = Wanted()
    exact: bool = False  # a session that is wanted has just this name; else its name may begin so

    def for_workers(self) -> Plan:
        """What may leave this process: databases are read here, so their addresses stay here as well."""
        parts = [msgspec.structs.replace(p, path="") if p.kind == "address" else p for p in self.parts]
        return msgspec.structs.replace(self, parts=parts)

    @property
    def map(self) -> ColumnMap | None:
        """The column map; None: tables are those that ``ctxmon calls`` wrote."""
        return self.options.map if isinstance(self.options.map, ColumnMap) else None


def parts_of(paths: Sequence[str], options: ReadOptions, problems: list[Problem]) -> tuple[list[Part], int]:
    """The parts of an input, and about how many rows there are.

    What cannot be read in buckets is noted in ``problems``, with what to do.
    """
    found: list[Part] = []
    rows = order = 0
    for name in paths:
        if name == "-":
            problems.append(Problem("stdin", None, NO_STDIN))
        elif "://" in name:
            found.append(Part(len(found), order, shown(name), name, "address", title="database or gateway"))
            order += 1
    files = [name for name in paths if name != "-" and "://" not in name]
    for path in expand(files, problems):
        try:
            more, count = _of_file(path, options, len(found), order)
        except ReadError as error:
            problems.append(Problem(str(path), None, str(error)))
        except OSError as error:
            problems.append(Problem(str(path), None, f"cannot be read: {reason(error)}"))
        else:
            found += more
            rows += count
            order += 1
    return found, rows


def buckets_for(rows: int, workers: int) -> int:
    """So many buckets that each is read in little memory and every worker has several."""
    return max(1, min(MOST_BUCKETS, max(-(-rows // _BUCKET_ROWS), 4 * workers)))


def _of_file(path: Path, options: ReadOptions, number: int, order: int) -> tuple[list[Part], int]:
    name, place = str(path), os.path.abspath(path)
    context = FileContext(name=name, path=path, options=options)
    head = read_head(context)
    if not head.data.strip(b" \t\r\n\x00"):
        raise ReadError("the file is empty" if not head.data else "the file holds nothing but blanks")
    reader, score = choose(head, options.source)
    if score < CERTAIN and not head.complete:
        head = read_head(context, LONG_HEAD_BYTES)
        reader, score = choose(head, options.source)
    if reader is None or (score < SURE_ENOUGH and options.source is None):
        raise ReadError(binary(head) or UNKNOWN_FORMAT)
    if reader.source not in TABLES:
        raise ReadError(NOT_A_TABLE.format(title=reader.title))
    kind = _kind(reader, head, options)
    part = Part(number, order, name, place, kind, title=reader.title, forced=score < SURE_ENOUGH)
    if kind == "parquet":
        return list(_row_groups(path, part)), _parquet_rows(path)
    return [part], max(1, path.stat().st_size // _ROW_BYTES[kind])


def _kind(reader: Any, head: Head, options: ReadOptions) -> Kind:
    """How a file is read: as a stream of columns or rows where its columns are known, else by its own reader."""
    if reader is not columns.READER:
        return "file"
    found = table_rows.peek(head)
    mapped = isinstance(options.map, ColumnMap) or found.has(*columns.OWN_COLUMNS)
    if not mapped or head.data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "file"
    if found.kind == "parquet":
        return "file" if compressed(head) else "parquet"
    if found.kind == "csv":
        return "csv"
    return "jsonl" if found.kind == "jsonl" and not found.wrapped else "file"


def _row_groups(path: Path, part: Part) -> Iterator[Part]:
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        meta = file.metadata
        first = rows = 0
        number = part.number
        if not meta.num_row_groups:
            yield msgspec.structs.replace(part, end=0)
        for group in range(meta.num_row_groups):
            rows += meta.row_group(group).num_rows
            if rows >= _PART_ROWS or group + 1 == meta.num_row_groups:
                yield msgspec.structs.replace(part, number=number, first=first, end=group + 1)
                number, first, rows = number + 1, group + 1, 0


def _parquet_rows(path: Path) -> int:
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        return int(file.metadata.num_rows)
