"""Results of tools are left undecoded until the end: what a transcript tells must be the same as if they were not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.readers.base import FileContext
from monitor.readers.claude_code import READER
from monitor.readers.claude_steps import LONG, Results
from monitor.records import Record

SESSION = "11111111-2222-3333-4444-555555555555"
UUID = "9e61f5c3-400d-4100-a5a6-04671feda374"
#: what could be taken for something else if quotes were not escaped in JSON, and what is cut anywhere
NASTY = [
    '{"parentUuid"',
    '"type":"tool_result"',
    '"requestId"',
    '"isSidechain":true',
    "}\n{",
    "}{",
    "\\",
    "é",
    "🚀",
    '"',
]


def packed(row: dict[str, Any]) -> bytes:
    return json.dumps(row, separators=(",", ":"), ensure_ascii=False).encode()


def head(parent: Any = UUID, side: bool = False, **more: Any) -> dict[str, Any]:
    return {"parentUuid": parent, "isSidechain": side, "userType": "external", "cwd": "/home/dev/shop",
            "sessionId": SESSION, "version": "2.1.63", "gitBranch": "main", **more}  # fmt: skip


def tail(number: int) -> dict[str, Any]:
    return {"uuid": f"u{number}", "timestamp": f"2026-04-10T08:{number // 60 % 60:02}:{number % 60:02}.000Z"}


texts = st.lists(st.sampled_from([*NASTY, "ok ", "3 passed", "error: no", "x" * 700]), max_size=12).map("".join)
parents = st.sampled_from([UUID, UUID, UUID, None, "short", UUID[:-1] + '"', UUID[:-1] + "{", UUID[:-2] + '\\"'])


@st.composite
def results(draw: st.DrawFn) -> bytes:
    text = draw(texts) + "y" * draw(st.sampled_from([0, 0, LONG, LONG - 600, 3 * LONG]))
    block = {"tool_use_id": "toolu_01msVsCi2E3bFtRSprF7qsie", "type": "tool_result", "content": text,
             "is_error": draw(st.sampled_from([False, True, None]))}  # fmt: skip
    blocks: list[Any] = [block]
    if draw(st.integers(0, 9)) == 0:
        blocks.insert(draw(st.integers(0, 1)), {"type": "text", "text": draw(texts)})
    row = head(draw(parents), draw(st.sampled_from([False, False, False, True])))
    if draw(st.integers(0, 9)) == 0:
        row["meta"] = {"nested": True}
    row |= {"type": "user", "message": {"role": "user", "content": blocks}}
    if draw(st.booleans()):
        row["toolUseResult"] = {"stdout": text, "interrupted": False}
    return packed(row | tail(draw(st.integers(0, 3000))))


@st.composite
def answers(draw: st.DrawFn) -> bytes:
    usage = {"input_tokens": 5, "cache_creation_input_tokens": draw(st.integers(0, 9)), "cache_read_input_tokens": 100,
             "output_tokens": draw(st.integers(0, 500))}  # fmt: skip
    use = {"type": "tool_use", "id": "toolu_01msVsCi2E3bFtRSprF7qsie", "name": "Bash", "input": {"command": "pytest"}}
    content = [draw(st.sampled_from([use, {"type": "text", "text": "done"}, {"type": "text", "text": "z" * LONG}]))]
    message = {"model": "claude-sonnet-4-5", "id": f"msg_{draw(st.integers(0, 5))}", "type": "message",
               "role": "assistant", "content": content,
               "stop_reason": draw(st.sampled_from([None, "end_turn", "tool_use"])), "usage": usage}  # fmt: skip
    row = head(draw(parents), type="assistant", message=message, requestId=f"req_{draw(st.integers(0, 3))}")
    return packed(row | tail(draw(st.integers(0, 3000))))


@st.composite
def prompts(draw: st.DrawFn) -> bytes:
    content: Any = draw(texts)
    if draw(st.booleans()):
        content = [{"type": "text", "text": content}]
    row = head(draw(parents), type="user", message={"role": "user", "content": content})
    return packed(row | tail(draw(st.integers(0, 3000))))


records = st.one_of(results(), results(), answers(), prompts())
#: two writers that met on one line: the second record is an answer or a small one
glued = st.builds(bytes.__add__, results(), st.one_of(answers(), prompts().filter(lambda one: len(one) < 1_000)))
damaged = st.builds(lambda one, at: one[: at % len(one)], prompts(), st.integers(1))
ends = st.sampled_from([b"\n", b"\n", b"\n", b"\r\n", b" \n"])
transcripts = st.lists(
    st.builds(bytes.__add__, st.one_of(records, records, records, glued, damaged), ends), max_size=30
)


def read(lines: list[bytes], path: Path | None) -> list[Record]:
    parser = READER.parser(FileContext(name="s.jsonl", path=path))
    half = len(lines) // 2
    parser.feed(lines[:half], 1)
    parser.feed(lines[half:], half + 1)
    return parser.take()


@pytest.mark.parametrize(
    "path", [Path("/p/s.jsonl"), Path(f"/p/{SESSION}/subagents/agent-1.jsonl")], ids=["main", "agent"]
)
@given(lines=transcripts)
@settings(deadline=None, max_examples=150)
def test_lines_left_undecoded_change_nothing(path: Path, lines: list[bytes]) -> None:
    quick = read(lines, path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Results, "hold", lambda self, raw: False)
        assert quick == read(lines, path)


def result(text: str, **more: Any) -> bytes:
    block = {"tool_use_id": "toolu_01", "type": "tool_result", "content": text}
    row = head(**more) | {"type": "user", "message": {"role": "user", "content": [block]}}
    return packed(row | tail(1)) + b"\n"


def test_results_of_tools_are_not_decoded() -> None:
    seen = Results()
    assert not seen.hold(packed(head(type="user", message={"role": "user", "content": "hi"})) + b"\n")
    assert seen.hold(result("x" * 2 * LONG))
    assert seen.hold(result("short"))
    assert seen.hold(result('{"parentUuid" "requestId" }{')), "what a tool said is text"
    assert seen.hold(result("x", parent=None))
    assert not seen.sidechain
    assert seen.hold(result("x", side=True)) and seen.sidechain
    assert seen.hold(result("x")) and not seen.sidechain


@pytest.mark.parametrize("size", [10, 2 * LONG])
def test_a_second_record_on_the_line_is_seen(size: int) -> None:
    seen = Results()
    assert seen.hold(result("x" * size))
    prompt = packed(head(type="user", message={"role": "user", "content": "hi"}) | tail(2)) + b"\n"
    assert not seen.hold(result("x" * size)[:-1] + prompt)
    usage = {"input_tokens": 5, "output_tokens": 7}
    message = {"id": "m", "model": "m", "content": [{"type": "text", "text": "y" * size}], "usage": usage}
    answer = packed(head(type="assistant", message=message, requestId="r") | tail(2)) + b"\n"
    assert not seen.hold(result("x" * size)[:-1] + answer)
    assert not seen.hold(result("x" * size)[:-1]), "not finished"


def test_what_differs_in_front_of_the_message_is_looked_at() -> None:
    seen = Results()
    row = head(type="user", message={"role": "user", "content": [{"type": "tool_result", "content": "x" * 2 * LONG}]})
    del row["isSidechain"]
    line = packed(row | tail(1)) + b"\n"
    assert seen.hold(line) and not seen.sidechain
    odd = b'{"parentUuid":"a","isSidechain":true,"k":"'.ljust(51, b"z") + line[51:]
    assert json.loads(odd)["isSidechain"]
    assert seen.hold(odd) and seen.sidechain
