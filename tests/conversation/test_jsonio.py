"""JSON in and out: sloppy input is read, the style of the input is kept."""

from __future__ import annotations

import json

import pytest

from monitor.conversation.jsonio import dump_like, dumps, loads, split_lines


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"a": [1, {"b": "ü"}]}, ensure_ascii=False),
        json.dumps({"a": [1, {"b": "ü"}]}, ensure_ascii=False, indent=2) + "\n",
        json.dumps([{"a": 1}], indent="\t"),
        json.dumps({"a": {"b": 2}}, separators=(",", ":")),
        json.dumps([{"a": 1, "b": 2}], separators=(",", ":")) + "\n",
    ],
)
def test_the_style_of_a_document_is_kept(text: str) -> None:
    assert dump_like(json.loads(text), text.encode()).decode() == text


def test_what_msgspec_refuses_is_read_all_the_same() -> None:
    assert loads('{"a": "\\ud83d"}') == {"a": "\ud83d"}
    assert loads(b'{"a": "x\x01y"}') == {"a": "x\x01y"}
    with pytest.raises(ValueError):
        loads("[" * 200_000)


def test_half_characters_are_written_escaped() -> None:
    assert dumps({"a": "\ud83d"}) == '{"a": "\\ud83d"}'
    assert dumps({"a": "ü"}) == '{"a": "ü"}'


def test_lines_of_all_kinds() -> None:
    data = b'\xef\xbb\xbf{"a":1}\r\n\n[1]\n{"b":2}{"c":3}\n{"d":\n\xff\n{"e":5}'
    lines = split_lines(data)
    assert [(x.number, x.obj, bool(x.error)) for x in lines] == [
        (1, {"a": 1}, False),
        (3, None, True),
        (4, {"b": 2}, True),
        (4, {"c": 3}, False),
        (5, None, True),
        (6, None, True),
        (7, {"e": 5}, False),
    ]
    assert lines[2].error == "2 objects on one line"
    assert lines[5].error == "not UTF-8"


def test_where_a_line_breaks() -> None:
    (cut, odd, second, long) = (
        split_lines(b'{"type":"assist')[0],  # the ninth character opens the string that has no end
        split_lines(b'  {"a": x}')[0],
        split_lines(b'{"b":2} {"c":}')[1],
        split_lines(b'{"n":' + b"1" * 5_000 + b"}x")[0],
    )
    assert cut.error == "broken JSON: Unterminated string starting at character 9 of the line"
    assert odd.error == "broken JSON: Expecting value at character 9 of the line"
    assert (second.raw, second.error) == (b'{"c":}', "broken JSON: Expecting value at character 14 of the line")
    assert long.error == "broken JSON"


def test_unicode_separators_do_not_break_lines() -> None:
    text = json.dumps({"a": "x\u2028y"}, ensure_ascii=False)
    assert [x.obj for x in split_lines(text.encode())] == [{"a": "x\u2028y"}]
