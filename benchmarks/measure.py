"""Running commands and telling what they cost: CPU seconds, wall seconds, peak memory, megabytes a second.

CPU seconds are user and system time of the whole process, from start to end. They are what to compare: wall time
depends on what else the machine does. The best of several runs is given. Commands of this program run with their byte
code written before the first measured run, as after an installation.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
MB = 1_000_000


@dataclass(slots=True)
class Cost:
    """One measured command: the best CPU and wall seconds, the largest peak memory in MiB, of ``runs`` runs."""

    name: str
    cpu_s: float
    wall_s: float
    rss_mib: float
    runs: int
    mb_per_s: float | None = None  # of input, by CPU seconds
    goal: str = ""
    notes: dict[str, Any] = field(default_factory=dict)


def program(*arguments: str) -> list[str]:
    """The command line of this program."""
    return [sys.executable, "-m", "monitor", *arguments]


def environment(folder: Path) -> dict[str, str]:
    """An environment with its own home and cache in ``folder``, so that nothing of the user is read or changed."""
    env = {name: value for name, value in os.environ.items() if name not in ("PYTHONDONTWRITEBYTECODE",)}
    env.update(
        HOME=str(folder),
        XDG_CACHE_HOME=str(folder / "cache"),
        XDG_CONFIG_HOME=str(folder / "config"),
        XDG_DATA_HOME=str(folder / "data"),
        PYTHONPYCACHEPREFIX=str(folder / "bytecode"),
        TZ="UTC",
        NO_COLOR="1",
    )
    return env


def once(command: Sequence[str], env: Mapping[str, str], stdin: bytes = b"") -> tuple[float, float, float, bytes]:
    """CPU seconds, wall seconds, peak memory in MiB and output of one run.

    Raises:
        RuntimeError: the command failed.
    """
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        given.write(stdin)
        given.seek(0)
        start = time.perf_counter()
        process = subprocess.Popen(command, cwd=ROOT, env=dict(env), stdin=given, stdout=out, stderr=errors)
        if hasattr(os, "wait4"):
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            cpu = usage.ru_utime + usage.ru_stime
            rss = usage.ru_maxrss / (1024 if sys.platform != "darwin" else 1024 * 1024)
        else:  # Windows tells neither
            process.wait()
            cpu = rss = float("nan")
        wall = time.perf_counter() - start
        out.seek(0)
        errors.seek(0)
        if process.returncode:
            raise RuntimeError(f"{' '.join(command[:6])} … ended with {process.returncode}: {errors.read()[-500:]!r}")
        return cpu, wall, rss, out.read()


def measure(
    name: str,
    command: Sequence[str],
    env: Mapping[str, str],
    *,
    runs: int = 5,
    size: int | None = None,
    before: Callable[[], object] | None = None,
    stdin: bytes = b"",
    goal: str = "",
) -> tuple[Cost, bytes]:
    """The best of some runs, and the output of the last one.

    Args:
        size: bytes of input.
        before: done before every run.
        goal: what is to be reached, for the table.
    """
    found = []
    for _ in range(runs):
        if before is not None:
            before()
        found.append(once(command, env, stdin))
    cpu = min(run[0] for run in found)
    return (
        Cost(
            name,
            round(cpu, 4),
            round(min(run[1] for run in found), 4),
            round(max(run[2] for run in found), 1),
            runs,
            round(size / MB / cpu, 1) if size and cpu else None,
            goal,
        ),
        found[-1][3],
    )


def table(costs: Sequence[Cost]) -> str:
    """Costs as text for people."""
    head = ("", "CPU s", "wall s", "peak MiB", "MB/s", "goal")
    rows = [head]
    for cost in costs:
        speed = "" if cost.mb_per_s is None else f"{cost.mb_per_s:,.0f}"
        more = "  ".join(f"{name} {value}" for name, value in cost.notes.items())
        rows.append(
            (
                cost.name,
                f"{cost.cpu_s:.3f}",
                f"{cost.wall_s:.3f}",
                f"{cost.rss_mib:.0f}",
                speed,
                f"{cost.goal}  {more}".strip(),
            )
        )
    widths = [max(len(row[place]) for row in rows) for place in range(len(head))]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:5], widths[1:5])), row[5]]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def tell(costs: Sequence[Cost], out: Path | None, **more: Any) -> None:
    """The table on stdout, and everything as JSON into a file if one is named (``-``: on stdout as well)."""
    print(table(costs))
    body = json.dumps({"machine": machine(), "costs": [asdict(cost) for cost in costs], **more}, indent=1)
    if out is not None and str(out) == "-":
        print(body)
    elif out is not None:
        out.write_text(body + "\n", encoding="utf-8")


def machine() -> dict[str, Any]:
    """What it ran on, in general words."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return {
        "platform": sys.platform,
        "python": sys.version.split()[0],
        "cores": os.cpu_count(),
        "load": None if load is None else round(load, 2),
    }


def size_of(folder: Path) -> tuple[int, int]:
    """Bytes and number of the files below a folder."""
    sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    return sum(sizes), len(sizes)
