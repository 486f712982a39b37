"""CALL, EVENT and PROBLEM, sentence by sentence of the contract, on small logs and on the sample logs."""

from __future__ import annotations

import csv
import io
import json
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import pytest

from monitor.readers import sources
from tests.e2e.contract_fields import faults, names
from tests.e2e.contract_logs import LOGS, SIX, Log
from tests.e2e.contract_run import SAMPLES, good, home, run  # noqa: F401
from tests.e2e.contract_tables import SOURCES

pytestmark = pytest.mark.usefixtures("home")
TOKENS = SIX[:5]


@pytest.fixture(params=[*LOGS, "sample_logs"])
def log(request: pytest.FixtureRequest, tmp_path: Path) -> Log:
    if request.param == "sample_logs":
        return Log([str(SAMPLES)], "", [])
    return LOGS[request.param](tmp_path / "logs")


@pytest.fixture
def body(log: Log) -> dict[str, Any]:
    found: dict[str, Any] = good("calls", *log.args, "--format", "json")
    return found


def by(rows: list[dict[str, Any]], *fields: str) -> dict[Any, list[dict[str, Any]]]:
    found: dict[Any, list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault(tuple(row[name] for name in fields), []).append(row)
    return found


def counted(call: dict[str, Any]) -> bool:
    return call["purpose"] == "work" and call["status"] in ("ok", "estimated")


# ---------------------------------------------------------------------------------------------------------- fields
def test_every_field_is_there_with_its_type_and_its_words(body: dict[str, Any]) -> None:
    assert not faults(body, "CALLS_BODY")
    assert not body["problems"]
    assert not [call for call in body["calls"] if call.get("inherited")]


def test_the_numbers_are_those_worked_out_by_hand(log: Log, body: dict[str, Any]) -> None:
    if not log.source:
        pytest.skip("the ledger of the sample logs has a test of its own")
    assert len(body["calls"]) == len(log.calls)
    for number, (call, want) in enumerate(zip(body["calls"], log.calls, strict=True)):
        assert call["source"] == log.source
        for name, value in want.items():
            wanted = pytest.approx(value, rel=1e-9) if isinstance(value, float) else value
            assert call[name] == wanted, (number, name)
    assert len(body["events"]) == len(log.events)
    for event, want in zip(body["events"], log.events, strict=True):
        assert {name: event[name] for name in want} == want


def test_prompts_are_the_sum_of_their_parts(body: dict[str, Any]) -> None:
    for call in body["calls"]:
        prompt, fresh, read, write = (call[name] for name in TOKENS[:4])
        if None not in (prompt, fresh, read, write):
            assert fresh + read + write == prompt
        for part, whole in (("reasoning_tokens", "output_tokens"), ("cache_write_1h_tokens", "cache_write_tokens")):
            if None not in (call[part], call[whole]):
                assert call[part] <= call[whole]


def test_a_failed_request_has_no_figures(body: dict[str, Any]) -> None:
    for call in body["calls"]:
        if call["status"] == "error":
            assert [call[name] for name in (*TOKENS, "cost_usd", "cost_source")] == [None] * 7
            assert call["cache_miss_cause"] is None


def test_every_source_of_the_contract_can_be_asked_for() -> None:
    assert set(SOURCES.split()) <= set(sources())


# ----------------------------------------------------------------------------------------------- order and numbers
def test_windows_count_from_one_and_indexes_from_zero_in_time_order(body: dict[str, Any]) -> None:
    for calls in by(body["calls"], "session").values():
        assert [call["index"] for call in calls] == list(range(len(calls)))
        times = [call["time"] for call in calls if call["time"] is not None]
        assert times == sorted(times)
        for chain in by(calls, "chain").values():
            windows = [call["window"] for call in chain]
            assert windows[0] == 1
            assert all(after - before in (0, 1) for before, after in pairwise(windows))
        exchanges = [call["exchange"] for call in calls if call["chain"] == "main" and call["exchange"] is not None]
        assert exchanges == sorted(exchanges)


def test_calls_of_several_sessions_are_in_time_order(body: dict[str, Any]) -> None:
    times = [call["time"] for call in body["calls"] if call["time"] is not None]
    if len(by(body["calls"], "session")) > 1:
        assert times == sorted(times)


def test_events_point_at_the_work_calls_around_them(body: dict[str, Any]) -> None:
    sessions = by(body["calls"], "session")
    for event in body["events"]:
        calls = sessions[(event["session"],)]
        before = calls[event["after_call"]] if event["after_call"] is not None else None
        after = calls[event["before_call"]] if event["before_call"] is not None else None
        for call, tokens in ((before, event["tokens_before"]), (after, event["tokens_after"])):
            if call is not None and event["kind"] in ("compaction", "microcompaction", "trim", "clear"):
                assert counted(call)
                assert (call["chain"], call["prompt_tokens"]) == (event["chain"], tokens)
        if before is not None and after is not None:
            assert before["index"] < after["index"]
            assert not [call for call in calls[before["index"] + 1 : after["index"]]
                        if counted(call) and call["chain"] == event["chain"]]  # fmt: skip
            assert after["window"] - before["window"] == (event["kind"] in ("compaction", "clear"))
            if event["time"] is not None and None not in (before["time"], after["time"]):
                assert before["time"] <= event["time"] <= after["time"]


def test_a_window_begins_where_an_event_says_so(body: dict[str, Any]) -> None:
    resets = {(e["session"], e["before_call"]) for e in body["events"] if e["kind"] in ("compaction", "clear")}
    for (session, _chain), calls in by(body["calls"], "session", "chain").items():
        work = [call for call in calls if counted(call)]
        for before, after in pairwise(work):
            assert (before["window"] < after["window"]) == ((session, after["index"]) in resets)


# ----------------------------------------------------------------------------------------------------------- marks
def test_what_a_figure_is_from_is_told_where_there_is_one(body: dict[str, Any]) -> None:
    for call in body["calls"]:
        assert (call["cost_usd"] is None) == (call["cost_source"] is None)
        assert (call["context_limit"] is None) == (call["context_limit_source"] is None)
        assert (call["cache_miss_cause"] is not None) == (call["cache_outcome"] in ("partial", "miss"))


def test_cache_outcomes_follow_from_the_figures(body: dict[str, Any]) -> None:
    """hit: read >= 0.9 E, miss: read <= 0.05 E, else partial; E: the prompt of the chain's work call before."""
    seen = set()
    for calls in by(body["calls"], "session", "chain").values():
        work = [call for call in calls if counted(call)]
        for before, call in zip([None, *work], work, strict=False):
            read = call["cache_read_tokens"]
            if read is None:
                want = "unreported"
            elif before is None:
                want = "first"
            elif before["prompt_tokens"] is None:
                continue
            else:
                expected = before["prompt_tokens"]
                want = "hit" if read >= 0.9 * expected else "miss" if read <= 0.05 * expected else "partial"
            assert call["cache_outcome"] == want, call
            seen.add(want)
    assert seen


# --------------------------------------------------------------------------------------------------------- formats
def test_ndjson_holds_the_same_one_call_a_line(log: Log, body: dict[str, Any]) -> None:
    done = run("calls", *log.args, "--format", "ndjson")
    assert (done.code, done.err) == (0, "")
    assert done.out.endswith("\n")
    assert [json.loads(line) for line in done.out.rstrip("\n").split("\n")] == body["calls"]


def test_csv_holds_the_same_values_and_nothing_where_unknown(log: Log, body: dict[str, Any]) -> None:
    done = run("calls", *log.args, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert len(rows) == len(body["calls"])
    for row, call in zip(rows, body["calls"], strict=True):
        for name in names("CALL"):
            value = call[name]
            if value is None:
                assert row[name] == ""
            elif isinstance(value, bool):
                assert row[name].lower() == str(value).lower()
            elif isinstance(value, int | float):
                assert float(row[name]) == value
            else:
                assert row[name] == value


def test_parquet_holds_the_same_values_as_numbers(log: Log, body: dict[str, Any], tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    out = tmp_path / "calls.parquet"
    done = run("calls", *log.args, "--format", "parquet", "-o", out)
    assert (done.code, done.out, done.err) == (0, "", "")
    rows = parquet.read_table(out).to_pylist()
    assert [{name: row[name] for name in names("CALL")} for row in rows] == [
        {name: call[name] for name in names("CALL")} for call in body["calls"]
    ]


def test_the_csv_can_be_read_again(log: Log, body: dict[str, Any], tmp_path: Path) -> None:
    """``table`` is a source too: what was exported sums up to the same."""
    out = tmp_path / "calls.csv"
    assert run("calls", *log.args, "--format", "csv", "-o", out).code == 0
    again = good("calls", out, "--format", "json")["calls"]
    keep = [call for call in body["calls"] if call["status"] == "ok" and call["prompt_tokens"] is not None]
    for name in (*TOKENS, "reasoning_tokens"):
        assert sum(call[name] or 0 for call in again) == sum(call[name] or 0 for call in keep)


# ---------------------------------------------------------------------------------------------------- copies, once
def fork(folder: Path) -> list[str]:
    """A session, a copy of its first two calls under another id, and one call of the copy's own."""
    from tests.decision.factory import transcript

    folder.mkdir()
    first = transcript(folder / "a.jsonl", [20_000, 21_000, 22_000], end=1_775_808_060_000, name="aaa")
    lines = [json.loads(line) for line in first.read_text(encoding="utf-8").splitlines()]
    copied = [{**line, "sessionId": "bbb", "uuid": f"{line['uuid']}-copy"} for line in lines[:5]]
    answer = next(line for line in reversed(lines) if line["type"] == "assistant")
    own = {**answer, "sessionId": "bbb", "uuid": "own", "requestId": "own", "timestamp": "2026-04-10T08:02:00.000Z",
           "message": {**answer["message"], "id": "own"}}  # fmt: skip
    text = "".join(json.dumps(line) + "\n" for line in [*copied, own])
    (folder / "b.jsonl").write_text(text, encoding="utf-8")
    return [str(folder)]


def test_copies_are_listed_on_request_and_counted_once(tmp_path: Path) -> None:
    paths = fork(tmp_path / "forks")
    once = good("calls", *paths, "--format", "json")["calls"]
    assert [(call["session"], call["prompt_tokens"]) for call in once] == [
        ("aaa", 20_000), ("aaa", 21_000), ("aaa", 22_000), ("bbb", 22_000)]  # fmt: skip
    both = good("calls", *paths, "--format", "json", "--copies")["calls"]
    inherited = [call for call in both if call.get("inherited")]
    assert [(call["session"], call["prompt_tokens"]) for call in inherited] == [("bbb", 20_000), ("bbb", 21_000)]
    assert [call for call in both if not call.get("inherited")] == once
    report = good("report", *paths, "--format", "json")
    assert {row["session"]: (row["calls"], row["inherited_calls"]) for row in report["sessions"]} == {
        "aaa": (3, 0), "bbb": (1, 2)}  # fmt: skip
    assert report["totals"]["calls"] == 4
    # the first own call of a fork is compared with what it inherited
    assert once[-1]["cache_outcome"] == "hit"


def test_problems_name_file_line_and_reason(tmp_path: Path) -> None:
    log = LOGS["claude-code"](tmp_path / "logs")
    file = Path(log.calls[0]["file"])
    lines = file.read_text(encoding="utf-8").split("\n")
    lines[4] = lines[4][:40]
    file.write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "empty.jsonl").touch()
    done = run("calls", *log.args, tmp_path / "empty.jsonl", "--format", "json")
    assert done.code == 0
    assert not faults(done.json, "CALLS_BODY")
    assert {(p["file"], p["line"]) for p in done.json["problems"]} == {
        (str(file), 5), (str(tmp_path / "empty.jsonl"), None)}  # fmt: skip
    assert len(done.json["calls"]) == 5


def test_times_are_utc_with_milliseconds_whatever_the_log_says(tmp_path: Path) -> None:
    log = LOGS["claude-code"](tmp_path / "logs")
    file = Path(log.calls[0]["file"])
    text = file.read_text(encoding="utf-8").replace("T08:00:05.000Z", "T10:00:05.5+02:00")
    file.write_text(text, encoding="utf-8")
    call = good("calls", *log.args, "--format", "json")["calls"][0]
    assert call["time"] == "2026-04-10T08:00:05.500Z"


def test_sessions_do_not_mix(tmp_path: Path) -> None:
    """All logs in one folder: the same calls as one by one."""
    alone: list[Any] = []
    for name, make in LOGS.items():
        log = make(tmp_path / "logs" / name)
        if name != "table":
            alone += good("calls", *log.paths, "--format", "json")["calls"]
    (tmp_path / "logs" / "table" / "table.csv").unlink()
    together = run("calls", tmp_path / "logs", "--format", "json").json["calls"]

    def numbers(calls: list[Any]) -> list[Any]:
        key = lambda call: (call["file"], call["session"], call["index"])  # noqa: E731
        return [(k, [[c[n] for n in TOKENS] for c in g]) for k, g in groupby(sorted(calls, key=key), key)]

    assert numbers(together) == numbers(alone)
