"""Rows of many files brought together by session: into buckets on disk that hold whole sessions.

Each part of the input is read once and leaves one file with its rows sorted into buckets, and an index that tells
which pieces belong to which bucket. Nothing but numbers, times, names of models and ids (or hashes of them) is written;
the folder is private to the user and removed at the end. Writing a part again gives the same file, so a part whose
process died is simply read again.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice, repeat
from pathlib import Path, PurePath
from typing import IO, TYPE_CHECKING, Any

import msgspec

from monitor.fleet.plan import Part, Plan
from monitor.fleet.records import Moved, bucket_of, frame_of, home, pack, sender
from monitor.readers import gateway_values as values
from monitor.readers.base import FileContext, ReadError
from monitor.readers.table_calls import CELLS, Maker
from monitor.records import Call, Event, Problem, Record
from monitor.sources.discovery import reason
from monitor.sources.files import tells_tokens

if TYPE_CHECKING:
    import pyarrow as pa

    from monitor.fleet.cells import Batch

_MOST_TIMES = 20  # rows without a readable time that are told one by one
_CHUNK = 20_000  # records of readers that are sorted into buckets at a time


class Piece(msgspec.Struct, frozen=True):
    """Where a part keeps the rows of one bucket: numbers of record batches, or offset and length of each frame."""

    part: int
    path: str
    columns: bool
    places: Sequence[tuple[int, int]]


class Sorted(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a part.

    ``exclusive``: a row proved that prompts of this table leave the cache out. ``tells``: some call has tokens.
    """

    part: int
    calls: int = 0
    exclusive: bool = False
    tells: bool = False
    index: dict[int, Piece] = {}
    problems: Sequence[Problem] = ()


class _Notes:
    """Problems of a part; unreadable times are told a few times only."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.found: list[Problem] = []
        self._times = 0

    def __call__(self, line: int | None, why: str) -> None:
        self.found.append(Problem(self.file, line, why))

    def times(self, lines: Iterable[int | None]) -> None:
        """Rows whose time cannot be read."""
        for line in lines:
            if self._times >= _MOST_TIMES:
                return
            self._times += 1
            self(line, "the time of this row cannot be read; the row counts, without a time")


def split(plan: Plan, part: Part) -> Sorted:
    """Read a part and sort its rows into buckets. What cannot be read is in ``problems``; nothing is raised for it."""
    notes = _Notes(part.file)
    target = Path(plan.folder) / f"part-{part.number:05d}"
    with _beside(target) as temporary:
        try:
            if part.kind in ("parquet", "csv", "jsonl"):
                return _columns(plan, part, temporary, target, notes)
            return _records(plan, part, temporary, target, notes)
        except OSError as error:
            if error.filename is None or str(error.filename).startswith(plan.folder):
                raise  # the temporary folder, not the input
            notes(None, f"cannot be read: {reason(error)}")
            return Sorted(part=part.number, problems=notes.found)


@contextmanager
def _beside(target: Path) -> Iterator[Path]:
    """A new file that takes its place when it is whole: two processes may write the same part."""
    handle, name = tempfile.mkstemp(prefix=target.name + ".", dir=target.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


# --- by column -------------------------------------------------------------------------------------------------------
def _columns(plan: Plan, part: Part, temporary: Path, target: Path, notes: _Notes) -> Sorted:
    import pyarrow as pa

    from monitor.fleet.cells import Table

    table = Table(Path(part.path), part.file, plan.map, notes)
    codec = next((name for name in ("lz4", "zstd") if pa.Codec.is_available(name)), None)
    last, calls, written, exclusive, tells = 0, 0, 0, False, False
    places: dict[int, list[tuple[int, int]]] = {}
    writer: Any = None
    try:
        if part.kind == "parquet":
            last = table.last_time(part.first) if part.first else 0
            batches = table.parquet(part.first, part.end)
        else:
            batches = table.rows(part.kind)
        try:
            for batch in batches:
                if not batch.rows:
                    continue
                calls += batch.rows
                exclusive = exclusive or _proves(batch)
                tells = tells or _tells(batch, table.constants())
                rows, last = _rows(batch, table.map.columns, last, notes)
                if writer is None:
                    options = pa.ipc.IpcWriteOptions(compression=codec)
                    writer = pa.ipc.new_file(str(temporary), rows.schema, options=options)
                for bucket, piece in _by_bucket(rows, batch, part, plan):
                    writer.write_batch(piece)
                    places.setdefault(bucket, []).append((written, piece.num_rows))
                    written += 1
        except ReadError as error:
            notes(None, str(error))
    finally:
        if writer is not None:
            writer.close()
    index = {bucket: Piece(part.number, str(target), True, found) for bucket, found in places.items()}
    return Sorted(part=part.number, calls=calls, exclusive=exclusive, tells=tells, index=index, problems=notes.found)


def _proves(batch: Batch) -> bool:
    """Whether a row's cached part is larger than its prompt (:func:`table_calls.proves_exclusive`, for a column)."""
    from pyarrow import compute

    prompt, read = batch.cells.get("prompt"), batch.cells.get("cached")
    return prompt is not None and read is not None and bool(compute.any(compute.greater(read, prompt)).as_py())


