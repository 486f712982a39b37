"""Request bodies taken out of captures: HAR files, LiteLLM's logs, request/response lines of tracing proxies.

The conversation is the body of one request, in the format of its provider; the capture around it is not written back.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from monitor.conversation.formats.anthropic import ANTHROPIC, has_anthropic_blocks
from monitor.conversation.formats.base import Document, Format
from monitor.conversation.formats.gemini import GEMINI
from monitor.conversation.formats.openai_chat import OPENAI_CHAT
from monitor.conversation.formats.responses import RESPONSES
from monitor.conversation.jsonio import dumps, loads
from monitor.conversation.model import Conversation, ConversationError

_SIDE = ("count_tokens", "countTokens", "/embeddings", "/moderations")


class Body(msgspec.Struct, frozen=True, eq=False):
    """A request body and the address it was sent to."""

    value: dict[str, Any]
    url: str = ""


class Capture(Format):
    """Base of the captures; a subclass yields the bodies of a document in order."""

    name = ""
    provider = ""

    def bodies(self, doc: Document) -> Iterator[Body]:
        """All request bodies with messages, in the order of the file."""
        raise NotImplementedError

    def load(self, doc: Document) -> Conversation:
        found = list(self.bodies(doc))
        if not found:
            raise ConversationError("holds no request body with messages", doc.path)
        at = choose(found) if doc.call is None else doc.call
        if not 0 <= at < len(found):
            raise ConversationError(f"holds {len(found)} requests; there is no number {at}", doc.path)
        body = found[at]
        conv = handler_of(body).load_body(body.value, doc.path)
        notes: tuple[str, ...] = ()
        if len(found) > 1:
            notes = (f"request {at} taken of {len(found)} (counted from 0); --call N takes another",)
        return msgspec.structs.replace(
            conv,
            size=len(dumps(body.value).encode("utf-8")),
            container=self.name,
            calls_in_file=len(found),
            call_index=at,
            notes=notes,
        )


def choose(found: list[Body]) -> int:
    """The last request of the main conversation: no token counting, not far smaller than the largest, with tools if
    others have them."""
    sizes = [len(dumps(b.value)) for b in found]
    main = [i for i, b in enumerate(found) if not any(s in b.url for s in _SIDE)] or list(range(len(found)))
    if any(found[i].value.get("tools") for i in main):
        main = [i for i in main if found[i].value.get("tools")]
    floor = max(sizes[i] for i in main) / 5
    return [i for i in main if sizes[i] >= floor][-1]


def is_body(value: Any) -> bool:
    """True for a request body with a list of messages, items or contents."""
    if not isinstance(value, dict):
        return False
    for key in ("messages", "contents", "input"):
        items = value.get(key)
        if isinstance(items, list) and items and all(isinstance(i, dict) for i in items):
            return True
    return False


def as_body(value: Any) -> dict[str, Any] | None:
    """A body from an object or from JSON text; None where it is none."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = loads(value)
        except ValueError:
            return None
    if isinstance(value, dict) and isinstance(value.get("request"), dict) and is_body(value["request"]):
        value = {**value["request"], **{k: v for k, v in value.items() if k == "model"}}  # Gemini's Code Assist
    return value if is_body(value) else None


def handler_of(body: Body) -> Format:
    """The format of a body, by its keys, else by the address it went to."""
    value = body.value
    if isinstance(value.get("contents"), list):
        return GEMINI
    if isinstance(value.get("input"), list):
        return RESPONSES
    messages = value.get("messages")
    if "/chat/completions" in body.url:
        return OPENAI_CHAT
    if "/messages" in body.url or "system" in value or has_anthropic_blocks(messages or []):
        return ANTHROPIC
    return OPENAI_CHAT
