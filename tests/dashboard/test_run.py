"""The entry point: one frame, exit codes, failures of our own."""

from __future__ import annotations

import gc
import io
import subprocess
import sys
from datetime import UTC
from pathlib import Path
from xml.etree import ElementTree

import pytest

from monitor.dashboard import run
from monitor.dashboard.app import Dashboard
from monitor.dashboard.failures import failure_sentence
from monitor.dashboard.feed import FixedFeed, Snapshot
from monitor.dashboard.once import picture, print_frame, rows_of
from tests.dashboard import fake
from tests.dashboard.harness import dashboard


def once(snapshot: Snapshot, capsys: pytest.CaptureFixture[str], size: tuple[int, int] = (100, 30)) -> tuple[int, str]:
    code = run(lambda: FixedFeed(snapshot), once=True, size=size, zone=UTC)
    return code, capsys.readouterr().out


def test_one_frame_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = once(fake.snapshot(), capsys)
    assert code == 0
    rows = out.splitlines()
    assert len(rows) == 30 and all(len(row) <= 100 for row in rows)
    assert "COMPACT AT BOUNDARY" in rows[0] and "\x1b" not in out


def test_one_frame_without_sessions_says_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = once(fake.snapshot((), problems=fake.PROBLEMS), capsys)
    assert code == 3
    assert "No calls of a model found yet" in out and "check the path" in out


def test_one_frame_waits_until_all_is_read(capsys: pytest.CaptureFixture[str]) -> None:
    class Slow:
        def __init__(self) -> None:
            self.steps = [fake.snapshot((fake.growing(5),), loading=True), fake.snapshot((fake.growing(20),))]

        def poll(self) -> Snapshot | None:
            return self.steps.pop(0) if self.steps else None

        def wait(self, timeout: float) -> bool:
            return bool(self.steps)

        def close(self) -> None:
            self.steps = []

    assert run(Slow, once=True, size=(100, 30)) == 0
    assert "of 20" in capsys.readouterr().out


@pytest.mark.parametrize("collected", [True, False])
def test_garbage_is_collected_as_before_once_it_has_ended(
    collected: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    during: list[bool] = []
    monkeypatch.setattr("monitor.dashboard.once.rows_of", lambda app: during.append(gc.isenabled()) or rows_of(app))
    was = gc.isenabled()
    try:
        gc.enable() if collected else gc.disable()
        once(fake.snapshot(), capsys)
        assert during == [False] and gc.isenabled() is collected
    finally:
        gc.enable() if was else gc.disable()


def test_importing_the_package_costs_nothing() -> None:
    code = (
        "import sys, monitor.dashboard; sys.exit(any(m in sys.modules for m in ('textual', 'rich', 'pandas', 'httpx')))"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[2], check=False).returncode == 0


def test_a_failure_of_ours_is_one_sentence_without_values() -> None:
    def fail() -> None:
        raise KeyError("words of a log")

    try:
        fail()
    except KeyError as error:
        sentence = failure_sentence(error)
    assert "KeyError" in sentence and "words of a log" not in sentence and "-v" in sentence
    assert failure_sentence(None)


async def test_no_traceback_reaches_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    said = io.StringIO()
    with pytest.raises(ZeroDivisionError):  # the harness of Textual hands the error on; a user sees the sentence
        async with dashboard() as running:
            monkeypatch.setattr(running.app.error_console, "file", said)
            monkeypatch.setattr(type(running.main), "action_share", lambda self: 1 / 0)
            await running.press("s")
            running.app._print_error_renderables()
    assert "Traceback" not in said.getvalue()


async def test_the_picture_is_a_valid_svg_that_fetches_nothing() -> None:
    async with dashboard(size=(80, 24)) as running:
        made = picture(running.app, "a & b")
        assert made == picture(running.app, "a & b")
    root = ElementTree.fromstring(made)
    assert root.tag.endswith("svg")
    texts = [node.text or "" for node in root.iter() if node.tag.endswith("text")]
    assert any("BOUNDARY" in text for text in texts)
    assert "http" not in made.replace("http://www.w3.org/2000/svg", "")
    assert "█" not in made and "▄" not in made


async def test_colours_are_printed_where_the_terminal_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLORTERM", "truecolor")
    async with dashboard(size=(80, 24)) as running:
        rows = rows_of(running.app)
        out = Terminal()
        print_frame(rows, out)
        assert "\x1b[" in out.getvalue() and len(out.getvalue().splitlines()) == 24
        plain = io.StringIO()
        monkeypatch.setenv("TTY_COMPATIBLE", "0")
        print_frame(rows, plain)
        assert "\x1b" not in plain.getvalue()


def test_the_title_can_be_another(capsys: pytest.CaptureFixture[str]) -> None:
    run(lambda: FixedFeed(fake.snapshot()), once=True, size=(140, 34), title="recording at 127.0.0.1:4141")
    assert "recording at 127.0.0.1:4141" in capsys.readouterr().out


def test_a_dashboard_without_a_feed_thread_can_be_made_and_dropped() -> None:
    app = Dashboard(lambda: FixedFeed(fake.snapshot()))
    assert app.desk.view is None


def test_one_frame_waits_for_what_is_counted_beside(capsys: pytest.CaptureFixture[str]) -> None:
    code = run(lambda: FixedFeed(fake.snapshot(), lambda view: fake.MIX), once=True, size=(160, 48), zone=UTC)
    out = capsys.readouterr().out
    assert code == 0
    assert "results: Read" in out and "counting" not in out


def test_what_following_took_is_told_with_v(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from monitor.cli import main
    from tests.sources.test_files import row

    log = tmp_path / "s.jsonl"
    log.write_bytes(row(1) + row(2))
    assert main(["watch", "--once", "--no-cache", str(log)]) == 0
    assert "bytes read" not in capsys.readouterr().err
    assert main(["watch", "--once", "-v", "--no-cache", str(log)]) == 0
    size = len(row(1) + row(2))
    assert f"files followed: 1; bytes read: {size} at first, 0 appended, 0 rewritten" in capsys.readouterr().err
