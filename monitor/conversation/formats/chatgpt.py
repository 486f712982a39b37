"""ChatGPT data export: conversations.json, a tree of messages per conversation.

The model sees the path of ``current_node``. Tool calls have no ids there: an assistant message addressed to a tool
(``recipient``) is the call, the next message of that tool its result.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from monitor.conversation.formats.base import Document, Format
from monitor.conversation.formats.session import new_id
from monitor.conversation.marks import looks_like_summary
from monitor.conversation.model import (
    CompactionOptions,
    Conversation,
    ConversationError,
    Image,
    Message,
    Other,
    Part,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from monitor.conversation.units import number_exchanges

_HIDDEN = ("user_editable_context", "model_editable_context")


def load_one(form: Format, doc: Document, holds: tuple[str, type], time_key: str, vendor: str) -> Conversation:
    """One conversation of a vendor's export: the one asked for, else the one changed last.

    Args:
        holds: the key that makes an object a conversation, and the type of its value.
    """
    items = [c for c in (doc.json if isinstance(doc.json, list) else [doc.json]) if isinstance(c, dict)]
    items = [c for c in items if isinstance(c.get(holds[0]), holds[1])]
    if not items:
        raise ConversationError(f"holds no {vendor} conversation", doc.path)
    at, notes = _pick(doc, items, time_key)
    return msgspec.structs.replace(
        form.load_body(items[at], doc.path),
        size=len(doc.data),
        bare=isinstance(doc.json, list),
        source_bytes=doc.data,
        notes=notes,
        calls_in_file=len(items),
        call_index=at,
    )


def _pick(doc: Document, items: list[Any], time_key: str) -> tuple[int, tuple[str, ...]]:
    if doc.call is not None:
        if not 0 <= doc.call < len(items):
            raise ConversationError(f"holds {len(items)} conversations; there is no number {doc.call}", doc.path)
        at = doc.call
    else:
        at = max(range(len(items)), key=lambda i: (str(items[i].get(time_key) or "").zfill(20), i))
    if len(items) == 1:
        return at, ()
    return at, (f"conversation {at} taken of {len(items)} (counted from 0); --call N takes another",)


class ChatGPT(Format):
    """``Message.raw`` is the node of the tree."""

    name = "chatgpt-export"
    provider = "neutral"

    def sniff(self, doc: Document) -> float:
        items = doc.json if isinstance(doc.json, list) else [doc.json]
        first = items[0] if items else None
        return 0.95 if isinstance(first, dict) and isinstance(first.get("mapping"), dict) else 0.0

    def load(self, doc: Document) -> Conversation:
        return load_one(self, doc, ("mapping", dict), "update_time", "ChatGPT")

    def load_body(self, body: Any, path: str = "") -> Conversation:
        messages = number_exchanges(self._path(body))
        seen = tuple(msgspec.structs.replace(m, index=i) for i, m in enumerate(messages))
        ident = body.get("conversation_id") or body.get("id")
        model = body.get("default_model_slug")
        return Conversation(
            format=self.name,
            provider=self.provider,
            handler=self,
            path=path,
            body=body,
            messages=seen,
            original=seen,
            model=model if isinstance(model, str) else None,
            session=ident if isinstance(ident, str) else None,
        )

    def _path(self, body: dict[str, Any]) -> list[Message]:
        mapping = body["mapping"]
        path: list[str] = []
        at = body.get("current_node")
        if at not in mapping:  # no current node: the newest leaf
            leaves = [k for k, n in mapping.items() if isinstance(n, dict) and not n.get("children")]
            at = leaves[-1] if leaves else None
        while isinstance(at, str) and at in mapping and at not in path:
            path.append(at)
            at = mapping[at].get("parent") if isinstance(mapping[at], dict) else None
        out: list[Message] = []
        waiting: list[ToolCall] = []
        for key in reversed(path):
            if not isinstance(mapping[key].get("message"), dict):
                continue
            m = msgspec.structs.replace(self.parse(mapping[key]), where=f"node {key}")
            if m.role == "assistant":
                waiting = [*waiting, *m.calls]
            elif m.results:
                name = m.results[0].name
                call = next((c for c in reversed(waiting) if c.name.split(".")[0] == name.split(".")[0]), None)
                call = call or (waiting[-1] if waiting else None)
                if call is None:  # browsing and files push text without a recorded call
                    m = msgspec.structs.replace(
                        m, parts=(Other("tool", m.results[0].text, m.results[0].path),), synthetic=True
                    )
                else:
                    m = msgspec.structs.replace(m, parts=(msgspec.structs.replace(m.results[0], call_id=call.id),))
            elif m.role == "user":
                waiting = []
            out.append(m)
        return out

    def parse(self, item: Any) -> Message:
        message = item["message"]
        author = message.get("author")
        author = author if isinstance(author, dict) else {}
        role = author.get("role")
        content = message.get("content")
        content = content if isinstance(content, dict) else {}
        parts = _content(content)
        time = message.get("create_time")
        time = time if isinstance(time, int | float) else None
        text = "\n".join(p.text for p in parts if isinstance(p, Text))
        base = ("message", "content")
        if role == "tool":
            result = ToolResult("", text or _said(parts), False, sum(isinstance(p, Image) for p in parts),
                                str(author.get("name") or ""), "tool", base)  # fmt: skip
            return Message("tool", (result,), item, time=time)
        if role == "assistant":
            to = message.get("recipient") or "all"
            if to != "all":
                call = ToolCall(str(item.get("id") or message.get("id") or ""), str(to), text, "recipient", base)
                return Message("assistant", (call,), item, time=time)
            return Message("assistant", tuple(parts), item, time=time)
        if role == "system":
            return Message("system", tuple(parts), item, time=time)
        metadata = message.get("metadata")
        hidden = isinstance(metadata, dict) and metadata.get("is_visually_hidden_from_conversation")
        made_up = bool(hidden) or content.get("content_type") in _HIDDEN
        return Message("user", tuple(parts), item, is_summary=looks_like_summary(text), synthetic=made_up, time=time)

    # ---------------------------------------------------------------- out
    def write_part(self, block: Any, old: Part, new: Part) -> Any:
        if isinstance(block, dict) and "content_type" in block and isinstance(new, ToolCall | ToolResult):
            text = new.text if isinstance(new, ToolResult) else new.arguments_text
            key = "text" if isinstance(block.get("text"), str) else "parts"
            return {**block, key: text if key == "text" else [text]}
        return super().write_part(block, old, new)

    def make(self, role: Role, text: str) -> dict[str, Any]:
        return {
            "message": {
                "author": {"role": role},
                "content": {"content_type": "text", "parts": [text]},
                "status": "finished_successfully",
                "recipient": "all",
                "metadata": {},
            }
        }

    def new_results(self, conv: Conversation, calls: Sequence[ToolCall], text: str) -> list[Message]:
        out = []
        for call in calls:
            raw = self.make("tool", text)
            raw["message"]["author"] = {"role": "tool", "name": call.name}
            m = self.parse(raw)
            out.append(msgspec.structs.replace(m, parts=(msgspec.structs.replace(m.results[0], call_id=call.id),)))
        return out

    def parse_list(self, items: list[Any], key: str) -> list[Message]:
        return [msgspec.structs.replace(self.parse(item), index=i) for i, item in enumerate(items)]

    def body(self, conv: Conversation) -> Any:
        """The tree as one path of the present messages, in the order given."""
        nodes: list[dict[str, Any]] = []
        root = next(
            (n for n in conv.body["mapping"].values() if isinstance(n, dict) and n.get("message") is None), None
        )
        if root is not None:
            nodes.append(dict(root))
        for i, m in enumerate(conv.messages):
            node = dict(m.raw)
            ident = node.get("id") or new_id("node", conv.session, i, m.text)
            node["id"] = ident
            if not node["message"].get("id"):
                node["message"] = {"id": ident, **node["message"]}
            nodes.append(node)
        for i, node in enumerate(nodes):
            node["parent"] = nodes[i - 1]["id"] if i else None
            node["children"] = [nodes[i + 1]["id"]] if i + 1 < len(nodes) else []
        tree = {**conv.body, "mapping": {n["id"]: n for n in nodes}}
        if nodes:
            tree["current_node"] = nodes[-1]["id"]
        return [tree] if conv.bare else tree

    def compacted(
        self, conv: Conversation, summary: str, kept: Sequence[Message], options: CompactionOptions
    ) -> Conversation:
        return super().compacted(conv, summary, kept, options)


def _content(content: dict[str, Any]) -> list[Part]:
    kind = str(content.get("content_type") or "text")
    base = ("message", "content")
    if kind in ("thoughts", "reasoning_recap"):
        thoughts = content.get("thoughts")
        said = [str(t.get("content") or t.get("summary") or "") for t in thoughts] if isinstance(thoughts, list) else []
        return [Thinking("\n".join(said) or str(content.get("content") or ""), False, False, base)]
    if isinstance(content.get("text"), str):
        return [Text(content["text"], (*base, "text"))] if content["text"] else []
    out: list[Part] = []
    parts = content.get("parts")
    for k, part in enumerate(parts if isinstance(parts, list) else []):
        path = (*base, "parts", k)
        if isinstance(part, str):
            if part:
                out.append(Text(part, path))
        elif isinstance(part, dict) and part.get("content_type") == "image_asset_pointer":
            out.append(Image("image", None, path))
        elif isinstance(part, dict):
            out.append(Other(str(part.get("content_type") or "part"), str(part.get("text") or ""), path))
    if not out and kind in _HIDDEN:
        said = [str(v) for k, v in content.items() if k != "content_type" and isinstance(v, str) and v]
        out.append(Other(kind, "\n".join(said), base))
    return out


def _said(parts: Sequence[Part]) -> str:
    return "\n".join(p.text for p in parts if isinstance(p, Other | Thinking) and p.text)


CHATGPT = ChatGPT()
