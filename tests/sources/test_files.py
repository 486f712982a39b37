"""One file as it grows: only appended bytes are read, and nothing is missed or told twice."""

from __future__ import annotations

import gzip
import json
import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from monitor.records import Call, Problem
from monitor.sources.files import Batch, Tail, read_bytes
from tests.readers.test_claude_code import answer, use


def row(number: int, mid: str | None = None) -> bytes:
    return json.dumps(answer(number, mid or f"m{number}", use(number, 0, 0, 1), stop="end_turn")).encode() + b"\n"


def told(batch: Batch | None) -> list[str | None]:
    return [r.call_id for r in batch.records if isinstance(r, Call)] if batch is not None else []


def reasons(batch: Batch | None) -> list[str]:
    return [r.reason for r in batch.records if isinstance(r, Problem)] if batch is not None else []


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "s.jsonl"


def test_appended_bytes_only(log: Path) -> None:
    log.write_bytes(row(1) + row(2))
    tail = Tail(log)
    assert told(tail.read()) == ["m1", "m2"]
    assert tail.read() is None
    before = tail.bytes_read
    with log.open("ab") as stream:
        stream.write(row(3))
    batch = tail.read()
    assert told(batch) == ["m3"]
    assert batch is not None
    assert not batch.replace
    assert tail.bytes_read - before == len(row(3))
    assert [r.line for r in batch.records if isinstance(r, Call)] == [3]


def test_half_a_line_waits_for_its_end(log: Path) -> None:
    log.write_bytes(row(1) + row(2)[:40])
    tail = Tail(log)
    assert told(tail.read()) == ["m1"]
    with log.open("ab") as stream:
        stream.write(row(2)[40:])
    assert told(tail.read()) == ["m2"]


def test_last_line_without_line_feed_counts_when_nobody_asks_again(log: Path) -> None:
    log.write_bytes(row(1) + row(2)[:-1])
    tail = Tail(log)
    assert told(tail.read()) == ["m1"]
    assert tail.unfinished
    assert told(tail.read(final=True)) == ["m2"]
    with log.open("ab") as stream:
        stream.write(b"\n" + row(3))
    assert told(tail.read()) == ["m3"]
    assert told(Tail(log).read(final=True)) == ["m1", "m2", "m3"]


def test_truncated_and_rewritten_files_are_read_anew(log: Path) -> None:
    log.write_bytes(row(1) + row(2) + row(3))
    tail = Tail(log)
    tail.read()
    log.write_bytes(row(7))
    batch = tail.read()
    assert (told(batch), batch.replace if batch else None) == (["m7"], True)
    # truncated and grown past its old size
    log.write_bytes(row(8) + row(9) + row(4) + row(5))
    batch = tail.read()
    assert (told(batch), batch.replace if batch else None) == (["m8", "m9", "m4", "m5"], True)


def test_replaced_by_another_file(log: Path, tmp_path: Path) -> None:
    log.write_bytes(row(1))
    tail = Tail(log)
    tail.read()
    other = tmp_path / "new"
    other.write_bytes(row(1) + row(2))
    other.replace(log)
    # the same beginning: what was read is still there, so only the rest is read
    assert told(tail.read()) == ["m2"]
    other.write_bytes(row(5) + row(6))
    other.replace(log)
    assert told(tail.read()) == ["m5", "m6"]


def test_edited_in_place_with_the_same_size(log: Path) -> None:
    log.write_bytes(row(1) + row(2))
    tail = Tail(log)
    tail.read()
    status = log.stat()
    log.write_bytes(row(1) + row(3))
    os.utime(log, ns=(status.st_atime_ns, status.st_mtime_ns + 1_000_000_000))
    assert told(tail.read()) == ["m1", "m3"]


def test_vanished_file_keeps_what_it_said_and_may_come_back(log: Path) -> None:
    log.write_bytes(row(1))
    tail = Tail(log)
    tail.read()
    log.unlink()
    assert tail.read() is None
    assert tail.read() is None
    log.write_bytes(row(1) + row(2))
    assert "m2" in told(tail.read())


