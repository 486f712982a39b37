from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.readers import har_scan
from monitor.readers.har_scan import Entries, ScanError

TRICKY = ['a"b', "c\\", "{[", "]}", '\\"', "ü 😀", "", "x" * 50, '{"entries":[1]}']


class Slow(io.BytesIO):
    """Gives a few bytes at a time, whatever is asked for."""

    def __init__(self, data: bytes, step: int) -> None:
        super().__init__(data)
        self.step = step

    def read(self, size: int | None = -1) -> bytes:
        return super().read(self.step)


def archive(entries, indent=None, before=None) -> bytes:
    log = {
        "version": "1.2",
        "creator": {"name": "x", "entries": 3},
        "pages": before or [],
        "entries": entries,
        "comment": "end",
    }
    return json.dumps({"log": log}, indent=indent, ensure_ascii=False).encode()


@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(TRICKY), st.sampled_from(TRICKY) | st.lists(st.sampled_from(TRICKY), max_size=2), max_size=3
        ),
        max_size=5,
    ),
    st.integers(1, 40),
    st.sampled_from([None, 2]),
)
def test_entries_come_out_as_they_went_in_however_they_are_read(entries, step, indent):
    data = archive(entries, indent, before=[{"entries": ["{"]}])
    found = Entries(Slow(data, step))
    assert [json.loads(raw) for raw in found] == entries
    assert not found.cut


@given(st.integers(1, 30))
def test_a_file_cut_in_the_middle_gives_its_whole_entries(step):
    entries = [{"n": n, "text": TRICKY[n]} for n in range(4)]
    data = archive(entries)
    for end in range(data.index(b'"n": 0'), data.rindex(b"]"), 7):
        found = Entries(Slow(data[:end], step))
        got = [json.loads(raw) for raw in found]
        assert got == entries[: len(got)] and found.cut


@pytest.mark.parametrize(
    "data", [b"", b"{}", b'{"log":[1,2]}', b'{"log":{"pages":[]}}', b'{"log":\n[2,1,3]\n"request:"}', b"\xff" * 99]
)
def test_what_is_no_har_is_named(data):
    with pytest.raises(ScanError, match="no HAR"):
        list(Entries(io.BytesIO(data)))


def test_an_entry_too_large_to_hold_is_passed_over(monkeypatch):
    monkeypatch.setattr(har_scan, "MAX_ENTRY", 400)
    entries = [{"n": 0}, {"n": 1, "text": "x" * 3000, "more": ["{"]}, {"n": 2}]
    found = Entries(Slow(archive(entries), 64))
    assert [json.loads(raw)["n"] for raw in found] == [0, 2]
    assert found.skipped == 1
