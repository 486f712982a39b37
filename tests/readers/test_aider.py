"""Aider's analytics log and chat history."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from monitor.readers.aider import READERS
from tests.readers.agent_help import calls, figures, head, infos, lines, loaded, read, read_path, steps, write

ANALYTICS, HISTORY = READERS


def event(name: str, time: int, **properties: Any) -> dict[str, Any]:
    return {"event": name, "properties": properties, "user_id": "u", "time": time}


def sent(time: int, prompt: int, output: int, cost: float = 0.0) -> dict[str, Any]:
    return event("message_send", time, main_model="gpt-4o", edit_format="diff", prompt_tokens=prompt,
                 completion_tokens=output, total_tokens=prompt + output, cost=cost, total_cost=cost)  # fmt: skip


def test_message_send_is_a_call_and_launched_begins_a_session() -> None:
    rows = [event("launched", 1_775_304_000), event("cli session", 1_775_304_001), sent(1_775_304_010, 5_244, 604, 0.02),
            event("exit", 1_775_304_020), event("launched", 1_775_305_000), sent(1_775_305_010, 100, 7),
            event("cli session", 1_775_306_000), sent(1_775_306_010, 90, 7)]  # fmt: skip
    found = read(ANALYTICS, lines(rows))
    assert [figures(call) for call in calls(found)] == [(5_244, 5_244, None, None, 604), (100, 100, None, None, 7),
                                                     (90, 90, None, None, 7)]  # fmt: skip
    assert [(call.cost_usd, call.model, call.time) for call in calls(found)] == [
        (0.02, "gpt-4o", 1_775_304_010_000), (None, "gpt-4o", 1_775_305_010_000),
        (None, "gpt-4o", 1_775_306_010_000)]  # fmt: skip
    assert [info.session for info in infos(found)] == [
        "stdin 2026-04-04T12:00:00.000Z",
        "stdin 2026-04-04T12:16:40.000Z",
        "stdin 2026-04-04T12:33:20.000Z",
    ]
    assert len({call.session for call in calls(found)}) == 3


TALK = """
# aider chat started at 2025-01-02 10:11:12

> Aider v0.70.0
> Main model: claude-3-5-sonnet-20241022 with diff edit format
#### add the page
#### and its test

Sure.

> Tokens: 12k sent, 1.2k cache write, 3k cache hit, 604 received. Cost: $0.02 message, $0.10 session.
> Tokens: 950 sent, 604 received.

# aider chat started at 2025-01-03 09:00:00
> Model: gpt-4o with diff edit format
#### go on
> Tokens: 5,244 request, 60 response. Cost: $0.0012 request, $0.0012 session.
"""


def test_the_report_lines_of_a_chat_history(tmp_path: Path) -> None:
    path = write(tmp_path / "shop" / ".aider.chat.history.md", TALK.encode())
    found = read_path(HISTORY, path)
    assert [figures(call) for call in calls(found)] == [
        (12_000, 7_800, 3_000, 1_200, 604), (950, 950, None, None, 604), (5_244, 5_244, None, None, 60)]  # fmt: skip
    # rounded figures are estimates
    assert [call.status for call in calls(found)] == ["estimated", "ok", "ok"]
    assert [(call.cost_usd, call.exchange, call.model) for call in calls(found)] == [
        (0.02, 1, "claude-3-5-sonnet-20241022"), (None, 1, "claude-3-5-sonnet-20241022"), (0.0012, 1, "gpt-4o")]  # fmt: skip
    # local times without a zone name the session, and are no times
    assert [info.session for info in infos(found)] == ["shop 2025-01-02 10:11:12", "shop 2025-01-03 09:00:00"]
    assert {call.time for call in calls(found)} == {None}
    assert [kind for kind, _, _ in steps(found)] == ["user", "answer", "answer", "user", "answer"]
    assert [len(view.turns) for view in loaded(path).sessions] == [1, 2]


def test_the_same_line_twice_is_two_calls() -> None:
    line = "> Tokens: 950 sent, 604 received.\n"
    assert len({call.key for call in calls(read(HISTORY, ("# aider chat started at x\n" + line * 2).encode()))}) == 2


def test_cache_hits_beside_what_was_sent_are_added() -> None:
    (call,) = calls(read(HISTORY, b"> Tokens: 900 sent, 30k cache hit, 6 received."))
    assert (call.prompt_tokens, call.fresh_tokens) == (30_900, 900)


def test_sniff() -> None:
    assert ANALYTICS.sniff(head(lines([sent(1, 2, 3)]))) == 0.9
    assert ANALYTICS.sniff(head(lines([{"event": "x", "properties": {}, "time": 1}]))) == 0.0
    assert HISTORY.sniff(head(TALK.encode())) == 0.9
    assert HISTORY.sniff(head(b"# notes\n> Tokens: 5 sent, 3 received.\n")) == 0.6
    assert HISTORY.sniff(head(b"# notes\n")) == 0.0