@pytest.mark.parametrize(
    ("data", "want"),
    [
        (b"", "empty"),
        (b" \n\n", "blanks"),
        (bytes(range(256)) * 20, "binary"),
        (b'{"hello": "world"}\n', "no usage"),
        (b"SQLite format 3\x00" + b"\x00" * 200, "SQLite database cannot be read: "),
    ],
)
def test_what_cannot_be_used_is_said_in_a_sentence(log: Path, data: bytes, want: str) -> None:
    log.write_bytes(data)
    (why,) = reasons(Tail(log).read(final=True))
    assert want in why


def test_a_database_that_is_cut_short_is_not_called_one_of_an_unknown_kind(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    with closing(sqlite3.connect(path)) as base:
        base.execute("PRAGMA page_size = 4096")
        base.executescript("CREATE TABLE t (x); CREATE TABLE u (x); CREATE TABLE v (x)")
        base.commit()
    (why,) = reasons(Tail(path).read(final=True))
    assert "is not one that is known" in why
    path.write_bytes(path.read_bytes()[: 3 * 4096])
    (why,) = reasons(Tail(path).read(final=True))
    assert "cannot be read: database disk image is malformed" in why


def test_missing_file(log: Path) -> None:
    (why,) = reasons(Tail(log).read())
    assert "cannot be opened" in why


def test_known_format_without_usage(log: Path) -> None:
    log.write_bytes(
        json.dumps({"timestamp": "2026-06-02T10:00:00.000Z", "type": "session_meta", "payload": {"id": "a"}}).encode()
        + b"\n"
    )
    (why,) = reasons(Tail(log).read(final=True))
    assert "no usage" in why


def test_compressed_by_content_not_by_name(tmp_path: Path) -> None:
    import zstandard

    packed = tmp_path / "rollout.jsonl"
    packed.write_bytes(gzip.compress(row(1)))
    assert told(Tail(packed).read(final=True)) == ["m1"]
    packed.write_bytes(zstandard.ZstdCompressor().compress(row(2)))
    assert told(Tail(packed).read(final=True)) == ["m2"]
    packed.write_bytes(gzip.compress(row(1) * 500)[:60])
    assert "damaged" in reasons(Tail(packed).read(final=True))[0]


def test_standard_input() -> None:
    batch, reader = read_bytes("stdin", row(1) + row(2)[:-1])
    assert told(batch) == ["m1", "m2"]
    assert reader is not None
    assert "empty" in reasons(read_bytes("stdin", b"")[0])[0]


def test_a_late_line_of_an_old_answer_counts_as_it_would_have_at_once(log: Path) -> None:
    """The parser lets go of old answers; what the file says is the same as if it had been read in one go."""

    def late(number: int) -> bytes:
        return json.dumps(answer(9_000, f"m{number}", use(number, 0, 0, 77), stop="end_turn")).encode() + b"\n"

    def outputs(batch: Batch | None) -> dict[str | None, int | None]:
        assert batch is not None
        return {r.call_id: r.output_tokens for r in batch.records if isinstance(r, Call)}

    log.write_bytes(b"".join(row(number) for number in range(3_000)))
    tail = Tail(log)
    assert len(outputs(tail.read())) == 3_000
    for number in (5, 6, 7, 8, 9):
        with log.open("ab") as stream:
            stream.write(late(number))
        batch = tail.read()
        assert batch is not None
        if number < 8:
            assert batch.replace and outputs(batch) == outputs(Tail(log).read())
        else:  # it happens often here, so nothing is let go of any more
            assert not batch.replace and outputs(batch) == {f"m{number}": 77}


def test_a_row_in_the_log_beside_a_database_is_seen(tmp_path: Path) -> None:
    base = tmp_path / "x.db"
    base.write_bytes(b"SQLite format 3\x00" + b"\x00" * 200)
    os.utime(base, (1e9, 1e9))  # long ago: nothing to look at twice
    tail = Tail(base)
    assert tail.read() is not None
    assert tail.read() is None
    (tmp_path / "x.db-wal").write_bytes(b"new")
    assert tail.read() is not None


def test_a_database_is_changed_when_a_log_appears_beside_it(tmp_path: Path) -> None:
    base = tmp_path / "x.db"
    base.write_bytes(b"SQLite format 3\x00" + b"\x00" * 200)
    old(base)
    tail = Tail(base)
    tail.read()
    assert not tail.changed()
    (tmp_path / "x.db-wal").write_bytes(b"new")
    assert tail.changed()


def old(path: Path, seconds: int = 60) -> None:
    """Let a file have changed some time ago."""
    then = time.time_ns() - seconds * 1_000_000_000
    os.utime(path, ns=(then, then))


def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of files as they are opened for reading."""
    names: list[str] = []

    def note(path: Any, *args: Any, **named: Any) -> Any:
        names.append(Path(path).name)
        return open(path, *args, **named)

    monkeypatch.setattr("monitor.sources.files.open", note, raising=False)
    return names


@pytest.mark.parametrize(
    "change",
    [
        lambda log: log.write_bytes(row(1) + row(2) + row(3)),  # appended
        lambda log: log.write_bytes(row(1)),  # truncated
        lambda log: (log.unlink(), log.write_bytes(row(1) + row(9))),  # deleted and made anew
        lambda log: (log.with_suffix(".new").write_bytes(row(1) + row(9)), log.with_suffix(".new").replace(log)),
        lambda log: log.unlink(),
    ],
    ids=["appended", "truncated", "made anew", "replaced", "gone"],
)
def test_only_a_changed_file_is_worth_a_look(log: Path, change: Callable[[Path], object]) -> None:
    log.write_bytes(row(1) + row(2))
    old(log)
    tail = Tail(log)
    assert tail.changed()
    tail.read()
    assert not tail.changed()
    change(log)
    assert tail.changed()
    tail.read()
    if log.exists():
        old(log, 30)
        tail.read()
    assert not tail.changed()


@pytest.mark.parametrize("round_times", [False, True])
def test_rewritten_within_one_tick_of_the_file_systems_clock(log: Path, round_times: bool) -> None:
    """Same size, same time, same inode: nothing tells it but the content, so files read so soon are looked into."""
    now = time.time_ns()
    now = now // 1_000_000_000 * 1_000_000_000 if round_times else now // 1_000_000_000 * 1_000_000_000 + 123
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("monitor.sources.files.time.time_ns", lambda: now + 5_000_000)
        log.write_bytes(row(1) + row(2))
        os.utime(log, ns=(now, now))
        tail = Tail(log)
        assert told(tail.read()) == ["m1", "m2"]
        assert tail.changed()
        assert tail.read() is None
        log.write_bytes(row(1) + row(3))
        os.utime(log, ns=(now, now))
    assert tail.changed()
    batch = tail.read()
    assert (told(batch), batch.replace if batch else None) == (["m1", "m3"], True)
    # once the clock has gone on, a look tells all
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("monitor.sources.files.time.time_ns", lambda: now + 3_000_000_000)
        assert tail.read() is None
        assert not tail.changed()
        names = opened(patch)
        assert tail.read() is None
        assert names == []


def test_half_a_line_that_never_ends_is_not_read_again_and_again(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log.write_bytes(row(1) + row(2)[:40])
    old(log)
    tail = Tail(log)
    assert told(tail.read()) == ["m1"]
    assert tail.changed()  # a whole last line would count now
    assert told(tail.read(final=True)) == []
    names = opened(monkeypatch)
    assert not tail.changed()
    assert tail.read(final=True) is None
    assert names == []
    with log.open("ab") as stream:
        stream.write(row(2)[40:])
    assert tail.changed()
    assert told(tail.read()) == ["m2"]


def test_what_cannot_be_read_is_told_once_and_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    damaged = tmp_path / "x.jsonl"
    damaged.write_bytes(gzip.compress(row(1) * 500)[:60])
    old(damaged)
    tail = Tail(damaged)
    assert "damaged" in reasons(tail.read())[0]
    names = opened(monkeypatch)
    assert not tail.changed()
    assert tail.read() is None
    assert names == []
    log = tmp_path / "y.jsonl"
    log.write_bytes(row(1))
    closed = Tail(log)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "no")

    monkeypatch.setattr("monitor.sources.files.open", refuse)
    assert "permission denied" in reasons(closed.read())[0]
    assert closed.changed()
    assert closed.read() is None
    monkeypatch.undo()
    assert told(closed.read()) == ["m1"]


def test_a_document_changed_within_a_tick_is_read_once_more_when_the_tick_is_over(tmp_path: Path) -> None:
    def answer(read: int) -> bytes:
        usage = {"prompt_tokens": 900, "completion_tokens": read, "total_tokens": 900 + read}
        body = {"id": "c1", "object": "chat.completion", "model": "gpt-5", "choices": [], "usage": usage}
        entry = {
            "startedDateTime": "2026-06-02T10:00:00.000Z",
            "time": 100,
            "request": {"method": "POST", "url": "https://api.openai.com/v1/chat/completions", "headers": []},
            "response": {"status": 200, "headers": [], "content": {"text": json.dumps(body)}},
        }
        return json.dumps({"log": {"entries": [entry]}}).encode()

    def outputs(batch: Batch | None) -> list[int | None]:
        return [r.output_tokens for r in batch.records if isinstance(r, Call)] if batch is not None else []

    log = tmp_path / "x.har"
    now = time.time_ns() // 1_000_000_000 * 1_000_000_000 + 123
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("monitor.sources.files.time.time_ns", lambda: now + 5_000_000)
        log.write_bytes(answer(11))
        os.utime(log, ns=(now, now))
        tail = Tail(log)
        assert outputs(tail.read()) == [11]
        log.write_bytes(answer(22))
        os.utime(log, ns=(now, now))
        assert tail.read() is None
        patch.setattr("monitor.sources.files.time.time_ns", lambda: now + 30_000_000)
        assert tail.changed()
        assert outputs(tail.read()) == [22]
        assert not tail.changed()
        assert tail.read() is None


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_as_some_shells_write_it(log: Path, encoding: str) -> None:
    mark = "\ufeff".encode(encoding)
    log.write_bytes(mark + "".join(row(n).decode().replace("ok", "ök \U0001f600") for n in (1, 2)).encode(encoding))
    tail = Tail(log)
    assert told(tail.read(final=True)) == ["m1", "m2"]
    assert told(read_bytes("-", log.read_bytes())[0]) == ["m1", "m2"]


def test_a_gzip_file_that_is_cut_tells_what_is_there(log: Path) -> None:
    packed = gzip.compress(b"".join(row(n) for n in range(1, 40)))
    log.write_bytes(packed[: len(packed) // 2])
    batch = Tail(log).read(final=True)
    assert told(batch)[:3] == ["m1", "m2", "m3"]
    assert any("damaged" in reason for reason in reasons(batch))
    assert any("damaged" in reason for reason in reasons(read_bytes("-", log.read_bytes())[0]))


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("array", [True, False])
def test_records_that_are_not_one_on_a_line(log: Path, indent: int | None, array: bool) -> None:
    records = [json.loads(row(n)) for n in (1, 2, 3)]
    said = json.dumps(records, indent=indent) if array else "\n".join(json.dumps(r, indent=indent) for r in records)
    log.write_text(said)
    assert told(Tail(log).read(final=True)) == ["m1", "m2", "m3"]
    assert told(read_bytes("-", said.encode())[0]) == ["m1", "m2", "m3"]


def test_an_array_of_records_that_is_cut(log: Path) -> None:
    log.write_text(json.dumps([json.loads(row(n)) for n in (1, 2, 3)])[:-40])
    batch = Tail(log).read(final=True)
    assert told(batch) == ["m1", "m2"]
    assert reasons(batch) == ["the last record is not finished"]
