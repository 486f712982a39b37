"""Fails if a generated file or page differs from what its script makes now. Each script has a ``--check``."""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
SCRIPTS = ("build_data.py", "build_docs.py", "build_commands.py", "make_screenshots.py")


def main() -> int:
    """Run every check; returns an exit code."""
    wrong = 0
    for name in SCRIPTS:
        if (HERE / name).exists():
            done = subprocess.run([sys.executable, str(HERE / name), "--check"], check=False)
            wrong += done.returncode != 0
            print(f"{name}: {'up to date' if done.returncode == 0 else 'NOT up to date'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
