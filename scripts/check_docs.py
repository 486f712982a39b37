"""Holds the pages to the program: what they tell people to type is accepted, and what they name exists.

usage: check_docs.py [PAGE…]

Checked on every page: each `ctxmon …` (in code blocks and in inline code) is parsed by the command's own parser; code
blocks of Python compile and import what is there; blocks of JSON, YAML and TOML parse; links lead to a file and a
heading; files of the project that are named are there. Nothing is run.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import doctest
import importlib
import io
import json
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from monitor.cli import COMMANDS, common  # noqa: E402

#: names that a page uses as a stand-in for the reader's own
STAND_INS = ("yours.py", "test_yours.py", "yours.md")
_FENCE = re.compile(r"^( *)(`{3,})[ \t]*(\w*)[^\n]*\n(.*?)^\1\2[ \t]*$", re.M | re.S)
_INLINE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_LINK = re.compile(r"!?\[[^\]\n]*\]\(([^)\s]+)\)")
_FILE = re.compile(r"(?<![\w/.~$-])(?:monitor|scripts|docs|tests|sample_logs|benchmarks)/[\w./-]*\w")


class Block(NamedTuple):
    """A code block: language as written (``""`` if none), line of its first line, text."""

    language: str
    line: int
    text: str


def pages() -> list[Path]:
    """Every page of the project that people read."""
    named = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "sample_logs/README.md")]
    return [page for page in named if page.exists()] + sorted((ROOT / "docs").rglob("*.md"))


def blocks(text: str) -> list[Block]:
    """Fenced blocks, and indented ones that hold a command."""
    found = [Block(m[3], text.count("\n", 0, m.start(4)) + 1, m[4]) for m in _FENCE.finditer(text)]
    plain = _without_fences(text)
    found += [Block("sh", number, line.strip()) for number, line in enumerate(plain.split("\n"), 1)
              if re.match(r" {4,}(ctxmon|\$ ctxmon)\b", line)]  # fmt: skip
    return found


def _without_fences(text: str) -> str:
    return _FENCE.sub(lambda m: "\n" * m[0].count("\n"), text)


# -------------------------------------------------------------------------------------------------------- commands
def commands(text: str) -> Iterator[tuple[int, list[str]]]:
    """(line, arguments) of every call of ctxmon in a page."""
    for block in blocks(text):
        if block.language in ("", "sh", "bash", "console", "shell"):
            for offset, line in enumerate(block.text.split("\n")):
                # a list of examples tells what each does behind two blanks or more
                for words in _calls(re.split(r"(?<=\S) {2,}", line)[0]):
                    yield block.line + offset, words
    for number, line in enumerate(_without_fences(text).split("\n"), 1):
        for code in _INLINE.findall(line):
            if code.startswith(("ctxmon ", "python -m monitor ")):
                for words in _calls(code):
                    if len(words) > 1 or words[:1] not in ([name] for name in COMMANDS):  # `ctxmon check` is a name
                        yield number, words


def _calls(line: str) -> Iterator[list[str]]:
    """Arguments of each ctxmon in a line of shell."""
    lexer = shlex.shlex(line.strip().removeprefix("$ "), posix=True, punctuation_chars="|&;<>")
    lexer.whitespace_split = True
    try:
        words = list(lexer)
    except ValueError:
        return
    command: list[str] = []
    for word in [*words, ";"]:
        if re.fullmatch(r"[|&;]+", word):
            yield from _arguments(command)
            command = []
        else:
            command.append(word)


def _arguments(words: list[str]) -> Iterator[list[str]]:
    kept = [word for word in words if not re.fullmatch(r"\w+=.*", word)] if words and "=" in words[0] else words
    if ">" in kept:
        kept = kept[: kept.index(">")]
    if not kept:
        return
    name = kept[0].replace("\\", "/").rpartition("/")[2]
    if name == "ctxmon":
        yield kept[1:]
    elif name.startswith("python") and kept[1:3] == ["-m", "monitor"]:
        yield kept[3:]


def accepted(arguments: list[str]) -> str:
    """Empty if the command line takes these arguments, else what it says. ``[PATH…]`` stands for nothing."""
    words = [word for word in arguments if not re.fullmatch(r"\[.*\]|…", word)]
    if not words or words[0] in ("--help", "-h", "--version", "help", "COMMAND"):
        return ""
    name, rest = (words[0], words[1:]) if words[0] in COMMANDS else ("watch", words)
    if re.fullmatch(r"[a-z]+", words[0]) and words[0] not in COMMANDS and not (ROOT / words[0]).exists():
        return f"there is no command {words[0]}"
    told = io.StringIO()
    with contextlib.redirect_stderr(told), contextlib.redirect_stdout(io.StringIO()):
        try:
            parser_of(name).parse_args(rest)
        except SystemExit as stop:
            return "" if not stop.code else told.getvalue().strip().split("\n")[-1]
    return ""


def parser_of(command: str) -> argparse.ArgumentParser:
    """The parser of one command, as the command line makes it."""
    subparsers = argparse.ArgumentParser(prog="ctxmon").add_subparsers()
    importlib.import_module(f"monitor.cli.{COMMANDS[command][0]}").add_parser(subparsers, common.options())
    found: argparse.ArgumentParser = subparsers.choices[command]
    return found


# ------------------------------------------------------------------------------------------------------ code, links
def code(block: Block) -> str:
    """Empty if a block is what its language says, else what is wrong."""
    try:
        if block.language in ("py", "python"):
            return _python(block.text)
        if block.language == "json":
            _json(block.text)
        elif block.language in ("yaml", "yml"):
            import yaml

            list(yaml.safe_load_all(block.text))
        elif block.language == "toml":
            import tomllib

            tomllib.loads(block.text)
    except (SyntaxError, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    except Exception as error:  # yaml has its own kinds
        return f"{type(error).__name__}"
    return ""


def _json(text: str) -> None:
    try:
        json.loads(text)
    except ValueError:
        for line in text.strip().split("\n"):  # one object a line
            json.loads(line)


def _python(text: str) -> str:
    if text.lstrip().startswith(">>>"):  # a session of the interpreter: what was typed
        text = "\n".join(example.source for example in doctest.DocTestParser().get_examples(text))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "monitor":
            module = importlib.import_module(node.module or "")
            for alias in node.names:
                if not hasattr(module, alias.name):
                    try:
                        importlib.import_module(f"{node.module}.{alias.name}")
                    except ImportError:
                        return f"{node.module} has no {alias.name}"
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] == "monitor":
                    importlib.import_module(alias.name)
    return ""


def headings(text: str) -> set[str]:
    """Anchors of a page's headings, as GitHub makes them."""
    found: set[str] = set()
    for title in re.findall(r"^#{1,6} +(.+?) *#*$", _without_fences(text), re.M):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).lower()
        found.add(re.sub(r"[^\w\- ]", "", plain).strip().replace(" ", "-"))
    return found


