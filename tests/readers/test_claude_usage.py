"""Odd figures of Claude Code's answers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from monitor.records import Event
from tests.readers.test_claude_code import answer, calls, line, read, use


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        ({}, (10_010, 10_000, 7_000)),  # told by life time only
        ({"cache_creation_input_tokens": 0}, (10_010, 10_000, 7_000)),
        ({"cache_creation_input_tokens": None}, (10_010, 10_000, 7_000)),
        ({"cache_creation_input_tokens": 12_000}, (12_010, 12_000, 7_000)),
    ],
)
def test_writes_told_by_life_time_only_count(stated: dict[str, Any], expected: tuple[int, int, int]) -> None:
    split = {"ephemeral_5m_input_tokens": 3_000, "ephemeral_1h_input_tokens": 7_000}
    usage = {"input_tokens": 10, "cache_read_input_tokens": 0, "output_tokens": 50, "cache_creation": split, **stated}
    (call,) = calls(read([answer(1, "m1", usage, stop="end_turn")]))
    assert (call.prompt_tokens, call.cache_write_tokens, call.cache_write_1h_tokens) == expected


def test_splits_without_figures_leave_writes_unknown() -> None:
    usage = {"input_tokens": 10, "cache_read_input_tokens": 5, "output_tokens": 50, "cache_creation": {}}
    (call,) = calls(read([answer(1, "m1", usage)]))
    assert (call.prompt_tokens, call.cache_write_tokens) == (15, None)


def test_an_error_told_under_the_models_name_is_an_event_and_no_call() -> None:
    rows = [
        answer(1, "m1", use(3, 0, 20_000, 40), stop="end_turn"),
        answer(2, "m2", use(0, 0, 0, 0), isApiErrorMessage=True, error="server_error"),
        answer(3, "m3", use(3, 20_003, 300, 40), stop="end_turn", isApiErrorMessage=True),
    ]
    records = read(rows)
    assert [call.call_id for call in calls(records)] == ["m1", "m3"]
    assert [(event.kind, event.detail) for event in records if isinstance(event, Event)] == [("error", "server_error")]


def test_a_message_after_an_interrupted_one_begins_its_own_exchange() -> None:
    def typed(seconds: float, text: str) -> dict[str, Any]:
        return line("user", seconds, message={"role": "user", "content": text})

    rows = [typed(1, "one"), answer(2, "m1", use(1, 0, 0, 1)), typed(3, "two"),
            typed(4, "[Request interrupted by user]"), typed(5, "three"), answer(6, "m2", use(1, 0, 0, 1))]  # fmt: skip
    assert [call.exchange for call in calls(read(rows))] == [1, 3]


@pytest.mark.parametrize("odd", [b"1e400", b'"\xff"'])
def test_values_that_only_their_own_decoder_refuses_end_nothing(odd: bytes) -> None:
    """The line is decoded; what it keeps for later (passes, texts, errors) is looked at when it is needed."""

    def raw(row: dict[str, Any]) -> bytes:
        return json.dumps(row).encode().replace(b'"ODD"', odd) + b"\n"

    passes = {**use(3, 0, 20_000, 40), "iterations": [{"type": "message", "input_tokens": "ODD"}]}
    block = {"type": "text", "text": "ODD"}
    rows = [
        raw(answer(1, "m1", passes, stop="end_turn")),
        raw(line("user", 2, message={"role": "user", "content": [block]})),
        raw(answer(3, "m2", use(0, 0, 0, 0), model="<synthetic>", isApiErrorMessage=True, error="ODD", content=[block])),
        raw(answer(4, "m3", use(3, 20_003, 300, 40), stop="end_turn")),
    ]
    found = calls(read(rows))
    assert [call.call_id for call in found] == ["m1", "m3"]
    assert found[1].prompt_tokens == 20_306


@pytest.mark.parametrize("passes", [[{"type": "\ud83d", "input_tokens": 7}], ["\ud83d"], {"a": "\ud83d"}, "\ud83d" * 9])
def test_passes_that_are_hard_to_read_are_no_failure(passes: Any) -> None:
    (call,) = calls(read([answer(1, "m1", use(5, 20, 3, 4, iterations=passes), stop="end_turn")]))
    assert (call.prompt_tokens, call.output_tokens) == (28, 4)


def test_what_an_editor_puts_in_front_of_a_message_does_not_hide_it() -> None:
    opened = {"type": "text", "text": "<ide_opened_file>The user opened a.py.</ide_opened_file>"}

    def row(seconds: float, content: Any) -> dict[str, Any]:
        return line("user", seconds, message={"role": "user", "content": content})

    rows = [row(1, [opened, {"type": "text", "text": "fix it"}]), answer(2, "m1", use(1, 0, 0, 1)),
            row(3, [opened]), answer(4, "m2", use(1, 0, 0, 1)),
            row(5, "<system-reminder>x</system-reminder>\nand this"), answer(6, "m3", use(1, 0, 0, 1)),
            row(7, "<system-reminder>x</system-reminder>"), answer(8, "m4", use(1, 0, 0, 1))]  # fmt: skip
    assert [call.exchange for call in calls(read(rows))] == [1, 1, 2, 2]


def test_a_message_typed_meanwhile_begins_an_exchange() -> None:
    def queued(seconds: float, prompt: Any, mode: str = "prompt") -> dict[str, Any]:
        return line("attachment", seconds, attachment={"type": "queued_command", "prompt": prompt, "commandMode": mode})

    rows = [line("user", 1, message={"role": "user", "content": "one"}), answer(2, "m1", use(1, 0, 0, 1)),
            queued(3, "two"), answer(4, "m2", use(1, 0, 0, 1)),
            queued(5, "<task-notification>x</task-notification>"), queued(6, "x", "task-notification"),
            line("attachment", 7, attachment={"type": "todo"}), answer(8, "m3", use(1, 0, 0, 1)),
            queued(9, [{"type": "text", "text": "three"}]), answer(10, "m4", use(1, 0, 0, 1))]  # fmt: skip
    assert [call.exchange for call in calls(read(rows))] == [1, 2, 2, 3]


def test_half_an_emoji_in_an_error_and_in_a_message() -> None:
    said = [{"type": "text", "text": "API Error: 500 \ud83d"}]
    rows = [line("user", 1, message={"role": "user", "content": [{"type": "text", "text": "go \ud83d"}]}),
            answer(2, "s", use(0, 0, 0, 0), model="<synthetic>", content=said, isApiErrorMessage=True),
            answer(3, "m1", use(1, 0, 0, 1))]  # fmt: skip
    records = read(rows)
    assert [event.detail for event in records if isinstance(event, Event)] == ["500"]
    assert [call.exchange for call in calls(records)] == [1]
