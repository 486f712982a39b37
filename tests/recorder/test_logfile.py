"""The file: whole lines, its owner's alone, rotated, and never a reason to stop."""

from __future__ import annotations

import errno
import json
import os
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from monitor.recorder import logfile
from monitor.recorder.logfile import CallLog, LogOptions, default_log


class Clock:
    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def warnings() -> list[str]:
    return []


def started(path: Path, warnings: list[str], clock: Clock | None = None, **options: Any) -> CallLog:
    log = CallLog(path, warnings.append, LogOptions(**options), clock or Clock())
    log.start()
    return log


def numbers(path: Path) -> list[int]:
    return [json.loads(x)["n"] for x in path.read_text(encoding="utf-8").splitlines()]


def test_lines_and_mode(tmp_path: Path, warnings: list[str]) -> None:
    path = tmp_path / "new" / "folder" / "log.jsonl"
    log = started(path, warnings, fsync=True)
    for n in range(50):
        log.write({"n": n})
    assert log.close() and numbers(path) == list(range(50)) and log.written == 50 and warnings == []
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600 and stat.S_IMODE(path.parent.stat().st_mode) == 0o700


@pytest.mark.skipif(os.name != "posix", reason="file modes of POSIX")
def test_mode_of_an_older_file_is_tightened(tmp_path: Path, warnings: list[str]) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text('{"n":0}\n', encoding="utf-8")
    path.chmod(0o644)
    started(path, warnings).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_torn_line_is_closed_off(tmp_path: Path, warnings: list[str]) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'{"n":0}\n{"n":1,"x":"to')
    log = started(path, warnings)
    log.write({"n": 2})
    assert log.close()
    lines = path.read_bytes().split(b"\n")
    assert lines == [b'{"n":0}', b'{"n":1,"x":"to', b'{"n":2}', b""]


def test_rotation_by_size_and_keep(tmp_path: Path, warnings: list[str]) -> None:
    path, clock = tmp_path / "log.jsonl", Clock()
    log = started(path, warnings, clock, rotate_size=60, keep=2)
    for n in range(10):
        log.write({"n": n, "text": "x" * 20})
        settle_line(log, n + 1)
        clock.now += 1
    assert log.close()
    rotated = sorted(p.name for p in tmp_path.iterdir() if p != path)
    assert len(rotated) == 2 and all(
        name.startswith("log-20231114T2213") and name.endswith("Z.jsonl") for name in rotated
    )
    assert [numbers(tmp_path / name) for name in rotated] == [[7], [8]] and numbers(path) == [9]


def settle_line(log: CallLog, count: int) -> None:
    done = threading.Event()
    for _ in range(2000):
        if log.written >= count:
            return
        done.wait(0.005)
    raise AssertionError("the line was not written")


def test_two_rotations_in_a_second_keep_both_files(tmp_path: Path, warnings: list[str]) -> None:
    path = tmp_path / "log.jsonl"
    log = started(path, warnings, rotate_size=10)
    for n in range(3):
        log.write({"n": n, "text": "x" * 20})
    assert log.close()
    assert sorted(numbers(p)[0] for p in tmp_path.iterdir()) == [0, 1, 2]


def test_of_many_rotations_in_a_second_the_last_are_kept(tmp_path: Path, warnings: list[str]) -> None:
    path = tmp_path / "log.jsonl"
    other = tmp_path / "log-20231114T221320Z.jsonl.bak"
    other.write_text("not ours", encoding="utf-8")
    log = started(path, warnings, Clock(), rotate_size=10, keep=3)
    for n in range(14):
        log.write({"n": n, "text": "x" * 20})
    assert log.close()
    assert sorted(numbers(p)[0] for p in tmp_path.iterdir() if p != other) == [10, 11, 12, 13]
    assert other.exists()


def test_rotation_by_age_counts_from_the_first_line(tmp_path: Path, warnings: list[str]) -> None:
    path, clock = tmp_path / "log.jsonl", Clock()
    path.write_text('{"schema":"x","time":"2023-11-14T20:13:20.000Z","n":0}\n', encoding="utf-8")  # two hours before
    log = started(path, warnings, clock, rotate_age=3 * 3600)
    log.write({"n": 1})
    settle_line(log, 1)
    clock.now += 3601
    log.write({"n": 2})
    assert log.close()
    assert numbers(path) == [2] and numbers(next(p for p in tmp_path.iterdir() if p != path)) == [0, 1]


def test_file_moved_by_others_is_begun_anew(tmp_path: Path, warnings: list[str]) -> None:
    path = tmp_path / "log.jsonl"
    log = started(path, warnings)
    log.write({"n": 0})
    settle_line(log, 1)
    path.rename(tmp_path / "moved.jsonl")
    log.write({"n": 1})
    settle_line(log, 2)
    path.unlink()
    log.write({"n": 2})
    assert log.close() and numbers(path) == [2] and numbers(tmp_path / "moved.jsonl") == [0]


