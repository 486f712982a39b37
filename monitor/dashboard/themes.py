"""Colours: two themes of our own and the inks of the chart, safe for the common colour blindnesses.

The inks are those of Okabe and Ito. Blue is the cache (dark: read, light: written), orange is what was paid in full,
purple a compaction, vermillion a miss or a limit. No meaning hangs on a colour alone: words, signs and shapes stand
beside it, and without colour the bars are glyphs of different density.
"""

from __future__ import annotations

from collections.abc import Iterable

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.theme import Theme

from monitor.dashboard.model.cells import GLYPHS, Run
from monitor.dashboard.model.text import Line

DARK = "ctxmon-dark"
LIGHT = "ctxmon-light"

THEMES = (
    Theme(
        name=DARK,
        primary="#4f9fd6",
        secondary="#56b4e9",
        accent="#56b4e9",
        warning="#e8c547",
        error="#f0743e",
        success="#35b993",
        foreground="#d7dce2",
        background="#0f1317",
        surface="#14191f",
        panel="#1b222a",
        dark=True,
        variables={"edge": "#2f3a45", "edge-focus": "#56b4e9", "edge-title": "#b9c3cd"},
    ),
    Theme(
        name=LIGHT,
        primary="#0072b2",
        secondary="#0072b2",
        accent="#0063a0",
        warning="#8a6a00",
        error="#b84300",
        success="#00704f",
        foreground="#1f262d",
        background="#f6f5f1",
        surface="#fdfcf9",
        panel="#eceae3",
        dark=False,
        variables={"edge": "#cfccc2", "edge-focus": "#0072b2", "edge-title": "#3c444c"},
    ),
)

_DARK = {
    "read": "#0a78bd", "write": "#56b4e9", "fresh": "#e69f00", "plain": "#7c8794",
    "read+": "#3d9fdc", "write+": "#9ad6f7", "fresh+": "#ffc64a", "plain+": "#a9b3be",
    "line0": "#0a78bd", "line1": "#2e9c7d", "line2": "#8f78c9", "line3": "#a39a2c", "line4": "#c06a8c",
    "line0+": "#3d9fdc", "line1+": "#5cc9aa", "line2+": "#b9a6ea", "line3+": "#cfc65a", "line4+": "#e598b7",
    "line5": "#4b8f96", "line5+": "#7bbcc2",
    "limit": "#f0743e", "usable": "#e8c547", "mark": "#d98cb8", "cursor": "#ffffff", "axis": "#66717d",
    "fan": "#1d2a33", "fanline": "#8fa3b3", "hold": "#3d6f92", "seen": "#7fb2d6", "unseen": "#3f4a55",
    "band": "#1d2730",
    "readword": "#5aa9e0", "writeword": "#8cc9ef", "freshword": "#e6a91e",
    "good": "#35b993", "warn": "#e8c547", "bad": "#f0743e", "accent": "#56b4e9", "title": "#8fd0f5", "dim": "#7d8894",
    "head": "#7d8894", "headchosen": "#d7dce2", "key": "#56b4e9", "row": "#22303c", "rowidle": "#1a2129",
    "text": "#d7dce2", "paper": "#0f1317", "rail": "#26303a", "thumb": "#4a5866",
}  # fmt: skip
_LIGHT = {
    "read": "#0072b2", "write": "#6cb8e0", "fresh": "#d98b00", "plain": "#8b949d",
    "read+": "#00507d", "write+": "#3b97c9", "fresh+": "#a86900", "plain+": "#5f6870",
    "line0": "#0072b2", "line1": "#2f9274", "line2": "#7d66b8", "line3": "#8f8620", "line4": "#b0577b",
    "line0+": "#00507d", "line1+": "#1b6b53", "line2+": "#5b4594", "line3+": "#6a6312", "line4+": "#8a365a",
    "line5": "#3f7f86", "line5+": "#285d63",
    "limit": "#b84300", "usable": "#8a6a00", "mark": "#a3447a", "cursor": "#000000", "axis": "#8b8f93",
    "fan": "#e3e6e4", "fanline": "#5d6a75", "hold": "#7fa9c4", "seen": "#2f7fae", "unseen": "#b9bdc0",
    "band": "#e4e6e3",
    "readword": "#00609a", "writeword": "#2a7fb3", "freshword": "#935f00",
    "good": "#00704f", "warn": "#8a6a00", "bad": "#b84300", "accent": "#0063a0", "title": "#0063a0", "dim": "#6c747b",
    "head": "#6c747b", "headchosen": "#1f262d", "key": "#0063a0", "row": "#d6e6f1", "rowidle": "#e9ebe6",
    "text": "#1f262d", "paper": "#fdfcf9", "rail": "#e4e2db", "thumb": "#b3b1a9",
}  # fmt: skip


