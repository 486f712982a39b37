"""A table for any number of rows: only the visible ones are formatted, and nothing else changes when a row is added."""

from __future__ import annotations

from collections.abc import Iterable

from textual import events
from textual.binding import Binding
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip

from monitor.dashboard.model.tables import Placed, Source, heading, place, row_line
from monitor.dashboard.model.text import Line
from monitor.dashboard.widgets.lines import Panel


class Table(Panel, can_focus=True):
    """Rows of a :class:`Source` with a row cursor, a fixed heading and a thin scroll bar.

    A plain widget and not a scroll view on purpose: a change of the virtual size of a scroll view lays out the whole
    screen again, and a live table changes its size with each new row.
    """

    BINDINGS = [
        Binding("up,k", "rows(-1)", "up a row", show=False, id="row.up"),
        Binding("down,j", "rows(1)", "down a row", show=False, id="row.down"),
        Binding("pageup", "pages(-1)", "up a page", show=False, id="row.page_up"),
        Binding("pagedown", "pages(1)", "down a page", show=False, id="row.page_down"),
        Binding("enter", "choose", "open the row", show=False, id="row.choose"),
    ]

    class Moved(Message):
        """The row cursor was moved by the user."""

        def __init__(self, table: Table, row: int) -> None:
            super().__init__()
            self.table = table
            self.row = row

        @property
        def control(self) -> Table:
            """The table."""
            return self.table

    class Chosen(Moved):
        """A row was chosen with enter or a click on the row that was the cursor already."""

    class HeadingClicked(Message):
        """A column heading was clicked."""

        def __init__(self, table: Table, key: str) -> None:
            super().__init__()
            self.table = table
            self.key = key

        @property
        def control(self) -> Table:
            """The table."""
            return self.table

    def __init__(self, source: Source, *, id: str, empty: str = "") -> None:
        super().__init__(id=id)
        self.source = source
        self.empty = empty
        self.row = 0
        self.sorted_by = ""
        self._top = 0
        self._seen_first: object = None  # what stands in the first row
        self._shown: object = None
        self._drawn: dict[int, Line] = {}
        self._placed: list[Placed] = []
        self._placed_for = (-1, "")
        self._dragging = False
        self._subject = ""
        self._count = 0

    @property
    def page(self) -> int:
        """Rows that fit below the heading."""
        return max(1, self.room.height - 1)

    def update(self, row: int | None = None, sorted_by: str = "", subject: str = "") -> None:
        """Draw the source as it is now, the cursor on ``row`` if given.

        Who scrolled away from the cursor stays there while rows come in; another order is shown from its top.
        ``subject`` is what the rows are about: with another one the cursor is looked for again.
        """
        moved = 0 if row is None else row - self.row
        ordered = sorted_by != self.sorted_by
        changed = ordered or self.source.version != self._shown
        if not changed and not moved:
            return
        aside = changed and not self._sees_cursor and subject == self._subject
        self._subject = subject
        self.row += moved
        self.sorted_by = sorted_by
        self._shown = self.source.version
        seen = (self._top, self.row - moved, self._count)
        if ordered:
            self._top = 0
        elif aside:
            self._top = self._again()
        self._reveal(cursor=not (ordered or aside))
        drawn = self._drawn
        if changed:
            self._drawn = self._lines()
        self._count = len(self.source)
        if ordered or seen[::2] != (self._top, self._count):
            self.refresh()
            return
        again = {number for number in drawn.keys() | self._drawn.keys() if drawn.get(number) != self._drawn.get(number)}
        self._refresh_rows(again | {seen[1], self.row} if seen[1] != self.row else again)

    def _refresh_rows(self, numbers: Iterable[int]) -> None:
        """Draw some rows again, those of them that are seen."""
        width = self.size.width
        places = (number - self._top + 1 for number in numbers)
        seen = [Region(0, place, width, 1) for place in places if 1 <= place <= self.page]
        if seen:
            self.refresh(*seen)

    def _lines(self) -> dict[int, Line]:
        """The rows that are seen, as they are now: nothing is drawn again where they read as before."""
        placed = self._columns(max(1, self.room.width - 1))
        return {
            number: row_line(placed, self.source.row(number))
            for number in range(self._top, min(self._top + self.page, len(self.source)))
        }

    @property
    def _sees_cursor(self) -> bool:
        return self._top <= self.row < self._top + self.page

    def _reveal(self, *, cursor: bool = True) -> None:
        count = len(self.source)
        self.row = max(0, min(self.row, count - 1))
        if cursor and self.row < self._top:
            self._top = self.row
        elif cursor and self.row >= self._top + self.page:
            self._top = self.row - self.page + 1
        self._look_from(max(0, min(self._top, count - self.page)))

    def _look_from(self, top: int) -> None:
        self._top = top
        self._seen_first = self.source.name(top) if top < len(self.source) else None

    def _again(self) -> int:
        """Where what stood in the first row is now; the row with the same number where that is gone or far away."""
        count = len(self.source)
        for step in range(abs(count - self._count) + self.page):
            for number in (self._top + step, self._top - step):
                if 0 <= number < count and self.source.name(number) == self._seen_first:
                    return number
        return self._top

    def promise(self, room: Size) -> None:
        """Other rows and columns will fit."""
        super().promise(room)
        self._drawn.clear()
        self._reveal()

    def resized(self) -> None:
        """Other rows and columns fit now."""
        self._drawn.clear()
        self._reveal()
        super().resized()

    def on_focus(self) -> None:
        """The cursor row is drawn stronger."""
        self.refresh()

    def on_blur(self) -> None:
        """The cursor row is drawn weaker."""
        self.refresh()

    def _columns(self, width: int) -> list[Placed]:
        if (width, self.sorted_by) != self._placed_for:
            self._placed = place(self.source.columns, width, self.sorted_by)
            self._placed_for = (width, self.sorted_by)
            self._drawn = {}  # made for other columns
        return self._placed

    def render_line(self, y: int) -> Strip:
        """Heading, or a row."""
        width = self.size.width
        inner = max(1, width - 1)
        inks = self.inks
        placed = self._columns(inner)
        if y == 0:
            return inks.strip((*heading(placed, inner, self.sorted_by), (" ", "")), width)
        count = len(self.source)
        number = self._top + y - 1
        rail = self._rail(y - 1, count)
        if number >= count:
            line: Line = ((self.empty, "dim"),) if number == 0 and self.empty else ()
            return inks.strip(line, inner) + rail if rail.cell_length else inks.strip(line, width)
        drawn = self._drawn.get(number)
        if drawn is None:
            drawn = self._drawn[number] = row_line(placed, self.source.row(number))
        under = None
        if number == self.row:
            under = inks.background("row" if self.has_focus else "rowidle")
        return Strip.join([inks.strip(drawn, inner, under), rail])

    def _rail(self, y: int, count: int) -> Strip:
        """The scroll bar's cell in a row."""
        inks = self.inks
        page = self.page
        if count <= page:
            return inks.strip(((" ", ""),), 1)
        size = max(1, page * page // count)
        start = (page - size) * self._top // max(1, count - page)
        inside = start <= y < start + size
        return inks.strip((("┃" if inside else "│", "thumb" if inside else "rail"),), 1)

    # moves

    def action_rows(self, step: int) -> None:
        """Cursor by rows; from where one looks if that is elsewhere."""
        self._go(self.row + step if self._sees_cursor else self._top)

    def action_pages(self, step: int) -> None:
        """Cursor by pages."""
        self._go((self.row if self._sees_cursor else self._top) + step * max(1, self.page - 1))

    def action_choose(self) -> None:
        """Open the row."""
        if len(self.source):
            self.post_message(self.Chosen(self, self.row))

    def _go(self, row: int) -> None:
        count = len(self.source)
        if not count:
            return
        row = max(0, min(count - 1, row))
        if row != self.row or not self._sees_cursor:
            before, top = self.row, self._top
            self.row = row
            self._reveal()
            if self._top == top:
                self._refresh_rows((before, row))
            else:
                self.refresh()
            self.post_message(self.Moved(self, row))

    def _scroll(self, rows: int) -> None:
        top = max(0, min(self._top + rows, len(self.source) - self.page))
        if top != self._top:
            self._look_from(top)
            self.refresh()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Wheel."""
        event.stop()
        self._scroll(3)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Wheel."""
        event.stop()
        self._scroll(-3)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Row, heading or scroll bar."""
        spot = event.get_content_offset(self)
        if spot is None:
            return
        if spot.x >= self.size.width - 1 and len(self.source) > self.page and spot.y > 0:
            self._dragging = True
            self.capture_mouse()
            self._drag_to(spot.y)
        elif spot.y == 0:
            self._click_heading(spot.x)
        else:
            number = self._top + spot.y - 1
            if number < len(self.source):
                if number == self.row:
                    self.action_choose()
                else:
                    self._go(number)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Drags the scroll bar."""
        if self._dragging and (spot := event.get_content_offset_capture(self)) is not None:
            self._drag_to(spot.y)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """Ends a drag."""
        if self._dragging:
            self._dragging = False
            self.release_mouse()

    def _drag_to(self, y: int) -> None:
        page = self.page
        share = (y - 1) / max(1, page - 1)
        self._scroll(int(share * (len(self.source) - page)) - self._top)

    def _click_heading(self, x: int) -> None:
        start = 0
        for column, size in self._placed:
            if start <= x < start + size:
                self.post_message(self.HeadingClicked(self, column.key))
                return
            start += size + 1
