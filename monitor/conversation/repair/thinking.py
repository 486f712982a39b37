"""Thinking, reasoning items and thought signatures: sent whole and signed, or not at all."""

from __future__ import annotations

from monitor.conversation.model import Message, Opaque, Thinking
from monitor.conversation.repair.base import Sheet
from monitor.conversation.rules.gemini import current_turn, needs_signature

#: Documented stand-in for a thoughtSignature that was lost (Gemini API, thought signatures).
SIGNATURE = "skip_thought_signature_validator"


def fix_thinking(sheet: Sheet) -> None:
    """Thinking that cannot be sent goes, always all of a message; reasoning items go whole."""
    provider = sheet.conv.provider
    if sheet.broken("A5-thinking-unsigned", "A5-thinking-not-first", "A5-thinking-role"):
        bad_groups = {m.group for m in sheet.conv.messages if m.group and _bad_thinking(m, provider)}

        def strip(m: Message) -> Message | None:
            if not m.has_thinking or not (_bad_thinking(m, provider) or m.group in bad_groups):
                return m
            sheet.say(f"{m.where}: thinking without a valid signature or place removed")
            new = sheet.conv.edit(m, {k: None for k, p in enumerate(m.parts) if isinstance(p, Thinking)})
            return new if new.parts else None

        sheet.each(strip)
    if sheet.broken("A5-thinking-missing"):
        sheet.conv = sheet.conv.with_body({"thinking": {"type": "disabled"}})
        sheet.say("request: thinking switched off, as the open tool turn has none")
    if sheet.broken("R3-reasoning-dangling", "R4-reasoning-not-encrypted"):
        _reasoning(sheet)
    if sheet.broken("G5-thought-signature") and needs_signature(sheet.conv.model):
        _signatures(sheet)


def _bad_thinking(m: Message, provider: str) -> bool:
    thinking = [k for k, p in enumerate(m.parts) if isinstance(p, Thinking)]
    if not thinking:
        return False
    unsigned = any(isinstance(p, Thinking) and not p.opaque and not p.signed for p in m.parts)
    late = provider == "anthropic" and any(not isinstance(p, Thinking | Opaque) for p in m.parts[: thinking[-1]])
    return unsigned or late or m.role != "assistant"


def _reasoning(sheet: Sheet) -> None:
    store = sheet.conv.body.get("store") if isinstance(sheet.conv.body, dict) else None
    sealed_only = store is False or sheet.conv.handler.jsonl
    out: list[Message] = []
    dropped = False
    messages = sheet.conv.messages
    for i, m in enumerate(messages):
        if m.raw.get("type") == "reasoning":
            follows = next((x for x in messages[i + 1 :] if x.raw.get("type") != "reasoning"), None)
            loose = follows is None or follows.role != "assistant" or follows.opaque
            if loose or (sealed_only and not m.raw.get("encrypted_content")):
                sheet.say(f"{m.where}: reasoning item removed")
                dropped = not loose
                continue
        elif (
            dropped
            and m.role == "assistant"
            and isinstance(m.raw.get("id"), str)
            and m.raw.get("call_id") != m.raw["id"]
        ):
            m = sheet.reparse(m, {k: v for k, v in m.raw.items() if k != "id"})  # its id hangs on the reasoning
            dropped = False
        else:
            dropped = False
        out.append(m)
    sheet.put(out)


def _signatures(sheet: Sheet) -> None:
    spoke = current_turn([m.raw for m in sheet.conv.messages])

    def change(m: Message) -> Message:
        parts = m.raw.get("parts")
        if m.index <= spoke or not m.calls or not isinstance(parts, list):
            return m
        k = next(k for k, p in enumerate(parts) if isinstance(p, dict) and "functionCall" in p)
        if parts[k].get("thoughtSignature"):
            return m
        sheet.say(f"{m.where}: documented stand-in put for the lost thoughtSignature")
        new = [*parts[:k], {**parts[k], "thoughtSignature": SIGNATURE}, *parts[k + 1 :]]
        return sheet.reparse(m, {**m.raw, "parts": new})

    sheet.each(change)
