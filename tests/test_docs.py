"""The pages tell the truth: what they tell people to type is taken, what they name is there, what they list is all."""

from __future__ import annotations

import csv
import importlib.util
import io
import re
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

from monitor.cli import COMMANDS, main
from monitor.decision.model import EXIT_CODES
from monitor.readers import sources
from tests.e2e.contract_fields import TABLES

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def script(name: str) -> ModuleType:
    """A script of the project as a module."""
    spec = importlib.util.spec_from_file_location(f"scripts_{name}", ROOT / "scripts" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # NamedTuple looks itself up
    spec.loader.exec_module(module)
    return module


check_docs = script("check_docs")


@pytest.mark.parametrize("page", check_docs.pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_page(page: Path) -> None:
    assert not check_docs.faults(page)


def test_the_check_finds_what_is_wrong(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# One heading\n\n[a](#one-heading) [b](#another) [c](none.md) [d](page.md#one-heading)\n\n"
        "`ctxmon report --no-such-option`, `ctxmon reprot x`, `ctxmon report -o x.html`, monitor/no_such.py\n\n"
        "```sh\nFOO=1 ctxmon calls --format xml | head\nctxmon calls x && ctxmon nosuch y  # so\n```\n\n"
        "```python\nfrom monitor.pricing import PriceTable, NoSuchThing\n```\n\n```json\n{\"a\": }\n```\n\n"
        "```toml\na = \n```\n", encoding="utf-8",
    )  # fmt: skip
    found = "\n".join(check_docs.faults(page))
    for wrong in ("no-such-option", "reprot", "xml", "nosuch", "NoSuchThing", "#another", "none.md", "no_such.py",
                  "json", "toml"):  # fmt: skip
        assert wrong in found, wrong
    assert found.count("\n") == 9
    assert "8: ctxmon calls --format xml" in found


# -------------------------------------------------------------------------------------------------- generated pages
@pytest.mark.parametrize("name", ["build_commands", "build_docs"])
def test_generated_pages_are_those_of_the_program(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert script(name).main(True) == 0, capsys.readouterr().out


def test_the_manual_has_every_command_and_option() -> None:
    manual = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    for command in COMMANDS:
        section = re.search(rf"^## {command}\n(.*?)(?=^## |\Z)", manual, re.M | re.S)
        assert section is not None, command
        for action in check_docs.parser_of(command)._actions:
            for spelling in action.option_strings:
                if action.help != "==SUPPRESS==" and action.dest != "help":
                    assert f"`{spelling}" in manual, (command, spelling)


def test_the_pages_of_formats_name_every_source() -> None:
    table = (ROOT / "docs" / "formats" / "README.md").read_text(encoding="utf-8")
    assert {source for source in sources() if f"`{source}`" not in table} == set()


# ---------------------------------------------------------------------------------------------------------- README
def test_the_front_page_lists_every_command_and_exit_code() -> None:
    listed = re.search(r"^## Commands\n\n(.*)$", README, re.M)
    assert listed is not None
    assert set(re.findall(r"`(\w+)`", listed[1])) == set(COMMANDS)
    words = {
        10: "trim",
        11: "compact at the next boundary",
        12: "compact now",
        13: "notes and new window",
        14: "start fresh",
    }
    text = " ".join(README.split())
    assert set(words) == set(EXIT_CODES.values()) - {0}
    for code, meaning in words.items():
        assert f"{code} {meaning}" in text


def test_the_extras_are_those_of_the_package() -> None:
    with (ROOT / "pyproject.toml").open("rb") as stream:
        extras = set(tomllib.load(stream)["project"]["optional-dependencies"]) - {"dev"}
    assert set(re.findall(r"'\.\[(\w+)\]'", README)) - {"dev"} == extras


def test_nobody_is_told_to_install_our_name_from_the_index() -> None:
    """It is not registered there: whoever does so would be installed."""
    for page in [*check_docs.pages(), *(ROOT / "docs" / "examples").glob("*.py")]:
        for line in page.read_text(encoding="utf-8").split("\n"):
            if re.search(r"\b(install|uvx)\b.*(?<![\w/.-])ctxmon\b", line.partition("#")[0]):
                assert "--from ." in line, (page.name, line)


def test_every_page_is_in_the_index() -> None:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    for page in (ROOT / "docs").glob("*.md"):
        assert page.name == "README.md" or f"]({page.name})" in index, page.name


def test_the_house_is_drawn_as_it_stands() -> None:
    """CONTRIBUTING.md: every package of the program is in the drawing, and no other."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    drawn = set(re.findall(r"^  (\w+)/", text, re.M))
    there = {path.parent.name for path in (ROOT / "monitor").glob("*/__init__.py")} - {"data"}
    assert drawn == there


# ------------------------------------------------------------------------------------------------- what a page shows
def test_the_page_of_json_names_every_field() -> None:
    text = (ROOT / "docs" / "json.md").read_text(encoding="utf-8")
    missing = {field.name for table in TABLES.values() for field in table if f"`{field.name}`" not in text}
    assert missing <= {"schema", "calls", "events", "problems", "file", "line", "reason"}
    words = {word for table in TABLES.values() for field in table for word in field.words if "/" not in word}
    used = {word for word in words - set(sources()) if f"`{word}`" not in text}
    assert used <= {"trim", "notes", "summary", "remote"}


def test_lines_of_the_recorder_shown_are_read_as_calls(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "docs" / "record.md").read_text(encoding="utf-8")
    lines = [line for block in check_docs.blocks(text) if block.language == "json" for line in block.text.split("\n")]
    lines = [line for line in lines if line.startswith('{"schema":"ctxmon.call/')]
    assert lines
    (tmp_path / "calls.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert main(["calls", str(tmp_path / "calls.jsonl"), "--format", "csv"]) == 0
    assert len(list(csv.DictReader(io.StringIO(capsys.readouterr().out)))) == len(lines)


def test_the_prices_shown_are_taken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "docs" / "prices.md").read_text(encoding="utf-8")
    (block,) = [block for block in check_docs.blocks(text) if block.language == "yaml"]
    own = tmp_path / "own.yaml"
    own.write_text(block.text, encoding="utf-8")
    assert main(["prices", "--prices", str(own), "--model", "house-*"]) == 0
    assert "house-model-9b" in capsys.readouterr().out


def test_the_codes_of_check_are_those_that_can_be_told() -> None:
    """docs/check.md lists them all, and none that no rule has."""
    text = (ROOT / "docs" / "check.md").read_text(encoding="utf-8")
    table = text[text.index("## Codes") : text.index("## `show`")]
    pattern = r"[A-Z]\d{0,2}-[a-z0-9-]+"
    listed = set(re.findall(rf"`({pattern})`", table))
    told: set[str] = set()
    for file in (ROOT / "monitor" / "conversation" / "rules").glob("*.py"):
        told |= set(re.findall(rf"[\"']({pattern})[\"']", file.read_text(encoding="utf-8")))
    assert listed
    assert told - listed == set()
