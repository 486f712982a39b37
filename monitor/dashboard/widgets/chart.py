"""The chart: read-out and picture from the view model, pointer and wheel back to it as messages."""

from __future__ import annotations

from datetime import tzinfo

from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip

from monitor.dashboard.model.calls import readout
from monitor.dashboard.model.cells import Run
from monitor.dashboard.model.curve import Curve
from monitor.dashboard.model.frame import Frame, Painter
from monitor.dashboard.model.sight import Sight
from monitor.dashboard.widgets.lines import Panel


def _real(row: list[Run]) -> int:
    return sum(len(text) for _style, text in row)


class Chart(Panel, can_focus=True):
    """Draws a :class:`Sight`. The frame is computed once per change and size, each row is then only handed out."""

    class Pointed(Message):
        """The pointer chose a call."""

        def __init__(self, position: int) -> None:
            super().__init__()
            self.position = position

    class Zoomed(Message):
        """The wheel asks for a larger (1) or smaller (-1) picture around a call."""

        def __init__(self, steps: int, position: int) -> None:
            super().__init__()
            self.steps = steps
            self.position = position

    class Panned(Message):
        """The wheel with shift moves the window by columns."""

        def __init__(self, columns: int) -> None:
            super().__init__()
            self.columns = columns

    class LookedAt(Message):
        """A place of the overview was chosen: 0 is the beginning, 1 the end."""

        def __init__(self, share: float) -> None:
            super().__init__()
            self.share = share

    def __init__(self, sight: Sight, *, id: str, zone: tzinfo | None = None) -> None:
        super().__init__(id=id)
        self.sight = sight
        self._zone = zone
        self._painter = Painter()
        self._frame: Frame | None = None
        self._strips: list[Strip] = []
        self._drawn: tuple[object, ...] = ()
        self._pressed = False

    def forget(self) -> None:
        """The colours changed."""
        self._drawn = ()
        self.update()

    def update(self) -> None:
        """The sight may have changed: draw it anew if it did."""
        look = self._look()
        if look != self._drawn:
            self._drawn = look
            self._frame = None
            self.refresh()

    def _look(self) -> tuple[object, ...]:
        """Everything the picture depends on."""
        sight = self.sight
        options = sight.options(glyphs=self.inks.glyphs)
        return (id(sight.curve), sight.curve.version, sight.window, self.room, options)

    def promise(self, room: Size) -> None:
        """The sight must know how many columns there are."""
        super().promise(room)
        self.sight.width = room.width

    def resized(self) -> None:
        """Another width than was promised."""
        self.sight.width = self.size.width
        self._frame = None
        super().resized()

    def frame(self) -> Frame:
        """The picture for the present size."""
        if self._frame is None:
            width, height = self.size
            self.sight.width = width
            inks = self.inks
            curve: Curve = self.sight.curve
            options = self.sight.options(glyphs=inks.glyphs)
            frame = self._painter.paint(curve, self.sight.window, width, max(2, height - 1), options)
            words = readout(self.sight.turn, len(curve.turns), width, self._zone)
            strips = (inks.cells(row, width) for row in frame.rows)
            if width < 12:  # narrower than the axis needs
                strips = (strip.crop(0, width) for strip in (inks.cells(row, _real(row)) for row in frame.rows))
            self._strips = [inks.strip(words, width), *strips]
            self._frame = frame
        return self._frame

    def render_line(self, y: int) -> Strip:
        """One row of the picture."""
        self.frame()
        if y < len(self._strips):
            return self._strips[y]
        return self.inks.blank(self.size.width)

    def _position(self, x: int) -> int:
        frame = self.frame()
        extent = frame.extent
        column = max(0, min(x - frame.gutter, extent.columns - 1))
        start, stop = extent.bucket(column)
        if stop - start > 1:
            # the call that is drawn there: the largest
            part = self.sight.curve.total[start:stop]
            return start + part.index(max(part))
        return min(start, len(self.sight.curve) - 1)

    def _press(self, x: int, y: int) -> None:
        if not len(self.sight.curve):
            return
        frame = self.frame()
        if frame.overview is not None and y == frame.overview + 1:
            columns = min(frame.extent.columns, len(self.sight.curve))
            self.post_message(self.LookedAt((x - frame.gutter + 0.5) / max(1, columns)))
        else:
            self.post_message(self.Pointed(self._position(x)))

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Cursor to the call under the pointer, or window to a place of the overview."""
        spot = event.get_content_offset(self)
        if spot is not None:
            self._pressed = True
            self.capture_mouse()
            self._press(spot.x, spot.y)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Dragging moves the cursor along."""
        if self._pressed:
            spot = event.get_content_offset_capture(self)
            self._press(spot.x, spot.y)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """Ends a drag."""
        if self._pressed:
            self._pressed = False
            self.release_mouse()

    def _wheel(self, event: events.MouseEvent, step: int) -> None:
        event.stop()
        spot = event.get_content_offset(self)
        if event.shift or event.ctrl:
            self.post_message(self.Panned(-step * 6))
        elif spot is not None:
            self.post_message(self.Zoomed(step, self._position(spot.x)))

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Larger; with shift or ctrl to the left."""
        self._wheel(event, 1)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Smaller; with shift or ctrl to the right."""
        self._wheel(event, -1)

    def on_mouse_scroll_left(self, event: events.MouseScrollLeft) -> None:
        """Towards the beginning."""
        event.stop()
        self.post_message(self.Panned(-6))

    def on_mouse_scroll_right(self, event: events.MouseScrollRight) -> None:
        """Towards the end."""
        event.stop()
        self.post_message(self.Panned(6))