def link(page: Path, target: str) -> str:
    """Empty if a link of a page leads somewhere, else what is wrong. Addresses of the web are not asked."""
    if "://" in target or target.startswith("mailto:"):
        return ""
    name, _, anchor = target.partition("#")
    path = (page.parent / name).resolve() if name else page
    if not path.exists():
        return f"{target} is not there"
    if anchor and path.suffix == ".md" and anchor not in headings(path.read_text(encoding="utf-8")):
        return f"{target}: there is no such heading"
    return ""


# ------------------------------------------------------------------------------------------------------------- page
def faults(page: Path) -> list[str]:
    """Everything in which a page is wrong: ``line: what``."""
    text = page.read_text(encoding="utf-8")
    found = [f"{line}: ctxmon {shlex.join(words)}: {why}" for line, words in commands(text) if (why := accepted(words))]
    found += [f"{block.line}: {block.language}: {why}" for block in blocks(text) if (why := code(block))]
    for number, line in enumerate(_without_fences(text).split("\n"), 1):
        found += [f"{number}: {why}" for target in _LINK.findall(line) if (why := link(page, target))]
        for name in _FILE.findall(_LINK.sub("", line)):
            if not name.endswith(STAND_INS) and not (ROOT / name).exists() and not (page.parent / name).exists():
                found.append(f"{number}: {name} is not there")
    return found


def main(names: list[str]) -> int:
    """Check the pages named, or all. Exit code 1 if one is wrong."""
    wrong = 0
    for page in [Path(name).resolve() for name in names] or pages():
        for fault in faults(page):
            wrong += 1
            print(f"{page.relative_to(ROOT).as_posix()}:{fault}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
