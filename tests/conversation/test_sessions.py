"""Session files: what the model sees, how changed lines are written, how a compaction is written."""

from __future__ import annotations

import json
from typing import Any

import pytest

from monitor.conversation import CompactionOptions, Conversation, Message, ToolResult, dump, load
from monitor.conversation.rules import check
from tests.conversation import build

SUMMARY = "<context-summary>\n## Goal\nTests.\n</context-summary>"


def records(conv: Conversation) -> list[dict[str, Any]]:
    return [json.loads(x) for x in dump(conv).splitlines()]


def lines_of(conv: Conversation) -> list[int | None]:
    return [m.line for m in conv.messages]


def last_exchange(conv: Conversation) -> list[Message]:
    return list(conv.exchanges()[-1].messages)


# ------------------------------------------------------------------ Claude Code
def test_claude_code_sees_the_chain_of_the_last_message() -> None:
    rows = build.claude_code()
    rows.insert(8, build.cc("u81", "u7", "user", "A prompt taken back."))
    rows.append({"type": "attachment", "uuid": "x1", "parentUuid": "u9", "sessionId": "s1"})
    rows.append(build.cc("u90", "u1", "assistant", [{"type": "text", "text": "agent"}], "m9", isSidechain=True))
    rows.append(build.cc("u91", "u9", "assistant", [{"type": "text", "text": "Limit."}], isApiErrorMessage=True))
    conv = load(build.jsonl(rows))
    assert lines_of(conv) == [2, 3, 4, 5, 6, 7, 8, 10, 11]
    assert conv.user_texts() == [(1, "Run the tests."), (3, "Fix it.")]
    assert [m.line for m in conv.history()][-3:] == [11, 13, 14]
    assert (conv.session, conv.model) == ("s1", "claude-opus-4-7")


def boundary(uuid: str, **more: Any) -> dict[str, Any]:
    return {
        "type": "system",
        "subtype": "compact_boundary",
        "parentUuid": None,
        "uuid": uuid,
        "sessionId": "s1",
        "isSidechain": False,
        **more,
    }


def test_claude_code_starts_at_the_last_boundary() -> None:
    rows = build.claude_code()
    rows += [boundary("b1"), build.cc("u21", "b1", "user", "done so far", isCompactSummary=True)]
    rows += [build.cc("u22", "u21", "user", "Go on.")]
    conv = load(build.jsonl(rows))
    assert lines_of(conv) == [12, 13]
    assert [m.is_summary for m in conv.messages] == [True, False]
    assert conv.user_texts() == [(3, "Go on.")]
    assert len(conv.history()) == 11


def test_claude_code_shows_the_preserved_segment_behind_the_summary() -> None:
    rows = build.claude_code()
    segment = {"headUuid": "u8", "anchorUuid": "u21", "tailUuid": "u9"}
    rows += [boundary("b1", compactMetadata={"preservedSegment": segment})]
    rows += [build.cc("u21", "b1", "user", "done so far", isCompactSummary=True)]
    rows += [build.cc("u22", "u21", "user", "Go on.")]
    assert lines_of(load(build.jsonl(rows))) == [12, 9, 10, 13]


def test_a_subagent_file_is_a_conversation_of_its_own() -> None:
    rows = [{**r, "isSidechain": True} for r in build.claude_code()]
    conv = load(build.jsonl(rows))
    assert len(conv.messages) == 9
    assert [m.text for m in conv.compacted(SUMMARY, last_exchange(conv)).messages] == [SUMMARY, "Fix it.", "Done."]


@pytest.mark.parametrize(
    "row",
    [
        {"isMeta": True},
        {"origin": {"kind": "task-notification"}},
    ],
)
def test_rows_of_the_client_are_not_typed(row: dict[str, Any]) -> None:
    rows = [*build.claude_code(), build.cc("u30", "u9", "user", "<task-notification>x", **row)]
    assert load(build.jsonl(rows)).last_user().text == "Fix it."  # type: ignore[union-attr]


