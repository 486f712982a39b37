"""Where the panels stand: a pure function of the size and of the panel in use.

Wide terminals show everything at once; narrower ones keep the chart and put the other panels behind tabs; the smallest
show the chart alone, or the one panel that was asked for.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec


class Rect(NamedTuple):
    """A place on the screen."""

    x: int
    y: int
    width: int
    height: int


#: panels with the number that leads to them, and their titles: long, short
PANELS: dict[str, tuple[str, str, str]] = {
    "sessions": ("1", "Sessions", "Sess"),
    "chart": ("2", "Prompt tokens per turn", "Chart"),
    "decision": ("3", "Decision", "Decide"),
    "forecast": ("4", "Forecast", "Fore"),
    "mix": ("5", "Mix", "Mix"),
    "turns": ("6", "Turns", "Turns"),
    "turn": ("7", "Turn", "Turn"),
    "events": ("8", "Events", "Event"),
    "problems": ("9", "Problems", "Prob"),
}


class Arrangement(msgspec.Struct, frozen=True):
    """The visible panels and their places. ``tabs`` are the panels that share one place, ``tab_bar`` its top edge."""

    panels: dict[str, Rect] = {}
    header: Rect | None = None
    hints: Rect | None = None
    tabs: tuple[str, ...] = ()
    tab_bar: Rect | None = None
    framed: bool = True


def arrange(
    width: int, height: int, active: str = "chart", tab: str = "decision", *, alone: bool = False
) -> Arrangement:
    """Places for a screen of ``width`` x ``height``.

    ``active`` is the panel in use, ``tab`` the one shown where panels share a place. ``alone``: only the active panel,
    as large as possible.
    """
    header = Rect(0, 0, width, 1) if height >= 3 else None
    hints = Rect(0, height - 1, width, 1) if height >= 13 else None
    top = 1 if header else 0
    body = max(1, height - top - (1 if hints else 0))
    framed = height >= 20 and width >= 56
    if alone or height < 13:
        return Arrangement({active: Rect(0, top, width, body)}, header, hints, framed=framed)
    if width >= 136 and height >= 30:
        return _full(width, top, body, tab, header, hints)
    if width >= 104 and height >= 24:
        return _two(width, top, body, tab, header, hints)
    return _stack(width, top, body, tab, header, hints, framed)


def _full(width: int, y: int, height: int, tab: str, header: Rect | None, hints: Rect | None) -> Arrangement:
    """Sessions over events at the left, chart over turns in the middle, the panels of words at the right."""
    left = max(32, min(46, width * 23 // 100))
    right = max(40, min(54, width * 27 // 100))
    middle = width - left - right
    chart = max(16, height * 58 // 100)
    tabs = ("turns", "problems")
    shown = tab if tab in tabs else "turns"
    events = max(7, height * 38 // 100)
    panels = {
        "sessions": Rect(0, y, left, height - events),
        "events": Rect(0, y + height - events, left, events),
        "chart": Rect(left, y, middle, chart),
        shown: Rect(left, y + chart, middle, height - chart),
    }
    x = left + middle
    decision = max(14, height * 44 // 100)
    forecast = 8
    rest = height - decision - forecast
    mix = max(6, min(9, rest // 3))
    panels["decision"] = Rect(x, y, right, decision)
    panels["forecast"] = Rect(x, y + decision, right, forecast)
    if rest - mix >= 8:
        panels["mix"] = Rect(x, y + decision + forecast, right, mix)
        panels["turn"] = Rect(x, y + decision + forecast + mix, right, rest - mix)
    else:
        name = "mix" if tab == "mix" else "turn"
        panels[name] = Rect(x, y + decision + forecast, right, rest)
    bar = Rect(left + 2, y + chart, middle - 4, 1)
    return Arrangement(panels, header, hints, tabs, bar)


def _two(width: int, y: int, height: int, tab: str, header: Rect | None, hints: Rect | None) -> Arrangement:
    """Chart over tabs at the left, decision and forecast at the right."""
    right = max(38, min(46, width * 36 // 100))
    left = width - right
    chart = max(12, height * 56 // 100)
    tabs = ("turns", "sessions", "turn", "mix", "events", "problems")
    shown = tab if tab in tabs else "turns"
    forecast = 8
    panels = {
        "chart": Rect(0, y, left, chart),
        shown: Rect(0, y + chart, left, height - chart),
        "decision": Rect(left, y, right, height - forecast),
        "forecast": Rect(left, y + height - forecast, right, forecast),
    }
    return Arrangement(panels, header, hints, tabs, Rect(2, y + chart, left - 4, 1))


def _stack(
    width: int, y: int, height: int, tab: str, header: Rect | None, hints: Rect | None, framed: bool
) -> Arrangement:
    """Chart over one panel with tabs."""
    tabs = ("sessions", "decision", "forecast", "mix", "turns", "turn", "events", "problems")
    shown = tab if tab in tabs else "decision"
    below = max(8, min(22, height * 38 // 100)) if framed else max(4, height * 35 // 100)
    chart = height - below
    panels = {"chart": Rect(0, y, width, chart)}
    if framed:
        panels[shown] = Rect(0, y + chart, width, below)
        bar = Rect(2, y + chart, width - 4, 1)
    else:
        bar = Rect(0, y + chart, width, 1)
        panels[shown] = Rect(0, y + chart + 1, width, below - 1)
    return Arrangement(panels, header, hints, tabs, bar, framed)
