"""Messages of request bodies as digests: what a conversation is recognised by, without its words.

Each message has two digests of 8 bytes. ``norm`` is the same wherever a client repeats the message: marks
(``cache_control``), ids, states, thinking and ``<system-reminder>`` blocks are left out, a text given as a string
equals the same text in a block; system and developer messages have none, as clients insert and edit them in mid
conversation.
``strict`` leaves out the marks only: if it changes, the provider's cache is lost from there on.

All shapes: OpenAI chat, Responses items, Anthropic, Gemini contents, Bedrock Converse, Cohere, Ollama.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

import msgspec

from monitor.readers.patterns import lazy

_encode = msgspec.json.Encoder(order="sorted").encode
_decode = msgspec.json.Decoder().decode
_MEMORY = 50_000  # messages remembered by the digest of their bytes, about 200 bytes each

_REMINDER = lazy(r"<system-reminder>.*?(?:</system-reminder>\s*|\Z)", re.DOTALL)
#: texts that clients put into user messages by themselves
_CLIENT = lazy(
    r"\s*(?:<(?:system-reminder|environment_context|environment_details|user_instructions|local-command-|command-message>"
    r"|command-name>|bash-(?:input|stdout|stderr)>|task-notification>|user-memory-input>|ide_|permissions instructions>"
    r"|turn_aborted>|INSTRUCTIONS>|session_context>)"
    r"|\[Request interrupted|Caveat: The messages below|# AGENTS\.md instructions"
    r"|System: Potential loop detected|The connection dropped mid-response\b|Continue if you have next steps, or stop"
    r"|(?:Continue from where you left off|(?:System: )?Please continue)\.\s*\Z)"
)
#: what opens a window that stands on a summary (observed with the clients; the last two are the generic forms)
_CONTINUES = lazy(
    r"This session is being continued from a previous conversation"
    r"|Another language model started to solve this problem"
    r"|The conversation history before this point was compacted"
    r"|\AWhat did we do so far\?\s*\Z"
    r"|\A\s*<state_snapshot>"
    r"|\A\s*(?:#+ *)?(?:Context |Conversation )?[Ss]ummary (?:of|from) (?:the )?(?:previous|earlier|prior|conversation)"
    r"|\A\s*<(?:conversation_|context_)?summary>"
)
_PROBE = 6000
_SKIPPED_KEYS = frozenset({"cache_control", "id", "status", "annotations", "logprobs", "index", "created_by"})
# tuples, because what they are compared with may be any JSON value
_THINKING = ("thinking", "redacted_thinking", "reasoning", "reasoning_content")
_TEXTS = ("text", "input_text", "output_text")
_RESULTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output", "computer_call_output")
_CALLS = ("function_call", "custom_tool_call", "local_shell_call", "computer_call", "mcp_call")


def digest(data: bytes) -> bytes:
    """8 bytes of BLAKE2b."""
    return blake2b(data, digest_size=8).digest()


def number(data: bytes) -> int:
    """A digest as a non-negative number that fits a signed 64-bit integer."""
    return int.from_bytes(digest(data), "big") >> 1


class Item(msgspec.Struct, frozen=True, gc=False):
    """What is kept of one message."""

    norm: bytes  # b"" if it is no part of the chain
    strict: bytes
    role: str  # user, assistant, tool, system, compaction
    typed: bool = False  # a person wrote it
    continues: bool = False  # it says that a summary stands for what was before
    said: bytes = b""  # what the person wrote: clients put it beside other blocks when they send it again


class Messages:
    """Digests of messages; a message seen before is known by the digest of its bytes, without decoding it."""

    def __init__(self) -> None:
        self._known: dict[bytes, Item] = {}

    def of(self, raw: bytes | msgspec.Raw) -> Item:
        """The item of one message given as JSON bytes."""
        key = blake2b(raw, digest_size=16).digest()
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= _MEMORY:
                self._known.clear()
            try:
                found = item(_decode(raw))
            except (msgspec.MsgspecError, RecursionError, ValueError):
                found = Item(key[:8], key[:8], "user")
            self._known[key] = found
        return found


def rolling(items: list[Item]) -> tuple[bytes, bytes]:
    """Rolling prefix digests and single digests of the messages that count, 8 bytes each, in order."""
    last = b""
    chained, single = bytearray(), bytearray()
    for one in items:
        if one.norm:
            last = digest(last + one.norm)
            chained += last
            single += one.norm
    return bytes(chained), bytes(single)


def item(message: Any) -> Item:
    """What is kept of a decoded message or input item."""
    if isinstance(message, str):
        message = {"role": "user", "content": message}
    if not isinstance(message, dict):
        data = digest(_safe(message))
        return Item(data, data, "user")
    strict = digest(_safe(_unmarked(message)))
    role, kind = message.get("role"), message.get("type")
    if role in ("system", "developer"):
        return Item(b"", strict, "system")
    if kind in _THINKING:
        return Item(b"", strict, "assistant")
    if kind in ("compaction", "context_compaction"):
        return Item(digest(_safe(message.get("encrypted_content") or message.get("content"))), strict, "compaction")
    if kind in _RESULTS:
        return Item(digest(_safe(["r", _plain(message.get("output"))])), strict, "tool")
    if kind in _CALLS or role in ("assistant", "model"):
        norm = answer_digest(*_answer(message))
        held = any(isinstance(b, dict) and b.get("type") == "compaction" for b in blocks(message))
        return Item(norm, strict, "compaction" if held else "assistant")
    if role in ("tool", "function", "ipython"):
        return Item(digest(_safe(["r", _plain(message.get("content") or message.get("parts"))])), strict, "tool")
    if role not in ("user", None) and kind is None:
        return Item(digest(_safe(_plain(message))), strict, "user")
    if role is None and kind is not None and kind != "message":
        return Item(digest(_safe(_plain(message))), strict, "assistant")
    return _user(message, strict)


def _user(message: dict[str, Any], strict: bytes) -> Item:
    kept: list[Any] = []
    words: list[Any] = []
    results = continues = False
    for block in blocks(message):
        text = text_of(block)
        if text is not None:
            head = text[:_PROBE]
            made_up = _CONTINUES.search(head) is not None
            continues = continues or made_up
            made_up = made_up or _CLIENT.match(head) is not None
            text = _REMINDER.sub("", text).strip() if "<system-reminder>" in text else text.strip()
            if text:
                kept.append(["t", text])
                if not made_up:
                    words.append(text)
        elif isinstance(block, dict):
            if result := _result(block):
                results = True
                kept.append(["r", _plain(result[0])])
            elif "cachePoint" not in block:
                kept.append(_plain(block))
                if block.get("type") in ("image", "input_image", "image_url"):
                    words.append(kept[-1])
        else:
            kept.append(block)
    if not kept:
        return Item(b"", strict, "user", False, continues)
    role = "tool" if results and not words else "user"
    typed = bool(words) and not continues
    return Item(digest(_safe(["u", kept])), strict, role, typed, continues, digest(_safe(words)) if typed else b"")


def _result(block: dict[str, Any]) -> list[Any]:
    """A tool result inside a user message, as a list of one; empty if the block is none."""
    if block.get("type") == "tool_result":
        return [block.get("content")]
    for key in ("toolResult", "functionResponse"):
        if isinstance(inner := block.get(key), dict):
            return [inner.get("content") or inner.get("response")]
    return []


def blocks(message: dict[str, Any]) -> list[Any]:
    """Content of a message as a list of blocks; a string is one text block."""
    content = message.get("content")
    if content is None:
        content = message.get("parts")
    if content is None:
        return []
    return content if isinstance(content, list) else [content]


def text_of(block: Any) -> str | None:
    """Text of a content block, or None if it is another kind of block."""
    if isinstance(block, str):
        return block
    if not isinstance(block, dict) or block.get("type", "text") not in _TEXTS or block.get("thought"):
        return None
    text = block.get("text")
    return text if isinstance(text, str) else None


def _answer(message: dict[str, Any]) -> tuple[str, list[tuple[str, Any]]]:
    """Visible text and tool calls of an assistant message or a call item."""
    if message.get("type") in _CALLS:
        arguments = next((message[k] for k in ("arguments", "input", "action") if k in message), None)
        return "", [(str(message.get("name") or message["type"]), arguments)]
    texts: list[str] = []
    calls: list[tuple[str, Any]] = []
    for block in blocks(message):
        if (text := text_of(block)) is not None:
            texts.append(text)
        elif isinstance(block, dict):
            if block.get("type") in ("tool_use", "server_tool_use"):
                calls.append((str(block.get("name")), block.get("input")))
            elif block.get("type") == "compaction":
                texts.append(str(block.get("content")))
            else:
                for key in ("toolUse", "functionCall"):
                    if isinstance(inner := block.get(key), dict):
                        calls.append((str(inner.get("name")), inner.get("input", inner.get("args"))))
    listed = message.get("tool_calls")
    for call in listed if isinstance(listed, list) else ():
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict):
            calls.append((str(function.get("name")), function.get("arguments")))
    return "".join(texts), calls


def answer_digest(text: str, calls: list[tuple[str, Any]]) -> bytes:
    """Digest of an answer: the same from a stream and from the later request that repeats it; b"" if it is empty."""
    text = text.strip()
    if not text and not calls:
        return b""
    return digest(_safe(["a", text, [[name, _arguments(value)] for name, value in calls]]))


def _arguments(value: Any) -> Any:
    if isinstance(value, str):
        try:
            value = _decode(value or "{}")
        except (msgspec.MsgspecError, RecursionError, UnicodeError):
            return value
    return value if value not in (None, "") else {}


def _plain(value: Any, depth: int = 0) -> Any:
    """A value without marks, ids, states and reminders; a text equals the same text as the only block."""
    if isinstance(value, str):
        return _REMINDER.sub("", value).strip() if "<system-reminder>" in value else value.strip()
    if depth > 40:
        return None
    if isinstance(value, dict):
        text = text_of(value)
        if text is not None:
            return _plain(text, depth)
        return {k: _plain(v, depth + 1) for k, v in value.items() if v is not None and k not in _SKIPPED_KEYS}
    if isinstance(value, list):
        parts = [_plain(one, depth + 1) for one in value]
        return parts[0] if len(parts) == 1 and isinstance(parts[0], str) else parts
    return value


def _unmarked(value: Any, depth: int = 0) -> Any:
    """A value without ``cache_control``, with texts in one form."""
    if depth > 40:
        return None
    if isinstance(value, dict):
        if isinstance(content := value.get("content"), str):
            value = {**value, "content": [{"type": "text", "text": content}]}
        return {k: _unmarked(v, depth + 1) for k, v in value.items() if k not in ("cache_control", "cachePoint")}
    if isinstance(value, list):
        return [_unmarked(one, depth + 1) for one in value]
    return value


def unmarked_digest(value: Any) -> int | None:
    """Digest of a system prompt or of tool definitions without marks; None if there are none."""
    if isinstance(value, list):
        value = [block for block in value if not _is_billing(block)]
    return number(_safe(_unmarked(value))) if value else None


def _is_billing(block: Any) -> bool:
    """Claude Code's first system block, which differs from call to call and is no part of the cached prefix."""
    return isinstance(block, dict) and str(block.get("text", "")).startswith("x-anthropic-billing-header")


def _safe(value: Any) -> bytes:
    try:
        return _encode(value)
    except (TypeError, ValueError, RecursionError):  # lone surrogates, odd types
        return repr(value).encode("utf-8", "replace")


def texts(message: Any) -> Iterator[str]:
    """All texts of a message, tool results left out."""
    if isinstance(message, str):
        yield message
    elif isinstance(message, dict):
        for block in blocks(message):
            text = text_of(block)
            if text is not None:
                yield text
