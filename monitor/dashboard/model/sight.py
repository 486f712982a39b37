"""What is in sight of the chart: the curve, the cursor on it, the visible window, and every move of them.

Positions are positions on the curve. While the cursor is on the newest call the view follows: new calls appear at the
right end. Elsewhere nothing moves by itself.
"""

from __future__ import annotations

from msgspec.structs import replace

from monitor.dashboard.model import scale
from monitor.dashboard.model.curve import ALL, MAIN, Curve
from monitor.dashboard.model.frame import Fan, Options, gutter_of, reserve_of
from monitor.dashboard.model.window import Extent, Window
from monitor.reports.words import ASSUMED, AT_LEAST
from monitor.sessions.view import Turn


class Sight:
    """Cursor and window on a curve. ``width`` is that of the chart in cells."""

    def __init__(self, *, level: int | None = None, share: bool = False, mode: str = scale.AUTO) -> None:
        self.curve = Curve("", MAIN)
        self.cursor: int | None = None
        self.follow = True
        self.share = share
        self.scale = mode
        self.window = Window(level=level)
        self.zoomed = level is not None
        self.width = 80

    @property
    def turn(self) -> Turn | None:
        """The call under the cursor."""
        return None if self.cursor is None else self.curve.turn(self.cursor)

    def fan(self) -> Fan | None:
        """The forecast for the chart: only with the main line, and only where it is known."""
        view = self.curve.view
        if view is None or view.forecast is None or not view.last_prompt_tokens:
            return None
        if self.curve.choice not in (MAIN, ALL) or self.share or not len(self.curve):
            return None
        span, limit = view.forecast.calls_to_limit, view.usable_limit
        if span is None or not limit:
            span, limit = view.forecast.calls_to_window, view.context_limit
        if span is None or not limit:
            return None
        return Fan(view.last_prompt_tokens, limit, max(0.1, span.p10), max(0.1, span.p50), max(0.1, span.p90))

    def options(self, *, glyphs: bool = False) -> Options:
        """How the chart is to be drawn now."""
        view = self.curve.view
        if view is None:
            return Options(glyphs=glyphs)
        main = self.curve.choice in (MAIN, ALL)
        limit = view.context_limit
        source = view.context_limit_source
        if not main and self.turn is not None and self.turn.context_limit is not None:
            limit, source = self.turn.context_limit, self.turn.context_limit_source
        return Options(
            cursor=self.cursor,
            share=self.share,
            scale=self.scale,
            limit=limit,
            usable=view.usable_limit if main else None,
            limit_mark=AT_LEAST if source == "observed" else "",
            usable_mark=ASSUMED if view.usable_limit_assumed else "",
            fan=self.fan(),
            glyphs=glyphs,
        )

    def extent(self) -> Extent:
        """The calls in sight, for the width the chart has."""
        columns = max(1, self.width - gutter_of(self.width))
        return self.window.resolve(len(self.curve), columns, reserve_of(columns, self.fan()))

    def reset(self) -> None:
        """A new curve is coming: window and cursor begin anew."""
        self.zoomed = False
        self.window = Window()
        self.cursor = None

    def stick(self) -> None:
        """Cursor and window to the newest call."""
        self.follow = True
        self.cursor = len(self.curve) - 1 if len(self.curve) else None
        self.window = Window(self.window.level if self.zoomed else None, None, self.window.everything)

    def point_at_index(self, index: int) -> None:
        """Cursor to the call with this index in the session, or to the one after it on the current line."""
        if len(self.curve):
            self.point(min(self.curve.position_of(index), len(self.curve) - 1))

    def point(self, position: int) -> None:
        """Cursor to a call on the curve; on the newest one the view follows again."""
        count = len(self.curve)
        if not count:
            return
        position = max(0, min(count - 1, position))
        if position == count - 1:
            if not self.follow:
                self.stick()
            self.cursor = position
            return
        extent = self.extent()
        if self.follow or self.window.start is None:
            # from here on nothing moves by itself
            self.window = replace(self.window, level=extent.level, start=extent.start)
        self.follow = False
        self.cursor = position
        self.window = self.window.show(position, extent, count)

    def move(self, steps: int) -> None:
        """Cursor by calls; with several calls in a column, by columns."""
        if self.cursor is None:
            return
        level = self.extent().level
        self.point(self.cursor + steps * (-level if level < 0 else 1))

    def first(self) -> None:
        """To the first call."""
        self.point(0)

    def last(self) -> None:
        """To the newest call; follows from then on."""
        self.stick()

    def toggle_follow(self) -> None:
        """Follow the newest call, or stay where the view is."""
        if self.follow:
            extent = self.extent()
            self.follow = False
            self.window = replace(self.window, level=extent.level, start=extent.start)
        else:
            self.stick()

    def jump(self, what: str, step: int) -> bool:
        """To the next (1) or previous (-1) reset, miss or error. False if there is none in that direction."""
        if self.cursor is None:
            return False
        find = {"reset": self.curve.next_reset, "miss": self.curve.next_alert, "error": self.curve.next_error}[what]
        position = find(self.cursor, step)
        if position is None:
            return False
        self.point(position)
        return True

    def zoom(self, steps: int, anchor: int | None = None) -> None:
        """Larger or smaller around a call."""
        count = len(self.curve)
        if not count:
            return
        at = anchor if anchor is not None else self.cursor if self.cursor is not None else count - 1
        extent = self.extent()
        self.window = self.window.zoom(steps, extent, at, count)
        self.zoomed = True
        if self.follow:
            self.window = replace(self.window, start=None)

    def fit(self, everything: bool) -> None:
        """The whole history, or as much of it as is readable."""
        self.zoomed = False
        self.window = Window(everything=everything)

    def pan(self, columns: int) -> None:
        """Window by columns; the cursor stays in sight."""
        count = len(self.curve)
        if not count:
            return
        self.window = self.window.pan(columns, self.extent(), count)
        extent = self.extent()
        if self.cursor is None or not extent.start <= self.cursor < extent.stop:
            self.follow = False
            self.cursor = extent.stop - 1 if columns < 0 else extent.start
        if self.window.start is None and self.cursor == count - 1:
            self.follow = True
        elif self.window.start is not None:
            self.follow = False

    def look_at(self, share: float) -> None:
        """Window around a place of the whole history (0 to 1): the overview was clicked."""
        count = len(self.curve)
        if not count:
            return
        position = max(0, min(count - 1, int(share * count)))
        extent = self.extent()
        half = (extent.stop - extent.start) // 2
        self.window = replace(self.window, level=extent.level, start=max(0, position - half))
        self.point(position)

    def toggle_share(self) -> None:
        """Tokens, or each bar as 100 %."""
        self.share = not self.share

    def next_scale(self) -> None:
        """Scale of the chart: automatic, up to the limit, up to what is visible."""
        modes = scale.MODES
        self.scale = modes[(modes.index(self.scale) + 1) % len(modes)]
