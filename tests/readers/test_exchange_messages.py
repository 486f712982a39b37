from __future__ import annotations

import json

from monitor.readers.exchange_messages import Messages, answer_digest, item, rolling, unmarked_digest


def norm(message):
    return item(message).norm


def test_a_text_equals_the_same_text_in_a_block_with_marks_and_reminders():
    plain = {"role": "user", "content": "go on"}
    blocks = [
        {"type": "text", "text": "<system-reminder>today is Monday</system-reminder>"},
        {"type": "text", "text": "go on", "cache_control": {"type": "ephemeral"}},
    ]
    assert (
        norm(plain) == norm({"role": "user", "content": blocks}) == norm({"role": "user", "parts": [{"text": "go on"}]})
    )
    assert norm(plain) != norm({"role": "user", "content": "stop"})
    assert norm(plain) != norm({"role": "assistant", "content": "go on"})


def test_strict_digests_change_with_reminders_but_not_with_marks():
    one = {"role": "user", "content": [{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}]}
    reminded = [{"type": "text", "text": "<system-reminder>x</system-reminder>"}, {"type": "text", "text": "a"}]
    assert item(one).strict == item({"role": "user", "content": "a"}).strict
    assert item(one).strict != item({"role": "user", "content": reminded}).strict


def test_system_messages_and_thinking_are_no_part_of_the_chain():
    assert norm({"role": "system", "content": "x"}) == b""
    assert norm({"role": "developer", "content": [{"type": "input_text", "text": "x"}]}) == b""
    assert norm({"type": "reasoning", "encrypted_content": "x"}) == b""
    thought = [{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": "Done."}]
    assert norm({"role": "assistant", "content": thought}) == norm({"role": "assistant", "content": "Done."})
    assert norm({"role": "user", "content": "<system-reminder>only this</system-reminder>"}) == b""


def test_ids_and_states_of_tool_calls_make_no_difference():
    one = {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "c1",
        "name": "run",
        "arguments": '{"a": 1}',
        "status": "completed",
    }
    other = {"type": "function_call", "id": "fc_2", "call_id": "c2", "name": "run", "arguments": '{"a":1}'}
    assert norm(one) == norm(other) != norm({**other, "arguments": '{"a":2}'})
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "ok"}]}
    again = {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "t9", "content": [{"type": "text", "text": "ok"}]}],
    }
    assert norm(result) == norm(again)


def test_an_answer_has_the_digest_of_the_message_that_repeats_it():
    chat = {
        "role": "assistant",
        "content": "Done.",
        "tool_calls": [{"id": "x", "function": {"name": "run", "arguments": '{"a": 1}'}}],
    }
    anthropic = {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "Done."},
            {"type": "tool_use", "id": "y", "name": "run", "input": {"a": 1}},
        ],
    }
    gemini = {"role": "model", "parts": [{"text": "Done."}, {"functionCall": {"name": "run", "args": {"a": 1}}}]}
    converse = {
        "role": "assistant",
        "content": [{"text": "Done."}, {"toolUse": {"toolUseId": "z", "name": "run", "input": {"a": 1}}}],
    }
    made = answer_digest("Done.", [("run", '{"a":1}')])
    assert made == norm(chat) == norm(anthropic) == norm(gemini) == norm(converse)
    assert answer_digest("", []) == b""


def test_who_wrote_a_user_message():
    typed = item({"role": "user", "content": "fix the parser"})
    assert (typed.role, typed.typed, typed.continues) == ("user", True, False)
    result = item({"role": "user", "content": [{"type": "tool_result", "content": "x"}]})
    assert (result.role, result.typed) == ("tool", False)
    assert item({"role": "tool", "content": "x"}).role == "tool"
    for text in (
        "<environment_context>\n<cwd>/x</cwd></environment_context>",
        "<command-name>/compact</command-name>",
        "# AGENTS.md instructions\nbe careful",
        "Continue from where you left off.",
        "[Request interrupted by user]",
    ):
        assert not item({"role": "user", "content": text}).typed, text
    for text in (
        "This session is being continued from a previous conversation that ran out of context.",
        "Another language model started to solve this problem and produced a summary",
        "Summary of the previous window:\n- a",
        "<state_snapshot>x</state_snapshot>",
    ):
        found = item({"role": "user", "content": text})
        assert found.continues and not found.typed, text
    assert item({"role": "user", "content": "please explain <state_snapshot> to me"}).typed


def test_compaction_items_are_known():
    assert item({"type": "compaction", "encrypted_content": "abc"}).role == "compaction"
    assert item({"role": "assistant", "content": [{"type": "compaction", "content": "s"}]}).role == "compaction"


def test_rolling_digests_are_those_of_the_beginnings():
    messages = [{"role": "system", "content": "s"}, *({"role": "user", "content": f"step {n}"} for n in range(3))]
    items = [item(message) for message in messages]
    chained, single = rolling(items)
    assert len(chained) == len(single) == 24
    assert chained[:16] == rolling(items[:3])[0]
    assert chained[16:] != rolling([*items[:2], item({"role": "user", "content": "other"}), items[3]])[0][16:]


def test_messages_are_known_again_by_their_bytes():
    memory = Messages()
    raw = json.dumps({"role": "user", "content": "x"}).encode()
    assert memory.of(raw) is memory.of(bytes(raw))
    assert memory.of(b"no json").norm
    assert memory.of(b'{"role":["user"],"type":{"a":1},"content":[[1],2,null]}').strict


def test_the_system_block_that_differs_from_call_to_call_is_left_out():
    base = [{"type": "text", "text": "You are careful."}]
    billed = [{"type": "text", "text": "x-anthropic-billing-header: cc=123"}, *base]
    assert unmarked_digest(base) == unmarked_digest(billed) is not None
    assert unmarked_digest([]) is None
    assert unmarked_digest(None) is None


def test_what_was_typed_is_the_same_beside_other_blocks_and_clients_go_on_by_themselves():
    alone = item({"role": "user", "parts": [{"text": "Add the callback."}]})
    result = {"functionResponse": {"id": "t1", "response": {"output": "row"}}}
    beside = item({"role": "user", "parts": [result, {"text": "Add the callback."}]})
    context = item({"role": "user", "parts": [{"text": "<session_context>\nhere</session_context>"},
                                              {"text": "Add the callback."}]})  # fmt: skip
    assert alone.said == beside.said == context.said != b""
    assert alone.norm != beside.norm
    for text in ("<session_context>\nhere</session_context>", "Please continue.", "System: Please continue.",
                 "System: Potential loop detected. Details: x",
                 "The connection dropped mid-response. Resume directly.",
                 "Continue if you have next steps, or stop and ask for clarification."):  # fmt: skip
        found = item({"role": "user", "content": text})
        assert (found.typed, found.said) == (False, b""), text
    assert item({"role": "user", "content": "Please continue. And test it."}).typed
    assert item({"role": "user", "content": "What did we do so far?"}).continues
