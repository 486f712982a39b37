"""What the two crews that go through parts and buckets have in common, and those that ask them for a tally need.

:class:`monitor.fleet.run.Alone` is this process, :mod:`monitor.fleet.cluster` brings Dask's workers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, Self, TypeVar

from monitor.fleet.buckets import Bucket, views
from monitor.fleet.plan import Part, Plan
from monitor.fleet.shuffle import Sorted
from monitor.sessions.view import SessionView

#: told how far the work is: what is done, how much of it, of how much
Progress = Callable[[str, int, int], None]


class FleetError(Exception):
    """The work cannot be done in this way; the text is one clear sentence for people."""


class Tally(Protocol):
    """Sums over sessions. Made in the process that analyses a bucket, then sent to the one that asked."""

    sessions: int  # that were counted in

    def add(self, view: SessionView) -> None:
        """Count a session in."""

    def close(self) -> None:
        """The bucket is through."""

    def merge(self, other: Self) -> None:
        """Add the sums of another bucket."""


T = TypeVar("T", bound=Tally)
#: makes the tally of a bucket: folder for its own files, number of the bucket. Must be picklable
Start = Callable[[str, int], T]


class Crew(Protocol):
    """Who does the work."""

    size: int

    def split(self, plan: Plan, parts: Sequence[Part]) -> Iterable[Sorted]:
        """Every part sorted into buckets, in any order."""

    def analyse(self, plan: Plan, buckets: Sequence[Bucket], start: Start[T]) -> Iterable[T]:
        """The tally of every bucket, in their order."""


def analyse(plan: Plan, bucket: Bucket, start: Start[T]) -> T:
    """The tally of one bucket."""
    tally = start(plan.folder, bucket.number)
    for view in views(plan, bucket):
        tally.add(view)
    tally.close()
    return tally
