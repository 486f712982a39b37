"""opencode: the JSON of ``opencode export`` ({info, messages: [{info, parts}]}).

A tool part holds call and result in one. After a compaction (a user message with a ``compaction`` part, then an
assistant message with ``summary``) the model sees the summary, the messages from ``tail_start_id`` on, and what
follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from monitor.conversation.formats.base import Document, Format
from monitor.conversation.marks import looks_like_summary, looks_synthetic
from monitor.conversation.model import (
    CompactionOptions,
    Conversation,
    Image,
    Message,
    Opaque,
    Other,
    Part,
    Path,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from monitor.conversation.units import number_exchanges

_BOOKKEEPING = ("step-start", "step-finish", "snapshot", "patch")


class Opencode(Format):
    """Messages of ``info`` and ``parts``."""

    name = "opencode"
    provider = "neutral"

    def sniff(self, doc: Document) -> float:
        body = doc.json
        messages = body.get("messages") if isinstance(body, dict) else None
        if not isinstance(messages, list) or not messages:
            return 0.0
        first = messages[0]
        shaped = (
            isinstance(first, dict) and isinstance(first.get("info"), dict) and isinstance(first.get("parts"), list)
        )
        return 0.95 if shaped else 0.0

    def load_body(self, body: Any, path: str = "") -> Conversation:
        conv = super().load_body(body, path)
        info = body.get("info") if isinstance(body, dict) else None
        info = info if isinstance(info, dict) else {}
        seen = [msgspec.structs.replace(m, index=i) for i, m in enumerate(_visible(conv.messages))]
        model = next((_model(m) for m in reversed(conv.messages) if m.role == "assistant" and _model(m)), None)
        session = info.get("id")
        return msgspec.structs.replace(
            conv,
            messages=tuple(seen),
            original=tuple(seen),
            model=model,
            session=session if isinstance(session, str) else None,
        )

    def parse(self, item: Any) -> Message:
        info = item.get("info") if isinstance(item, dict) else None
        if not isinstance(info, dict):
            return Message("user", (), item, synthetic=True)
        parts: list[Part] = []
        marks: set[str] = set()
        raw_parts = item.get("parts")
        for k, part in enumerate(raw_parts if isinstance(raw_parts, list) else []):
            if isinstance(part, dict) and part.get("type") not in _BOOKKEEPING:
                parts += _parts(part, ("parts", k))
                marks.add("synthetic" if part.get("synthetic") else str(part.get("type")))
        role: Role = "assistant" if info.get("role") == "assistant" else "user"
        text = "\n".join(p.text for p in parts if isinstance(p, Text))
        made_up = marks == {"synthetic"} or "compaction" in marks or looks_synthetic(text)
        summary = info.get("summary") is True or (role == "user" and looks_like_summary(text))
        time = info.get("time")
        created = time.get("created") if isinstance(time, dict) else None
        return Message(
            role,
            tuple(parts),
            item,
            is_summary=summary,
            synthetic=role == "user" and made_up,
            mark="boundary" if "compaction" in marks else "",
            time=created if isinstance(created, int | float) else None,
        )

    def history(self, conv: Conversation) -> tuple[Message, ...]:
        if conv.changed:
            return conv.messages
        return tuple(number_exchanges(self.parse_list(conv.body["messages"], "messages")))

    # ---------------------------------------------------------------- out
    def write_part(self, block: Any, old: Part, new: Part) -> Any:
        if isinstance(old, ToolCall) and isinstance(new, ToolCall):
            state = {**block.get("state", {}), "input": new.raw_arguments}
            return {**block, "callID": new.id, "tool": new.name, "state": state}
        if isinstance(old, ToolResult) and isinstance(new, ToolResult):
            state = dict(block.get("state") or {})
            key = "error" if state.get("status") == "error" and "output" not in state else "output"
            state[key] = new.text
            if not new.images:
                state.pop("attachments", None)
            return {**block, "state": state}
        if isinstance(old, Image) and isinstance(new, Text):
            return {k: v for k, v in block.items() if k in ("id", "sessionID", "messageID")} | {
                "type": "text",
                "text": new.text,
            }
        return super().write_part(block, old, new)

    def answer(self, message: Message, text: str) -> Message:
        """``message`` with its unfinished tool calls ended by an error ``text``."""
        parts = []
        for part in message.raw.get("parts") or []:
            state = part.get("state") if isinstance(part, dict) else None
            if isinstance(state, dict) and state.get("status") not in ("completed", "error"):
                kept = {k: v for k, v in state.items() if k in ("input", "metadata", "time", "title")}
                part = {**part, "state": {**kept, "status": "error", "error": text}}
            parts.append(part)
        view = self.parse({**message.raw, "parts": parts})
        return msgspec.structs.replace(
            view, where=message.where, index=message.index, exchange=message.exchange, is_summary=message.is_summary
        )

    def make(self, role: Role, text: str) -> dict[str, Any]:
        return {"info": {"role": role}, "parts": [{"type": "text", "text": text}]}

    def new_message(self, conv: Conversation, role: Role, text: str, *, summary: bool = False) -> Message:
        like = next((m.raw for m in reversed(conv.original) if m.raw["info"].get("role") == role), None)
        ident = f"msg_ctxmon{len(conv.messages):04d}"
        raw = _like(like, role, ident, [{"type": "text", "text": text}])
        message = self.parse(raw)
        return msgspec.structs.replace(message, is_summary=summary or message.is_summary)

    def new_results(self, conv: Conversation, calls: Sequence[ToolCall], text: str) -> list[Message]:
        return []

    def compacted(
        self, conv: Conversation, summary: str, kept: Sequence[Message], options: CompactionOptions
    ) -> Conversation:
        """A user message with a ``compaction`` part, the assistant message with the summary, then ``kept``.

        opencode orders messages by id: both take the ids of the folded messages they stand for.
        """
        kept_ids = {id(m) for m in kept}
        folded = [m.raw for m in conv.messages if id(m) not in kept_ids]
        user = next((r for r in folded if r["info"].get("role") == "user"), None)
        answer = next((r for r in reversed(folded) if r["info"].get("role") == "assistant"), None)
        first = str(user["info"].get("id")) if user else "msg_ctxmon0000"
        second = str(answer["info"].get("id")) if answer else first + "1"
        if second <= first:
            second = first + "1"
        boundary = _like(user, "user", first, [{"type": "compaction", "auto": options.trigger == "auto"}])
        told = _like(answer, "assistant", second, [{"type": "text", "text": summary}])
        told["info"] |= {"parentID": first, "summary": True, "mode": "compaction", "agent": "compaction"}
        made = [self.parse(boundary), self.parse(told)]
        return conv.with_messages([*made, *(m for m in kept if m.mark != "boundary")])


def _like(old: dict[str, Any] | None, role: str, ident: str, parts: list[dict[str, Any]]) -> dict[str, Any]:
    """A message record with the settings of another one, without its figures."""
    keep = ("sessionID", "role", "time", "agent", "mode", "model", "modelID", "providerID", "path", "parentID")
    info = {k: v for k, v in ((old or {}).get("info") or {}).items() if k in keep} | {"id": ident, "role": role}
    if role == "assistant":
        tokens = {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}}
        info |= {"cost": 0, "tokens": tokens, "finish": "stop"}
    session = {"sessionID": info["sessionID"]} if "sessionID" in info else {}
    tail = ident.removeprefix("msg_")
    return {
        "info": info,
        "parts": [{"id": f"prt_{tail}{k}", **session, "messageID": ident, **p} for k, p in enumerate(parts)],
    }


def _parts(part: dict[str, Any], path: Path) -> list[Part]:
    kind = part.get("type")
    text = part.get("text")
    text = text if isinstance(text, str) else ""
    if kind == "text":
        return [Other("ignored", text, path)] if part.get("ignored") else [Text(text, path)]
    if kind == "reasoning":
        return [Thinking(text, False, False, path)]
    if kind == "file":
        mime = str(part.get("mime") or "")
        url = str(part.get("url") or "")
        if mime.startswith("image/"):
            return [Image(mime, len(url) if url.startswith("data:") else None, path)]
        return [Other("file", "", path)]
    if kind == "compaction":
        return [Opaque("marker", "", path)]
    if kind != "tool":
        return [Other(str(kind), text, path)]
    state = part.get("state")
    state = state if isinstance(state, dict) else {}
    ident = str(part.get("callID") or part.get("id") or "")
    out: list[Part] = [ToolCall(ident, str(part.get("tool") or ""), state.get("input"), "tool", path)]
    if state.get("status") in ("completed", "error"):
        failed = state["status"] == "error"
        said = state.get("output") if isinstance(state.get("output"), str) else state.get("error")
        attachments = state.get("attachments")
        images = sum(
            str(a.get("mime")).startswith("image/")
            for a in (attachments if isinstance(attachments, list) else [])
            if isinstance(a, dict)
        )
        out.append(ToolResult(ident, str(said or ""), failed, images, str(part.get("tool") or ""), "tool", path))
    return out


def _model(message: Message) -> str | None:
    model = message.raw["info"].get("modelID")
    return model if isinstance(model, str) else None


def _visible(messages: Sequence[Message]) -> list[Message]:
    """What the model sees: everything, or the newest finished compaction, its tail, and what follows."""
    for at in range(len(messages) - 1, -1, -1):
        m = messages[at]
        if m.mark != "boundary" or at + 1 >= len(messages) or not messages[at + 1].is_summary:
            continue
        tail = next((p.get("tail_start_id") for p in m.raw["parts"] if p.get("type") == "compaction"), None)
        ids = [x.raw["info"].get("id") for x in messages[:at]]
        start = ids.index(tail) if tail in ids else at
        return [m, messages[at + 1], *messages[start:at], *messages[at + 2 :]]
    return list(messages)


OPENCODE = Opencode()
