"""The neutral view: what is read is written back as it was, and every change touches only what it names."""

from __future__ import annotations

import json

import pytest

from monitor.conversation import (
    ConversationError,
    Image,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    dump,
    from_messages,
    load,
)
from tests.conversation import build


@pytest.mark.parametrize("name", sorted(build.FILES))
def test_an_unchanged_file_is_written_back_byte_by_byte(name: str) -> None:
    conv = load(build.FILES[name])
    assert conv.format == name
    assert dump(conv) == build.FILES[name]


def test_the_parsed_view_of_a_chat_message() -> None:
    conv = load(build.doc(build.chat()))
    assert [m.role for m in conv.messages] == [
        "system", "user", "assistant", "tool", "tool", "assistant", "tool", "assistant", "user", "assistant",
    ]  # fmt: skip
    assert [(c.id, c.name, c.arguments) for c in conv.messages[2].calls] == [("c1", "ls", {}), ("c2", "pytest", {})]
    assert conv.messages[3].results[0].text == "1 failed"
    assert conv.messages[3].where == "messages[3]"
    assert conv.user_texts() == [(1, "Run the tests."), (2, "Now the docs.")]
    assert conv.last_user() is conv.messages[8]


def test_system_prompts_inside_and_outside_the_messages() -> None:
    assert [m.text for m in load(build.doc(build.chat())).system_messages()] == [build.SYSTEM]
    for body in (build.anthropic(), build.responses(), build.gemini()):
        conv = load(build.doc(body))
        assert [m.text for m in conv.system] == [build.SYSTEM]
        assert all(m.role != "system" for m in conv.messages)


def test_header_holds_the_request_without_its_messages() -> None:
    conv = load(build.doc(build.anthropic()))
    assert "messages" not in conv.header
    assert conv.header["max_tokens"] == 1000
    assert conv.tools == build.anthropic()["tools"]
    assert conv.model == "claude-opus-4-7"
    assert load(build.doc(build.chat())).header == {}


def test_editing_one_part_leaves_the_others_alone() -> None:
    conv = load(build.doc(build.anthropic()))
    old = conv.messages[2]
    new = conv.edit(old, {1: ToolResult("t2", "cut")})
    assert new.raw["content"] == [build.result("t1", "src"), build.result("t2", "cut")]
    assert new.raw["content"][0] is old.raw["content"][0]
    assert old.raw["content"][1] == build.result("t2", "1 failed")
    written = json.loads(dump(conv.with_messages([new if m is old else m for m in conv.messages])))
    expected = build.anthropic()
    expected["messages"][2]["content"][1]["content"] = "cut"
    assert written == expected


def test_removing_parts_shifts_the_paths_of_the_rest() -> None:
    conv = load(build.doc(build.anthropic()))
    once = conv.edit(conv.messages[1], {0: None, 1: None})
    assert [p.path for p in once.parts] == [("content", 0)]
    twice = conv.edit(once, {0: ToolCall("t2", "run", {"cmd": "x"})})
    assert twice.raw["content"] == [{"type": "tool_use", "id": "t2", "name": "run", "input": {"cmd": "x"}}]


def test_editing_in_every_format_shape() -> None:
    chat = load(build.doc(build.chat()))
    edited = chat.edit(chat.messages[2], {0: ToolCall("c1", "ls", '{"a": 1}')})
    assert edited.raw["tool_calls"][0]["function"] == {"name": "ls", "arguments": '{"a": 1}'}
    assert chat.edit(chat.messages[3], {0: ToolResult("c2", "cut", kind="tool")}).raw["content"] == "cut"
    items = load(build.doc(build.responses()))
    assert items.edit(items.messages[4], {0: ToolResult("c1", "cut")}).raw["output"] == "cut"
    turns = load(build.doc(build.gemini()))
    new = turns.edit(turns.messages[2], {0: ToolResult("", "cut", name="run")})
    assert new.raw["parts"][0] == {"functionResponse": {"name": "run", "response": {"output": "cut"}}}
    pi = load(build.jsonl(build.pi()))
    assert pi.edit(pi.messages[2], {0: ToolResult("t1", "cut", kind="toolResult")}).raw["message"]["content"] == [
        {"type": "text", "text": "cut"}
    ]
    code = load(build.jsonl(build.claude_code()))
    assert code.edit(code.messages[4], {0: ToolResult("t1", "cut")}).raw["message"]["content"][0]["content"] == "cut"


def test_an_image_becomes_a_placeholder() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}}
    conv = from_messages([{"role": "user", "content": [{"type": "text", "text": "Look."}, image]}])
    part = conv.messages[0].parts[1]
    assert part == Image("image/png", 4, ("content", 1))
    new = conv.edit(conv.messages[0], {1: Text("[image: image/png]")})
    assert new.raw["content"][1] == {"type": "text", "text": "[image: image/png]"}


def test_an_index_without_a_part_is_refused() -> None:
    conv = load(build.doc(build.chat()))
    with pytest.raises(KeyError):
        conv.edit(conv.messages[1], {3: None})


def test_body_keys_can_be_changed_and_removed() -> None:
    conv = load(build.doc(build.anthropic())).with_body({"system": "New.", "thinking": None})
    written = json.loads(dump(conv))
    assert written["system"] == "New."
    assert "thinking" not in written
    assert [m.text for m in conv.system] == ["New."]
    assert written["messages"] == build.anthropic()["messages"]


def test_thinking_shapes() -> None:
    conv = load(build.doc(build.anthropic()))
    assert conv.messages[1].parts[0] == Thinking("Both.", True, False, ("content", 0))
    sealed = load(build.doc(build.responses())).messages[1].parts[0]
    assert isinstance(sealed, Thinking)
    assert (sealed.opaque, sealed.signed) == (True, True)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is empty"),
        (b"  \n", "is empty"),
        (b"no json at all", "neither JSON nor JSON lines, line 1"),
        (b'{"a": 1}', "no conversation of a known format"),
        (b"SQLite format 3\x00rest", "is a database; export"),
        (b"\x1f\x8bbroken", "compressed and broken"),
    ],
)
def test_what_cannot_be_read_gives_one_sentence_with_the_file(data: bytes, words: str) -> None:
    with pytest.raises(ConversationError) as caught:
        load(data, path="x.json")
    assert str(caught.value).startswith("x.json")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_and_an_unknown_format() -> None:
    with pytest.raises(ConversationError, match=r"no-such-file\.json: cannot be read"):
        load("no-such-file.json")
    with pytest.raises(ConversationError, match="format 'word' is not known"):
        load(b"[]", "word")


def test_compressed_logs_are_read() -> None:
    import gzip

    import zstandard

    data = build.jsonl(build.codex())
    assert load(gzip.compress(data)).format == "codex"
    assert len(load(zstandard.ZstdCompressor().compress(data)).messages) == 8
