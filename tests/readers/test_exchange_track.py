from __future__ import annotations

import json

from monitor.readers.exchange import Assembler, Exchange
from monitor.records import Step
from tests.readers.exchange_samples import (
    SESSION,
    anthropic_reply,
    anthropic_request,
    calls,
    chat_reply,
    chat_request,
    events,
    response_object,
)

MESSAGES = "https://api.anthropic.com/v1/messages"
RESPONSES = "https://api.openai.com/v1/responses"
HEADERS = {"x-claude-code-session-id": SESSION, "user-agent": "claude-cli/2.1"}
TOOLS = [{"name": "run", "input_schema": {}}]


class Capture:
    """Feeds exchanges, 10 s apart."""

    def __init__(self, headers=HEADERS, url=MESSAGES):
        self.assembler = Assembler("f.har", "har")
        self.headers, self.url, self.count, self.found = headers, url, 0, []

    def add(self, request, reply, *, headers=None, url=None, status=200):
        self.count += 1
        at = 1_775_808_000_000 + 10_000 * self.count
        made = Exchange(
            url=url or self.url,
            headers={**self.headers, **(headers or {})},
            request=json.dumps(request).encode(),
            reply=json.dumps(reply).encode(),
            status=status,
            time=at,
            end=at + 2_000,
            line=self.count,
        )
        found = self.assembler.add(made)
        self.found += found
        return calls(found)[0]


def message(n, fresh=7, read=100, write=20, output=30, **more):
    return anthropic_reply(fresh, read, write, output, id=f"msg_{n}", **more)


def test_exchanges_count_what_people_typed():
    capture = Capture()
    said = ["step 1"]
    assert capture.add(anthropic_request(*said), message(1)).exchange == 1
    tool = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "x"}]}
    body = anthropic_request(*said, "ok")
    body["messages"].append(tool)
    assert capture.add(body, message(2)).exchange == 1
    body = anthropic_request(*said, "ok")
    body["messages"] += [tool, {"role": "assistant", "content": "ok"}, {"role": "user", "content": "step 2"}]
    assert capture.add(body, message(3)).exchange == 2
    # a window that repeats an earlier message goes on counting
    after = anthropic_request(
        "This session is being continued from a previous conversation. x", "ok", "step 2", "ok", "step 3"
    )
    assert capture.add(after, message(4)).exchange == 3


def test_exchanges_of_a_chain_of_responses():
    capture = Capture({}, RESPONSES)
    first = {"model": "gpt-5.4", "input": [{"role": "user", "content": "step 1"}]}
    assert capture.add(first, response_object(100, 5, id="resp_1")).exchange == 1
    second = {"model": "gpt-5.4", "input": [{"role": "user", "content": "step 2"}], "previous_response_id": "resp_1"}
    call = capture.add(second, response_object(200, 5, id="resp_2"))
    assert (call.exchange, call.has_bodies, call.prefix_kept) == (2, False, None)
    assert call.evidence.previous_response_id == "resp_1"
    third = {
        "model": "gpt-5.4",
        "input": [{"type": "function_call_output", "call_id": "c", "output": "x"}],
        "previous_response_id": "resp_2",
    }
    assert capture.add(third, response_object(300, 5, id="resp_3")).exchange == 2


def test_whether_the_prefix_was_kept():
    capture = Capture()
    assert capture.add(anthropic_request("Monday 09:00. step 1"), message(1)).prefix_kept is None
    assert capture.add(anthropic_request("Monday 09:00. step 1", "ok", "step 2"), message(2)).prefix_kept is True
    assert (
        capture.add(anthropic_request("Monday 09:01. step 1", "ok", "step 2", "ok", "step 3"), message(3)).prefix_kept
        is False
    )
    changed = anthropic_request("Monday 09:01. step 1", "ok", "step 2", "ok", "step 3", "ok", "step 4", tools=TOOLS)
    assert capture.add(changed, message(4)).prefix_kept is False


