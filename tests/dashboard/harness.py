"""Runs the dashboard headless on a feed of the test."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC
from typing import Any

from textual.pilot import Pilot

from monitor.dashboard.app import Dashboard
from monitor.dashboard.feed import Snapshot
from monitor.dashboard.screens.main import MainScreen
from tests.dashboard.fake import FakeFeed, snapshot


class Run:
    """A running dashboard: its app, its feed, and what is to be seen."""

    def __init__(self, app: Dashboard, feed: FakeFeed, pilot: Pilot[Any]) -> None:
        self.app = app
        self.feed = feed
        self.pilot = pilot
        self.desk = app.desk

    async def press(self, *keys: str) -> None:
        """Press keys and wait until all is drawn."""
        await self.pilot.press(*keys)
        await self.settle()

    async def settle(self) -> None:
        """Wait until all messages are dealt with and the screen is drawn."""
        await self.pilot.pause()
        await self.pilot.pause()

    async def feed_with(self, item: Snapshot | Exception) -> None:
        """Hand a snapshot to the feed and wait until it has been drawn."""
        before = (self.desk.snapshot, self.desk.pending, len(self.desk.failures))
        self.feed.put(item)
        for _ in range(400):
            await self.pilot.pause(0.01)
            if (self.desk.snapshot, self.desk.pending, len(self.desk.failures)) != before:
                break
        else:
            raise AssertionError("the snapshot did not arrive")
        await self.settle()

    @property
    def main(self) -> MainScreen:
        """The main screen."""
        main = self.app.main
        assert main is not None
        return main

    def text(self) -> str:
        """The screen as text."""
        rows = self.app.screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in rows)

    def focused(self) -> str:
        """Id of the panel in use."""
        return (self.app.focused.id or "") if self.app.focused is not None else ""


@asynccontextmanager
async def dashboard(
    first: Snapshot | None = None, size: tuple[int, int] = (120, 32), *, wait: bool = True, **options: Any
) -> AsyncIterator[Run]:
    """A dashboard that has drawn its first snapshot."""
    feed = FakeFeed(first if first is not None else snapshot())
    app = Dashboard(lambda: feed, zone=UTC, **options)
    async with app.run_test(size=size, notifications=True) as pilot:
        run = Run(app, feed, pilot)
        for _ in range(400):
            if not wait or app.desk.snapshot is not None:
                break
            await pilot.pause(0.01)
        await run.settle()
        await run.settle()
        yield run
