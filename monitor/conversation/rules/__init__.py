"""The rules of each provider for a conversation, one file per rule set; codes as documented in docs/check.md."""

from __future__ import annotations

from monitor.conversation.model import Conversation, ConversationError
from monitor.conversation.rules.base import Entry, Findings, Violation

__all__ = ["MAX_BYTES", "PROVIDERS", "Violation", "check", "errors"]

_MIB = 1024 * 1024
#: Largest request in bytes each provider takes (their documentation); sessions: only where asked
MAX_BYTES = {"openai-chat": 50 * _MIB, "responses": 50 * _MIB, "anthropic": 32 * _MIB, "gemini": 20 * _MIB}
PROVIDERS = ("openai-chat", "anthropic", "responses", "gemini", "claude-code", "codex", "pi")


def check(
    conv: Conversation,
    provider: str | None = None,
    strict_roles: bool = False,
    bedrock: bool = False,
    max_bytes: int | None = None,
    warnings: bool = False,
) -> list[Violation]:
    """The broken rules of ``conv``, in the order of the file; with ``warnings`` also conventions.

    ``provider``: a rule set of PROVIDERS instead of the conversation's own. ``strict_roles``: user and assistant must
    take turns, as chat templates of many OpenAI-compatible servers demand. ``bedrock``: tool blocks need tool
    definitions. ``max_bytes``: size limit of the request. Raises ConversationError where the format cannot be judged
    by that provider's rules.
    """
    conv = _as(conv, provider)
    out = Findings()
    entries = [Entry(m.raw, m.where or f"message {i + 1}") for i, m in enumerate(conv.messages)]
    rules = provider or conv.provider
    body = None if conv.bare or not isinstance(conv.body, dict) else conv.body
    if rules == "openai-chat":
        from monitor.conversation.rules import chat

        chat.check(entries, out, strict_roles=strict_roles)
    elif rules == "anthropic":
        from monitor.conversation.rules import anthropic

        anthropic.check(entries, out, body=body, bedrock=bedrock)
    elif rules == "responses":
        from monitor.conversation.rules import responses

        responses.check(entries, out, body=body, name=conv.handler.list_key(conv.body))
    elif rules == "gemini":
        from monitor.conversation.rules import gemini

        gemini.check(entries, out, model=conv.model)
    elif rules == "claude-code":
        from monitor.conversation.rules import claude_code

        claude_code.check(conv, out)
    elif rules == "codex":
        from monitor.conversation.rules import codex

        codex.check(conv, out)
    elif rules == "pi":
        from monitor.conversation.rules import pi

        pi.check(conv, out)
    else:
        from monitor.conversation.rules import neutral

        neutral.check(conv, out)
    _size(conv, rules, max_bytes, out)
    return out.items if warnings else errors(out.items)


def errors(violations: list[Violation]) -> list[Violation]:
    """Only those that make the file invalid."""
    return [v for v in violations if v.level == "error"]


def _as(conv: Conversation, provider: str | None) -> Conversation:
    """The conversation read in the format of ``provider``, with the places of session lines brought up to date."""
    from monitor.conversation.formats import BY_NAME

    if provider and provider not in PROVIDERS:
        raise ConversationError(f"provider {provider!r} is not known; known are {', '.join(PROVIDERS)}", conv.path)
    if conv.handler.jsonl:
        if provider and provider != conv.provider:
            raise ConversationError(f"a {conv.format} session cannot be judged by {provider} rules", conv.path)
        if conv.changed:  # judged by what will be written
            from monitor.conversation import load

            return load(conv.handler.dump(conv), conv.format, path=conv.path)
        return conv
    if not provider or provider == conv.provider:
        return conv
    handler = BY_NAME[provider]
    body = conv.handler.body(conv)
    if handler.jsonl or not isinstance(body, dict | list):
        raise ConversationError(f"a {conv.format} file cannot be judged by {provider} rules", conv.path)
    return handler.load_body(body, conv.path)


def _size(conv: Conversation, rules: str, max_bytes: int | None, out: Findings) -> None:
    from monitor.conversation.jsonio import dumps

    if conv.handler.jsonl:
        if max_bytes is None:
            return
        size = sum(len(dumps(m.raw).encode("utf-8")) for m in conv.messages)
        if size > max_bytes:
            out.add("too-large", "file", f"context of {size} bytes, limit {max_bytes}")
        return
    limit = max_bytes or MAX_BYTES.get(rules, 50 * _MIB)
    size = conv.size if conv.size and not conv.changed else len(conv.handler.dump(conv))
    if size > limit:
        out.add("too-large", "file", f"{size} bytes, limit {limit}")
