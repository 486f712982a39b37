"""The preview of a compaction in lines."""

from __future__ import annotations

from monitor.dashboard.compactor import Preview
from monitor.dashboard.model.text import UNKNOWN, Line, clip, exact, percent, printable, wrap


def preview_lines(preview: Preview, width: int) -> list[Line]:
    """Sizes before and after, what goes, what stays, and the file that would be written."""
    before, after = preview.tokens_before, preview.tokens_after
    ratio = percent(after / before) if before and after is not None else UNKNOWN
    out: list[Line] = [
        (("reads   ", "dim"), (clip(printable(str(preview.source)), width - 8), "")),
        (("writes  ", "dim"), (clip(printable(str(preview.target)), width - 8), "bold")),
        (),
        (("tokens  ", "dim"), (f"{exact(before)} → {exact(after)}", "bold"), (f"  {ratio} of it stays", "dim")),
    ]
    if preview.messages_before is not None:
        words = f"{exact(preview.messages_before)} → {exact(preview.messages_after)}"
        out.append((("messages ", "dim"), (words, "")))
    if before and after is not None:
        bar = max(10, width - 10)
        out.append((("before  ", "dim"), ("█" * bar, "read")))
        out.append((("after   ", "dim"), ("█" * max(1, round(bar * after / before)), "good")))
    for warning in preview.warnings:
        out.extend(
            ((("⚠ " if i == 0 else "  ") + line, "warn"),) for i, line in enumerate(wrap(printable(warning), width - 2))
        )
    for title, lines, sign, style in (
        ("What the new context holds", preview.kept, "+ ", "good"),
        ("What goes", preview.removed, "- ", "bad"),
    ):
        if lines:
            out.append(())
            out.append(((title, "accent bold"),))
            for text in lines:
                for i, line in enumerate(wrap(printable(text), width - 2)):
                    out.append(((sign if i == 0 else "  ", style), (line, "")))
    return out
