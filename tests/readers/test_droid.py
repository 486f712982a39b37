"""Droid sessions: totals, because no figures of calls are logged."""

from __future__ import annotations

from pathlib import Path

from monitor.readers.droid import READERS
from tests.readers.agent_help import calls, events, head, infos, lines, loaded, read_path, steps, write

SETTINGS, TALK = READERS
USED = {"model": "claude-opus-4-5", "providerLock": "anthropic", "providerLockTimestamp": "2026-04-04T12:00:00Z",
        "tokenUsage": {"inputTokens": 1_234, "outputTokens": 567, "cacheCreationTokens": 89, "cacheReadTokens": 12,
                       "thinkingTokens": 34}}  # fmt: skip
ROWS = [
    {"type": "session_start", "id": "d1", "title": "x", "cwd": "/home/dev/shop"},
    {"type": "message", "id": "m1", "timestamp": "2026-04-04T12:00:01.000Z",
     "message": {"role": "user", "content": [{"type": "text", "text": "Port it."}]}},
    {"type": "message", "id": "m2", "timestamp": "2026-04-04T12:00:02.000Z",
     "message": {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "Read", "input": {}}]}},
    {"type": "message", "id": "m3", "timestamp": "2026-04-04T12:00:03.000Z",
     "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "is_error": True}]}},
    {"type": "compaction_state", "id": "c1", "timestamp": "2026-04-04T12:00:04.000Z"},
]  # fmt: skip


def test_a_session_is_shown_by_its_totals(tmp_path: Path) -> None:
    write(tmp_path / "p" / "d1.settings.json", USED)
    write(tmp_path / "p" / "d1.jsonl", lines(ROWS))
    (view,) = loaded(tmp_path).sessions
    sums = view.sums
    assert (view.session, view.totals_only, view.source, view.project) == ("d1", True, "droid", "shop")
    assert (sums.prompt_tokens, sums.fresh_tokens, sums.cache_read_tokens, sums.cache_write_tokens, sums.output_tokens) == (
        1_335, 1_234, 12, 89, 567)  # fmt: skip
    assert [event.kind for event in view.events] == ["compaction"]


def test_an_earlier_copy_of_a_session_adds_nothing(tmp_path: Path) -> None:
    write(tmp_path / "p" / "d1.settings.json", USED)
    write(tmp_path / "d1.settings.json", {"tokenUsage": {"inputTokens": 1_000, "outputTokens": 500,
                                                         "cacheCreationTokens": 100, "cacheReadTokens": 0}})  # fmt: skip
    (view,) = loaded(tmp_path).sessions
    sums = view.sums
    assert (sums.prompt_tokens, sums.cache_write_tokens, sums.output_tokens) == (1_335, 89, 567)


def test_settings_without_figures_are_no_session(tmp_path: Path) -> None:
    path = write(tmp_path / "d2.settings.json", {"tokenUsage": {"inputTokens": 0, "outputTokens": 0}})
    assert infos(read_path(SETTINGS, path)) == []


def test_the_conversation_gives_steps_and_no_calls(tmp_path: Path) -> None:
    found = read_path(TALK, write(tmp_path / "d1.jsonl", lines(ROWS)))
    assert calls(found) == []
    assert steps(found) == [("user", "", None), ("tool_call", "Read", None), ("tool_result", "", False)]
    assert [event.session for event in events(found)] == ["d1"]


def test_sniff() -> None:
    assert SETTINGS.sniff(head(lines([USED]))) == 0.85
    assert SETTINGS.sniff(head(b'{"tokenUsage":{}}')) == 0.0
    assert TALK.sniff(head(lines(ROWS))) == 0.85
    assert TALK.sniff(head(lines(ROWS[1:2]))) == 0.0
