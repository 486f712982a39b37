from __future__ import annotations

import json

import pytest

from monitor.readers.json_stream import JsonAssembler, values_of
from monitor.readers.lines import NOT_JSON, TORN


def run(text: str | bytes) -> tuple[list, list]:
    notes: list[tuple[int | None, str]] = []
    data = text.encode() if isinstance(text, str) else text
    found = list(values_of(data, lambda line, reason: notes.append((line, reason))))
    return found, notes


def push(text: str) -> tuple[list, list]:
    """Line by line, as a growing file is read."""
    notes: list[tuple[int | None, str]] = []
    assembler = JsonAssembler(lambda line, reason: notes.append((line, reason)))
    found = []
    for number, line in enumerate(text.encode().splitlines(keepends=True), 1):
        found += assembler.push(line, number)
    assembler.finish()
    return found, notes


ROWS = [{"a": 1, "b": {"c": [1, 2]}}, {"a": 2, "b": {}}, {"a": 3, "s": 'x } ] " \\ {'}]


def test_json_lines_keep_their_numbers():
    assert push("\n".join(map(json.dumps, ROWS)) + "\n") == ([(1, ROWS[0]), (2, ROWS[1]), (3, ROWS[2])], [])


@pytest.mark.parametrize("indent", [0, 1, 4])
def test_pretty_printed_objects_one_after_the_other(indent):
    text = "".join(json.dumps(row, indent=indent) + "\n" for row in ROWS)
    found, notes = push(text)
    assert [value for _, value in found] == ROWS
    assert notes == []
    assert found[0][0] == 1


def test_array_with_one_element_a_line():
    text = "[\n" + ",\n".join(map(json.dumps, ROWS)) + "\n]\n"
    assert push(text) == ([(2, ROWS[0]), (3, ROWS[1]), (4, ROWS[2])], [])


def test_pretty_printed_array():
    found, notes = push(json.dumps(ROWS, indent=2) + "\n")
    assert [value for _, value in found] == ROWS
    assert notes == []


def test_one_document_has_no_line():
    assert run(json.dumps(ROWS)) == ([(None, ROWS)], [])


def test_bad_line_is_one_problem_and_the_next_is_read():
    found, notes = push('{"a": 1}\n{"a": nonsense}\n{"a": 2}\n')
    assert [value["a"] for _, value in found] == [1, 2]
    assert notes == [(2, NOT_JSON)]


def test_object_that_never_ends_does_not_swallow_what_follows():
    found, notes = push('{\n  "a": 1,\n  "b": [\n{"a": 2}\n{"a": 3}\n')
    assert [value["a"] for _, value in found] == [2, 3]
    assert notes == [(1, NOT_JSON)]


def test_torn_last_line_and_torn_object():
    assert push('{"a": 1}\n{"a": "unfin')[1] == [(2, TORN)]
    found, notes = push('{"a": 1}\n{\n  "a": 2,\n')
    assert [value["a"] for _, value in found] == [1]
    assert notes == [(2, TORN)]


def test_glued_objects_and_nan():
    found, notes = push('{"a": 1}{"a": 2}\n{"a": NaN}\n')
    assert [value["a"] for _, value in found[:2]] == [1, 2]
    assert found[2][1]["a"] != found[2][1]["a"]
    assert notes == []


def test_utf16_of_a_windows_shell():
    data = "\ufeff".encode("utf-16-le") + (json.dumps({"a": "时间"}) + "\r\n").encode("utf-16-le")
    assert run(data) == ([(None, {"a": "时间"})], [])
