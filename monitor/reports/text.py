"""Aligned text for terminals: numbers people can read, tables, colour only where it is wanted."""

from __future__ import annotations

import os
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
    import shutil  # which loads every kind of compression

    return shutil.get_terminal_size((default, 24)).columns


def cells(text: str) -> int:
    """Columns a text takes; wide characters take two, combining ones none, colour codes none."""
    if text.isascii() and "\x1b" not in text:
        return len(text)
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
    """A text of at most so many columns, the end replaced by an ellipsis. Colours are ended where it is cut."""
    if cells(text) <= most:
        return text
    if most < 1:
        return ""
    out, used, inside, painted = "", 0, False, False
    for char in text:
        if inside or char == "\x1b":
            inside = char != "m"
            painted = True
        else:
            used += cells(char)
            if used > most - 1:
                break
        out += char
    return out + "…" + ("\x1b[0m" if painted else "")


def middle(text: str, most: int) -> str:
    """A plain text of at most so many columns, its middle replaced by an ellipsis: both ends of a path matter."""
    if cells(text) <= most:
        return text
    if most < 5:
        return cut(text, most)
    tail = (most - 1) * 2 // 3
    head, end = text, text
    while cells(head) > most - 1 - tail:
        head = head[:-1]
    while cells(end) > tail:
        end = end[1:]
    return f"{head}…{end}"


def wrap(text: str, most: int, indent: str = "  ", first: str | None = None) -> list[str]:
    """Words in lines of at most so many columns.

    Args:
        indent: begins every line; with ``first`` given that begins the first one instead (same width).
    """
    lines: list[str] = []
    current = ""
    for word in text.split():
        word = cut(word, max(most, 20) - cells(indent))
        if current and cells(indent) + cells(current) + 1 + cells(word) > max(most, 20):
            lines.append(current)
            current = word
        else:
            current = f"{current} {word}" if current else word
    lines.append(current)
    return [(first if first is not None and not place else indent) + line for place, line in enumerate(lines)]


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
    sign, size = ("-" if value < 0 else ""), abs(value)
    if size < 0.000_05:
        return f"{mark}{sign}<$0.0001"
    return f"{mark}{sign}${size:.4f}" if size < 0.1 else f"{mark}{sign}${size:,.2f}"


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
    head: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    right: str = "",
    ink: Ink | None = None,
    indent: str = "  ",
    most: int | None = None,
    drop: Sequence[str] = (),
    flex: str = "",
    least: int = 8,
) -> list[str]:
    """Rows under a head, aligned.

    Args:
        right: one letter for each column, ``r`` right, ``l`` left; short: the rest is left.
        most: columns of the terminal; a wider table loses the columns of ``drop`` (by their heads, in this order)
            until it fits, and then the column ``flex`` is cut, to no less than ``least``.
    """
    texts = [[UNKNOWN if cell is None else str(cell) for cell in row] for row in (head, *rows)]
    sizes = [max(cells(row[place]) for row in texts) for place in range(len(head))]
    kept = list(range(len(head)))

    def width_of(columns: Sequence[int]) -> int:
        return cells(indent) + sum(sizes[place] for place in columns) + 2 * max(0, len(columns) - 1)

    if most is not None:
        for name in drop:
            if width_of(kept) <= most:
                break
            kept = [place for place in kept if head[place] != name]
        over = width_of(kept) - most
        place = next((place for place in kept if head[place] == flex), None) if flex else None
        if over > 0 and place is not None:
            size = sizes[place] = max(least, sizes[place] - over)
            for row in texts:
                row[place] = cut(row[place], size)

    def line(parts: Sequence[str]) -> str:
        done = []
        for place in kept:
            gap = " " * (sizes[place] - cells(parts[place]))
            done.append(gap + parts[place] if right[place : place + 1] == "r" else parts[place] + gap)
        return (indent + "  ".join(done)).rstrip()

    heading, *body = (line(row) for row in texts)
    return [ink(heading, "dim") if ink is not None else heading, *body]
