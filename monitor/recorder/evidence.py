"""What a request tells about the conversation it belongs to, as digests and ids; never its words.

A message is normalised so that the same message has the same digest in every later request that repeats it:
``cache_control`` marks, item ids, states and empty fields are left out, a text given as a string equals the same text
in a block, ``<system-reminder>`` blocks (which Claude Code moves about) are cut out. System and developer messages are
skipped, because clients insert and edit them in mid conversation. Digests are 8 bytes of BLAKE2b.
"""

from __future__ import annotations

import json
import re
from collections import OrderedDict
from collections.abc import Callable
from hashlib import blake2b
from typing import Any, TypeVar

import msgspec

from monitor.recorder.prefixes import Beginnings, State

T = TypeVar("T")

_DROPPED = frozenset({"cache_control", "status", "annotations", "logprobs"})
_TEXT_TYPES = frozenset({"text", "input_text", "output_text"})
_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>\s*", re.DOTALL)
#: Claude Code's first system block; it differs from call to call
_BILLING = "x-anthropic-billing-header"
_SYSTEM_ROLES = ("system", "developer")
_MEMORY = 20_000  # digests of messages seen lately; one entry takes about 150 bytes
_PARTS = 256  # and of system prompts and tool definitions

_encode = msgspec.json.Encoder(order="deterministic").encode


def digest(data: bytes) -> bytes:
    """8 bytes of BLAKE2b."""
    return blake2b(data, digest_size=8).digest()


def decode(data: bytes) -> Any:
    """JSON to objects; what msgspec refuses (NaN, lone surrogates) goes through the standard library.

    Raises:
        ValueError: not JSON.
        RecursionError: nested too deeply.
    """
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return json.loads(data.decode("utf-8", "surrogatepass"))


def _plain(value: Any) -> Any:
    """A value without the fields that change from request to request."""
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items() if v is not None and k not in _DROPPED}
    if isinstance(value, list):
        return [_plain(v) for v in value]
    return value


def _block(block: Any) -> Any:
    """A content block in its common form; None if nothing is left of it."""
    if isinstance(block, str):
        block = {"type": "text", "text": block}
    if not isinstance(block, dict):
        return block
    text = block.get("text")
    if isinstance(text, str) and str(block.get("type", "text")) in _TEXT_TYPES and "thought" not in block:
        text = _REMINDER.sub("", text).rstrip()
        return {"type": "text", "text": text} if text else None
    out = _plain(block)
    if isinstance(out.get("content"), list | str):
        out["content"] = _content(out["content"])
    return out


def _content(content: Any) -> list[Any]:
    blocks = content if isinstance(content, list) else [content]
    return [b for b in map(_block, blocks) if b is not None]


def normalise(message: Any) -> bytes | None:
    """The common form of a message or input item as bytes; None for those that are not part of the chain."""
    if isinstance(message, str):
        message = {"role": "user", "content": message}
    if not isinstance(message, dict):
        return _encode(message)
    if message.get("role") in _SYSTEM_ROLES:
        return None
    out = _plain(message)
    out.pop("id", None)  # of the item; the ids of tool calls have other names and stay
    if out.get("type") == "message":
        del out["type"]
    for key in ("content", "parts"):
        if message.get(key) is not None:
            out.pop(key, None)
            out["content"] = _content(message[key])
            if not out["content"] and len(out) <= 2:
                return None  # nothing but reminders
    return _encode(out)


