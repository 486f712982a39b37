"""Repair of roles, ids and links that a broken export lost: everything that was said is still there afterwards."""

from __future__ import annotations

import json
from typing import Any

import pytest

from monitor.conversation import dump, from_messages, load
from monitor.conversation.repair import LOST_CALL, OPENING, UNKNOWN_ROLE, repair
from monitor.conversation.rules import check

USER = {"role": "user", "content": "List the files."}
CALL = {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
ASKED = {"role": "assistant", "content": None, "tool_calls": [CALL]}
DONE = {"role": "assistant", "content": "There are two."}


def mended(body: Any, form: str) -> Any:
    conv = from_messages(body, form)
    new, _ = repair(conv, check(conv))
    assert check(load(dump(new), form)) == []
    return json.loads(dump(new))


@pytest.mark.parametrize("role", [None, "critic", 7, ["user"]])
def test_what_a_message_of_an_unknown_role_says_is_kept_as_a_note(role: Any) -> None:
    said = {"role": role, "content": "Only touch the parser."}
    assert mended([USER, said, DONE], "openai-chat")[1] == {
        "role": "user",
        "content": f"{UNKNOWN_ROLE}\nOnly touch the parser.",
    }
    items = [USER, {"role": role, "content": [{"type": "text", "text": "Only touch the parser."}]}, DONE]
    anthropic = mended({"system": "Careful.", "messages": items}, "anthropic")["messages"][1]
    assert [b["text"] for b in anthropic["content"]] == [UNKNOWN_ROLE, "Only touch the parser."]
    turns = [
        {"role": "user", "parts": [{"text": "List."}]},
        {"role": role, "parts": [{"text": "Only touch the parser."}]},
    ]
    gemini = mended({"contents": turns}, "gemini")["contents"][1]
    assert gemini == {"role": "user", "parts": [{"text": UNKNOWN_ROLE}, {"text": "Only touch the parser."}]}


def test_the_note_is_no_word_of_the_user() -> None:
    conv = from_messages([USER, {"content": "Only touch the parser."}, DONE], "openai-chat")
    new, _ = repair(conv, check(conv))
    assert [m.synthetic for m in new.messages] == [False, True, False]


def test_what_a_message_holds_tells_its_role() -> None:
    lost = [USER, {**ASKED, "role": None}, {"tool_call_id": "c1", "content": "a b"}, DONE]
    assert [m["role"] for m in mended(lost, "openai-chat")] == ["user", "assistant", "tool", "assistant"]
    use = {"type": "tool_use", "id": "t1", "name": "ls", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "a b"}
    body = {"system": "Careful.", "messages": [USER, {"role": "x", "content": [use]}, {"content": [result]}]}
    assert [m["role"] for m in mended(body, "anthropic")["messages"]] == ["user", "assistant", "user"]
    body = {"input": [{"type": "message", "role": "?", "content": [{"type": "input_text", "text": "List."}]}, DONE]}
    assert mended(body, "responses")["input"][0]["role"] == "user"


def test_results_under_the_system_role_are_results() -> None:
    use = {"type": "tool_use", "id": "t1", "name": "ls", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "a b"}
    messages = [USER, {"role": "assistant", "content": [use]}, {"role": "system", "content": [result]}]
    assert mended({"system": "Careful.", "messages": messages}, "anthropic")["messages"][2] == {
        "role": "user",
        "content": [result],
    }


def test_an_item_without_its_type_is_told_by_its_keys() -> None:
    items = [USER, {"call_id": "c1", "name": "ls", "arguments": "{}"}, {"type": 4, "call_id": "c1", "output": "a b"}]
    found = mended({"input": items}, "responses")["input"]
    assert [i.get("type") for i in found] == [None, "function_call", "function_call_output"]
    assert found[2]["output"] == "a b"


@pytest.mark.parametrize("lost", [None, 7, ""])
def test_a_result_without_an_id_answers_the_call_that_waits(lost: Any) -> None:
    found = mended([USER, ASKED, {"role": "tool", "tool_call_id": lost, "content": "a b"}, DONE], "openai-chat")
    assert found[2] == {"role": "tool", "tool_call_id": "c1", "content": "a b"}
    found = mended([USER, {**ASKED, "tool_calls": [{**CALL, "id": lost}]}, {**DONE, "role": "tool",
                    "tool_call_id": "c1"}, DONE], "openai-chat")  # fmt: skip
    assert found[1]["tool_calls"][0]["id"] == found[2]["tool_call_id"]
    assert found[2]["content"] == "There are two."
    result = {"type": "tool_result", "tool_use_id": lost, "content": "a b"}
    use = {"type": "tool_use", "id": "t1", "name": "ls", "input": {}}
    body = [USER, {"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    assert mended({"system": "Careful.", "messages": body}, "anthropic")["messages"][2]["content"] == [
        {**result, "tool_use_id": "t1"}
    ]


def test_a_result_without_an_id_that_no_call_waits_for_is_a_note() -> None:
    found = mended([USER, {"role": "tool", "content": "a b"}, DONE], "openai-chat")
    assert found[1] == {"role": "user", "content": f"{LOST_CALL}\na b"}


def test_a_function_message_without_its_call_is_a_note() -> None:
    for name in ({"name": "ls"}, {}):
        found = mended([USER, {"role": "function", "content": "a b", **name}, DONE], "openai-chat")
        assert found[1] == {"role": "user", "content": f"{LOST_CALL}\na b"}


@pytest.mark.parametrize("calls", [7, "ls", {}, []])
def test_tool_calls_that_are_no_list_go(calls: Any) -> None:
    assert mended([USER, {**DONE, "tool_calls": calls}], "openai-chat") == [USER, DONE]


@pytest.mark.parametrize("call", [{}, {"args": {}}, {"name": None, "args": {}}])
def test_a_gemini_call_without_a_name_gets_that_of_its_response(call: Any) -> None:
    turns = [
        {"role": "user", "parts": [{"text": "List."}]},
        {"role": "model", "parts": [{"functionCall": call}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "ls", "response": {"output": "a b"}}}]},
        {"role": "model", "parts": [{"text": "Two."}]},
    ]
    found = mended({"contents": turns}, "gemini")["contents"]
    assert found[1]["parts"][0]["functionCall"]["name"] == "ls"
    assert found[2] == turns[2]


