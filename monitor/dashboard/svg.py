"""The screen as a picture: an SVG of what Textual draws, exact to the cell and the same on every machine.

Block characters become rectangles, so that bars have no hairlines whatever font shows the text; the font is the
reader's own monospace, each run is stretched to its cells, nothing is fetched from anywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from rich.cells import cell_len
from rich.color import Color
from rich.segment import Segment
from rich.style import Style

_WIDTH, _HEIGHT, _FONT = 8.4, 17.0, 14
_PAD = 10
_Box = tuple[float, float, float, float]
#: lines of box characters: thickness across and down, in shares of a cell
_X, _Y, _DX, _DY = 0.45, 0.47, 0.11, 0.055
_LEFT: _Box = (0, _Y, _X + _DX, _DY)
_RIGHT: _Box = (_X, _Y, 1 - _X, _DY)
_UP: _Box = (_X, 0, _DX, _Y + _DY)
_DOWN: _Box = (_X, _Y, _DX, 1 - _Y)
#: the rectangles of a character: (x, y, width, height) in shares of a cell
_BLOCKS: dict[str, tuple[_Box, ...]] = {
    **{char: ((0, 1 - (i + 1) / 8, 1, (i + 1) / 8),) for i, char in enumerate("▁▂▃▄▅▆▇█")},
    **{char: ((0, 0, (7 - i) / 8, 1),) for i, char in enumerate("▉▊▋▌▍▎▏")},
    "─": ((0, _Y, 1, _DY),),
    "│": ((_X, 0, _DX, 1),),
    "┃": ((0.38, 0, 0.24, 1),),
    "╭": (_RIGHT, _DOWN),
    "╮": (_LEFT, _DOWN),
    "╰": (_RIGHT, _UP),
    "╯": (_LEFT, _UP),
    "└": (_RIGHT, _UP),
    "┤": (_LEFT, (_X, 0, _DX, 1)),
    "┴": (_UP, (0, _Y, 1, _DY)),
    "╌": ((0.08, _Y, 0.34, _DY), (0.58, _Y, 0.34, _DY)),
    "┄": tuple((x, _Y, 0.2, _DY) for x in (0.06, 0.4, 0.73)),
    "┆": tuple((_X, y, _DX, 0.2) for y in (0.06, 0.4, 0.73)),
}
_FONTS = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace"


def svg(rows: Sequence[Iterable[Segment]], width: int, *, title: str, foreground: str, background: str) -> str:
    """An SVG of ``rows`` of styled segments, ``width`` cells wide. Colours are ``#rrggbb``."""
    height = len(rows)
    w, h = width * _WIDTH + 2 * _PAD, height * _HEIGHT + 2 * _PAD
    shapes: list[str] = []
    words: list[str] = []
    for y, row in enumerate(rows):
        x = 0
        for segment in row:
            size = cell_len(segment.text)
            if segment.control or not size:
                continue
            front, back = _colours(segment.style, foreground, background)
            if back != background:
                shapes.append(_rect(x, y, size, 1, back))
            _draw(segment.text, x, y, front, segment.style, shapes, words)
            x += size
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_n(w)} {_n(h)}" width="{_n(w)}" height="{_n(h)}" '
            f'role="img" aria-label="{escape(title)}">',
            f"<title>{escape(title)}</title>",
            f'<rect width="{_n(w)}" height="{_n(h)}" rx="8" fill="{background}"/>',
            f'<g shape-rendering="crispEdges">{"".join(shapes)}</g>',
            f'<g font-family="{_FONTS}" font-size="{_FONT}" xml:space="preserve">{"".join(words)}</g>',
            "</svg>",
            "",
        ]
    )


def _draw(text: str, x: int, y: int, colour: str, style: Style | None, shapes: list[str], words: list[str]) -> None:
    """Blocks as rectangles, everything between them as text."""
    run, start = "", x
    for char in text:
        block = _BLOCKS.get(char)
        if block is None and char != " ":
            if not run:
                start = x
            run += char
        else:
            if run:
                words.append(_text(run, start, y, colour, style))
                run = ""
            if block is not None:
                shapes.extend(_rect(x + bx, y + by, bw, bh, colour) for bx, by, bw, bh in block)
        x += cell_len(char)
    if run:
        words.append(_text(run, start, y, colour, style))


def _rect(x: float, y: float, width: float, height: float, colour: str) -> str:
    return (
        f'<rect x="{_n(x * _WIDTH + _PAD)}" y="{_n(y * _HEIGHT + _PAD)}" width="{_n(width * _WIDTH)}" '
        f'height="{_n(height * _HEIGHT)}" fill="{colour}"/>'
    )


def _text(text: str, x: int, y: int, colour: str, style: Style | None) -> str:
    bold = ' font-weight="bold"' if style is not None and style.bold else ""
    underline = ' text-decoration="underline"' if style is not None and style.underline else ""
    return (
        f'<text x="{_n(x * _WIDTH + _PAD)}" y="{_n((y + 0.76) * _HEIGHT + _PAD)}" fill="{colour}"{bold}{underline} '
        f'textLength="{_n(cell_len(text) * _WIDTH)}" lengthAdjust="spacingAndGlyphs">{escape(text)}</text>'
    )


def _n(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _colours(style: Style | None, foreground: str, background: str) -> tuple[str, str]:
    if style is None:
        return foreground, background
    front = _hex(style.color, foreground)
    back = _hex(style.bgcolor, background)
    if style.reverse:
        front, back = back, front
    return front, back


def _hex(colour: Color | None, default: str) -> str:
    if colour is None or colour.is_default:
        return default
    red, green, blue = colour.get_truecolor()
    return f"#{red:02x}{green:02x}{blue:02x}"
