"""Atomic units: a cut between them never parts a call from its result, whatever the order in the file."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.conversation import from_messages, load
from monitor.conversation.units import pair_results
from tests.conversation import build


def spans(conv: Any) -> list[tuple[int, int, str]]:
    return [(u.start, u.stop, u.kind) for u in conv.units()]


def test_units_of_chat() -> None:
    assert spans(load(build.doc(build.chat()))) == [
        (0, 1, "system"),
        (1, 2, "user"),
        (2, 5, "tools"),
        (5, 7, "tools"),
        (7, 8, "assistant"),
        (8, 9, "user"),
        (9, 10, "assistant"),
    ]


def test_units_of_anthropic_keep_call_and_result_messages_together() -> None:
    assert spans(load(build.doc(build.anthropic()))) == [
        (0, 1, "user"),
        (1, 3, "tools"),
        (3, 4, "assistant"),
        (4, 5, "user"),
    ]


def test_reasoning_stays_with_the_calls_of_its_answer() -> None:
    assert spans(load(build.doc(build.responses()))) == [
        (0, 1, "user"),
        (1, 6, "tools"),
        (6, 7, "assistant"),
        (7, 8, "opaque"),
        (8, 9, "user"),
    ]


def test_reasoning_before_a_message_and_a_call_is_one_answer() -> None:
    body = build.responses()
    reasoning, call = body["input"][1], body["input"][2]
    body["input"] = [build.said("user", "a"), reasoning, build.said("assistant", "b"), call]
    body["input"] += [{"type": "function_call_output", "call_id": "c1", "output": "x"}, {**reasoning, "id": "rs_2"}]
    body["input"] += [build.said("assistant", "c"), build.said("assistant", "d")]
    assert spans(from_messages(body)) == [(0, 1, "user"), (1, 5, "tools"), (5, 8, "assistant")]


def test_lines_of_one_answer_are_one_unit() -> None:
    assert spans(load(build.jsonl(build.claude_code()))) == [
        (0, 1, "user"),
        (1, 6, "tools"),
        (6, 7, "assistant"),
        (7, 8, "user"),
        (8, 9, "assistant"),
    ]


def test_gemini_answers_without_ids_belong_to_the_turn_before() -> None:
    conv = load(build.doc(build.gemini()))
    assert spans(conv)[1] == (1, 3, "tools")
    assert [r.call_id for r in conv.messages[2].results] == [c.id for c in conv.messages[1].calls]


def test_open_calls_are_named() -> None:
    conv = from_messages(build.chat()[:4])
    assert [u.open_calls for u in conv.units()] == [(), (), ("c1",)]


def test_exchanges_keep_their_numbers_after_a_cut() -> None:
    conv = load(build.doc(build.chat()))
    assert [(e.number, e.start, e.stop) for e in conv.exchanges()] == [(0, 0, 1), (1, 1, 8), (2, 8, 10)]
    cut = conv.with_messages([conv.messages[0], *conv.messages[8:]])
    assert [(e.number, len(e.messages)) for e in cut.exchanges()] == [(0, 1), (2, 2)]
    assert cut.exchanges()[1].user is not None


ids = st.sampled_from(["a", "b", "c", "d"])
message = st.one_of(
    st.just({"role": "user", "content": "x"}),
    st.just({"role": "system", "content": "s"}),
    st.just({"role": "assistant", "content": "y"}),
    st.lists(ids, min_size=1, max_size=3).map(
        lambda cs: {"role": "assistant", "content": None, "tool_calls": [build.tool(c, "t") for c in cs]}
    ),
    ids.map(lambda c: {"role": "tool", "tool_call_id": c, "content": "r"}),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(message, max_size=14))
def test_units_cover_everything_once_and_never_part_a_pair(messages: list[dict[str, Any]]) -> None:
    conv = from_messages(messages, "openai-chat")
    units = conv.units()
    assert [m for u in units for m in u.messages] == list(conv.messages)
    assert [(u.start, u.stop) for u in units] == [
        (sum(len(x.messages) for x in units[:k]), sum(len(x.messages) for x in units[: k + 1]))
        for k in range(len(units))
    ]
    home = {i: k for k, u in enumerate(units) for i in range(u.start, u.stop)}
    for at, calls in pair_results(conv.messages)[0].items():
        assert {home[c] for c in calls} == {home[at]}


@settings(max_examples=150, deadline=None)
@given(st.lists(message, max_size=14), st.data())
def test_a_cut_between_units_makes_no_orphans(messages: list[dict[str, Any]], data: st.DataObject) -> None:
    """A result whose call stood in the conversation still has it after any cut at a unit's edge."""
    conv = from_messages(messages, "openai-chat")
    units = conv.units()
    k = data.draw(st.integers(0, len(units)))
    tail = [m for u in units[k:] for m in u.messages]
    before = pair_results(conv.messages)[0]
    paired = {id(conv.messages[i]) for i, calls in before.items() if calls}
    after = pair_results(tail)[0]
    assert all(i in after for i, m in enumerate(tail) if id(m) in paired)