_FIGURES = ("prompt", "fresh", "output")  # without these the other parts of a prompt say nothing


def _tells(batch: Batch, constants: dict[str, Any]) -> bool:
    """Whether a row of a batch becomes a call with tokens."""
    from pyarrow import compute

    columns = [batch.cells[name] for name in _FIGURES if name in batch.cells]
    if any(compute.any(compute.greater(column, 0)).as_py() for column in columns):
        return True
    if all(column.null_count == batch.rows for column in columns):
        return False
    # zeros only: they are no tokens where the request was refused
    cells = [batch.cells[name].to_pylist() if name in batch.cells else repeat(constants[name]) for name in CELLS]
    rows = islice(zip(*cells), batch.rows)
    return any(tells_tokens(Maker("").call(row, None, True)) for row in rows)


def _rows(batch: Batch, mapped: Any, last: int, notes: _Notes) -> tuple[pa.RecordBatch, int]:
    """The cells as a record batch, with the line and the place in time of every row."""
    import pyarrow as pa

    columns = dict(batch.cells)
    time = columns.get("time")
    if time is None:
        columns["place"] = pa.array([last] * batch.rows, pa.int64())
    elif not time.null_count:
        columns["place"] = time
        last = int(time[-1].as_py())
    else:
        filled = []
        for moment in time.to_pylist():
            last = moment if moment is not None else last
            filled.append(last)
        columns["place"] = pa.array(filled, pa.int64())
        if "time" in mapped:
            lines = batch.lines or [None] * batch.rows
            notes.times(line for line, unknown in zip(lines, time.is_null().to_pylist()) if unknown)
    if batch.lines is not None:
        columns["line"] = pa.array(batch.lines, pa.int64())
    return pa.RecordBatch.from_pydict(columns), last


def _by_bucket(rows: pa.RecordBatch, batch: Batch, part: Part, plan: Plan) -> Iterator[tuple[int, pa.RecordBatch]]:
    import numpy as np

    bucket = np.zeros(batch.rows, dtype=np.int32)
    sessions = batch.cells.get("session")
    known = sessions.is_valid().to_numpy(zero_copy_only=False) if sessions is not None else bucket.astype(bool)
    if sessions is not None:
        bucket[known] = _codes(sessions.drop_null(), lambda name: bucket_of("s" + name, plan.buckets))
    if not known.all():
        bucket[~known] = _loose(batch, part, plan)[~known]
    order = np.argsort(bucket, kind="stable")
    ordered = rows.take(order)
    sorted_buckets = bucket[order]
    starts = [0, *(np.flatnonzero(np.diff(sorted_buckets)) + 1).tolist()]
    for start, end in zip(starts, [*starts[1:], batch.rows]):
        yield int(sorted_buckets[start]), ordered.slice(start, end - start)


def _codes(names: pa.Array, number: Callable[[str], int]) -> Any:
    """A number for every name, worked out once for equal names."""
    import numpy as np

    coded = names.dictionary_encode()
    numbers = np.array([number(name) for name in coded.dictionary.to_pylist()], dtype=np.int32)
    return numbers[coded.indices.to_numpy()] if len(numbers) else numbers


