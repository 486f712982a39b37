"""A call in words and as JSON."""

from __future__ import annotations

import json
from datetime import UTC

from monitor.dashboard.model.calls import call_json, detail, event_lines, outcome, readout
from monitor.dashboard.model.text import line_width, plain
from monitor.sessions.view import PrefixChange
from tests.dashboard.fake import event, turn, view


def words(lines: list) -> str:
    return "\n".join(plain(line) for line in lines)


def test_the_readout_names_every_part() -> None:
    one = turn(410, 158_900, 155_700, 2_554, output_tokens=612)
    line = plain(readout(one, 500, 120, UTC))
    for part in ("#410 of 500", "159k", "cached 156k", "98%", "write 2.6k", "new 646", "out 612", "$0.080"):
        assert part in line


def test_the_narrow_readout_keeps_what_matters() -> None:
    line = readout(turn(410, 158_900, 155_700, 2_554), 500, 34, UTC)
    assert line_width(line) == 34
    assert "#410" in plain(line) and "159k" in plain(line) and "98%" in plain(line)
    assert "$" not in plain(line)


def test_the_readout_says_what_is_not_known() -> None:
    line = plain(readout(turn(3, None, status="error", output_tokens=None), 9, 100, UTC))
    assert "–" in line and "failed" in line
    line = plain(readout(turn(3, 9_000), 9, 100, UTC))
    assert "not reported" in line and "cached" not in line
    assert "no turns" in plain(readout(None, 0, 40))


def test_marks_reach_the_readout() -> None:
    estimated = plain(readout(turn(3, 9_000, status="estimated"), 9, 100, UTC))
    assert "~9.0k" in estimated
    bound = plain(readout(turn(3, 9_000, output_is_lower_bound=True), 9, 100, UTC))
    assert "out ≥600" in bound and "≥$0.080" in bound


def test_outcomes_have_words_beside_colours() -> None:
    missed = turn(1, 9_000, 0, 0, cache_outcome="miss", cache_miss_cause="expired")
    assert outcome(missed) == ("miss: expired", "bad")
    assert outcome(turn(1, 9_000, 8_900, 0)) == ("hit", "good")
    assert outcome(turn(1, None, status="in_flight"))[0] == "in flight"


def test_the_detail_lists_all_there_is() -> None:
    one = turn(
        5, 120_000, 60_000, 50_000, cache_outcome="partial", cache_miss_cause="compaction", expected_read=118_000,
        cache_write_1h_tokens=20_000, miss_cost_usd=0.25, exchange=3, window=2, delta=2_000, stop="tool_use",
        billed_prompt_tokens=180_000, reasoning_tokens=150,
    )  # fmt: skip
    text = words(detail(view([turn(i, 9_000, 0, 0) for i in range(5)] + [one]), one, 60, UTC))
    for part in (
        "120,000", "60,000", "50,000", "10,000", "of it 1 h 20k", "180,000", "partial: compaction", "after a compaction",
        "expected 118k", "~$0.25", "user message 3", "window 2", "+2.0k", "tool_use", "reasoning 150",
        "s1.jsonl:6", "msg_00005", "usable 167k?", "200k",
    ):  # fmt: skip
        assert part in text, part


def test_a_cost_that_rests_on_half_an_answer_is_a_lower_bound_everywhere() -> None:
    bound = turn(3, 9_000, 8_000, 500, output_is_lower_bound=True)
    assert "≥$0.080" in plain(readout(bound, 9, 140, UTC))
    assert "≥$0.080" in words(detail(view([bound]), bound, 60, UTC))
    logged = turn(3, 9_000, 8_000, 500, output_is_lower_bound=True, cost_source="logged")
    assert "≥$" not in words(detail(view([logged]), logged, 60, UTC))  # a bill knows the whole answer


def test_a_miss_tells_what_the_bodies_show() -> None:
    tools = turn(
        1, 9_000, 0, 0, cache_outcome="miss", cache_miss_cause="prefix_changed", prefix_change=PrefixChange("tools")
    )
    assert "the tools changed" in words(detail(view([tools]), tools, 60, UTC))
    deep = turn(
        1, 90_000, 0, 0, cache_outcome="miss", cache_miss_cause="prefix_changed",
        prefix_change=PrefixChange("history", 3, 34_000),
    )  # fmt: skip
    text = words(detail(view([deep]), deep, 44, UTC))
    assert "the history changed from message 4 on, ~34.0k tokens in" in " ".join(text.split())


def test_the_detail_tells_the_event_before_the_call() -> None:
    one = turn(1, 20_000, 14_000, 5_000)
    happened = event("compaction", 1, trigger="auto", tokens_before=159_000, tokens_after=20_000, summary_tokens=2_100)
    text = words(detail(view([turn(0, 159_000, 0, 0), one], [happened]), one, 50, UTC))
    assert "compaction  recorded, auto" in text and "159k → 20k, summary 2.1k" in text
    guessed = event("compaction", 1, evidence="inferred", tokens_before=159_000, tokens_after=20_000)
    text = words(detail(view([turn(0, 159_000, 0, 0), one], [guessed]), one, 50, UTC))
    assert "~compaction  inferred" in text


def test_a_long_value_goes_on_in_the_next_line() -> None:
    one = turn(54, 49_930, 49_792, 118, window=2, exchange=10, chain="agent:a1")
    text = words(detail(view([one]), one, 36, UTC))
    assert "turn #54, window 2, user message 10, agent:a1" in " ".join(text.split())


def test_lines_keep_to_the_width() -> None:
    one = turn(1, 20_000, 14_000, 5_000, model="a-model-with-a-very-long-name/" * 3, call_id="x" * 90)
    for width in (20, 34, 60):
        assert all(line_width(line) <= width for line in detail(view([one]), one, width, UTC)), width


def test_names_from_logs_are_made_harmless() -> None:
    one = turn(1, 20_000, 14_000, 5_000, model="evil\x1b[2J", stop="\x07")
    assert "\x1b" not in words(detail(view([one]), one, 60, UTC))
    assert "\x1b" not in words(event_lines(event("error", 1, detail="\x1b[31m"), 40))


def test_the_copy_is_the_call_of_the_contract() -> None:
    one = turn(7, 12_000, 10_000, 1_500, cache_outcome="hit", exchange=2)
    record = json.loads(call_json(one))
    assert list(record) == [
        "session", "session_evidence", "chain", "window", "index", "exchange", "time", "duration_ms", "source",
        "provider", "model", "prompt_tokens", "fresh_tokens", "cache_read_tokens", "cache_write_tokens",
        "cache_write_1h_tokens", "output_tokens", "output_is_lower_bound", "reasoning_tokens", "billed_prompt_tokens",
        "context_limit", "context_limit_source", "cost_usd", "cost_source", "status", "purpose", "cache_outcome",
        "cache_miss_cause", "file", "line", "call_id",
    ]  # fmt: skip
    assert record["fresh_tokens"] == 500
    assert record["cache_write_1h_tokens"] is None
    assert record["time"] == "2026-05-28T20:29:00.000Z"
