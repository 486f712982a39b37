"""Careful looks into JSON that agents write."""

from __future__ import annotations

from typing import Any

import pytest

from monitor.readers import agent_values as look
from monitor.readers.base import FileContext, ReadError, ReadOptions
from monitor.records import Problem, Record


@pytest.mark.parametrize(
    ("value", "want"),
    [(7, 7), ("7", 7), (7.0, 7), (-1, None), (True, None), (None, None), ([], None), (10**15, None), ("x", None)],
)
def test_counts_as_logs_write_them(value: Any, want: int | None) -> None:
    assert look.tokens(value) == want


def test_a_cost_of_zero_is_unknown() -> None:
    assert [look.cost(v) for v in (0, 0.5, 2, -1, True, "0.1", None)] == [None, 0.5, 2.0, None, None, None, None]


def test_the_last_part_of_both_kinds_of_path() -> None:
    assert [look.folder_name(p) for p in ("/home/dev/shop", "C:\\work\\shop", "/", 5)] == ["shop", "shop", None, None]


def test_ids_may_be_numbers_but_not_truth_values() -> None:
    assert [look.word(v) for v in ("a", "", 5, True, 1.5, {})] == ["a", None, "5", None, None, None]


class Lines(look.JsonLines):
    seen: list[tuple[int, dict[str, Any]]]

    def __init__(self, context: FileContext) -> None:
        super().__init__(context)
        self.seen = []

    def row(self, value: dict[str, Any], number: int) -> None:
        self.seen.append((number, value))


def test_lines_that_are_no_plain_json_are_read_or_told() -> None:
    parser = Lines(FileContext("x", data=b""))
    parser.feed(
        [
            b'{"a":1}{"a":2}\n',  # two writers on one line
            b"\n",
            b'[{"a":9}]\n',
            b'{"a":NaN,"b":"\\ud83d"}\n',
            b'\xef\xbb\xbf{"a":3}\r\n',
            b"not json\n",
            b'{"a":4,',
        ],
        10,
    )
    assert [(number, value.get("a")) for number, value in parser.seen] == [(10, 1), (10, 2), (13, None), (14, 3)]
    assert parser.seen[2][1]["b"] == "?"
    problems = parser.take()
    # a last line that ends early is still being written
    assert [record.line for record in problems if isinstance(record, Problem)] == [15]


class Document(look.JsonDocument):
    def __init__(self, context: FileContext) -> None:
        super().__init__(context)
        self.seen: list[Any] = []

    def document(self, value: Any) -> None:
        self.seen.append(value)


def document(data: bytes) -> tuple[list[Any], list[Record]]:
    context = FileContext("x", data=data)
    parser = Document(context)
    parser.read(context)
    return parser.seen, parser.take()


def test_a_document_that_is_cut_off_is_told() -> None:
    assert document(b'{"a":1}\n') == ([{"a": 1}], [])
    seen, problems = document(b'{"a":1,"b":[1,2')
    assert seen == []
    assert isinstance(problems[0], Problem)
    assert "not finished" in problems[0].reason


def test_nesting_deeper_than_any_log_costs_only_itself() -> None:
    deep = b'{"a":1,"b":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    seen, problems = document(deep)
    assert len(problems) + len(seen) >= 1  # read without the deep part, or told; never a RecursionError


def test_a_document_too_large_for_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(look, "MAX_LINE", 10)
    with pytest.raises(ReadError, match="too large"):
        document(b'{"a":"0123456789"}')


def test_only_the_latest_steps_of_the_main_chain_are_kept() -> None:
    log = look.StepLog(ReadOptions())
    for number in range(100):
        log.push("s", "main", ("tool_call", number, None, f"{number}", "bash", {"command": "ls"}))
        log.push("s", "agent:1", ("answer", number, None))
    found = log.take()
    assert [(step.chain, step.id) for step in found] == [("main", f"{n}") for n in range(60, 100)]
    assert log.take() == []
    everything = look.StepLog(ReadOptions(detail=True))
    for number in range(100):
        everything.push("s", "agent:1", ("answer", number, None))
    assert len(everything.take()) == 100
