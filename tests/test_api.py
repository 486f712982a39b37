"""`monitor.load` and `monitor.sessions`: the figures of the report, in columns of fixed types."""

from __future__ import annotations

import datetime as dt
import doctest
import json
import re
from pathlib import Path
from typing import Any

import pytest

import monitor
from monitor import api
from monitor.cli import main
from tests.dashboard.claude_log import write_logs
from tests.sources.test_files import row
from tests.test_imports import HEAVY, loaded

pd = pytest.importorskip("pandas")

ROOT = Path(__file__).resolve().parents[1]
LOGS = ROOT / "sample_logs"
EXPECTED = json.loads((LOGS / "expected.json").read_text(encoding="utf-8"))["sources"]
PAGE = ROOT / "docs" / "api.md"


@pytest.fixture(scope="module")
def calls() -> Any:
    return monitor.load(LOGS)


def test_the_page_is_true(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    text = re.sub(r"^```(python)?$", "", PAGE.read_text(encoding="utf-8"), flags=re.M)
    test = doctest.DocTestParser().get_doctest(text, {}, "api.md", str(PAGE), 0)
    assert len(test.examples) > 15
    told: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    runner.run(test, out=told.append)
    assert runner.failures == 0, "".join(told)


def columns_of(title: str) -> dict[str, str]:
    """The table of columns under a heading of the page."""
    part = PAGE.read_text(encoding="utf-8").partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    return dict(re.findall(r"^\| `(\w+)` \| ([^|]+?) \|", part, flags=re.M))


def test_columns_are_those_of_the_page(calls: Any) -> None:
    assert columns_of("Columns of calls") == {name: str(kind) for name, kind in calls.dtypes.items()}
    found = monitor.sessions(calls)
    assert columns_of("Columns of sessions") == {name: str(kind) for name, kind in found.dtypes.items()}


def test_empty_frames_have_the_same_types(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("", encoding="utf-8")
    problems: list[str] = []
    nothing = monitor.load(tmp_path, problems=problems)
    assert len(nothing) == 0 and len(problems) == 1 and "empty" in problems[0]
    assert {name: str(kind) for name, kind in nothing.dtypes.items()} == api.CALLS
    none = monitor.sessions(nothing)
    assert {name: str(kind) for name, kind in none.dtypes.items()} == api.SESSIONS


@pytest.mark.parametrize("source", ["claude-code", "codex", "pi", "new-api", "litellm"])
def test_sums_are_those_of_the_ledger(calls: Any, source: str) -> None:
    expected, found = EXPECTED[source], calls[(calls["source"] == source) & (calls["status"] == "ok")]
    assert len(found) == expected["calls"]
    for name in ("prompt_tokens", "cache_read_tokens", "output_tokens"):
        assert found[name].sum() == expected[name]
    (session,) = monitor.sessions(calls[calls["source"] == source]).to_dict("records")
    assert session["calls"] == expected["calls"]
    assert session["prompt_tokens"] == expected["prompt_tokens"]
    assert session["peak_prompt_tokens"] == expected["peak_prompt_tokens"]
    assert session["compactions"] == len(expected["compactions"])
    for cause, count in expected.get("cache_misses", {}).items():
        assert session[f"misses_{cause}"] == count


def same_as_report(paths: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Every figure of every session is that of `report --format json`."""
    capsys.readouterr()
    assert main(["report", *paths, "--format", "json", "-q"]) == 0
    told = {row["session"]: row for row in json.loads(capsys.readouterr().out)["sessions"]}
    found = monitor.sessions(monitor.load(paths, copies=True, problems=[]))
    assert set(found["session"]) == {name for name, row in told.items() if not row["totals_only"]}
    shared = [name for name in api.SESSIONS if name not in ("models", "first", "last", "cache_misses")]
    for line in found.to_dict("records"):
        report = told[line["session"]]
        for name in shared:
            value = None if pd.isna(line[name]) else line[name]
            if name.startswith("misses_"):
                assert value == report["cache_misses"].get(name.removeprefix("misses_"), 0), name
            elif name == "tokens_per_call" or name.startswith("calls_to_limit"):
                forecast = report["forecast"] or {}
                span = forecast.get("calls_to_limit") or {}
                assert value == (forecast.get(name) if name == "tokens_per_call" else span.get(name[-3:])), name
            elif isinstance(value, float):
                assert value == pytest.approx(report[name], abs=1e-6), name
            else:
                assert value == report[name], (line["session"], name)
        assert line["models"] == (" ".join(report["models"]) or None)
        for name in ("first", "last"):
            assert pd.isna(line[name]) or line[name] == pd.Timestamp(report[name])


def test_sessions_are_those_of_the_report(capsys: pytest.CaptureFixture[str]) -> None:
    same_as_report([str(LOGS)], capsys)


def test_forecasts_are_those_of_the_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_logs(tmp_path, 10, 20)  # enough of one's own history
    main(["report", str(tmp_path), "--format", "json", "--context-limit", "50000"])
    told = [one["forecast"] for one in json.loads(capsys.readouterr().out)["sessions"]]
    frame = monitor.sessions(monitor.load(tmp_path), context_limit=50_000)
    assert {one["own_contexts"] for one in told} == {10}
    assert list(frame["calls_to_limit_p90"]) == [one["calls_to_limit"]["p90"] for one in told]


def test_copies_of_a_resumed_session(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def lines(session: str, *numbers: int) -> bytes:
        told = ({**json.loads(row(n)), "sessionId": session} for n in numbers)
        return b"".join(json.dumps(line).encode() + b"\n" for line in told)

    (tmp_path / "one.jsonl").write_bytes(lines("one", 0, 1, 2, 3))
    (tmp_path / "two.jsonl").write_bytes(lines("two", 0, 1, 2, 3, 9))
    plain, whole = monitor.load(tmp_path), monitor.load(tmp_path, copies=True)
    assert (len(plain), len(whole), int(whole["inherited"].sum())) == (5, 9, 4)
    found = monitor.sessions(whole).set_index("session")
    assert found["calls"].to_dict() == {"one": 4, "two": 1}
    assert found["inherited_calls"].to_dict() == {"one": 0, "two": 4}
    same_as_report([str(tmp_path)], capsys)


def test_a_frame_survives_a_file(calls: Any, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="the extra tables is not installed")
    calls.to_parquet(tmp_path / "calls.parquet")
    calls.to_csv(tmp_path / "calls.csv", index=False)
    want = monitor.sessions(calls)
    pd.testing.assert_frame_equal(monitor.sessions(pd.read_parquet(tmp_path / "calls.parquet")), want)
    pd.testing.assert_frame_equal(monitor.sessions(pd.read_csv(tmp_path / "calls.csv")), want)


def test_the_frame_stays_as_it_is(calls: Any) -> None:
    before = calls.copy(deep=True)
    monitor.sessions(calls)
    pd.testing.assert_frame_equal(calls, before)


# --- frames of others ------------------------------------------------------------------------------------------------
def test_one_column_is_enough() -> None:
    found = monitor.sessions(pd.DataFrame({"prompt_tokens": [10_000, 12_000, 14_500]}))
    assert found["calls"].tolist() == [3]
    assert found["prompt_tokens"].tolist() == [36_500]
    assert found["session_evidence"].tolist() == ["lane"]
    assert pd.isna(found["output_tokens"][0]) and pd.isna(found["cost_usd"][0])


def test_values_as_tables_write_them() -> None:
    frame = pd.DataFrame(
        {
            "session": ["s", "s", "s", None],
            "time": ["2026-03-01T10:00:00Z", 1_772_359_260, "2026-03-01 10:02:00", "never"],
            "prompt_tokens": [9000.0, "9,500", None, -5],
            "cache_read_tokens": [0, 9000, float("nan"), None],
            "output_tokens": [10, 20, None, None],
            "status": ["ok", "200", "500", "failed"],
            "cost_usd": ["0.5", 0.25, None, None],
            "chain": ["main", None, "x", "main"],
        }
    )
    found = monitor.sessions(frame).set_index("session")
    one = found.loc["s"]
    assert (one["calls"], one["error_calls"], one["prompt_tokens"], one["fresh_tokens"]) == (2, 1, 18_500, 9_500)
    assert one["cost_usd"] == 0.75 and one["cache_read_tokens"] == 9_000
    assert one["first"] == pd.Timestamp("2026-03-01T10:00:00Z") and one["last"] == pd.Timestamp("2026-03-01T10:02:00Z")


def test_equal_keys_are_one_call(calls: Any) -> None:
    twice = pd.concat([calls, calls], ignore_index=True)
    pd.testing.assert_frame_equal(monitor.sessions(twice), monitor.sessions(calls))


def test_limits_and_prices_of_the_user(calls: Any, tmp_path: Path) -> None:
    found = monitor.sessions(calls, context_limit={"claude*": 500_000}).set_index("source")
    assert found.loc["claude-code", "context_limit"] == 500_000
    assert found.loc["claude-code", "context_limit_source"] == "user"
    assert found.loc["codex", "context_limit_source"] == "logged"
    prices = tmp_path / "prices.yaml"
    prices.write_text("models:\n  - {model: mine, input: 2, output: 10, cache_read: 0.2}\n", encoding="utf-8")
    frame = pd.DataFrame({"session": "s", "model": "mine", "prompt_tokens": [1_000_000], "cache_read_tokens": [0],
                          "cache_write_tokens": [0], "output_tokens": [100_000]})  # fmt: skip
    assert monitor.sessions(frame, prices=prices)["cost_usd"].tolist() == [pytest.approx(3.0)]
    assert monitor.load(LOGS, context_limit=300_000)["context_limit_source"].unique().tolist() == ["user"]


# --- arguments -------------------------------------------------------------------------------------------------------
def test_what_is_loaded_can_be_narrowed(calls: Any) -> None:
    middle = calls["time"].sort_values().iloc[len(calls) // 2]
    moment = middle.to_pydatetime()
    assert len(monitor.load(LOGS, since=moment)) == (calls["time"] >= middle).sum()
    assert len(monitor.load(LOGS, until=moment.isoformat())) == (calls["time"] < middle).sum()
    day = dt.date(2026, 11, 30)
    assert len(monitor.load(LOGS, since=day, until=day + dt.timedelta(days=1))) == len(calls)
    assert set(monitor.load(LOGS, model="gpt*")["model"]) == {"gpt-5.1-codex"}
    assert set(monitor.load([LOGS / "codex", LOGS / "pi"])["source"]) == {"codex", "pi"}
    assert len(monitor.load(LOGS, session="c998e1b5")) == 55


def test_tables_by_a_map(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("when,in_tok,thread\n2026-03-01,500,a\n2026-03-02,700,a\n", encoding="utf-8")
    columns = {"time": "when", "prompt": "in_tok", "session": "thread"}
    (tmp_path / "map.yaml").write_text("\n".join(f"{k}: {v}" for k, v in columns.items()), encoding="utf-8")
    for given in (columns, tmp_path / "map.yaml"):
        assert monitor.load(tmp_path / "t.csv", map=given)["prompt_tokens"].tolist() == [500, 700]


def test_what_cannot_be_read_is_warned_of(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(row(1))
    with pytest.warns(UserWarning, match="no such file or folder"):
        found = monitor.load([tmp_path / "a.jsonl", tmp_path / "none"])
    assert len(found) == 1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"source": "nobody"}, "is not known"),
        ({"session_by": "magic"}, "is one of"),
        ({"since": "soon"}, "is no time"),
        ({"context_limit": -1}, "number of tokens"),
        ({"map": {"prompt": "a", "colour": "b"}}, "no field of a column map"),
        ({"map": "none.yaml"}, "cannot be read"),
        ({"prices": "none.yaml"}, "cannot be read"),
    ],
)
def test_wrong_arguments_are_sentences(arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        monitor.load(LOGS, **arguments)


def test_frames_that_cannot_be_used() -> None:
    with pytest.raises(ValueError, match="prompt_tokens"):
        monitor.sessions(pd.DataFrame({"tokens": [1]}))
    twice = pd.DataFrame([[1, 2]], columns=["prompt_tokens", "prompt_tokens"])
    with pytest.raises(ValueError, match="more than one column"):
        monitor.sessions(twice)


def test_nothing_heavy_is_imported_before_it_is_used() -> None:
    assert loaded("import monitor").isdisjoint({*HEAVY, "msgspec"})
    assert loaded("import monitor; monitor.load; monitor.sessions").isdisjoint(HEAVY)


def test_the_package_offers_both() -> None:
    assert {"load", "sessions", "__version__"} <= set(dir(monitor))
    assert monitor.load is api.load
    with pytest.raises(AttributeError, match="nonsense"):
        monitor.nonsense
