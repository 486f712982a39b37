"""Cline and Roo: api_conversation_history.json (Anthropic messages with ``ts``), and Cline's newer session store.

Roo keeps condensed and truncated messages in the file and tags them (``condenseParent``, ``truncationParent``); the
model does not see those whose summary is still there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from monitor.conversation.formats.anthropic import Anthropic, parse_message
from monitor.conversation.formats.base import Document
from monitor.conversation.jsonio import ident
from monitor.conversation.model import CompactionOptions, Conversation, Message, Text, ToolCall
from monitor.conversation.units import number_exchanges

_TOOL_TEXT = re.compile(r"^\[[a-z_]+(?: for [^\]]*)?\] Result:")
_ENVIRONMENT = re.compile(r"^\s*<environment_details>.*?</environment_details>\s*$", re.S)
_HIDING = ("condenseParent", "truncationParent")


class Cline(Anthropic):
    """Anthropic messages with the client's own keys beside them."""

    name = "cline"
    provider = "anthropic"

    def sniff(self, doc: Document) -> float:
        body = doc.json
        messages = body
        if isinstance(body, dict):
            messages = body.get("messages")
            if isinstance(messages, list) and "sessionId" in body and ("agent" in body or "version" in body):
                return 0.92
            return 0.0
        if not isinstance(messages, list):
            return 0.0
        dicts = [m for m in messages if isinstance(m, dict) and m.get("role") in ("user", "assistant")]
        if not dicts:
            return 0.0
        if all(isinstance(m.get("ts"), int | float) for m in dicts):
            return 0.92
        return 0.92 if "<environment_details>" in str(dicts[0].get("content"))[-4000:] else 0.0

    def load_body(self, body: Any, path: str = "") -> Conversation:
        conv = super().load_body(body, path)
        raws = (m.raw for m in conv.messages if isinstance(m.raw, dict))
        there = {ident(raw.get("condenseId") or raw.get("truncationId")) for raw in raws}
        seen = [m for m in conv.messages if not _hidden(m, there - {None})]
        session = body.get("sessionId") if isinstance(body, dict) else None
        if len(seen) < len(conv.messages):
            seen = [msgspec.structs.replace(m, index=i) for i, m in enumerate(number_exchanges(seen))]
            conv = msgspec.structs.replace(conv, messages=tuple(seen), original=tuple(seen))
        return msgspec.structs.replace(conv, session=session if isinstance(session, str) else None)

    def parse(self, item: Any) -> Message:
        role, parts, summary, synthetic = parse_message(item)
        if isinstance(item, dict) and role == "user":
            metadata = item.get("metadata")
            kind = metadata.get("kind") if isinstance(metadata, dict) else None
            summary = summary or bool(item.get("isSummary")) or str(kind or "").startswith("compaction")
            texts = [p.text for p in parts if isinstance(p, Text)]
            typed = [t for t in texts if not _ENVIRONMENT.match(t) and not _TOOL_TEXT.match(t)]
            synthetic = synthetic or bool(texts and not typed)
        return Message(role, parts, item, is_summary=summary, synthetic=synthetic, time=_time(item))

    def parse_system(self, body: dict[str, Any]) -> list[Message]:
        text = body.get("system_prompt")
        if isinstance(text, str) and text:
            return [Message("system", (Text(text),), text, where="system_prompt")]
        return super().parse_system(body)

    def history(self, conv: Conversation) -> tuple[Message, ...]:
        items = conv.body if conv.bare else conv.body.get("messages") or []
        return tuple(number_exchanges(self.parse_list(items, "messages"))) if not conv.changed else conv.messages

    def new_message(self, conv: Conversation, role: Any, text: str, *, summary: bool = False) -> Message:
        return self._dated(conv, super().new_message(conv, role, text, summary=summary), summary)

    def new_results(self, conv: Conversation, calls: Sequence[ToolCall], text: str) -> list[Message]:
        return [self._dated(conv, m, False) for m in super().new_results(conv, calls, text)]

    def _dated(self, conv: Conversation, message: Message, summary: bool) -> Message:
        """New messages carry the time of the last one, as all messages of the file have one."""
        last = next((m.raw["ts"] for m in reversed(conv.original) if _time(m.raw) is not None), None)
        if last is None:
            return message
        raw = {**message.raw, "ts": last}
        if isinstance(raw.get("content"), str):
            raw["content"] = [{"type": "text", "text": raw["content"]}]
        if summary:
            raw["isSummary"] = True
        view = self.parse(raw)
        return msgspec.structs.replace(view, is_summary=summary or view.is_summary)

    def compacted(
        self, conv: Conversation, summary: str, kept: Sequence[Message], options: CompactionOptions
    ) -> Conversation:
        fresh = super().compacted(conv, summary, kept, options)
        cleared = []
        for m in fresh.messages:  # what is kept must not hang on a summary that went
            if isinstance(m.raw, dict) and any(k in m.raw for k in _HIDING):
                raw = {k: v for k, v in m.raw.items() if k not in _HIDING}
                m = msgspec.structs.replace(m, raw=raw)
            cleared.append(m)
        return fresh.with_messages(cleared)


def _hidden(message: Message, there: set[Any]) -> bool:
    raw = message.raw
    return isinstance(raw, dict) and any(ident(raw.get(k)) in there for k in _HIDING if raw.get(k) is not None)


def _time(item: Any) -> int | float | None:
    ts = item.get("ts") if isinstance(item, dict) else None
    return ts if isinstance(ts, int | float) and not isinstance(ts, bool) else None


CLINE = Cline()
