"""Prints one of the README's commands, so that CI runs what people are told to run.

usage: readme_command.py run|test
"""

import re
import sys
from pathlib import Path

README = Path(__file__).resolve().parent.parent / "README.md"


def command(name: str) -> str:
    """The shell lines between ``<!-- command:NAME -->`` and the end of the code block after it."""
    text = README.read_text(encoding="utf-8")
    found = re.search(rf"<!-- command:{name} -->\s*```\w*\n(.*?)```", text, re.S)
    if found is None:
        raise SystemExit(f"README.md has no command named {name}")
    return found.group(1)


if __name__ == "__main__":
    sys.stdout.write(command(sys.argv[1]))
