"""Paths to sessions: find the files, read them once, analyse."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from monitor.readers.base import DEFAULT_OPTIONS, ReadOptions
from monitor.records import Problem
from monitor.sessions.build import Settings
from monitor.sessions.filter import Wanted, narrow
from monitor.sessions.store import Store
from monitor.sessions.view import FileReport, Loaded
from monitor.sources.discovery import agent_folders, expand
from monitor.sources.files import Tail, read_bytes


@dataclass(slots=True)
class Request:
    """What to load and how. ``paths`` empty: the agents' own folders on this machine; ``-``: standard input."""

    paths: Sequence[str] = ()
    options: ReadOptions = DEFAULT_OPTIONS
    settings: Settings = field(default_factory=Settings)
    wanted: Wanted = field(default_factory=Wanted)
    cache: bool = True


def load(request: Request) -> Loaded:
    """Read and analyse everything asked for. Nothing that cannot be read ends the run: it is in ``problems``."""
    store = Store(request.settings, detail=request.options.detail)
    store.session_by = request.options.session_by
    problems: list[Problem] = []
    reports: list[FileReport] = []
    names = [str(name) for name in request.paths]
    if not names:
        names = [str(folder) for folder in agent_folders()]
        if not names:
            problems.append(
                Problem("", None, "no agent's log folder was found on this machine; name a file or folder to read")
            )
    addresses = [name for name in names if "://" in name]
    for name in names:
        if name == "-":
            data = sys.stdin.buffer.read()
            batch, reader = read_bytes("stdin", data, request.options)
            store.apply(batch)
            reports.append(_report("stdin", reader, 1.0, len(data), None, store))
    for address in addresses:
        reports.append(_address(store, address, request))
    files = [name for name in names if name != "-" and "://" not in name]
    for path in expand(files, problems):
        tail = Tail(path, request.options)
        told = tail.read(final=True)
        if told is not None:
            store.apply(told)
        reports.append(
            _report(tail.name, tail.reader, tail.score, tail.bytes_read, tail.lines or None, store, tail.note)
        )
    views = narrow(store.views(), request.wanted)
    return Loaded(
        sessions=views,
        problems=[*problems, *store.problems()],
        files=reports,
        copies=store.copies(),
    )


def _address(store: Store, address: str, request: Request) -> FileReport:
    """A source given by address: a gateway's REST interface or a database."""
    from monitor.sources.address import read_address

    batch, title = read_address(address, request.options)
    store.apply(batch)
    state = store.files[batch.file]
    return FileReport(file=batch.file, source=title, title=title, confidence=1.0, bytes=None, lines=None,
                      calls=len(state.items), duplicates=0, problems=len(state.problems))  # fmt: skip


def _report(
    name: str, reader: object, score: float, size: int | None, lines: int | None, store: Store, note: str = ""
) -> FileReport:
    state = store.files.get(name)
    calls = sum(1 for key in state.items if key.startswith("c")) if state is not None else 0
    return FileReport(
        file=name,
        source=getattr(reader, "source", None),
        title=getattr(reader, "title", None),
        confidence=round(score, 2),
        bytes=size,
        lines=lines,
        calls=calls,
        duplicates=0,
        problems=len(state.problems) if state is not None else 0,
        note=note,
    )


def default_paths() -> list[str]:
    """The agents' own folders on this machine, as text."""
    return [str(folder) for folder in agent_folders(os.environ, Path.home())]
