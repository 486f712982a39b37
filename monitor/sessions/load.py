"""Paths to sessions: find the files, read them once, analyse."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from monitor.readers.base import DEFAULT_OPTIONS, ReadOptions
from monitor.records import Problem
from monitor.sessions.build import Settings
from monitor.sessions.filter import Wanted, narrow
from monitor.sessions.store import Store
from monitor.sessions.view import FileReport, Loaded
from monitor.sources.discovery import agent_folders, expand
from monitor.sources.files import Tail, read_bytes


class Request(msgspec.Struct):
    """What to load and how. ``paths`` empty: the agents' own folders on this machine; ``-``: standard input."""

    paths: Sequence[str] = ()
    options: ReadOptions = DEFAULT_OPTIONS
    settings: Settings = msgspec.field(default_factory=Settings)
    wanted: Wanted = msgspec.field(default_factory=Wanted)
    cache: bool = True


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
    store = Store(request.settings, detail=request.options.detail)
    store.session_by = request.options.session_by
    problems: list[Problem] = []
    read: list[_Read] = []
    names = [str(name) for name in request.paths]
    if not names:
        names = [str(folder) for folder in agent_folders()]
        if not names:
            problems.append(
                Problem("", None, "no agent's log folder was found on this machine; name a file or folder to read")
            )
    for name in names:
        if name == "-":
            data = sys.stdin.buffer.read()
            batch, reader = read_bytes("stdin", data, request.options)
            store.apply(batch)
            source, title = (reader.source, reader.title) if reader is not None else (None, None)
            read.append(_Read("stdin", source, title, size=len(data)))
        elif "://" in name:
            from monitor.sources.address import read_address

            batch, title = read_address(name, request.options)
            store.apply(batch)
            read.append(_Read(batch.file, title, title))
    files = [name for name in names if name != "-" and "://" not in name]
    for path in expand(files, problems):
        tail = Tail(path, request.options)
        told = tail.read(final=True)
        if told is not None:
            store.apply(told)
        source, title = (tail.reader.source, tail.reader.title) if tail.reader is not None else (None, None)
        read.append(_Read(tail.name, source, title, tail.score, tail.bytes_read, tail.lines or None, tail.note))
    views = narrow(store.views(), request.wanted)
    copies = store.duplicates()
    return Loaded(
        sessions=views,
        problems=[*problems, *store.problems()],
        files=[_report(one, store, copies.get(one.name, 0)) for one in read],
        copies=store.copies(),
    )


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
