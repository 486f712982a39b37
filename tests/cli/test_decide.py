"""`ctxmon decide`: text, JSON, exit codes, --explain, --watch, and clear words for what is wrong."""

from __future__ import annotations

import argparse
import json
import time

import pytest

from monitor.cli import common, decide, main
from monitor.decision.model import EXIT_CODES
from monitor.sources.follow import Follower
from tests.decision.factory import transcript


def just_now():
    return int(time.time() * 1000) - 20_000


def grow(start, by, calls):
    return [start + n * by for n in range(calls)]


@pytest.fixture
def full(tmp_path):
    """87 % of 167,000, in the middle of work."""
    return transcript(tmp_path / "full.jsonl", grow(100_000, 5_000, 10), end=just_now())


@pytest.fixture
def small(tmp_path):
    return transcript(tmp_path / "small.jsonl", grow(17_000, 1_200, 5), end=just_now())


def test_the_page_names_advice_rule_numbers_costs_and_what_would_change_it(full, capsys):
    assert main(["decide", str(full)]) == 0
    out = capsys.readouterr().out
    assert out.startswith("COMPACT NOW   rule nearly-full · confidence high\n")
    assert "87 % of the usable limit is used (145,300 of 167,000 tokens)" in out
    assert "167,000 tokens" in out and "assumed" in out
    assert "costs  the next 20 turns: go on ~$" in out and "next   " in out
    assert "\x1b" not in out


def test_json_is_the_contracts(full, capsys):
    assert main(["decide", str(full), "--format", "json"]) == 0
    body = json.loads(capsys.readouterr().out)
    assert body["schema"] == "ctxmon.decision/1"
    assert (body["action"], body["rule"]) == ("compact_now", "nearly-full")
    signals = body["signals"]
    for name in ("fill", "prompt_tokens", "usable_limit", "tokens_per_call", "cache_hit_ratio", "idle_s", "compactions",
                 "pending_tool_call", "boundary_score", "loop", "break_even_calls", "optimal_size"):  # fmt: skip
        assert name in signals
    assert set(signals["calls_to_limit"]) == {"p10", "p50", "p90"}
    assert (signals["prompt_tokens"], signals["usable_limit"], signals["pending_tool_call"]) == (
        145_000,
        167_000,
        False,
    )
    assert set(body["costs"]) >= {"continue", "compact", "new_window"}
    assert body["next"] and body["reasons"] and body["confidence"] == "high"


def test_exit_codes_are_those_of_the_contract(full, small, tmp_path, capsys):
    assert EXIT_CODES == {"continue": 0, "trim": 10, "compact_at_boundary": 11, "compact_now": 12,
                          "notes_new_window": 13, "fresh": 14}  # fmt: skip
    assert main(["decide", str(full), "--exit-code"]) == 12
    assert main(["decide", str(small), "--exit-code"]) == 0
    waiting = transcript(tmp_path / "w.jsonl", grow(100_000, 5_000, 10), pending=True, end=just_now())
    assert main(["decide", str(waiting), "--exit-code"]) == 0
    calm = transcript(tmp_path / "c.jsonl", grow(90_000, 1_200, 10), end=just_now())
    assert main(["decide", str(calm), "--exit-code"]) == 11
    assert main(["decide", str(calm), "--exit-code", "--threshold", "0"]) == 0
    assert main(["decide", str(calm), "--exit-code", "--threshold", "150k"]) == 0
    empty = tmp_path / "empty"
    empty.mkdir()
    assert main(["decide", str(empty), "--exit-code"]) == 3
    capsys.readouterr()


def test_explain_prints_every_row_with_its_outcome_and_every_signal(small, capsys):
    assert main(["decide", str(small), "--explain"]) == 0
    out = capsys.readouterr().out
    assert "hold-for-tool → CONTINUE: no" in out
    assert "nothing-to-gain → CONTINUE: DECIDES" in out
    assert "boundary_score" in out and "calls_to_tier" in out


def test_explain_in_json_lists_the_rows(small, capsys):
    main(["decide", str(small), "--explain", "--format", "json"])
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert rows[0]["rule"] == "hold-for-tool" and rows[0]["conditions"][0]["outcome"] is False
    assert [row["rule"] for row in rows if row["fired"]] == ["nothing-to-gain"]


def test_an_own_table_replaces_the_built_in_one(small, tmp_path, capsys):
    table = tmp_path / "mine.yaml"
    table.write_text("rows:\n  - {id: always, action: trim, reasons: ['{used} tokens']}\n", encoding="utf-8")
    assert main(["decide", str(small), "--table", str(table), "--exit-code"]) == 10
    assert "22,100 tokens" in capsys.readouterr().out


