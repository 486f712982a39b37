"""What log files do to lines."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.readers import lines
from monitor.readers.lines import Skipped, first_objects, iterate, objects

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def test_two_objects_glued_on_a_line() -> None:
    assert objects(b'{"a":1}{"b":2}\n') == [{"a": 1}, {"b": 2}]


def test_bom_cr_and_nul_are_no_content() -> None:
    assert objects(b'\xef\xbb\xbf{"a":1}\r\n') == [{"a": 1}]
    assert objects(b'\x00\x00{"a":1}\x00\x00\n') == [{"a": 1}]
    assert objects(b"\x00\x00\x00\n") == []


def test_unicode_separators_do_not_end_a_record() -> None:
    text = "a\u2028b\u2029c\u0085d"
    raw = json.dumps({"t": text}, ensure_ascii=False).encode() + b"\n"
    assert list(iterate(io.BytesIO(raw))) == [raw]
    assert objects(raw) == [{"t": text}]


def test_nan_and_lone_surrogates_are_accepted() -> None:
    (value,) = objects(b'{"a":NaN,"b":"\\ud83d"}\n')
    assert value["a"] != value["a"]
    assert value["b"] == "\ud83d"


def test_invalid_utf8_is_replaced() -> None:
    assert objects(b'{"a":"\xff"}\n') == [{"a": "\ufffd"}]


@pytest.mark.parametrize("raw", [b'{"a":1', b'{"a":"unfin', b'{"a":'])
def test_unfinished_last_line_is_torn_not_broken(raw: bytes) -> None:
    with pytest.raises(Skipped) as caught:
        objects(raw)
    assert caught.value.torn


def test_broken_line_in_the_middle_is_reported_with_what_came_before() -> None:
    with pytest.raises(Skipped) as caught:
        objects(b'{"a":1}{"b":\n')
    assert (caught.value.objects, caught.value.torn) == ([{"a": 1}], False)


def test_deep_nesting_is_one_skipped_line() -> None:
    with pytest.raises(Skipped, match="nested"):
        objects(b"[" * 200_000 + b"]" * 200_000 + b"\n")


def test_a_line_over_the_limit_is_skipped_and_the_next_one_read() -> None:
    raw = b'{"x":"' + b"y" * 5000 + b'"}\n{"a":1}\n'
    found = list(iterate(io.BytesIO(raw), limit=1000))
    assert len(found) == 2
    with pytest.raises(Skipped, match="longer than"):
        objects(found[0])
    assert objects(found[1]) == [{"a": 1}]


@given(st.lists(json_values, max_size=5))
def test_any_values_written_one_per_line_come_back(values: list[object]) -> None:
    raw = b"".join(json.dumps(value).encode() + b"\n" for value in values)
    assert [value for line in iterate(io.BytesIO(raw)) for value in objects(line)] == values


@given(st.binary(max_size=200))
def test_no_bytes_raise_anything_but_skipped(raw: bytes) -> None:
    for line in iterate(io.BytesIO(raw)):
        try:
            objects(line)
        except Skipped as skipped:
            assert str(skipped)


def test_first_objects_stops_early_and_leaves_out_what_cannot_be_read() -> None:
    raw = b'{"a":1}\nnot json\n[1]\n{"b":NaN}\n{"c":3}\n'
    assert [sorted(value) for value in first_objects(raw, 2)] == [["a"], ["b"]]
    assert lines.TORN


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (b'{"a":[1]}', {"a": [1]}),
        (b'{"a":1e400}', {"a": float("inf")}),
        (b'"na\xefve"', "na�ve"),
        (b'"\\ud83d"', "\ud83d"),
        (b"[" * 100_000 + b"]" * 100_000, None),
        (b"nothing", None),
    ],
)
def test_a_value_kept_for_later_is_read_as_far_as_it_can_be(raw: bytes, value: object) -> None:
    # the decoder of the line has only looked for its end
    assert lines.later(raw) == value