def test_tools_that_are_no_list_are_no_reason_to_fail() -> None:
    assert check(from_messages({"system": "Careful.", "messages": [USER, DONE], "tools": 7}, "anthropic")) == []


def line(uuid: str, parent: str | None, kind: str | None, content: Any, **more: Any) -> dict[str, Any]:
    role = kind or more.pop("role", "user")
    record = {"parentUuid": parent, "sessionId": "s", "uuid": uuid, "timestamp": "2026-03-03T09:00:00.000Z"}
    return {**record, "type": kind, "message": {"role": role, "content": content}, **more}


def session(*records: dict[str, Any]) -> tuple[list[Any], list[str]]:
    data = "".join(json.dumps(r) + "\n" for r in records).encode()
    conv = load(data, "claude-code")
    new, done = repair(conv, check(conv))
    assert check(load(dump(new), "claude-code")) == []
    return [json.loads(x) for x in dump(new).splitlines()], done


def test_a_session_line_that_lost_its_type_has_that_of_its_message() -> None:
    text = [{"type": "text", "text": "There are two."}]
    found, _ = session(line("u1", None, None, "List the files."), line("u2", "u1", "assistant", text))
    assert [x["type"] for x in found] == ["user", "assistant"]
    assert found[0]["message"]["content"] == "List the files."


