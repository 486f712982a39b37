"""Paths to sessions: find the files, read them once, analyse."""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from monitor.sessions.recall import Memory

from monitor.readers.base import DEFAULT_OPTIONS, ReadOptions
from monitor.records import Problem
from monitor.sessions.build import Settings
from monitor.sessions.filter import Wanted, narrow
from monitor.sessions.refit import applied, own
from monitor.sessions.store import Store
from monitor.sessions.view import FileReport, Loaded, SessionView
from monitor.sources.discovery import agent_folders
from monitor.sources.discovery import names as file_names
from monitor.sources.files import Batch, Tail, read_bytes

_MOST_MODELS = 6  # named where the filters leave nothing


class Request(msgspec.Struct):
    """What to load and how. ``paths`` empty: the agents' own folders on this machine; ``-``: standard input."""

    paths: Sequence[str] = ()
    options: ReadOptions = DEFAULT_OPTIONS
    settings: Settings = msgspec.field(default_factory=Settings)
    wanted: Wanted = msgspec.field(default_factory=Wanted)
    cache: bool = False  # use and keep what was made of files that have not changed
    notes: list[str] = msgspec.field(default_factory=list)  # what to tell the user besides; filled by loading
    progress: Callable[[str, int, int], None] | None = None  # is told what is done, how much of it, and of how much


class _Read(msgspec.Struct):
    """How one input was read; what `doctor` says of it comes when all inputs are known."""

    name: str
    source: str | None = None
    title: str | None = None
    score: float = 1.0
    size: int | None = None
    lines: int | None = None
    note: str = ""


def load(request: Request) -> Loaded:
    """Read and analyse everything asked for. Nothing that cannot be read ends the run: it is in ``problems``."""
    with _no_collections():
        return _load(request)


def _load(request: Request) -> Loaded:
    problems: list[Problem] = []
    names = list(dict.fromkeys(str(name) for name in request.paths))  # standard input can be read only once
    if not names:
        names = [str(folder) for folder in agent_folders()]
        if not names:
            problems.append(
                Problem("", None, "no agent's log folder was found on this machine; name a file or folder to read")
            )
    inputs = [_elsewhere(name, request) for name in names if name == "-" or "://" in name]
    files = list(file_names([name for name in names if name != "-" and "://" not in name], problems))
    memory = _memory(request, files)
    parts = memory.find(files) if memory is not None else []
    read: dict[str, tuple[Tail, Batch | None]] = {}
    while True:
        cached = {file for part in parts for file in part.files}
        for name in files:
            if name not in cached and name not in read:
                tail = Tail(Path(name), request.options)
                read[name] = (tail, tail.read(final=True))
                tail.parser = None  # nothing more will be asked of it
                if request.progress is not None:
                    request.progress("files read", len(cached) + len(read), len(files))
        if memory is None or not parts:
            break
        told = [batch for _, batch in read.values() if batch is not None]
        apart = memory.apart(parts, [*told, *(batch for _, batch in inputs)])
        if len(apart) == len(parts):
            break
        parts = apart  # the others have to do with what was read: they are read as well

    store = Store(request.settings, detail=request.options.detail)
    store.session_by = request.options.session_by
    for _, batch in inputs:
        store.apply(batch)
    fresh = [read[name] for name in files if name in read]
    for _, told_by_file in fresh:
        if told_by_file is not None:
            store.apply(told_by_file)
    views = store.views()
    copies = store.duplicates()
    reports = {one.name: _report(one, store, copies.get(one.name, 0)) for one, _ in inputs}
    reports.update((tail.name, _report(_how(tail), store, copies.get(tail.name, 0))) for tail, _ in fresh)
    told_problems = {name: state.problems for name, state in store.files.items()}
    inherited = store.copies()
    if memory is not None:
        views = memory.keep(fresh, [batch for _, batch in inputs], views, reports, inherited, parts)
        memory.look_up(parts)
        for part in parts:
            views += memory.sessions(part)
            inherited += part.head.copies
            reports.update((report.file, report) for report in part.head.reports)
            for problem in part.head.problems:
                told_problems.setdefault(problem.file, []).append(problem)
        request.notes += [memory.note] if memory.note else []
        views.sort(key=lambda view: (view.last or -1, view.session), reverse=True)
    found = own(views)  # of all that was read, whatever is wanted of it
    sessions = narrow(views, request.wanted)
    if found is not None:
        sessions = [applied(view, found) for view in sessions]
    if views and not sessions:
        request.notes.append(_nothing_left(views))
    order = [*(one.name for one, _ in inputs), *files]
    rank = {name: place for place, name in enumerate(order)}
    return Loaded(
        sessions=sessions,
        problems=[*problems, *(problem for name in order for problem in told_problems.get(name, ()))],
        files=[reports[name] for name in order if name in reports],
        copies=sorted(inherited, key=lambda call: (call.time or 0, rank.get(call.file, 0), call.line or 0)),
    )


