"""One file as it grows: only appended bytes are read, and nothing is missed or told twice."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

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
    log.write_bytes(row(1) + row(2))
    assert "m2" in told(tail.read())


@pytest.mark.parametrize(
    ("data", "want"),
    [
        (b"", "empty"),
        (b" \n\n", "blanks"),
        (bytes(range(256)) * 20, "binary"),
        (b'{"hello": "world"}\n', "no usage"),
        (b"SQLite format 3\x00" + b"\x00" * 200, "SQLite"),
    ],
)
def test_what_cannot_be_used_is_said_in_a_sentence(log: Path, data: bytes, want: str) -> None:
    log.write_bytes(data)
    (why,) = reasons(Tail(log).read(final=True))
    assert want in why


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
    tail = Tail(base)
    assert tail.read() is not None
    assert tail.read() is None
    (tmp_path / "x.db-wal").write_bytes(b"new")
    assert tail.read() is not None
