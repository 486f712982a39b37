"""A panel of words: lines from the view model, scrolled by keys and wheel, without any layout of its own."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from textual import events
from textual.binding import Binding
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import Reactive
from textual.strip import Strip
from textual.widget import Widget

from monitor.dashboard.model.text import Line
from monitor.dashboard.program import Program
from monitor.dashboard.themes import Inks


class Panel(Widget):
    """Base of all our widgets: knows the colours in use."""

    app: Program
    #: variable of the theme that gives the background
    PAPER = "background"
    #: nothing of a panel scrolls by itself: another size needs no second layout
    virtual_size = Reactive(Size(0, 0), repaint=False)
    _entitled: tuple[Content | str, Content | str] = ("", "")
    _promised: Size | None = None

    class Resized(Message):
        """The panel has another size: what it shows was made for the old one."""

        def can_replace(self, message: Message) -> bool:
            """One is enough for all panels."""
            return isinstance(message, Panel.Resized)

    @property
    def room(self) -> Size:
        """The size that the next layout gives: what is made for it need not be made again."""
        return self._promised or self.size

    def promise(self, room: Size) -> None:
        """Called by who decides where panels stand, as soon as that is decided."""
        self._promised = room

    def on_resize(self) -> None:
        """The layout has given a size; nothing has to be done if it is the one that was promised."""
        kept, self._promised = self._promised == self.size, None
        if self.display and not kept:
            self.resized()

    def resized(self) -> None:
        """What was made for another size is of no use."""
        self.post_message(self.Resized())

    @property
    def inks(self) -> Inks:
        """Styles in the present colours, on this panel's paper."""
        return self.app.inks_on(self.PAPER)

    def forget(self) -> None:
        """The colours changed: draw anew."""
        self.refresh()

    def entitle(self, title: Content | str, below: Content | str | None = None) -> None:
        """The words in the upper edge, and in the lower one; nothing is drawn again if they are there already.

        They are taken as they are: names of sessions and what people type may look like markup.
        """
        if title != self._entitled[0]:
            self.border_title = Content(title) if isinstance(title, str) else title
        if below is not None and below != self._entitled[1]:
            self.border_subtitle = Content(below) if isinstance(below, str) else below
        self._entitled = (title, self._entitled[1] if below is None else below)

    def render_line(self, y: int) -> Strip:
        """Lines come from subclasses."""
        raise NotImplementedError


class LinesPanel(Panel, can_focus=True):
    """Shows lines. ``show`` replaces them; the place scrolled to stays."""

    BINDINGS = [
        Binding("up,k", "lines(-1)", "up", show=False, id="lines.up"),
        Binding("down,j", "lines(1)", "down", show=False, id="lines.down"),
        Binding("pageup", "lines(-10)", "up a page", show=False, id="lines.page_up"),
        Binding("pagedown", "lines(10)", "down a page", show=False, id="lines.page_down"),
    ]

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._lines: Sequence[Line] = ()
        self._offset = 0
        self.note = ""  # stands in the lower edge, before what tells of hidden lines

    def show(self, lines: Sequence[Line]) -> None:
        """Draw these lines. Nothing is redrawn if they are the same as before."""
        if lines == self._lines:
            self._clamp()
            return
        before, top = self._lines, self._offset
        self._lines = lines
        self._clamp()
        if top != self._offset:
            self.refresh()
            return
        old, new = (some[top : top + self.size.height] for some in (before, lines))
        rows = [y for y, pair in enumerate(zip_longest(old, new)) if pair[0] != pair[1]]
        if rows:
            self.refresh(*(Region(0, y, self.size.width, 1) for y in rows))

    @property
    def text(self) -> str:
        """The words shown, for tests and for copying."""
        return "\n".join("".join(part for part, _style in line).rstrip() for line in self._lines)

    def _clamp(self) -> None:
        height = self.room.height
        most = max(0, len(self._lines) - height)
        self._offset = max(0, min(self._offset, most))
        hidden = len(self._lines) - self._offset - height
        more = f"▾ {hidden} more" if hidden > 0 else "▴" if self._offset else ""
        note = " · ".join(part for part in (self.note, more) if part)
        if (self.border_subtitle or "") != note:
            self.border_subtitle = note

    def resized(self) -> None:
        """More or fewer lines fit now."""
        self._clamp()
        super().resized()

    def render_line(self, y: int) -> Strip:
        """One row."""
        width = self.size.width
        number = y + self._offset
        if number >= len(self._lines):
            return self.inks.blank(width)
        return self.inks.strip(self._lines[number], width)

    def scroll_lines(self, lines: int) -> None:
        """Move down (positive) or up."""
        before = self._offset
        self._offset += lines
        self._clamp()
        if self._offset != before:
            self.refresh()

    def action_lines(self, lines: int) -> None:
        """Scroll by keys."""
        self.scroll_lines(lines)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Wheel."""
        event.stop()
        self.scroll_lines(2)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Wheel."""
        event.stop()
        self.scroll_lines(-2)


class OneLine(Panel):
    """A single line that is not focused: header, hints, tabs."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._line: Line = ()

    def show(self, line: Line) -> None:
        """Draw this line."""
        if line != self._line:
            self._line = line
            self.refresh()

    @property
    def text(self) -> str:
        """The words shown."""
        return "".join(part for part, _style in self._line)

    def render_line(self, y: int) -> Strip:
        """The line, blank below it."""
        if y:
            return self.inks.blank(self.size.width)
        return self.inks.strip(self._line, self.size.width)


class ButtonLine(OneLine):
    """A line whose parts do something when clicked. ``actions`` are (start, end, action) in cells."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.actions: list[tuple[int, int, str]] = []

    async def on_click(self, event: events.Click) -> None:
        """Run the action under the pointer."""
        for start, end, action in self.actions:
            if start <= event.x < end:
                event.stop()
                await self.screen.run_action(action)
                return
