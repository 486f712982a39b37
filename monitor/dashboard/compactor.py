"""What the dashboard needs from whoever compacts: a preview, and the writing of a new file beside the old one.

The dashboard never compacts by itself and never writes to a log. Without a compactor the key is not there.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import msgspec

from monitor.sessions.view import SessionView


class Preview(msgspec.Struct, frozen=True, kw_only=True):
    """What a compaction would do, before anything is written. Token figures with None are not known."""

    source: Path
    target: Path  # beside the source, never the source
    tokens_before: int | None
    tokens_after: int | None
    messages_before: int | None = None
    messages_after: int | None = None
    removed: tuple[str, ...] = ()  # what goes, a line each
    kept: tuple[str, ...] = ()  # what the summary holds, a line each
    warnings: tuple[str, ...] = ()


class Compactor(Protocol):
    """Makes previews and carries them out.

    Both are called in a worker thread and may raise ``ValueError`` or ``OSError`` with one clear sentence.
    """

    def preview(self, view: SessionView) -> Preview:
        """What compacting this session would give."""

    def write(self, preview: Preview) -> Path:
        """Write the new file; returns its path."""
