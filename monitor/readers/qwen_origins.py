"""Lines that a branch of a Qwen Code session copied from another one. See :mod:`.qwen_code`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from monitor.readers import agent_values as look
from monitor.readers.agent_values import obj, word
from monitor.readers.lines import iterate
from monitor.readers.patterns import lazy

_SAFE = lazy(r"\w[\w.-]*")
_DEEPEST = 16


class Origins:
    """Which session made a line that a branch copied; a branch of a branch names only the one before."""

    def __init__(self, path: Path | None) -> None:
        self._folder = path.parent if path is not None else None
        self._copies: dict[str, dict[str, str]] = {}  # session -> uuid of each copied line -> session it came from

    def of(self, value: dict[str, Any]) -> str | None:
        """The session that made this line; None if it is the line's own."""
        found = word(obj(value.get("forkedFrom")).get("sessionId"))
        uuid = word(value.get("uuid")) or ""
        for _ in range(_DEEPEST):
            before = self._of(found).get(uuid) if found is not None else None
            if before is None:
                break
            found = before
        return found

    def _of(self, session: str) -> dict[str, str]:
        if session not in self._copies:
            self._copies[session] = copies = {}
            if self._folder is not None and _SAFE.fullmatch(session):
                for value in _forked(self._folder / f"{session}.jsonl"):
                    parent = word(obj(value.get("forkedFrom")).get("sessionId"))
                    if parent is not None and parent != session:
                        copies[word(value.get("uuid")) or ""] = parent
        return self._copies[session]


def _forked(path: Path) -> Iterator[dict[str, Any]]:
    try:
        with path.open("rb") as stream:
            for line in iterate(stream):
                if b'"forkedFrom"' in line:
                    try:
                        yield obj(look.decode(line))
                    except (ValueError, RecursionError):
                        continue
    except OSError:
        return  # not there any more: the name of the session before is all that is known
