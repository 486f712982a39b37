"""The real program in a real terminal: started, fed, driven by keys, resized, ended. Skipped where there is no tmux."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.dashboard.claude_log import line, write_log

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux")


class Terminal:
    """One tmux server with one window."""

    def __init__(self, folder: Path, width: int, height: int) -> None:
        self.name = f"ctxmon-test-{os.getpid()}-{folder.name}"
        self.width, self.height = width, height
        self.env = {
            **os.environ,
            "HOME": str(folder),
            "XDG_STATE_HOME": str(folder / "state"),
            "XDG_CACHE_HOME": str(folder / "cache"),
            "PYTHONPATH": str(ROOT),
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
            "LC_ALL": "C.UTF-8",
            "TMUX": "",
            # as a shell that exports what it began with: what the terminal says itself counts
            "COLUMNS": "80",
            "LINES": "24",
        }
        self.env.pop("NO_COLOR", None)

    def tmux(self, *words: str) -> str:
        """A command to our own server; what it prints."""
        command = ["tmux", "-L", self.name, "-f", os.devnull, "-u", *words]
        return subprocess.run(command, env=self.env, capture_output=True, text=True, check=True, timeout=30).stdout

    def start(self, *words: str, before: str = "", errors: Path | None = None) -> None:
        """Run the program; its exit code is printed when it ends, and the window stays."""
        program = f"{before} {shlex.join([sys.executable, '-m', 'monitor', *words])}"
        if errors is not None:
            program += f" 2> {shlex.quote(str(errors))}"
        shell = f"{program}; echo ended with $?; exec sleep 600"
        self.tmux("new-session", "-d", "-x", str(self.width), "-y", str(self.height), shell)

    def screen(self) -> str:
        """What is to be seen."""
        return self.tmux("capture-pane", "-p")

    def until(self, wanted: str | Callable[[str], bool], seconds: float = 40.0) -> str:
        """Look again and again until a text is there."""
        holds = wanted if callable(wanted) else lambda screen: wanted in screen
        end = time.monotonic() + seconds
        screen = ""
        while time.monotonic() < end:
            screen = self.screen()
            if holds(screen):
                return screen
            time.sleep(0.05)
        raise AssertionError(f"{wanted!r} did not appear on:\n{screen}")

    def press(self, *keys: str) -> None:
        """Press keys."""
        self.tmux("send-keys", *keys)

    def close(self) -> None:
        """End our own server and with it the program."""
        subprocess.run(["tmux", "-L", self.name, "kill-server"], env=self.env, capture_output=True, check=False)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    """A terminal of 100 x 30."""
    made = Terminal(tmp_path, 100, 30)
    yield made
    made.close()


def test_a_session_is_followed_driven_resized_and_left(terminal: Terminal, tmp_path: Path) -> None:
    log = tmp_path / "session.jsonl"
    at = write_log(log, 12)
    terminal.start("watch", str(log))
    # 19,980 read or written + 20 new, and 1,000 more with each of 11 further calls
    screen = terminal.until("#11 of 12")
    assert "31k" in screen and "shop" in screen

    with log.open("a", encoding="utf-8") as out:
        out.write(line(12, 30_980, 14_000, at))
    terminal.until(lambda shown: "#12 of 13" in shown and "45k" in shown)

    terminal.press("Left", "Left")
    terminal.until("#10 of 13")
    terminal.press("6")
    terminal.until(lambda shown: "prompt" in shown and "#12" in shown)
    terminal.press("?")
    terminal.until("previous turn (one API call)")
    terminal.press("Escape")
    terminal.until(lambda shown: "previous turn (one API call)" not in shown)

    for width, height in ((160, 48), (60, 15), (40, 10)):
        terminal.tmux("resize-window", "-x", str(width), "-y", str(height))
        terminal.until(lambda shown, height=height: "#10" in shown and len(shown.splitlines()) <= height)
    terminal.press("2")
    terminal.until("hit")

    terminal.press("q")
    screen = terminal.until("ended with 0")
    assert "#10" not in screen  # the terminal is given back as it was
    assert "Traceback" not in screen
    assert log.read_text(encoding="utf-8").count("\n") == 13


def test_a_path_that_is_not_there_is_a_problem_and_not_the_end(terminal: Terminal, tmp_path: Path) -> None:
    terminal.start("watch", str(tmp_path / "nowhere.jsonl"))
    screen = terminal.until("No calls of a model found yet")
    words = "".join(line.strip() for line in screen.splitlines())  # a long path goes on in the next line
    assert words.count("nowhere.jsonl") == 2 and "ctxmon doctor" in screen
    write_log(tmp_path / "nowhere.jsonl", 3)
    terminal.until("#2 of 3")
    terminal.press("q")
    terminal.until("ended with 0")


def test_one_frame(terminal: Terminal, tmp_path: Path) -> None:
    log = tmp_path / "session.jsonl"
    write_log(log, 12)
    terminal.start("watch", "--once", str(log))
    screen = terminal.until("ended with 0")
    assert "#11 of 12" in screen and "Traceback" not in screen


def test_a_log_is_piped_in_and_the_keys_still_come_from_the_terminal(terminal: Terminal, tmp_path: Path) -> None:
    log = tmp_path / "session.jsonl"
    write_log(log, 12)
    terminal.start("watch", "-", before=f"(cat {shlex.quote(str(log))}; sleep 6) |", errors=tmp_path / "errors.txt")
    terminal.until("#11 of 12")
    terminal.press("Left")
    terminal.until("#10 of 12")
    terminal.press("q")
    terminal.until("ended with")
    # what is drawn never goes into a file that stderr was sent to
    assert (tmp_path / "errors.txt").read_text(encoding="utf-8") == ""


def test_a_terminal_that_tells_no_size_is_drawn_once_and_left(tmp_path: Path) -> None:
    """A new pseudo-terminal is 0 x 0: the picture must not be drawn again and again, and keys must count."""
    import pty
    import select

    write_log(tmp_path / "session.jsonl", 12)
    ours, theirs = pty.openpty()
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color", "XDG_STATE_HOME": str(tmp_path)}
    for name in ("COLUMNS", "LINES", "NO_COLOR"):
        env.pop(name, None)
    command = [sys.executable, "-m", "monitor", "watch", str(tmp_path / "session.jsonl")]
    program = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=env, start_new_session=True)
    os.close(theirs)
    drawn, asked = b"", False
    end = time.monotonic() + 40
    try:
        while time.monotonic() < end and len(drawn) < 1_000_000:
            if select.select([ours], [], [], 0.2)[0]:
                try:
                    data = os.read(ours, 1 << 16)
                except OSError:  # the other side was closed
                    break
                drawn += data
            elif program.poll() is not None:
                break
            if not asked and b"of 12" in drawn:
                os.write(ours, b"q")
                asked = True
        assert asked and program.wait(20) == 0
        assert len(drawn) < 500_000
    finally:
        program.kill()
        program.wait()
        os.close(ours)
