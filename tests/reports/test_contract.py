"""The JSON and CSV that scripts rely on, field by field; the lists are written by hand from the published contract."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from monitor.cli import main
from monitor.reports import report_json
from monitor.reports.encode import to_json
from monitor.reports.report_json import body, csv_text
from tests.dashboard.claude_log import write_log
from tests.reports.stories import EVIL, everything

NUMBER = (int, float)
NULL = type(None)

SESSION: dict[str, tuple[type, ...]] = {
    "session": (str,), "source": (str,), "models": (list,), "first": (str, NULL), "last": (str, NULL), "calls": (int,),
    "exchanges": (int, NULL), "prompt_tokens": (int, NULL), "fresh_tokens": (int, NULL), "cache_read_tokens": (int, NULL),
    "cache_write_tokens": (int, NULL), "output_tokens": (int, NULL), "peak_prompt_tokens": (int, NULL),
    "last_prompt_tokens": (int, NULL), "context_limit": (int, NULL), "usable_limit": (int, NULL), "side_calls": (int,),
    "cache_hit_ratio": (*NUMBER, NULL), "prefix_hit_ratio": (*NUMBER, NULL), "cache_misses": (dict,), "quota": (dict, NULL),
    "windows": (int,), "compactions": (int,), "inferred_compactions": (int,), "cost_usd": (*NUMBER, NULL),
    "unpriced_calls": (int,), "inherited_calls": (int,), "forecast": (dict, NULL), "decision": (dict, NULL),
    "chains": (list,),
}  # fmt: skip
SUMS: dict[str, tuple[type, ...]] = {
    name: SESSION[name]
    for name in ("calls", "prompt_tokens", "fresh_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens",
                 "cost_usd", "unpriced_calls", "side_calls")
}  # fmt: skip
TOTALS = {
    **SUMS,
    **{name: SESSION[name] for name in ("exchanges", "peak_prompt_tokens", "cache_misses", "windows", "compactions",
                                        "inferred_compactions", "inherited_calls")},
}  # fmt: skip
CHAIN: dict[str, tuple[type, ...]] = {"chain": (str,), "calls": (int,), "peak": (int, NULL), "windows": (int,)}
DECISION: dict[str, tuple[type, ...]] = {
    "action": (str,), "rule": (str,), "confidence": (str,), "reasons": (list,), "signals": (dict,), "costs": (dict, NULL),
    "next": (str,),
}  # fmt: skip
SIGNALS = ("fill", "prompt_tokens", "usable_limit", "tokens_per_call", "calls_to_limit", "cache_hit_ratio", "idle_s",
           "cache_state", "compactions", "pending_tool_call", "boundary_score", "loop", "break_even_calls",
           "optimal_size")  # fmt: skip
CALL: dict[str, tuple[type, ...]] = {
    "session": (str,), "session_evidence": (str,), "chain": (str,), "window": (int,), "index": (int,),
    "exchange": (int, NULL), "time": (str, NULL), "duration_ms": (int, NULL), "source": (str,), "provider": (str, NULL),
    "model": (str, NULL), "prompt_tokens": (int, NULL), "fresh_tokens": (int, NULL), "cache_read_tokens": (int, NULL),
    "cache_write_tokens": (int, NULL), "cache_write_1h_tokens": (int, NULL), "output_tokens": (int, NULL),
    "output_is_lower_bound": (bool,), "reasoning_tokens": (int, NULL), "billed_prompt_tokens": (int, NULL),
    "context_limit": (int, NULL), "context_limit_source": (str, NULL), "cost_usd": (*NUMBER, NULL),
    "cost_source": (str, NULL), "status": (str,), "purpose": (str,), "cache_outcome": (str,),
    "cache_miss_cause": (str, NULL), "file": (str,), "line": (int, NULL), "call_id": (str, NULL),
}  # fmt: skip
EVENT: dict[str, tuple[type, ...]] = {
    "kind": (str,), "evidence": (str,), "session": (str,), "chain": (str,), "trigger": (str, NULL), "time": (str, NULL),
    "tokens_before": (int, NULL), "tokens_after": (int, NULL), "recorded_before": (int, NULL),
    "recorded_after": (int, NULL), "summary_tokens": (int, NULL), "after_call": (int, NULL), "before_call": (int, NULL),
    "file": (str,), "line": (int, NULL),
}  # fmt: skip
PROBLEM: dict[str, tuple[type, ...]] = {"file": (str,), "line": (int, NULL), "reason": (str,)}
WORDS = {
    "session_evidence": {"explicit", "chain", "prefix", "lane", "file"},
    "status": {"ok", "error", "in_flight", "estimated"},
    "purpose": {"work", "compaction", "side"},
    "cache_outcome": {"first", "hit", "partial", "miss", "unreported"},
    "context_limit_source": {"logged", "table", "observed", "user", None},
    "cost_source": {"table", "logged", None},
    "evidence": {"recorded", "inferred"},
    "action": {"continue", "trim", "compact_at_boundary", "compact_now", "notes_new_window", "fresh"},
    "confidence": {"high", "medium", "low"},
}  # fmt: skip


def holds(record: dict[str, Any], shape: dict[str, tuple[type, ...]]) -> None:
    missing = sorted(set(shape) - set(record))
    assert not missing, missing
    for name, kinds in shape.items():
        value = record[name]
        assert isinstance(value, kinds), (name, value)
        assert bool in kinds or not isinstance(value, bool), (name, value)
        if name in WORDS:
            assert value in WORDS[name], (name, value)


@pytest.fixture(scope="module")
def told() -> dict[str, Any]:
    found, decisions, now = everything()
    return dict(json.loads(to_json(body(found, decisions, now))))


@pytest.mark.parametrize("sessions", [0, 1, 99])
def test_the_text_is_the_body_in_pieces(sessions: int) -> None:
    found, decisions, now = everything()
    found = msgspec.structs.replace(found, sessions=found.sessions[:sessions])
    assert "".join(report_json.pieces(found, decisions, now)) == to_json(body(found, decisions, now))


def test_report(told: dict[str, Any]) -> None:
    assert told["schema"] == "ctxmon.report/1"
    assert told["generated"].endswith("Z")
    assert told["sessions"][0]["session"] == "team"  # the latest first
    for session in told["sessions"]:
        holds(session, SESSION)
        for chain in session["chains"]:
            holds(chain, CHAIN)
        for name in ("first", "last"):
            assert session[name] is None or session[name].endswith("Z")
    holds(told["totals"], TOTALS)
    for row in told["by_model"]:
        holds(row, {**SUMS, "model": (str, NULL)})
    for row in told["by_day"]:
        holds(row, {**SUMS, "date": (str, NULL)})
    for row in told["problems"]:
        holds(row, PROBLEM)


def test_figures_of_a_session(told: dict[str, Any]) -> None:
    (alpha,) = (s for s in told["sessions"] if s["session"] == "alpha")
    # counted by hand from the story: 20+30+40+50+60+70 thousand, then 15+16+17+18
    want = {
        "calls": 10, "side_calls": 1, "error_calls": 1, "prompt_tokens": 336_000, "cache_read_tokens":
        0 + 20_000 + 30_000 + 0 + 50_000 + 60_000 + 5_000 + 15_000 + 16_000 + 17_000, "output_tokens": 1_000,
        "peak_prompt_tokens": 70_000, "last_prompt_tokens": 18_000, "windows": 2, "compactions": 1,
        "inferred_compactions": 0, "exchanges": 3, "cache_misses": {"compaction": 1, "expired": 1},
        "context_limit": 200_000, "usable_limit": 167_000, "models": ["claude-sonnet-4-5"], "quota": None,
    }  # fmt: skip
    assert {name: alpha[name] for name in want} == want
    assert alpha["fill"] == pytest.approx(18_100 / 167_000, abs=1e-6)
    assert alpha["chains"][0]["peak"] == 70_000


def test_unknown_is_null_and_sums_only_is_told(told: dict[str, Any]) -> None:
    (sums,) = (s for s in told["sessions"] if s["session"] == "sums")
    assert sums["totals_only"] is True
    assert (sums["prompt_tokens"], sums["output_tokens"], sums["calls"]) == (9_000, 700, 0)
    assert [sums[name] for name in ("peak_prompt_tokens", "cost_usd", "forecast", "cache_hit_ratio")] == [None] * 4
    (evil,) = (s for s in told["sessions"] if s["source"] == "litellm")
    assert (evil["cache_read_tokens"], evil["cost_usd"], evil["unpriced_calls"]) == (None, None, 2)
    assert evil["output_is_lower_bound"] is True


def test_decisions(told: dict[str, Any]) -> None:
    made = [s["decision"] for s in told["sessions"] if s["decision"] is not None]
    assert made
    for decision in made:
        holds(decision, DECISION)
        assert set(SIGNALS) <= set(decision["signals"])
        assert decision["reasons"]
        assert decision["costs"] is None or {"continue", "compact", "new_window"} <= set(decision["costs"])


def test_names_that_are_no_unicode_come_out_exactly(told: dict[str, Any]) -> None:
    assert EVIL in [s["session"] for s in told["sessions"]]
    assert "\\ud800" in to_json({"name": EVIL})


def test_csv_says_what_the_json_says(told: dict[str, Any]) -> None:
    found, decisions, _ = everything()
    rows = list(csv.DictReader(io.StringIO(csv_text(found, decisions))))
    assert [row["session"] for row in rows] == [s["session"] for s in told["sessions"]]
    for row, session in zip(rows, told["sessions"]):
        assert row["decision"] == (session["decision"] or {}).get("action", "")
        assert row["models"] == " ".join(session["models"])
        for name in set(SESSION) & set(row) - {"models", "decision"}:
            value = session[name]
            assert row[name] == ("" if value is None else str(value)), name


def test_calls(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "a.jsonl"
    write_log(log, 3)
    with log.open("a", encoding="utf-8") as out:
        out.write("{broken\n{}\n")
    assert main(["calls", str(log), "--format", "json", "-q"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["schema"] == "ctxmon.calls/1"
    assert [row["index"] for row in told["calls"]] == [0, 1, 2]
    for row in told["calls"]:
        holds(row, CALL)
    for row in told["problems"]:
        holds(row, PROBLEM)
    assert told["problems"]


def test_events() -> None:
    from monitor.reports import shape

    found, _, _ = everything()
    rows = [json.loads(to_json(shape.event(event))) for view in found.sessions for event in view.events]
    assert [row["kind"] for row in rows] == ["compaction"]
    holds(rows[0], EVENT)
    assert (rows[0]["tokens_before"], rows[0]["tokens_after"], rows[0]["trigger"]) == (70_000, 15_000, "auto")
    assert (rows[0]["after_call"], rows[0]["before_call"]) == (5, 6)


def test_balances_of_a_narrowed_report_are_those_shown() -> None:
    from monitor.reports import shape
    from monitor.sessions.filter import Wanted, narrow
    from tests.factory import START

    found, _, _ = everything()
    early = narrow(found.sessions, Wanted(until=START + 25_000))
    (alpha,) = (view for view in early if view.session == "alpha")
    told = shape.session(alpha)
    assert (told["calls"], told["compactions"], told["compaction_costs"]) == (3, 0, [])
