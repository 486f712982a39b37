"""The help: keys by group, and what the signs mean."""

from __future__ import annotations

from collections.abc import Iterable

from monitor.dashboard.model.text import Line, fill, line_width, wrap

LEGEND: tuple[tuple[str, str, str], ...] = (
    ("■", "read", "cache read: served from the provider's prompt cache"),
    ("■", "write", "cache write: put into the cache by this turn"),
    ("■", "fresh", "new: paid at the full price"),
    ("■", "plain", "prompt whose parts the provider does not tell"),
    ("▲ △", "mark", "compaction: recorded in the log, or inferred from the sizes"),
    ("▼ ▽", "mark", "tool results dropped (microcompaction, trim): recorded, inferred"),
    ("◆ ◇ ◂", "mark", "model switch, context cleared, gone back to an earlier turn"),
    ("¿ ‼", "mark", "the prompt shrank and nothing tells why; too large, or compacted again and again"),
    ("✖ ✕ !", "bad", "cache missed, missed in part, turn failed"),
    ("╌ ┄", "limit", "context limit, and the size at which the client compacts by itself"),
    ("· band", "fanline", "forecast: the middle, and the range that holds in eight of ten cases"),
    ("– ~ ≥ ?", "bold", "not known, estimated, at least, assumed"),
    ("#n", "bold", "a turn is one API call; n is its index in the JSON output"),
)


def help_lines(groups: Iterable[tuple[str, list[tuple[str, str]]]], width: int) -> list[Line]:
    """Keys in two columns where they fit, then the signs."""
    blocks: list[list[Line]] = []
    column = (width - 3) // 2 if width >= 96 else width
    for title, keys in groups:
        block: list[Line] = [((title, "accent bold"),)]
        for shown, text in keys:
            for i, part in enumerate(wrap(text, column - 14)):
                block.append(((fill(shown if i == 0 else "", 12), "key"), ("  " + part, "")))
        block.append(())
        blocks.append(block)
    if column == width:
        out = [line for block in blocks for line in block]
    else:
        out = _two_columns(blocks, column)
    out.append((("Signs", "accent bold"),))
    for sign, style, text in LEGEND:
        for i, part in enumerate(wrap(text, width - 14)):
            out.append(((fill(sign if i == 0 else "", 12), style), ("  " + part, "")))
    return out


def _two_columns(blocks: list[list[Line]], column: int) -> list[Line]:
    """Blocks side by side, the left column at most one block longer than the right."""
    whole = sum(len(block) for block in blocks)
    left: list[Line] = []
    right: list[Line] = []
    for block in blocks:
        (left if len(left) + len(block) // 2 <= whole / 2 and not right else right).extend(block)
    out: list[Line] = []
    for i in range(max(len(left), len(right))):
        a = left[i] if i < len(left) else ()
        b = right[i] if i < len(right) else ()
        out.append((*a, (" " * (column + 3 - line_width(a)), ""), *b))
    return out
