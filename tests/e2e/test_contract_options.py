"""The common options: what each one leaves, and that the sums follow it."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.contract_logs import LOGS
from tests.e2e.contract_run import SAMPLES, good, home, run  # noqa: F401
from tests.e2e.contract_tables import SOURCES
from tests.e2e.test_contract_json import fork

pytestmark = pytest.mark.usefixtures("home")
Row = dict[str, Any]


def prompts(*args: str | Path) -> list[int | None]:
    return [call["prompt_tokens"] for call in good("calls", *args, "--format", "json")["calls"]]


@pytest.fixture
def cc(tmp_path: Path) -> str:
    """Calls at 08:00:05, :15 (subagent), :20, 08:12:05, 08:13:10 and a refused one at 08:14."""
    return LOGS["claude-code"](tmp_path / "cc").paths[0]


@pytest.mark.parametrize(
    ("options", "left"),
    [
        (["--since", "2026-04-10T08:12Z"], [22_020, 9_000, None]),
        (["--since", "2026-04-10T08:12:05Z"], [22_020, 9_000, None]),  # from: inclusive
        (["--since", "2026-04-10T10:12:05+02:00"], [22_020, 9_000, None]),
        (["--until", "2026-04-10T08:12:05Z"], [20_010, 8_005, 21_010]),  # to: exclusive
        (["--since", "2026-04-10T08:00:15Z", "--until", "2026-04-10T08:13Z"], [8_005, 21_010, 22_020]),
        (["--since", "2026-04-10"], [20_010, 8_005, 21_010, 22_020, 9_000, None]),
    ],
)
def test_since_and_until(options: list[str], left: list[int | None], cc: str) -> None:
    assert prompts(cc, *options) == left
    session: Row = good("report", cc, *options, "--format", "json")["sessions"][0]
    known = [prompt for prompt in left if prompt is not None]
    assert (session["calls"], session["prompt_tokens"]) == (len(known), sum(known))
    assert session["peak_prompt_tokens"] == max(known)


def test_an_age_is_counted_from_now(cc: str) -> None:
    """The log is of April 2026 and it is later than that: nothing of the last minute, all of the last 40,000 days."""
    done = run("calls", cc, "--since", "1m", "--format", "json")
    assert (done.code, done.json["calls"]) == (3, [])
    assert len(prompts(cc, "--since", "40000d")) == 6
    for age in ("12h", "7d", "2w"):
        assert run("calls", cc, "--since", age).code in (0, 3)


def test_figures_of_a_part_are_those_of_the_whole(cc: str) -> None:
    """Windows, indexes and outcomes are judged on everything; only what is shown is cut."""
    whole = good("calls", cc, "--format", "json")["calls"]
    part = good("calls", cc, "--since", "2026-04-10T08:12Z", "--format", "json")["calls"]
    assert part == whole[3:]


@pytest.mark.parametrize(
    ("pattern", "calls"),
    [("claude-*", 93), ("gpt-5.1-codex", 38), ("*codex", 38), ("*", 189), ("openai/*", 17), ("deepseek-v?", 41)],
)
def test_model(pattern: str, calls: int) -> None:
    """sample_logs/README.md: 55 and 38 calls of Claude models, 38 of gpt-5.1-codex, 41 of deepseek-v3, 17 others."""
    body = good("report", SAMPLES, "--model", pattern, "--format", "json")
    assert body["totals"]["calls"] == calls
    assert sum(row["calls"] for row in body["by_model"]) == calls


def test_a_model_that_nobody_used_is_nothing() -> None:
    done = run("report", SAMPLES, "--model", "no-such-model", "--format", "json")
    assert (done.code, done.json["sessions"], done.json["totals"]["calls"]) == (3, [], 0)
    assert done.json["totals"]["prompt_tokens"] is None


@pytest.mark.parametrize("name", ["c998e1b5-a55e-434f-8cac-0185fca35bf1", "c998", "c998e1b5"])
def test_session_by_its_name_or_beginning(name: str) -> None:
    body = good("report", SAMPLES, "--session", name, "--format", "json")
    assert [row["session"] for row in body["sessions"]] == ["c998e1b5-a55e-434f-8cac-0185fca35bf1"]
    assert body["totals"]["calls"] == 55
    assert run("report", SAMPLES, "--session", "nobody").code == 3


@pytest.mark.parametrize("name", [name for name in LOGS if name not in ("table",)])
def test_source_forces_a_reader(name: str, tmp_path: Path) -> None:
    log = LOGS[name](tmp_path)
    assert good("calls", *log.args, "--source", log.source, "--format", "json") == good(
        "calls", *log.args, "--format", "json"
    )
    other = "pi" if name != "pi" else "codex"
    done = run("calls", *log.args, "--source", other, "--format", "json")
    assert (done.code, done.json["calls"]) == (3, [])
    assert "Traceback" not in done.err


@pytest.mark.parametrize("source", SOURCES.split())
def test_every_source_of_the_contract_is_accepted(source: str, tmp_path: Path) -> None:
    """A reader forced upon a file that is not its own finds no tokens there."""
    other = tmp_path / "x.jsonl"
    other.write_text('{"a": 1}\n', encoding="utf-8")
    done = run("calls", other, "--source", source, "--format", "json")
    assert done.code in (0, 3)
    assert [call["prompt_tokens"] for call in done.json["calls"]] in ([], [None])


def test_context_limit_for_all_or_some_models(cc: str) -> None:
    def limits(*options: str) -> set[tuple[int, str]]:
        calls = good("calls", cc, *options, "--format", "json")["calls"]
        return {(call["context_limit"], call["context_limit_source"]) for call in calls if call["status"] == "ok"}

    assert limits() == {(200_000, "table")}
    assert limits("--context-limit", "300000") == {(300_000, "user")}
    assert limits("--context-limit", "300k") == {(300_000, "user")}
    assert limits("--context-limit", "claude-*=1M") == {(1_000_000, "user")}
    assert limits("--context-limit", "gpt-*=1M") == {(200_000, "table")}
    assert limits("--context-limit", "500k", "--context-limit", "claude-sonnet-4-5=400k") == {(400_000, "user")}


def test_time_zones_are_for_people_only(cc: str) -> None:
    plain = good("report", cc, "--format", "json")
    moved = good("report", cc, "--format", "json", "--tz", "Asia/Tokyo")
    for row in (plain, moved):
        row.pop("generated")
        for session in row["sessions"]:
            session.pop("decision")  # it knows what time it is
    assert moved == plain
    assert good("calls", cc, "--format", "json", "--tz", "+05:30") == good("calls", cc, "--format", "json")
    assert "08:12:05" in run("calls", cc, "--tz", "UTC").out
    assert "17:12:05" in run("calls", cc, "--tz", "Asia/Tokyo").out
    assert "2026-04-10 17:" in run("report", cc, "--tz", "Asia/Tokyo").out
    for command in ("calls", "report", "watch"):
        done = run(command, cc, "--tz", "Atlantis/Nowhere")
        assert (done.code, done.out) == (2, "")
        assert "Atlantis/Nowhere" in done.err


@pytest.mark.parametrize(
    ("command", "form"),
    [("calls", "table"), ("calls", "json"), ("calls", "ndjson"), ("calls", "csv"), ("report", "json"),
     ("report", "text"), ("report", "csv"), ("report", "html"), ("report", "md")],
)  # fmt: skip
def test_output_files_hold_what_stdout_would(command: str, form: str, cc: str, tmp_path: Path) -> None:
    out = tmp_path / "made"
    out.write_text("before", encoding="utf-8")
    printed = run(command, cc, "--format", form)
    done = run(command, cc, "--format", form, "-o", out)
    assert (done.code, done.out, done.err) == (0, "", "")
    written = out.read_text(encoding="utf-8")
    if (command, form) in (("calls", "json"), ("calls", "ndjson"), ("calls", "csv"), ("calls", "table")):
        assert written == printed.out
    assert abs(len(written) - len(printed.out)) < 200  # the report says when it was made
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(("made", ".made"))] == ["made"]
    assert run(command, cc, "--format", form, "--output", tmp_path / "no" / "made").code == 1


def test_notes_can_be_had_less_and_more(cc: str, tmp_path: Path) -> None:
    bad = []
    for number in range(20):
        bad.append(tmp_path / f"bad{number}.jsonl")
        bad[-1].touch()
    plain, quiet, loud = (run("calls", cc, *bad, *option, "--format", "json") for option in ([], ["-q"], ["-v"]))
    assert plain.out == quiet.out == loud.out
    assert [done.code for done in (plain, quiet, loud)] == [0, 0, 0]
    assert quiet.err == ""
    assert "-v" in plain.err and plain.err.count("\n") < 20
    assert loud.err.count("the file is empty") == 20
    assert len(plain.json["problems"]) == 20


def test_nothing_is_kept_with_no_cache(cc: str, home: Path) -> None:  # noqa: F811
    first = good("report", cc, "--format", "json", "--no-cache")
    assert [path for path in home.rglob("*") if path.is_file()] == []
    again = good("report", cc, "--format", "json")
    third = good("report", cc, "--format", "json")
    for body in (first, again, third):
        body.pop("generated")
        for session in body["sessions"]:
            session.pop("decision")
    assert first == again == third


def test_inputs_are_only_read(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    for name, make in LOGS.items():
        make(logs / name)
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in logs.rglob("*") if path.is_file()}
    for command in ("calls", "report", "decide", "doctor", "backtest", "watch"):
        run(command, logs)
    after = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in logs.rglob("*") if path.is_file()}
    assert after == before


def test_a_map_names_columns_and_dots_reach_inside(tmp_path: Path) -> None:
    rows = [
        {"when": 1_775_808_000, "usage": {"in": 900, "hit": 400, "out": 7}, "meta": {"model": "gpt-5.4", "chat": "s"}}
    ]
    (tmp_path / "rows.json").write_text(json.dumps({"payload": {"rows": rows}}), encoding="utf-8")
    (tmp_path / "map.yaml").write_text(
        "rows: payload.rows\ntime: when\ntime_unit: s\nprompt: usage.in\ncached: usage.hit\noutput: usage.out\n"
        "model: meta.model\nsession: meta.chat\ninput_includes_cached: false\n", encoding="utf-8",
    )  # fmt: skip
    (call,) = good("calls", tmp_path / "rows.json", "--map", tmp_path / "map.yaml", "--format", "json")["calls"]
    # the cached part is beside the input: 900 + 400
    assert [call[name] for name in ("prompt_tokens", "fresh_tokens", "cache_read_tokens", "output_tokens")] == [
        1_300, 900, 400, 7]  # fmt: skip
    assert (call["time"], call["session"], call["source"]) == ("2026-04-10T08:00:00.000Z", "s", "table")


def test_wrong_values_are_usage_errors_told_in_one_sentence(cc: str, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("nonsense: [", encoding="utf-8")
    for options in (
        ["--since", "yesterday"], ["--until", "2026-13-45"], ["--source", "nobody"], ["--context-limit", "many"],
        ["--context-limit", "gpt=0"], ["--map", str(tmp_path / "none.yaml")], ["--map", str(wrong)],
        ["--prices", str(tmp_path / "none.yaml")], ["--prices", str(wrong)], ["--format", "xml"],
    ):  # fmt: skip
        for command in ("calls", "report"):
            done = run(command, cc, *options)
            assert (done.code, done.out) == (2, ""), options
            assert options[0] in done.err or options[1] in done.err, options
            assert "Traceback" not in done.err


@pytest.mark.parametrize("form", ["json", "csv", "ndjson", "table", "parquet"])
def test_an_input_is_never_written_to(form: str, tmp_path: Path) -> None:
    """design: "inputs are never written to"; `-o` names one of them by mistake."""
    file = Path(LOGS["claude-code"](tmp_path).calls[0]["file"])
    before = file.read_bytes()
    done = run("calls", file, "--format", form, "-o", file)
    assert (done.code, file.read_bytes()) == (2, before)


def test_nor_is_one_found_in_a_folder(tmp_path: Path) -> None:
    file = Path(LOGS["claude-code"](tmp_path).calls[0]["file"])
    before = file.read_bytes()
    run("report", tmp_path, "--format", "html", "-o", file)
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    "option",
    [["--session", "aaa"], ["--since", "2026-04-10T08:01Z"], ["--until", "2026-04-10T08:00Z"], ["--model", "gpt*"]],
)
def test_copies_are_narrowed_like_all_calls(option: list[str], tmp_path: Path) -> None:
    done = run("calls", *fork(tmp_path / "forks"), "--copies", "--format", "json", *option)
    assert not [call for call in done.json["calls"] if call.get("inherited")]


def test_a_table_tells_copies_from_calls(tmp_path: Path) -> None:
    done = run("calls", *fork(tmp_path / "forks"), "--copies", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert [row["inherited"].lower() for row in rows].count("true") == 2


def test_a_folder_named_twice_is_no_problem(tmp_path: Path) -> None:
    folder = LOGS["claude-code"](tmp_path).paths[0]
    assert run("calls", folder, folder).err == ""


@pytest.mark.parametrize("command", ["calls", "report", "decide", "watch"])
def test_version_is_an_option_of_every_command(command: str) -> None:
    assert run(command, "--version").code == 0


@pytest.mark.parametrize("command", ["calls", "report", "decide", "backtest", "doctor", "prices"])
def test_a_settings_file_that_is_not_there_is_told(command: str, tmp_path: Path) -> None:
    log = LOGS["claude-code"](tmp_path)
    done = run(command, *(log.args if command != "prices" else []), "--config", tmp_path / "none.toml")
    assert done.code == 2
