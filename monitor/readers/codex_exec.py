"""Output of ``codex exec --json``.

Where: wherever its standard output was sent, for example ``codex exec --json … > run.jsonl``.

What is read: ``thread.started`` names the thread, ``turn.completed`` carries ``usage``. These figures add up over the
whole thread (and over resumed runs of it), and one turn is several calls. So they are totals of a session and never a
context size: the session is listed without a curve. Codex's own session files in ``~/.codex/sessions`` hold the calls.

Prompt tokens: ``input_tokens`` includes ``cached_input_tokens`` and ``cache_write_input_tokens``.

Unknown: single calls, prompt sizes, compactions, times, the model.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from monitor.readers import usage
from monitor.readers.base import BaseParser, FileContext, Head
from monitor.readers.json_stream import JsonAssembler
from monitor.readers.lines import first_objects
from monitor.records import Record, SessionInfo

SOURCE = "codex-exec"
_OWN = frozenset({"thread.started", "turn.started", "turn.completed", "turn.failed", "item.started", "item.completed"})
_FIELDS = ("input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens")
Sums = tuple[int, int, int, int]


class CodexExecParser(BaseParser):
    """See the module."""

    def __init__(self, context: FileContext) -> None:
        super().__init__(context)
        self._json = JsonAssembler(self.problem)
        self._thread: str | None = None
        self._sums: dict[str, tuple[Sums, Sums]] = {}  # thread -> sums before a restart of the count, sums since
        self._changed: set[str] = set()

    def feed(self, lines: Iterable[bytes], first: int) -> None:
        for number, line in enumerate(lines, first):
            for _, value in self._json.push(line, number):
                if isinstance(value, dict):
                    self._event(value)

    def _event(self, value: dict[str, Any]) -> None:
        kind = value.get("type")
        if kind == "thread.started":
            thread = value.get("thread_id")
            self._thread = thread if isinstance(thread, str) and thread else None
        elif kind == "turn.completed" and isinstance(found := value.get("usage"), dict):
            name = self._thread or self.file
            told: Sums = tuple(usage.count(found.get(field)) or 0 for field in _FIELDS)  # type: ignore[assignment]
            base, last = self._sums.get(name, ((0, 0, 0, 0), (0, 0, 0, 0)))
            if told[0] < last[0]:
                base = tuple(a + b for a, b in zip(base, last, strict=True))  # type: ignore[assignment]
            self._sums[name] = (base, told)
            self._changed.add(name)

    def take(self) -> list[Record]:
        out = super().take()
        for name in sorted(self._changed):
            base, last = self._sums[name]
            prompt, read, write, output = (a + b for a, b in zip(base, last, strict=True))
            sums = (prompt, max(0, prompt - read - write), read, write, output)
            out.append(SessionInfo(session=name, source=SOURCE, file=self.file, totals_only=sums, part=True))
        self._changed.clear()
        return out


class CodexExec:
    """Reader of ``codex exec --json``."""

    source = SOURCE
    title = "codex exec --json (sums per thread)"
    lines = True

    def sniff(self, head: Head) -> float:
        kinds = [value.get("type") for value in first_objects(head.data, 12)]
        own = sum(1 for kind in kinds if isinstance(kind, str) and kind in _OWN)
        return 0.97 if own and own >= len(kinds) - 1 else 0.0

    def parser(self, context: FileContext) -> CodexExecParser:
        return CodexExecParser(context)


READER = CodexExec()
