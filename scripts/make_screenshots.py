"""Pictures of the dashboard for the README, made from ``sample_logs``: the same bytes on every machine.

    python scripts/make_screenshots.py            # writes docs/images/*.svg
    python scripts/make_screenshots.py --check    # exit 1 if one of them is not up to date

The clock stands still at half a minute after the last call, times are UTC, and nothing of the terminal, the environment
or the user's own settings is looked at.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from datetime import UTC
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
for name in [*os.environ]:
    if name in ("NO_COLOR", "COLUMNS", "LINES", "COLORTERM") or name.startswith(("TEXTUAL_", "CTXMON_")):
        del os.environ[name]
os.environ["TERM"] = "xterm-256color"

from monitor.dashboard.app import Dashboard  # noqa: E402
from monitor.dashboard.compact_file import FileCompactor  # noqa: E402
from monitor.dashboard.feed import FixedFeed, Snapshot  # noqa: E402
from monitor.dashboard.live import LiveFeed  # noqa: E402
from monitor.dashboard.once import picture  # noqa: E402
from monitor.pricing import PriceTable  # noqa: E402
from monitor.sessions.build import Settings  # noqa: E402
from monitor.sessions.composition import examine  # noqa: E402

FOLDER = ROOT / "docs" / "images"


class Shot(NamedTuple):
    """A picture: file, size, theme, source of the session shown, keys pressed before."""

    name: str
    size: tuple[int, int]
    theme: str
    source: str
    keys: tuple[str, ...]
    title: str


SHOTS = (
    Shot("dashboard.svg", (160, 48), "ctxmon-dark", "claude-code", (), "ctxmon: the dashboard"),
    Shot("dashboard-light.svg", (160, 48), "ctxmon-light", "claude-code", (), "ctxmon: the dashboard, light"),
    Shot("dashboard-80x24.svg", (80, 24), "ctxmon-dark", "codex", (), "ctxmon: the dashboard in 80 x 24"),
    Shot("dashboard-lines.svg", (120, 34), "ctxmon-dark", "claude-code", ("a",), "ctxmon: main line and subagent"),
)


def snapshot() -> Snapshot:
    """All sample logs, read once; decided half a minute after the last call."""
    os.chdir(ROOT)
    last = max(view.last or 0 for view in _read(0).sessions)
    return _read(last + 30_000)


def _read(now: int) -> Snapshot:
    """The sample logs as they look at a moment (ms since the epoch)."""
    settings = Settings(prices=PriceTable.load())
    feed = LiveFeed(["sample_logs"], settings=settings, polling=True, clock=lambda: now)
    try:
        found = None
        while found is None or found.loading:
            found = feed.poll() or found
        return found
    finally:
        feed.close()


async def draw(shot: Shot, data: Snapshot) -> str:
    """One picture."""
    session = next(view.session for view in data.sessions if view.source == shot.source)
    feed = FixedFeed(data, examine)
    app = Dashboard(lambda: feed, session=session, theme=shot.theme, zone=UTC, compactor=FileCompactor())
    async with app.run_test(size=shot.size) as pilot:
        while app.desk.view is None:
            await pilot.pause(0.02)
        await pilot.pause()
        for key in shot.keys:
            await pilot.press(key)
        if shot.keys:
            app.screen.say("")  # type: ignore[attr-defined]  # the last word said belongs to no picture
        for _ in range(3):
            await pilot.pause()
            while app.mixes.busy:
                await pilot.pause(0.02)
        return picture(app, shot.title)


def main() -> int:
    """Draw all; write or compare."""
    parser = argparse.ArgumentParser(description="Draw the pictures of the README from sample_logs.")
    parser.add_argument("--check", action="store_true", help="compare with docs/images, write nothing")
    args = parser.parse_args()
    data = snapshot()
    stale = []
    for shot in SHOTS:
        made = asyncio.run(draw(shot, data))
        path = FOLDER / shot.name
        if args.check:
            if not path.is_file() or path.read_text(encoding="utf-8") != made:
                stale.append(shot.name)
        else:
            FOLDER.mkdir(parents=True, exist_ok=True)
            path.write_text(made, encoding="utf-8", newline="\n")
            print(f"docs/images/{shot.name}  {len(made) / 1000:.0f} kB")
    if stale:
        print(f"not up to date: {', '.join(stale)}; run python scripts/make_screenshots.py", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
