"""What runs in the background and asks first: compaction and backtest."""

from __future__ import annotations

import asyncio
import gc
import threading
from pathlib import Path

import pytest
from textual.widgets import Input

from monitor.dashboard.compactor import Change, Preview
from monitor.dashboard.screens.compact import CompactSheet, complete
from monitor.dashboard.screens.sheet import Sheet
from monitor.sessions.view import SessionView
from tests.dashboard.fake import view
from tests.dashboard.harness import dashboard


class Compactor:
    """Writes what a test may look at."""

    def __init__(self, folder: Path, error: Exception | None = None) -> None:
        self.folder = folder
        self.error = error
        self.blocked = ""
        self.asked: list[Path] = []

    def preview(self, view: SessionView) -> Preview:
        if self.error is not None:
            raise self.error
        return Preview(
            source=self.folder / "s1.jsonl", target=self.folder / "s1.compact.jsonl", tokens_before=90_000,
            tokens_after=20_000, sections=(("Goal", f"Goal of {view.session}"),), blocked=self.blocked,
            changes=(Change("-", "user", 900, "the first wish"), Change("+", "summary", 300, "Goal"),
                     Change(" ", "assistant", 40, "done")),
        )  # fmt: skip

    def preview_file(self, path: Path) -> Preview:
        self.asked.append(path)
        return self.preview(view([]))

    def write(self, preview: Preview) -> Path:
        preview.target.write_text("done", encoding="utf-8")
        return preview.target


async def _until(run: object, path_or_word: object) -> None:
    for _ in range(300):
        await run.pilot.pause(0.01)  # type: ignore[attr-defined]
        if isinstance(path_or_word, Path) and path_or_word.exists():
            return
        if isinstance(path_or_word, str) and path_or_word in run.text():  # type: ignore[attr-defined]
            return
    raise AssertionError(f"{path_or_word} did not come")


async def test_compacting_asks_first_and_writes_beside(tmp_path: Path) -> None:
    async with dashboard(size=(120, 40), compactor=Compactor(tmp_path)) as run:
        assert "compact" in run.text().splitlines()[-1]
        await run.press("c")
        await _until(run, "Goal of api-fix")
        await run.press("escape")
        assert list(tmp_path.iterdir()) == []
        await run.press("c")
        await _until(run, "Goal of api-fix")
        await run.press("y")
        await _until(run, tmp_path / "s1.compact.jsonl")
        await _until(run, "Written")


async def test_a_preview_that_fails_says_why(tmp_path: Path) -> None:
    failing = Compactor(tmp_path, ValueError("the session file is gone: open it by path"))
    async with dashboard(size=(120, 40), compactor=failing) as run:
        await run.press("c")
        await _until(run, "open it by path")


async def test_message_by_message_and_back(tmp_path: Path) -> None:
    async with dashboard(size=(120, 40), compactor=Compactor(tmp_path)) as run:
        await run.press("c")
        await _until(run, "Goal of api-fix")
        await run.press("d")
        text = run.text()
        assert "the first wish" in text and "1 stay as they are" in text and "Goal of api-fix" not in text
        await run.press("d")
        assert "Goal of api-fix" in run.text()


async def test_what_cannot_be_written_cannot_be_confirmed(tmp_path: Path) -> None:
    compactor = Compactor(tmp_path)
    compactor.blocked = "s1.compact.jsonl is there already"
    async with dashboard(size=(120, 40), compactor=compactor) as run:
        await run.press("c")
        await _until(run, "is there already")
        await run.press("y")
        assert isinstance(run.app.screen, CompactSheet)
        await run.press("escape")
        assert list(tmp_path.iterdir()) == []


async def test_a_file_is_opened_by_its_path(tmp_path: Path) -> None:
    compactor = Compactor(tmp_path)
    (tmp_path / "exported.json").write_text("[]", encoding="utf-8")
    async with dashboard(size=(120, 40), compactor=compactor) as run:
        await run.press("C")
        await run.press("escape")
        assert compactor.asked == []
        await run.press("C")
        await run.press(*f"{tmp_path.as_posix()}/exp")
        for _ in range(300):
            if run.app.screen.query_one("#path", Input)._suggestion:
                break
            await run.pilot.pause(0.01)
        await run.press("right", "enter")
        await _until(run, "Compact: preview")
        assert compactor.asked == [Path(f"{tmp_path.as_posix()}/exported.json")]


def test_paths_are_completed_files_before_folders(tmp_path: Path) -> None:
    (tmp_path / "log-folder").mkdir()
    (tmp_path / "log-z.jsonl").write_text("", encoding="utf-8")
    base = tmp_path.as_posix()
    assert complete(f"{base}/log") == f"{base}/log-z.jsonl"
    assert complete(f"{base}/log-f") == f"{base}/log-folder/"
    assert complete(f"{base}/nothing") is None
    assert complete(f"{base}/") is None and complete("") is None
    assert complete(f"{base}/nowhere/x") is None


async def test_without_a_compactor_the_key_is_not_there() -> None:
    async with dashboard() as run:
        await run.press("c")
        assert type(run.app.screen).__name__ == "MainScreen"
        assert not any(c.title.startswith("Compact:") for c in run.app.get_system_commands(run.app.screen))


async def test_leaving_waits_for_nobody(recwarn: pytest.WarningsRecorder) -> None:
    """A backtest that is still replayed when the program ends: no waiting for it, no warning when it is done."""
    go, done = threading.Event(), threading.Event()

    def slow(view: SessionView) -> None:
        go.wait(20)
        done.set()

    async with dashboard(size=(120, 40)) as run:
        run.feed.backtest = slow  # type: ignore[attr-defined]
        await run.press("B")
        assert "replaying" in run.text()
        assert [thread.daemon for thread in threading.enumerate() if thread.name == "ctxmon-backtest"] == [True]
        app = run.app
    go.set()
    assert await asyncio.to_thread(done.wait, 5)
    app.hand_over(print)
    gc.collect()
    assert not any(warning.category is RuntimeWarning for warning in recwarn)


async def test_a_backtest_is_replayed_in_the_background_and_shown() -> None:
    async with dashboard(size=(120, 40)) as run:
        await run.press("B")
        await _until(run, "too short to replay")
        run.feed.backtest = lambda view: lambda width: f"ctxmon backtest\nfor {view.session} in {width}\n"  # type: ignore[attr-defined]
        await run.press("B")
        await _until(run, "for api-fix in 1")
        assert isinstance(run.app.screen, Sheet)