def test_dropping_a_line_hangs_its_children_on_its_parent_and_leaves_the_rest_alone() -> None:
    data = build.jsonl(build.claude_code())
    conv = load(data)
    out = dump(conv.with_messages([m for m in conv.messages if m.raw["uuid"] != "u7"]))
    before, after = data.splitlines(), out.splitlines()
    assert len(after) == len(before) - 1
    assert after[:7] == before[:7]
    assert json.loads(after[7]) == {**json.loads(before[8]), "parentUuid": "u6"}
    assert after[8] == before[9]


def test_a_new_line_is_linked_into_the_chain() -> None:
    conv = load(build.jsonl(build.claude_code()))
    at = next(i for i, m in enumerate(conv.messages) if m.raw["uuid"] == "u8")
    note = conv.new_message("user", "A note.")
    new = records(conv.with_messages([*conv.messages[:at], note, *conv.messages[at:]]))
    assert [r.get("uuid") for r in new[7:]] == ["u7", new[8]["uuid"], "u8", "u9"]
    assert [r.get("parentUuid") for r in new[8:]] == ["u7", new[8]["uuid"], "u8"]
    assert new[8]["sessionId"] == "s1"
    assert len(load(dump(conv.with_messages([*conv.messages[:at], note, *conv.messages[at:]]))).messages) == 10


def test_claude_code_compaction_as_the_client_reads_it() -> None:
    conv = load(build.jsonl(build.claude_code()))
    new = conv.compacted(SUMMARY, last_exchange(conv), CompactionOptions(tokens_before=900, timestamp=build.stamp(59)))
    rows = records(new)
    assert [r.get("subtype") or r["type"] for r in rows] == ["mode", "compact_boundary", "user", "user", "assistant"]
    assert rows[1]["parentUuid"] is None
    assert rows[1]["logicalParentUuid"] == "u7"
    assert rows[1]["compactMetadata"] == {"trigger": "manual", "preTokens": 900}
    assert rows[1]["timestamp"] == rows[2]["timestamp"] == build.stamp(59)
    assert rows[2]["isCompactSummary"] is True
    assert rows[2]["message"] == {"role": "user", "content": SUMMARY}
    assert [r["parentUuid"] for r in rows[2:]] == [rows[1]["uuid"], rows[2]["uuid"], "u8"]
    expected = [r for r in build.claude_code() if r.get("uuid") in ("u8", "u9")]
    assert [{**r, "parentUuid": 0} for r in rows[3:]] == [{**r, "parentUuid": 0} for r in expected]
    assert check(new) == []
    assert new.messages[0].is_summary


def test_claude_code_append_keeps_the_history_and_counts_nothing_twice() -> None:
    data = build.jsonl(build.claude_code())
    conv = load(data)
    new = conv.compacted(SUMMARY, last_exchange(conv), CompactionOptions(append=True))
    assert dump(new).startswith(data)
    assert [m.text for m in new.messages] == [SUMMARY, "Fix it.", "Done."]
    copies = records(new)[-2:]
    assert copies[0]["uuid"] not in {r.get("uuid") for r in build.claude_code()}
    assert "usage" not in copies[1]["message"]
    assert copies[1]["message"]["id"] != "m3"
    assert check(new) == []


def test_the_same_compaction_gives_the_same_bytes() -> None:
    conv = load(build.jsonl(build.claude_code()))
    assert dump(conv.compacted(SUMMARY, last_exchange(conv))) == dump(conv.compacted(SUMMARY, last_exchange(conv)))


# ------------------------------------------------------------------ Codex
def test_codex_items_and_what_the_client_wrote_itself() -> None:
    conv = load(build.jsonl(build.codex()))
    assert [m.role for m in conv.messages] == [
        "system", "user", "user", "assistant", "assistant", "tool", "assistant", "user",
    ]  # fmt: skip
    assert conv.user_texts() == [(1, "Run the tests."), (2, "Fix it.")]
    assert [m.text for m in conv.system] == ["You are Codex."]


