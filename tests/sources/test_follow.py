"""Following many files: what is new is told once, and bytes are not read again."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from monitor.records import Call, Problem
from monitor.sources.discovery import names
from monitor.sources.files import Batch, Tail
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
    clock = Clock()
    log = tmp_path / "a.jsonl"
    log.write_bytes(row(1) + row(2)[:-1])
    follower = Follower([str(log)], polling=True, clock=clock)
    assert drain(follower) == ["m1"]
    old = time.time() - 60
    os.utime(log, (old, old))
    clock.now += 3
    assert drain(follower) == ["m2"]


def settle(path: Path) -> None:
    """Let a file have changed a minute ago."""
    then = time.time_ns() - 60_000_000_000
    os.utime(path, ns=(then, then))


def reads(follower: Follower, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the files whose tails are asked from now on."""
    names: list[str] = []
    ask = follower._read

    def note(tail: Tail) -> Batch | None:
        names.append(tail.path.name)
        return ask(tail)

    monkeypatch.setattr(follower, "_read", note)
    return names


def test_only_files_that_changed_are_read_when_everything_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    logs = [tmp_path / f"{number:03}.jsonl" for number in range(200)]
    for number, log in enumerate(logs):
        log.write_bytes(row(number))
        settle(log)
    follower = Follower([str(tmp_path)], polling=True, clock=clock)
    assert len(drain(follower)) == 200
    total = follower.bytes_read
    names = reads(follower, monkeypatch)
    for _ in range(5):
        clock.now += 10
        assert drain(follower) == []
    assert names == []
    with logs[7].open("ab") as stream:
        stream.write(row(1_007))
    clock.now += 10
    assert drain(follower) == ["m1007"]
    assert names == ["007.jsonl"]
    assert follower.bytes_read == total + len(row(1_007))
    assert follower.told() == (
        f"files followed by polling: 200; bytes read: {total:,} at first, {len(row(1_007)):,} appended, 0 rewritten"
    )


def test_rotation_truncation_replacement_and_rewriting(tmp_path: Path) -> None:
    clock = Clock()
    log = tmp_path / "calls.jsonl"
    log.write_bytes(row(1) + row(2))
    follower = Follower([str(tmp_path)], polling=True, clock=clock)
    told: dict[str, list[str | None]] = {}

    def look() -> dict[str, list[str | None]]:
        clock.now += 10
        while True:
            for batch in follower.poll():
                if batch.replace:
                    told[Path(batch.file).name] = []
                told.setdefault(Path(batch.file).name, []).extend(
                    r.call_id for r in batch.records if isinstance(r, Call)
                )
            if not follower.loading:
                return told

    assert look() == {"calls.jsonl": ["m1", "m2"]}
    # rotated: moved aside and begun anew; both files count, and calls that are in both are known by their ids
    log.rename(tmp_path / "calls-1.jsonl")
    log.write_bytes(row(3))
    assert look() == {"calls-1.jsonl": ["m1", "m2"], "calls.jsonl": ["m3"]}
    # replaced in one step by a file that begins otherwise
    new = tmp_path / "calls.tmp"
    new.write_bytes(row(4) + row(5))
    new.replace(log)
    assert look()["calls.jsonl"] == ["m4", "m5"]
    # copied and truncated, then grown past its old size before anyone looked
    log.write_bytes(row(6) + row(7) + row(8))
    assert look()["calls.jsonl"] == ["m6", "m7", "m8"]
    # rewritten in place with the same size
    log.write_bytes(row(6) + row(9) + row(8))
    assert look()["calls.jsonl"] == ["m6", "m9", "m8"]
    # gone for good: what it said stays, without a word
    log.unlink()
    assert look()["calls.jsonl"] == ["m6", "m9", "m8"]
    assert look()["calls.jsonl"] == ["m6", "m9", "m8"]


def test_files_that_changed_last_are_looked_at_often_whatever_was_read_last(tmp_path: Path) -> None:
    clock = Clock()
    for number in range(100):
        log = tmp_path / f"{number:03}.jsonl"
        log.write_bytes(row(number))
        then = 1_700_000_000 + (1_000 if number == 50 else 0)
        os.utime(log, (then, then))
    follower = Follower([str(tmp_path)], polling=True, clock=clock)
    drain(follower)
    with (tmp_path / "050.jsonl").open("ab") as stream:
        stream.write(row(1_050))
    clock.now += 0.3
    assert drain(follower) == ["m1050"]


