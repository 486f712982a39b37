"""Following many files: what is new is told once, and bytes are not read again."""

from __future__ import annotations

from pathlib import Path

from monitor.records import Call
from monitor.sources.follow import Follower
from tests.sources.test_files import row


class Clock:
    """Seconds that pass only when told."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def drain(follower: Follower) -> list[str | None]:
    found: list[str | None] = []
    while True:
        batches = follower.poll()
        found += [r.call_id for batch in batches for r in batch.records if isinstance(r, Call)]
        if not follower.loading:
            return found


def test_new_lines_new_files_and_late_folders(tmp_path: Path) -> None:
    clock = Clock()
    late = tmp_path / "late"
    first = tmp_path / "a.jsonl"
    first.write_bytes(row(1))
    follower = Follower([str(tmp_path / "*.jsonl"), str(late)], polling=True, clock=clock)
    assert drain(follower) == ["m1"]
    assert any("no such" in p.reason for p in follower.problems)
    with first.open("ab") as stream:
        stream.write(row(2))
    clock.now += 0.3
    assert drain(follower) == ["m2"]  # recently changed files are looked at often
    late.mkdir()
    (late / "b.jsonl").write_bytes(row(3))
    clock.now += 0.3
    assert drain(follower) == []
    clock.now += 2.5
    assert drain(follower) == ["m3"]
    assert follower.problems == []
    assert follower.bytes_read == len(row(1) + row(2) + row(3))


def test_events_wake_and_name_the_changed_file(tmp_path: Path) -> None:
    log = tmp_path / "a.jsonl"
    log.write_bytes(row(1))
    follower = Follower([str(tmp_path)])
    try:
        assert drain(follower) == ["m1"]
        found: list[str | None] = []
        for _ in range(40):  # the watching thread may need a moment to start
            with log.open("ab") as stream:
                stream.write(row(2))
            if follower.wait(0.25):
                found = drain(follower)
                if found:
                    break
        assert found[:1] == ["m2"]
    finally:
        follower.close()


def test_last_line_without_line_feed_is_taken_when_it_has_settled(tmp_path: Path) -> None:
    import os
    import time

    clock = Clock()
    log = tmp_path / "a.jsonl"
    log.write_bytes(row(1) + row(2)[:-1])
    follower = Follower([str(log)], polling=True, clock=clock)
    assert drain(follower) == ["m1"]
    old = time.time() - 60
    os.utime(log, (old, old))
    clock.now += 3
    assert drain(follower) == ["m2"]