def _loose(batch: Batch, part: Part, plan: Plan) -> Any:
    """Buckets of rows as if none named its session."""
    import numpy as np

    groups = loose_groups(batch.cells, batch.rows, part.file, plan)
    if isinstance(groups, str):
        return np.full(batch.rows, bucket_of(groups, plan.buckets), dtype=np.int32)
    known: dict[str, int] = {}
    for group in groups:
        if group not in known:
            known[group] = bucket_of(group, plan.buckets)
    return np.array([known[group] for group in groups], dtype=np.int32)


def loose_groups(cells: Any, rows: int, file: str, plan: Plan) -> str | list[str]:
    """The groups that rows without a session belong to (:func:`records.home`, for a table): one, or one per row."""
    way = plan.options.session_by
    if way == "file":
        return "f" + (PurePath(file).stem or file)
    if way == "explicit":
        return "s" + values.placeholder(file)
    origins, sources = cells.get("origin"), cells.get("source")
    plain = values.origin("table", None)
    if origins is None and sources is None:
        return sender("table", plain, file)
    from_whom = origins.to_pylist() if origins is not None else [plain] * rows
    from_where = sources.to_pylist() if sources is not None else [None] * rows
    return [sender(source or "table", origin, file) for source, origin in zip(from_where, from_whom)]


# --- by record -------------------------------------------------------------------------------------------------------
class _Frames:
    """Writes records of one part into frames, one per bucket and chunk."""

    def __init__(self, stream: IO[bytes], plan: Plan) -> None:
        self._stream, self._plan = stream, plan
        self.places: dict[int, list[tuple[int, int]]] = {}
        self.calls = 0
        self.tells = False
        self._last = 0
        self._offset = 0

    def write(self, records: Sequence[Record], notes: _Notes) -> None:
        """Sort records into buckets, some thousand at a time; problems among them are noted."""
        way, count = self._plan.options.session_by, self._plan.buckets
        homes: dict[str, str] = {}
        if any(isinstance(record, Event) and "#" in record.key for record in records):
            homes = {record.key: home(record, way) for record in records if isinstance(record, Call)}
        found: dict[int, list[tuple[Moved, int]]] = {}
        for number, record in enumerate(records, 1):
            if isinstance(record, Problem):
                notes.found.append(record)
                continue
            group = "s" + record.session
            if isinstance(record, Call):
                self.calls += 1
                self.tells = self.tells or tells_tokens(record)
                group = home(record, way)
            elif isinstance(record, Event) and "#" in record.key:
                group = homes.get(record.key.rpartition("#")[0], group)
            if isinstance(record, Call | Event) and record.time is not None:
                self._last = record.time
            found.setdefault(bucket_of(group, count), []).append((record, self._last))
            if number % _CHUNK == 0:
                self._flush(found)
        self._flush(found)

    def _flush(self, found: dict[int, list[tuple[Moved, int]]]) -> None:
        for bucket in sorted(found):
            data = pack(frame_of(found[bucket]))
            self._stream.write(data)
            self.places.setdefault(bucket, []).append((self._offset, len(data)))
            self._offset += len(data)
        found.clear()


def _records(plan: Plan, part: Part, temporary: Path, target: Path, notes: _Notes) -> Sorted:
    with temporary.open("wb") as stream:
        frames = _Frames(stream, plan)
        try:
            for records in _read(plan, part):
                frames.write(records, notes)
        except ReadError as error:
            notes(None, str(error))
        except (MemoryError, RecursionError):
            notes(None, "it is too large or too deeply nested to be read")
    index = {bucket: Piece(part.number, str(target), False, found) for bucket, found in frames.places.items()}
    return Sorted(part=part.number, calls=frames.calls, tells=frames.tells, index=index, problems=notes.found)


def _read(plan: Plan, part: Part) -> Iterator[Sequence[Record]]:
    options = plan.options
    if part.kind == "address":
        from monitor.fleet.addresses import chunks

        yield from chunks(part.path, options)
        return
    from monitor.readers import choose
    from monitor.readers.base import LONG_HEAD_BYTES, read_head

    context = FileContext(name=part.file, path=Path(part.path), options=options)
    reader, _ = choose(read_head(context, LONG_HEAD_BYTES), options.source)
    if reader is None:
        raise ReadError("the file has changed while it was read; start again")
    parser = reader.parser(context)
    parser.read(context)
    yield values.latest(parser.take())
