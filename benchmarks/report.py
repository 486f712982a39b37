"""First and repeated `ctxmon report` on trees of logs: CPU, wall, memory, speed, and whether the figures are the truth.

    python benchmarks/report.py [--tree DIR] [--format claude-code|codex|pi|new-api …] [--mb 200] [--json FILE]

Without a tree, one of each format is made first (``benchmarks/trees.py``). ``first`` begins with an empty cache and
fills it, ``repeated`` finds every file unchanged, ``one grown`` finds one file with a line more, ``without cache`` is
``--no-cache``. The page cache is warm; ``--cold`` asks the kernel to drop the tree from it first (no rights needed).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import trees
from benchmarks.measure import Cost, environment, measure, program, size_of, tell

NAMES = {
    "calls": "calls",
    "prompt": "prompt_tokens",
    "cache_read": "cache_read_tokens",
    "cache_write": "cache_write_tokens",
    "output": "output_tokens",
}


def differences(output: bytes, truth: dict[str, int] | None) -> dict[str, int] | str:
    """Where a report's totals are not the truth; empty if they are."""
    if truth is None:
        return "no truth is known"
    totals = json.loads(output)["totals"]
    return {name: (totals[key] or 0) - truth[name] for name, key in NAMES.items() if (totals[key] or 0) != truth[name]}


def drop_from_memory(folder: Path) -> None:
    """Ask the kernel to forget the files, so that they come from the disk."""
    for path in folder.rglob("*"):
        if path.is_file():
            with path.open("rb") as stream:
                os.posix_fadvise(stream.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def report(tree: Path, home: Path, args: argparse.Namespace, name: str) -> tuple[list[Cost], dict[str, int] | str]:
    """The runs on one tree, and where the figures are wrong."""
    env = environment(home)
    size, files = size_of(tree)
    cache = home / "cache"
    command = program("report", str(tree), "--format", "json", "-q")
    measure("", program("report", str(tree), "--format", "json", "-q"), env, runs=1)  # byte code, page cache

    def nothing_kept() -> None:
        shutil.rmtree(cache, ignore_errors=True)

    costs = []

    def add(
        what: str, *more: str, before: Callable[[], object] | None = None, goal: str = "", runs: int = args.runs
    ) -> bytes:
        cost, output = measure(
            f"{name}: {what}", [*command, *more], env, runs=runs, size=size, before=before, goal=goal
        )
        cost.notes = {"files": files, "MB": round(size / 1e6)}
        costs.append(cost)
        return output

    wrong = differences(add("without cache", "--no-cache"), trees.truth_of(tree))
    add("first", before=nothing_kept)
    output = add("repeated")
    wrong_again = differences(output, trees.truth_of(tree))
    add("repeated, as text", "--format", "text")
    newest = max((path for path in tree.rglob("*.jsonl")), key=lambda path: path.stat().st_mtime, default=None)
    if newest is not None:

        def grow() -> None:
            with newest.open("ab") as stream:
                stream.write(b"\n")

        add("one grown", before=grow)
    if args.cold and hasattr(os, "posix_fadvise"):
        add("from disk, without cache", "--no-cache", before=lambda: drop_from_memory(tree), runs=2)
    return costs, wrong if wrong else wrong_again


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tree", type=Path, action="append", default=[], help="folder of logs; truth.json beside it")
    parser.add_argument("--format", action="append", choices=[*trees.AGENTS, "new-api"], help="make a tree of this")
    parser.add_argument("--mb", type=float, default=200, help="size of the trees that are made")
    parser.add_argument("--files", type=int, default=0, help="at least so many files (claude-code)")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--cold", action="store_true", help="also from disk")
    parser.add_argument("--json", type=Path, help="write the figures here (- for stdout)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        given = [(path.name, path) for path in args.tree]
        for form in args.format or ([] if given else [*trees.AGENTS, "new-api"]):
            tree = home / form / "logs"
            trees.grow(form, tree, args.mb, files=args.files)
            given.append((form, tree))
        costs: list[Cost] = []
        wrong: dict[str, object] = {}
        for name, tree in given:
            found, differs = report(tree, home, args, name)
            costs += found
            wrong[name] = differs or "none"
        tell(costs, args.json, differences=wrong)
        print("differences to the truth:", json.dumps(wrong))
    return 0 if all(value in ("none", "no truth is known") for value in wrong.values()) else 1


if __name__ == "__main__":
    raise SystemExit(main())
