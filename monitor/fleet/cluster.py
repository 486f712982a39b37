"""Dask as the crew: worker processes of this machine, or those of a running scheduler."""

from __future__ import annotations

import logging
import os
import pickle
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from monitor.fleet import plan as plans
from monitor.fleet.buckets import Bucket
from monitor.fleet.crew import Crew, FleetError, Progress, Start, T, analyse
from monitor.fleet.plan import Part, Plan
from monitor.fleet.shuffle import Sorted, split

_CONNECT_S = "15s"
_PROBE = "seen"
_QUIET = ("distributed", "distributed.nanny", "distributed.worker", "distributed.scheduler", "distributed.core")


@contextmanager
def crew(workers: int, scheduler: str | None, folder: str, progress: Progress) -> Iterator[Crew]:
    """Workers for the time of the block.

    Args:
        workers: how many processes are started on this machine, talking over loopback, where ``scheduler`` is None.
        scheduler: address of a running one, as ``tcp://host:8786``.
        folder: must be seen by all workers.

    Raises:
        FleetError: Dask is not installed, nothing answers at the address, there is no worker, or one sees no folder.
    """
    dask, distributed = _libraries()
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.CRITICAL)  # what matters is told as a sentence
    with dask.config.set({"distributed.admin.tick.limit": "30s", "distributed.comm.timeouts.connect": _CONNECT_S}):
        if scheduler is not None:
            try:
                client = distributed.Client(scheduler, timeout=_CONNECT_S)
            except (OSError, ValueError, TimeoutError) as error:
                raise FleetError(f"no Dask scheduler answers at {scheduler}; give its address as tcp://host:8786"
                                 ) from error  # fmt: skip
            with client:
                _check(client, folder, scheduler)
                yield _Dask(client, progress)
            return
        with (
            distributed.LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                processes=True,
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",  # a port for its own health page; the dashboard itself stays off
                scheduler_kwargs={"dashboard": False},
                local_directory=folder,
                silence_logs=logging.CRITICAL,
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            yield _Dask(client, progress)


def _libraries() -> tuple[Any, Any]:
    try:
        import dask
        import distributed
    except ImportError as error:
        raise FleetError(plans.MISSING) from error
    return dask, distributed


def _check(client: Any, folder: str, scheduler: str) -> None:
    probe = Path(folder) / _PROBE
    probe.touch()
    seen = client.run(os.path.exists, str(probe))
    if not seen:
        raise FleetError(f"the Dask scheduler at {scheduler} has no workers")
    blind = [address for address, found in seen.items() if not found]
    if blind:
        raise FleetError(
            f"{len(blind)} of {len(seen)} workers do not see the folder {folder}; name one that all of them share with "
            "--temp"
        )


@lru_cache(maxsize=1)
def _plan(place: str) -> Plan:
    with open(place, "rb") as stream:
        plan: Plan = pickle.load(stream)
    return plan


def _do(work: Callable[..., Any], place: str, *args: Any) -> Any:
    """A task, in a worker."""
    return work(_plan(place), *args)


class _Dask:
    """Parts and buckets as tasks of a Dask client."""

    def __init__(self, client: Any, progress: Progress) -> None:
        self._client, self._progress = client, progress
        self.size = max(1, sum(client.nthreads().values()))

    def split(self, plan: Plan, parts: Sequence[Part]) -> Iterator[Sorted]:
        # databases and gateways are read here: their address may hold a password
        here = [part for part in parts if part.kind == "address"]
        there = [part for part in parts if part.kind != "address"]
        yield from self._tasks("reading", plan, split, [(part,) for part in there])
        for part in here:
            yield split(plan, part)

    def analyse(self, plan: Plan, buckets: Sequence[Bucket], start: Start[T]) -> Iterator[T]:
        yield from self._tasks("analysing", plan, analyse, [(bucket, start) for bucket in buckets])

    def _tasks(self, what: str, plan: Plan, work: Any, todo: Sequence[tuple[Any, ...]]) -> Iterator[Any]:
        if not todo:
            return
        _, distributed = _libraries()
        # through the folder that all workers see: data scattered to workers is lost with the one that holds it
        handle, place = tempfile.mkstemp(prefix="plan-", dir=plan.folder)
        with os.fdopen(handle, "wb") as stream:
            pickle.dump(plan.for_workers(), stream)
        tasks = {self._client.submit(_do, work, place, *args, pure=False): number for number, args in enumerate(todo)}
        try:
            done = distributed.as_completed(list(tasks), with_results=True)
            yield from _in_order(self._told(done, tasks, what))
        except (distributed.KilledWorker, distributed.comm.CommClosedError) as error:
            raise FleetError("the workers were lost again and again while they worked; they may lack memory: "
                             "more --buckets need less of it") from error  # fmt: skip
        except ModuleNotFoundError as error:
            raise FleetError(f"the workers lack the package {error.name}: install ctxmon with its extra 'fleet' there, "
                             "in the same version as here") from error  # fmt: skip
        finally:
            self._client.cancel(list(tasks))

    def _told(self, done: Any, tasks: dict[Any, int], what: str) -> Iterator[tuple[int, Any]]:
        for count, (task, result) in enumerate(done, 1):
            number = tasks.pop(task)
            self._progress(what, count, count + len(tasks))
            yield number, result


def _in_order(found: Iterable[tuple[int, Any]]) -> Iterator[Any]:
    """Values by number from 0, given in any order."""
    waiting: dict[int, Any] = {}
    at = 0
    for number, value in found:
        waiting[number] = value
        while at in waiting:
            yield waiting.pop(at)
            at += 1
