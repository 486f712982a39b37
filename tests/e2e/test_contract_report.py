"""SESSION, TOTALS, by_model, by_day and what they are made of: every sum follows from the CALLs of the same logs."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.contract_base import lines
from tests.e2e.contract_fields import faults, names
from tests.e2e.contract_logs import LOGS, Log
from tests.e2e.contract_run import SAMPLES, good, home, run  # noqa: F401

pytestmark = pytest.mark.usefixtures("home")
Row = dict[str, Any]
TOKENS = ("prompt_tokens", "fresh_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens")
SUMS = names("SUMS")


@pytest.fixture(params=[*LOGS, "sample_logs", "everything"])
def log(request: pytest.FixtureRequest, tmp_path: Path) -> Log:
    if request.param == "sample_logs":
        return Log([str(SAMPLES)], "", [])
    if request.param == "everything":
        for name, make in LOGS.items():
            make(tmp_path / "logs" / name)
        return Log([str(tmp_path / "logs"), str(SAMPLES)], "", [])
    return LOGS[request.param](tmp_path / "logs")


@pytest.fixture
def calls(log: Log) -> list[Row]:
    found: list[Row] = run("calls", *log.args, "--format", "json", "-q").json["calls"]
    return found


@pytest.fixture
def report(log: Log) -> Row:
    done = run("report", *log.args, "--format", "json", "-q")
    assert (done.code, done.err) == (0, "")
    found: Row = done.json
    return found


def works(call: Row) -> bool:
    return call["purpose"] == "work" and call["status"] in ("ok", "estimated")


def counts(call: Row) -> bool:
    """Purpose work and compaction, not failed: what is in every sum."""
    return call["purpose"] in ("work", "compaction") and call["status"] in ("ok", "estimated")


def sums(calls: list[Row]) -> Row:
    """The sums of the contract, from the calls."""
    kept = [call for call in calls if counts(call)]
    row: Row = {"calls": len(kept), "side_calls": sum(c["purpose"] == "side" and c["status"] != "error" for c in calls)}
    for name in (*TOKENS, "cost_usd"):
        known = [call[name] for call in kept if call[name] is not None]
        row[name] = sum(known) if known else None
    row["unpriced_calls"] = sum(call["cost_usd"] is None for call in kept)
    return row


def same(row: Row, want: Row) -> None:
    for name in SUMS:
        wanted = pytest.approx(want[name], rel=1e-9) if name == "cost_usd" and want[name] is not None else want[name]
        assert row[name] == wanted, name


# ---------------------------------------------------------------------------------------------------------- fields
def test_every_field_is_there_with_its_type_and_its_words(report: Row) -> None:
    assert not faults(report, "REPORT")


def test_the_numbers_are_those_worked_out_by_hand(log: Log, report: Row) -> None:
    if not log.session:
        pytest.skip("made of several logs")
    (session,) = report["sessions"]
    for name, value in log.session.items():
        assert session[name] == (pytest.approx(value) if isinstance(value, float) else value), name


# ------------------------------------------------------------------------------------------------------------ sums
def test_sums_of_sessions_are_those_of_their_calls(report: Row, calls: list[Row]) -> None:
    assert {row["session"] for row in report["sessions"]} == {call["session"] for call in calls}
    for session in report["sessions"]:
        same(session, sums([call for call in calls if call["session"] == session["session"]]))


def test_totals_models_and_days_are_the_same_calls_again(report: Row, calls: list[Row]) -> None:
    whole = sums(calls)
    same(report["totals"], whole)
    for name, key in (("by_model", "model"), ("by_day", "date")):
        rows = report[name]
        assert len({row[key] for row in rows}) == len(rows)
        for row in rows:
            if name == "by_model":
                part = [call for call in calls if call["model"] == row["model"]]
            else:
                part = [call for call in calls if (call["time"] or "")[:10] == (row["date"] or "")]
            same(row, sums(part))
        for field in SUMS:
            known = [row[field] for row in rows if row[field] is not None]
            assert (sum(known) if known else None) == (
                pytest.approx(whole[field]) if whole[field] is not None else None
            )
    for name in ("windows", "compactions", "inferred_compactions", "inherited_calls"):
        assert report["totals"][name] == sum(session[name] for session in report["sessions"])


# --------------------------------------------------------------------------------------------- figures of a session
def test_peak_last_prompt_limits_and_times(report: Row, calls: list[Row]) -> None:
    for session in report["sessions"]:
        own = [call for call in calls if call["session"] == session["session"]]
        work = [call for call in own if works(call) and call["chain"] != "side"]
        prompts = [call["prompt_tokens"] for call in work if call["prompt_tokens"] is not None]
        assert session["peak_prompt_tokens"] == max(prompts, default=None)
        main = [call for call in work if call["chain"] == "main"]
        assert session["last_prompt_tokens"] == (main[-1]["prompt_tokens"] if main else None)
        assert session["context_limit"] == (main[-1]["context_limit"] if main else None)
        times = [call["time"] for call in own if call["time"] is not None]
        assert (session["first"], session["last"]) == (min(times, default=None), max(times, default=None))
        assert set(session["models"]) == {call["model"] for call in own if counts(call) and call["model"] is not None}
        exchanges = {call["exchange"] for call in main if call["exchange"] is not None}
        assert session["exchanges"] == (len(exchanges) or None)
        assert session["source"] in {call["source"] for call in own}


def test_windows_and_chains(report: Row, calls: list[Row]) -> None:
    for session in report["sessions"]:
        work = [call for call in calls if call["session"] == session["session"] and counts(call)]
        chains = {call["chain"] for call in work} - {"side"}
        assert {row["chain"] for row in session["chains"]} - {"side"} == chains
        last = {chain: max(call["window"] for call in work if call["chain"] == chain) for chain in chains}
        assert session["windows"] == sum(last.values())
        for row in session["chains"]:
            part = [call for call in work if call["chain"] == row["chain"]]
            known = [call["prompt_tokens"] for call in part if works(call) and call["prompt_tokens"] is not None]
            assert (row["calls"], row["peak_prompt_tokens"]) == (len(part), max(known, default=None))
            assert row["windows"] == last.get(row["chain"], 1)


def test_compactions_are_the_events(log: Log, report: Row) -> None:
    events = run("calls", *log.args, "--format", "json", "-q").json["events"]
    for session in report["sessions"]:
        own = [e for e in events if (e["session"], e["kind"]) == (session["session"], "compaction")]
        own = [event for event in own if event["chain"] != "side"]
        assert session["compactions"] == len(own)
        assert session["inferred_compactions"] == sum(event["evidence"] == "inferred" for event in own)


def test_cache_figures(report: Row, calls: list[Row]) -> None:
    """reads / prompts and min(read, E) / E over work calls whose figures are known; misses and partial ones by cause."""
    for session in report["sessions"]:
        work = [call for call in calls if call["session"] == session["session"] and works(call)]
        reads = prompts = kept = expected = 0
        before: dict[str, int | None] = {}
        misses: dict[str, int] = {}
        for call in work:
            if call["cache_miss_cause"] is not None:
                misses[call["cache_miss_cause"]] = misses.get(call["cache_miss_cause"], 0) + 1
            last, prompt, read = before.get(call["chain"]), call["prompt_tokens"], call["cache_read_tokens"]
            before[call["chain"]] = prompt if prompt is not None else last
            if prompt is None or read is None:
                continue
            reads, prompts = reads + read, prompts + prompt
            if last is not None:
                kept, expected = kept + min(read, last), expected + last
        assert session["cache_misses"] == misses
        for name, part, whole in (("cache_hit_ratio", reads, prompts), ("prefix_hit_ratio", kept, expected)):
            assert session[name] == (pytest.approx(part / whole, abs=1e-6) if whole else None), name


def test_the_forecast_needs_eight_deltas(report: Row, calls: list[Row]) -> None:
    for session in report["sessions"]:
        main = [call for call in calls if (call["session"], call["chain"]) == (session["session"], "main")]
        last = max((call["window"] for call in main), default=1)
        grown = [call for call in main if works(call) and call["window"] == last and call["prompt_tokens"] is not None]
        found = session["forecast"] or {}
        ranges = [found.get(name) for name in ("calls_to_limit", "calls_to_window")]
        if len(grown) <= 8:
            assert ranges == [None, None]
        for span in ranges:
            if span is not None:
                assert 0 <= span["p10"] <= span["p50"] <= span["p90"]


def test_the_decision_is_the_one_of_decide(log: Log, report: Row) -> None:
    for session in report["sessions"][:3]:
        alone = run("decide", *log.args, "--session", session["session"], "--format", "json", "-q").json
        assert not faults(alone, "DECIDE")
        for name in ("action", "rule", "confidence"):
            assert session["decision"][name] == alone[name]
        signals = session["decision"]["signals"]
        for name, field in (("prompt_tokens", "last_prompt_tokens"), ("compactions", "compactions")):
            assert signals[name] == session[field]
        assert signals["usable_limit"] == session["usable_limit"]


# ---------------------------------------------------------------------------------------------------------- formats
def test_csv_is_one_row_a_session_with_the_same_values(log: Log, report: Row) -> None:
    rows = list(csv.DictReader(io.StringIO(run("report", *log.args, "--format", "csv", "-q").out)))
    assert [row["session"] for row in rows] == [session["session"] for session in report["sessions"]]
    for row, session in zip(rows, report["sessions"], strict=True):
        for name in set(row) & set(session) - {"models", "decision"}:
            value = session[name]
            if isinstance(value, int | float) and not isinstance(value, bool):
                assert float(row[name]) == value, name
            else:
                assert row[name] == ("" if value is None else str(value)), name


def test_text_html_and_markdown_tell_the_same_number_of_calls(log: Log, report: Row, tmp_path: Path) -> None:
    count = f"{report['totals']['calls']:,}"
    for form in ("text", "html", "md"):
        done = run("report", *log.args, "--format", form, "-q")
        assert (done.code, done.err) == (0, "")
        assert count in done.out, form
        out = tmp_path / f"report.{form}"
        assert run("report", *log.args, "--format", form, "-q", "-o", out).out == ""
        assert out.stat().st_size > 0


def test_sums_of_models_are_the_totals_also_where_a_tool_logs_totals_only(tmp_path: Path) -> None:
    """`codex exec --json` logs sums per thread and no calls: no table loses them."""
    usage = {"input_tokens": 1_000, "cached_input_tokens": 400, "output_tokens": 50}
    rows = [{"type": "thread.started", "thread_id": "t1"}, {"type": "turn.started"},
            {"type": "turn.completed", "usage": usage}]  # fmt: skip
    report: dict[str, Any] = good("report", lines(tmp_path / "exec.jsonl", rows), "--format", "json")
    total = report["totals"]["prompt_tokens"]
    assert total == report["sessions"][0]["prompt_tokens"]
    for name in ("by_model", "by_day"):
        assert sum(row["prompt_tokens"] or 0 for row in report[name]) == total
