"""Formats that are no provider's request (opencode, data exports): pairs, emptiness and images on the neutral view.

The codes are those of the Chat rules, as an export has none of its own.
"""

from __future__ import annotations

from monitor.conversation.model import Conversation
from monitor.conversation.rules.base import Findings, any_format
from monitor.conversation.units import pair_results


def check(conv: Conversation, out: Findings) -> None:
    """Judge the messages whatever their shape."""
    if not conv.messages:
        out.add("empty-conversation", "messages", "no messages")
        return
    pairs, unanswered = pair_results(conv.messages)
    for i, m in enumerate(conv.messages):
        any_format(m.raw, m.where, out)
        lost = len(m.results) - len(pairs.get(i, []))
        if lost > 0:
            out.add("C1-orphan-result", m.where, f"{lost} tool result(s) whose call is not in the conversation")
        elif any(at > i for at in pairs.get(i, [])):
            out.add("C1-result-displaced", m.where, "tool result stands before its call")
        if m.role in ("user", "assistant") and not m.parts:
            out.add("C4-empty-content", m.where, f"empty {m.role} message")
    for i, cid in sorted(unanswered):
        last = i == len(conv.messages) - 1
        code = "C2-open-call" if last else "C2-unanswered-call"
        out.add(code, conv.messages[i].where, f"call {cid} has no result")
    if not any(m.role == "user" for m in conv.messages):
        out.add("no-user-message", "messages", "no user message at all")
