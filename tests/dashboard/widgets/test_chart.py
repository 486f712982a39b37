"""The chart widget: what it draws and what it tells."""

from __future__ import annotations

from datetime import UTC
from typing import Any

import pytest
from textual.app import App, ComposeResult
from textual.message import Message

from monitor.dashboard.model.curve import Curve
from monitor.dashboard.model.sight import Sight
from monitor.dashboard.themes import Inks
from monitor.dashboard.widgets.chart import Chart
from tests.dashboard import fake


class Host(App[None]):
    """An app around one chart."""

    CSS = "Chart { width: 100%; height: 100%; }"

    def __init__(self, count: int) -> None:
        super().__init__()
        self.sight = Sight()
        self.sight.curve = Curve("s1")
        if count:
            self.sight.curve.update(fake.growing(count))
        self.sight.stick()
        self.heard: list[Message] = []

    def compose(self) -> ComposeResult:
        yield Chart(self.sight, id="chart", zone=UTC)

    def inks_on(self, paper: str) -> Inks:
        return Inks()

    def on_chart_pointed(self, message: Chart.Pointed) -> None:
        self.heard.append(message)

    def on_chart_looked_at(self, message: Chart.LookedAt) -> None:
        self.heard.append(message)

    def on_chart_zoomed(self, message: Chart.Zoomed) -> None:
        self.heard.append(message)

    def on_chart_panned(self, message: Chart.Panned) -> None:
        self.heard.append(message)


@pytest.mark.parametrize("count", [0, 1, 7, 60, 3_000])
@pytest.mark.parametrize("size", [(160, 30), (40, 9), (12, 4), (5, 2)])
async def test_every_line_has_the_width(count: int, size: tuple[int, int]) -> None:
    async with Host(count).run_test(size=size) as pilot:
        chart = pilot.app.query_one(Chart)
        await pilot.pause()
        for y in range(size[1]):
            strip = chart.render_line(y)
            assert strip.cell_length == size[0]
            assert len(strip.text) == size[0]


async def test_it_is_painted_once_and_not_for_each_line() -> None:
    app = Host(500)
    async with app.run_test(size=(100, 24)) as pilot:
        chart = app.query_one(Chart)
        await pilot.pause()
        frame = chart.frame()
        for y in range(24):
            chart.render_line(y)
        assert chart.frame() is frame
        chart.update()
        assert chart.frame() is not frame


async def test_a_click_points_at_the_call_that_is_drawn_there() -> None:
    app = Host(1_000)
    async with app.run_test(size=(106, 24)) as pilot:
        await pilot.pause()
        await pilot.click(Chart, offset=(6 + 10, 5))
        message: Any = app.heard[0]
        start, stop = app.sight.extent().bucket(10)
        sizes = app.sight.curve.total[start:stop]
        assert app.sight.curve.total[message.position] == max(sizes) and stop - start > 1


async def test_a_drag_scrubs_and_the_overview_leads() -> None:
    app = Host(1_000)
    async with app.run_test(size=(106, 24)) as pilot:
        await pilot.pause()
        await pilot.mouse_down(Chart, offset=(20, 5))
        await pilot.hover(Chart, offset=(30, 5))
        await pilot.mouse_up(Chart, offset=(30, 5))
        assert [type(m).__name__ for m in app.heard[:2]] == ["Pointed", "Pointed"]
        app.heard.clear()
        await pilot.click(Chart, offset=(6 + 50, 23))
        message: Any = app.heard[0]
        assert isinstance(message, Chart.LookedAt) and 0.49 < message.share < 0.52


async def test_nothing_to_point_at() -> None:
    app = Host(0)
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.click(Chart, offset=(20, 5))
        assert app.heard == []
