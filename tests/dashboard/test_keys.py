"""Keys, mouse and commands of the whole dashboard, headless."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from monitor.dashboard.keys import COMPACT_KEYS, KEYS, face
from monitor.dashboard.screens.main import MainScreen
from monitor.dashboard.screens.sheet import Sheet
from monitor.dashboard.widgets.table import Table
from tests.dashboard.harness import dashboard


def test_every_key_has_an_action_and_no_key_stands_twice() -> None:
    seen: dict[str, str] = {}
    for key in KEYS:
        name = key.action.split("(")[0]
        assert name.startswith("app.") or hasattr(MainScreen, f"action_{name}"), key.id
        for one in key.keys.split(","):
            assert one not in seen, (one, key.id, seen.get(one))
            seen[one] = key.id


async def test_the_cursor_moves_and_everything_follows_it() -> None:
    async with dashboard(size=(160, 48)) as run:
        assert "#499 of 500" in run.text()
        await run.press("plus", "plus", "plus", "plus")
        assert run.desk.sight.extent().level >= 1
        await run.press("left")
        turn = run.desk.turn
        assert turn is not None and turn.index < 499
        assert f"#{turn.index} of 500" in run.text() and f"7 Turn #{turn.index}" in run.text()
        turns = run.main.query_one("#turns", Table)
        assert run.desk.turns.row(turns.row).index == turn.index
        assert "browsing" in run.text()
        await run.press("G")
        assert "follow" in run.text() and run.desk.sight.follow


async def test_jumps_and_what_they_say_at_the_end() -> None:
    async with dashboard() as run:
        await run.press("left_square_bracket")
        marks = {run.desk.sight.curve.turn(m.position).index for m in run.desk.sight.curve.marks}  # type: ignore[union-attr]
        assert run.desk.turn is not None and run.desk.turn.index in marks
        await run.press("G", "n")
        assert "no cache miss after this turn" in run.text()
        await run.press("N")
        assert run.desk.turn is not None and run.desk.turn.cache_outcome in ("miss", "partial")
        await run.press("e")
        assert "no error after this turn" in run.text()


async def test_share_scale_and_lines() -> None:
    async with dashboard(size=(160, 48)) as run:
        await run.press("s")
        assert "Share of each prompt" in run.text() and "100%" in run.text()
        await run.press("s", "v")
        assert "scale: limit" in run.text()
        await run.press("a")
        assert "all lines" in run.text() and "line" in run.text()
        await run.press("a")
        assert "agent:" in run.text()


async def test_why_and_help_are_sheets_that_close() -> None:
    async with dashboard(size=(120, 40)) as run:
        await run.press("w")
        assert isinstance(run.app.screen, Sheet) and "▶ near-limit" in run.text()
        await run.press("escape", "question_mark")
        text = run.text()
        assert "Help" in text and "previous turn (one API call)" in text
        assert "preview, then write" not in text  # nothing compacts here
        await run.press("q")
        assert not isinstance(run.app.screen, Sheet)


async def test_the_help_lists_every_key() -> None:
    async with dashboard() as run:
        text = "\n".join("".join(word for word, _style in line) for line in run.app.help_lines(200))
        for key in KEYS:
            if key.id not in COMPACT_KEYS:
                assert key.text in text, key.id


async def test_keys_can_be_moved() -> None:
    async with dashboard(keys={"live.pause": "x"}) as run:
        await run.press("x")
        assert run.desk.paused
        await run.press("space")
        assert run.desk.paused
        text = "\n".join("".join(word for word, _style in line) for line in run.app.help_lines(200))
        assert "Space" not in text.split("Live")[1].split("More")[0]


async def test_commands_of_the_palette_act() -> None:
    async with dashboard() as run:
        commands = {command.title: command for command in run.app.get_system_commands(run.app.screen)}
        assert len(commands) > 35
        commands["Shares of each prompt, 0-100 %"].callback()
        await run.settle()
        assert run.desk.sight.share
        await run.press("ctrl+p")
        assert type(run.app.screen).__name__ == "CommandPalette"


async def test_the_call_is_copied_as_json(monkeypatch: pytest.MonkeyPatch) -> None:
    async with dashboard() as run:
        copied: list[str] = []
        monkeypatch.setattr(run.app, "copy_to_clipboard", copied.append)
        await run.press("y")
        assert json.loads(copied[0])["index"] == 499
        assert "#499 copied as JSON" in run.text()


async def test_mouse(monkeypatch: pytest.MonkeyPatch) -> None:
    async with dashboard(size=(160, 48)) as run:
        chart = run.main.query_one("#chart")
        await run.pilot.click("#chart", offset=(20, 6))
        assert not run.desk.sight.follow
        at = run.desk.sight.cursor
        await run.pilot.click("#chart", offset=(60, 6))
        assert run.desk.sight.cursor is not None and at is not None and run.desk.sight.cursor > at
        # the overview is the last row inside the frame
        await run.pilot.click("#chart", offset=(12, chart.region.height - 2))
        await run.settle()
        assert run.desk.sight.cursor is not None and run.desk.sight.cursor < 60
        await run.press("G")
        await run.pilot.click("#turns", offset=(10, 4))
        await run.settle()
        assert run.focused() == "turns"
        assert run.desk.turn is not None and run.desk.turn.index == 497
        await run.pilot.click("#turns", offset=(20, 1))
        await run.settle()
        await run.pilot.click("#hints", offset=(run.text().splitlines()[-1].index("share"), 0))
        await run.settle()
        assert run.desk.sight.share


def test_the_page_lists_every_key() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "dashboard.md").read_text(encoding="utf-8")
    for key in KEYS:
        shown = " ".join(f"`{face(one)}`" for one in key.keys.split(","))
        assert f"| {shown} | {key.text} |" in page, key.id
