"""What Claude Code prints with ``--output-format stream-json``: its transcript without times, and sums at the end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from monitor.readers import choose
from monitor.readers.base import Head
from monitor.records import Event
from tests.readers.agent_help import loaded
from tests.readers.test_claude_code import calls, read, use

SESSION = "11111111-2222-4333-8444-555555555555"


def printed(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "session_id": SESSION, "uuid": f"u{len(json.dumps(more))}", **more}


def answer(mid: str, usage: dict[str, Any], parent: str | None = None) -> dict[str, Any]:
    content = [{"type": "text", "text": "ok"}]
    message = {"id": mid, "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": content,
               "stop_reason": None, "usage": usage}  # fmt: skip
    return printed("assistant", message=message, parent_tool_use_id=parent)


ROWS = [
    printed("system", subtype="init", model="claude-sonnet-4-5", cwd="/home/dev/shop", tools=[]),
    answer("m1", use(3, 0, 20_000, 2)),
    answer("m1", use(3, 0, 20_000, 2)),
    answer("a1", use(5, 0, 6_000, 2), parent="toolu_1"),
    answer("m2", use(3, 20_003, 500, 5)),
    printed("result", subtype="success", num_turns=2, total_cost_usd=0.08, usage=use(11, 20_003, 26_500, 300)),
]


def test_printed_lines_are_known_and_each_answer_is_one_call() -> None:
    data = b"".join(json.dumps(row).encode() + b"\n" for row in ROWS)
    reader, score = choose(Head(data, "out.jsonl", True, None, data[:16]), None)
    assert reader is not None
    assert (reader.source, score) == ("claude-code", 0.9)
    found = [(call.session, call.chain, call.prompt_tokens, call.time) for call in calls(read(ROWS))]
    assert found == [
        (SESSION, "main", 20_003, None),
        (SESSION, "agent:toolu_1", 6_005, None),
        (SESSION, "main", 20_506, None),
    ]
    assert all(call.output_is_lower_bound for call in calls(read(ROWS)))


def test_a_printed_boundary_is_a_compaction() -> None:
    facts = {"trigger": "auto", "pre_tokens": 155_000, "post_tokens": 5_706}
    rows = [*ROWS, printed("system", subtype="compact_boundary", compact_metadata=facts), answer("m3", use(3, 9, 9, 9))]
    (event,) = [record for record in read(rows) if isinstance(record, Event)]
    assert (event.kind, event.trigger, event.session) == ("compaction", "auto", SESSION)
    assert (event.recorded_before, event.recorded_after) == (155_000, 5_706)


def _transcript(folder: Path) -> None:
    folder.mkdir(parents=True)
    rows = [
        {"type": "assistant", "sessionId": "t1", "uuid": f"x{n}", "parentUuid": None, "isSidechain": False,
         "timestamp": f"2026-09-10T10:00:0{n}.000Z", "requestId": f"req_{id}",
         "message": {"id": id, "role": "assistant", "model": "claude-sonnet-4-5", "stop_reason": "end_turn",
                     "content": [{"type": "text", "text": "ok"}], "usage": usage}}
        for n, (id, usage) in enumerate((("m1", use(3, 0, 20_000, 700)), ("m2", use(3, 20_003, 500, 300))))
    ]  # fmt: skip
    (folder / "t1.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_what_was_printed_beside_a_transcript_counts_with_the_transcript(tmp_path: Path) -> None:
    _transcript(tmp_path / "projects" / "p")
    rows = [{**answer(id, usage), "request_id": f"req_{id}"} for id, usage in (("m1", use(3, 0, 20_000, 2)),)]
    (tmp_path / "out.jsonl").write_text("".join(json.dumps(row) + "\n" for row in [ROWS[0], *rows]))
    (view,) = loaded(tmp_path).sessions
    assert (view.session, view.sums.calls, view.sums.output_tokens) == ("t1", 2, 1_000)


def test_the_audit_log_of_cowork_tells_nothing_that_the_transcript_beside_it_does_not(tmp_path: Path) -> None:
    local = tmp_path / "local_ab12"
    local.mkdir()
    audit = [ROWS[0], answer("m1", use(3, 0, 20_000, 2)), answer("m2", use(3, 20_003, 500, 5))]
    (local / "audit.jsonl").write_text("".join(json.dumps(row) + "\n" for row in audit))
    assert [view.sums.calls for view in loaded(tmp_path).sessions] == [2]  # alone it is all there is
    _transcript(local / ".claude" / "projects" / "p")
    found = loaded(tmp_path)
    assert [(view.session, view.sums.output_tokens) for view in found.sessions] == [("t1", 1_000)]
    assert found.problems == []
