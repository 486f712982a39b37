"""Which inputs are read how, and where a call goes."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from monitor.fleet.plan import MOST_BUCKETS, Part, buckets_for, parts_of
from monitor.fleet.records import Frame, bucket_of, frame_of, home, pack, unpack
from monitor.readers.base import ReadOptions
from monitor.records import Call, Event, Evidence, Problem, SessionInfo, Step
from tests.fleet import help
from tests.fleet.tables import make, write_csv, write_ndjson, write_parquet


def planned(path: Path, options: ReadOptions | None = None) -> tuple[list[Part], int, list[Problem]]:
    problems: list[Problem] = []
    parts, rows = parts_of([str(path)], options or help.options(), problems)
    return parts, rows, problems


def test_tables_are_streamed_and_exports_are_read_by_their_readers(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="the extra fleet is not installed")
    rows = make(5).rows
    write_parquet(tmp_path, rows, 1)
    write_csv(tmp_path, rows, 1)
    write_ndjson(tmp_path, rows, 1)
    with gzip.open(tmp_path / "packed.csv.gz", "wb") as stream:
        stream.write((tmp_path / "part-00.csv").read_bytes())
    (tmp_path / "whole.json").write_text(json.dumps({"data": rows}), encoding="utf-8")
    parts, count, problems = planned(tmp_path)
    kinds = {Path(part.file).name: part.kind for part in parts}
    assert kinds == {
        "packed.csv.gz": "csv", "part-00.csv": "csv", "part-00.ndjson": "jsonl", "part-00.parquet": "parquet",
        "whole.json": "file",
    }  # fmt: skip
    assert problems == [] and count >= len(rows)
    assert [part.number for part in parts] == list(range(5)) and len({part.order for part in parts}) == 5


def test_addresses_and_what_is_not_there(tmp_path: Path) -> None:
    problems: list[Problem] = []
    parts, _ = parts_of(["sqlite:///x.db", str(tmp_path / "none"), "-"], ReadOptions(), problems)
    assert [(part.kind, part.path) for part in parts] == [("address", "sqlite:///x.db")]
    assert len(problems) == 2


def test_buckets_are_many_enough_and_not_too_many() -> None:
    assert buckets_for(5_000_000, 2) == 63  # 80,000 rows in each
    assert buckets_for(10, 8) == 32  # four for each worker
    assert buckets_for(10**12, 1) == MOST_BUCKETS


def test_a_group_has_its_bucket_everywhere() -> None:
    # CRC-32 of "123456789" is the published check value 0xCBF43926
    assert bucket_of("123456789", 2**32) == 0xCBF43926
    assert bucket_of("\udcff", 7) in range(7)  # a name that is no valid Unicode


@pytest.mark.parametrize(
    ("way", "wanted"),
    [(None, "ofrom|who"), ("lane", "ofrom|who"), ("file", "fday"), ("explicit", "sday.csv")],
)
def test_calls_without_a_session_go_with_their_sender(way: str | None, wanted: str) -> None:
    call = Call(session="day.csv", source="from", file="x/day.csv", session_evidence="file",
                evidence=Evidence(origin="who"))  # fmt: skip
    assert home(call, way) == wanted
    named = Call(session="day.csv", source="from", file="x/day.csv")
    assert home(named, way) == "sday.csv"  # nothing has to be found out about it


def test_frames_keep_records_and_their_order() -> None:
    records = [
        (Step(session="s", kind="user", words=(1, 2)), 3),
        (Call(session="s", source="t", file="f", key="k", evidence=Evidence(messages=b"12345678")), 3),
        (Event(kind="compaction", evidence="recorded", session="s", file="f"), 4),
        (Call(session="s", source="t", file="f", billed=((1, 2, 3, 4, 5),)), 5),
        (SessionInfo(session="s", source="t", file="f"), 5),
    ]
    found = unpack(pack(frame_of(records)))
    assert isinstance(found, Frame)
    assert list(found.records()) == records
