"""Panels of words."""

from __future__ import annotations

import pytest
from textual.app import App, ComposeResult

from monitor.dashboard.themes import Inks
from monitor.dashboard.widgets.lines import ButtonLine, LinesPanel


class Host(App[None]):
    """A panel and a line of buttons."""

    CSS = "LinesPanel { width: 100%; height: 6; border: round white; } ButtonLine { height: 1; }"

    def __init__(self) -> None:
        super().__init__()
        self.done: list[str] = []

    def compose(self) -> ComposeResult:
        yield LinesPanel(id="panel")
        yield ButtonLine(id="buttons")

    def inks_on(self, paper: str) -> Inks:
        return Inks()


async def test_it_scrolls_within_its_lines_and_says_how_many_are_hidden() -> None:
    async with Host().run_test(size=(30, 10)) as pilot:
        panel = pilot.app.query_one(LinesPanel)
        panel.show([((f"line {i}", ""),) for i in range(10)])
        panel.focus()
        await pilot.pause()
        assert panel.border_subtitle == "▾ 6 more"
        assert panel.render_line(0).text.strip() == "line 0"
        await pilot.press("down", "j")
        assert panel.render_line(0).text.strip() == "line 2"
        await pilot.press("pagedown", "down")
        assert panel.render_line(3).text.strip() == "line 9" and panel.border_subtitle == "▴"
        panel.show([(("short", "bold"),)])
        await pilot.pause()
        assert panel.render_line(0).text.strip() == "short"
        assert panel.render_line(3).text.strip() == "" and panel.render_line(3).cell_length == 28
        assert panel.text == "short"


async def test_only_lines_that_read_differently_are_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Host().run_test(size=(30, 10)) as pilot:
        panel = pilot.app.query_one(LinesPanel)
        panel.show([((word, ""),) for word in ("one", "two", "three")])
        await pilot.pause()
        drawn: list[list[int]] = []
        monkeypatch.setattr(panel, "refresh", lambda *regions: drawn.append([region.y for region in regions]))
        panel.show([((word, ""),) for word in ("one", "other")])
        assert drawn == [[1, 2]]
