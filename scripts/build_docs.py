"""Makes the pages of docs/formats from the docstrings of the readers, and the table of them.

usage: build_docs.py [--check]
"""

from __future__ import annotations

import importlib
import inspect
import sys
from pathlib import Path

from monitor.readers import MODULES, module_readers

OUT = Path(__file__).resolve().parent.parent / "docs" / "formats"
INTRO = """# Formats

What ctxmon reads, format by format. These pages are made from the readers' own docstrings by
`scripts/build_docs.py`; the format of a file is found by its content. `ctxmon doctor PATH` says which one was
recognised and what could not be read.

| source | what | page |
|---|---|---|
"""


def pages() -> dict[str, str]:
    """File name -> text of every page."""
    made: dict[str, str] = {}
    rows = []
    for name in MODULES:
        readers = module_readers(name)
        module = importlib.import_module(f"monitor.readers.{name}")
        title, _, rest = inspect.cleandoc(module.__doc__ or "").partition("\n")
        sources = list(dict.fromkeys(reader.source for reader in readers))
        lines = [
            f"# {title.rstrip('.')}",
            "",
            "Source: " + ", ".join(f"`{source}`" for source in sources),
            rest.rstrip(),
            "",
        ]
        made[f"{name}.md"] = "\n".join(lines).replace("``", "`")
        titles = "; ".join(dict.fromkeys(reader.title for reader in readers))
        rows.append(f"| {', '.join(f'`{s}`' for s in sources)} | {titles} | [{name}]({name}.md) |")
    made["README.md"] = INTRO + "\n".join(rows) + "\n"
    return made


def main(check: bool) -> int:
    """Write the pages, or compare them with what is there."""
    wrong = 0
    wanted = pages()
    OUT.mkdir(parents=True, exist_ok=True)
    for name, text in wanted.items():
        path = OUT / name
        have = path.read_text(encoding="utf-8") if path.exists() else None
        if have != text:
            wrong += 1
            print(("differs: " if check else "written: ") + name)
            if not check:
                path.write_text(text, encoding="utf-8", newline="\n")
    for path in OUT.glob("*.md"):
        if path.name not in wanted:
            wrong += 1
            print(("needless: " if check else "removed: ") + path.name)
            if not check:
                path.unlink()
    return 1 if check and wrong else 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv))
