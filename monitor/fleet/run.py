"""The two ways to go through buckets: one after the other in this process, or by Dask's workers.

Both do the same in two steps: every part of the input is sorted into buckets (:mod:`monitor.fleet.shuffle`), then
every bucket is analysed (:mod:`monitor.fleet.buckets`) into a tally; tallies are merged in the order of buckets. A
worker that dies costs its unfinished parts and buckets, which Dask gives to another one.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import msgspec

from monitor.fleet import plan as plans
from monitor.fleet.buckets import Bucket
from monitor.fleet.crew import Crew, FleetError, Progress, Start, T, analyse
from monitor.fleet.plan import Part, Plan
from monitor.fleet.shuffle import Sorted, split
from monitor.readers.base import DEFAULT_OPTIONS, ReadOptions
from monitor.records import Problem
from monitor.sessions.build import Settings
from monitor.sessions.filter import Wanted
from monitor.sources.files import NO_USAGE


class Request(msgspec.Struct, kw_only=True):
    """What to read, and how.

    Args:
        paths: files, folders and globs of call tables, URLs of databases.
        buckets: number of buckets; None: by the number of rows.
        workers: so many Dask worker processes on this machine; 0: none, everything in this process.
        scheduler: address of a running Dask scheduler, instead of ``workers``.
        temp: folder in which the buckets are kept meanwhile; all workers must see it under this name.
    """

    paths: Sequence[str]
    options: ReadOptions = DEFAULT_OPTIONS
    settings: Settings = msgspec.field(default_factory=Settings)
    wanted: Wanted = msgspec.field(default_factory=Wanted)
    buckets: int | None = None
    workers: int = 0
    scheduler: str | None = None
    temp: str | None = None
    progress: Progress | None = None


class Fleet:
    """Buckets of whole sessions on disk, ready to be gone through, more than once if need be.

    Made by :func:`gather`. ``problems``: what could not be read; ``calls``: rows that were.
    """

    def __init__(self, plan: Plan, found: Sequence[Sorted], problems: Sequence[Problem], crew: Crew) -> None:
        silent = _silent(plan, found)
        self.problems = [*problems, *(problem for part in found for problem in part.problems), *silent.values()]
        found = [part for part in found if plan.parts[part.part].order not in silent]
        self.calls = sum(part.calls for part in found)
        self.buckets = plan.buckets
        self._plan, self._crew = plan, crew
        exclusive = frozenset(plan.parts[part.part].order for part in found if part.exclusive)
        self._todo = [
            Bucket(number, pieces, exclusive)
            for number in range(plan.buckets)
            if (pieces := [part.index[number] for part in found if number in part.index])
        ]

    def tally(self, start: Start[T]) -> T:
        """Analyse all sessions that were wanted.

        Args:
            start: makes the tally of a bucket.

        Raises:
            FleetError: the workers were lost.
        """
        if self._plan.wanted.session is not None:
            # as everywhere, a session of just this name is meant before those whose names begin so
            found = self._tally(msgspec.structs.replace(self._plan, exact=True), start)
            if found.sessions:
                return found
        return self._tally(self._plan, start)

    def _tally(self, plan: Plan, start: Start[T]) -> T:
        whole: T | None = None
        for tally in self._crew.analyse(plan, self._todo, start):
            if whole is None:
                whole = tally
            else:
                whole.merge(tally)
        if whole is None:
            whole = start(plan.folder, 0)
            whole.close()
        return whole


def _silent(plan: Plan, found: Sequence[Sorted]) -> dict[int, Problem]:
    """Files that hold no call, or were forced on a reader that found no tokens in them; what is said of each."""
    calls: dict[int, int] = {}
    told: set[int] = set()
    tells: set[int] = set()
    for part in found:
        order = plan.parts[part.part].order
        calls[order] = calls.get(order, 0) + part.calls
        if part.problems:
            told.add(order)
        if part.tells:
            tells.add(order)
    return {
        part.order: Problem(part.file, None, NO_USAGE.format(title=part.title))
        for part in plan.parts
        if (part.forced and part.order not in tells and calls[part.order])
        or (not calls[part.order] and part.order not in told)
    }


@contextmanager
def gather(request: Request) -> Iterator[Fleet]:
    """Bring the rows of all inputs together by session. The buckets are gone when the block is left.

    Raises:
        FleetError: a package is missing, the scheduler does not answer, or its workers do not see the folder.
    """
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise FleetError(plans.MISSING) from error
    problems: list[Problem] = []
    try:
        holder = tempfile.TemporaryDirectory(prefix="ctxmon-", dir=request.temp, ignore_cleanup_errors=True)
    except OSError as error:
        raise FleetError(f"{request.temp or tempfile.gettempdir()}: no folder can be made there "
                         f"({error.strerror}); name another one with --temp") from error  # fmt: skip
    with holder as folder, _crew(request, folder) as crew:
        parts, rows = plans.parts_of(request.paths, request.options, problems)
        plan = Plan(
            parts=parts,
            buckets=request.buckets or plans.buckets_for(rows, crew.size),
            folder=folder,
            options=request.options,
            settings=request.settings,
            wanted=request.wanted,
        )
        found = sorted(crew.split(plan, parts), key=lambda part: part.part)
        yield Fleet(plan, found, problems, crew)


@contextmanager
def _crew(request: Request, folder: str) -> Iterator[Crew]:
    progress = request.progress or (lambda what, done, all: None)
    if request.scheduler is None and not request.workers:
        yield Alone(progress)
        return
    from monitor.fleet.cluster import crew

    with crew(request.workers, request.scheduler, folder, progress) as found:
        yield found


class Alone:
    """This process: one part, one bucket after the other."""

    size = 1

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def split(self, plan: Plan, parts: Sequence[Part]) -> Iterator[Sorted]:
        for done, part in enumerate(parts):
            self._progress("reading", done, len(parts))
            yield split(plan, part)

    def analyse(self, plan: Plan, buckets: Sequence[Bucket], start: Start[T]) -> Iterator[T]:
        for done, bucket in enumerate(buckets):
            self._progress("analysing", done, len(buckets))
            yield analyse(plan, bucket, start)
