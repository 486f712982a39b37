"""The settings file: where it is, what it may hold, and what is said when it is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from monitor.compaction.options import CompactionError
from monitor.compaction.settings import KEYS, help_text, load


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


TOML = '[llm]\nbase_url = "http://localhost:1/v1"\ntimeout = 30\n\n[compact]\nkeep = 3\nstrategy = ["trim", "summary"]\n[watch]\nx = 1\n'
YAML = "llm:\n  base_url: http://localhost:1/v1\n  timeout: 30\ncompact:\n  keep: 3\n  strategy: [trim, summary]\nwatch:\n  x: 1\n"


@pytest.mark.parametrize(("name", "text"), [("c.toml", TOML), ("c.yaml", YAML), ("c.yml", YAML)])
def test_both_languages(name: str, text: str, tmp_path: Path) -> None:
    found = load(write(tmp_path / name, text))
    assert found.llm == {"base_url": "http://localhost:1/v1", "timeout": 30}
    assert found.compact == {"keep": 3, "strategy": "trim,summary"}


def test_user_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CTXMON_CONFIG_DIR", str(tmp_path))
    write(tmp_path / "config.toml", "[compact]\nkeep = 1\n")
    assert load().compact == {"keep": 1}
    monkeypatch.setenv("CTXMON_CONFIG_DIR", str(tmp_path / "none"))
    for name in ("XDG_CONFIG_HOME", "APPDATA", "HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    assert load().compact == {}


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("[llm]\nbase_url = 'x'\n[compact]\nkep = 3\n", 4, "did you mean keep?"),
        ("[llm]\nsumary_model = 'x'\n", 2, "did you mean summary_model?"),
        ("[llm]\napi_key = 'sk-1'\n", 2, "environment variable"),
        ("[compact]\nkeep = 'three'\n", 2, "must be a whole number"),
        ("[compact]\nkeep = -1\n", 2, "must not be negative"),
        ("[compact]\nstrict_roles = 1\n", 2, "true or false"),
        ("[compakt]\nkeep = 1\n", 1, "did you mean compact?"),
        ("[compact\nkeep = 1\n", 1, "not valid TOML"),
    ],
)
def test_what_is_wrong_is_told_with_file_and_line(text: str, line: int, words: str, tmp_path: Path) -> None:
    path = write(tmp_path / "c.toml", text)
    with pytest.raises(CompactionError) as told:
        load(path)
    assert words in str(told.value)
    assert str(told.value).startswith(f"{path}, line {line}:")
    assert told.value.code == 2
    assert "sk-1" not in str(told.value)


def test_yaml_errors_tell_the_line(tmp_path: Path) -> None:
    path = write(tmp_path / "c.yaml", "compact:\n  keep: 3\n  strategy: [a\nx: 1\n")
    with pytest.raises(CompactionError, match=r"line \d+: is not valid YAML"):
        load(path)
    path = write(tmp_path / "c.yaml", "compact:\n  kept: 3\n")
    with pytest.raises(CompactionError, match=r"line 2: compact\.kept is not known; did you mean keep\?"):
        load(path)


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(CompactionError, match="cannot be read"):
        load(tmp_path / "none.toml")


def test_every_key_is_in_the_help() -> None:
    text = help_text()
    for section, keys in KEYS.items():
        assert f"[{section}]" in text
        for key in keys:
            assert f"    {key} " in text


def test_the_example_on_the_page_is_right(tmp_path: Path) -> None:
    page = Path(__file__).resolve().parents[2] / "docs" / "compaction.md"
    block = page.read_text(encoding="utf-8").split("```toml\n")[1].split("```")[0]
    found = load(write(tmp_path / "c.toml", block))
    assert found.compact["preset"] == "200k" and found.llm["api_key_env"] == "EXAMPLE_KEY"