def test_the_printed_table_is_the_built_in_one_and_can_be_used(small, tmp_path, capsys):
    assert main(["decide", "--print-table"]) == 0
    table = tmp_path / "copy.yaml"
    table.write_text(capsys.readouterr().out, encoding="utf-8")
    assert main(["decide", str(small), "--table", str(table), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["rule"] == "nothing-to-gain"


def test_a_wrong_table_is_told_with_its_line_and_nothing_else(small, tmp_path, capsys):
    table = tmp_path / "mine.yaml"
    table.write_text("rows:\n  - id: a\n    action: trim\n    when: fil >= 85%\n", encoding="utf-8")
    assert main(["decide", str(small), "--table", str(table)]) == 2
    told = capsys.readouterr()
    assert told.out == "" and "mine.yaml, line 4" in told.err and 'did you mean "fill"' in told.err
    assert main(["decide", str(small), "--table", str(tmp_path / "none.yaml")]) == 2
    assert "cannot be opened" in capsys.readouterr().err


@pytest.mark.parametrize("value", ["much", "-5", "1.5x"])
def test_a_wrong_threshold_is_a_usage_error(small, value, capsys):
    assert main(["decide", str(small), f"--threshold={value}"]) == 2
    assert "--threshold" in capsys.readouterr().err


def test_the_newest_session_is_chosen_and_one_can_be_named(tmp_path, capsys):
    transcript(tmp_path / "old.jsonl", grow(20_000, 1_000, 4), end=just_now() - 3_600_000, name="old")
    transcript(tmp_path / "new.jsonl", grow(30_000, 1_000, 4), end=just_now(), name="new")
    main(["decide", str(tmp_path), "--format", "json"])
    assert json.loads(capsys.readouterr().out)["session"] == "new"
    main(["decide", str(tmp_path), "--session", "old", "--format", "json"])
    assert json.loads(capsys.readouterr().out)["session"] == "old"


def watched(path, rounds, between=None):
    """Lines printed by so many looks at a folder; ``between(n)`` runs after look n."""
    parser = argparse.ArgumentParser()
    decide.add_parser(parser.add_subparsers(), common.options())
    args = parser.parse_args(["decide", str(path), "--watch"])
    request = common.request(args)
    follower = Follower([str(path)], request.options, polling=True, clock=iter(range(0, 10_000, 10)).__next__)
    lines: list[str] = []
    looks = [0]

    def wait(_):
        if between is not None:
            between(looks[0])
        looks[0] += 1
        return False

    follower.wait = wait
    try:
        decide.watch(
            args, decide.table_of(argparse.Namespace(table=None)), follower, request, lines.append, rounds=rounds
        )
    finally:
        follower.close()
    return lines


def test_watch_prints_one_line_when_the_advice_changes_and_none_while_it_stays(tmp_path):
    path = tmp_path / "s.jsonl"
    transcript(path, grow(60_000, 4_000, 9), end=just_now())

    def more(n):
        if n == 1:
            transcript(path, grow(60_000, 4_000, 22), end=just_now())

    lines = watched(tmp_path, 4, more)
    assert len(lines) == 2
    assert "CONTINUE" in lines[0] and "COMPACT NOW" in lines[1]
    assert lines[1].count("\n") == 1


def test_watch_cannot_follow_stdin(capsys):
    assert main(["decide", "-", "--watch"]) == 2
    assert "cannot follow stdin" in capsys.readouterr().err


def test_a_refused_prompt_is_full_whatever_the_fill(tmp_path, capsys):
    """The line Claude Code itself writes where the provider refuses a prompt as too long."""
    log = transcript(tmp_path / "s.jsonl", grow(100_000, 2_000, 10), end=just_now())
    last = json.loads(log.read_text().splitlines()[-1])
    text = {"type": "text", "text": "Prompt is too long"}
    usage = {"input_tokens": 0, "output_tokens": 0, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    message = {"id": "5f0d", "type": "message", "role": "assistant", "model": "<synthetic>", "content": [text],
               "stop_reason": "stop_sequence", "usage": usage}  # fmt: skip
    refused = {**last, "type": "assistant", "uuid": "u-refused", "parentUuid": last.get("uuid"), "requestId": None,
               "isApiErrorMessage": True, "error": "invalid_request", "message": message}  # fmt: skip
    with log.open("a") as out:
        out.write(json.dumps(refused) + "\n")
    assert main(["decide", str(log), "--format", "json", "--exit-code"]) == EXIT_CODES["compact_now"]
    body = json.loads(capsys.readouterr().out)
    assert (body["rule"], body["signals"]["overflow"]) == ("full", True)
    boundary = {**last, "type": "system", "subtype": "compact_boundary", "uuid": "b", "parentUuid": None, "message": None,
                "compactMetadata": {"trigger": "auto", "preTokens": 118_000, "postTokens": 6_000}}  # fmt: skip
    with log.open("a") as out:
        out.write(json.dumps(boundary) + "\n")
    assert main(["decide", str(log), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["signals"]["overflow"] is False  # the client has answered it
