"""Messages and their parts: what the user typed, what a client made up, and what a call was given."""

from __future__ import annotations

import pytest

from monitor.conversation import ToolCall, from_messages
from tests.conversation import build


def test_cut_arguments_are_text_but_no_object() -> None:
    call = ToolCall("c1", "run", '{"cmd": "ls')
    assert call.arguments is None
    assert call.arguments_text == '{"cmd": "ls'
    assert ToolCall("c1", "run", {"cmd": "ls"}).arguments_text == '{"cmd": "ls"}'


def test_results_with_typed_text_begin_an_exchange_and_images_are_counted() -> None:
    messages = build.anthropic()["messages"]
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD"}}
    messages[2]["content"] = [
        {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "src"}, image]},
        build.result("t2", "x"),
        {"type": "text", "text": "Stop after this."},
    ]
    m = from_messages(messages).messages[2]
    assert m.role == "user"
    assert m.typed
    assert m.images == 1
    assert m.results[0].text == "src"


def test_a_reminder_alone_is_not_typed_but_with_text_behind_it_is() -> None:
    alone = "<system-reminder>be careful</system-reminder>"
    conv = from_messages([{"role": "user", "content": alone}, {"role": "user", "content": alone + "\nGo on."}])
    assert [m.typed for m in conv.messages] == [False, True]


@pytest.mark.parametrize(
    "text",
    [
        "This session is being continued from a previous conversation that ran out of context.",
        "<summary>\nwhat was done\n</summary>",
        "<context-summary>\n## Goal\n</context-summary>",
        "Another language model started to solve this problem and produced a summary of its thinking process.",
    ],
)
def test_summaries_of_known_clients_are_no_words_of_the_user(text: str) -> None:
    m = from_messages([{"role": "user", "content": text}]).messages[0]
    assert m.is_summary
    assert not m.typed
