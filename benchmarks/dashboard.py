"""CPU time of the dashboard: chart frames, key to screen, first frame; and how soon an appended call is seen.

    python benchmarks/dashboard.py [--check] [--json FILE]

All but the last are CPU milliseconds (median), so that a busy machine does not change them much.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.measure import (
    ROOT,
    environment,
    machine,
)

SIZES = (50, 500, 5_000, 50_000)
#: limits in ms with --check
FRAME, KEY, FIRST, LIVE = 5.0, 30.0, 600.0, 100.0


def frames() -> list[tuple[str, float, float]]:
    """One frame of the chart at 160x30, the cursor moving, as a widget would draw it (strips included)."""
    from rich.style import Style

    from monitor.dashboard.model.curve import Curve
    from monitor.dashboard.model.frame import Painter
    from monitor.dashboard.model.sight import Sight
    from monitor.dashboard.themes import Inks
    from tests.dashboard.fake import growing

    out = []
    inks = Inks(base=Style(color="#d7dce2", bgcolor="#0f1317"))
    for count in SIZES:
        for everything in (False, True):
            sight = Sight()
            sight.curve = Curve("s1")
            sight.curve.update(growing(count))
            sight.width = 160
            sight.fit(everything)
            sight.stick()
            painter = Painter()
            times = []
            for i in range(60):
                if i == 20:
                    sight.share = True  # another picture altogether: nothing can be reused
                if i == 21:
                    sight.share = False
                begin = time.process_time()
                sight.move(-1)
                frame = painter.paint(sight.curve, sight.window, 160, 30, sight.options())
                for row in frame.rows:
                    inks.cells(row, 160)
                times.append((time.process_time() - begin) * 1000)
            name = f"frame {count:>6} turns{' (all)' if everything else ''}"
            out.append((name, statistics.median(times), FRAME))
    return out


def keys() -> list[tuple[str, float, float]]:
    """From a key press to the finished screen at 160x48, 100,000 turns loaded, headless."""
    from monitor.dashboard.app import Dashboard
    from tests.dashboard.fake import FakeFeed, growing, snapshot

    shot = snapshot((growing(100_000, session="big"),))
    out: list[tuple[str, float, float]] = []

    async def measure() -> None:
        app = Dashboard(lambda: FakeFeed(shot))
        async with app.run_test(size=(160, 48)) as pilot:
            while app.desk.view is None:
                await pilot.pause(0.02)
            await pilot.pause(0.3)
            for key in ("left", "right", "left_square_bracket", "n", "plus", "minus", "s", "6", "down", "pagedown"):
                times = []
                for _ in range(15):
                    begin = time.process_time()
                    await pilot.press(key)
                    await pilot.pause()
                    times.append((time.process_time() - begin) * 1000)
                out.append((f"key {key}", statistics.median(times), KEY))

    asyncio.run(measure())
    return out


def first_frame() -> list[tuple[str, float, float]]:
    """Interpreter start to the first complete frame of `watch --once`, a process of its own."""
    logs = ROOT / "sample_logs"
    code = (
        "import sys, time, io; sys.path.insert(0, sys.argv[1]); from monitor.dashboard import run; "
        "sys.stdout = io.StringIO(); run([sys.argv[2]], once=True, size=(160, 48)); "
        "sys.stderr.write(f'{time.process_time() * 1000:.0f}')"
    )
    times = []
    with tempfile.TemporaryDirectory() as home:
        for _ in range(6):  # the first one writes the byte code, as an installation does
            done = subprocess.run(
                [sys.executable, "-c", code, str(ROOT), str(logs)],
                capture_output=True, text=True, check=True, env=environment(Path(home)),
            )  # fmt: skip
            times.append(float(done.stderr.split()[-1]))
    return [("first frame of sample_logs", min(times[1:]), FIRST)]


def live() -> list[tuple[str, float, float]]:
    """Wall time from an appended line to the drawn screen, 160x48, 50,000 calls loaded, native file events.

    An answer comes in two lines, as Claude Code writes them: the second changes the call of the first. Wall time
    depends on what else the machine does, so --check does not compare it.
    """
    from datetime import UTC, datetime, timedelta

    from benchmarks.soak import batch
    from monitor.dashboard.app import Dashboard
    from monitor.dashboard.live import LiveFeed
    from monitor.pricing import PriceTable
    from monitor.sessions.build import Settings

    waits: list[float] = []
    count = SIZES[-1]
    settings = Settings(prices=PriceTable.load())

    async def measure(folder: Path) -> None:
        log = folder / "session.jsonl"
        begin = datetime.now(UTC) - timedelta(seconds=count)
        log.write_text(batch(0, count, begin), encoding="utf-8")
        app = Dashboard(lambda: LiveFeed([str(folder)], settings=settings))
        async with app.run_test(size=(160, 48)) as pilot:
            while app.desk.view is None or app.desk.loading:
                await pilot.pause(0.02)
            await pilot.pause(0.5)
            for i in range(count, count + 60):
                told = batch(i, 1, begin)
                for text, output in ((told.replace('"output_tokens": 300', '"output_tokens": 7'), 7), (told, 300)):
                    start = time.perf_counter()
                    with log.open("a", encoding="utf-8") as out:
                        out.write(text)
                    while app.desk.turn is None or (app.desk.turn.index, app.desk.turn.call.output_tokens) != (
                        i,
                        output,
                    ):
                        await asyncio.sleep(0.001)
                    drawn = asyncio.Event()
                    app.call_after_refresh(drawn.set)
                    await drawn.wait()
                    waits.append((time.perf_counter() - start) * 1000)
                    await asyncio.sleep(0.05)

    with tempfile.TemporaryDirectory() as name:
        asyncio.run(measure(Path(name)))
    waits.sort()
    return [
        ("append to screen, median", waits[len(waits) // 2], LIVE),
        ("append to screen, p95", waits[len(waits) * 95 // 100], LIVE),
    ]


def main() -> int:
    """Measure, print, compare."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="exit 1 if a figure is above its limit")
    parser.add_argument("--json", type=Path, help="write the figures here (- for stdout)")
    parser.add_argument("--only", choices=("frames", "keys", "first", "live"), help="one group")
    args = parser.parse_args()
    groups = {"frames": frames, "keys": keys, "first": first_frame, "live": live}
    bad = 0
    told = []
    for name, measure in groups.items():
        if args.only in (None, name):
            for label, value, limit in measure():
                over = value > limit
                told.append({"name": label, "ms": round(value, 2), "limit_ms": limit})
                bad += over and name != "live"
                print(f"{label:<32}{value:>9.1f} ms   limit {limit:>5.0f}{'   OVER' if over else ''}")
    if args.json is not None:
        body = json.dumps({"machine": machine(), "figures": told}, indent=1) + "\n"
        if str(args.json) == "-":
            print(body, end="")
        else:
            args.json.write_text(body, encoding="utf-8")
    return 1 if args.check and bad else 0


if __name__ == "__main__":
    sys.exit(main())
