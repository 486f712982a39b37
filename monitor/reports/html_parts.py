"""Pieces of HTML. Text is escaped unless it is marked as made here: nothing from a log can become a tag."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from monitor.reports.text import UNKNOWN, clean


class Raw(str):
    """HTML made by this program; every other string is text."""

    __slots__ = ()


def esc(text: object) -> str:
    """Text for element content and quoted attributes; control characters and broken Unicode are replaced."""
    value = str(text)
    if not value.isprintable():
        value = clean(value)
    return html.escape(value)


def show(value: object) -> str:
    """A cell: HTML made here as it is, everything else escaped, None as the dash of unknown values."""
    if isinstance(value, Raw):
        return value
    return UNKNOWN if value is None else esc(value)


def tag(name: str, *content: object, **attributes: str | None) -> Raw:
    """An element. ``class_`` and ``aria_label`` lose their underscores; None leaves an attribute out, "" is bare."""
    parts = [name]
    for key, value in attributes.items():
        if value is None:
            continue
        key = key.rstrip("_").replace("_", "-")
        parts.append(f'{key}="{esc(value)}"' if value else key)
    return Raw(f"<{' '.join(parts)}>{''.join(show(piece) for piece in content)}</{name}>")


def table(
    head: Sequence[object],
    rows: Iterable[Sequence[object]],
    *,
    left: Sequence[int] = (0,),
    caption: str = "",
    class_: str = "",
    header: int | None = 0,
) -> Raw:
    """A table that scrolls sideways where the screen is narrow.

    Args:
        left: columns of text; the others hold numbers and stand at the right.
        caption: what the table shows, for those who do not see where it stands.
        header: the column that names each row; None: no column does.
    """
    sides = ["" if place in left else ' class="n"' for place in range(len(head))]
    top = "".join(f'<th scope="col"{side}>{show(cell)}</th>' for side, cell in zip(sides, head))
    lines = []
    for row in rows:
        cells = []
        for place, (side, cell) in enumerate(zip(sides, row)):
            if place == header:
                cells.append(f'<th scope="row"{side}>{show(cell)}</th>')
            else:
                cells.append(f"<td{side}>{show(cell)}</td>")
        lines.append(f"<tr>{''.join(cells)}</tr>")
    name = f"<caption>{esc(caption)}</caption>" if caption else ""
    kind = f' class="{class_}"' if class_ else ""
    label = f' role="region" aria-label="{esc(caption)}" tabindex="0"' if caption else ""
    return Raw(
        f'<div class="scroll"{label}><table{kind}>{name}<thead><tr>{top}</tr></thead>'
        f"<tbody>{chr(10).join(lines)}</tbody></table></div>"
    )


def details(summary: object, *content: object, class_: str = "", id_: str | None = None, open_: bool = False) -> Raw:
    """Something to unfold."""
    kind = f' class="{class_}"' if class_ else ""
    name = f' id="{esc(id_)}"' if id_ else ""
    body = "".join(show(piece) for piece in content)
    return Raw(f"<details{kind}{name}{' open' if open_ else ''}><summary>{show(summary)}</summary>{body}</details>")


def section(id_: str, title: str, *content: object, note: str = "") -> Raw:
    """A part of the page with a heading; empty without content."""
    body = "".join(show(piece) for piece in content)
    if not body:
        return Raw("")
    small = f" <small>{esc(note)}</small>" if note else ""
    return Raw(
        f'<section id="{id_}" aria-labelledby="{id_}-h"><h2 id="{id_}-h">{esc(title)}{small}</h2>{body}</section>'
    )


def meter(share: float | None, label: str) -> Raw:
    """A small bar for a share between 0 and 1; nothing where it is unknown."""
    if share is None:
        return Raw("")
    size = max(0.0, min(1.0, share)) * 100
    level = " full" if share >= 0.85 else " high" if share >= 0.7 else ""
    return Raw(
        f'<span class="meter{level}" role="img" aria-label="{esc(label)}"><i style="width:{size:.0f}%"></i></span>'
    )


def amount_bar(value: float | None, largest: float) -> Raw:
    """A bar beside a number of the same row, so it needs no words of its own."""
    if not value or value < 0 or not largest:
        return Raw("")
    return Raw(f'<span class="bar" aria-hidden="true"><i style="width:{100 * value / largest:.1f}%"></i></span>')
