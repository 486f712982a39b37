"""Readers: one file per log format behind a scored registry.

Which reader takes a file is decided by the file's content (:func:`choose`), never by its name alone.
"""

from __future__ import annotations

import importlib
from functools import cache

from monitor.readers.base import Head, Reader

#: module -> sources it may yield; modules are imported only when a file needs judging by them
MODULES: tuple[str, ...] = (
    "claude_code",
    "codex",
    "pi",
    "gemini_cli",
    "opencode",
    "cline",
    "qwen_code",
    "kimi",
    "copilot",
    "amp",
    "openhands",
    "aider",
    "droid",
    "hermes",
    "goose",
    "openclaw",
    "har",
    "mitm",
    "claude_trace",
    "claude_tap",
    "lhar",
    "ctxmon_log",
    "codex_exec",
    "litellm",
    "new_api",
    "openrouter",
    "langfuse",
    "helicone",
    "otel",
    "bedrock",
    "cloudflare",
    "portkey",
    "magpie",
    "api_log",
    "columns",
)
#: readers asked first; a certain answer of theirs ends the search (most files on a machine are theirs)
COMMON = ("claude_code", "codex", "pi")
CERTAIN = 0.9


@cache
def module_readers(name: str) -> tuple[Reader, ...]:
    """The readers of one module."""
    try:
        module = importlib.import_module(f"monitor.readers.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"monitor.readers.{name}":
            raise
        return ()
    many = getattr(module, "READERS", None)
    return tuple(many) if many is not None else (module.READER,)


@cache
def all_readers() -> tuple[Reader, ...]:
    """Every reader, in the order they are asked."""
    return tuple(reader for name in MODULES for reader in module_readers(name))


def choose(head: Head, source: str | None = None) -> tuple[Reader | None, float]:
    """The reader that is surest of a file's beginning, and how sure it is (0 to 1).

    Args:
        head: the decompressed beginning of the file.
        source: only readers of this source are asked; the surest of them is taken even when it is not sure at all.
    """
    if source is not None:
        found = [reader for reader in all_readers() if reader.source == source]
        scored = [(reader.sniff(head), reader) for reader in found]
        if not scored:
            return None, 0.0
        score, reader = max(scored, key=lambda pair: pair[0])
        return reader, score
    best: Reader | None = None
    best_score = 0.0
    if head.data[:1] in b"{[\xef \t\r\n\x00":
        # the agents' own logs are JSON lines; asked first, because most files on a machine are theirs
        for name in COMMON:
            for reader in module_readers(name):
                score = reader.sniff(head)
                if score >= CERTAIN:
                    return reader, score
                if score > best_score:
                    best, best_score = reader, score
    for reader in all_readers():
        score = reader.sniff(head)
        if score > best_score:
            best, best_score = reader, score
    return best, best_score


def sources() -> tuple[str, ...]:
    """All values of ``--source``."""
    return tuple(dict.fromkeys(reader.source for reader in all_readers()))


__all__ = ["all_readers", "choose", "module_readers", "sources"]
