"""One frame of the dashboard printed to stdout: ``ctxmon watch --once``."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING, TextIO

from rich.console import Console
from rich.segment import Segment

from monitor.dashboard.svg import svg

if TYPE_CHECKING:
    from monitor.dashboard.app import Dashboard


def terminal_size() -> tuple[int, int]:
    """Columns and rows of the terminal; 100 x 30 where there is none. One row is left for the prompt of the shell."""
    size = shutil.get_terminal_size((100, 31))
    return max(20, size.columns), max(8, size.lines - 1)


def picture(app: Dashboard, title: str) -> str:
    """The present screen as an SVG."""
    theme = app.current_theme
    rows = [list(strip) for strip in app.screen._compositor.render_strips()]
    return svg(
        rows,
        app.size.width,
        title=title,
        foreground=theme.foreground or "#d7dce2",
        background=theme.background or "#0f1317",
    )


def print_frame(app: Dashboard, out: TextIO | None = None) -> None:
    """The present picture of the screen as text, with colours where ``out`` is a terminal that has them."""
    out = out or sys.stdout
    console = Console(file=out, width=app.size.width, no_color=app.no_color or None, highlight=False, soft_wrap=True)
    for strip in app.screen._compositor.render_strips():
        segments = list(strip)
        if not console.is_terminal or app.no_color:
            text = "".join(segment.text for segment in segments).rstrip()
            out.write(text + "\n")
        else:
            console.print(*[_Line(segments)], end="\n")
    out.flush()


class _Line:
    """Segments as they are."""

    def __init__(self, segments: list[Segment]) -> None:
        self._segments = segments

    def __rich_console__(self, console: Console, options: object) -> list[Segment]:
        return self._segments
