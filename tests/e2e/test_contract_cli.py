"""Commands, options, exit codes and streams as the contract spells them."""

from __future__ import annotations

import argparse
import importlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from monitor.cli import COMMANDS, common
from monitor.sources.discovery import agent_folders
from tests.decision.factory import transcript
from tests.e2e.contract_fields import faults
from tests.e2e.contract_logs import LOGS
from tests.e2e.contract_run import SAMPLES, good, home, run  # noqa: F401
from tests.e2e.contract_tables import ACTIONS

pytestmark = pytest.mark.usefixtures("home")

COMMON = "--since --until --model --session --source --map --context-limit --prices --config -q -v --no-cache"
#: command -> positional arguments, options, values of the option that chooses a format
CONTRACT = {
    "watch": ("PATH*", "--once", {}),
    "calls": ("PATH*", "--copies -o", {"--format": "table json ndjson csv parquet"}),
    "report": ("PATH*", "-o", {"--format": "text json csv html md"}),
    "decide": ("PATH*", "--session --table --exit-code", {"--format": "text json"}),
    "backtest": ("PATH*", "--table", {"--format": "text json"}),
    "compact": (
        "FILE",
        "-o --to --keep-exchanges --keep-turns --keep-tokens --summarizer --model --strategy --preset --append --force "
        "--dry-run",
        {"--report": "text json"},
    ),
    "check": ("FILE", "--provider --repair -o --strict-roles --bedrock --max-bytes", {"--format": "text json"}),
    "show": ("FILE", "--call --exchange --search", {}),
    "diff": ("A B?", "", {"--format": "text json"}),
    "record": ("", "--upstream --port --log --bodies", {}),
    "statusline": ("", "", {}),
    "doctor": ("PATH*", "--suggest-map", {"--format": "text json"}),
    "prices": ("", "--model", {"--format": "text json"}),
    "serve": ("PATH*", "--port", {}),
}


def parser_of(command: str) -> argparse.ArgumentParser:
    """The parser of a command, as `ctxmon COMMAND` makes it."""
    subparsers = argparse.ArgumentParser(prog="ctxmon").add_subparsers()
    importlib.import_module(f"monitor.cli.{COMMANDS[command][0]}").add_parser(subparsers, common.options())
    found: argparse.ArgumentParser = subparsers.choices[command]
    return found


def test_every_command_of_the_contract_is_there() -> None:
    assert set(COMMANDS) >= set(CONTRACT)


@pytest.mark.parametrize("command", CONTRACT)
def test_every_option_exists_with_that_spelling(command: str) -> None:
    places, options, choices = CONTRACT[command]
    actions = parser_of(command)._actions
    spelled = {spelling for action in actions for spelling in action.option_strings}
    assert {*COMMON.split(), *options.split(), *choices} <= spelled
    for name, values in choices.items():
        (action,) = [action for action in actions if name in action.option_strings]
        assert {*values.split()} <= set(action.choices or ())
        assert action.default == values.split()[0]
    found = [f"{action.metavar}{action.nargs or ''}" for action in actions if not action.option_strings]
    assert found == places.split()


# ------------------------------------------------------------------------------------------------------ exit codes
@pytest.fixture
def cc(tmp_path: Path) -> str:
    return LOGS["claude-code"](tmp_path / "cc").paths[0]


def test_some_usable_input_is_0_and_the_rest_is_told(cc: str, tmp_path: Path) -> None:
    bad = tmp_path / "none.jsonl"
    for command in ("calls", "report", "decide", "backtest", "watch"):
        done = run(command, bad, cc)
        assert done.code == 0, command
        assert "none.jsonl" in done.err and done.err.count("\n") == 1, command
        assert done.out == run(command, cc).out or command in ("report", "decide", "watch"), command
    assert run("doctor", bad, cc).code == 0


@pytest.mark.parametrize("command", ["calls", "report", "decide", "backtest", "watch", "doctor"])
@pytest.mark.parametrize("what", ["missing", "empty", "binary", "no usage", "unknown", "no logs"])
def test_nothing_usable_is_3(command: str, what: str, tmp_path: Path) -> None:
    path = tmp_path / "some.jsonl"
    if what == "no logs":
        path.mkdir()
    elif what != "missing":
        path.write_bytes({
            "empty": b"", "binary": bytes(range(256)) * 20, "unknown": b'{"a": 1}\n',
            "no usage": b'{"type":"user","sessionId":"s","uuid":"u","message":{"role":"user","content":"x"},'
                        b'"timestamp":"2026-04-10T08:00:00.000Z"}\n',
        }[what])  # fmt: skip
    done = run(command, path)
    assert done.code == 3
    assert "Traceback" not in done.err
    told = done.out if command == "doctor" else done.err
    assert "some.jsonl" in told


