"""The other JSON of the contract: decide, backtest, prices, check, compact, diff, doctor, show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from monitor.pricing import PriceTable
from tests.e2e.contract_base import lines
from tests.e2e.contract_fields import faults
from tests.e2e.contract_logs import LOGS
from tests.e2e.contract_run import SAMPLES, good, home, run  # noqa: F401
from tests.e2e.contract_tables import ACTIONS

pytestmark = pytest.mark.usefixtures("home")
LOG_FORMATS = [*LOGS]


def sample(folder: str) -> Path:
    """The largest file of a folder of the sample logs."""
    return max((SAMPLES / folder).rglob("*.json*"), key=lambda path: path.stat().st_size)


# ---------------------------------------------------------------------------------------------------------- decide
@pytest.mark.parametrize("name", LOG_FORMATS)
def test_decide(name: str, tmp_path: Path) -> None:
    log = LOGS[name](tmp_path)
    body = good("decide", *log.args, "--format", "json")
    assert not faults(body, "DECIDE")
    last = [want for want in log.calls if want.get("status") != "error" and want.get("purpose") != "side"]
    last = [want for want in last if want.get("chain", "main") == "main"]
    assert body["signals"]["prompt_tokens"] == last[-1]["prompt_tokens"]
    assert body["signals"]["compactions"] == sum(event["kind"] == "compaction" for event in log.events)


def test_fill_is_prompt_and_output_of_the_last_main_call_of_the_usable_limit(tmp_path: Path) -> None:
    """Claude Code: 200,000 less 20,000 less 13,000; the last call had 9,000 and answered 40."""
    log = LOGS["claude-code"](tmp_path)
    signals = good("decide", *log.args, "--format", "json", "--context-limit", "200000")["signals"]
    assert (signals["usable_limit"], signals["prompt_tokens"]) == (167_000, 9_000)
    assert signals["fill"] == pytest.approx(9_040 / 167_000, abs=1e-6)
    assert good("decide", *log.args, "--format", "json", "--context-limit", "100k")["signals"]["usable_limit"] == 67_000


# -------------------------------------------------------------------------------------------------------- backtest
def test_backtest() -> None:
    body = good("backtest", SAMPLES, "--format", "json")
    assert not faults(body, "BACKTEST")
    names = [policy["policy"] for policy in body["policies"]]
    assert len(names) == len(set(names)) > 3
    assert body["assumptions"]
    actual = {row["session"]: row for row in good("report", SAMPLES, "--format", "json")["sessions"]}
    assert {row["session"] for row in body["sessions"]} == set(actual)
    for policy in body["policies"]:
        assert policy["sessions"] == len(body["sessions"])
        assert set(policy["actions"]) <= set(ACTIONS.split())
    # nobody acted: that is what happened
    assert body["policies"][0]["against_actual"] == {"prompt_tokens": 0, "cost_usd": 0}


def test_backtest_has_the_figures_of_what_happened(tmp_path: Path) -> None:
    log = LOGS["claude-code"](tmp_path)
    actual = good("backtest", *log.args, "--format", "json")["policies"][0]
    main = [call for call in log.calls if call.get("chain") == "main" and call["prompt_tokens"] is not None]
    assert actual["prompt_tokens"] == sum(call["prompt_tokens"] for call in main)
    assert actual["calls_over_90_percent"] == 0


# ---------------------------------------------------------------------------------------------------------- prices
def test_prices() -> None:
    body = good("prices", "--format", "json")
    assert not faults(body, "PRICES")
    assert len(body["models"]) > 100
    (sonnet,) = [
        row for row in good("prices", "--model", "claude-sonnet-4-5", "--format", "json")["models"]
        if row["provider"] == "anthropic"
    ]  # fmt: skip
    # the vendor's list: 3 in, 15 out, read a tenth, five-minute write 1.25 times, one-hour write twice
    assert [sonnet[name] for name in ("input", "output", "cache_read", "cache_write_5m", "cache_write_1h")] == [
        3, 15, 0.3, 3.75, 6]  # fmt: skip
    assert run("prices", "--model", "no-such-model", "--format", "json").code == 3


def test_own_prices_are_listed_and_used(tmp_path: Path) -> None:
    own = tmp_path / "prices.yaml"
    own.write_text(
        "models:\n  - {model: house-model-9b, input: 2, output: 10, cache_read: 0.5, window: 50000}\n", "utf-8"
    )
    (row,) = good("prices", "--model", "house-model-9b", "--prices", own, "--format", "json")["models"]
    assert (row["input"], row["cache_read"], row["window"], row["cache_write_1h"]) == (2, 0.5, 50_000, None)
    log = LOGS["pi"](tmp_path / "logs")
    calls = good("calls", *log.args, "--prices", own, "--format", "json")["calls"]
    # what the log states goes first; the call without a logged cost has 500 fresh, 30,000 read, 50 out
    assert [call["cost_source"] for call in calls[:3]] == ["logged", "table", "logged"]
    assert calls[1]["cost_usd"] == pytest.approx((500 * 2 + 30_000 * 0.5 + 50 * 10) / 1e6)
    assert calls[1]["context_limit"] == 50_000
    assert PriceTable.load().lookup("house-model-9b", None, None) is None


# ----------------------------------------------------------------------------------------- check, compact, diff, show
def chat(folder: Path, *, broken: bool = False, long: int = 0) -> Path:
    messages: list[dict[str, Any]] = [{"role": "system", "content": "You help."}]
    for number in range(max(2, long)):
        messages += [
            {"role": "user", "content": f"Step {number}: look at file{number}.py. Never touch the schema."},
            {"role": "assistant", "content": None, "tool_calls": [
                {"id": f"c{number}", "type": "function",
                 "function": {"name": "read", "arguments": json.dumps({"path": f"file{number}.py"})}}]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": "a line of it\n" * 400},
            {"role": "assistant", "content": f"file{number}.py is fine."},
        ]  # fmt: skip
    if broken:
        messages.append({"role": "tool", "tool_call_id": "nobody", "content": "orphan"})
    path = folder / "chat.json"
    path.write_text(json.dumps(messages), encoding="utf-8")
    return path


def test_check_of_a_good_and_a_broken_file(tmp_path: Path) -> None:
    body = good("check", chat(tmp_path), "--format", "json")
    assert not faults(body, "CHECK")
    assert (body["format"], body["violations"]) == ("openai-chat", [])
    done = run("check", chat(tmp_path, broken=True), "--format", "json")
    assert (done.code, done.err) == (3, "")
    assert not faults(done.json, "CHECK")
    assert [row["code"] for row in done.json["violations"]] == ["C1-orphan-result"]
    assert all(row["repair"] for row in done.json["violations"])


def test_check_repairs_beside_and_never_in_place(tmp_path: Path) -> None:
    path = chat(tmp_path, broken=True)
    before = path.read_bytes()
    assert run("check", path, "-o", tmp_path / "x.json").code == 2
    assert run("check", path, "--repair", "-o", tmp_path / "mended.json").code == 0
    assert path.read_bytes() == before
    assert run("check", tmp_path / "mended.json").code == 0


@pytest.mark.parametrize(
    "option", [["--provider", "anthropic"], ["--strict-roles"], ["--bedrock"], ["--max-bytes", "9"]]
)
def test_options_of_check(option: list[str], tmp_path: Path) -> None:
    done = run("check", chat(tmp_path), "--format", "json", *option)
    assert done.code in (0, 3)
    assert not faults(done.json, "CHECK")
    if option[0] == "--max-bytes":
        assert [row["code"] for row in done.json["violations"]] == ["too-large"]


def test_compact(tmp_path: Path) -> None:
    path = chat(tmp_path, long=12)
    before = path.read_bytes()
    body = good("compact", path, "--report", "json")
    assert not faults(body, "COMPACTION")
    out = tmp_path / "chat.compact.json"
    assert body["output"]["path"] == str(out)
    assert (body["kept_turns"], body["violations"], body["strategy"]) == (2, [], "summary")
    assert body["output"]["tokens"] < 0.9 * body["input"]["tokens"]
    assert body["ratio"] == pytest.approx(body["output"]["tokens"] / body["input"]["tokens"], abs=1e-3)
    assert body["constraints"] == ["Never touch the schema."]
    for kind, row in body["retention"].items():
        assert row["kept"] + len(row["lost"]) == row["total"], kind
    assert path.read_bytes() == before
    assert run("check", out).code == 0
    written = json.loads(out.read_text(encoding="utf-8"))
    assert written[0] == {"role": "system", "content": "You help."}
    assert written[-1]["content"] == "file11.py is fine."
    # an existing file is not overwritten unasked
    assert run("compact", path).code == 2
    assert run("compact", path, "--force").code == 0


def test_compact_with_nothing_to_fold_writes_nothing_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "short.json"
    path.write_text(json.dumps([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]), "utf-8")
    done = run("compact", path)
    assert done.code == 0
    assert done.out + done.err
    assert [entry.name for entry in tmp_path.glob("short*")] == ["short.json"]
    body = run("compact", path, "--report", "json").json
    assert body["schema"] == "ctxmon.compaction/1"
    assert body["output"]["path"] is None


@pytest.mark.parametrize("spelling", ["--keep-exchanges", "--keep-turns"])
def test_exchanges_to_keep_and_a_dry_run(spelling: str, tmp_path: Path) -> None:
    path = chat(tmp_path, long=12)
    assert run("compact", path, "--dry-run").code == 0
    assert not (tmp_path / "chat.compact.json").exists()
    body = good("compact", path, spelling, "3", "--report", "json", "-o", tmp_path / "o.json")
    assert body["kept_turns"] == 3
    assert good("compact", path, spelling, "0", "--report", "json", "-o", tmp_path / "p.json")["kept_turns"] == 0


def test_diff_of_two_files_and_of_one_session(tmp_path: Path) -> None:
    path = chat(tmp_path, long=12)
    assert run("compact", path, "-o", tmp_path / "o.json").code == 0
    body = good("diff", path, tmp_path / "o.json", "--format", "json")
    (row,) = body["compactions"]
    assert row["tokens_after"] < row["tokens_before"]
    made = good("diff", sample("claude-code"), "--format", "json")["compactions"]
    assert len(made) == 1  # sample_logs/README.md: one manual compaction


def test_show_reads_back_what_was_folded(tmp_path: Path) -> None:
    log = LOGS["claude-code"](tmp_path)
    file = log.calls[0]["file"]
    assert "Port the importer" in run("show", file, "--exchange", "1").out
    assert "Go on." in run("show", file, "--exchange", "2").out
    assert run("show", file, "--search", "IMPORTER").code == 0
    assert run("show", file, "--call", "0").code == 0
    assert run("show", file, "--call", "99").code == 2


# ---------------------------------------------------------------------------------------------------------- doctor
@pytest.mark.parametrize("name", LOG_FORMATS)
def test_doctor(name: str, tmp_path: Path) -> None:
    log = LOGS[name](tmp_path)
    body = good("doctor", *log.args, "--format", "json")
    assert not faults(body, "DOCTOR")
    assert {row["source"] for row in body["files"]} == {log.source}
    assert sum(row["calls"] for row in body["files"]) == len(log.calls)


def test_doctor_proposes_a_map_that_works(tmp_path: Path) -> None:
    log = LOGS["table"](tmp_path)
    done = run("doctor", "--suggest-map", log.paths[0])
    assert (done.code, done.err) == (0, "")
    proposed = tmp_path / "proposed.yaml"
    proposed.write_text(done.out, encoding="utf-8")
    calls = good("calls", *log.paths, "--map", proposed, "--format", "json")["calls"]
    assert [call["prompt_tokens"] for call in calls] == [20_000, 21_500, None]


def test_a_call_shown_is_the_one_of_its_index(tmp_path: Path) -> None:
    """`show --call N`: the index of `calls`, which counts over all chains and failed requests."""
    log = LOGS["claude-code"](tmp_path)
    file = Path(log.calls[0]["file"])
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    for row in rows:
        if row["type"] == "assistant":
            row["message"]["content"] = [{"type": "text", "text": f"answer {row['message']['id']}"}]
    lines(file, rows)
    for call in good("calls", *log.paths, "--format", "json")["calls"]:
        if call["chain"] == "main" and call["call_id"]:
            assert f"answer {call['call_id']}" in run("show", file, "--call", str(call["index"])).out
