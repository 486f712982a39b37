"""What becomes of output that nobody takes, and how the process ends."""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
from pathlib import Path

import pytest

from monitor.cli import streams
from tests.dashboard.claude_log import write_log

ROOT = Path(__file__).resolve().parents[2]
FULL = Path("/dev/full")
COMMANDS = (["report", "LOG"], ["calls", "LOG", "--format", "ndjson"], ["decide", "LOG"], ["doctor", "LOG"], ["prices"],
            ["--version"])  # fmt: skip


def run(args: list[str], log: Path, **how: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "monitor", *(str(log) if arg == "LOG" else arg for arg in args)]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, text=True, env=env, timeout=60, check=False, **how)  # type: ignore[call-overload,no-any-return]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    file = tmp_path / "abc.jsonl"
    write_log(file, 12)
    return file


@pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("args", COMMANDS, ids=lambda args: args[0])
def test_a_full_disk_is_one_sentence(args: list[str], log: Path) -> None:
    with FULL.open("w") as full:
        done = run(args, log, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 1
    command = "" if args[0].startswith("-") else f" {args[0]}"
    assert done.stderr == f"ctxmon{command}: standard output cannot be written (No space left on device)\n"


@pytest.mark.skipif(os.name != "posix", reason="a shell that closes streams")
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_streams_are_no_fault(closed: str, log: Path) -> None:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    script = f'"{sys.executable}" -m monitor report "{log}" {closed}'
    done = subprocess.run(["sh", "-c", script], text=True, capture_output=True, env=env, timeout=60, check=False)
    assert done.returncode == 0
    assert ("31.0k" in done.stdout) is (not closed.startswith(">"))
    assert done.stderr == ""


def test_a_reader_that_goes_away_is_no_fault(log: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = run(["report", "LOG"], log, stdout=writing, stderr=subprocess.PIPE)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


def test_errors_of_files_are_not_taken_for_those_of_the_output() -> None:
    assert streams.refused(OSError(28, "No space left on device"))
    assert not streams.refused(OSError(28, "No space left on device", "/some/file"))
    assert not streams.refused(OSError(2, "No such file or directory"))
    assert not streams.refused(ValueError("28"))


def test_the_process_ends_at_once_unless_something_waits_for_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[int] = []
    monkeypatch.setattr(os, "_exit", ended.append)
    monkeypatch.setattr(sys, "gettrace", lambda: None)
    monkeypatch.setattr(atexit, "_ncallbacks", lambda: 0)
    monkeypatch.setattr("threading.active_count", lambda: 1)
    streams.finish(13)
    assert ended == [13]
    monkeypatch.setattr("threading.active_count", lambda: 2)
    with pytest.raises(SystemExit, match="13"):
        streams.finish(13)
    monkeypatch.setattr("threading.active_count", lambda: 1)
    monkeypatch.setattr(atexit, "_ncallbacks", lambda: 1)
    with pytest.raises(SystemExit, match="13"):
        streams.finish(13)
    assert ended == [13]


@pytest.mark.skipif(os.name == "nt", reason="there it is what a closed pipe is")
def test_odd_values_are_not_taken_for_those_of_the_output() -> None:
    assert not streams.refused(OSError(22, "Invalid argument"))
