"""Numbers and times as people read them, and lines of styled words.

A :data:`Span` is a text with the name of a style, a :data:`Line` a tuple of spans. Unknown values read "–" everywhere;
marks stand before or behind a value: ``~`` estimated, ``≥`` lower bound, ``?`` assumed.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, tzinfo

from rich.cells import cell_len, set_cell_size

Span = tuple[str, str]
Line = tuple[Span, ...]

UNKNOWN = "–"


def tokens(value: float | None, mark: str = "") -> str:
    """Tokens in at most five characters: 646, 2.6k, 159k, 1.05M. ``mark`` is put in front."""
    if value is None:
        return UNKNOWN
    sign = "-" if value < 0 else ""
    number = abs(value)
    if number < 999.5:
        text = f"{number:.0f}"
    elif number < 9_950:
        text = f"{number / 1e3:.1f}k"
    elif number < 999_500:
        text = f"{number / 1e3:.0f}k"
    elif number < 9_995_000:
        text = f"{number / 1e6:.2f}M"
    elif number < 999_500_000:
        text = f"{number / 1e6:.0f}M"
    else:
        text = f"{number / 1e9:.1f}G"
    return f"{mark}{sign}{text}"


def exact(value: int | None, mark: str = "") -> str:
    """Tokens with thousands marks: 158,912."""
    return UNKNOWN if value is None else f"{mark}{value:,}"


def percent(value: float | None, mark: str = "") -> str:
    """A share as whole percent. 99.6 % of something that is not all of it reads 99 %, a trace of it <1 %."""
    if value is None:
        return UNKNOWN
    number = value * 100
    if 99 < number < 100:
        number = 99
    elif 0 < number < 1:
        return f"{mark}<1%"
    return f"{mark}{number:.0f}%"


def usd(value: float | None, mark: str = "") -> str:
    """Money with two meaningful digits below ten cents: $0.0042, $0.31, $12.40, $1,240."""
    if value is None:
        return UNKNOWN
    number = abs(value)
    sign = "-" if value < 0 else ""
    if number == 0:
        text = "$0"
    elif number < 0.0001:
        text = "<$0.0001"
    elif number < 0.01:
        text = f"${number:.4f}"
    elif number < 0.1:
        text = f"${number:.3f}"
    elif number < 1_000:
        text = f"${number:.2f}"
    else:
        text = f"${number:,.0f}"
    return f"{mark}{sign}{text}"


def duration(seconds: float | None) -> str:
    """A span of time with its two largest units: 0.4 s, 12 s, 3m10s, 2h05m, 4d03h."""
    if seconds is None:
        return UNKNOWN
    seconds = max(0.0, seconds)
    if seconds < 10:
        return f"{seconds:.1f} s" if seconds % 1 else f"{seconds:.0f} s"
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3_600:
        return f"{whole // 60}m{whole % 60:02d}s"
    if whole < 86_400:
        return f"{whole // 3600}h{whole % 3600 // 60:02d}m"
    return f"{whole // 86400}d{whole % 86400 // 3600:02d}h"


def ago(then: int | None, now: int) -> str:
    """How long ago, in steps coarse enough that the screen stays calm: now, 40 s, 5 min, 3 h, 2 d."""
    if then is None:
        return UNKNOWN
    seconds = max(0, (now - then) // 1000)
    if seconds < 10:
        return "now"
    if seconds < 60:
        return f"{seconds // 10 * 10} s"
    if seconds < 3_600:
        return f"{seconds // 60} min"
    if seconds < 86_400:
        return f"{seconds // 3600} h"
    return f"{seconds // 86400} d"


def calls(low: float, middle: float, high: float) -> str:
    """A forecast of calls with its range: ``9 (6–13)``. Beyond 999 the number says no more than that."""

    def one(value: float) -> str:
        return ">999" if value > 999 else f"{value:.0f}"

    if one(low) == one(high):
        return one(middle)
    return f"{one(middle)} ({one(low)}–{one(high)})"


def moment(time: int | None, zone: tzinfo | None = None, *, date: bool = False) -> str:
    """A time of the day (local, or in ``zone``), with the date if asked."""
    if time is None:
        return UNKNOWN
    try:
        value = datetime.fromtimestamp(time / 1000, UTC).astimezone(zone)
    except (OverflowError, OSError, ValueError):
        return UNKNOWN
    return value.strftime("%Y-%m-%d %H:%M:%S" if date else "%H:%M:%S")


def printable(text: str) -> str:
    """Names come from logs: control characters would break the screen or steer the terminal."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def clip(text: str, width: int) -> str:
    """At most ``width`` cells, with an ellipsis where something was cut."""
    if width <= 0:
        return ""
    if cell_len(text) <= width:
        return text
    return "…" if width == 1 else set_cell_size(text, width - 1).rstrip() + "…"


def fill(text: str, width: int, align: str = "<") -> str:
    """Exactly ``width`` cells: clipped, or padded on the right (``<``) or left (``>``)."""
    text = clip(text, width)
    space = " " * max(0, width - cell_len(text))
    return space + text if align == ">" else text + space


def line_width(line: Line) -> int:
    """Cells a line takes."""
    return sum(cell_len(text) for text, _style in line)


def plain(line: Line) -> str:
    """The words of a line without their styles."""
    return "".join(text for text, _style in line)


def fit(line: Line, width: int) -> Line:
    """The line in exactly ``width`` cells."""
    out: list[Span] = []
    left = width
    for text, style in line:
        size = cell_len(text)
        if size > left:
            out.append((clip(text, left), style))
            left -= cell_len(out[-1][0])
            break
        out.append((text, style))
        left -= size
    if left > 0:
        out.append((" " * left, ""))
    return tuple(out)


def spread(left: Line, right: Line, width: int) -> Line:
    """``left`` and ``right`` at the two ends; the right end gives way where there is no room for both."""
    room = width - line_width(left)
    need = line_width(right)
    if need and room >= need + 1:
        return (*left, (" " * (room - need), ""), *right)
    return fit(left, width)


def join_fitting(parts: Iterable[tuple[int, Line]], width: int, gap: str = "  ") -> Line:
    """As many parts as fit, kept in their order; parts with the lowest number (most important) are kept first."""
    indexed = list(enumerate(parts))
    kept: set[int] = set()
    used = 0
    for index, (_rank, line) in sorted(indexed, key=lambda item: (item[1][0], item[0])):
        size = line_width(line) + (len(gap) if kept else 0)
        if used + size <= width:
            kept.add(index)
            used += size
    out: list[Span] = []
    for index, (_rank, line) in indexed:
        if index in kept:
            if out:
                out.append((gap, ""))
            out.extend(line)
    return tuple(out)


def wrap(text: str, width: int) -> list[str]:
    """Words in lines of at most ``width`` cells; a word longer than that is cut into pieces."""
    if width <= 0:
        return []
    lines: list[str] = []
    current = ""
    for word in text.split():
        while cell_len(word) > width:
            if current:
                lines.append(current)
                current = ""
            piece = set_cell_size(word, width).rstrip() or word[0]
            lines.append(piece)
            word = word[len(piece) :]
        if not word:
            continue
        if current and cell_len(current) + 1 + cell_len(word) > width:
            lines.append(current)
            current = word
        else:
            current = f"{current} {word}" if current else word
    if current:
        lines.append(current)
    return lines
