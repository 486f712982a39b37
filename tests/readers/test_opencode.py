"""opencode: database, storage folder, exports."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from monitor.readers.opencode import READERS
from monitor.records import Problem
from tests.readers.agent_help import (
    calls,
    events,
    figures,
    head,
    infos,
    lines,
    loaded,
    read,
    read_path,
    steps,
    write,
)

FILES, DATABASE = READERS
T0 = 1_771_581_600_000
Usage = tuple[int, int, int, int, int]  # input, output, reasoning, read, write


def tokens(usage: Usage, total: int | None = None) -> dict[str, Any]:
    fresh, output, reasoning, read_, write_ = usage
    found: dict[str, Any] = {"input": fresh, "output": output, "reasoning": reasoning}
    if total is not None:
        found["total"] = total
    return {**found, "cache": {"read": read_, "write": write_}}


def user(id: str, seconds: int) -> dict[str, Any]:
    return {"id": id, "role": "user", "time": {"created": T0 + seconds * 1000}}


def said(id: str, seconds: int, usage: Usage, **more: Any) -> dict[str, Any]:
    return {"id": id, "role": "assistant", "parentID": "msg_u1", "mode": "build", "agent": "build", "cost": 0,
            "tokens": tokens(usage), "modelID": "claude-sonnet-4-5", "providerID": "anthropic", "finish": "tool-calls",
            "time": {"created": T0 + seconds * 1000, "completed": T0 + seconds * 1000 + 900}, **more}  # fmt: skip


def finish(usage: Usage) -> dict[str, Any]:
    return {"type": "step-finish", "reason": "tool-calls", "tokens": tokens(usage), "cost": 0}


Parts = dict[str, list[dict[str, Any]]]


def database(path: Path, sessions: list[tuple[str, str | None]], messages: dict[str, list[dict[str, Any]]],
             parts: Parts | None = None) -> Path:  # fmt: skip
    """A database with the columns that are read."""
    base = sqlite3.connect(path)
    base.execute("CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text, time_created integer)")
    base.execute("CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, data text)")
    base.execute("CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, data text)")
    for number, (id, parent) in enumerate(sessions):
        base.execute("INSERT INTO session VALUES (?, ?, '/home/dev/shop', ?)", (id, parent, T0 + number))
    for session, rows in messages.items():
        for row in rows:
            data = json.dumps({key: value for key, value in row.items() if key != "id"})
            base.execute("INSERT INTO message VALUES (?, ?, ?, ?)", (row["id"], session, row["time"]["created"], data))
    for message, found in (parts or {}).items():
        for number, part in enumerate(found):
            base.execute("INSERT INTO part VALUES (?, ?, 's', ?)", (f"{message}_{number}", message, json.dumps(part)))
    base.commit()
    base.close()
    return path


def storage(folder: Path, session: str, rows: list[dict[str, Any]], parts: Parts, parent: str | None = None) -> Path:
    """The same as files."""
    for row in rows:
        write(folder / "message" / session / f"{row['id']}.json", {**row, "sessionID": session})
    for message, found in parts.items():
        for number, part in enumerate(found):
            value = {"id": f"{message}_{number}", "messageID": message, "sessionID": session, **part}
            write(folder / "part" / message / f"prt_{number}.json", value)
    info = {"id": session, "projectID": "p1", "directory": "/home/dev/shop", "version": "1.0.180",
            "time": {"created": T0, "updated": T0}}  # fmt: skip
    return write(folder / "session" / "p1" / f"{session}.json", {**info, "parentID": parent} if parent else info)


TALK = [user("msg_u1", 0), said("msg_a1", 1, (27, 70, 0, 20_480, 0)), said("msg_a2", 10, (114, 55, 30, 20_480, 900)),
        user("msg_u2", 20), said("msg_a3", 21, (10, 5, 0, 21_494, 85), finish="stop")]  # fmt: skip
TYPED: Parts = {"msg_u1": [{"type": "text", "text": "Hi"}], "msg_u2": [{"type": "text", "text": "Go on"}],
                "msg_a1": [finish((27, 70, 0, 20_480, 0))]}  # fmt: skip
WANT = [(20_507, 27, 20_480, 0, 70), (21_494, 114, 20_480, 900, 85), (21_589, 10, 21_494, 85, 5)]


def test_input_excludes_the_cache_and_output_excludes_reasoning(tmp_path: Path) -> None:
    found = read_path(DATABASE, database(tmp_path / "opencode.db", [("ses_1", None)], {"ses_1": TALK}, TYPED))
    assert [figures(call) for call in calls(found)] == WANT
    assert [call.exchange for call in calls(found)] == [1, 1, 2]
    assert (calls(found)[0].time, calls(found)[0].duration_ms) == (T0 + 1000, 900)
    assert {call.cost_usd for call in calls(found)} == {None}  # 0 is no price
    assert infos(found)[0].cwd_name == "shop"


def test_files_and_database_tell_the_same_calls_under_the_same_keys(tmp_path: Path) -> None:
    base = database(tmp_path / "opencode.db", [("ses_1", None)], {"ses_1": TALK}, TYPED)
    file = storage(tmp_path / "storage", "ses_1", TALK, TYPED)
    assert [call.key for call in calls(read_path(FILES, file))] == [
        call.key for call in calls(read_path(DATABASE, base))
    ]
    both = loaded(base, tmp_path / "storage")
    assert [len(view.turns) for view in both.sessions] == [3]


def test_a_folder_is_read_once_however_its_files_are_offered(tmp_path: Path) -> None:
    storage(tmp_path / "storage", "ses_1", TALK, TYPED)
    view = loaded(tmp_path / "storage").sessions[0]
    assert [figures(turn.call) for turn in view.turns] == WANT
    assert view.exchanges == 2


def test_a_message_is_read_alone_only_without_its_session(tmp_path: Path) -> None:
    file = storage(tmp_path, "ses_1", TALK, TYPED)
    message = tmp_path / "message" / "ses_1" / "msg_a2.json"
    assert read_path(FILES, message) == []
    file.unlink()
    assert [figures(call) for call in calls(read_path(FILES, message))] == [WANT[1]]


def test_steps_of_a_message_are_the_calls_where_there_are_many(tmp_path: Path) -> None:
    tool = {"type": "tool", "tool": "bash", "callID": "c1",
            "state": {"status": "completed", "input": {"command": "ls"}, "output": "a b",
                      "time": {"start": T0 + 3_000, "end": T0 + 4_000}}}  # fmt: skip
    parts: Parts = {"msg_a1": [finish((100, 1, 0, 0, 0)), tool, finish((20, 2, 0, 100, 0))]}
    rows = [said("msg_a1", 1, (20, 2, 0, 100, 0))]
    found = calls(read_path(DATABASE, database(tmp_path / "o.db", [("ses_1", None)], {"ses_1": rows}, parts)))
    assert [(call.prompt_tokens, call.output_tokens, call.duration_ms) for call in found] == [
        (100, 1, None),
        (120, 2, None),
    ]
    assert found[0].key != found[1].key


def test_a_summary_is_a_compaction_and_its_own_call(tmp_path: Path) -> None:
    rows = [user("msg_u1", 0), said("msg_a1", 1, (100, 9, 0, 90_000, 0)), user("msg_c", 5),
            said("msg_s", 6, (6_099, 102, 0, 0, 0), summary=True, mode="compaction", agent="compaction",
                 parentID="msg_c", finish="stop"),
            user("msg_n", 7), said("msg_a2", 8, (16_000, 9, 0, 0, 0))]  # fmt: skip
    parts: Parts = {"msg_u1": [{"type": "text", "text": "Port it"}], "msg_c": [{"type": "compaction", "auto": True}],
                    "msg_n": [{"type": "text", "text": "Continue", "synthetic": True}]}  # fmt: skip
    base = database(tmp_path / "o.db", [("ses_1", None)], {"ses_1": rows}, parts)
    found = read_path(DATABASE, base)
    assert [(call.chain, call.purpose, call.exchange) for call in calls(found)] == [
        ("main", "work", 1), ("side", "compaction", 1), ("main", "work", 1)]  # fmt: skip
    (event,) = events(found)
    assert (event.trigger, event.summary_tokens, event.evidence) == ("auto", 102, "recorded")
    view = loaded(base).sessions[0]
    seen = next(event for event in view.events if event.kind == "compaction")
    assert (seen.tokens_before, seen.tokens_after, view.windows) == (90_100, 16_000, 2)


def test_what_is_sent_once_more_behind_an_overflow_was_typed_once(tmp_path: Path) -> None:
    """The provider refuses a request as too long, opencode compacts and sends the last message again by itself."""
    rows = [user("msg_u1", 0), said("msg_a1", 1, (100, 9, 0, 90_000, 0)), user("msg_u2", 3),
            said("msg_a2", 4, (0, 0, 0, 0, 0), finish=None), user("msg_c", 5),
            said("msg_s", 6, (6_099, 102, 0, 0, 0), summary=True, mode="compaction", parentID="msg_c", finish="stop"),
            user("msg_r", 7), said("msg_a3", 8, (16_000, 9, 0, 0, 0)), user("msg_u3", 9),
            said("msg_a4", 10, (17_000, 9, 0, 0, 0))]  # fmt: skip
    go_on = [{"type": "text", "text": "Go on"}]
    asked = [{"type": "compaction", "auto": True, "overflow": True}]
    parts: Parts = {"msg_u1": [{"type": "text", "text": "Port it"}], "msg_u2": go_on, "msg_c": asked, "msg_r": go_on,
                    "msg_u3": go_on}  # fmt: skip
    found = read_path(DATABASE, database(tmp_path / "o.db", [("ses_1", None)], {"ses_1": rows}, parts))
    assert [call.exchange for call in calls(found) if call.status == "ok"] == [1, 2, 2, 3]
    assert sorted(event.kind for event in events(found)) == ["compaction", "overflow"]
    # a message that tells the refusal by itself tells the same one
    rows[3]["error"] = {"name": "ContextOverflowError", "data": {"message": "prompt is too long"}}
    found = read_path(DATABASE, database(tmp_path / "p.db", [("ses_1", None)], {"ses_1": rows}, parts))
    assert sorted(event.kind for event in events(found)) == ["compaction", "overflow"]


def test_a_summary_that_failed_compacted_nothing(tmp_path: Path) -> None:
    rows = [said("msg_s", 6, (0, 0, 0, 0, 0), summary=True, mode="compaction", error={"name": "APIError"})]
    found = read_path(DATABASE, database(tmp_path / "o.db", [("ses_1", None)], {"ses_1": rows}))
    assert events(found) == []
    assert [(call.status, call.prompt_tokens, call.stop) for call in calls(found)] == [("error", None, "tool-calls")]


def test_zeros_are_running_failed_or_not_reported(tmp_path: Path) -> None:
    zero = (0, 0, 0, 0, 0)
    rows = [said("msg_a", 1, zero, time={"created": T0}), said("msg_b", 2, zero, error={"name": "MessageAbortedError"}),
            said("msg_c", 3, zero)]  # fmt: skip
    found = calls(read_path(DATABASE, database(tmp_path / "o.db", [("ses_1", None)], {"ses_1": rows})))
    assert [(call.status, call.prompt_tokens) for call in found] == [("in_flight", None), ("error", None), ("ok", None)]


def test_a_message_that_is_done_and_holds_nothing_was_refused(tmp_path: Path) -> None:
    row = {key: value for key, value in said("msg_a", 1, (0, 0, 0, 0, 0)).items() if key != "finish"}
    base = database(tmp_path / "o.db", [("ses_1", None)], {"ses_1": [row, {**row, "id": "msg_b"}]},
                    {"msg_b": [{"type": "text", "text": "Done."}]})  # fmt: skip
    found = calls(read_path(DATABASE, base))
    assert [(call.status, call.prompt_tokens) for call in found] == [("error", None), ("ok", None)]


def test_a_step_that_another_one_follows_before_its_end_is_a_failed_call(tmp_path: Path) -> None:
    usage, start, text = (67, 47, 8, 10_240, 0), {"type": "step-start"}, {"type": "text", "text": "x"}
    base = database(tmp_path / "o.db", [("ses_1", None)], {"ses_1": [said("msg_a", 1, usage)]},
                    {"msg_a": [start, text, start, text, finish(usage)]})  # fmt: skip
    found = calls(read_path(DATABASE, base))
    assert [(call.status, call.prompt_tokens) for call in found] == [("error", None), ("ok", 10_307)]
    assert len({call.key for call in found}) == 2


def test_a_message_without_figures_is_no_call(tmp_path: Path) -> None:
    rows = [{key: value for key, value in said("msg_a", 1, (1, 1, 0, 0, 0)).items() if key != "tokens"}]
    assert calls(read_path(DATABASE, database(tmp_path / "o.db", [("ses_1", None)], {"ses_1": rows}))) == []


@pytest.mark.parametrize(
    ("usage", "total", "want"),
    [
        ((27, 70, 0, 20_480, 0), 20_577, (20_507, 27, 20_480, 0, 70)),
        ((20_507, 70, 0, 20_480, 0), 20_577, (20_507, 27, 20_480, 0, 70)),  # input includes the cache
        ((100, 50, 30, 0, 0), 180, (100, 100, 0, 0, 80)),
        ((100, 50, 30, 0, 0), 150, (100, 100, 0, 0, 50)),  # reasoning inside the output
    ],
)
def test_the_total_decides(tmp_path: Path, usage: Usage, total: int, want: tuple[int, ...]) -> None:
    rows = [said("msg_a", 1, usage, tokens=tokens(usage, total))]
    (call,) = calls(read_path(DATABASE, database(tmp_path / "o.db", [("ses_1", None)], {"ses_1": rows})))
    assert figures(call) == want


def test_subagents_are_chains_of_the_session_at_the_root(tmp_path: Path) -> None:
    sessions = [("ses_root", None), ("ses_child", "ses_root"), ("ses_grand", "ses_child")]
    talks = {name: [said(f"msg_{name}", 1, (10, 1, 0, 0, 0))] for name, _ in sessions}
    found = calls(read_path(DATABASE, database(tmp_path / "o.db", sessions, talks)))
    assert sorted((call.session, call.chain) for call in found) == [
        ("ses_root", "agent:ses_child"), ("ses_root", "agent:ses_grand"), ("ses_root", "main")]  # fmt: skip
    assert {call.exchange for call in found} == {None}
    for name, parent in sessions:
        storage(tmp_path / "storage", name, talks[name], {}, parent)
    assert len(loaded(tmp_path / "storage").sessions) == 1


def test_sessions_that_name_each_other_end(tmp_path: Path) -> None:
    base = database(tmp_path / "o.db", [("a", "b"), ("b", "a")], {"a": [said("m", 1, (1, 1, 0, 0, 0))]})
    assert len(calls(read_path(DATABASE, base))) == 1


def test_a_fork_copies_messages_under_new_ids(tmp_path: Path) -> None:
    copy = [{**row, "id": row["id"] + "_copy"} for row in TALK]
    more = [*copy, said("msg_own", 40, (5, 5, 0, 21_589, 0))]
    base = database(tmp_path / "o.db", [("ses_1", None), ("ses_2", None)], {"ses_1": TALK, "ses_2": more})
    found = {view.session: (len(view.turns), view.inherited_calls) for view in loaded(base).sessions}
    assert found == {"ses_1": (3, 0), "ses_2": (1, 3)}


def test_pruned_results_are_one_trim(tmp_path: Path) -> None:
    def tool(when: int | None) -> dict[str, Any]:
        time = {"start": T0, "end": T0 + 1, **({"compacted": when} if when is not None else {})}
        return {"type": "tool", "tool": "read", "callID": "c", "state": {"status": "completed", "time": time}}

    parts: Parts = {"msg_a1": [tool(T0 + 50_000), tool(T0 + 50_003), tool(None), tool(T0 + 90_000)]}
    base = database(tmp_path / "o.db", [("ses_1", None)], {"ses_1": TALK}, parts)
    assert [(event.kind, event.time) for event in events(read_path(DATABASE, base))] == [
        ("trim", T0 + 50_000), ("trim", T0 + 90_000)]  # fmt: skip


def test_steps_are_read_for_the_latest_messages(tmp_path: Path) -> None:
    tool = {"type": "tool", "tool": "bash", "callID": "c1",
            "state": {"status": "error", "input": {"command": "pytest"}, "error": "1 failed", "time": {"start": T0}}}  # fmt: skip
    parts: Parts = {**TYPED, "msg_a2": [tool]}
    base = database(tmp_path / "o.db", [("ses_1", None)], {"ses_1": TALK}, parts)
    assert steps(read_path(DATABASE, base)) == [
        ("user", "", None), ("tool_call", "bash", None), ("tool_result", "", False), ("user", "", None),
        ("answer", "", None)]  # fmt: skip


def test_an_export_is_one_document(tmp_path: Path) -> None:
    document = {"info": {"id": "ses_9", "directory": "/w", "time": {"created": T0}},
                "messages": [{"info": row, "parts": [{"id": f"p{n}", "sessionID": "ses_9", "messageID": row["id"], **part}
                                                     for n, part in enumerate(TYPED.get(row["id"], []))]}
                             for row in TALK]}  # fmt: skip
    found = read(FILES, lines([document]))
    assert [figures(call) for call in calls(found)] == WANT
    assert [call.exchange for call in calls(found)] == [1, 1, 2]
    assert FILES.sniff(head(lines([document]))) > 0.8


def test_damaged_rows_cost_themselves_only(tmp_path: Path) -> None:
    path = database(tmp_path / "o.db", [("ses_1", None)], {"ses_1": TALK}, TYPED)
    base = sqlite3.connect(path)
    base.execute("INSERT INTO message VALUES ('bad', 'ses_1', 1, '{\"role\":')")
    base.execute("INSERT INTO message VALUES ('odd', 'ses_1', 1, 17)")
    base.execute("INSERT INTO part VALUES ('bad', 'msg_a1', 's', x'fffe00')")
    base.commit()
    base.close()
    found = read_path(DATABASE, path)
    assert len(calls(found)) == 3
    assert [record.reason for record in found if isinstance(record, Problem)] == [
        "3 rows hold no valid JSON; they were skipped"
    ]


def test_ids_are_no_paths(tmp_path: Path) -> None:
    secret = write(tmp_path / "secret" / "x.json", {"id": "x", "sessionID": "s", "role": "assistant"})
    file = storage(tmp_path / "storage", "ses_1", TALK, {})
    document = json.loads(file.read_text(encoding="utf-8"))
    write(file, {**document, "id": f"../../../{secret.parent.name}"})
    assert calls(read_path(FILES, file)) == []


def test_sniff(tmp_path: Path) -> None:
    base = database(tmp_path / "o.db", [("ses_1", None)], {"ses_1": TALK})
    assert DATABASE.sniff(head(base.read_bytes()[:32_768], base)) == 0.95
    assert DATABASE.sniff(head(base.read_bytes())) == 0.95  # from standard input
    file = storage(tmp_path, "ses_1", TALK, TYPED)
    assert FILES.sniff(head(file.read_bytes(), file)) == 0.9
    assert FILES.sniff(head((tmp_path / "message/ses_1/msg_a1.json").read_bytes())) == 0.9
    assert FILES.sniff(head(b'{"id":"a","role":"user","content":"x"}')) == 0.0
