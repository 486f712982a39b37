"""Looks, what is remembered and what is shown at the start, headless."""

from __future__ import annotations

from pathlib import Path

import pytest

from monitor.dashboard.model.state import ViewState, load, save
from monitor.dashboard.widgets.table import Table
from tests.dashboard.harness import dashboard


async def test_themes_change_every_colour() -> None:
    async with dashboard() as run:
        dark = {segment.style for strip in run.app.screen._compositor.render_strips() for segment in strip}
        await run.press("t")
        assert run.app.theme == "ctxmon-light"
        light = {segment.style for strip in run.app.screen._compositor.render_strips() for segment in strip}
        papers = {style.bgcolor.name for style in light if style is not None and style.bgcolor is not None}
        assert "#0f1317" not in papers and "#f6f5f1" in papers
        assert dark != light


async def test_any_theme_of_textual_works() -> None:
    async with dashboard(theme="textual-ansi") as run:
        assert "#499" in run.text()
        for theme in ("nord", "solarized-light", "textual-dark"):
            run.app.theme = theme
            await run.settle()
            assert "#499" in run.text()


async def test_without_colour_the_bars_are_glyphs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with dashboard() as run:
        assert "████" in run.text()
        assert "▒" in run.text()
        # the read-out and the help name the parts by the same signs
        for part in ("█ cached", "▒ write", "░ new"):
            assert run.text().count(part) == 2, part
        await run.press("question_mark", "G")
        assert "■" not in run.text() and "▓ " in run.text()


async def test_without_colour_the_session_that_is_looked_at_is_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with dashboard(size=(160, 48)) as run:
        table = run.main.query_one("#sessions", Table)
        shown = run.desk.sessions.find(run.desk.view.session if run.desk.view else "")
        for key, look in (("2", "underline"), ("1", "reverse")):
            await run.press(key)
            for row in range(3):
                styles = [segment.style for segment in table.render_line(row + 1) if segment.style is not None]
                assert any(getattr(style, look) for style in styles) is (row == shown)


async def test_the_view_comes_back_at_the_next_start(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    async with dashboard(state_path=path) as run:
        await run.press("s", "t", "8")
    state = load(path)
    assert (state.share, state.theme, state.panel, state.session) == (True, "ctxmon-light", "events", "api-fix")
    async with dashboard(state_path=path) as run:
        assert run.desk.sight.share and run.app.theme == "ctxmon-light" and run.main.board.tab == "events"


async def test_a_state_from_elsewhere_does_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    save(path, ViewState(theme="no such theme", panel="nowhere", sort="x", turn_sort="y"))
    async with dashboard(state_path=path) as run:
        assert "#499" in run.text()


async def test_a_session_and_a_call_at_the_start() -> None:
    async with dashboard(session="docs", call=12) as run:
        assert "#12 of 88" in run.text()