@pytest.mark.parametrize("command", ["check", "show", "compact", "diff"])
def test_a_conversation_that_is_not_there_is_3(command: str, tmp_path: Path) -> None:
    done = run(command, tmp_path / "none.json")
    assert (done.code, done.out) == (3, "")
    assert "none.json" in done.err


@pytest.mark.parametrize("command", CONTRACT)
def test_wrong_usage_is_2(command: str) -> None:
    places = ["x"] if CONTRACT[command][0] in ("FILE", "A B?") else []
    done = run(command, *places, "--no-such-option")
    assert (done.code, done.out) == (2, "")
    assert "--no-such-option" in done.err


@pytest.mark.parametrize("command", ["compact", "check", "show", "diff"])
def test_a_file_has_to_be_named(command: str) -> None:
    assert run(command).code == 2


@pytest.mark.parametrize("action", ACTIONS.split())
def test_the_exit_code_tells_the_action(action: str, cc: str, tmp_path: Path) -> None:
    table = tmp_path / "table.yaml"
    table.write_text(f"rows:\n  - {{id: always, action: {action}, reasons: ['x']}}\n", encoding="utf-8")
    codes = {
        "continue": 0,
        "trim": 10,
        "compact_at_boundary": 11,
        "compact_now": 12,
        "notes_new_window": 13,
        "fresh": 14,
    }
    done = run("decide", cc, "--table", table, "--exit-code", "--format", "json")
    assert (done.code, done.err) == (codes[action], "")
    assert not faults(done.json, "DECIDE")
    assert (done.json["action"], done.json["rule"]) == (action, "always")
    # without the option the exit code says only that it worked
    assert run("decide", cc, "--table", table).code == 0


def test_decide_without_any_session_is_3(tmp_path: Path) -> None:
    assert run("decide", tmp_path, "--exit-code").code == 3
    assert run("decide", SAMPLES, "--session", "nobody", "--exit-code").code == 3


def test_the_built_in_table_gives_each_kind_of_answer(tmp_path: Path) -> None:
    """Prompts in the middle of work and what a limit of 167,000 tokens makes of them."""
    import time

    end = int(time.time() * 1000) - 20_000

    def code(name: str, prompts: list[int], **facts: object) -> int:
        path = transcript(tmp_path / f"{name}.jsonl", prompts, end=end, name=name, **facts)
        return run("decide", path, "--exit-code", "-q").code

    assert code("small", [17_000 + n * 1_200 for n in range(5)]) == 0
    assert code("full", [100_000 + n * 5_000 for n in range(10)]) == 12
    assert code("waiting", [100_000 + n * 5_000 for n in range(10)], pending=True) == 0
    assert code("thrash", [60_000 + n * 1_000 for n in range(12)], compactions={3: 61_000, 6: 62_000, 9: 63_000}) == 13


def test_an_output_that_cannot_be_written_is_1(cc: str, tmp_path: Path) -> None:
    for command, form in (("calls", "json"), ("report", "html")):
        done = run(command, cc, "--format", form, "-o", tmp_path / "no" / "folder" / "x")
        assert (done.code, done.out) == (1, "")
        assert "cannot be written" in done.err


# --------------------------------------------------------------------------------------------------------- streams
def each_command(tmp_path: Path) -> dict[str, list[str]]:
    """Arguments with which every command that ends by itself has something to say."""
    logs = tmp_path / "logs"
    cc = LOGS["claude-code"](logs)
    session = str(cc.calls[0]["file"])
    chat = logs / "chat.json"
    turns = [{"role": role, "content": f"{n} " + "word " * 4_000} for n in range(9) for role in ("user", "assistant")]
    chat.write_text(json.dumps(turns), encoding="utf-8")
    return {
        "watch": [cc.paths[0]],
        "calls": [cc.paths[0]],
        "report": [cc.paths[0]],
        "decide": [cc.paths[0]],
        "backtest": [cc.paths[0]],
        "compact": [str(chat), "--force"],
        "check": [str(chat)],
        "show": [session],
        "diff": [str(chat), str(chat)],
        "doctor": [cc.paths[0]],
        "prices": [],
        "record": ["--print-setup"],
    }


