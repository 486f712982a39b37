"""Sentences of the contract that do not hold yet. The list may only shrink: one that holds fails here until it is moved to
the file it belongs to.
"""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from monitor.pricing import PriceTable
from monitor.sources.discovery import agent_folders
from tests.e2e.contract_base import URL_SECRET, at, lines
from tests.e2e.contract_fields import faults
from tests.e2e.contract_logs import LOGS
from tests.e2e.contract_run import good, home, run  # noqa: F401
from tests.e2e.test_contract_definitions import said, user, written
from tests.e2e.test_contract_json import fork
from tests.e2e.test_contract_kinds import chat

pytestmark = pytest.mark.usefixtures("home")
OPEN = pytest.mark.xfail(strict=True, raises=(AssertionError, KeyError), reason="does not hold yet")


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


@pytest.mark.parametrize(
    ("variable", "folder"),
    [("HERMES_HOME", ""), ("COPILOT_HOME", "session-state"), ("KIMI_SHARE_DIR", "sessions"), ("QWEN_HOME", "projects"),
     ("QWEN_RUNTIME_DIR", "projects"), ("GEMINI_CLI_HOME", ".gemini/tmp"), ("CLINE_DIR", "data")],
)  # fmt: skip
def test_the_variables_of_each_agent_are_honoured(variable: str, folder: str, tmp_path: Path) -> None:
    place = tmp_path / "moved" / folder
    place.mkdir(parents=True)
    found = agent_folders({variable: str(tmp_path / "moved")}, tmp_path / "home")
    assert any(path == place or place in path.parents or path in place.parents for path in found)


@OPEN
@pytest.mark.parametrize("source", ["langfuse", "helicone", "cloudflare", "portkey"])
def test_a_file_without_usage_is_nothing_also_for_a_forced_reader(source: str, tmp_path: Path) -> None:
    path = lines(tmp_path / "x.jsonl", [{"a": 1}])
    assert run("calls", path, "--source", source).code == 3


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


@pytest.mark.parametrize("scheme", ["ftp", "socks5"])
def test_a_password_in_a_wrong_upstream_is_not_repeated(scheme: str) -> None:
    done = run("record", "--print-setup", "--upstream", f"{scheme}://user:{URL_SECRET}@127.0.0.1:9/x")
    assert done.code == 2
    assert URL_SECRET not in done.err


@OPEN
def test_a_key_in_the_address_of_a_summarizer_is_not_repeated(tmp_path: Path) -> None:
    done = run("compact", chat(tmp_path, long=12), "--dry-run", "--model", "m", "--summarizer",
               f"http://127.0.0.1:9/v1?key={URL_SECRET}")  # fmt: skip
    assert URL_SECRET not in done.out + done.err


@OPEN
def test_a_conversion_names_the_format_it_wrote(tmp_path: Path) -> None:
    from tests.e2e.contract_run import SAMPLES

    source = max((SAMPLES / "pi").rglob("*.jsonl"), key=lambda path: path.stat().st_size)
    body = run("compact", source, "--to", "openai-chat", "--report", "json", "-o", tmp_path / "o.json").json
    assert body["output"]["format"] == "openai-chat"


@OPEN
def test_notes_have_the_report_of_a_compaction(tmp_path: Path) -> None:
    body = run(
        "compact", chat(tmp_path, long=12), "--strategy", "notes", "--report", "json", "-o", tmp_path / "n.md"
    ).json
    assert not faults(body, "COMPACTION")


def test_sums_of_models_are_the_totals_also_where_a_tool_logs_totals_only(tmp_path: Path) -> None:
    """`codex exec --json` logs sums per thread: they are in SESSION and TOTALS, but in no row of by_model and by_day."""
    usage = {"input_tokens": 1_000, "cached_input_tokens": 400, "output_tokens": 50}
    rows = [{"type": "thread.started", "thread_id": "t1"}, {"type": "turn.started"},
            {"type": "turn.completed", "usage": usage}]  # fmt: skip
    report: dict[str, Any] = good("report", lines(tmp_path / "exec.jsonl", rows), "--format", "json")
    total = report["totals"]["prompt_tokens"]
    assert total == report["sessions"][0]["prompt_tokens"]
    for name in ("by_model", "by_day"):
        assert sum(row["prompt_tokens"] or 0 for row in report[name]) == total


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
