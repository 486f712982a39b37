"""Gemini CLI sessions of both eras."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from monitor.readers.gemini_cli import READERS, gemini_tokens
from tests.readers.agent_help import calls, events, figures, head, infos, lines, read, read_path, steps, write

LINES, DOCUMENT = READERS
ID = "aaaaaaaa-0000-4000-8000-00000000000"
HEADER = {"sessionId": "g1", "projectHash": "h", "startTime": "2026-05-04T10:00:00.000Z", "kind": "main"}


def answer(number: int, figures: tuple[int, int, int, int] | None, **more: Any) -> dict[str, Any]:
    """A gemini message: input, output, cached, thoughts."""
    row: dict[str, Any] = {"id": f"{ID}{number}", "timestamp": f"2026-05-04T10:00:{number:02d}.000Z", "type": "gemini",
                           "content": "", "model": "gemini-2.5-pro", "tokens": None}  # fmt: skip
    if figures is not None:
        asked, said, cached, thought = figures
        total = asked + said + thought
        row["tokens"] = {"input": asked, "output": said, "cached": cached, "thoughts": thought, "tool": 0,
                         "total": total}  # fmt: skip
    return {**row, **more}


def user(name: str, text: str) -> dict[str, Any]:
    return {"id": name, "timestamp": "2026-05-04T10:00:00.000Z", "type": "user", "content": [{"text": text}]}


def rewrite(*messages: dict[str, Any]) -> dict[str, Any]:
    return {"$set": {"messages": list(messages), "lastUpdated": "2026-05-04T10:05:00.000Z"}}


def test_cached_is_part_of_the_input_and_thoughts_are_not_part_of_the_output() -> None:
    (call,) = calls(read(LINES, lines([HEADER, answer(1, (12_849, 51, 11_820, 40))])))
    assert figures(call) == (12_849, 1_029, 11_820, 0, 91)
    assert (call.reasoning_tokens, call.session, call.provider) == (40, "g1", "google")


def test_the_total_decides_where_thoughts_and_tool_prompts_stand() -> None:
    def asked(*values: int) -> tuple[int | None, int | None]:
        found = gemini_tokens(*values, "x")
        return found.prompt, found.output

    assert asked(100, 10, 0, 5, 0, 115) == (100, 15)
    assert asked(100, 10, 0, 5, 0, 110) == (100, 10)  # thoughts inside the output
    assert asked(100, 10, 0, 0, 7, 117) == (107, 10)
    assert asked(100, 10, 0, 0, 7, 110) == (100, 10)  # tool prompt inside the input


def test_a_message_told_again_is_one_call_and_the_last_figures_count() -> None:
    tools = [{"id": "t1", "name": "run_shell_command", "args": {"command": "ls"}, "status": "success",
              "resultDisplay": "a b"}]  # fmt: skip
    rows = [HEADER, answer(1, None), answer(1, (100, 5, 0, 0)), answer(1, (100, 9, 0, 0), toolCalls=tools),
            answer(1, None, toolCalls=tools)]  # fmt: skip
    found = read(LINES, lines(rows))
    assert {call.key for call in calls(found)} == {f"{ID}1"}
    assert [call.output_tokens for call in calls(found)][-1] == 9
    assert steps(found) == [("tool_call", "run_shell_command", None), ("tool_result", "", True)]


def test_zeros_are_a_failed_answer() -> None:
    found = calls(read(LINES, lines([HEADER, answer(1, (90, 1, 0, 0)), answer(2, (0, 0, 0, 0))])))
    assert [(call.status, call.prompt_tokens) for call in found] == [("ok", 90), ("error", None)]


def test_an_answer_whose_figures_were_not_told_is_a_call_of_unknown_size() -> None:
    rows = [HEADER, user("u1", "Port it."), answer(1, (100, 1, 0, 0)), answer(2, None),
            answer(2, None, toolCalls=[{"id": "t", "name": "run"}]), answer(3, (130, 1, 0, 0))]  # fmt: skip
    found = calls(read(LINES, lines(rows)))
    assert [(c.prompt_tokens, c.output_tokens, c.status) for c in found] == [
        (100, 1, "ok"), (None, None, "ok"), (130, 1, "ok")]  # fmt: skip


def test_what_the_user_typed_counts_once_and_what_the_client_wrote_does_not() -> None:
    rows = [
        HEADER,
        rewrite(user("c0", "<session_context>\nos")),
        user("u1", "Port it."),
        answer(1, (10, 1, 0, 0)),
        {**user("r1", ""), "content": [{"functionResponse": {"id": "t"}}]},
        answer(2, (20, 1, 0, 0)),
        user("s1", "Please continue."),
        answer(3, (25, 1, 0, 0)),
        user("u2", "And test it."),
        answer(4, (30, 1, 0, 0)),
    ]
    assert [call.exchange for call in calls(read(LINES, lines(rows)))] == [1, 1, 1, 2]


def test_a_resume_writes_history_again_without_figures_and_is_no_compaction() -> None:
    first = [HEADER, user("u1", "Port it."), answer(1, (100, 1, 0, 0)), answer(2, (200, 1, 100, 0))]
    again = [HEADER, rewrite(user("c0", "<session_context>")),
             rewrite(user("c0", "<session_context>"), user("new-id", "Port it."), answer(1, None), answer(2, None)),
             user("u2", "Go on."), answer(3, (300, 1, 0, 0))]  # fmt: skip
    found = read(LINES, lines([*first, *again]))
    assert [call.prompt_tokens for call in calls(found)] == [100, 200, 300]
    assert [call.exchange for call in calls(found)] == [1, 1, 2]
    assert events(found) == []


def test_a_rewrite_with_a_new_summary_is_a_compaction_once() -> None:
    summary = user("s1", "<state_snapshot>goal</state_snapshot>")
    rows = [HEADER, user("u1", "Port it."), answer(1, (100, 1, 0, 0)), answer(2, (900, 1, 0, 0)),
            rewrite(summary, answer(2, (900, 1, 0, 0))), answer(3, (300, 1, 0, 0)),
            HEADER, rewrite(summary, answer(2, None), answer(3, None)), answer(4, (320, 1, 0, 0))]  # fmt: skip
    found = read(LINES, lines(rows))
    assert [(event.kind, event.evidence, event.line) for event in events(found)] == [("compaction", "recorded", 5)]
    assert len({call.key for call in calls(found)}) == 4


def test_a_rewrite_that_leaves_answers_out_is_a_compaction_or_a_clear() -> None:
    start = [HEADER, user("u1", "Port it."), answer(1, (100, 1, 0, 0)), answer(2, (900, 1, 0, 0))]
    shorter = [*start, rewrite(answer(2, None)), answer(3, (300, 1, 0, 0))]
    assert [event.kind for event in events(read(LINES, lines(shorter)))] == ["compaction"]
    emptied = [*start, rewrite(user("c0", "<session_context>")), answer(3, (50, 1, 0, 0))]
    assert [event.kind for event in events(read(LINES, lines(emptied)))] == ["clear"]
    # a summary like the one before it leaves no answers either, and is no clear
    summary = "<state_snapshot>goal</state_snapshot>"
    twice = [*start, rewrite(user("s1", summary)), answer(3, (900, 1, 0, 0)), rewrite(user("s2", summary)),
             answer(4, (50, 1, 0, 0))]  # fmt: skip
    assert [event.kind for event in events(read(LINES, lines(twice)))] == ["compaction", "compaction"]


def test_the_same_history_under_new_ids_is_a_trim_and_no_clear() -> None:
    """Gemini CLI writes all rows anew when it takes long tool results out of them."""
    start = [HEADER, user("c0", "<session_context>here</session_context>"), user("u1", "Port it."),
             answer(1, (100, 1, 0, 0)), user("u2", "Go on."), answer(2, (900, 1, 0, 0))]  # fmt: skip
    for opening in ([user("c9", "<session_context>here</session_context>"), user("u8", "Port it.")],
                    [user("c9", "<session_context>here</session_context>Port it.")]):  # fmt: skip
        bare = [{name: value for name, value in answer(n, None).items() if name != "model"} for n in (7, 8)]
        told = [*opening, bare[0], user("u9", "Go on."), bare[1]]
        rows = [*start, *told, rewrite(*told), user("u3", "Go on."), answer(3, (300, 1, 0, 0))]
        found = read(LINES, lines(rows))
        assert [event.kind for event in events(found)] == ["trim"]
        # what is typed after it is typed, whatever was said before
        assert [(call.prompt_tokens, call.exchange) for call in calls(found)] == [(100, 1), (900, 2), (300, 3)]


def test_rewind_takes_messages_out_of_the_history() -> None:
    rows = [HEADER, answer(1, (100, 1, 0, 0)), user("u2", "oops"), {"$rewindTo": "u2"}, answer(3, (110, 1, 0, 0))]
    assert [event.kind for event in events(read(LINES, lines(rows)))] == ["rewind"]


def test_lines_may_come_one_by_one() -> None:
    rows = lines([HEADER, user("u1", "a"), answer(1, None), answer(1, (100, 5, 0, 0))]).splitlines(keepends=True)
    from monitor.readers.base import FileContext

    parser = LINES.parser(FileContext("x", data=b""))
    seen = []
    for number, row in enumerate(rows, 1):
        parser.feed([row], number)
        seen += calls(parser.take())
    # until its figures come it is a call of unknown size; the record that follows takes its place
    assert [(call.prompt_tokens, call.exchange, call.line) for call in seen] == [(None, 1, 3), (100, 1, 4)]
    assert len({call.key for call in seen}) == 1


def test_documents_of_the_older_era() -> None:
    document = {**HEADER, "messages": [user("u1", "Hi"), answer(1, (10, 5, 0, 0)), {"type": "info", "content": "x"},
                                       {**answer(2, None), "tokens": None}, answer(3, (20, 1, 10, 2))]}  # fmt: skip
    import json

    pretty = json.dumps(document, indent=2).encode()
    assert [figures(call) for call in calls(read(DOCUMENT, pretty))] == [(10, 10, 0, 0, 5), (20, 10, 10, 0, 3)]
    half = read(DOCUMENT, pretty[: len(pretty) // 2])
    assert calls(half) == []  # seen while it is rewritten: told, not guessed


def test_short_ids_are_no_identity_beyond_their_session() -> None:
    one, two = ({**HEADER, "sessionId": name, "messages": [{**answer(1, (10, 5, 0, 0)), "id": "m2"}]} for name in "ab")
    keys = {call.key for doc in (one, two) for call in calls(read(DOCUMENT, lines([doc])))}
    assert len(keys) == 2


def test_a_subagent_is_a_chain_of_the_session_its_folder_names(tmp_path: Path) -> None:
    path = write(tmp_path / "chats" / "parent-1" / "sub.jsonl",
                 lines([{**HEADER, "sessionId": "sub-9", "kind": "subagent"}, answer(1, (10, 1, 0, 0))]))  # fmt: skip
    found = read_path(LINES, path)
    assert [(call.session, call.chain) for call in calls(found)] == [("parent-1", "agent:sub-9")]
    assert infos(found)[0].chain == "agent:sub-9"


def test_sniff() -> None:
    text = lines([HEADER, answer(1, None)])
    document = lines([{**HEADER, "messages": []}])
    assert (LINES.sniff(head(text)), DOCUMENT.sniff(head(text))) == (0.95, 0.0)
    assert (LINES.sniff(head(document)), DOCUMENT.sniff(head(document))) == (0.0, 0.95)
    assert LINES.sniff(head(b'{"sessionId":"s","uuid":"u","type":"user"}\n')) == 0.0