def test_an_opening_stands_once_between_the_first_answer_and_what_it_hung_on() -> None:
    odd = {**line("u1", None, "attachment", ""), "attachment": {"type": "note"}}
    text = [{"type": "text", "text": "There are two."}]
    found, done = session(odd, line("u2", "u1", "assistant", text), line("u3", "u2", "user", "Thanks."))
    assert [x["type"] for x in found] == ["attachment", "user", "assistant", "user"]
    assert found[1]["message"]["content"] == OPENING
    assert (found[1]["parentUuid"], found[2]["parentUuid"], found[3]["parentUuid"]) == ("u1", found[1]["uuid"], "u2")
    assert len(done) == 1


def test_a_block_that_is_no_object_goes_from_a_session_line() -> None:
    content = [{"type": "text", "text": "List the files."}, None, "and hidden ones"]
    found, _ = session(line("u1", None, "user", content))
    assert [b["text"] for b in found[0]["message"]["content"]] == ["List the files.", "and hidden ones"]


def test_a_pi_message_of_an_unknown_role_is_kept() -> None:
    head = {"type": "session", "id": "s", "timestamp": "2026-01-10T08:00:00.000Z", "cwd": "/x", "version": 3}
    first = {"type": "message", "id": "a", "parentId": None, "timestamp": "2026-01-10T08:00:01.000Z",
             "message": {"role": "user", "content": [{"type": "text", "text": "List."}]}}  # fmt: skip
    lost = {**first, "id": "b", "parentId": "a", "message": {"content": [{"type": "text", "text": "Docs too."}]}}
    data = "".join(json.dumps(r) + "\n" for r in (head, first, lost)).encode()
    conv = load(data, "pi")
    new, _ = repair(conv, check(conv))
    assert check(load(dump(new), "pi")) == []
    last = json.loads(dump(new).splitlines()[-1])["message"]
    assert last["role"] == "user"
    assert [b["text"] for b in last["content"]] == [UNKNOWN_ROLE, "Docs too."]


def test_a_late_system_message_is_no_turn_between_two_of_one_role() -> None:
    messages = [USER, {"role": "system", "content": "Be short."}, {"role": "user", "content": "Now."}, DONE]
    conv = from_messages(messages, "openai-chat")
    new, _ = repair(conv, check(conv, strict_roles=True), strict_roles=True)
    assert check(load(dump(new), "openai-chat"), strict_roles=True) == []
    assert json.loads(dump(new)) == [messages[1], {"role": "user", "content": "List the files.\n\nNow."}, DONE]


def test_two_session_lines_of_one_uuid_that_say_different_things_both_stay() -> None:
    text = [{"type": "text", "text": "There are two."}]
    first, answer = line("u1", None, "user", "List the files."), line("u2", "u1", "assistant", text)
    other, last = line("u1", "u2", "user", "And hidden ones?"), line("u3", "u1", "assistant", text)
    found, _ = session(first, answer, other, last, {**first, "timestamp": "2026-03-03T10:00:00.000Z"})
    assert [x["message"]["content"] for x in found] == ["List the files.", text, "And hidden ones?", text]
    new = found[2]["uuid"]
    assert new not in ("u1", "u2", "u3")
    assert [x["parentUuid"] for x in found] == [None, "u1", "u2", new]


def test_a_summary_that_lost_its_mark_is_marked_again() -> None:
    text = [{"type": "text", "text": "There are two."}]
    summary = "This session is being continued from a previous conversation that ran out of context."
    boundary = {**line("b", None, "system", ""), "subtype": "compact_boundary", "compactMetadata": {"trigger": "auto"}}
    del boundary["message"]
    old, told = line("u1", None, "user", "List the files."), line("u2", "b", "user", summary)
    found, done = session(old, boundary, told, line("u3", "u2", "assistant", text))
    assert [x["type"] for x in found] == ["user", "system", "user", "assistant"]
    assert found[2]["isCompactSummary"] is True and len(done) == 1
    plain = line("u2", "b", "user", "And hidden ones?")
    found, _ = session(old, boundary, plain, line("u3", "u2", "assistant", text))
    assert [x["type"] for x in found] == ["user", "user", "assistant"]  # no summary, so nothing was compacted
