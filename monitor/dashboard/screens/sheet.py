"""Screens laid over the main one: a sheet of lines to read, and one that asks before it acts."""

from __future__ import annotations

from collections.abc import Callable

from textual.app import ComposeResult
from textual.binding import Binding
from textual.screen import ModalScreen

from monitor.dashboard.model.text import Line
from monitor.dashboard.widgets.lines import LinesPanel


class SheetLines(LinesPanel):
    """The lines of a sheet, on the paper of a sheet."""

    PAPER = "surface"


Lines = Callable[[int], list[Line]]


class Sheet(ModalScreen[bool]):
    """A sheet with a title and lines made for its width. Any of the closing keys leads back."""

    BINDINGS = [
        Binding("escape,q,question_mark,f1,w,enter", "close", "close", show=False),
        Binding("up,k", "scroll(-1)", "up", show=False),
        Binding("down,j", "scroll(1)", "down", show=False),
        Binding("pageup", "scroll(-10)", "up", show=False),
        Binding("pagedown,space", "scroll(10)", "down", show=False),
        Binding("home,g", "scroll(-100000)", "top", show=False),
        Binding("end,G", "scroll(100000)", "bottom", show=False),
    ]

    def __init__(self, title: str, lines: Lines, *, note: str = "Esc closes") -> None:
        super().__init__()
        self._title = title
        self._lines = lines
        self._note = note

    def compose(self) -> ComposeResult:
        """One panel, sized by the style sheet."""
        yield SheetLines(id="sheet")

    def on_mount(self) -> None:
        """Fill the panel."""
        panel = self.query_one("#sheet", LinesPanel)
        panel.border_title = self._title
        panel.note = self._note
        panel.focus()

    def on_resize(self) -> None:
        """The lines are made for the width."""
        self.call_after_refresh(self._fill)

    def _fill(self) -> None:
        panel = self.query_one("#sheet", LinesPanel)
        panel.show(self._lines(max(20, panel.size.width)))

    def action_close(self) -> None:
        """Back."""
        self.dismiss(False)

    def action_scroll(self, lines: int) -> None:
        """Move the lines."""
        self.query_one("#sheet", LinesPanel).scroll_lines(lines)


class Confirm(Sheet):
    """A sheet that asks: ``y`` or enter says yes, everything that closes a sheet says no."""

    BINDINGS = [
        Binding("y,enter", "yes", "yes", show=False, priority=True),
        Binding("n", "close", "no", show=False),
    ]

    def action_yes(self) -> None:
        """Yes."""
        self.dismiss(True)
