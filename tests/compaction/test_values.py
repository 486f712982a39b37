"""Values out of settings files and environments."""

from __future__ import annotations

from monitor.compaction.rules import Said
from monitor.compaction.values import environment, is_config, note, of_config, of_output, result, settings
from monitor.conversation.secrets import MARK


def test_a_short_settings_file_is_told_in_most_of_its_lines() -> None:
    text = '[mail]\nhost = "post.example"\nport = 2525\nsender_id = "N-2041"\nverbose = true\nshare = 0.035\n'
    assert of_config(text) == ['host = "post.example"', "port = 2525", 'sender_id = "N-2041"', "share = 0.035"]


def test_of_a_long_one_only_what_tells() -> None:
    text = "\n".join(f"name_{i}: word" for i in range(60)) + "\nlisten_port: 9411\n"
    assert of_config(text) == ["listen_port: 9411"]


def test_addresses_and_names_of_limits_come_first() -> None:
    lines = [*(f"K{i}=v{i}" for i in range(9)), "BROKER=mq.example:5673", "TIMEOUT_S=40"]
    assert settings(lines, 2) == ["BROKER=mq.example:5673", "TIMEOUT_S=40"]


def test_a_few_variables_are_told_without_secrets() -> None:
    text = f"APP_TZ=Asia/Tokyo\nAPP_PORT=7070\nAPP_TOKEN={MARK}\nAPP_DEBUG=false\n"
    assert environment(text) == ["APP_TZ=Asia/Tokyo", "APP_PORT=7070"]


def test_of_a_whole_environment_only_addresses() -> None:
    text = "\n".join([*(f"VAR{i}=x{i}" for i in range(30)), "API=http://api.example:8123/v1"])
    assert environment(text) == ["API=http://api.example:8123/v1"]


def test_an_environment_file_of_a_stage_holds_settings() -> None:
    assert is_config("deploy/.env.staging")
    assert not is_config("deploy/notes.md")


def test_what_looks_like_a_key_is_not_told() -> None:
    assert settings(["station_id = B-2207", "kenmerk = Wk52qPz90LrYt38Bm"]) == ["station_id = B-2207"]


def test_directives_with_nothing_between_name_and_value() -> None:
    text = 'FROM python:3.12\nCOPY . .\nENV GATE_TIMEOUT_MS=4500\nEXPOSE 9418\nCMD ["python", "-m", "gate"]\n'
    assert is_config("Dockerfile") and is_config("docker/slim.Dockerfile")
    assert of_config(text) == ["FROM python:3.12", "ENV GATE_TIMEOUT_MS=4500", "EXPOSE 9418"]
    assert of_config("worker_processes 4;\nhttp {\n}\n") == ["worker_processes 4"]


def test_shares_are_values() -> None:
    assert of_output("误报率 5.83%\n[exit code 0]") == ["误报率 5.83%"]


def test_of_a_figure_the_newest_and_the_first_are_told_each_name_for_itself() -> None:
    known: dict[str, Said] = {}
    for line in ("p95 934 ms", "p99 1480 ms", "p95 304 ms", "p95 188 ms", "port 8080 is used", "port 9090 is used"):
        note(known, line, 1, False)
    told = [s.text for s in known.values()]
    assert told == ["p99 1480 ms", "p95 188 ms (at first: p95 934 ms)", "port 9090 is used"]
    note(known, "p99 401 ms", 2, True)
    assert [s.text for s in known.values() if not s.kept][-1] == "p99 1480 ms (at first)"


def test_the_figure_a_command_was_run_for() -> None:
    assert result("61 shifts, 1 empty (N-22)\n[exit code 0]") == "61 shifts, 1 empty (N-22)"
    assert result("ok\n") == ""
    assert result("\n".join(f"line {i}" for i in range(9))) == ""
    assert of_output("rows written 18204417\nduration 41 min") == ["rows written 18204417", "duration 41 min"]
