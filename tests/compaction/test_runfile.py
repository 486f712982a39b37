"""The file side: changes noticed, one run at a time, nothing half written."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from monitor.compaction import runfile
from monitor.compaction.options import CompactionError


def test_a_changed_input_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("one", encoding="utf-8")
    data, stamp = runfile.read(str(path))
    assert data == b"one"
    runfile.unchanged(stamp)
    os.utime(path, ns=(1, 1))
    runfile.unchanged(stamp)  # touched, not changed
    path.write_text("two", encoding="utf-8")
    with pytest.raises(CompactionError, match="changed while it was compacted"):
        runfile.unchanged(stamp)


def test_two_runs_at_once(tmp_path: Path) -> None:
    out = str(tmp_path / "o.json")
    with runfile.locked(out), pytest.raises(CompactionError, match="another compaction"), runfile.locked(out):
        pass
    with runfile.locked(out):
        pass
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(os.name != "posix", reason="process numbers are asked on POSIX only")
def test_a_lock_of_a_dead_run_is_taken_over(tmp_path: Path) -> None:
    out = tmp_path / "o.json"
    pid = os.fork() if hasattr(os, "fork") else 0
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    Path(f"{out}.lock").write_text(str(pid), encoding="utf-8")
    with runfile.locked(str(out)):
        pass


def test_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "a.json"
    source.write_text("x", encoding="utf-8")

    def full(fd: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CompactionError, match="No space left"):
        runfile.write(str(tmp_path / "o.json"), b"y" * 100, str(source), False)
    assert sorted(os.listdir(tmp_path)) == ["a.json"]


@pytest.mark.parametrize("force", [False, True])
def test_the_input_is_never_the_output(tmp_path: Path, force: bool) -> None:
    path = tmp_path / "a.json"
    path.write_text("x", encoding="utf-8")
    link: Any = tmp_path / "b.json"
    link.symlink_to(path)
    for out in (path, link):
        with pytest.raises(CompactionError, match="is the input"):
            runfile.refuse_existing(str(out), str(path), force)


def test_an_existing_output_needs_force(tmp_path: Path) -> None:
    source, out = tmp_path / "a.json", tmp_path / "o.json"
    for p in (source, out):
        p.write_text("x", encoding="utf-8")
    with pytest.raises(CompactionError, match="--force") as told:
        runfile.refuse_existing(str(out), str(source), False)
    assert told.value.code == 2
    runfile.refuse_existing(str(out), str(source), True)
    with pytest.raises(CompactionError, match="does not exist"):
        runfile.refuse_existing(str(tmp_path / "no" / "o.json"), str(source), False)
