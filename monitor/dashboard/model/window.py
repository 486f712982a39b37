"""Which calls a chart shows, and which column shows which call.

The scale is a whole number: ``level`` 3 draws each call three columns wide, ``level`` -4 puts four calls into one
column. Columns that hold several calls always begin at a multiple of their size, so that a growing session adds to the
right end and nothing that is already drawn moves.
"""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

_WIDE = (8, 6, 4, 3, 2, 1)
_MAX_WIDE = 3  # a short session is not blown up beyond this by itself


def _ladder() -> list[int]:
    steps = list(_WIDE)
    k = 2
    while k <= 1 << 20:
        steps.append(-k)
        if k > 2:
            steps.append(-(k * 3 // 2))
        else:
            steps.append(-3)
        k *= 2
    return steps


LADDER = _ladder()


def shown(level: int, columns: int) -> int:
    """How many calls fit into ``columns``."""
    return columns // level if level > 0 else columns * -level


def fit_level(count: int, columns: int) -> int:
    """The largest scale at which ``count`` calls fit into ``columns``."""
    if count <= 0 or columns <= 0:
        return _MAX_WIDE
    if count <= columns:
        return min(_MAX_WIDE, columns // count)
    return -count // columns


class Window(msgspec.Struct, frozen=True):
    """A part of the curve. ``level`` None: fitted to the size; ``start`` None: the newest calls are at the right."""

    level: int | None = None
    start: int | None = None
    #: with a fitted level: show everything, not only what stays readable
    everything: bool = False

    def resolve(self, count: int, columns: int, reserve: int = 0) -> Extent:
        """The exact picture for a curve of ``count`` calls in ``columns`` columns.

        ``reserve`` columns at the right are kept for the forecast while the end of the curve is in sight.
        """
        columns = max(1, columns)
        room = max(1, columns - reserve)
        # a short session is shown call by call even if that cuts the forecast short
        if self.level is None and room < count <= columns - 6:
            room = count
        level = self.level
        if level is None:
            wanted = count if self.everything else min(count, room * 4)
            level = fit_level(wanted, room)
        level = min(level, room)
        step = 1 if level > 0 else -level
        fits = shown(level, room)
        # in whole steps: the column of the newest calls may be half full
        last = max(0, -(-count // step) * step - fits)
        start = last if self.start is None else max(0, min(self.start, last))
        start -= start % step
        stop = min(count, start + shown(level, columns))
        return Extent(level, start, stop, columns)

    def zoom(self, steps: int, span: Extent, anchor: int, count: int) -> Window:
        """Larger (positive steps) or smaller, keeping the call at ``anchor`` in its column as far as possible."""
        where = _nearest(span.level)
        target = LADDER[max(0, min(len(LADDER) - 1, where - steps))]
        if steps < 0 and target < 0 and shown(target, span.columns) > 2 * max(count, 1):
            target = span.level
        if steps > 0 and target < span.level:
            target = span.level
        column = span.column(anchor)
        start = anchor - (shown(target, column) if column > 0 else 0)
        at_end = start + shown(target, span.columns) >= count and anchor >= count - 1
        zoomed = Window(level=target, start=None if at_end else max(0, start))
        return zoomed.show(anchor, zoomed.resolve(count, span.columns), count)

    def pan(self, columns: int, span: Extent, count: int) -> Window:
        """Moved by columns; reaching the newest call sticks to it again."""
        step = shown(span.level, abs(columns)) or 1
        start = span.start + (step if columns > 0 else -step)
        start = max(0, start)
        if start + (span.stop - span.start) >= count and columns > 0:
            return replace(self, level=span.level, start=None)
        return replace(self, level=span.level, start=start)

    def show(self, position: int, span: Extent, count: int) -> Window:
        """Moved just so far that the call at ``position`` is visible."""
        if span.start <= position < span.stop:
            return self
        if position >= count - 1:
            return replace(self, start=None)
        # in whole columns, with an eighth of the window as margin
        step = max(1, -span.level)
        visible = max(1, shown(span.level, span.columns) // step)
        place = position // step
        start = (place - visible // 8 if position < span.start else place - visible + 1 + visible // 8) * step
        # panning must not change the scale: a fitted level is made a fixed one
        return replace(self, level=span.level, start=max(0, start))


def _nearest(level: int) -> int:
    """Place of a level on the ladder, or of the next smaller picture."""
    for i, step in enumerate(LADDER):
        if step <= level:
            return i
    return len(LADDER) - 1


class Extent(msgspec.Struct, frozen=True):
    """A resolved window: scale, first call, call behind the last, columns."""

    level: int
    start: int
    stop: int
    columns: int

    @property
    def used(self) -> int:
        """Columns that hold calls."""
        count = self.stop - self.start
        return count * self.level if self.level > 0 else -(-count // -self.level)

    def column(self, position: int) -> int:
        """First column of a call (may lie outside)."""
        offset = position - self.start
        return offset * self.level if self.level > 0 else offset // -self.level

    def bucket(self, column: int) -> tuple[int, int]:
        """The calls ``[a, b)`` of a column, clipped to the curve."""
        if self.level > 0:
            a = self.start + column // self.level
            return (a, min(a + 1, self.stop))
        a = self.start + column * -self.level
        return (a, min(a - self.level, self.stop))
