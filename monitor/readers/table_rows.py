"""Tables of any file kind to rows: CSV, TSV, JSON, JSON lines, XLSX, Parquet.

A row is a plain dict from column name to value (text in CSV, typed values elsewhere), with the line it stands on where
the file has lines. Readers of exports work on rows and never on files.

CSV: the delimiter (comma, semicolon, tab, bar) is the one that splits the header most; text is UTF-8 with or without
byte order mark, UTF-16 with one, or GB18030 (what Chinese spreadsheets write). XLSX and Parquet need the extra
``tables``.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import IO, Any, Literal

import msgspec

from monitor.readers.base import FileContext, Head, ReadError
from monitor.readers.json_stream import Note, decode, values_of
from monitor.readers.lines import first_objects

Kind = Literal["csv", "json", "jsonl", "xlsx", "parquet", "none"]
Row = dict[str, Any]

#: names under which APIs and exports wrap their list of rows
WRAPPERS = (
    "data",
    "items",
    "logs",
    "rows",
    "results",
    "result",
    "records",
    "observations",
    "requests",
    "logEvents",
    "events",
    "calls",
)
_DELIMITERS = (",", ";", "\t", "|")
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_FIELD_LIMIT = 2**31 - 1
MISSING = "this file needs a package that is not installed: pip install '.[tables]' (it reads XLSX and Parquet)"


class Peek(msgspec.Struct, frozen=True):
    """What the beginning of a file tells: its kind, the column names, and (JSON) the first rows."""

    kind: Kind
    columns: frozenset[str] = frozenset()
    rows: tuple[Row, ...] = ()
    wrapped: bool = False  # JSON: the rows stand inside an object

    def has(self, *names: str) -> bool:
        """All these columns are there."""
        return self.columns.issuperset(names)


_NOTHING = Peek("none")
_last: tuple[Head, Peek] | None = None  # every reader asks about the same head


def peek(head: Head) -> Peek:
    """Look at a head once; never raises."""
    global _last
    last = _last
    if last is not None and last[0] is head:
        return last[1]
    try:
        found = _peek(head)
    except (ValueError, RecursionError, csv.Error, OSError, ReadError, LookupError):
        found = _NOTHING
    _last = (head, found)
    return found


def _peek(head: Head) -> Peek:
    data = head.data
    if data[:4] == b"PAR1":
        return Peek("parquet", frozenset(_parquet_columns(head)))
    if data[:4] == b"PK\x03\x04":
        if b"xl/" not in data and b"[Content_Types].xml" not in data:
            return _NOTHING
        return Peek("xlsx", frozenset(_xlsx_columns(head)))
    if data[:2] in _UTF16:
        data = data[: len(data) // 2 * 2].decode("utf-16", "replace").encode("utf-8", "replace")
    if b"\x00" in data[:1024]:
        return _NOTHING
    text = data.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text[:1] in (b"{", b"["):
        return _peek_json(text, head.complete)
    return Peek("csv", frozenset(name for name in _csv_header(data) if name))


def _peek_json(text: bytes, complete: bool) -> Peek:
    first = text.split(b"\n", 1)[0]
    try:
        value, kind = decode(first), "jsonl" if len(first) < len(text.rstrip()) else "json"
    except msgspec.DecodeError:
        value, kind = None, "json"
    if value is None and complete:
        try:
            value = decode(text)
        except msgspec.DecodeError:
            value = None
    if value is None:  # a long document cut off by the head, or pretty-printed objects one after the other
        value = _first_element(text)
    rows, wrapped = unwrap(value)
    found = [row for row in rows[:5] if isinstance(row, dict)]
    if kind == "jsonl":
        found += first_objects(text[len(first) :][:65536], 4)
    columns = frozenset(name for row in found for name in row)
    return Peek("jsonl" if kind == "jsonl" else "json", columns, tuple(found), wrapped)


def _first_element(text: bytes) -> Any:
    """The first row of a JSON document of which only the beginning is here."""
    import json

    words = text.decode("utf-8", "replace")
    scan = json.JSONDecoder(strict=False).raw_decode
    at = 0
    for _ in range(6):  # the document itself, then what its first brackets hold
        try:
            return scan(words, at)[0]
        except (ValueError, RecursionError):
            pass
        opening = words.find("[", at)
        if opening < 0:
            return None
        brace = words.find("{", opening)
        if brace < 0:
            return None
        at = brace if not words[opening + 1 : brace].strip() else opening + 1
    return None


def unwrap(value: Any, path: str | None = None) -> tuple[list[Any], bool]:
    """The list of rows in a JSON value, and whether it was wrapped in an object.

    Args:
        path: where the rows are (dots between names); else the usual names are tried.
    """
    if path:
        for name in path.split("."):
            value = value.get(name) if isinstance(value, dict) else None
        if isinstance(value, list):
            return value, True
        return ([value], True) if isinstance(value, dict) else ([], True)
    if isinstance(value, list):
        if value and isinstance(value[0], list):
            return [row for part in value if isinstance(part, list) for row in part], False
        return value, False
    if not isinstance(value, dict):
        return [], False
    for name in WRAPPERS:
        inner = value.get(name)
        if isinstance(inner, list) and (not inner or isinstance(inner[0], dict)):
            return inner, True
        if isinstance(inner, dict):
            for second in WRAPPERS:
                rows = inner.get(second)
                if isinstance(rows, list) and (not rows or isinstance(rows[0], dict)):
                    return rows, True
            if name == "data":
                return [inner], True
    return [value], False


def rows(context: FileContext, note: Note, path: str | None = None) -> Iterator[tuple[int | None, Row]]:
    """All rows of an input, in file order, with their line where there is one.

    Args:
        note: is told of each place that could not be read.
        path: JSON: where the rows are.

    Raises:
        ReadError: a kind that needs a missing package, or a damaged file.
        OSError: as usual.
    """
    with context.open() as stream:
        start = stream.read(4)
        if start == b"PAR1":
            yield from _parquet_rows(start + stream.read())
            return
        if start == b"PK\x03\x04":
            yield from _xlsx_rows(start + stream.read())
            return
        window = start + stream.read(64 * 1024)
        if is_json(window):
            yield from _json_rows(window + stream.read(), note, path)
            return
        yield from csv_rows(_chain(window, stream), note)


def by_line(head: Head, found: Peek) -> bool:
    """JSON that can be read as it grows: values on lines of their own, the last one ended by a line feed."""
    if found.wrapped or found.kind not in ("json", "jsonl"):
        return False
    return found.kind == "jsonl" or (head.complete and head.data.endswith(b"\n"))


def is_json(window: bytes) -> bool:
    """The text begins as JSON does."""
    if window[:2] in _UTF16:
        window = window[: len(window) // 2 * 2].decode("utf-16", "replace").encode("utf-8", "replace")
    return window.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"[")


def _json_rows(data: bytes, note: Note, path: str | None) -> Iterator[tuple[int | None, Row]]:
    for line, value in values_of(data, note):
        found, _ = unwrap(value, path)
        for row in found:
            if isinstance(row, dict):
                yield line, row


# --- CSV -------------------------------------------------------------------------------------------------------------
def _chain(window: bytes, stream: IO[bytes]) -> IO[bytes]:
    class Both(io.RawIOBase):
        """The bytes already taken, then the rest."""

        left = window

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: Any) -> int:
            if self.left:
                part, self.left = self.left[: len(buffer)], self.left[len(buffer) :]
            else:
                part = stream.read(len(buffer))
            buffer[: len(part)] = part
            return len(part)

    return io.BufferedReader(Both(), 1 << 20)


def csv_rows(stream: IO[bytes], note: Note) -> Iterator[tuple[int | None, Row]]:
    """Rows of delimited text; the number is the line on which the row ends."""
    csv.field_size_limit(_FIELD_LIMIT)
    lines = _text_lines(stream)
    offset = 0
    first = next(lines, "")
    while first and not first.strip():
        first, offset = next(lines, ""), offset + 1
    delimiter = None
    if first.lower().startswith("sep=") and len(first.strip()) == 5:  # a spreadsheet's own hint
        delimiter, first, offset = first.strip()[4], next(lines, ""), offset + 1
    if not first.strip():
        return
    delimiter = delimiter or delimiter_of(first)
    reader = csv.reader(_again(first, lines), delimiter=delimiter)
    header: list[str] | None = None
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            note(offset + reader.line_num, f"this row of the table could not be read ({error}); it was skipped")
            continue
        if header is None:
            header = [name.strip() for name in row]
        elif row:
            yield offset + reader.line_num, dict(zip(header, row))


def _again(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield first
    yield from rest


def delimiter_of(header: str) -> str:
    """The character that splits a header line into most columns."""
    bare = "".join(header.split('"')[::2])
    return max(_DELIMITERS, key=lambda mark: (bare.count(mark), -_DELIMITERS.index(mark)))


def _text_lines(stream: IO[bytes]) -> Iterator[str]:
    start = stream.read(2)
    if start in _UTF16:
        with io.TextIOWrapper(_chain(start, stream), encoding="utf-16", errors="replace", newline="") as text:
            yield from text
        return
    joined = _chain(start, stream)
    first = joined.readline()
    if b"\r" in first[:-1].rstrip(b"\r") and not first.rstrip(b"\r\n").count(b"\n"):
        whole = first + joined.read()
        if whole.count(b"\n") <= 1:  # a table with the line ends of old Macs
            for part in whole.splitlines(keepends=True):
                yield _text(part.rstrip(b"\r\n") + b"\n")
            return
        joined = io.BytesIO(whole)
        first = joined.readline()
    yield _text(first.removeprefix(b"\xef\xbb\xbf"))
    for line in joined:
        yield _text(line)


def _text(line: bytes) -> str:
    if b"\x00" in line:
        line = line.replace(b"\x00", b"")
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        return line.decode("gb18030", "replace")


def _csv_header(data: bytes) -> list[str]:
    lines = _text_lines(io.BytesIO(data[:65536]))
    for line in lines:
        if not line.strip() or (line.lower().startswith("sep=") and len(line.strip()) == 5):
            continue
        if len(line) > 16384:
            return []
        row = next(csv.reader([line], delimiter=delimiter_of(line)), [])
        return [name.strip() for name in row] if len(row) > 1 else []
    return []


# --- XLSX and Parquet ------------------------------------------------------------------------------------------------
def _whole(head: Head) -> bytes | None:
    if head.complete:
        return head.data
    return head.path.read_bytes() if head.path is not None else None


def _xlsx_columns(head: Head) -> list[str]:
    data = _whole(head)
    for _, row in _xlsx_rows(data) if data is not None else ():
        return list(row)
    return []


def _xlsx_rows(data: bytes) -> Iterator[tuple[int | None, Row]]:
    try:
        from openpyxl import load_workbook
    except ImportError as error:
        raise ReadError(MISSING) from error
    try:
        book = load_workbook(io.BytesIO(data), read_only=True, data_only=True)
    except Exception as error:  # openpyxl lets zip, XML and key errors of a damaged file through
        raise ReadError("it looks like an XLSX workbook but cannot be opened; save it again or export CSV") from error
    try:
        for sheet in book.worksheets:
            header: list[str] | None = None
            for number, row in enumerate(sheet.iter_rows(values_only=True), 1):
                if header is None:
                    if sum(cell is not None for cell in row) > 1:
                        header = ["" if cell is None else str(cell).strip() for cell in row]
                elif any(cell is not None for cell in row):
                    yield number, dict(zip(header, row))
    finally:
        book.close()


def _parquet(data: bytes | None, head: Head | None = None) -> Any:
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise ReadError(MISSING) from error
    source: Any = io.BytesIO(data) if data is not None else str(head.path) if head and head.path else None
    if source is None:
        raise ReadError("a Parquet file must be given as a file, because its index is at its end")
    try:
        return parquet.ParquetFile(source)
    except Exception as error:  # pyarrow's errors share only Exception across its versions
        raise ReadError("it looks like a Parquet file but cannot be opened; it is damaged or cut off") from error


def _parquet_columns(head: Head) -> list[str]:
    file = _parquet(head.data if head.complete else None, head)
    return [str(name) for name in file.schema_arrow.names]


def _parquet_rows(data: bytes) -> Iterator[tuple[int | None, Row]]:
    file = _parquet(data)
    for batch in file.iter_batches(batch_size=4096):
        for row in batch.to_pylist():
            yield None, row
