"""The contract's definitions one by one, each on a log of a few rows made for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from monitor.pricing import PriceTable
from tests.decision.factory import transcript
from tests.e2e.contract_base import at, lines
from tests.e2e.contract_run import good, home, run  # noqa: F401

pytestmark = pytest.mark.usefixtures("home")
Row = dict[str, Any]
MAP = "time: t\nmodel: m\nprompt: p\ncached: c\ncache_write: w\noutput: o\nsession: s\ninput_includes_cached: true\n"


def calls_of(path: Path, *options: str) -> list[Row]:
    found: list[Row] = good("calls", path, *options, "--format", "json")["calls"]
    return found


def kinds(path: Path, *options: str) -> list[tuple[str, str]]:
    events = good("calls", path, *options, "--format", "json")["events"]
    return [(event["kind"], event["evidence"]) for event in events]


# ------------------------------------------------------------------------------------------------------ a small log
def user(time: str, content: Any, **more: Any) -> Row:
    return {"type": "user", "sessionId": "s", "uuid": f"u{time}{content}"[:60], "timestamp": time,
            "message": {"role": "user", "content": content}, **more}  # fmt: skip


def said(time: str, prompt: int, read: int = 0, *, hour: int = 0, model: str = "claude-sonnet-4-5", out: int = 10,
         session: str = "s", id: str = "", **more: Any) -> Row:  # fmt: skip
    write = prompt - read - 5
    id = id or f"m{time}"
    usage = {"input_tokens": 5, "cache_read_input_tokens": read, "cache_creation_input_tokens": write, "output_tokens": out,
             "cache_creation": {"ephemeral_5m_input_tokens": write - hour, "ephemeral_1h_input_tokens": hour}}  # fmt: skip
    message = {"id": id, "role": "assistant", "model": model, "stop_reason": "end_turn", "content": [], "usage": usage}
    message["usage"] |= more.pop("usage", {})
    return {"type": "assistant", "sessionId": session, "uuid": f"a-{session}-{id}", "timestamp": time, "requestId": f"r{id}",
            "message": message, **more}  # fmt: skip


def boundary(time: str, kind: str = "compact_boundary", session: str = "s") -> Row:
    facts = {"trigger": "manual", "preTokens": 1}
    name = "compactMetadata" if kind == "compact_boundary" else "microcompactMetadata"
    return {"type": "system", "subtype": kind, "sessionId": session, "uuid": f"b{time}{session}", "timestamp": time,
            name: facts}  # fmt: skip


def written(folder: Path, *rows: Row, name: str = "s.jsonl") -> Path:
    return Path(lines(folder / name, list(rows)))


# -------------------------------------------------------------------------------------------------------- exchanges
def test_only_what_the_user_typed_begins_an_exchange(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        user(at(0), "Port the importer."),
        said(at(0, 1), 20_000),
        user(at(0, 2), [{"type": "tool_result", "tool_use_id": "t", "content": "x"}]),
        said(at(0, 3), 20_100, 20_000),
        user(at(0, 4), "Caveat: made by the client", isMeta=True),
        said(at(0, 5), 20_200, 20_100),
        user(at(0, 6), "<task-notification>done</task-notification>"),
        said(at(0, 7), 20_300, 20_200),
        boundary(at(0, 8)),
        user(at(0, 9), "This session is being continued …", isCompactSummary=True),
        said(at(0, 10), 9_000),
        user(at(0, 11), "And the tests."),
        said(at(0, 12), 9_100, 9_000),
    )  # fmt: skip
    assert [call["exchange"] for call in calls_of(path)] == [1, 1, 1, 1, 1, 2]


def test_a_made_up_row_is_no_call_and_its_error_is_an_event(tmp_path: Path) -> None:
    made_up = said(at(0, 3), 0, model="<synthetic>", isApiErrorMessage=True, error="rate_limit")
    made_up["message"]["usage"] = {"input_tokens": 0, "output_tokens": 0}
    path = written(tmp_path, user(at(0), "Go"), said(at(0, 1), 20_000), made_up)
    assert [call["prompt_tokens"] for call in calls_of(path)] == [20_000]
    assert kinds(path) == [("error", "recorded")]


# -------------------------------------------------------------------------------------------------------------- once
def test_a_file_that_is_only_a_beginning_of_another_owns(tmp_path: Path) -> None:
    first = [user(at(0), "Go"), said(at(0, 1), 20_000, id="m1"), said(at(0, 2), 21_000, 20_000, id="m2")]
    copied = [{**row, "sessionId": "later", "uuid": f"{row['uuid']}-copy"} for row in first]
    own = said(at(9), 15_000, id="m3", session="later")
    written(tmp_path, *first)
    written(tmp_path, *copied, own, name="later.jsonl")
    found = calls_of(tmp_path)
    assert [(call["session"], call["call_id"]) for call in found] == [("s", "m1"), ("s", "m2"), ("later", "m3")]
    # 15,000 after 21,000 lies across the joint: no drop is inferred there
    assert kinds(tmp_path) == []


def test_events_in_copied_parts_count_once(tmp_path: Path) -> None:
    first = [user(at(0), "Go"), said(at(0, 1), 40_000, id="m1"), boundary(at(0, 2)), said(at(0, 3), 9_000, id="m2"),
             said(at(20), 9_500, 9_000, id="m4")]  # fmt: skip
    copied = [
        {**row, "sessionId": "fork", "forkedFrom": {"sessionId": "s", "messageUuid": row["uuid"]}} for row in first[:4]
    ]
    written(tmp_path, *first)
    written(tmp_path, *copied, said(at(30), 9_600, 9_000, id="m5", session="fork"), name="fork.jsonl")
    assert kinds(tmp_path) == [("compaction", "recorded")]
    report = good("report", tmp_path, "--format", "json")
    assert report["totals"]["compactions"] == 1
    assert report["totals"]["calls"] == 4


def test_a_compaction_inside_a_call_has_that_call_behind_it(tmp_path: Path) -> None:
    passes = [
        {"type": "message", "input_tokens": 10, "cache_read_input_tokens": 60_000, "cache_creation_input_tokens": 500,
         "output_tokens": 100},
        {"type": "compaction", "input_tokens": 20, "cache_read_input_tokens": 60_000, "cache_creation_input_tokens": 0,
         "output_tokens": 900},
        {"type": "message", "input_tokens": 30, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 12_000,
         "output_tokens": 40},
    ]  # fmt: skip
    # the top level is the sum of the message passes
    top = {"input_tokens": 40, "cache_read_input_tokens": 60_000, "cache_creation_input_tokens": 12_500,
           "output_tokens": 140, "iterations": passes, "cache_creation": {"ephemeral_5m_input_tokens": 12_500}}  # fmt: skip
    path = written(tmp_path, user(at(0), "Go"), said(at(0, 1), 60_000, id="m1"), said(at(0, 9), 9, id="m2", usage=top))
    second = calls_of(path)[1]
    assert (second["prompt_tokens"], second["fresh_tokens"], second["cache_write_tokens"]) == (12_030, 30, 12_000)
    # billed: both message passes and the compaction pass
    assert second["billed_prompt_tokens"] == 40 + 60_000 + 12_500 + 20 + 60_000
    assert second["cost_usd"] == pytest.approx((60 * 3 + 120_000 * 0.3 + 12_500 * 3.75 + (140 + 900) * 15) / 1e6)
    (event,) = good("calls", path, "--format", "json")["events"]
    assert (event["kind"], event["before_call"], event["after_call"]) == ("compaction", 1, 0)


# ------------------------------------------------------------------------------------------------- causes of a miss
@pytest.mark.parametrize(
    ("between", "second", "cause"),
    [
        ([], said(at(0, 30), 21_000), "unknown"),
        ([], said(at(0, 30), 21_000, 9_000), "unknown"),  # partial
        ([], said(at(6), 21_000), "expired"),
        ([], said(at(6), 21_000, model="claude-opus-4-5"), "model_switch"),
        ([boundary(at(0, 20))], said(at(6), 9_000, model="claude-opus-4-5"), "compaction"),
        ([boundary(at(0, 20), "microcompact_boundary")], said(at(6), 15_000, 4_000, model="claude-opus-4-5"), "trim"),
    ],
)
def test_causes_in_the_order_of_the_contract(between: list[Row], second: Row, cause: str, tmp_path: Path) -> None:
    path = written(tmp_path, user(at(0), "Go"), said(at(0, 1), 20_000, id="m1"), *between, second)
    found = calls_of(path)
    assert [call["cache_miss_cause"] for call in found] == [None, cause]
    assert good("report", path, "--format", "json")["totals"]["cache_misses"] == {cause: 1}


def test_an_hour_if_hour_writes_were_made(tmp_path: Path) -> None:
    for minute, cause in ((50, "unknown"), (62, "expired")):
        rows = (user(at(0), "Go"), said(at(0, 1), 20_000, hour=19_995, id="m1"), said(at(minute), 21_000, hour=20_995))
        path = written(tmp_path, *rows, name=f"{minute}.jsonl")
        first, second = calls_of(path)
        assert first["cache_write_1h_tokens"] == 19_995
        assert second["cache_miss_cause"] == cause
        # one-hour writes cost twice the input price
        assert first["cost_usd"] == pytest.approx((5 * 3 + 19_995 * 6 + 10 * 15) / 1e6)


# --------------------------------------------------------------------------------------------------- inferred events
def table(
    folder: Path, prompts: list[int], reads: list[int | None] | None = None, gap: int = 10
) -> tuple[str, str, str]:
    """A table of calls `gap` seconds apart; arguments that read it."""
    rows = ["t,m,p,c,w,o,s"]
    for number, prompt in enumerate(prompts):
        read = reads[number] if reads is not None else None
        rows.append(f"{1_775_808_000 + gap * number},house,{prompt},{'' if read is None else read},,10,one")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "t.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (folder / "map.yaml").write_text(MAP, encoding="utf-8")
    return str(folder / "t.csv"), "--map", str(folder / "map.yaml")


@pytest.mark.parametrize(
    ("prompts", "reads", "want"),
    [
        ([20_000, 50_000, 34_900, 35_500, 36_000], None, ["compaction"]),  # below 0.7 of 50,000, 15,100 less
        ([20_000, 50_000, 35_500, 36_000, 36_500], None, ["unexplained_drop"]),  # above 0.7, and it stays
        ([20_000, 50_000, 45_500, 46_000, 46_500], None, []),  # less than a tenth
        ([4_000, 9_000, 5_100, 5_200, 5_300], None, []),  # below 0.7, but only 3,900 less
        ([4_000, 9_500, 5_400, 5_500, 5_600], None, ["compaction"]),  # 4,100 less
        ([20_000, 50_000, 22_500, 47_600, 48_000], None, []),  # back at 0.95 with the next call
        ([20_000, 50_000, 22_500, 23_000, 47_600], None, []),  # with the second one
        ([20_000, 50_000, 22_500, 23_000, 23_500, 49_000], None, ["compaction"]),  # with the third one
        # almost wholly cached and larger than the opening prompt: the user went back
        ([20_000, 50_000, 25_000, 25_500, 26_000], [0, 20_000, 24_000, 25_000, 25_500], ["rewind"]),
        ([20_000, 50_000, 25_000, 25_500, 26_000], [0, 20_000, 9_000, 25_000, 25_500], ["compaction"]),
    ],
)
def test_what_a_smaller_prompt_means(
    prompts: list[int], reads: list[int | None] | None, want: list[str], tmp_path: Path
) -> None:
    path, *options = table(tmp_path, prompts, reads)
    assert kinds(Path(path), *options) == [(kind, "inferred") for kind in want]


def test_a_recorded_compaction_is_not_inferred_again(tmp_path: Path) -> None:
    rows = [
        user(at(0), "Go"),
        said(at(0, 1), 90_000),
        boundary(at(0, 2)),
        said(at(0, 3), 20_000),
        said(at(0, 4), 20_500),
    ]
    assert kinds(written(tmp_path, *rows)) == [("compaction", "recorded")]
    session = good("report", tmp_path, "--format", "json")["sessions"][0]
    assert (session["compactions"], session["inferred_compactions"], session["windows"]) == (1, 0, 2)


@pytest.mark.parametrize(
    ("compactions", "thrash"),
    [
        ({5: 30_000}, False),
        ({5: 30_000, 11: 30_000}, True),  # two within 8
        ({5: 30_000, 20: 30_000}, False),
        ({5: 30_000, 16: 30_000, 27: 30_000}, True),  # three within 30
        ({5: 30_000, 21: 30_000, 37: 30_000}, False),
        ({5: 101_000}, True),  # leaves more than 0.6 of 167,000
        ({5: 99_000}, False),
    ],
)
def test_thrash(compactions: dict[int, int], thrash: bool, tmp_path: Path) -> None:
    prompts = [60_000 + number * 100 for number in range(40)]
    for place, after in compactions.items():
        prompts[place:] = [after + number * 100 for number in range(40 - place)]
    path = transcript(tmp_path / "s.jsonl", prompts, end=1_775_808_000_000, compactions=compactions)
    found = kinds(path)
    assert found.count(("compaction", "recorded")) == len(compactions)
    assert (("thrash", "inferred") in found) == thrash


# ---------------------------------------------------------------------------------------------------- limits and days
@pytest.mark.parametrize(("calls", "known"), [(8, False), (9, True)])
def test_a_forecast_needs_eight_deltas(calls: int, known: bool, tmp_path: Path) -> None:
    """Growth of 2,000 a call: from 20,000 to 167,000 and to 200,000."""
    path = transcript(tmp_path / "s.jsonl", [20_000 + 2_000 * n for n in range(calls)], end=1_775_808_000_000)
    forecast = good("report", path, "--format", "json")["sessions"][0]["forecast"]
    if not known:
        assert (forecast or {}).get("calls_to_limit") is None
        assert (forecast or {}).get("calls_to_window") is None
        return
    used = 20_000 + 2_000 * (calls - 1) + 300
    assert forecast["tokens_per_call"] == pytest.approx(2_000)
    for name, limit in (("calls_to_limit", 167_000), ("calls_to_window", 200_000)):
        assert forecast[name]["p10"] < (limit - used) / 2_000 < forecast[name]["p90"], name


def test_days_are_those_of_utc_whatever_the_zone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, user(at(0), "Go"), said("2026-04-10T23:59:59.999Z", 20_000, id="m1"),
                   said("2026-04-11T00:00:00.000Z", 20_100, 20_000, id="m2"))  # fmt: skip
    for zone in ("Asia/Tokyo", "America/Lima"):
        monkeypatch.setenv("TZ", zone)
        days = good("report", path, "--format", "json", "--tz", zone)["by_day"]
        assert [(row["date"], row["prompt_tokens"]) for row in days] == [("2026-04-10", 20_000), ("2026-04-11", 20_100)]


@pytest.mark.parametrize(
    ("unit", "value"),
    [("s", "1775808001"), ("ms", "1775808001000"), ("us", "1775808001000000"), ("ns", "1775808001000000000"),
     ("iso", "2026-04-10T08:00:01Z"), ("iso", "2026-04-10T10:00:01+02:00")],
)  # fmt: skip
def test_units_of_time_in_a_map(unit: str, value: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(f"t,p\n{value},100\n", encoding="utf-8")
    (tmp_path / "m.yaml").write_text(f"time: t\nprompt: p\ntime_unit: {unit}\n", encoding="utf-8")
    (call,) = calls_of(tmp_path / "t.csv", "--map", str(tmp_path / "m.yaml"))
    assert call["time"] == "2026-04-10T08:00:01.000Z"


def test_every_field_of_a_map(tmp_path: Path) -> None:
    names = ("time", "model", "prompt", "fresh", "cached", "cache_write", "output", "reasoning", "session", "chain",
             "provider", "cost", "status", "id")  # fmt: skip
    row = dict(zip(names, ["2026-04-10T08:00:01Z", "gpt-5.4", 1_000, 100, 800, 100, 50, 20, "s1", "agent:x", "openai", 0.5,
                           "ok", "id-1"], strict=True))  # fmt: skip
    (tmp_path / "t.json").write_text(
        json.dumps([{f"c_{name}": value for name, value in row.items()}]), encoding="utf-8"
    )
    text = "".join(f"{name}: c_{name}\n" for name in names) + "input_includes_cached: true\n"
    (tmp_path / "m.yaml").write_text(text, encoding="utf-8")
    (call,) = calls_of(tmp_path / "t.json", "--map", str(tmp_path / "m.yaml"))
    want = {"model": "gpt-5.4", "prompt_tokens": 1_000, "fresh_tokens": 100, "cache_read_tokens": 800,
            "cache_write_tokens": 100, "output_tokens": 50, "reasoning_tokens": 20, "session": "s1", "chain": "agent:x",
            "provider": "openai", "cost_usd": 0.5, "cost_source": "logged", "status": "ok", "call_id": "id-1"}  # fmt: skip
    assert {name: call[name] for name in want} == want


def test_a_fault_of_ours_is_1_and_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: Any, **more: Any) -> None:
        raise RuntimeError("private words")

    monkeypatch.setattr(PriceTable, "load", broken)
    path = written(tmp_path, user(at(0), "Go"), said(at(0, 1), 20_000))
    for command in ("calls", "report", "decide", "backtest", "watch"):
        done = run(command, path)
        assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
        assert "Traceback" not in done.err and "private words" not in done.err


def test_each_pass_of_a_call_pays_the_rate_of_its_own_size(tmp_path: Path) -> None:
    """Three passes of 150,000 tokens and less: none of them is above 200,000, where the rates double."""
    passes = [{"type": kind, "input_tokens": 10, "cache_read_input_tokens": 150_000, "cache_creation_input_tokens": 0,
               "output_tokens": 100} for kind in ("message", "compaction", "message")]  # fmt: skip
    top = {"input_tokens": 20, "cache_read_input_tokens": 300_000, "cache_creation_input_tokens": 0, "output_tokens": 200,
           "iterations": passes, "cache_creation": {"ephemeral_5m_input_tokens": 0}}  # fmt: skip
    path = written(tmp_path, user(at(0), "Go"), said(at(0, 1), 9, id="m1", usage=top))
    (call,) = good("calls", path, "--format", "json")["calls"]
    price = PriceTable.load().lookup("claude-sonnet-4-5", "anthropic", None)
    assert price is not None and price.tiers
    assert call["cost_usd"] == pytest.approx((30 * 3 + 450_000 * 0.3 + 300 * 15) / 1e6)
