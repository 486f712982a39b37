"""Following thousands of files: CPU when nothing happens, how soon an appended call is in its session, bytes read.

    python benchmarks/follow.py [--files 5000] [--seconds 20] [--appends 60] [--polling] [--json FILE]

Files of a few calls each in 40 folders are made and read once. Then nothing happens for some seconds (idle), and then
one answer after the other is appended to one of the files, 100 to 250 ms apart, by another process that notes when. An
append is seen when the call is in the view of its session. Only appended bytes may be read.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import trees
from benchmarks.measure import Cost, tell
from monitor.sessions.store import Store
from monitor.sources.follow import Follower

WRITER = """
import json, os, random, sys, time
path, times, count, gap = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
chosen = random.Random(1)
content = [{"type": "text", "text": "x" * 1500}]
with open(times, "w") as noted:
    for number in range(count):
        time.sleep(gap * (1 + 1.5 * chosen.random()))
        usage = {"input_tokens": 5, "cache_read_input_tokens": 1000 * number, "cache_creation_input_tokens": 900,
                 "output_tokens": 7}
        message = {"id": f"msg_late{number}", "role": "assistant", "model": "claude-sonnet-4-5", "content": content,
                   "stop_reason": "end_turn", "usage": usage}
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
        row = {"parentUuid": None, "sessionId": sys.argv[5], "type": "assistant", "message": message,
               "requestId": f"req_{number}", "uuid": f"u{number}", "timestamp": stamp}
        data = json.dumps(row).encode() + b"\\n"
        fd = os.open(path, os.O_WRONLY | os.O_APPEND)
        os.write(fd, data)
        noted.write(f"msg_late{number} {time.time()} {len(data)}\\n")
        noted.flush()
        os.close(fd)
"""


def run(files: int, seconds: float, appends: int, gap: float, polling: bool) -> list[Cost]:
    """One way of following, idle and busy."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "logs"
        trees.grow("claude-code", tree, 0, files=files)
        start, cpu = time.perf_counter(), time.process_time()
        follower, store = Follower([str(tree)], polling=polling), Store()
        while True:
            for batch in follower.poll(0.5):
                store.apply(batch)
            if not follower.loading:
                break
        store.refresh()
        loaded = Cost("load", round(time.process_time() - cpu, 3), round(time.perf_counter() - start, 3), 0.0, 1)
        loaded.notes = {"files": len(follower.tails), "sessions": len(store.views())}
        time.sleep(0.5)
        follower.poll(0.1)
        before = follower.bytes_read
        idle, _ = follow(follower, store, seconds, None)
        idle.name, idle.goal = "idle", "<= 2 % of a core" if polling else "<= 0.5 % of a core"
        idle.notes["bytes read"] = follower.bytes_read - before
        newest = max(tree.rglob("*.jsonl"))
        notes = Path(folder) / "times"
        before = follower.bytes_read
        command = [sys.executable, "-c", WRITER, str(newest), str(notes), str(appends), str(gap), newest.stem]
        writer = subprocess.Popen(command)
        busy, seen = follow(follower, store, 600.0, writer, wanted=f"msg_late{appends - 1}", session=newest.stem)
        writer.wait()
        follower.close()
        written = {name: (float(at), int(size)) for name, at, size in map(str.split, notes.read_text().splitlines())}
        delays = sorted(1000 * (seen[name] - at) for name, (at, _) in written.items() if name in seen)
        busy.name, busy.goal = "append to view", "p95 <= 60 ms" if not polling else ""
        busy.notes |= {
            "ms p50": round(delays[len(delays) // 2]),
            "p95": round(delays[int(len(delays) * 0.95)]),
            "max": round(delays[-1]),
            "seen": f"{len(delays)} of {appends}",
            "bytes appended": sum(size for _, size in written.values()),
            "read": follower.bytes_read - before,
        }
        return [loaded, idle, busy]


def follow(
    follower: Follower,
    store: Store,
    seconds: float,
    writer: subprocess.Popen[bytes] | None,
    wanted: str = "",
    session: str = "",
) -> tuple[Cost, dict[str, float]]:
    """Follow for a while, or until a call has come; when each call was first in its session's view."""
    seen: dict[str, float] = {}
    start, cpu = time.perf_counter(), time.process_time()
    late = None
    while time.perf_counter() - start < seconds and wanted not in seen:
        follower.wait(0.5)
        for batch in follower.poll():
            store.apply(batch)
        now = time.time()
        for view in store.refresh():
            if view.session == session:
                for turn in view.turns[-30:]:
                    seen.setdefault(turn.call.call_id or "", now)
        if writer is not None and writer.poll() is not None:
            late = late or time.perf_counter()
            if time.perf_counter() - late > 5:
                break
    wall, used = time.perf_counter() - start, time.process_time() - cpu
    cost = Cost("", round(used, 4), round(wall, 2), 0.0, 1, notes={"per cent of a core": round(100 * used / wall, 2)})
    return cost, seen


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=5_000)
    parser.add_argument("--seconds", type=float, default=20, help="how long nothing happens")
    parser.add_argument("--appends", type=int, default=60)
    parser.add_argument("--gap", type=float, default=0.1, help="seconds between appends, at least")
    parser.add_argument("--polling", action="store_true", help="only without native events")
    parser.add_argument("--json", type=Path, help="write the figures here (- for stdout)")
    args = parser.parse_args()
    costs = []
    for polling in (True,) if args.polling else (False, True):
        for cost in run(args.files, args.seconds, args.appends, args.gap, polling):
            cost.name = f"{'polling' if polling else 'native events'}: {cost.name}"
            costs.append(cost)
    tell(costs, args.json)
    return 0


if __name__ == "__main__":
    os.environ.pop("CTXMON_POLLING", None)
    raise SystemExit(main())
