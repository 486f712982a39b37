"""Aligned text for terminals: numbers people can read, tables, colour only where it is wanted."""

from __future__ import annotations

import os
import shutil
import unicodedata
from collections.abc import Sequence
from typing import Any, Protocol

UNKNOWN = "–"
_CODES = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "blue": "34",
    "magenta": "35",
    "cyan": "36",
}


class Stream(Protocol):
    """What is asked of an output."""

    def isatty(self) -> bool:
        """Whether a person sits in front of it."""


class Ink:
    """Colours for a stream, or none: NO_COLOR, pipes and dumb terminals get plain text."""

    def __init__(self, stream: Stream | None, environ: dict[str, str] | None = None) -> None:
        env = os.environ if environ is None else environ
        force = env.get("FORCE_COLOR", "") not in ("", "0")
        terminal = stream is not None and stream.isatty() and env.get("TERM") != "dumb"
        self.on = not env.get("NO_COLOR") and (force or terminal)

    def __call__(self, text: str, *names: str) -> str:
        if not self.on or not names:
            return text
        return f"\x1b[{';'.join(_CODES[name] for name in names)}m{text}\x1b[0m"


def width(default: int = 100) -> int:
    """Columns of the terminal (``COLUMNS`` wins)."""
    return shutil.get_terminal_size((default, 24)).columns


def cells(text: str) -> int:
    """Columns a text takes; wide characters take two, combining ones none, colour codes none."""
    total = 0
    inside = False
    for char in text:
        if inside:
            inside = char != "m"
        elif char == "\x1b":
            inside = True
        elif unicodedata.combining(char):
            continue
        else:
            total += 2 if unicodedata.east_asian_width(char) in "WF" else 1
    return total


def clean(text: str) -> str:
    """A name from a log without control characters: it must not steer the terminal."""
    return "".join(char if char.isprintable() else "�" for char in text)


def cut(text: str, most: int) -> str:
    """A text of at most so many columns, the end replaced by an ellipsis."""
    if cells(text) <= most:
        return text
    out = ""
    for char in text:
        if cells(out + char) > most - 1:
            break
        out += char
    return out + "…"


def tokens(value: float | None, *, mark: str = "") -> str:
    """Tokens in three or four characters: 812, 41.9k, 1.25M."""
    if value is None:
        return UNKNOWN
    sign, size = ("-" if value < 0 else ""), abs(value)
    if size < 1000:
        text = f"{size:.0f}"
    elif size < 999_950:
        text = f"{size / 1000:.1f}k" if size < 99_950 else f"{size / 1000:.0f}k"
    elif size < 999_950_000:
        text = f"{size / 1e6:.2f}M" if size < 9_995_000 else f"{size / 1e6:.1f}M"
    else:
        text = f"{size / 1e9:.2f}G"
    return f"{mark}{sign}{text}"


def percent(value: float | None) -> str:
    """A share as whole percent; 99.96 is not shown as 100."""
    if value is None:
        return UNKNOWN
    if 0.995 <= value < 1:
        return "99%"
    return f"{value * 100:.0f}%"


def usd(value: float | None, *, mark: str = "") -> str:
    """Money: $0.0042, $0.55, $766.64."""
    if value is None:
        return UNKNOWN
    if value == 0:
        return f"{mark}$0"
    return f"{mark}${value:.4f}" if abs(value) < 0.1 else f"{mark}${value:,.2f}"


def span(p10: float, p50: float, p90: float) -> str:
    """A forecast: ``about 12 (5–40)``."""

    def number(value: float) -> str:
        return f"{value:.0f}" if value >= 10 or value == int(value) else f"{value:.1f}"

    return f"about {number(p50)} ({number(p10)}–{number(p90)})"


def duration(seconds: float | None) -> str:
    """Seconds as people say them: 45 s, 12 min, 3.5 h, 2 d."""
    if seconds is None:
        return UNKNOWN
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 172_800 else f"{seconds / 86_400:.0f} d"


def bar(share: float | None, size: int = 8) -> str:
    """A bar of eighth blocks; an unknown share is dotted."""
    if share is None:
        return "·" * size
    eighths = round(max(0.0, min(1.0, share)) * size * 8)
    full, rest = divmod(eighths, 8)
    return ("█" * full + (" ▏▎▍▌▋▊▉"[rest] if rest else "")).ljust(size, "░")[:size]


def table(
    head: Sequence[str], rows: Sequence[Sequence[Any]], *, right: str = "", ink: Ink | None = None, indent: str = "  "
) -> list[str]:
    """Rows under a head, aligned.

    Args:
        right: one letter for each column, ``r`` right, ``l`` left; short: the rest is left.
    """
    texts = [[UNKNOWN if cell is None else str(cell) for cell in row] for row in rows]
    sizes = [max([cells(name), *(cells(row[place]) for row in texts)]) for place, name in enumerate(head)]

    def line(parts: Sequence[str]) -> str:
        done = []
        for place, part in enumerate(parts):
            gap = " " * (sizes[place] - cells(part))
            done.append(gap + part if right[place : place + 1] == "r" else part + gap)
        return (indent + "  ".join(done)).rstrip()

    heading = line(head)
    return [ink(heading, "dim") if ink is not None else heading, *(line(row) for row in texts)]
