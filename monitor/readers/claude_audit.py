"""The audit log of Claude Desktop's Cowork, which repeats the calls of the transcript beside it before they have ended.

Source: public reports (cc-switch#4979, token-monitor#375).
"""

from __future__ import annotations

from collections.abc import Iterable

from monitor.readers.base import BaseParser, FileContext


class AuditParser(BaseParser):
    """Reads nothing: the transcript tells all."""

    companion = True

    def feed(self, lines: Iterable[bytes], first: int) -> None:
        pass


def beside_transcripts(context: FileContext) -> bool:
    """Whether the file is an audit log whose transcripts are there."""
    path = context.path
    return path is not None and path.name == "audit.jsonl" and (path.parent / ".claude" / "projects").is_dir()
