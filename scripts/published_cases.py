"""Runs the published cases and holds them against the list of those that are not expected to pass yet.

usage: published_cases.py RUN_CASES.py CTXMON [GLOB]

A listed case that passes fails the run until it is taken off the list (tests/cases_pending.txt), which may only shrink.
"""

import re
import subprocess
import sys
from pathlib import Path

PENDING = Path(__file__).resolve().parent.parent / "tests" / "cases_pending.txt"


def main(runner: str, command: str, only: str = "*") -> int:
    """Run and compare; returns an exit code."""
    pending = {
        line.split("#")[0].strip()
        for line in PENDING.read_text(encoding="utf-8").splitlines()
        if line.split("#")[0].strip()
    }
    done = subprocess.run(
        [sys.executable, runner, "--cmd", command, "--only", only, "-v"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    passed = set(re.findall(r"^ok   (\S+)$", done.stdout, re.M))
    failed = dict(re.findall(r"^FAIL (\S+?): (.*)$", done.stdout, re.M))
    skipped = re.findall(r"^SKIP (.*)$", done.stdout, re.M)
    if not passed and not failed:
        print(done.stdout, done.stderr)
        return 1
    for line in skipped:
        print("skipped:", line)
    wrong = 0
    for name, why in failed.items():
        if name not in pending:
            wrong += 1
            print(f"FAIL {name}: {why}")
    for name in sorted(pending & passed):
        wrong += 1
        print(f"FAIL {name}: passes now; take it off {PENDING.name}")
    open_cases = sorted(pending & set(failed))
    print(f"{len(passed)} cases passed, {len(failed)} failed, of these {len(open_cases)} expected")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
