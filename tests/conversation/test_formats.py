"""The formats beside sessions: data exports, databases' rows, editors' histories, captured requests."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from monitor.conversation import ConversationError, ToolResult, dump, from_messages, load
from monitor.conversation.rules import check, errors
from tests.conversation import build

SUMMARY = "<context-summary>\n## Goal\nTests.\n</context-summary>"


@pytest.mark.parametrize("name", sorted(build.FILES))
def test_a_valid_file_of_each_format_has_no_violation(name: str) -> None:
    assert check(load(build.FILES[name])) == []


@pytest.mark.parametrize("name", sorted(build.FILES))
def test_every_format_compacts_into_a_valid_file_of_its_own(name: str) -> None:
    conv = load(build.FILES[name])
    kept = conv.exchanges()[-1].messages
    new = conv.compacted(SUMMARY, kept)
    again = load(dump(new))
    assert again.format == name
    assert check(again) == []
    assert [m.text for m in again.messages if m.is_summary] == [SUMMARY]
    assert [m.text for m in again.messages if m.typed][-1:] == [m.text for m in kept if m.typed][-1:]
    system = [m.text for m in conv.system_messages()]
    assert [m.text for m in again.system_messages()] == system


def test_opencode_parts() -> None:
    conv = load(build.doc(build.opencode()))
    assert [m.role for m in conv.messages] == ["user", "assistant", "assistant", "user"]
    assert conv.messages[1].calls[0].arguments == {"command": "pytest"}
    assert conv.messages[1].results[0].text == "1 failed"
    assert (conv.session, conv.model) == ("ses_1", "loop-1")
    edited = conv.edit(conv.messages[1], {1: ToolResult("c1", "cut")})
    assert edited.raw["parts"][1]["state"] == build.state("completed", output="cut")


def test_opencode_after_a_compaction() -> None:
    body = build.opencode()
    body["messages"] += [
        build.oc("msg_5", "user", [{"type": "compaction", "auto": True, "tail_start_id": "msg_4"}]),
        build.oc("msg_6", "assistant", [{"type": "text", "text": "done so far"}], summary=True),
        build.oc("msg_7", "user", [{"type": "text", "text": "Continue", "synthetic": True}]),
        build.oc("msg_8", "assistant", [{"type": "text", "text": "ok"}]),
    ]
    conv = load(build.doc(body))
    assert [m.raw["info"]["id"] for m in conv.messages] == ["msg_5", "msg_6", "msg_4", "msg_7", "msg_8"]
    assert conv.user_texts() == [(2, "Fix it.")]
    assert len(conv.history()) == 8


def test_opencode_compaction_sorts_before_what_is_kept() -> None:
    conv = load(build.doc(build.opencode()))
    new = conv.compacted(SUMMARY, conv.messages[3:])
    ids = [m["info"]["id"] for m in json.loads(dump(new))["messages"]]
    assert ids == sorted(ids) == ["msg_1", "msg_3", "msg_4"]
    told = json.loads(dump(new))["messages"][1]
    assert told["info"]["summary"] is True
    assert told["info"]["tokens"]["input"] == 0


def test_an_unfinished_call_in_opencode_is_open() -> None:
    body = build.opencode()
    body["messages"][1]["parts"][1]["state"] = build.state("running")
    assert [v.code for v in check(load(build.doc(body)))] == ["C2-unanswered-call"]


def test_chatgpt_takes_the_path_of_the_current_node() -> None:
    conv = load(build.doc(build.chatgpt()))
    assert [m.where for m in conv.messages] == ["node n1", "node n3", "node n4", "node n5"]
    assert conv.messages[1].calls[0].name == "python"
    assert conv.messages[2].results[0].call_id == conv.messages[1].calls[0].id
    assert [u.kind for u in conv.units()] == ["user", "tools", "assistant"]


def test_chatgpt_writes_one_path() -> None:
    conv = load(build.doc(build.chatgpt()))
    tree = json.loads(dump(conv.with_messages(conv.messages[3:])))[0]
    assert tree["current_node"] == "n5"
    assert set(tree["mapping"]) == {"root", "n5"}
    assert tree["mapping"]["n5"]["parent"] == "root"
    assert tree["mapping"]["n5"]["message"] == build.chatgpt()[0]["mapping"]["n5"]["message"]


def test_one_of_several_conversations() -> None:
    first = build.chatgpt()[0]
    older = {**first, "conversation_id": "conv0", "update_time": 1.0}
    data = build.doc([first, older])
    assert load(data).session == "conv1"
    assert "of 2" in load(data).notes[0]
    assert load(data, call=1).session == "conv0"
    with pytest.raises(ConversationError, match="holds 2 conversations; there is no number 2"):
        load(data, call=2)


def test_claude_export_pairs_results_with_the_call_before_them() -> None:
    conv = load(build.doc(build.claude_export()))
    call, result = conv.messages[1].calls[0], conv.messages[1].results[0]
    assert call.id == result.call_id
    assert conv.messages[1].text == "Hello"


def test_hermes_rows() -> None:
    conv = load(build.doc(build.hermes()))
    assert conv.user_texts() == [(1, "Run the tests."), (2, "Fix it.")]
    assert conv.messages[1].calls[0].name == "terminal"
    shorter = json.loads(dump(conv.with_messages(conv.messages[:-1])))
    assert shorter == build.hermes()[1:5]
    edited = conv.edit(conv.messages[2], {0: ToolResult("c1", "cut", kind="tool")})
    rows = json.loads(dump(conv.with_messages([conv.messages[0], conv.messages[1], edited])))
    assert rows[2] == {**build.hermes()[3], "content": "cut"}


def test_hermes_rows_one_a_line_and_inside_a_session() -> None:
    lines = build.jsonl(build.hermes())
    conv = load(lines)
    assert (conv.format, len(conv.messages)) == ("hermes", 5)
    assert dump(conv.with_messages(conv.messages[:1])) == build.jsonl([build.hermes()[1]])
    session = {"id": "s1", "source": "cli", "model": "m", "message_count": 6, "messages": build.hermes()}
    conv = load(build.doc(session))
    assert (conv.model, conv.session, len(conv.messages)) == ("m", "s1", 5)
    assert json.loads(dump(conv.with_messages(conv.messages[:1])))["message_count"] == 1


def test_cline_history_and_what_roo_has_condensed() -> None:
    text = {"type": "text", "text": "<task>\nFix it.\n</task>"}
    env = {"type": "text", "text": "<environment_details>\nfiles\n</environment_details>"}
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": [text, env], "ts": 1},
        {"role": "assistant", "content": [{"type": "text", "text": "<read_file>"}], "ts": 2, "condenseParent": "k1"},
        {"role": "user", "content": [{"type": "text", "text": "[read_file for 'a'] Result:\nx"}, env], "ts": 3},
        {
            "role": "user",
            "content": [{"type": "text", "text": "so far"}],
            "ts": 4,
            "isSummary": True,
            "condenseId": "k1",
        },
    ]
    conv = load(build.doc(messages))
    assert (conv.format, conv.provider) == ("cline", "anthropic")
    assert [m.raw["ts"] for m in conv.messages] == [1, 3, 4]
    assert [m.typed for m in conv.messages] == [True, False, False]
    assert conv.messages[2].is_summary
    assert len(conv.history()) == 4
    assert conv.new_message("user", "hi").raw["ts"] == 4


def har(*bodies: tuple[str, Any]) -> bytes:
    entries = [{"request": {"url": url, "postData": {"text": json.dumps(body)}}} for url, body in bodies]
    return build.doc({"log": {"entries": entries}})


def test_har_takes_the_last_request_of_the_main_conversation() -> None:
    body = build.anthropic()
    first = {**body, "messages": body["messages"][:1]}
    side = {"model": "small", "messages": [{"role": "user", "content": "title?"}]}
    data = har(
        ("https://h/v1/messages", first),
        ("https://h/v1/messages", body),
        ("https://h/v1/messages/count_tokens", body),
        ("https://h/v1/messages", side),
    )
    conv = load(data)
    assert (conv.format, conv.container, conv.call_index, conv.calls_in_file) == ("anthropic", "har", 1, 4)
    assert json.loads(dump(conv)) == body
    assert len(load(data, call=0).messages) == 1
    with pytest.raises(ConversationError, match="holds 4 requests; there is no number 9"):
        load(data, call=9)


def test_har_bodies_in_base64_and_har_without_requests() -> None:
    text = base64.b64encode(json.dumps({"messages": build.chat()}).encode()).decode()
    entry = {"request": {"url": "https://h/v1/chat/completions", "postData": {"text": text, "encoding": "base64"}}}
    assert load(build.doc({"log": {"entries": [entry, {"request": {"url": "/"}}]}})).format == "openai-chat"
    with pytest.raises(ConversationError, match="holds no request body with messages"):
        load(build.doc({"log": {"entries": []}}))


def test_litellm_payloads_and_rows() -> None:
    payload = {
        "call_type": "acompletion",
        "litellm_call_id": "x",
        "model": "openai/gpt-5",
        "messages": build.chat(),
        "model_parameters": {"tools": []},
    }
    conv = load(build.jsonl([payload, payload]))
    assert (conv.format, conv.container, conv.model, len(conv.messages)) == ("openai-chat", "litellm", "gpt-5", 10)
    row = {"call_type": "anthropic_messages", "spend": 0.1, "messages": "{}"}
    row["proxy_server_request"] = json.dumps(build.anthropic())
    assert load(build.doc([row])).format == "anthropic"
    lines = b"".join(build.doc([payload]) + b"\n" for _ in range(2))
    assert load(lines).calls_in_file == 2


def test_request_and_response_lines() -> None:
    lines = [
        {"request": {"url": "https://h/v1/messages", "body": build.anthropic()}, "response": {"body": {}}},
        {"request": {"path": "/v1/responses", "body": build.responses()}, "response": {}},
        {"request_body": json.dumps(build.gemini()), "path": "/v1beta/models/g:generateContent", "response_body": "{}"},
    ]
    assert [load(build.jsonl(lines), call=n).format for n in range(3)] == ["anthropic", "responses", "gemini"]


def test_a_response_object_of_the_responses_api() -> None:
    reply = {"id": "resp_1", "object": "response", "output": build.responses()["input"][:2]}
    conv = load(build.doc(reply))
    assert (conv.format, len(conv.messages)) == ("responses", 2)
    assert [v.code for v in errors(check(conv))] == ["R3-reasoning-dangling"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": [{"role": "user", "content": "x"}]}, "anthropic"),
        ([{"role": "user", "content": [{"type": "text", "text": "x", "cache_control": {}}]}], "anthropic"),
        # a gateway that speaks Chat to Claude
        (
            {
                "model": "claude-sonnet-4-5",
                "max_tokens": 9,
                "messages": [{"role": "system", "content": "a"}, {"role": "user", "content": "x"}],
            },
            "openai-chat",
        ),
        ({"model": "gpt-5.4", "max_tokens": 9, "messages": [{"role": "user", "content": "x"}]}, "openai-chat"),
        ([{"role": "user", "content": "x"}], "openai-chat"),
    ],
)
def test_a_request_without_tools_is_known_by_its_model_or_its_cache_marks(body: Any, expected: str) -> None:
    assert from_messages(body).handler.name == expected


@pytest.mark.parametrize("odd", [{"a": 1}, [1], 5, None, True])
def test_a_type_that_is_no_text_is_no_failure(odd: Any) -> None:
    messages = [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y", "type": odd}]
    assert from_messages(messages).handler.name == "openai-chat"