def test_unwritable_path_warns_once_and_loses_nothing_once_it_works(
    tmp_path: Path, warnings: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logfile, "RETRY_S", 0.01)
    folder = tmp_path / "a"
    folder.write_text("a file where a folder should be", encoding="utf-8")
    log = CallLog(folder / "log.jsonl", warnings.append)
    assert log.start() is False
    for n in range(5):
        log.write({"n": n})
    folder.unlink()
    settle_line(log, 5)
    assert log.close() and numbers(folder / "log.jsonl") == [0, 1, 2, 3, 4]
    assert len(warnings) == 1 and "cannot be written" in warnings[0]


def test_full_disk_leaves_no_half_line(tmp_path: Path, warnings: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logfile, "RETRY_S", 0.01)
    path = tmp_path / "log.jsonl"
    write, room = os.write, [12]

    def full(fd: int, data: bytes) -> int:
        if threading.current_thread().name != "ctxmon-log":
            return write(fd, data)
        if not room[0]:
            raise OSError(errno.ENOSPC, "No space left on device")
        done = write(fd, data[: room[0]])
        room[0] -= done
        return done

    monkeypatch.setattr(os, "write", full)
    log = started(path, warnings)
    log.write({"n": 0})
    log.write({"n": 1})
    settle_line(log, 1)
    while not warnings:
        threading.Event().wait(0.005)
    assert numbers(path) == [0]
    room[0] = 10_000
    settle_line(log, 2)
    assert log.close() and numbers(path) == [0, 1]
    assert len(warnings) == 1 and "No space left" in warnings[0]


def test_slow_disk_bounds_what_waits(tmp_path: Path, warnings: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    go = threading.Event()
    log = CallLog(tmp_path / "log.jsonl", warnings.append, LogOptions(pending=1000))
    append = log._append

    def slow(line: bytes) -> bool:
        go.wait()
        return append(line)

    monkeypatch.setattr(log, "_append", slow)
    log.start()
    for n in range(100):
        log.write({"n": n, "text": "x" * 80})
    log.write({"n": 1000, "text": "x" * 80}, {"n": 100})  # there is room for the small one
    assert log._waiting_size <= 1000 and log.lost == 101 - len(log._waiting)
    assert len(warnings) == 1 and "fast enough" in warnings[0]
    go.set()
    assert log.close() and numbers(log.path) == [*range(100 - log.lost), 100]


def test_fsync_that_fails_does_not_double_the_line(
    tmp_path: Path, warnings: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(fd: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", broken)
    log = started(tmp_path / "log.jsonl", warnings, fsync=True)
    log.write({"n": 0})
    log.write({"n": 1})
    assert log.close() and numbers(log.path) == [0, 1] and "Input/output error" in warnings[0]


def test_default_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    assert default_log() == tmp_path / "ctxmon" / "calls.jsonl"


def test_lines_that_wait_are_written_together_and_whole_lines_stay_when_the_disk_fills(
    tmp_path: Path, warnings: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "log.jsonl"
    log = started(path, warnings)
    sizes: list[int] = []
    room = 25
    write = os.write

    def short(fd: int, data: bytes) -> int:
        nonlocal room
        sizes.append(len(data))
        done = write(fd, data[:room]) if room else 0
        room -= done
        return done

    monkeypatch.setattr("monitor.recorder.logfile.os.write", short)
    monkeypatch.setattr("monitor.recorder.logfile.RETRY_S", 0.05)
    for n in range(4):
        log.write({"n": n}, more=True)  # {"n":0} and its line feed are 8 bytes
    assert log.written == 0
    log.wake()
    settle_line(log, 3)  # 24 bytes; the one byte of the fourth is taken back
    assert sizes[0] == 32
    assert path.read_bytes() == b'{"n":0}\n{"n":1}\n{"n":2}\n'
    room = 1000
    settle_line(log, 4)
    assert log.close() and numbers(path) == [0, 1, 2, 3]
    assert len(warnings) == 1 and log.lost == 0


def test_lines_written_together_do_not_outgrow_the_size_at_which_to_rotate(tmp_path: Path, warnings: list[str]) -> None:
    path = tmp_path / "log.jsonl"
    log = started(path, warnings, rotate_size=24)
    for n in range(7):
        log.write({"n": n}, more=True)
    log.wake()
    assert log.close()
    assert sorted(numbers(p) for p in tmp_path.iterdir()) == [[0, 1, 2], [3, 4, 5], [6]]
