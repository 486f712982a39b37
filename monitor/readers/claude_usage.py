"""Figures of Claude Code's answers: tokens, ways of being served, passes inside a call. See :mod:`.claude_code`."""

from __future__ import annotations

from typing import Any

from monitor.readers import usage
from monitor.readers.claude_lines import Message, Usage
from monitor.readers.lines import later
from monitor.readers.service_tier import joined


def tokens(found: Usage, output: int | None) -> usage.Tokens:
    """Tokens of an answer; figures that are all zero come from a gateway that does not report: unknown."""
    fresh, read, write = found.input_tokens, found.cache_read_input_tokens, written(found)
    hour = thinking = None
    if found.cache_creation is not None:
        hour = found.cache_creation.ephemeral_1h_input_tokens
        if hour is not None and write is not None and hour > write:
            hour = write
    if found.output_tokens_details is not None:
        thinking = found.output_tokens_details.thinking_tokens
    if not (fresh or read or write):
        return usage.Tokens(output=output or None, reasoning=thinking or None, rule="unreported")
    passes = _passes(found)
    if not passes:
        return usage.additive(fresh, read, write, output, write_1h=hour, reasoning=thinking, rule="anthropic")
    return usage.anthropic(fresh, read, write, output, write_1h=hour, reasoning=thinking, iterations=passes)


def written(found: Usage) -> int | None:
    """Tokens written to the cache, see :func:`usage.written`."""
    whole, split = found.cache_creation_input_tokens, found.cache_creation
    if whole or split is None:
        return whole
    return usage.written(whole, split.ephemeral_5m_input_tokens, split.ephemeral_1h_input_tokens)


def empty(message: Message) -> bool:
    """Whether a message states no tokens at all: text that the client itself put there."""
    found = message.usage
    return found is None or not (
        found.input_tokens or found.cache_read_input_tokens or written(found) or found.output_tokens
    )


def service_tier(found: Usage) -> str | None:
    """How it was served, where that has a price of its own."""
    return joined(found.service_tier, found.speed, found.inference_geo)


def compaction_pass(found: Usage | None) -> dict[str, Any] | None:
    """The compaction pass inside a call (server-side compaction), if there was one."""
    if found is None:
        return None
    return next((item for item in _passes(found) if item.get("type") == "compaction"), None)


def _passes(found: Usage) -> list[dict[str, Any]]:
    """Passes inside a call; none where there is only one, or where they cannot be read."""
    decoded = later(found.iterations) if len(found.iterations) > 4 else None
    return [item for item in decoded if isinstance(item, dict)] if isinstance(decoded, list) else []