class MessageDigests:
    """Digests of messages; those seen lately are known by the hash of their raw bytes, without decoding them."""

    def __init__(self) -> None:
        self.beginnings = Beginnings()
        #: hash of the raw bytes -> digest of the message (b"" if skipped), whether it stands for what was before it
        self._known: OrderedDict[tuple[int, int], tuple[bytes, bool]] = OrderedDict()
        self._parts: OrderedDict[tuple[int, int], Any] = OrderedDict()

    def part(self, raw: bytes, make: Callable[[], T]) -> T:
        """What ``make`` makes of a large part of a request that comes with each call, known by the part's bytes."""
        key = (hash(raw), len(raw))
        if key in self._parts:
            self._parts.move_to_end(key)
        else:
            self._parts[key] = make()
            if len(self._parts) > _PARTS:
                self._parts.popitem(last=False)
        made: T = self._parts[key]
        return made

    def of(self, raw: bytes) -> tuple[bytes, bool]:
        """Digest of one message given as JSON (b"" if it is no part of the chain), and whether it is a summary."""
        key = (hash(raw), len(raw))  # 64 bits with a secret of the process: nobody can make two messages meet
        found = self._known.get(key)
        if found is not None:
            self._known.move_to_end(key)
            return found
        try:
            message = decode(raw)
            normal = normalise(message)
            made = (b"" if normal is None else digest(normal), continues_summary(message))
        except (ValueError, RecursionError, msgspec.MsgspecError):
            made = (digest(raw), False)
        self._known[key] = made
        if len(self._known) > _MEMORY:
            self._known.popitem(last=False)
        return made


class Chain:
    """The messages of one request as two rows of digests."""

    def __init__(self, digests: MessageDigests) -> None:
        self.digests = digests
        self._last = b""
        self.rolling = bytearray()  # h(i) = digest(h(i - 1) + digest of message i)
        self.single = bytearray()
        self.count = 0  # messages of the request, skipped ones included
        self.summary = False  # one of them stands for what was before it

    @property
    def state(self) -> State:
        """Where it stands, to go on from there another time."""
        return State(self.count, self._last, bytes(self.rolling), bytes(self.single), self.summary)

    def resume(self, state: State) -> None:
        """Go on from where a chain stood."""
        self.count, self._last, self.summary = state.messages, state.last, state.summary
        self.rolling, self.single = bytearray(state.rolling), bytearray(state.single)

    def add(self, raw: bytes | None, raw_digest: bytes = b"") -> None:
        """Add the next message as JSON; None for one too large to be kept, of which only a raw digest is known."""
        one, summary = (raw_digest, False) if raw is None else self.digests.of(raw)
        self.count += 1
        self.summary = self.summary or summary
        if not one:
            return
        self._last = digest(self._last + one)
        self.rolling += self._last
        self.single += one


def system_digest(value: Any) -> str | None:
    """Digest in hex of a system prompt (text, blocks, or Gemini's parts); None if there is none."""
    if isinstance(value, dict):
        value = value.get("parts") or value.get("text")
    if not value:
        return None
    blocks = [b for b in _content(value) if not _is_billing(b)]
    return digest(_encode(blocks)).hex() if blocks else None


def _is_billing(block: Any) -> bool:
    return isinstance(block, dict) and str(block.get("text", "")).startswith(_BILLING)


def tools_digest(value: Any) -> str | None:
    """Digest in hex of the tool definitions; None if there are none."""
    return digest(_encode(_plain(value))).hex() if value else None


# ------------------------------------------------------------------------------------------------------- what is asked

#: how agents word the request for a summary (observed with the clients' own prompts; the log marks it as a hint)
_ASKS_SUMMARY = re.compile(
    r"CONTEXT CHECKPOINT|context checkpoint summary|Respond with TEXT ONLY|create a detailed summary|<state_snapshot>|"
    r"anchored summary|prompt for continuing our conversation|handoff summary|conversation to summari[sz]e|"
    r"summari[sz]e (?:the|this|our) (?:conversation|session)|context summarization a(?:gent|ssistant)|"
    r"Summarize the prefix to provide context for the retained suffix"
)
_ASKS_TITLE = re.compile(
    r"title generator|generate a (?:short |concise |brief )?title|5-10 word title|session title", re.I
)
#: what a message says that stands for everything before it
_CONTINUES = re.compile(
    r"This session is being continued from a previous conversation|^\s*<state_snapshot>|"
    r"Another language model started to solve this problem|"
    r"The conversation history before this point was compacted|\AWhat did we do so far\?\s*\Z"
)
_PROBE = 16_384


