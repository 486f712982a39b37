"""Dask gives what the loop gives: with a real scheduler and two worker processes, on loopback, also when one dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from monitor.fleet.crew import FleetError
from monitor.fleet.run import Request, gather
from tests.fleet import help
from tests.fleet.dying import DyingStart
from tests.fleet.tables import Made, make, write_parquet

distributed = pytest.importorskip("distributed", reason="the extra fleet is not installed")
pytest.importorskip("pyarrow", reason="the extra fleet is not installed")

ROOT = Path(__file__).parents[2]
LOOPBACK = ["--host", "127.0.0.1"]


class Cluster:
    """A scheduler and workers as processes of their own, as on a real cluster. Ended by :meth:`close`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / "scheduler.json"
        self.processes: list[subprocess.Popen[bytes]] = []
        self._run("dask_scheduler", *LOOPBACK, "--port", "0", "--no-dashboard", "--scheduler-file", str(self.file))
        self.client = distributed.Client(scheduler_file=str(self.file), timeout="30s")
        self.address: str = self.client.scheduler.address

    def worker(self, *more: str) -> subprocess.Popen[bytes]:
        return self._run("dask_worker", self.address, *LOOPBACK, "--nthreads", "1", "--no-dashboard",
                         "--local-directory", str(self.folder), *more)  # fmt: skip

    def _run(self, module: str, *args: str) -> subprocess.Popen[bytes]:
        env = {**os.environ, "PYTHONPATH": str(ROOT)}
        process = subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.{module}", *args],
            cwd=self.folder, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self.processes.append(process)
        return process

    def close(self) -> None:
        try:
            self.client.shutdown()  # scheduler and workers end by themselves
        finally:
            self.client.close()
        for process in self.processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(10)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    started = Cluster(tmp_path_factory.mktemp("dask"))
    try:
        for _ in range(2):
            started.worker("--no-nanny")
        started.client.wait_for_workers(2, timeout=30)
        yield started
    finally:
        started.close()


@pytest.fixture(scope="module")
def made() -> Made:
    return make(40, seed=7)


@pytest.fixture(scope="module")
def paths(made: Made, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return [str(write_parquet(tmp_path_factory.mktemp("table") / "t", made.rows, 5))]


def figures(tally: Any) -> dict[str, Any]:
    return {
        "sessions": tally.sessions,
        "total": tally.total,
        "models": tally.by_model(),
        "days": tally.by_day(),
        "misses": {cause: (row.calls, row.partial, row.cost) for cause, row in tally.misses.items()},
        "rows": tally.read,
    }


@pytest.mark.parametrize("buckets", [1, 2, 7, 16])
def test_dask_is_the_loop(cluster: Cluster, made: Made, paths: list[str], buckets: int) -> None:
    alone = help.report(paths, buckets)
    assert alone.total["prompt_tokens"] == made.ledger.prompt
    shared = help.report(paths, buckets, scheduler=cluster.address)
    help.same(figures(alone), figures(shared))
    whole = help.report(paths, 1)
    help.same(figures(whole), figures(shared))


def test_a_worker_that_dies_in_the_middle_changes_nothing(cluster: Cluster, paths: list[str], tmp_path: Path) -> None:
    cluster.worker("--no-nanny")
    cluster.client.wait_for_workers(3, timeout=30)
    mark = tmp_path / "died"
    first = help.start()
    start = DyingStart(now=first.now, prices=first.prices, form=first.form, mark=str(mark))
    request = Request(
        paths=paths, options=help.options(), settings=help.settings(), buckets=7, scheduler=cluster.address
    )
    with gather(request) as fleet:
        tally = fleet.tally(start)
        tally.read = list(tally.spool.rows())
    assert mark.exists()
    assert len(cluster.client.nthreads()) == 2
    help.same(figures(help.report(paths, 7)), figures(tally))


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no kill signal on this system")
@pytest.mark.parametrize("phase", ["reading", "analysing"])
def test_a_worker_killed_from_outside_changes_nothing(cluster: Cluster, paths: list[str], phase: str) -> None:
    victim = cluster.worker("--no-nanny")
    cluster.client.wait_for_workers(3, timeout=30)
    killed: list[tuple[int, int]] = []

    def progress(what: str, done: int, all: int) -> None:
        if what == phase and not killed:
            os.kill(victim.pid, signal.SIGKILL)
            victim.wait(10)
            killed.append((done, all))

    tally = help.report(paths, 16, scheduler=cluster.address, progress=progress)
    ((done, all),) = killed
    assert done < all
    help.same(figures(help.report(paths, 16)), figures(tally))


def test_workers_of_this_machine(made: Made, paths: list[str]) -> None:
    shared = help.report(paths, 7, workers=2)
    help.same(figures(help.report(paths, 7)), figures(shared))
    assert shared.total["calls"] == made.ledger.calls


def test_no_scheduler_is_said(paths: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("monitor.fleet.cluster._CONNECT_S", "1s")
    for address in ("tcp://127.0.0.1:9", "nonsense://x"):
        with (
            pytest.raises(FleetError, match="no Dask scheduler answers"),
            gather(Request(paths=paths, scheduler=address)),
        ):
            pass


def test_workers_that_do_not_see_the_folder_are_said(
    cluster: Cluster, paths: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("monitor.fleet.cluster._PROBE", "missing/\0")
    monkeypatch.setattr("pathlib.Path.touch", lambda *_: None)
    with pytest.raises(FleetError, match="--temp"), gather(Request(paths=paths, scheduler=cluster.address)):
        pass