def test_conversations_without_an_id_are_followed_by_their_messages():
    capture = Capture({}, "https://api.openai.com/v1/chat/completions")
    capture.add(chat_request("a 1"), chat_reply(100, 5, id="c1"))
    capture.add(chat_request("b 1"), chat_reply(100, 5, id="c2"))
    assert capture.add(chat_request("a 1", "ok", "a 2"), chat_reply(120, 5, id="c3")).exchange == 2
    call = capture.add(chat_request("b 1", "ok", "b 2", "ok", "b 3"), chat_reply(140, 5, id="c4"))
    assert (call.exchange, call.session_evidence, call.prefix_kept) == (3, "file", True)


def test_a_summarising_request_is_a_compaction_inferred_from_its_words():
    capture = Capture()
    capture.add(anthropic_request("step 1", tools=TOOLS), message(1))
    ask = "CRITICAL: Respond with TEXT ONLY. An <analysis> block followed by a <summary> block."
    summary = capture.add(anthropic_request("step 1", "ok", ask, tools=TOOLS), message(2, output=900))
    assert (summary.purpose, summary.chain, summary.exchange) == ("compaction", "side", 1)
    after = anthropic_request("This session is being continued from a previous conversation. x", tools=TOOLS)
    assert capture.add(after, message(3)).purpose == "work"
    (event,) = events(capture.found)
    assert (event.kind, event.evidence, event.chain, event.summary_tokens) == ("compaction", "inferred", "main", 900)
    assert event.time == summary.time + 2_000 and event.in_call == "" and event.key == "msg_2#compaction"


def test_a_window_on_a_summary_nobody_captured_is_a_compaction_too():
    capture = Capture()
    capture.add(anthropic_request("step 1"), message(1))
    call = capture.add(anthropic_request("This session is being continued from a previous conversation. x"), message(2))
    (event,) = events(capture.found)
    assert (event.kind, event.evidence, event.time) == ("compaction", "inferred", call.time - 1)
    # the first call of a capture has nothing before it
    assert events(Capture().found) == []
    fresh = Capture()
    fresh.add(anthropic_request("This session is being continued from a previous conversation. x"), message(1))
    assert events(fresh.found) == []


def codex(n, kind, window):
    told = {"session_id": SESSION, "thread_id": SESSION, "request_kind": kind, "compaction": {"trigger": "auto"}}
    return {"x-codex-window-id": f"{SESSION}:{window}", "x-codex-turn-metadata": json.dumps(told)}


def test_codex_records_its_compaction_and_its_windows():
    capture = Capture({}, RESPONSES)
    body = {"model": "gpt-5.4", "input": [{"role": "user", "content": "step 1"}]}
    assert capture.add(body, response_object(100, 5, id="r1"), headers=codex(1, "turn", 0)).window_id == f"{SESSION}:0"
    summary = capture.add(body, response_object(90, 50, id="r2"), headers=codex(2, "compaction", 0))
    assert (summary.purpose, summary.chain) == ("compaction", "side")
    capture.add(body, response_object(40, 5, id="r3"), headers=codex(3, "turn", 1))
    (event,) = events(capture.found)
    assert (event.evidence, event.trigger, event.summary_tokens) == ("recorded", "auto", 50)
    # without the summarising call the number of the window says the same
    part = Capture({}, RESPONSES)
    part.add(body, response_object(100, 5, id="r1"), headers=codex(1, "turn", 0))
    part.add(body, response_object(40, 5, id="r3"), headers=codex(3, "turn", 1))
    part.add(body, response_object(50, 5, id="r4"), headers=codex(4, "turn", 1))
    assert [(e.evidence, e.kind) for e in events(part.found)] == [("recorded", "compaction")]


