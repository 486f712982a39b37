"""Makes docs/commands.md, the manual of all commands, from their own parsers.

usage: build_commands.py [--check]

Rendered here and not by argparse, whose layout differs between Python versions and widths of the terminal.
"""

from __future__ import annotations

import argparse
import importlib
import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
for _name in ("XDG_CONFIG_HOME", "CTXMON_CONFIG_DIR"):  # a page is the same on every machine
    os.environ.pop(_name, None)

from monitor.cli import COMMANDS, common  # noqa: E402

OUT = ROOT / "docs" / "commands.md"
COMMON = "common options"

HEAD = """# Commands

*Written by `scripts/build_commands.py` from the commands themselves; `ctxmon COMMAND --help` says the same.*

`ctxmon [PATH…]` is `ctxmon watch [PATH…]`. A PATH is a file, a folder (searched to any depth), a glob, `-` for standard
input, or an address (a gateway's REST interface or a database). Without one, the agents' own log folders on this
machine are read. `--` ends the options, for names that begin with a dash.

Results go to standard output, notes about what could not be read to standard error. Colour is used on a terminal only,
and never with `NO_COLOR`.

| exit code | means |
|---|---|
| 0 | some input was usable; what was not is told |
| 1 | an internal failure, or the output could not be written |
| 2 | wrong usage |
| 3 | nothing usable: missing, empty, unreadable, without usage; or `check` found violations |
| 10, 11, 12 | `decide --exit-code`: trim, compact at the next boundary, compact now |
| 13, 14 | `decide --exit-code`: save notes and open a new window, start fresh |
| 130 | interrupted with Ctrl-C |

"""


def parser_of(command: str) -> argparse.ArgumentParser:
    """The parser of one command, as the command line makes it."""
    subparsers = argparse.ArgumentParser(prog="ctxmon").add_subparsers()
    importlib.import_module(f"monitor.cli.{COMMANDS[command][0]}").add_parser(subparsers, common.options())
    found: argparse.ArgumentParser = subparsers.choices[command]
    return found


def manual() -> str:
    """The whole page."""
    parsers = {command: parser_of(command) for command in COMMANDS}
    parts = [HEAD + "| command | does |\n|---|---|"]
    parts += [f"| [`{name}`](#{name}) | {_cell(text)} |" for name, (_, text) in COMMANDS.items()]
    parts += [
        "",
        "## Common options",
        "",
        "Every command takes them; where one has no meaning it has no effect.",
        "",
    ]
    parts += _table(_group(common.options(), COMMON), argparse.ArgumentParser(prog="ctxmon"))
    for command, parser in parsers.items():
        parts += ["", *_command(command, parser)]
    return "\n".join(parts) + "\n"


def _command(command: str, parser: argparse.ArgumentParser) -> list[str]:
    lines = [f"## {command}", "", "```", _synopsis(command, parser), "```", "", _text(parser.description or "")]
    tables: dict[str, list[argparse.Action]] = {}
    for group in parser._action_groups:
        plain = group.title in ("positional arguments", "options", "optional arguments")
        tables.setdefault("" if plain else group.title or "", []).extend(
            action for action in group._group_actions if _worth_telling(action)
        )
    tables.pop(COMMON, None)
    for title, actions in tables.items():
        if actions:
            lines += ["", *([f"{title[:1].upper()}{title[1:]}:", ""] if title else []), *_table(actions, parser)]
    if parser.epilog:
        lines += ["", "```", parser.epilog.strip("\n"), "```"]
    return lines


def _worth_telling(action: argparse.Action) -> bool:
    return action.help != argparse.SUPPRESS and action.dest not in ("help", "paths")


def _group(parser: argparse.ArgumentParser, title: str) -> list[argparse.Action]:
    return [action for group in parser._action_groups if group.title == title for action in group._group_actions]


def _synopsis(command: str, parser: argparse.ArgumentParser) -> str:
    words = [f"ctxmon {command}", "[OPTION…]"]
    for action in parser._actions:
        if not action.option_strings:
            name = str(action.metavar or action.dest)
            words.append({"*": f"[{name}…]", "?": f"[{name}]", "+": f"{name}…"}.get(str(action.nargs), name))
    return " ".join(words)


def _table(actions: list[argparse.Action], parser: argparse.ArgumentParser) -> list[str]:
    rows = [f"| {_spelling(action)} | {_help(action, parser)} |" for action in actions]
    return ["| option | does |", "|---|---|", *rows]


def _spelling(action: argparse.Action) -> str:
    if not action.option_strings:
        return f"`{_cell(str(action.metavar or action.dest))}`"
    value = ""
    if action.nargs != 0:
        values = "|".join(map(str, action.choices or [action.dest.upper()]))
        value = f" {action.metavar or values}"
    return ", ".join(f"`{_cell(name + value)}`" for name in action.option_strings)


def _help(action: argparse.Action, parser: argparse.ArgumentParser) -> str:
    return _cell(_text((action.help or "") % {**vars(action), "prog": parser.prog}))


def _text(text: str) -> str:
    """Text of a help as Markdown: one paragraph, nothing in it taken for markup."""
    return re.sub(r"([<>*])", r"\\\1", " ".join(text.split()))


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main(check: bool) -> int:
    """Write the page, or compare it with what is there."""
    text = manual()
    have = OUT.read_text(encoding="utf-8") if OUT.exists() else None
    if have == text:
        return 0
    print(("differs: " if check else "written: ") + OUT.relative_to(ROOT).as_posix())
    if not check:
        OUT.write_text(text, encoding="utf-8", newline="\n")
    return 1 if check else 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv))