def test_codex_compacted_resets_the_history() -> None:
    rows = build.codex()
    history = [build.said("user", "Run the tests."), build.said("user", "Summary of it.")]
    rows += [build.line("compacted", {"message": "Summary of it.", "replacement_history": history})]
    rows += [build.item(build.said("user", "Go on."))]
    conv = load(build.jsonl(rows))
    assert [m.where for m in conv.messages] == [
        "line 11.replacement_history[0]",
        "line 11.replacement_history[1]",
        "line 12",
    ]
    assert [m.is_summary for m in conv.messages] == [False, True, False]
    changed = conv.with_messages([conv.messages[1], conv.messages[2]])
    assert records(changed)[10]["payload"]["replacement_history"] == history[1:]
    assert dump(changed).splitlines()[:10] == build.jsonl(rows).splitlines()[:10]


def test_codex_message_alone_is_the_summary() -> None:
    rows = [*build.codex(), build.line("compacted", {"message": "What was done."})]
    conv = load(build.jsonl(rows))
    assert [(m.text, m.is_summary) for m in conv.messages] == [("What was done.", True)]


def test_codex_message_that_the_summary_quotes_is_the_users() -> None:
    history = [build.said("user", "Run the tests."), build.said("user", "Prefix. Asked: Run the tests. Done.")]
    told = {"message": "Asked: Run the tests. Done.", "replacement_history": history}
    conv = load(build.jsonl([*build.codex(), build.line("compacted", told), build.item(build.said("user", "Go on."))]))
    assert [(m.text, m.is_summary) for m in conv.messages] == [
        ("Run the tests.", False),
        ("Prefix. Asked: Run the tests. Done.", True),
        ("Go on.", False),
    ]


def test_codex_history_holds_what_only_a_compaction_kept() -> None:
    rows = build.codex()
    history = [build.said("user", "S"), build.said("user", "Log in UTC."), build.said("assistant", "Yes.")]
    compacted = build.line("compacted", {"message": "S", "replacement_history": history})
    conv = load(build.jsonl([rows[0], compacted, build.item(build.said("user", "Go on."))]))
    assert [m.text for m in conv.history()] == ["S", "Log in UTC.", "Yes.", "Go on."]
    first = build.item(build.said("user", "Log in UTC."))  # here it stands before the record too: once is enough
    conv = load(build.jsonl([rows[0], first, compacted, build.item(build.said("user", "Go on."))]))
    assert [m.text for m in conv.history()] == ["Log in UTC.", "S", "Yes.", "Go on."]


def test_codex_compaction_as_the_client_reads_it() -> None:
    rows = [{"ordinal": n, **r} for n, r in enumerate(build.codex())]
    conv = load(build.jsonl(rows))
    new = conv.compacted(SUMMARY, last_exchange(conv))
    out = records(new)
    assert [r["type"] for r in out] == ["session_meta", "compacted"]
    assert out[1]["ordinal"] == 10
    assert out[1]["payload"] == {
        "message": SUMMARY,
        "replacement_history": [
            build.said("developer", "<permissions instructions>x"),
            build.said("user", SUMMARY),
            build.said("user", "Fix it."),
        ],
    }
    assert check(new) == []
    appended = records(conv.compacted(SUMMARY, last_exchange(conv), CompactionOptions(append=True)))
    assert [r["type"] for r in appended].count("response_item") == 8
    assert not [r for r in appended if r["payload"].get("type") == "token_count"]  # stale figures compact again


def test_codex_opaque_item_stands_before_the_summary() -> None:
    opaque = {"type": "compaction", "encrypted_content": "gAAA"}
    rows = build.codex()
    rows.insert(9, build.item(opaque))
    conv = load(build.jsonl(rows))
    kept = [next(m for m in conv.messages if m.opaque), *last_exchange(conv)]
    history = records(conv.compacted(SUMMARY, kept))[-1]["payload"]["replacement_history"]
    assert history[1:] == [opaque, build.said("user", SUMMARY), build.said("user", "Fix it.")]


# ------------------------------------------------------------------ Pi
def test_pi_sees_the_path_of_the_last_entry() -> None:
    rows = build.pi()
    rows.insert(7, build.entry("a55", "a5", {"role": "user", "content": [{"type": "text", "text": "left branch"}]}))
    conv = load(build.jsonl(rows))
    assert lines_of(conv) == [3, 4, 5, 6, 7, 9, 10]
    assert conv.model == "loop-1"


