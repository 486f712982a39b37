"""Values out of settings files and environments."""

from __future__ import annotations

from monitor.compaction.values import environment, is_config, of_config, settings
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
