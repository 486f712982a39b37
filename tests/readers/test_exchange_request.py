from __future__ import annotations

import json

import pytest

from monitor.readers.exchange_messages import Messages
from monitor.readers.exchange_request import is_small, parse
from tests.readers.exchange_samples import anthropic_request, chat_request

TOOLS = [{"name": "run", "description": "runs", "input_schema": {}}]


def read(body):
    return parse(json.dumps(body).encode(), Messages())


@pytest.mark.parametrize(
    "body",
    [
        chat_request("go"),
        anthropic_request("go"),
        {"model": "gpt-5.4", "instructions": "You are careful.", "input": [{"role": "user", "content": "go"}]},
        {"model": "gpt-5.4", "input": "go"},
        {
            "systemInstruction": {"parts": [{"text": "careful"}]},
            "contents": [{"role": "user", "parts": [{"text": "go"}]}],
        },
        {"model": "x", "request": {"contents": [{"role": "user", "parts": [{"text": "go"}]}]}},  # Gemini Code Assist
        {"messages": [{"role": "user", "content": [{"text": "go"}]}], "system": [{"text": "careful"}]},  # Converse
        {"model": "llama3", "prompt": "go"},
    ],
)
def test_messages_of_every_shape_are_found(body):
    found = read(body)
    assert found.has_messages
    assert sum(1 for one in found.items if one.typed) == 1
    assert {one.norm for one in found.items if one.norm} == {
        one.norm for one in read(chat_request("go")).items if one.norm
    }


def test_system_and_tools_are_told_apart_by_digests():
    one, other = read(anthropic_request("go", tools=TOOLS)), read(anthropic_request("go", tools=TOOLS))
    assert one.system == other.system is not None
    assert one.tools == other.tools is not None and one.has_tools
    assert read(anthropic_request("go")).tools is None
    assert (
        read(chat_request("go")).system != read({"model": "x", "messages": [{"role": "user", "content": "go"}]}).system
    )


@pytest.mark.parametrize(
    "text",
    [
        "CRITICAL: Respond with TEXT ONLY. Write <analysis> and <summary> blocks about the conversation so far.",
        "You are performing a CONTEXT CHECKPOINT COMPACTION. Create a handoff summary.",
        "Summarize the conversation so far for a new context window. Use five sections.",
        "Your task is to create a detailed summary of the conversation so far",
        "Provide a detailed prompt for continuing our conversation above.",
        "This is the PREFIX of a turn. Summarize the prefix to provide context for the retained suffix:",
    ],
)
def test_a_request_for_a_summary_is_known_by_its_last_words(text):
    assert read(anthropic_request("go", "ok", text, tools=TOOLS)).asks_summary
    block = [{"type": "tool_result", "tool_use_id": "t", "content": "x"}, {"type": "text", "text": text}]
    body = anthropic_request("go", "ok", tools=TOOLS)
    body["messages"] += [{"role": "user", "content": block}, {"role": "system", "content": "reminder"}]
    assert read(body).asks_summary
    assert not read(anthropic_request(text, "ok", "go on", tools=TOOLS)).asks_summary


def test_words_of_tool_results_ask_for_nothing():
    body = chat_request("go", "ok")
    body["messages"].append({"role": "tool", "tool_call_id": "c", "content": "CONTEXT CHECKPOINT COMPACTION"})
    assert not read(body).asks_summary
    assert not read(anthropic_request("please summarize this file")).asks_summary


def test_titles_checks_and_probes_are_side_requests():
    assert read({**anthropic_request("fix it"), "system": "You are a title generator. Be short."}).asks_side
    assert read(anthropic_request("Generate a concise, sentence-case title for this conversation: fix it")).asks_side
    assert read({**anthropic_request("quota"), "max_tokens": 1}).asks_side
    assert not read(anthropic_request("Generate a title for the blog post", tools=TOOLS)).asks_side
    assert not read(anthropic_request("fix the parser")).asks_side
    assert read({"type": "response.create", "model": "m", "input": [], "generate": False}).warm_up


def test_a_window_that_stands_on_a_summary_says_so():
    assert read(anthropic_request("This session is being continued from a previous conversation. Summary: x")).continues
    item = {"type": "compaction", "encrypted_content": "abc"}
    assert read({"model": "m", "input": [{"role": "user", "content": "a"}, item]}).continues
    assert not read(anthropic_request("go")).continues


def test_odd_bodies_are_read_as_far_as_they_go():
    assert parse(b"no json", Messages()) is None
    assert parse(b"[1]", Messages()) is None
    odd = read({"model": ["x"], "messages": 7, "system": 3, "tools": {"a": 1}, "max_tokens": "many"})
    assert odd is not None and odd.model is None and not odd.has_messages
    surrogate = parse(b'{"model":"m","messages":[{"role":"user","content":"\\ud83d"}]}', Messages())
    assert surrogate is not None and surrogate.has_messages


def test_small_models_are_known_by_name():
    for name in ("claude-haiku-4-5", "gpt-5.4-mini", "gpt-5-nano", "gemini-2.5-flash-lite"):
        assert is_small(name)
    for name in ("claude-opus-4-8", "gpt-5.4", "gemini-2.5-flash", "minimax-m2", None):
        assert not is_small(name)


@pytest.mark.parametrize(
    "text",
    [
        "The context is running out. Your task is to create a comprehensive detailed summary of the conversation so far.",
        "Provide a detailed summary of our conversation above.",
        "Write a continuation summary that will let another instance of you resume the work.",
        "You are to compact the coding conversation so that the work can go on.",
        "*Briefly* summarize this partial conversation about programming.",
        "The context limit was reached while you worked with the user; keep what matters of these messages.",
    ],
)
def test_requests_for_a_summary_in_other_words(text):
    assert read(anthropic_request("go", "ok", text)).asks_summary


@pytest.mark.parametrize(
    "system",
    [
        "You are a helpful assistant tasked with summarizing conversations.",
        "You are a context summarization assistant.",
        "You are maintaining a context-aware state summary for an agent.",
        "Context extraction assistant: keep what the next step needs.",
    ],
)
def test_a_model_that_does_nothing_but_summarise(system):
    assert read(anthropic_request("here are the messages", system=system)).asks_summary
    assert not read(anthropic_request("go", system=system, tools=TOOLS)).asks_summary


@pytest.mark.parametrize(
    "text",
    [
        "please write a summary of our meeting",
        "summarize the conversation between the two services in the log",
        "compact the database and write a summary of what changed",
        "the disk limit was reached, please clean up",
        "create a detailed summary of the test results",
    ],
)
def test_what_people_ask_for_is_work(text):
    assert not read(anthropic_request("go", "ok", text)).asks_summary


@pytest.mark.parametrize(
    "text",
    [
        "Please write a 5-10 word title for the following conversation: fix the parser",
        "Create a short title for this chat.",
        "[SUGGESTION MODE: say what the user may type next]",
    ],
)
def test_titles_and_suggestions_in_other_words_are_side_requests(text):
    assert read(anthropic_request(text)).asks_side
    assert not read(anthropic_request(text, tools=TOOLS)).asks_side
    assert not read(anthropic_request("add a title to the page")).asks_side