def said(message: Any) -> str:
    """The words of a message itself: its text blocks, not what tools gave back."""
    if isinstance(message, str):
        return message
    if not isinstance(message, dict) or message.get("role") in ("tool", "assistant", "model"):
        return ""
    content = message.get("content") if message.get("content") is not None else message.get("parts")
    if isinstance(content, str):
        return content
    texts = (b if isinstance(b, str) else b.get("text") for b in content or () if isinstance(b, str | dict))
    return "\n".join(t for t in texts if isinstance(t, str))


def system_text(value: Any) -> str:
    """The words of a system prompt in any of the formats."""
    return said({"content": value.get("parts") or value.get("text") if isinstance(value, dict) else value})


def asks(last: str, system: str, has_tools: bool) -> str | None:
    """``summary`` or ``title`` if the words of the last message (or, without tools, the system prompt) ask for one."""
    ends = last if len(last) <= 2 * _PROBE else last[:_PROBE] + last[-_PROBE:]
    if _ASKS_SUMMARY.search(ends):
        return "summary"
    if not has_tools:
        head = system[:_PROBE]
        if _ASKS_TITLE.search(head) or _ASKS_TITLE.search(ends):
            return "title"
        if _ASKS_SUMMARY.search(head):
            return "summary"
    return None


def continues_summary(message: Any) -> bool:
    """Whether a message says that a summary stands for what was before it (or is a provider's compaction item)."""
    if isinstance(message, dict):
        if str(message.get("type", "")).startswith("compaction") and message.get("encrypted_content"):
            return True
        content = message.get("content")
        if isinstance(content, list) and any(isinstance(b, dict) and b.get("type") == "compaction" for b in content):
            return True
    return _CONTINUES.search(said(message)[:_PROBE]) is not None


# ------------------------------------------------------------------------------------------------------------ identity

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}")
_LONG_ID = re.compile(r"[a-z]{2,16}[_-][A-Za-z0-9_.:=+/~-]{0,1024}")
_KEY = re.compile(r"(?:sk|pk|rk|xai|gsk|hf|ghp|pplx)[-_]|AIza|Bearer|Basic|eyJ", re.IGNORECASE)
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
_SESSION_PART = re.compile(r"session_([0-9A-Za-z-]{8,64})")


def identifier(value: Any) -> str | None:
    """A value if it looks like a machine's id, else None: a free text is no id, and a key must not pass for one."""
    return value if isinstance(value, str) and _ID.fullmatch(value) and not _KEY.match(value) else None


def answer_id(value: Any) -> str | None:
    """The id of an answer: gateways put what they need to know into it, in hundreds of characters of base64."""
    if (found := identifier(value)) is not None:
        return found
    return value if isinstance(value, str) and _LONG_ID.fullmatch(value) and not _KEY.match(value) else None


def hashed_unless_id(value: Any) -> str | None:
    """An id as it is; any other text as ``h:`` and its digest, because it may be words or an address."""
    if not isinstance(value, str) or not value:
        return None
    if _UUID.search(value) and _ID.fullmatch(value):
        return value
    return "h:" + digest(value.encode("utf-8", "surrogatepass")).hex()


def session_of_user_id(value: Any) -> str | None:
    """The session in Anthropic's ``metadata.user_id`` (JSON text, or ``user_…_account_…_session_…``), else None."""
    if not isinstance(value, str):
        return None
    if value.startswith("{"):
        try:
            inner = json.loads(value)
        except ValueError:
            return None
        return identifier(inner.get("session_id")) if isinstance(inner, dict) else None
    found = _SESSION_PART.search(value)
    return found[1] if found else None