@pytest.mark.parametrize("command", [name for name in CONTRACT if name not in ("serve", "statusline")])
def test_results_go_to_stdout_and_nothing_else_is_said_when_all_is_fine(command: str, tmp_path: Path) -> None:
    done = run(command, *each_command(tmp_path)[command])
    assert (done.code, done.err) == (0, "")
    assert done.out.strip()
    assert "\x1b" not in done.out


def test_a_path_alone_is_watch_and_without_a_terminal_the_report(cc: str) -> None:
    bare, watch, report = run(cc), run("watch", cc), run("report", cc)
    assert (bare.code, watch.code, report.code) == (0, 0, 0)
    assert bare.out == watch.out
    assert bare.out.splitlines()[0] == report.out.splitlines()[0]
    assert bare.err == watch.err == ""


def test_one_frame_of_the_dashboard_ends_by_itself(cc: str) -> None:
    done = run("watch", cc, "--once")
    assert (done.code, done.err) == (0, "")
    assert "Prompt tokens per turn" in done.out


@pytest.mark.parametrize("name", ["claude-code", "codex", "pi", "new-api", "litellm", "har", "api-log"])
def test_standard_input(name: str, tmp_path: Path) -> None:
    log = LOGS[name](tmp_path)
    file = max((path for path in tmp_path.rglob("*") if path.is_file()), key=lambda path: path.stat().st_size)
    calls = good("calls", "-", "--format", "json", stdin=file.read_bytes())["calls"]
    from_file = good("calls", file, "--format", "json")["calls"]
    names = ("prompt_tokens", "fresh_tokens", "cache_read_tokens", "output_tokens", "window", "cache_outcome", "time")
    assert [[call[n] for n in names] for call in calls] == [[call[n] for n in names] for call in from_file]
    assert {call["source"] for call in calls} == {log.source}
    assert run("report", "-", stdin=file.read_bytes()).code == 0
    assert run("-", stdin=file.read_bytes()).out.startswith("ctxmon report")
    assert run("calls", "-", stdin=b"").code == 3


def test_conversations_from_standard_input(tmp_path: Path) -> None:
    chat = json.dumps([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]).encode()
    assert run("check", "-", stdin=chat).code == 0
    assert "Hello" in run("show", "-", stdin=chat).out
    assert run("compact", "-", "-o", tmp_path / "out.json", stdin=chat).code == 0


def test_files_folders_and_patterns_name_each_file_once(cc: str) -> None:
    whole = good("calls", cc, "--format", "json")["calls"]
    inside = Path(cc) / "-home-dev-shop"
    for paths in ([inside], [cc, inside / "*.jsonl"], [f"{cc}/**/*.jsonl"]):
        assert good("calls", *paths, "--format", "json")["calls"] == whole, paths
    only_main = good("calls", f"{cc}/*/*.json?", "--format", "json")["calls"]
    assert len(only_main) == 5
    done = run("calls", f"{cc}/*.nothing")
    assert done.code == 3 and "*.nothing" in done.err


AGENTS: list[tuple[str, str, str]] = [
    ("claude-code", "CLAUDE_CONFIG_DIR", ".claude"),
    ("codex", "CODEX_HOME", ".codex"),
    ("pi", "PI_CODING_AGENT_DIR", ".pi/agent"),
]


@pytest.mark.parametrize(("name", "variable", "folder"), AGENTS)
def test_without_a_path_the_agents_own_folders_are_read(
    name: str, variable: str, folder: str, home: Path, monkeypatch: pytest.MonkeyPatch  # noqa: F811
) -> None:  # fmt: skip
    make: Callable[[Path], object] = LOGS[name]
    make(home / folder)
    assert {call["source"] for call in good("calls", "--format", "json")["calls"]} == {name}
    (home / folder).rename(home / "elsewhere")
    assert run("calls").code == 3
    monkeypatch.setenv(variable, str(home / "elsewhere"))
    assert {call["source"] for call in good("calls", "--format", "json")["calls"]} == {name}
    assert run().code == 0


@pytest.mark.parametrize("command", ["watch", "calls", "report", "decide", "backtest", "doctor"])
def test_a_machine_without_any_log_gets_a_sentence(command: str) -> None:
    done = run(command)
    assert done.code == 3
    assert "no agent's log folder was found" in done.out + done.err


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