def test_compaction_in_the_answer_and_by_its_own_address():
    capture = Capture({"session_id": SESSION}, RESPONSES)
    body = {"model": "gpt-5.4", "input": [{"role": "user", "content": "step 1"}]}
    item = {"type": "compaction", "id": "cmp_1", "encrypted_content": "x"}
    capture.add(body, response_object(8031, 609, id="r1", output=[item]))
    (event,) = events(capture.found)
    assert (event.evidence, event.trigger, event.recorded_before, event.in_call) == ("recorded", "auto", 8031, "")
    reply = {**response_object(6290, 420, id="r2"), "object": "response.compaction", "output": [item]}
    call = capture.add(body, reply, url=RESPONSES + "/compact")
    assert (call.purpose, call.chain, call.prompt_tokens) == ("compaction", "side", 6290)
    assert events(capture.found)[-1].summary_tokens == 420


def test_an_answer_with_a_compaction_item_is_known_by_it():
    capture = Capture({}, RESPONSES)
    item = {"type": "compaction", "id": "cmp_1", "encrypted_content": "x"}
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "ok"}]}
    first = capture.add({"model": "m", "input": "step 1"}, response_object(8031, 609, id="r1", output=[said, item]))
    second = capture.add(
        {"model": "m", "input": [item, {"role": "user", "content": "2"}]}, response_object(500, 9, id="r2")
    )
    assert first.evidence.response == int.from_bytes(second.evidence.message_ids[:8], "big")


def test_compaction_inside_a_call_belongs_to_that_call():
    rows = [
        {"type": "compaction", "input_tokens": 10101, "output_tokens": 270},
        {"type": "message", "input_tokens": 4193, "output_tokens": 81},
    ]
    usage = {
        "input_tokens": 4193,
        "cache_read_input_tokens": 0,
        "cache_creation_input_tokens": 0,
        "output_tokens": 81,
        "iterations": rows,
    }
    capture = Capture()
    call = capture.add(anthropic_request("step 1"), message(1, usage=usage))
    (event,) = events(capture.found)
    assert (event.in_call, event.trigger) == (call.key, "auto")
    assert (event.recorded_before, event.recorded_after, event.summary_tokens) == (10101, 4193, 270)
    assert (call.prompt_tokens, call.billed_prompt_tokens) == (4193, 14294)


def test_cleared_tool_results_are_one_trim_each_time_the_number_grows():
    capture = Capture()

    def edits(cleared):
        return {
            "applied_edits": [
                {"type": "clear_tool_uses_20250919", "cleared_tool_uses": 1, "cleared_input_tokens": cleared}
            ]
        }

    said = ["step 1"]
    for n, cleared in enumerate([0, 900, 900, 1800]):
        capture.add(anthropic_request(*said), message(n, context_management=edits(cleared)))
        said += ["ok", f"step {n + 2}"]
    found = events(capture.found, "trim")
    assert [event.recorded_before for event in found] == [127 + 900, 127 + 1800]
    place = [record for record in capture.found if record in found or record in calls(capture.found)]
    assert place.index(found[0]) == 1  # before the call whose prompt is smaller for it


def test_small_models_beside_an_agent_are_side_calls():
    capture = Capture()
    title = anthropic_request("fix it", model="claude-haiku-4-5")
    assert capture.add(title, message(1, model="claude-haiku-4-5")).purpose == "side"
    assert capture.add(anthropic_request("fix it", tools=TOOLS), message(2)).purpose == "work"
    agent = anthropic_request("look around", model="claude-haiku-4-5", tools=TOOLS)
    assert capture.add(agent, message(3, model="claude-haiku-4-5")).purpose == "work"
    # a program of its own that uses a small model only
    plain = Capture({}, "https://api.openai.com/v1/chat/completions")
    assert plain.add(chat_request("hello", model="gpt-5-mini"), chat_reply(10, 5)).purpose == "work"


