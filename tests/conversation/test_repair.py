"""Repair: what was broken is whole again, what was whole is as it was, and nothing happens in silence."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.conversation import Conversation, dump, from_messages, load
from monitor.conversation.repair import LOST_CALL, NO_RESULT, OPENING, repair
from monitor.conversation.rules import check
from tests.conversation import build
from tests.conversation.test_rules import ANTHROPIC, CHAT, ITEMS
from tests.conversation.test_rules_sessions import SESSIONS, TURNS

#: what no repair can make up
LEFT = {"no-user-message", "empty-conversation", "too-large"}


def mended(conv: Conversation, **options: Any) -> tuple[Any, list[str]]:
    """(what was written, what was done); asserts that only what cannot be repaired is left."""
    new, done = repair(conv, check(conv, **options), **options)
    again = load(dump(new), conv.format)
    assert {v.code for v in check(again, **options)} <= LEFT
    if conv.handler.jsonl:
        return [json.loads(x) for x in dump(new).splitlines()], done
    return json.loads(dump(new)), done


@pytest.mark.parametrize("case", CHAT, ids=[c[0] for c in CHAT])
def test_chat(case: Any) -> None:
    messages = build.chat()
    case[1](messages)
    mended(from_messages(messages, "openai-chat"))


@pytest.mark.parametrize("case", ANTHROPIC, ids=[c[0] for c in ANTHROPIC])
def test_anthropic(case: Any) -> None:
    body = build.anthropic()
    case[1](body)
    mended(from_messages(body, "anthropic"))


@pytest.mark.parametrize("case", ITEMS, ids=[c[0] for c in ITEMS])
def test_responses(case: Any) -> None:
    body = build.responses()
    case[1](body)
    mended(from_messages(body, "responses"))


@pytest.mark.parametrize("case", TURNS, ids=[c[0] for c in TURNS])
def test_gemini(case: Any) -> None:
    body = build.gemini()
    case[1](body)
    mended(from_messages(body, "gemini"))


@pytest.mark.parametrize("case", SESSIONS, ids=[c[1] for c in SESSIONS])
def test_sessions(case: Any) -> None:
    rows = {"claude-code": build.claude_code, "codex": build.codex, "pi": build.pi}[case[0]]()
    case[2](rows)
    mended(load(build.jsonl(rows), case[0]))


@pytest.mark.parametrize("name", sorted(build.FILES))
def test_a_valid_file_is_left_alone(name: str) -> None:
    conv = load(build.FILES[name])
    new, done = repair(conv, check(conv))
    assert done == []
    assert dump(new) == build.FILES[name]


def test_a_displaced_result_goes_home_and_the_rest_stays() -> None:
    messages = build.chat()
    late = messages.pop(3)
    messages[4:4] = [{"role": "user", "content": "wait"}, late]
    written, done = mended(from_messages(messages))
    expected = [*build.chat()[:3], build.chat()[4], build.chat()[3], {"role": "user", "content": "wait"}]
    assert written == [*expected, *build.chat()[5:]]
    assert done == ["messages[5]: result moved behind its call"]


def test_a_missing_result_is_made_up_and_marked() -> None:
    messages = build.chat()
    messages.pop(3)
    written, done = mended(from_messages(messages))
    assert written[4] == {"role": "tool", "tool_call_id": "c2", "content": NO_RESULT}
    assert done == [f"messages[2]: call c2 answered with '{NO_RESULT}'"]


def test_a_result_without_its_call_becomes_a_note_that_is_no_word_of_the_user() -> None:
    messages = [m for k, m in enumerate(build.chat()) if k != 2]
    conv = from_messages(messages)
    new, done = repair(conv, check(conv))
    notes = [m for m in new.messages if m.text.startswith(LOST_CALL)]
    assert [m.text for m in notes] == [f"{LOST_CALL}\n1 failed", f"{LOST_CALL}\nsrc"]
    assert not any(m.typed for m in notes)
    assert not any(m.typed for m in load(dump(new)).messages if m.text.startswith(LOST_CALL))
    assert len(done) == 2


def test_split_results_come_together_in_the_order_of_the_file() -> None:
    body = build.anthropic()
    second = body["messages"][2]["content"].pop()
    body["messages"].insert(3, {"role": "user", "content": [second]})
    written, done = mended(from_messages(body))
    assert written == build.anthropic()
    assert done == ["messages[3]: result put into the message right behind its call"]


def test_results_go_before_the_text_of_their_message() -> None:
    body = build.anthropic()
    text = {"type": "text", "text": "And hurry."}
    body["messages"][2]["content"].insert(1, text)
    written, _ = mended(from_messages(body))
    assert written["messages"][2]["content"] == [build.result("t1", "src"), build.result("t2", "1 failed"), text]


def test_all_thinking_of_a_message_goes_never_a_part() -> None:
    body = build.anthropic()
    body["messages"][1]["content"].insert(1, {"type": "thinking", "thinking": "More."})
    written, _ = mended(from_messages(body))
    assert [b["type"] for b in written["messages"][1]["content"]] == ["tool_use", "tool_use"]


def test_system_messages_move_into_the_prompt() -> None:
    body = build.anthropic()
    body["messages"].insert(0, {"role": "system", "content": "Be brief."})
    written, _ = mended(from_messages(body, "anthropic"))
    assert written["system"] == f"{build.SYSTEM}\n\nBe brief."
    assert written["messages"] == build.anthropic()["messages"]


def test_the_last_cache_marks_stay() -> None:
    mark = {"cache_control": {"type": "ephemeral"}}
    body = build.anthropic()
    for k in range(6):
        body["messages"].append({"role": "user", "content": [{"type": "text", "text": str(k), **mark}]})
    written, _ = mended(from_messages(body))
    marked = [m["content"][0]["text"] for m in written["messages"][5:] if "cache_control" in m["content"][0]]
    assert marked == ["2", "3", "4", "5"]


def test_an_opening_is_put_before_a_lone_answer() -> None:
    body = build.anthropic()
    del body["messages"][0]
    written, _ = mended(from_messages(body))
    assert written["messages"][0] == {"role": "user", "content": OPENING}
    assert written["messages"][1:] == build.anthropic()["messages"][1:]


def test_neighbours_are_joined_for_strict_templates() -> None:
    two = [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}, {"role": "assistant", "content": "c"}]
    written, _ = mended(from_messages(two), strict_roles=True)
    assert written == [{"role": "user", "content": "a\n\nb"}, two[2]]


def test_tool_blocks_become_text_where_no_tools_are_declared() -> None:
    body = build.anthropic()
    del body["tools"], body["thinking"]
    written, _ = mended(from_messages(body), bedrock=True)
    assert "tool_use" not in json.dumps(written)
    assert written["messages"][2]["content"][0] == {"type": "text", "text": "[Tool result: src]"}


def test_old_images_make_room() -> None:
    data = "QUJD" * 300
    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}
    messages = [{"role": "user", "content": [{"type": "text", "text": t}, image]} for t in ("first", "last")]
    written, done = mended(from_messages(messages), max_bytes=2000)
    assert written[0]["content"][1] == {"type": "text", "text": "[image: image/png]"}
    assert written[1] == messages[1]
    assert done == ["messages[0]: old image replaced by a placeholder"]


def test_duplicate_ids_are_told_apart_with_their_results() -> None:
    body = build.anthropic()
    body["messages"] += copy.deepcopy(body["messages"][1:3])
    written, _ = mended(from_messages(body))
    assert [b.get("id") for b in written["messages"][5]["content"]] == [None, "t1_2", "t2_2"]
    assert [b["tool_use_id"] for b in written["messages"][6]["content"]] == ["t1_2", "t2_2"]


def test_dropping_reasoning_frees_the_item_that_hung_on_it() -> None:
    body = build.responses()
    del body["input"][1]["encrypted_content"]
    written, _ = mended(from_messages(body))
    call = {k: v for k, v in build.responses()["input"][2].items() if k != "id"}
    assert written["input"] == [build.responses()["input"][0], call, *build.responses()["input"][3:]]


def test_a_torn_session_loses_only_the_torn_line() -> None:
    data = build.jsonl(build.claude_code())
    conv = load(data + b'{"type": "assi')
    new, done = repair(conv, check(conv))
    assert dump(new) == data
    assert done == ["line 11: line that is no JSON object removed"]


def test_the_first_pi_format_stays_without_ids() -> None:
    rows = [{k: v for k, v in r.items() if k not in ("id", "parentId")} for r in build.pi()]
    del rows[4]
    written, done = mended(load(build.jsonl(rows), "pi"))
    assert not any("parentId" in r for r in written)
    assert len(written) == len(build.pi())
    assert done == [f"line 4: call t1 answered with '{NO_RESULT}'"]


def test_records_without_links_get_one_where_it_is_needed() -> None:
    rows = [build.cc("u1", None, "assistant", "Hi.", "m1"), build.cc("u2", "u1", "user", "Go on.")]
    del rows[0]["parentUuid"]
    written, _ = mended(load(build.jsonl(rows)))
    assert [r["message"]["content"] for r in written] == [OPENING, "Hi.", "Go on."]
    assert written[1]["parentUuid"] == written[0]["uuid"]


def test_a_lost_parent_is_replaced_by_the_record_before() -> None:
    rows = build.claude_code()
    del rows[7]
    written, _ = mended(load(build.jsonl(rows)))
    assert written[7]["parentUuid"] == "u6"
    assert [{**r, "parentUuid": 0} for r in written] == [{**r, "parentUuid": 0} for r in rows]


def test_an_unfinished_opencode_call_ends_with_an_error() -> None:
    body = build.opencode()
    body["messages"][1]["parts"][1]["state"] = build.state("running")
    written, _ = mended(load(build.doc(body)))
    assert written["messages"][1]["parts"][1]["state"] == build.state("error", error=NO_RESULT)


ids = st.sampled_from(["a", "b", "c"])
chat_message = st.one_of(
    st.just({"role": "user", "content": "x"}),
    st.just({"role": "assistant", "content": "y"}),
    st.just({"role": "assistant", "content": None}),
    st.lists(ids, min_size=1, max_size=3).map(
        lambda cs: {"role": "assistant", "content": None, "tool_calls": [build.tool(c, "t") for c in cs]}
    ),
    ids.map(lambda c: {"role": "tool", "tool_call_id": c, "content": f"result of {c}"}),
)
block = st.one_of(
    st.just({"type": "text", "text": "x"}),
    ids.map(lambda c: {"type": "tool_use", "id": c, "name": "t", "input": {}}),
    ids.map(lambda c: build.result(c, f"result of {c}")),
    st.just({"type": "thinking", "thinking": "t", "signature": "s"}),
)
anthropic_message = st.builds(
    lambda role, content: {"role": role, "content": content},
    st.sampled_from(["user", "assistant"]),
    st.lists(block, max_size=4),
)


@settings(max_examples=120, deadline=None)
@given(st.lists(chat_message, min_size=1, max_size=12))
def test_any_order_of_chat_messages_can_be_mended(messages: list[dict[str, Any]]) -> None:
    conv = from_messages(copy.deepcopy(messages), "openai-chat")
    new, done = repair(conv, check(conv))
    assert {v.code for v in check(new)} <= LEFT
    if not check(conv):
        assert done == []
    said = sum(m.text.count("x") for m in new.messages if m.typed)
    assert said == sum(m["role"] == "user" for m in messages)  # no word of the user is lost


@settings(max_examples=120, deadline=None)
@given(st.lists(anthropic_message, min_size=1, max_size=8))
def test_any_mix_of_blocks_can_be_mended(messages: list[dict[str, Any]]) -> None:
    conv = from_messages(copy.deepcopy(messages), "anthropic")
    new, _ = repair(conv, check(conv))
    assert {v.code for v in check(new)} <= LEFT


@settings(max_examples=80, deadline=None)
@given(st.permutations(list(range(10))), st.sampled_from(["claude-code", "codex", "pi"]), st.sets(st.integers(0, 9)))
def test_shuffled_sessions_with_lines_lost_can_be_mended(order: list[int], name: str, gone: set[int]) -> None:
    rows = {"claude-code": build.claude_code, "codex": build.codex, "pi": build.pi}[name]()
    rows = [rows[0], *(rows[k] for k in order if 0 < k < len(rows) and k not in gone)]
    conv = load(build.jsonl(rows), name)
    new, _ = repair(conv, check(conv))
    assert {v.code for v in check(load(dump(new), name))} <= LEFT
