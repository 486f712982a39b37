"""What Claude Code prints with ``--output-format stream-json``: its transcript without times, and sums at the end."""

from __future__ import annotations

import json
from typing import Any

from monitor.readers import choose
from monitor.readers.base import Head
from monitor.records import Event
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
    facts = {"trigger": "auto", "pre_tokens": 155_000}
    rows = [*ROWS, printed("system", subtype="compact_boundary", compact_metadata=facts), answer("m3", use(3, 9, 9, 9))]
    (event,) = [record for record in read(rows) if isinstance(record, Event)]
    assert (event.kind, event.trigger, event.recorded_before, event.session) == ("compaction", "auto", 155_000, SESSION)
