"""What runs in the background and asks first: compaction and backtest."""

from __future__ import annotations

from pathlib import Path

from monitor.dashboard.compactor import Preview
from monitor.dashboard.screens.sheet import Sheet
from monitor.sessions.view import SessionView
from tests.dashboard.harness import dashboard


class Compactor:
    """Writes what a test may look at."""

    def __init__(self, folder: Path, error: Exception | None = None) -> None:
        self.folder = folder
        self.error = error

    def preview(self, view: SessionView) -> Preview:
        if self.error is not None:
            raise self.error
        return Preview(
            source=self.folder / "s1.jsonl", target=self.folder / "s1.compact.jsonl", tokens_before=90_000,
            tokens_after=20_000, kept=(f"Goal of {view.session}",),
        )  # fmt: skip

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


async def test_without_a_compactor_the_key_is_not_there() -> None:
    async with dashboard() as run:
        await run.press("c")
        assert type(run.app.screen).__name__ == "MainScreen"
        assert not any(c.title.startswith("Compact:") for c in run.app.get_system_commands(run.app.screen))


async def test_a_backtest_is_replayed_in_the_background_and_shown() -> None:
    async with dashboard(size=(120, 40)) as run:
        await run.press("B")
        await _until(run, "too short to replay")
        run.feed.backtest = lambda view: f"ctxmon backtest\nfor {view.session}\n"  # type: ignore[attr-defined]
        await run.press("B")
        await _until(run, "for api-fix")
        assert isinstance(run.app.screen, Sheet)
