"""The vertical scale of the chart: its top, its ticks and their labels."""

from __future__ import annotations

from monitor.dashboard.model.text import tokens

#: what decides the top of the scale
AUTO, LIMIT, VISIBLE = "auto", "limit", "visible"
MODES = (AUTO, LIMIT, VISIBLE)

#: a curve below this share of the limit would be a flat line under an empty sky; it gets a scale of its own
_LOW = 0.3


def top_of_scale(
    mode: str, visible_max: int, curve_max: int, limit: int | None, usable: int | None
) -> tuple[int, bool]:
    """Tokens at the upper edge, and whether the limits lie inside. Headroom of 4 % keeps a line off the edge."""
    ceiling = max(limit or 0, usable or 0)
    if mode == VISIBLE or not ceiling:
        top = visible_max if mode == VISIBLE else max(curve_max, visible_max)
        return max(1, int(top * 1.06) + 1), False
    lowest = usable or ceiling
    if mode == AUTO and 0 < curve_max < _LOW * lowest:
        return max(1, int(curve_max * 1.25) + 1), False
    if mode == AUTO and curve_max < 0.5 * ceiling and usable and usable < 0.6 * ceiling:
        return int(max(usable, curve_max) * 1.06) + 1, True
    return max(int(max(ceiling, visible_max) * 1.04), 1), True


def ticks(top: int, rows: int) -> list[tuple[int, str]]:
    """Round values for the axis as ``(row from the bottom, label)``; two of them even in the smallest plot."""
    if rows < 2 or top <= 0:
        return []
    most = max(2, rows // 4)
    step = nice(top / most)
    out: list[tuple[int, str]] = []
    value = step
    while value < top:
        row = int(value * rows / top)
        if row >= rows:
            break
        if not out or out[-1][0] != row:
            out.append((row, tokens(value)))
        value += step
    return out


def share_ticks(rows: int) -> list[tuple[int, str]]:
    """Ticks of the view in which each bar is 100 %."""
    if rows < 2:
        return []
    marks = (25, 50, 75) if rows >= 8 else (50,)
    out = [(int(mark * rows / 100), f"{mark}%") for mark in marks]
    return [*out, (rows - 1, "100%")]


def nice(value: float) -> int:
    """The next round number of the kind 1, 2, 2.5, 5 times a power of ten."""
    power = 1
    while power * 10 <= value:
        power *= 10
    for factor in (1, 2, 2.5, 5, 10):
        step = int(power * factor)
        if step >= value and step == power * factor:
            return step
    return power * 10