def test_ollama_counts_only_what_it_evaluated():
    capture = Capture({}, "http://localhost:11434/api/chat")

    def answer(n):
        return {
            "model": "llama3",
            "message": {"role": "assistant", "content": "ok"},
            "done": True,
            "prompt_eval_count": n,
            "eval_count": 5,
        }

    first = capture.add({"model": "llama3", "messages": [{"role": "user", "content": "a"}]}, answer(900))
    assert (first.prompt_tokens, first.status, first.cache_read_tokens) == (900, "ok", None)
    grown = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "ok"}, {"role": "user", "content": "b"}]
    second = capture.add({"model": "llama3", "messages": grown}, answer(30))
    assert (second.prompt_tokens, second.status, second.output_tokens) == (900, "estimated", 5)


def test_steps_are_numbers_and_hashes():
    capture = Capture()
    block = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "pytest -q"}}
    capture.add(anthropic_request("fix the parser", tools=TOOLS), message(1, content=[block], stop_reason="tool_use"))
    body = anthropic_request("fix the parser", tools=TOOLS)
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "3 failed", "is_error": True}
    body["messages"] += [{"role": "assistant", "content": [block]}, {"role": "user", "content": [result]}]
    capture.add(body, message(2))
    steps = [record for record in capture.found if isinstance(record, Step)]
    assert [step.kind for step in steps] == ["user", "tool_call", "tool_result", "answer"]
    assert (steps[1].tool, steps[1].id, steps[2].id, steps[2].ok) == ("Bash", "t1", "t1", False)
    assert "parser" not in repr(steps)


def test_steps_tell_each_message_once():
    capture = Capture()
    capture.add(anthropic_request("step 1"), message(1))
    capture.add(anthropic_request("step 1", "ok", "step 2"), message(2))
    capture.add(anthropic_request("step 1", "ok", "step 2", "ok", "step 2"), message(3))
    summary = "This session is being continued from a previous conversation. x"
    capture.add(anthropic_request(summary, "ok", "step 2", "ok", "step 3 is something else"), message(4))
    typed = [record for record in capture.found if isinstance(record, Step) and record.kind == "user"]
    assert [step.line for step in typed] == [1, 2, 3, 4]


def test_a_sender_whose_summary_holds_the_history_as_text_goes_on_counting():
    capture = Capture(headers={"authorization": "Bearer a"})
    text = "<conversation>[User]: one</conversation> Create a detailed summary of the conversation."

    def ask(n, *said, tools=TOOLS):
        return capture.add(anthropic_request(*said, tools=tools), message(n))

    assert [ask(1, "one").exchange, ask(2, "one", "ok", "two").exchange] == [1, 2]
    assert ask(3, text, tools=[]).purpose == "compaction"
    window = "The conversation history before this point was compacted into the following summary: x"
    assert ask(4, window, "ok", "two").exchange == 2
    assert ask(5, window, "ok", "two", "ok", "three").exchange == 3


def test_a_history_that_its_client_wrote_anew_keeps_the_count():
    capture = Capture(headers={"authorization": "Bearer a"})

    def ask(n, *said):
        return capture.add(anthropic_request(*said), message(n)).exchange

    assert [ask(1, "one"), ask(2, "one", "ok", "two"), ask(3, "one", "ok", "two", "ok", "three")] == [1, 2, 3]
    opening = "<environment_context>here</environment_context>"  # the client let go of what was typed first
    assert ask(4, opening, "ok", "two", "ok", "three", "ok", "four") == 4
    assert ask(5, "zero") == 1  # nothing shared: another conversation


def test_what_is_sent_once_more_behind_a_summary_was_typed_once():
    capture = Capture()

    def ask(n, *said, tools=TOOLS):
        return capture.add(anthropic_request(*said, tools=tools), message(n))

    assert [ask(1, "one").exchange, ask(2, "one", "ok", "two").exchange] == [1, 2]
    assert ask(3, "Create a detailed summary of the conversation.", tools=[]).purpose == "compaction"
    window = ("What did we do so far?", "much", "two", "ok", "two")
    assert ask(4, *window).exchange == 2
    assert ask(5, *window, "ok", "two").exchange == 3  # typed again, by a person this time
