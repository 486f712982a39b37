"""Memory of the dashboard over a long day: 100,000 calls appended to one session while it is watched.

    python benchmarks/soak.py [--calls N] [--log claude-code|codex|pi] [--check] [--feed] [--where]

Resident memory before and after, bytes for each call, and CPU for each batch. ``--feed`` leaves the screen out,
``--where`` says which files of the program hold the memory (slower, by tracemalloc). The limit of ``--check`` is 60 MB
more than at the start.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.dashboard.claude_log import line  # noqa: E402

FIRST = 1_000
BATCH = 200
LIMIT_MB = 60.0
#: prompts grow to a size and fall back, as compactions make them
ROUND = 120


def resident() -> float:
    """Resident memory of this process in MB."""
    with suppress(OSError):
        for text in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
            if text.startswith("VmRSS:"):
                return int(text.split()[1]) / 1024
    import psutil

    return float(psutil.Process().memory_info().rss) / 1e6


def batch(first: int, count: int, begin: datetime) -> str:
    """So many exchanges as Claude Code logs them: the answer with a tool call, and the result of the tool."""
    out = []
    for i in range(first, first + count):
        at = begin + timedelta(seconds=i)
        size = 20_000 + 1_200 * (i % ROUND)
        out.append(line(i, size - 1_200 if i % ROUND else 0, 1_200 if i % ROUND else size, at))
        out.append(_result(i, at + timedelta(milliseconds=400)))
    return "".join(out)


def codex(first: int, count: int, begin: datetime) -> str:
    """The same as Codex logs it: a record of usage for each answer."""
    out = []
    for i in range(first, first + count):
        size = 20_000 + 1_200 * (i % ROUND)
        usage = {
            "input_tokens": size, "cached_input_tokens": size - 1_200, "output_tokens": 300,
            "reasoning_output_tokens": 0, "total_tokens": size + 300,
        }  # fmt: skip
        at = _stamp(begin + timedelta(seconds=i))
        if not i:
            out.append({"timestamp": at, "type": "session_meta", "payload": {"id": "soak", "timestamp": at}})
        payload = {"response_id": f"resp_{i:08d}", "thread_id": "soak", "usage": usage}
        out.append({"timestamp": at, "type": "token_usage_record", "payload": payload})
    return "".join(json.dumps(row) + "\n" for row in out)


def pi(first: int, count: int, begin: datetime) -> str:
    """The same as Pi logs it."""
    out: list[dict[str, object]] = []
    for i in range(first, first + count):
        size = 20_000 + 1_200 * (i % ROUND)
        at = begin + timedelta(seconds=i)
        if not i:
            out.append({"type": "session", "version": 3, "id": "soak", "timestamp": _stamp(at), "cwd": "/home/s/shop"})
        usage = {"input": 20, "cacheRead": size - 1_220, "cacheWrite": 1_200, "output": 300, "totalTokens": size + 300}
        message = {
            "role": "assistant", "provider": "anthropic", "model": "claude-opus-4-5", "usage": usage,
            "stopReason": "toolUse", "timestamp": int(at.timestamp() * 1000), "responseId": f"resp_{i:08d}",
            "content": [{"type": "text", "text": "ok"}],
        }  # fmt: skip
        entry = {"type": "message", "id": f"m{i}", "parentId": f"m{i - 1}", "timestamp": _stamp(at), "message": message}
        out.append(entry)
    return "".join(json.dumps(row) + "\n" for row in out)


LOGS = {"claude-code": batch, "codex": codex, "pi": pi}


def _stamp(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")


def _result(number: int, at: datetime) -> str:
    content = [{"type": "tool_result", "tool_use_id": f"toolu_{number:06d}", "content": "x" * 600}]
    record = {
        "type": "user", "uuid": f"r{number}", "parentUuid": f"u{number}", "isSidechain": False,
        "sessionId": "11111111-2222-3333-4444-555555555555", "cwd": "/home/someone/shop", "version": "2.1.0",
        "timestamp": _stamp(at), "message": {"role": "user", "content": content},
    }  # fmt: skip
    return json.dumps(record) + "\n"


async def watch(log: Path, screen: bool, work: Callable[[Callable[[int], Awaitable[None]]], Awaitable[None]]) -> None:
    """Runs ``work`` with a function that waits until the call of an index has been read (and drawn)."""
    from monitor.dashboard.live import LiveFeed
    from monitor.pricing import PriceTable
    from monitor.sessions.build import Settings

    settings = Settings(prices=PriceTable.load())
    if not screen:
        feed = LiveFeed([str(log)], settings=settings)
        newest = -1

        async def read(index: int) -> None:
            nonlocal newest
            while newest < index:
                shot = feed.poll()
                if shot is not None and shot.sessions:
                    newest = len(shot.sessions[0].turns) - 1
                else:
                    feed.wait(0.2)

        await work(read)
        feed.close()
        return
    from monitor.dashboard.app import Dashboard

    app = Dashboard(lambda: LiveFeed([str(log)], settings=settings))
    async with app.run_test(size=(160, 48)) as pilot:

        async def drawn(index: int) -> None:
            while app.desk.turn is None or app.desk.turn.index < index:
                await asyncio.sleep(0.002)
            await pilot.pause()

        await work(drawn)


def main() -> int:
    """Append, measure, compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--calls", type=int, default=100_000, metavar="N", help="calls to append (default 100000)")
    parser.add_argument("--check", action="store_true", help=f"exit 1 if memory grew by more than {LIMIT_MB:.0f} MB")
    parser.add_argument("--log", choices=LOGS, default="claude-code", help="whose log is written")
    parser.add_argument("--feed", action="store_true", help="without a screen")
    parser.add_argument("--where", action="store_true", help="which files of the program hold the memory")
    args = parser.parse_args()
    figures: dict[str, float] = {}
    begin = datetime.now(UTC) - timedelta(seconds=FIRST)
    told = LOGS[args.log]

    async def work(log: Path, seen: Callable[[int], Awaitable[None]]) -> None:
        await seen(FIRST - 1)
        gc.collect()
        held = None
        if args.where:
            import tracemalloc

            tracemalloc.start(1)
            held = tracemalloc.take_snapshot()
        figures["before"] = resident()
        cpu = time.process_time()
        parts = []
        for number in range(FIRST, FIRST + args.calls, BATCH):
            with log.open("a", encoding="utf-8") as out:
                out.write(told(number, BATCH, begin))
            moment = time.process_time()
            await seen(number + BATCH - 1)
            parts.append(time.process_time() - moment)
        figures["cpu"] = time.process_time() - cpu
        figures["early"], figures["late"] = (sum(part) / len(part) for part in (parts[:20], parts[-20:]))
        gc.collect()
        figures["after"] = resident()
        if held is not None:
            import tracemalloc

            _where(tracemalloc.take_snapshot(), held, args.calls)

    with tempfile.TemporaryDirectory() as name:
        log = Path(name) / "session.jsonl"
        log.write_text(told(0, FIRST, begin), encoding="utf-8")
        asyncio.run(watch(log, not args.feed, lambda seen: work(log, seen)))
    grown = figures["after"] - figures["before"]
    print(f"resident {figures['before']:.0f} -> {figures['after']:.0f} MB, grown by {grown:.1f} MB, "
          f"{grown * 1e6 / args.calls:.0f} bytes a call   limit {LIMIT_MB:.0f} MB")  # fmt: skip
    early, late = figures["early"] * 1000, figures["late"] * 1000
    print(f"CPU {figures['cpu'] / args.calls * 1000:.2f} ms a call; "
          f"a batch of {BATCH}: {early:.0f} ms at the beginning, {late:.0f} ms at the end")  # fmt: skip
    return 1 if args.check and grown > LIMIT_MB else 0


def _where(now: object, before: object, calls: int) -> None:
    """The lines that hold most of what was added."""
    found = now.compare_to(before, "lineno")  # type: ignore[attr-defined]
    print(f"{'bytes a call':>12}  {'objects':>9}  place")
    for stat in found[:32]:
        frame = stat.traceback[0]
        print(f"{stat.size_diff / calls:12.1f}  {stat.count_diff:9,}  {_short(frame.filename)}:{frame.lineno}")
    print(f"{sum(stat.size_diff for stat in found) / calls:12.1f}  in all")


def _short(name: str) -> str:
    path = Path(name)
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else "/".join(path.parts[-2:])


if __name__ == "__main__":
    sys.exit(main())