def test_looking_takes_a_bounded_share_of_the_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder on a file system where a look at everything takes three seconds is not looked at all the time."""
    clock = Clock()
    (tmp_path / "a.jsonl").write_bytes(row(1))
    follower = Follower([str(tmp_path)], polling=True, clock=clock)
    looks = 0

    def slow(*args: Any) -> Iterator[str]:
        nonlocal looks
        looks += 1
        clock.now += 3
        return names(*args)

    monkeypatch.setattr("monitor.sources.follow.names", slow)
    drain(follower)
    for _ in range(20):
        clock.now += 3
        drain(follower)
    assert 2 <= looks <= 6


@pytest.mark.parametrize(
    "named", ["", ".", "logs", "link", "logs/*.jsonl", "*/*.jsonl", "logs/b.jsonl", "b-link.jsonl"]
)
def test_events_find_a_file_by_whatever_name_it_is_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    """A relative path, a link to a folder or a file, a pattern: an event leads to that file, not to a look at all."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "logs").mkdir()
    log = tmp_path / "logs" / "b.jsonl"
    log.write_bytes(row(1))
    (tmp_path / "b-link.jsonl").symlink_to(log)
    if named == "link":
        (tmp_path / "link").symlink_to("logs")
    follower = Follower([named or str(tmp_path / "logs")])
    try:
        assert set(drain(follower)) == {"m1"}
        time.sleep(1.2)
        drain(follower)  # what changed before watching had begun
        monkeypatch.setattr("monitor.sources.follow._HOT", 1e9)
        follower._next_hot = follower._next_all = 1e9  # nothing but events from here on
        monkeypatch.setattr(follower, "_scan", lambda: None)
        with log.open("ab") as stream:
            stream.write(row(2))
        assert follower.wait(5)
        assert "m2" in drain(follower)
    finally:
        follower.close()


def test_events_lead_to_a_folder_that_appears_late(tmp_path: Path) -> None:
    late = tmp_path / "a" / "b" / "sessions"
    follower = Follower([str(late)])
    try:
        drain(follower)
        time.sleep(1.2)
        drain(follower)
        late.mkdir(parents=True)
        (late / "x.jsonl").write_bytes(row(1))
        found: list[str | None] = []
        until = time.monotonic() + 10
        while not found and time.monotonic() < until:
            follower.wait(0.5)
            found = drain(follower)
        assert found == ["m1"]
        assert time.monotonic() < until
    finally:
        follower.close()


def test_strangers_in_the_folder_of_a_file_do_not_lead_to_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "a.jsonl"
    log.write_bytes(row(1))
    follower = Follower([str(log)])
    try:
        drain(follower)
        time.sleep(1.2)
        drain(follower)
        monkeypatch.setattr(follower, "_scan", lambda: pytest.fail("looked at everything"))
        follower._next_all = 1e9
        (tmp_path / "other.jsonl").write_bytes(row(2))
        time.sleep(0.2)
        assert drain(follower) == []
    finally:
        follower.close()


def test_paths_on_network_file_systems_are_polled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shared = tmp_path / "my share"
    (shared / "local").mkdir(parents=True)
    (tmp_path / "my share of it").mkdir()
    point = str(shared).replace(" ", "\\040")
    mounts = tmp_path / "mounts"
    mounts.write_text(f"/dev/vda / ext4 rw 0 0\nhost:/x {point} nfs4 rw 0 0\ntmpfs {point}/local tmpfs rw 0 0\n")
    monkeypatch.setattr("monitor.sources.discovery._MOUNTS", mounts)
    monkeypatch.delenv("CTXMON_POLLING", raising=False)
    link = tmp_path / "link"
    link.symlink_to(shared)
    for path in (shared, shared / "logs" / "*.jsonl", link):
        assert Follower([str(tmp_path / "a.jsonl"), str(path)]).polling
    for path in (tmp_path, shared / "local" / "x.jsonl", tmp_path / "my share of it"):
        assert not Follower([str(path)]).polling
    assert not Follower([str(shared)], polling=False).polling
    monkeypatch.setattr("monitor.sources.discovery._MOUNTS", tmp_path / "nothing")
    assert not Follower([str(shared)]).polling


def test_events_that_name_files_without_links_lead_to_the_file(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "real" / "a.jsonl").write_bytes(row(1))
    folder = str(tmp_path / "link")
    follower = Follower([folder], polling=True)
    drain(follower)
    name = os.path.realpath(tmp_path / "real" / "a.jsonl")
    assert follower._named(folder, folder, name) == os.path.join(folder, "a.jsonl")


def test_an_empty_file_is_no_trouble_where_a_log_is_just_being_begun(tmp_path: Path) -> None:
    clock = Clock()
    log = tmp_path / "calls.jsonl"
    log.touch()
    plain = Follower([str(log)], polling=True, clock=clock)
    assert [record.reason for batch in plain.poll() for record in batch.records if isinstance(record, Problem)]
    follower = Follower([str(log)], polling=True, begun=True, clock=clock)
    assert [batch.records for batch in follower.poll()] == [[]]
    log.write_bytes(row(1))
    clock.now += 0.3
    assert drain(follower) == ["m1"]
    log.write_bytes(b"")  # emptied: what it said is gone
    clock.now += 0.3
    assert [(batch.records, batch.replace) for batch in follower.poll()] == [([], True)]
