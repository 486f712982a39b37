"""What the dashboard needs from whoever compacts: a preview, and the writing of a new file beside the old one.

The dashboard never compacts by itself and never writes to a log. Without a compactor the keys are not there.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Protocol

import msgspec

from monitor.sessions.view import SessionView

#: what happens to a message: it goes, it comes, it stays as it is, it stays but is changed
Sign = Literal["-", "+", " ", "~"]


class Change(msgspec.Struct, frozen=True, gc=False):
    """One message of the old or the new context, in the order of the conversation."""

    sign: Sign
    who: str  # role, and the names of tools
    tokens: int | None
    text: str  # its first words, without secrets; of a summary all of it


class Retention(msgspec.Struct, frozen=True):
    """How much of one kind (rules, files, checks …) the new context still tells, and what it does not."""

    kind: str
    kept: int
    total: int
    lost: tuple[str, ...] = ()


class Preview(msgspec.Struct, frozen=True, kw_only=True):
    """What a compaction would do, before anything is written. Token figures with None are not known."""

    source: Path
    target: Path  # beside the source, never the source
    tokens_before: int | None
    tokens_after: int | None
    prompt_tokens: int | None = None  # of the session's last call: more than the file holds
    estimated: bool = False  # tokens are estimates
    messages_before: int | None = None
    messages_after: int | None = None
    stays: str = ""  # what is kept as it is, in words
    parts: tuple[tuple[str, int, int], ...] = ()  # tokens by part of the request: name, before, after
    rules: tuple[str, ...] = ()  # the user's rules that hold, word for word
    sections: tuple[tuple[str, str], ...] = ()  # the summary: heading, text
    retention: tuple[Retention, ...] = ()
    invented: tuple[str, ...] = ()  # in the summary, but not in the source
    repairs: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    warnings: tuple[str, ...] = ()
    blocked: str = ""  # why it cannot be written, "" where it can
    result: bytes = b""  # the new file, whole; only for the compactor
    stamp: object = None  # what the source was when it was read; only for the compactor


class Compactor(Protocol):
    """Makes previews and carries them out.

    All are called in worker threads and may raise ``ValueError`` or ``OSError`` with one clear sentence.
    """

    def preview(self, view: SessionView) -> Preview:
        """What compacting the file of this session would give."""

    def preview_file(self, path: Path) -> Preview:
        """What compacting this file would give: a session file, or an exported conversation."""

    def write(self, preview: Preview) -> Path:
        """Write the new file exactly as it was shown; returns its path."""
