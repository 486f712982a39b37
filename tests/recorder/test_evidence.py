"""The same message has the same digest in every request that repeats it, and nothing of its words remains."""

from __future__ import annotations

import json
from typing import Any

import pytest

from monitor.recorder import evidence
from monitor.recorder.evidence import Chain, MessageDigests, digest, normalise


def same(*messages: Any) -> bool:
    return len({normalise(m) for m in messages}) == 1


def test_text_as_string_and_as_block_is_the_same() -> None:
    assert same(
        {"role": "user", "content": "hi"},
        {"role": "user", "content": [{"type": "text", "text": "hi"}]},
        {"role": "user", "content": [{"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}]},
        {
            "role": "user",
            "content": [{"type": "input_text", "text": "hi"}],
            "type": "message",
            "id": "msg_1",
            "status": "completed",
        },
        {"role": "user", "parts": [{"text": "hi"}]},
        "hi",
    )


def test_reminders_and_empty_fields_are_left_out() -> None:
    reminder = {"type": "text", "text": "<system-reminder>\nthe date is x\n</system-reminder>\n"}
    assert same(
        {"role": "user", "content": [reminder, {"type": "text", "text": "go"}]},
        {"role": "user", "content": "<system-reminder>other\nwords</system-reminder>\ngo"},
        {"role": "user", "content": "go", "name": None},
    )
    assert normalise({"role": "user", "content": [reminder]}) is None


def test_tool_calls_and_results_keep_their_ids() -> None:
    one = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "out"}]}
    assert same(
        one,
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "out"}]}],
        },
    )
    assert not same(one, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t2", "content": "out"}]})
    call = {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "c1",
        "name": "x",
        "arguments": "{}",
        "status": "completed",
    }
    assert same(call, {**call, "id": "fc_2", "status": "in_progress"}) and not same(call, {**call, "call_id": "c2"})


@pytest.mark.parametrize("role", ["system", "developer"])
def test_system_messages_are_no_part_of_the_chain(role: str) -> None:
    assert normalise({"role": role, "content": "x"}) is None


def chain(*messages: Any) -> Chain:
    made = Chain(MessageDigests())
    for message in messages:
        made.add(json.dumps(message).encode())
    return made


def test_a_longer_request_continues_the_shorter_one() -> None:
    first = [{"role": "system", "content": "s"}, {"role": "user", "content": "a"}]
    more = [
        *first,
        {"role": "assistant", "content": "b"},
        {"role": "system", "content": "s2"},
        {"role": "user", "content": "c"},
    ]
    short, long = chain(*first), chain(*more)
    assert short.rolling == long.rolling[:8] and len(long.rolling) == len(long.single) == 24
    assert (short.count, long.count) == (2, 5)


def test_rolling_digest_is_the_one_the_docs_describe() -> None:
    two = chain({"role": "user", "content": "a"}, {"role": "user", "content": "b"})
    a, b = bytes(two.single[:8]), bytes(two.single[8:])
    assert bytes(two.rolling) == digest(a) + digest(digest(a) + b)


def test_known_messages_are_known_by_their_bytes() -> None:
    digests = MessageDigests()
    assert digests.of(b'{"role":"user","content":"a"}') == digests.of(b'{"role":"user","content":"a"}')
    assert digests.of(b'{"role":"user","content":"a"}') == digests.of(
        b'{"role": "user", "content": [{"type":"text","text":"a"}]}'
    )
    broken, _ = digests.of(b"{not json")
    assert broken == digest(b"{not json")


def test_lone_surrogates_do_no_harm() -> None:
    assert MessageDigests().of(b'{"role":"user","content":"\\ud83d"}')[0]


def test_system_digest_ignores_what_changes_with_each_call() -> None:
    text = {"type": "text", "text": "You help."}
    billing = {"type": "text", "text": "x-anthropic-billing-header: cch=1"}
    assert evidence.system_digest("You help.") == evidence.system_digest([billing, {**text, "cache_control": {}}])
    assert evidence.system_digest({"parts": [{"text": "You help."}]}) == evidence.system_digest("You help.")
    assert evidence.system_digest("") is None and evidence.tools_digest([]) is None


@pytest.mark.parametrize(
    ("last", "system", "tools", "asked"),
    [
        ("You are performing a CONTEXT CHECKPOINT COMPACTION. Create", "", False, "summary"),
        ("Your task is to create a detailed summary of the conversation", "", True, "summary"),
        ("x" * 50_000 + "The messages above are a conversation to summarize.", "", False, "summary"),
        ("text", "You are a context summarization agent.", False, "summary"),
        ("text", "You are a context summarization agent.", True, None),
        ("Generate a title for this conversation:", "", False, "title"),
        ("Write the tests.", "You are a title generator.", False, "title"),
        ("Write the tests.", "You are an agent.", True, None),
        ("", "", False, None),
    ],
)
def test_what_is_asked(last: str, system: str, tools: bool, asked: str | None) -> None:
    assert evidence.asks(last, system, tools) == asked


def test_words_that_tools_gave_back_are_not_asked() -> None:
    result = {
        "role": "user",
        "content": [{"type": "tool_result", "content": "create a detailed summary"}, {"type": "text", "text": "go on"}],
    }
    assert evidence.said(result) == "go on"
    assert evidence.said({"role": "tool", "content": "create a detailed summary"}) == ""


@pytest.mark.parametrize(
    ("message", "yes"),
    [
        (
            {"role": "user", "content": "This session is being continued from a previous conversation that ran out"},
            True,
        ),
        ({"type": "compaction", "encrypted_content": "x"}, True),
        ({"type": "compaction_trigger"}, False),
        ({"role": "assistant", "content": [{"type": "compaction", "content": "sum"}]}, True),
        ({"role": "user", "content": "What did we do so far?"}, True),
        ({"role": "user", "content": "What did we do so far? And why?"}, False),
        ({"role": "user", "content": "Add it."}, False),
    ],
)
def test_messages_that_stand_for_earlier_ones(message: Any, yes: bool) -> None:
    assert evidence.continues_summary(message) is yes
    assert chain(message).summary is yes


def test_ids_are_kept_and_texts_and_keys_are_not() -> None:
    uuid = "0198c0de-0000-7000-8000-000000000001"
    assert evidence.identifier(uuid) == uuid and evidence.identifier("thread:3") == "thread:3"
    for bad in ("two words", "", None, 5, "a" * 200, "sk-abcdef123456", "Bearer", "eyJhbGciOi.x"):
        assert evidence.identifier(bad) is None
    # of answers: LiteLLM's hold the provider's id, in base64
    long = "resp_" + "bGl0ZWxsbTpjdXN0b20_-" * 20 + "=="
    assert evidence.identifier(long) is None and evidence.answer_id(long) == long
    assert evidence.answer_id(uuid) == uuid
    for bad in ("two words" * 30, "sk-" + "a" * 200, "a" * 2_000, None, "resp_" + "x" * 2_000):
        assert evidence.answer_id(bad) is None
    assert evidence.hashed_unless_id(uuid) == uuid
    assert evidence.hashed_unless_id("alice@example.org") == "h:" + digest(b"alice@example.org").hex()
    assert evidence.hashed_unless_id("") is None


def test_session_in_the_user_id() -> None:
    session = "5d0c2a52-0000-4000-8000-000000000001"
    assert evidence.session_of_user_id(json.dumps({"device_id": "d", "session_id": session})) == session
    assert evidence.session_of_user_id(f"user_ab12_account__session_{session}") == session
    assert evidence.session_of_user_id("someone") is None and evidence.session_of_user_id("{broken") is None
