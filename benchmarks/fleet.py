"""What a call table too big for memory costs: wall time, CPU seconds and memory of all processes together.

    python benchmarks/fleet.py [--calls 5e6] [--sessions 50000] [--workers 2] [--format json] [--table FOLDER]

Makes a table as a gateway writes it (Parquet in the order of time, many sessions at once, contexts that grow and are
compacted), reports on it with ``ctxmon report --fleet`` (or ``--workers N``), and holds the sums against what was made.
On a machine that does other things too, CPU seconds are the figure to look at: wall time is at least their sum divided
by the number of processes. Memory is the largest sum of the resident sets of all processes (shared pages count twice).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

FILES = 16
MODELS = ("claude-sonnet-4-5", "claude-opus-4-1", "gpt-5-codex", "qwen3-coder")
MAP = """time: ts
model: model
fresh: input
cached: cache_read
cache_write: cache_creation
output: output
session: session
"""


def make(folder: Path, calls: int, sessions: int) -> None:
    """Write the table, and its sums beside it."""
    import numpy as np
    import pyarrow as pa
    from pyarrow import parquet

    random = np.random.default_rng(11)
    share = random.lognormal(0, 1.2, sessions)
    sizes = np.maximum(1, (share / share.sum() * calls).astype(np.int64))
    sizes[0] += max(0, calls - int(sizes.sum()))
    total = int(sizes.sum())
    owner = np.repeat(np.arange(sessions), sizes)
    begin = np.cumsum(sizes) - sizes
    pause = random.exponential(15.0, total)
    away = random.random(total) < 0.02
    pause[away] = random.uniform(200, 8_000, int(away.sum()))
    pause[begin] = 0
    passed = np.cumsum(pause)
    start = random.uniform(0, 30 * 86_400, sessions)
    time_us = ((start[owner] + passed - passed[begin][owner]) * 1e6).astype(np.int64) + 1_750_000_000_000_000
    growth = random.integers(100, 5_000, total)
    grown = np.cumsum(growth)
    room = random.choice([120_000, 160_000, 180_000], sessions)[owner]
    prompt = 15_000 + (grown - grown[begin][owner] + random.integers(5_000, 25_000, sessions)[owner]) % room
    cold = random.random(total) < 0.03
    cold[begin] = True
    warm = np.clip(prompt - growth, 0, None) * random.choice([0.97, 0.99, 1.0], total)
    read = np.where(cold, 0, warm).astype(np.int64)
    write = ((prompt - read) * 0.95).astype(np.int64)
    output = random.integers(5, 1_500, total)
    order = np.argsort(time_us, kind="stable")
    names = pa.array([f"{number * 0x9E3779B97F4A7C15F39CC0605CEDC835 % 2**128:032x}" for number in range(sessions)])
    whole = pa.table(
        {
            "session": names.take(pa.array(owner[order])),
            "ts": pa.array(time_us[order]).cast(pa.timestamp("us")),
            "model": pa.array(MODELS).take(pa.array(owner[order] % len(MODELS))),
            "input": (prompt - read - write)[order],
            "cache_creation": write[order],
            "cache_read": read[order],
            "output": output[order],
        }
    )
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(FILES):
        first, end = total * number // FILES, total * (number + 1) // FILES
        part = folder / f"part-{number:02d}.parquet"
        parquet.write_table(whole.slice(first, end - first), part, row_group_size=200_000)
    truth = {
        "sessions": sessions,
        "calls": total,
        "prompt_tokens": int(prompt.sum()),
        "cache_read_tokens": int(read.sum()),
        "output_tokens": int(output.sum()),
    }
    truth_of(folder).write_text(json.dumps(truth), encoding="utf-8")


def truth_of(table: Path) -> Path:
    """Where the sums of a table are: beside it, as what is in it is read as calls."""
    return table.with_name(table.name + ".truth.json")


def run(args: argparse.Namespace, table: Path, folder: Path) -> dict[str, Any]:
    """One report, with what it cost."""
    (folder / "map.yaml").write_text(MAP, encoding="utf-8")
    out = folder / f"report.{args.format}"
    command = [sys.executable, "-m", "monitor", "report", str(table), "--map", str(folder / "map.yaml"), "--format",
               args.format, "-o", str(out), "-q"]  # fmt: skip
    command += ["--workers", str(args.workers)] if args.workers else ["--fleet"]
    if args.buckets:
        command += ["--buckets", str(args.buckets)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    process = subprocess.Popen(command, preexec_fn=lambda: os.nice(args.nice))
    peak = [0]
    watching = threading.Thread(target=watch, args=(process, peak))
    watching.start()
    code = process.wait()
    wall = time.perf_counter() - began
    watching.join()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if code:
        raise SystemExit(f"the report ended with {code}")
    return {
        "workers": args.workers,
        "format": args.format,
        "wall_s": round(wall, 1),
        "cpu_s": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 1),
        "peak_mb": round(peak[0] / 1e6),
        "output_mb": round(out.stat().st_size / 1e6, 1),
        "exact": check(table, out, args.format),
        "load": [round(value, 1) for value in os.getloadavg()],
    }


def watch(process: subprocess.Popen[bytes], peak: list[int]) -> None:
    """Largest sum of resident sets of a process and all its descendants."""
    import psutil

    while process.poll() is None:
        try:
            root = psutil.Process(process.pid)
            sizes = [part.memory_info().rss for part in (root, *root.children(recursive=True))]
        except psutil.Error:
            continue
        peak[0] = max(peak[0], sum(sizes))
        time.sleep(0.2)


def check(table: Path, out: Path, form: str) -> bool | None:
    """Whether the sums are those that were made; None where the table brought none."""
    kept = truth_of(table)
    if not kept.exists():
        return None
    truth = json.loads(kept.read_text(encoding="utf-8"))
    if form == "text":
        first = out.read_text(encoding="utf-8").partition("\n")[0]
        return f"{truth['sessions']:,} sessions · {truth['calls']:,} turns" in first
    with out.open("rb") as stream:
        stream.seek(max(0, out.stat().st_size - 4_000_000))
        tail = stream.read()
    totals = json.JSONDecoder().raw_decode(tail[tail.rindex(b'"totals":') + 9 :].decode())[0]
    return all(totals[name] == value for name, value in truth.items())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=lambda text: int(float(text)), default=5_000_000)
    parser.add_argument("--sessions", type=lambda text: int(float(text)), default=50_000)
    parser.add_argument("--workers", type=int, default=2, help="Dask worker processes; 0: a loop in one process")
    parser.add_argument("--buckets", type=int)
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.add_argument("--table", type=Path, help="a table that is there already, with columns as in the map above")
    parser.add_argument("--nice", type=int, default=0)
    parser.add_argument("--json", type=Path, help="write the figures to a file, too")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ctxmon-bench-") as name:
        folder = Path(name)
        table = args.table
        if table is None:
            table = folder / "table"
            make(table, args.calls, args.sessions)
        size = sum(path.stat().st_size for path in table.glob("*.parquet"))
        found = {
            "calls": args.calls,
            "sessions": args.sessions,
            "table_mb": round(size / 1e6),
            **run(args, table, folder),
        }
    print(json.dumps(found))
    width = max(map(len, found))
    for key, value in found.items():
        print(f"  {key:{width}}  {value}", file=sys.stderr)
    if args.json:
        args.json.write_text(json.dumps(found) + "\n", encoding="utf-8")
    if found["exact"] is False:
        raise SystemExit("the sums are not those that were made")


if __name__ == "__main__":
    main()
