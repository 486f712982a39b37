"""A bucket of whole sessions, analysed session by session with the functions of every other command.

A session's calls are put into a :class:`~monitor.sessions.store.Store` of their own: what a call is, which one counts
when it is told twice, where windows end and what is summed is decided there and nowhere else. Only one session is held
as records at a time, so memory does not grow with the table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, repeat
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import msgspec

from monitor.fleet.plan import Plan
from monitor.fleet.records import Moved, home, unpack
from monitor.fleet.shuffle import Piece, loose_groups
from monitor.readers.table_calls import CELLS, OWN, Maker, cleaners
from monitor.records import Call, Event
from monitor.sessions.build import Session
from monitor.sessions.filter import narrow
from monitor.sessions.store import Store
from monitor.sessions.view import SessionView
from monitor.sources.files import Batch

if TYPE_CHECKING:
    import pyarrow as pa

#: (rank of the file, its name, records with their place in time)
Told = tuple[int, str, list[tuple[Moved, int]]]
_ROWS = 20_000  # rows that are held as Python values at a time, unless one session has more


class Bucket(msgspec.Struct, frozen=True):
    """What makes up a bucket. ``exclusive``: files (by rank) whose prompts leave the cache out, as a row proved."""

    number: int
    pieces: Sequence[Piece]
    exclusive: frozenset[int] = frozenset()


def views(plan: Plan, bucket: Bucket) -> Iterator[SessionView]:
    """Every session of a bucket that was asked for, in the order of their names."""
    name = plan.wanted.session
    for group, told in _merged(_by_column(plan, bucket), sorted(_by_group(plan, bucket).items())):
        if name is not None and group[0] == "s" and not group[1:].startswith(name):
            continue
        for view in narrow(_analysed(plan, told), plan.wanted):
            if not plan.exact or view.session == name:
                yield view


def _merged(
    one: Iterator[tuple[str, list[Told]]], two: Iterable[tuple[str, list[Told]]]
) -> Iterator[tuple[str, list[Told]]]:
    """Two sources of groups, both in the order of names; a group that both have comes once."""
    from heapq import merge

    for name, entries in groupby(merge(one, two, key=itemgetter(0)), key=itemgetter(0)):
        yield name, [told for _, parts in entries for told in parts]


def _analysed(plan: Plan, told: list[Told]) -> list[SessionView]:
    told = sorted(told, key=itemgetter(0))
    if _plain(told):
        return [_alone(plan, told)]
    store = Store(plan.settings, detail=plan.options.detail)
    store.session_by = plan.options.session_by
    for _, file, entries in told:
        whole: list[Any] = []
        for record, place in entries:
            if isinstance(record, Call | Event) and record.time is None:
                # it stands behind what came before it in its file, which may be of another session
                store.apply(Batch(file, whole, False))
                store.files[file].last_time = place
                store.apply(Batch(file, [record], False))
                whole = []
            else:
                whole.append(record)
        store.apply(Batch(file, whole, False))
    return store.views()


def _plain(told: list[Told]) -> bool:
    """Whether a store would have nothing to settle: calls of one named session, each told once, with its time."""
    keys: set[str] = set()
    number = 0
    for _, _, entries in told:
        for record, _ in entries:
            if type(record) is not Call or record.time is None or not record.key:
                return False
            if record.evidence is not None or record.session_evidence == "file":
                return False
            keys.add(record.key)
        number += len(entries)
    return 0 < number == len(keys)


def _alone(plan: Plan, told: list[Told]) -> SessionView:
    """The view of such a session, without the book-keeping of a store."""
    session = Session(told[0][2][0][0].session, plan.settings, steps_complete=plan.options.detail)
    put = session.put
    for rank, (_, _, entries) in enumerate(told):
        for record, place in entries:
            put(record, (place, rank, record.line or 0))  # type: ignore[arg-type, union-attr]
    return session.refresh(_never)


def _never(record: object) -> bool:
    return False


# --- records ---------------------------------------------------------------------------------------------------------
def _by_group(plan: Plan, bucket: Bucket) -> dict[str, list[Told]]:
    """Records of readers, by the group that must be whole."""
    way = plan.options.session_by
    groups: dict[str, list[Told]] = {}
    for piece in sorted((p for p in bucket.pieces if not p.columns), key=lambda p: p.part):
        part = plan.parts[piece.part]
        with open(piece.path, "rb") as stream:
            for offset, size in piece.places:
                stream.seek(offset)
                homes: dict[str, str] = {}
                found: dict[str, list[tuple[Moved, int]]] = {}
                entries = list(unpack(stream.read(size)).records())
                for record, _ in entries:
                    if type(record) is Call:
                        homes[record.key] = home(record, way)
                for record, place in entries:
                    group = "s" + record.session
                    if type(record) is Call:
                        group = homes[record.key] if record.key else home(record, way)
                    elif type(record) is Event and "#" in record.key:
                        group = homes.get(record.key.rpartition("#")[0], group)
                    found.setdefault(group, []).append((record, place))
                for group, told in found.items():
                    file = getattr(told[0][0], "file", part.file)
                    groups.setdefault(group, []).append((part.order, file, told))
    return groups


# --- columns ---------------------------------------------------------------------------------------------------------
def _by_column(plan: Plan, bucket: Bucket) -> Iterator[tuple[str, list[Told]]]:
    """Calls of tables that are read by column, group by group."""
    table = _table(plan, bucket)
    if table is None:
        return
    order, groups = _groups(plan, table)
    files = {part.order: part.file for part in plan.parts}
    first = start = 0
    while start < len(groups):
        end, rows = start, 0
        while end < len(groups) and (not rows or rows + groups[end][1] <= _ROWS):
            rows += groups[end][1]
            end += 1
        chunk = _Rows(table.take(order[first : first + rows]), plan, bucket, files)
        at = 0
        for name, count in groups[start:end]:
            yield name, chunk.told(at, at + count)
            at += count
        first, start = first + rows, end


def _table(plan: Plan, bucket: Bucket) -> pa.Table | None:
    """All rows of a bucket, in the order of files and of rows in them."""
    import pyarrow as pa

    tables = []
    for piece in sorted((p for p in bucket.pieces if p.columns), key=lambda p: p.part):
        with pa.OSFile(piece.path, "rb") as source, pa.ipc.open_file(source) as reader:
            found = pa.Table.from_batches([reader.get_batch(number) for number, _ in piece.places])
        tables.append(found.append_column("order", pa.repeat(plan.parts[piece.part].order, found.num_rows)))
    return pa.concat_tables(tables, promote_options="default").combine_chunks() if tables else None


def _groups(plan: Plan, table: pa.Table) -> tuple[Any, list[tuple[str, int]]]:
    """The order that brings rows of a group together, and the groups with their sizes, by name."""
    import numpy as np

    codes = np.empty(table.num_rows, dtype=np.int64)
    names: dict[str, int] = {}
    known = np.zeros(table.num_rows, dtype=bool)
    if "session" in table.column_names:
        sessions = table.column("session").combine_chunks()
        known = sessions.is_valid().to_numpy(zero_copy_only=False)
        coded = sessions.drop_null().dictionary_encode()
        names = {"s" + name: code for code, name in enumerate(coded.dictionary.to_pylist())}
        codes[known] = coded.indices.to_numpy()
    for place, name in _loose(plan, table, np.flatnonzero(~known)):
        codes[place] = names.setdefault(name, len(names))
    ordered = sorted(names)
    rank = np.empty(len(names), dtype=np.int64)
    rank[[names[name] for name in ordered]] = np.arange(len(names))
    ranks = rank[codes]
    counts = np.bincount(ranks, minlength=len(names)).tolist()
    return np.argsort(ranks, kind="stable"), list(zip(ordered, counts))


def _loose(plan: Plan, table: pa.Table, places: Any) -> Iterator[tuple[int, str]]:
    """The group of each row that names no session."""
    if not len(places):
        return
    rows = table.take(places)
    cells = {name: rows.column(name) for name in ("origin", "source") if name in rows.column_names}
    files = {part.order: part.file for part in plan.parts}
    for order, of_file in groupby(zip(rows.column("order").to_pylist(), range(len(places))), key=itemgetter(0)):
        numbers = [number for _, number in of_file]
        some = {name: column.slice(numbers[0], len(numbers)) for name, column in cells.items()}
        groups = loose_groups(some, len(numbers), files[order], plan)
        yield from zip(places[numbers].tolist(), repeat(groups) if isinstance(groups, str) else groups)


class _Rows:
    """Some rows as Python values, and the calls made of them."""

    def __init__(self, table: pa.Table, plan: Plan, bucket: Bucket, files: dict[int, str]) -> None:
        columns = OWN if plan.map is None else plan.map
        clean = cleaners(columns)
        self._flag = columns.input_includes_cached
        self._exclusive, self._files = bucket.exclusive, files
        self._orders = _list(table, "order") or []
        self._places = _list(table, "place") or []
        self._lines = _list(table, "line") or [None] * len(self._orders)
        cells = []
        for name in CELLS:
            # a cell that no column tells is what nothing means there
            nothing = clean[name](None)
            found = _list(table, name, nothing)
            cells.append(repeat(nothing) if found is None else found)
        self._cells = list(zip(*cells)) if self._orders else []

    def told(self, start: int, end: int) -> list[Told]:
        """The calls of a group's rows, file by file."""
        found: list[Told] = []
        while start < end:
            order = self._orders[start]
            stop = end
            if self._orders[end - 1] != order:
                stop = next(n for n in range(start, end) if self._orders[n] != order)
            file = self._files[order]
            inclusive = self._flag if self._flag is not None else order not in self._exclusive
            make, lines, places = Maker(file).call, self._lines, self._places
            calls = [
                (make(cells, lines[n], inclusive), places[n]) for n, cells in enumerate(self._cells[start:stop], start)
            ]
            found.append((order, file, calls))  # type: ignore[arg-type]
            start = stop
        return found


def _list(table: pa.Table, name: str, nothing: Any = None) -> list[Any] | None:
    """A column as a list; None if there is none. Equal names share one object."""
    import pyarrow as pa

    if name not in table.column_names:
        return None
    column = table.column(name).combine_chunks()
    if nothing is not None:
        column = column.fill_null(nothing)
    if pa.types.is_string(column.type):
        coded = column.dictionary_encode()
        names = [*coded.dictionary.to_pylist(), None]
        return [names[code] for code in coded.indices.fill_null(-1).to_numpy().tolist()]
    if column.null_count:
        return column.to_pylist()  # type: ignore[no-any-return]
    return column.to_numpy(zero_copy_only=False).tolist()  # type: ignore[no-any-return]
