"""The preview of a compaction."""

from __future__ import annotations

from pathlib import Path

from monitor.dashboard.compactor import Preview
from monitor.dashboard.model.compacting import preview_lines
from monitor.dashboard.model.text import plain


def test_before_and_after() -> None:
    preview = Preview(
        source=Path("/logs/s1.jsonl"), target=Path("/logs/s1.compact.jsonl"), tokens_before=120_000, tokens_after=30_000,
        messages_before=400, messages_after=24, removed=("tool results of 12 files",), kept=("Goal: ship it",),
        warnings=("two facts are cut short",),
    )  # fmt: skip
    text = "\n".join(plain(line) for line in preview_lines(preview, 70))
    for part in ("/logs/s1.compact.jsonl", "120,000 → 30,000", "25% of it stays", "400 → 24", "+ Goal: ship it",
                 "- tool results of 12 files", "⚠ two facts"):  # fmt: skip
        assert part in text, part
    bars = [line for line in text.splitlines() if "█" in line]
    assert bars[0].count("█") == 4 * bars[1].count("█")


def test_unknown_sizes_stay_unknown() -> None:
    preview = Preview(source=Path("a"), target=Path("b"), tokens_before=None, tokens_after=None)
    assert "– → –" in "\n".join(plain(line) for line in preview_lines(preview, 70))
