"""One frame of the dashboard printed to stdout: ``ctxmon watch --once``."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO

from rich.color import ColorSystem
from rich.console import Console
from rich.segment import Segment

if TYPE_CHECKING:
    from monitor.dashboard.app import Dashboard


def terminal_size() -> tuple[int, int]:
    """Columns and rows of the terminal; 100 x 30 where there is none. One row is left for the prompt of the shell."""
    size = shutil.get_terminal_size((100, 31))
    return max(20, size.columns), max(8, size.lines - 1)


def rows_of(app: Dashboard) -> list[list[Segment]]:
    """The present screen, row by row."""
    return [list(strip) for strip in app.screen._compositor.render_strips()]


def picture(app: Dashboard, title: str) -> str:
    """The present screen as an SVG."""
    from monitor.dashboard.svg import svg

    theme = app.current_theme
    return svg(
        rows_of(app),
        app.size.width,
        title=title,
        foreground=theme.foreground or "#d7dce2",
        background=theme.background or "#0f1317",
    )


def print_frame(rows: Sequence[Sequence[Segment]], out: TextIO | None = None, *, no_color: bool = False) -> None:
    """A screen as text, with colours where ``out`` is a terminal that has them.

    Not to be called while the app runs: Textual then stands in for stdout and says it is a terminal.
    """
    out = out or sys.stdout
    console = Console(file=out)
    system = _SYSTEMS.get(console.color_system or "") if console.is_terminal and not no_color else None
    for strip in rows:
        if system is None:
            out.write("".join(segment.text for segment in strip).rstrip() + "\n")
        else:
            out.write("".join(_coloured(segment, system) for segment in strip) + "\n")
    out.flush()


_SYSTEMS = {
    "standard": ColorSystem.STANDARD,
    "256": ColorSystem.EIGHT_BIT,
    "truecolor": ColorSystem.TRUECOLOR,
    "windows": ColorSystem.WINDOWS,
}


def _coloured(segment: Segment, system: ColorSystem) -> str:
    if segment.style is None or segment.control:
        return segment.text
    return segment.style.render(segment.text, color_system=system)
