"""Every rule: a small break of a valid conversation gives exactly the code that names it, at the right place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from monitor.conversation import ConversationError, from_messages, load
from monitor.conversation.rules import Violation, check
from tests.conversation import build

Messages = list[dict[str, Any]]


def codes(found: list[Violation]) -> list[str]:
    return sorted(v.code for v in found)


def chat(change: Callable[[Messages], Any]) -> list[Violation]:
    messages = build.chat()
    change(messages)
    return check(from_messages(messages, "openai-chat"))


CHAT: list[tuple[str, Callable[[Messages], Any], list[str]]] = [
    ("a cut by position", lambda m: m.__delitem__(slice(1, 4)), ["C1-orphan-result"]),
    ("a result lost", lambda m: m.pop(3), ["C2-unanswered-call"]),
    ("a result twice", lambda m: m.insert(4, dict(m[3])), ["C2-double-answer"]),
    ("the end cut off", lambda m: m.__delitem__(slice(4, None)), ["C2-open-call"]),
    (
        "a user message between call and result",
        lambda m: m.insert(3, {"role": "user", "content": "wait"}),
        ["C1-result-displaced", "C1-result-displaced", "C2-unanswered-call", "C2-unanswered-call"],
    ),
    ("a result without id", lambda m: m[3].pop("tool_call_id"), ["C2-unanswered-call", "C3-bad-id"]),
    ("a call without id", lambda m: m[5]["tool_calls"][0].pop("id"), ["C1-orphan-result", "C3-bad-id"]),
    ("one id for two calls", lambda m: m[2]["tool_calls"][1].update(id="c1"), ["C1-orphan-result", "C3-duplicate-id"]),
    ("an answer of nothing", lambda m: m[7].update(content=None), ["C4-null-content"]),
    ("an empty user message", lambda m: m[8].update(content=" "), ["C4-empty-content"]),
    ("an empty system prompt", lambda m: m[0].update(content=""), ["C4-empty-content"]),
    ("a null result", lambda m: m[3].update(content=None), ["C4-empty-content"]),
    ("an empty list of calls", lambda m: m[7].update(tool_calls=[]), ["C5-empty-tool-calls"]),
    (
        "arguments as object",
        lambda m: m[5]["tool_calls"][0]["function"].update(arguments={}),
        ["C9-arguments-not-string"],
    ),
    ("a call without name", lambda m: m[5]["tool_calls"][0]["function"].update(name=""), ["C9-no-name"]),
    (
        "a function message alone",
        lambda m: m.append({"role": "function", "name": "f", "content": "x"}),
        ["C8-orphan-function"],
    ),
    ("an unknown role", lambda m: m.append({"role": "narrator", "content": "x"}), ["role-unknown"]),
    ("half a character", lambda m: m[7].update(content="Fixed \ud83d"), ["U-lone-surrogate"]),
    ("no user", lambda m: m.__delitem__(slice(1, None)), ["no-user-message"]),
    ("nothing at all", lambda m: m.clear(), ["empty-conversation"]),
    (
        "an image of the assistant",
        lambda m: m[7].update(content=[{"type": "image_url", "image_url": {"url": "https://h/i.png"}}]),
        ["C-image-role", "C4-null-content"],
    ),
    (
        "a broken image",
        lambda m: m[8].update(content=[{"type": "image_url", "image_url": {"url": "data:image/png;base64,%%"}}]),
        ["image-broken"],
    ),
]


@pytest.mark.parametrize(("change", "expected"), [c[1:] for c in CHAT], ids=[c[0] for c in CHAT])
def test_chat(change: Callable[[Messages], Any], expected: list[str]) -> None:
    assert codes(chat(change)) == expected


def test_chat_conventions_are_warnings_only() -> None:
    messages = build.chat()
    messages[5]["tool_calls"][0]["id"] = messages[6]["tool_call_id"] = "c1"
    messages[5]["tool_calls"][0]["function"]["arguments"] = '{"cut": '
    messages[2]["reasoning_content"] = "Both."
    messages.insert(8, {"role": "system", "content": "late"})
    conv = from_messages(messages)
    assert check(conv) == []
    assert codes(check(conv, warnings=True)) == [
        "C10-reasoning-content", "C3-id-reused", "C6-system-late", "C9-arguments-not-json",
    ]  # fmt: skip


def test_strict_roles() -> None:
    two = [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}, {"role": "assistant", "content": "c"}]
    assert check(from_messages(two)) == []
    found = check(from_messages(two), strict_roles=True)
    assert [(v.code, v.where) for v in found] == [("C7-alternation", "messages[1]")]
    opens = check(from_messages(two[::-1]), strict_roles=True)
    assert [(v.code, v.where) for v in opens] == [("C7-alternation", "messages[0]"), ("C7-alternation", "messages[2]")]
    assert check(load(build.doc(build.chat())), strict_roles=True) == []


def test_the_old_function_calls_are_valid() -> None:
    messages = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "x"},
    ]
    assert check(from_messages(messages)) == []


def anthropic(change: Callable[[dict[str, Any]], Any], **options: Any) -> list[Violation]:
    body = build.anthropic()
    change(body)
    return check(from_messages(body, "anthropic"), **options)


def block(body: dict[str, Any], i: int, k: int) -> dict[str, Any]:
    found: dict[str, Any] = body["messages"][i]["content"][k]
    return found


ANTHROPIC: list[tuple[str, Callable[[dict[str, Any]], Any], list[str]]] = [
    ("begins with an answer", lambda b: b["messages"].__delitem__(slice(0, 1)), ["A1-first-not-user"]),
    ("a system role", lambda b: b["messages"].append({"role": "system", "content": "x"}), ["A1-system-in-messages"]),
    ("an empty message", lambda b: b["messages"][4].update(content=""), ["A2-empty-content"]),
    ("an empty block", lambda b: block(b, 3, 0).update(text=""), ["A2-empty-text-block"]),
    ("a blank block", lambda b: block(b, 3, 0).update(text=" \n"), ["A2-empty-text-block"]),
    ("an empty system block", lambda b: b.update(system=[{"type": "text", "text": ""}]), ["A2-empty-text-block"]),
    ("a block that is none", lambda b: b["messages"][3]["content"].append(5), ["A2-bad-block"]),
    ("a result lost", lambda b: b["messages"][2]["content"].pop(), ["A3-unanswered-call"]),
    ("results lost, message and all", lambda b: b["messages"].pop(2), ["A3-unanswered-call"] * 2),
    ("the end cut off", lambda b: b["messages"].__delitem__(slice(2, None)), ["A3-open-call"] * 2),
    ("a second result", lambda b: b["messages"][2]["content"].append(build.result("t1", "x")), ["A3-double-answer"]),
    (
        "a result of nothing",
        lambda b: b["messages"][4].update(content=[build.result("t9", "x")]),
        ["A3-orphan-result", "A5-thinking-missing"],
    ),
    (
        "a late result",
        lambda b: b["messages"][4].update(content=[build.result("t1", "x")]),
        ["A3-result-displaced", "A5-thinking-missing"],
    ),
    (
        "text before the results",
        lambda b: b["messages"][2]["content"].insert(0, {"type": "text", "text": "x"}),
        ["A3-result-after-text"] * 2,
    ),
    (
        "an illegal id",
        lambda b: [block(b, 1, 1).update(id="t.1"), block(b, 2, 0).update(tool_use_id="t.1")],
        ["A4-bad-id"],
    ),
    ("input as text", lambda b: block(b, 1, 1).update(input="{}"), ["A4-input-not-object"]),
    ("thinking without signature", lambda b: block(b, 1, 0).pop("signature"), ["A5-thinking-unsigned"]),
    ("thinking behind the calls", lambda b: b["messages"][1]["content"].reverse(), ["A5-thinking-not-first"]),
    ("thinking of the user", lambda b: b["messages"][4].update(content=[block(b, 1, 0)]), ["A5-thinking-role"]),
    (
        "an open tool turn without thinking",
        lambda b: [b["messages"].__delitem__(slice(3, None)), b["messages"][1]["content"].pop(0)],
        ["A5-thinking-missing"],
    ),
    (
        "an empty compaction block",
        lambda b: b["messages"][3]["content"].insert(0, {"type": "compaction", "content": ""}),
        ["A6-compaction-empty"],
    ),
    (
        "a signed compaction block in the middle",
        lambda b: b["messages"][3]["content"].insert(0, {"type": "compaction", "content": "s", "signature": "x"}),
        ["A6-compaction-misplaced"],
    ),
    ("a compaction block in system", lambda b: b.update(system=[{"type": "compaction"}]), ["A6-compaction-in-system"]),
    ("an image of the assistant", lambda b: block(b, 3, 0).update(type="image"), ["A-image-role"]),
    ("no tools declared", lambda b: b.pop("tools"), []),
]


@pytest.mark.parametrize(("change", "expected"), [c[1:] for c in ANTHROPIC], ids=[c[0] for c in ANTHROPIC])
def test_anthropic(change: Callable[[dict[str, Any]], Any], expected: list[str]) -> None:
    assert codes(anthropic(change)) == expected


def test_anthropic_ids_are_used_once() -> None:
    body = build.anthropic()
    body["messages"] += [body["messages"][1], body["messages"][2]]
    found = check(from_messages(body))
    assert [(v.code, v.where) for v in found] == [
        ("A4-duplicate-id", "messages[5].content[1]"),
        ("A4-duplicate-id", "messages[5].content[2]"),
    ]


def test_bedrock_wants_tool_definitions() -> None:
    assert codes(anthropic(lambda b: b.pop("tools"), bedrock=True)) == ["A9-no-tools"]


def test_a_prefill_must_not_end_in_white_space() -> None:
    found = anthropic(lambda b: b["messages"].append({"role": "assistant", "content": "The answer is "}))
    assert [(v.code, v.where) for v in found] == [("A2-trailing-whitespace", "messages[5]")]


def test_four_cache_marks_over_tools_system_and_messages() -> None:
    mark = {"cache_control": {"type": "ephemeral"}}

    def marked(n: int) -> list[Violation]:
        body = build.anthropic()
        body["tools"][0] |= mark
        body["system"] = [{"type": "text", "text": "x", **mark}]
        for k in range(n):
            body["messages"].append({"role": "user", "content": [{"type": "text", "text": str(k), **mark}]})
        return check(from_messages(body))

    assert marked(2) == []
    assert codes(marked(3)) == ["A7-cache-control"]


def test_a_compaction_block_may_come_first() -> None:
    body = build.anthropic()
    first = {"role": "assistant", "content": [{"type": "compaction", "content": "s", "signature": "x"}]}
    body["messages"].insert(0, first)
    assert check(from_messages(body)) == []
    body["messages"].insert(1, dict(first))
    assert codes(check(from_messages(body))) == ["A6-compaction-many", "A6-compaction-misplaced"]


def responses(change: Callable[[dict[str, Any]], Any]) -> list[Violation]:
    body = build.responses()
    change(body)
    return check(from_messages(body, "responses"))


ITEMS: list[tuple[str, Callable[[dict[str, Any]], Any], list[str]]] = [
    ("an output lost", lambda b: b["input"].pop(4), ["R2-unanswered-call"]),
    ("a call lost", lambda b: b["input"].pop(2), ["R1-orphan-output"]),
    ("the end cut off", lambda b: b["input"].__delitem__(slice(4, None)), ["R2-open-call", "R2-open-call"]),
    ("an output twice", lambda b: b["input"].insert(5, b["input"][4]), ["R2-double-output"]),
    (
        "an output before its call",
        lambda b: b["input"].insert(1, b["input"].pop(4)),
        ["R1-output-before-call", "R2-unanswered-call"],
    ),
    ("a late output", lambda b: b["input"].append(b["input"].pop(4)), ["R1-output-displaced", "R2-unanswered-call"]),
    ("the wrong output type", lambda b: b["input"][5].update(type="function_call_output"), ["R1-wrong-kind"]),
    ("arguments as object", lambda b: b["input"][2].update(arguments={}), ["R-arguments-not-string"]),
    ("no call_id", lambda b: b["input"][2].pop("call_id"), ["R-bad-call-id", "R1-orphan-output"]),
    ("no name", lambda b: b["input"][2].pop("name"), ["R-no-name"]),
    ("an item id twice", lambda b: b["input"][2].update(id="rs_1"), ["R-duplicate-item-id"]),
    ("reasoning alone", lambda b: b["input"].__delitem__(slice(2, 7)), ["R3-reasoning-dangling"]),
    (
        "reasoning in the clear with store off",
        lambda b: b["input"][1].pop("encrypted_content"),
        ["R4-reasoning-not-encrypted"],
    ),
    ("an empty compaction item", lambda b: b["input"][7].update(encrypted_content=""), ["R6-compaction-empty"]),
    (
        "a compaction item and a previous response",
        lambda b: b.update(previous_response_id="r"),
        ["R5-compaction-previous-id"],
    ),
    (
        "input_text of the assistant",
        lambda b: b["input"][6]["content"][0].update(type="input_text"),
        ["R5-input-text-in-output"],
    ),
    ("output_text of the user", lambda b: b["input"][0]["content"][0].update(type="output_text"), ["R-content-type"]),
    ("an empty message", lambda b: b["input"][6].update(content=[]), ["R-empty-content"]),
    (
        "a control item in the middle",
        lambda b: b["input"].insert(0, {"type": "compaction_trigger"}),
        ["R-trigger-misplaced"],
    ),
    (
        "an image without a source",
        lambda b: b["input"][0]["content"].append({"type": "input_image"}),
        ["R8-image-empty"],
    ),
    (
        "an image of the assistant",
        lambda b: b["input"][6]["content"].append({"type": "input_image", "file_id": "f"}),
        ["R8-image-role"],
    ),
    ("an item of nothing", lambda b: b["input"].append({"id": "x"}), ["role-unknown"]),
]


@pytest.mark.parametrize(("change", "expected"), [c[1:] for c in ITEMS], ids=[c[0] for c in ITEMS])
def test_responses(change: Callable[[dict[str, Any]], Any], expected: list[str]) -> None:
    assert codes(responses(change)) == expected


def test_size_limits() -> None:
    data = build.doc(build.chat())
    assert codes(check(load(data), max_bytes=len(data) - 1)) == ["too-large"]
    assert check(load(data), max_bytes=len(data)) == []
    assert codes(check(load(build.jsonl(build.pi())), max_bytes=50)) == ["too-large"]


def test_another_provider_and_what_it_cannot_judge() -> None:
    conv = from_messages([{"role": "system", "content": "x"}, {"role": "user", "content": "y"}])
    assert check(conv) == []
    assert codes(check(conv, "anthropic")) == ["A1-system-in-messages"]
    with pytest.raises(ConversationError, match="a pi session cannot be judged by anthropic rules"):
        check(load(build.jsonl(build.pi())), "anthropic")
    with pytest.raises(ConversationError, match="known are openai-chat"):
        check(conv, "nobody")


def test_results_of_calls_that_the_service_keeps_are_no_orphans() -> None:
    output = {"type": "function_call_output", "call_id": "c1", "output": "ok"}
    kept = {"model": "gpt-5.4", "previous_response_id": "resp_1", "input": [output]}
    assert codes(check(from_messages(kept, "responses"))) == []
    assert codes(check(from_messages({**kept, "previous_response_id": None}, "responses"))) == [
        "R1-orphan-output",
        "no-user-message",
    ]


def test_the_output_of_a_local_shell_call_has_its_id() -> None:
    call = {"type": "local_shell_call", "id": "l1", "call_id": "c1", "action": {"type": "exec", "command": ["ls"]}}
    user = {"role": "user", "content": "list"}
    for output in ({"id": "l1", "call_id": "c1"}, {"call_id": "c1"}):
        items = [user, call, {"type": "local_shell_call_output", "output": "a", **output}]
        assert codes(check(from_messages(items, "responses"))) == []
    bare = {"type": "local_shell_call", "id": "l1", "action": {"type": "exec", "command": ["ls"]}}
    items = [user, bare, {"type": "local_shell_call_output", "id": "l1", "output": "a"}]
    assert codes(check(from_messages(items, "responses"))) == []