class Inks:
    """Rich styles for the names the view model uses, on one kind of paper. Styles are made once.

    ``base`` is what text and paper look like where nothing else is said.
    """

    def __init__(self, dark: bool = True, *, glyphs: bool = False, base: Style | None = None) -> None:
        self.dark = dark
        self.base = base or Style()
        self.glyphs = glyphs
        self._colours = _DARK if dark else _LIGHT
        self._cells: dict[tuple[str, str], Style] = {}
        self._words: dict[str, Style] = {}

    def cell(self, pair: tuple[str, str]) -> Style:
        """Style of a chart cell: (foreground, background), "" = as the surroundings."""
        style = self._cells.get(pair)
        if style is None:
            front, back = pair
            colours = self._colours
            style = self.base + Style(
                color=colours[front] if front else None,
                bgcolor=colours[back] if back else None,
                bold=True
                if front in ("cursor", "mark", "bad", "limit") or (self.glyphs and front.endswith("+"))
                else None,
                reverse=True if self.glyphs and front == "cursor" else None,
            )
            self._cells[pair] = style
        return style

    def word(self, name: str) -> Style:
        """Style of a word: names separated by spaces, e.g. ``good bold`` or ``badge bad``."""
        style = self._words.get(name)
        if style is None:
            style = self._words[name] = self.base + self._make(name)
        return style

    def _make(self, name: str) -> Style:
        names = name.split()
        colour = next((self._colours[n] for n in names if n in self._colours), None)
        bold = True if {"bold", "title", "badge", "headchosen", "key"}.intersection(names) else None
        if "badge" in names:
            if self.glyphs:
                return Style(bold=True, reverse=True)
            return Style(color=self._colours["paper"], bgcolor=colour or self._colours["dim"], bold=True)
        underline = True if "headchosen" in names else None
        return Style(color=colour, bold=bold, underline=underline)

    def blank(self, width: int) -> Strip:
        """An empty row."""
        return Strip([Segment(" " * width, self.base)], width)

    def background(self, name: str) -> Style:
        """A style that only sets the background, for a chosen row; without colour it is reversed or underlined."""
        if self.glyphs:
            return Style(reverse=True) if name == "row" else Style(underline=True)
        return Style(bgcolor=self._colours[name])

    def strip(self, line: Line, width: int, under: Style | None = None) -> Strip:
        """A line of words as a strip of exactly ``width`` cells, on an optional background."""
        if self.glyphs:  # the sign of a part of a bar looks as the part does
            line = tuple((text.replace("■", GLYPHS.get(style, "■")), style) for text, style in line)
        if under is None:
            segments = [Segment(text, self.word(style)) for text, style in line if text]
            return Strip(segments).adjust_cell_length(width, self.base)
        segments = [Segment(text, self.word(style) + under) for text, style in line if text]
        return Strip(segments).adjust_cell_length(width, self.base + under)

    def cells(self, row: Iterable[Run], width: int) -> Strip:
        """A row of chart cells as a strip."""
        cell = self.cell
        return Strip([Segment(text, cell(style)) for style, text in row], width)
