"""Bars out of character cells: eighth blocks for height, at most two colours a cell.

A cell is ``((foreground, background), character)`` with colour *names*. Whole cells are spaces on a background and not
"█": several terminals and every picture of one leave hairlines between blocks. Without colour the background cannot
carry anything, so there glyphs of different density do.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from operator import itemgetter

Style = tuple[str, str]
Cell = tuple[Style, str]
Run = tuple[Style, str]

EIGHTHS = " ▁▂▃▄▅▆▇█"
EMPTY: Cell = (("", ""), " ")

#: without colour: what a whole cell looks like
GLYPHS = {"read": "█", "write": "▒", "fresh": "░", "plain": "▓"}

#: colours of a bar from the bottom: cache read, cache write, fresh
STACK = ("read", "write", "fresh")
PLAIN = ("plain", "plain", "plain")


def runs(row: Iterable[Cell]) -> list[Run]:
    """Neighbouring cells of one style joined: what a terminal is sent."""
    return [(style, "".join([c for _, c in group])) for style, group in groupby(row, key=itemgetter(0))]


class Bars:
    """Makes the columns of bars for a plot of a given height, and remembers those it made."""

    def __init__(self, height: int, *, glyphs: bool = False) -> None:
        self.height = height
        self.glyphs = glyphs
        self._made: dict[tuple[int, int, int, tuple[str, str, str], Cell], tuple[Cell, ...]] = {}

    def column(
        self, low: int, middle: int, top: int, colours: tuple[str, str, str] = STACK, filler: Cell = EMPTY
    ) -> tuple[Cell, ...]:
        """Cells from the bottom for a bar whose parts end at ``low`` ≤ ``middle`` ≤ ``top`` (in eighths of a cell)."""
        key = (low, middle, top, colours, filler)
        made = self._made.get(key)
        if made is None:
            if len(self._made) > 20_000:
                self._made.clear()
            made = self._made[key] = self._make(low, middle, top, colours, filler)
        return made

    def _make(self, low: int, middle: int, top: int, colours: tuple[str, str, str], filler: Cell) -> tuple[Cell, ...]:
        height = self.height
        whole = min(low >> 3, height)
        cells = [self._whole(colours[0])] * whole
        for row in range(whole, height):
            floor = row * 8
            if top <= floor:
                cells.extend([filler] * (height - row))
                break
            cells.append(self._mixed(low - floor, middle - floor, top - floor, colours))
        return tuple(cells)

    def _whole(self, colour: str) -> Cell:
        if self.glyphs:
            return ((colour, ""), GLYPHS.get(colour.rstrip("+"), "█"))
        return (("", colour), " ")

    def _mixed(self, low: int, middle: int, top: int, colours: tuple[str, str, str]) -> Cell:
        """One cell with up to three colours and emptiness above, shown as the two that fill most of it."""
        low, middle, top = (min(8, max(0, edge)) for edge in (low, middle, top))
        parts = (low, middle - low, top - middle)
        if top < 8:
            # the height of the whole bar must be right; its colour is that of the largest part
            colour = colours[max(range(3), key=lambda i: (parts[i], i))]
            if self.glyphs and top >= 4:
                glyph = GLYPHS.get(colour.rstrip("+"), "█")
                return ((colour, ""), EIGHTHS[top] if glyph == "█" else glyph)
            return ((colour, ""), EIGHTHS[top])
        present = [i for i in range(3) if parts[i] and (i == 0 or colours[i] != colours[i - 1])]
        if len(present) <= 1 or self.glyphs:
            return self._whole(colours[max(range(3), key=lambda i: (parts[i], i))])
        if len(present) == 3:
            smallest = min(present, key=lambda i: parts[i])
            edge = {0: middle, 1: low + (parts[1] + 1) // 2, 2: low}[smallest]
            present.remove(smallest)
        else:
            edge = low if present[0] == 0 else middle
        lower, upper = present
        edge = min(7, max(1, edge))
        return ((colours[lower], colours[upper]), EIGHTHS[edge])


def over(cell: Cell, colour: str, glyph: str, *, glyphs: bool = False) -> Cell:
    """A line drawn across: visible on empty cells and on whole ones, never on a cell that carries an edge."""
    (front, back), char = cell
    if char == " ":
        return ((colour, back), glyph)
    if char in "┆│":
        return ((colour, ""), glyph)
    if glyphs and char in "█▒░▓" and front:
        return cell
    return cell
