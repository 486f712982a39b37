"""The dashboard behind one browser window: `ctxmon serve` starts this once for each.

The program that serves the page talks to it over pipes, so nothing here is a terminal: `watch` must draw all the same,
and must not take the keyboard of the terminal from which `serve` was started.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any


class Screen:
    """Standard output that leads to a browser: as good as a terminal."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def isatty(self) -> bool:
        """Somebody looks at it."""
        return True

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def main(words: Sequence[str]) -> int:
    """Run `watch` with these arguments. Returns its exit code."""
    leave = getattr(os, "setsid", None)  # without a controlling terminal there is no keyboard to take
    if leave is not None:
        with suppress(OSError):
            leave()
    sys.stdout = Screen(sys.stdout)
    from monitor.cli import main as command

    return command(["watch", *words])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