def test_pi_compaction_shows_summary_then_the_kept_entries() -> None:
    rows = build.pi()
    rows.append({"type": "compaction", "id": "c1", "parentId": "a7", "timestamp": build.stamp(30),
                 "summary": "done", "firstKeptEntryId": "a6", "tokensBefore": 9})  # fmt: skip
    rows.append(build.entry("a9", "c1", {"role": "user", "content": [{"type": "text", "text": "Go on."}]}))
    conv = load(build.jsonl(rows))
    assert [m.text for m in conv.messages] == ["done", "Fix it.", "Done.", "Go on."]
    assert conv.messages[0].is_summary


def test_pi_v1_counts_entries_with_the_header() -> None:
    rows = [{k: v for k, v in r.items() if k not in ("id", "parentId")} for r in build.pi()]
    rows[0] = {"type": "session", "id": "s1", "cwd": "/w", "timestamp": build.stamp(0)}
    rows.append({"type": "compaction", "timestamp": build.stamp(30), "summary": "done", "firstKeptEntryIndex": 7})
    assert [m.text for m in load(build.jsonl(rows)).messages] == ["done", "Fix it.", "Done."]


def test_pi_failed_answers_make_no_calls() -> None:
    rows = build.pi()
    rows.append(build.entry("a8", "a7", {"role": "assistant", "content": [build.call("t9")], "stopReason": "aborted"}))
    conv = load(build.jsonl(rows))
    assert conv.messages[-1].mark == "skipped"
    assert conv.messages[-1].calls == ()


def test_pi_compaction_as_the_client_reads_it() -> None:
    data = build.jsonl(build.pi())
    conv = load(data)
    options = CompactionOptions(tokens_before=900, read_files=("a.py",), modified_files=("b.py",))
    new = conv.compacted(SUMMARY, last_exchange(conv), options)
    rows = records(new)
    assert [r["type"] for r in rows] == ["session", "model_change", "message", "message", "compaction"]
    assert rows[2] == {**build.pi()[7], "parentId": "m0"}
    assert dump(new).splitlines()[3] == data.splitlines()[8]
    compaction = rows[4]
    assert compaction["firstKeptEntryId"] == "a6"
    assert compaction["parentId"] == "a7"
    assert compaction["tokensBefore"] == 900
    assert compaction["details"] == {"readFiles": ["a.py"], "modifiedFiles": ["b.py"]}
    assert compaction["timestamp"] >= rows[3]["timestamp"]
    assert [m.text for m in new.messages] == [SUMMARY, "Fix it.", "Done."]
    assert check(new) == []


def test_pi_append_points_at_the_kept_entries() -> None:
    data = build.jsonl(build.pi())
    conv = load(data)
    new = conv.compacted(SUMMARY, last_exchange(conv), CompactionOptions(append=True))
    assert dump(new).startswith(data)
    assert len(records(new)) == len(build.pi()) + 1
    assert [m.text for m in new.messages] == [SUMMARY, "Fix it.", "Done."]


def test_pi_without_a_kept_answer_gets_an_acknowledgement() -> None:
    new = load(build.jsonl(build.pi())).compacted(SUMMARY, [])
    assert [m.role for m in new.messages] == ["user", "assistant"]
    assert check(new) == []


def test_pi_kept_messages_that_were_changed_are_written_anew_when_appending() -> None:
    conv = load(build.jsonl(build.pi()))
    kept = list(conv.messages[1:])
    kept[1] = conv.edit(kept[1], {0: ToolResult("t1", "cut", kind="toolResult")})
    new = conv.compacted(SUMMARY, kept, CompactionOptions(append=True))
    assert [r.text for m in new.messages for r in m.results] == ["cut", "x"]
    assert check(new) == []
    assert len({r["id"] for r in records(new)}) == len(records(new))


@pytest.mark.parametrize("name", ["claude-code", "codex", "pi"])
def test_torn_and_glued_lines_lose_nothing_else(name: str) -> None:
    lines = build.FILES[name].splitlines()
    data = b"\n".join([*lines[:-2], lines[-2] + lines[-1], b'{"type": "assi'])
    conv = load(data)
    assert [m.raw for m in conv.messages] == [m.raw for m in load(build.FILES[name]).messages]
    assert dump(conv) == data