def _nothing_left(views: Sequence[SessionView]) -> str:
    """What there is, where the filters leave nothing of it."""
    models = sorted({model for view in views for model in view.models})
    days = sorted(bucket.day for view in views for bucket in view.buckets if bucket.day is not None)
    told = [f"{len(views)} session{'s' if len(views) > 1 else ''}"]
    if days:
        first, last = (time.strftime("%Y-%m-%d", time.gmtime(day * 86_400)) for day in (days[0], days[-1]))
        told.append(first if first == last else f"{first} to {last}")
    if models:
        told.append("models " + ", ".join(models[:_MOST_MODELS]) + (" …" if len(models) > _MOST_MODELS else ""))
    return f"no calls match --since, --until, --model or --session; read were {', '.join(told)}"


def _elsewhere(name: str, request: Request) -> tuple[_Read, Batch]:
    """Standard input, or a source given by address."""
    if name == "-":
        data = sys.stdin.buffer.read()
        batch, reader = read_bytes("stdin", data, request.options)
        source, title = (reader.source, reader.title) if reader is not None else (None, None)
        return _Read("stdin", source, title, size=len(data)), batch
    from monitor.sources.address import read_address

    batch, title = read_address(name, request.options)
    return _Read(batch.file, title, title), batch


def _how(tail: Tail) -> _Read:
    source, title = (tail.reader.source, tail.reader.title) if tail.reader is not None else (None, None)
    return _Read(tail.name, source, title, tail.score, tail.bytes_read, tail.lines or None, tail.note)


def _memory(request: Request, files: Sequence[str]) -> Memory | None:
    """What is known of the files; None where it would not be worth it, or is not wanted."""
    if not request.cache:
        return None
    from monitor.sessions import recall

    now = recall.stamps(files)
    if sum(size for size, _, _ in now.values()) < recall.WORTH:
        return None
    how = recall.way(request.options, request.settings)
    if how is None:
        return None
    from monitor.sources.cache import Cache

    def anew(names: Sequence[str]) -> Sequence[SessionView]:
        return load(msgspec.structs.replace(request, paths=names, wanted=Wanted(), cache=False, progress=None)).sessions

    return recall.Memory(anew, Cache(how), now)


@contextmanager
def _no_collections() -> Iterator[None]:
    """Records hold no cycles: looking for some again and again, while millions of them are made, is for nothing."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.freeze()  # and later collections need not look at them either
            gc.enable()


def _report(one: _Read, store: Store, duplicates: int) -> FileReport:
    state = store.files.get(one.name)
    return FileReport(
        file=one.name,
        source=one.source,
        title=one.title,
        confidence=round(one.score, 2),
        bytes=one.size,
        lines=one.lines,
        calls=len(state.calls) if state is not None else 0,
        duplicates=duplicates,
        problems=len(state.problems) if state is not None else 0,
        note=one.note,
    )


def default_paths() -> list[str]:
    """The agents' own folders on this machine, as text."""
    return [str(folder) for folder in agent_folders(os.environ, Path.home())]
