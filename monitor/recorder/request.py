"""Reads what a request body tells: model, switches, and evidence of the conversation. Bounded, whatever its size."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import Any

import msgspec

from monitor.recorder import evidence
from monitor.recorder.bodies import HELD, BodyText, Budget
from monitor.recorder.decode import DecodeError, Decoder, decoder
from monitor.recorder.evidence import Chain, MessageDigests, answer_id, decode, hashed_unless_id, identifier
from monitor.recorder.jsonsplit import Splitter
from monitor.recorder.prefixes import SPARE

WHOLE = 4 * 1024 * 1024  # a body is kept up to here (decoded), beyond it is split while it comes
MEMBER = 1024 * 1024
_MESSAGES = ("messages", "input", "contents")
_SPREAD = frozenset(_MESSAGES)
_SYSTEM = ("system", "instructions", "systemInstruction", "system_instruction")
_BLANKS = b" \t\r\n"


class RequestFacts:
    """Feed the encoded body; after :meth:`end` the properties tell what was found."""

    def __init__(
        self, encoding: str, digests: MessageDigests, keep: BodyText | None, room: Budget | None = None
    ) -> None:
        self._keep = keep
        self._room = room or Budget(HELD)  # shared with the other calls
        self._parts: list[bytes] = []
        self._size = 0
        self._splitter: Splitter | None = None
        self._members: dict[str, bytes] = {}
        self._tools_raw_digest = b""
        self._last: bytes = b""  # raw bytes of the last message
        self._opening: list[bytes] = []  # messages before the first one that counts: the system prompt of chat
        self._dead = False
        self.chain = Chain(digests)
        self.lossy = False
        self._decoder: Decoder | None = None
        try:
            self._decoder = decoder(encoding)
        except DecodeError:
            self._dead = self.lossy = True

    def feed(self, data: bytes) -> None:
        """Take the next bytes of the body."""
        if self._dead or self._decoder is None:
            return
        try:
            for piece in self._decoder.feed(data):
                self._take(piece)
        except DecodeError:
            self._dead = self.lossy = True

    def gap(self) -> None:
        """Bytes are missing here: what was read so far is all there will be."""
        if self._splitter is None and not self._dead:
            self._split()
        self._dead = self.lossy = True
        if self._keep is not None:
            self._keep.truncated = True

    def _take(self, piece: bytes) -> None:
        if self._keep is not None:
            self._keep.add(piece)
        if self._splitter is not None:
            self._splitter.feed(piece)
            return
        self._parts.append(piece)
        self._size += len(piece)
        self._room.left -= len(piece)
        if self._size > WHOLE or self._room.left < 0:
            self._split()

    def _split(self) -> None:
        """Go on member by member."""
        self._splitter = Splitter(_SPREAD, MEMBER, self._member, self._element)
        self._splitter.feed(self._held())

    def _held(self) -> bytes:
        """What was held of the body until now, which is let go."""
        data = b"".join(self._parts)
        self._parts = []
        self._room.left += len(data)
        return data

    def _member(self, key: str, value: bytes | None, raw_digest: bytes) -> None:
        if value is not None and len(self._members) < 128:
            self._members[key] = value
        elif key == "tools":
            self._tools_raw_digest = raw_digest

    def _element(self, key: str, value: bytes | None, raw_digest: bytes) -> None:
        self.chain.add(value, raw_digest)
        self._last = value or b""
        if value and not self.chain.single and len(self._opening) < 8:
            self._opening.append(value)

    def end(self) -> None:
        """The body is over (or what came of it)."""
        data = self._held()
        if data:
            self.load(data)

    def load(self, data: bytes) -> None:
        """Read a whole body (a WebSocket message is one)."""
        try:
            members = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
            self._members = {k: bytes(v) for k, v in members.items()}
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            try:
                found = json.loads(data.decode("utf-8", "surrogatepass"))
            except (ValueError, RecursionError):
                return
            if not isinstance(found, dict):
                return
            self._members = {k: json.dumps(v).encode() for k, v in found.items()}
        for wrapper in ("request", "response"):  # Gemini's Code Assist; OpenAI's Realtime
            inner = self._members.get(wrapper, b"")
            if inner[:1] == b"{":
                outer = self._members
                self._members = {}
                self.load(inner)
                self._members = {**outer, **self._members}
                return
        for key in _MESSAGES:
            raw = self._members.pop(key, b"")
            if raw[:1] == b'"':
                self._element(key, raw, b"")
            elif raw[:1] == b"[":
                self._list(key, raw)

    def _list(self, key: str, raw: bytes) -> None:
        """Take the messages of a JSON list; of one that goes on with a list seen before only those behind it."""
        beginnings = self.chain.digests.beginnings
        known = beginnings.find(raw) if not self.chain.count else None
        if known is not None:
            rest = raw[known.end :].lstrip(_BLANKS)
            elements = _elements(b"[" + rest[1:] if rest[:1] == b"," else b"[" + rest)
            if elements:
                self.chain.resume(known.state)
                self._opening = _elements(raw[: known.opening] + b"]") if known.opening else []
                self._take_list(key, raw, elements, known.opening)
                return
        self._take_list(key, raw, _elements(raw), None)

    def _take_list(self, key: str, raw: bytes, elements: list[bytes], opening: int | None) -> None:
        fresh = not self.chain.count or opening is not None
        keep = len(elements) - SPARE if fresh else -1
        for place, element in enumerate(elements):
            if place == keep and keep > 0:
                self._note(raw, elements[keep:], opening)
            self._element(key, element, b"")

    def _note(self, raw: bytes, rest: list[bytes], opening: int | None) -> None:
        """Remember the list up to here; ``rest`` are its last messages."""
        end = len(raw)
        for element in reversed(rest):
            end = raw.rfind(element, 0, end)
            if element[:1] != b"{" or end < 0:
                return
        end = len(raw[:end].rstrip(_BLANKS + b","))
        if opening is None:
            opening = 0
            for element in self._opening:
                opening = raw.find(element, opening) + len(element)
        self.chain.digests.beginnings.note(raw, end, opening, self.chain.state)

    def value(self, key: str) -> Any:
        """A top-level member, decoded; None if it is missing or broken."""
        raw = self._members.get(key)
        if raw is None:
            return None
        try:
            return decode(raw)
        except (ValueError, RecursionError):
            return None

    @property
    def model(self) -> str | None:
        model = self.value("model")
        return model if isinstance(model, str) and len(model) <= 256 else None

    def session(self) -> dict[str, str]:
        """Ids of the conversation that stand in the body."""
        out: dict[str, str | None] = {
            "previous_response_id": answer_id(self.value("previous_response_id"))
            or identifier(self.value("previous_interaction_id")),
            "cache_key": hashed_unless_id(self.value("prompt_cache_key")),
            "body_session": identifier(self.value("session_id")),
        }
        conversation = self.value("conversation")
        if isinstance(conversation, dict):
            conversation = conversation.get("id")
        out["conversation"] = identifier(conversation)
        metadata = self.value("metadata")
        if isinstance(metadata, dict):
            out["user_session"] = evidence.session_of_user_id(metadata.get("user_id"))
        client = self.value("client_metadata")
        if isinstance(client, dict):
            out |= codex_metadata(client.get("x-codex-turn-metadata"))
            out.setdefault("codex_window", identifier(client.get("x-codex-window-id")))
            out.setdefault("codex_session", identifier(client.get("session_id")))
            out.setdefault("codex_thread", identifier(client.get("thread_id")))
        return {k: v for k, v in out.items() if v}

    def digests(self) -> dict[str, Any]:
        """The evidence by content: digests of messages, system prompt and tools."""
        tools_digest, _ = self._tools()
        if tools_digest is None and self._tools_raw_digest:
            tools_digest = self._tools_raw_digest.hex()
        out: dict[str, Any] = {
            "count": self.chain.count or None,
            "messages": b64encode(self.chain.rolling).decode() or None,
            "message_ids": b64encode(self.chain.single).decode() or None,
            "system": self.chain.digests.part(
                b"\0".join([b"system", *(self._members.get(key, b"") for key in _SYSTEM), *self._opening]),
                lambda: evidence.system_digest(self.system()),
            ),
            "tools": tools_digest,
        }
        return {k: v for k, v in out.items() if v is not None}

    def system(self) -> Any:
        """The system prompt: a member of its own, else the messages of that role at the beginning."""
        for key in _SYSTEM:
            found = self.value(key)
            if found:
                return found
        blocks: list[Any] = []
        for raw in self._opening:
            try:
                message = decode(raw)
            except (ValueError, RecursionError):
                continue
            if isinstance(message, dict) and message.get("role") in ("system", "developer"):
                content = message.get("content")
                blocks += content if isinstance(content, list) else [content]
        return blocks or None

    def _tools(self) -> tuple[str | None, int]:
        """Digest of the tool definitions, and how many there are."""

        def read() -> tuple[str | None, int]:
            tools = self.value("tools")
            count = len(tools) if isinstance(tools, list) else 0
            if count and isinstance(tools[0], dict) and isinstance(tools[0].get("functionDeclarations"), list):
                count = sum(len(t.get("functionDeclarations") or ()) for t in tools if isinstance(t, dict))
            return evidence.tools_digest(tools), count

        return self.chain.digests.part(b"tools\0" + self._members.get("tools", b""), read)

    def hints(self) -> dict[str, Any]:
        """What helps to tell work from side calls and compaction."""
        _, count = self._tools()
        limit = self.value("max_tokens") or self.value("max_completion_tokens") or self.value("max_output_tokens")
        generation = self.value("generationConfig")
        schema = False
        if isinstance(generation, dict):
            limit = limit or generation.get("maxOutputTokens")
            schema = "responseJsonSchema" in generation or "responseSchema" in generation
        try:
            last = evidence.said(decode(self._last)) if self._last else ""
        except (ValueError, RecursionError):
            last = ""
        out: dict[str, Any] = {
            "tools": count,
            "max_tokens": limit if isinstance(limit, int) else None,
            "asks": evidence.asks(last, "" if count else evidence.system_text(self.system()), bool(count)),
            "after_summary": self.chain.summary or None,
            "json_schema": schema or self._wants_schema() or None,
            "warm_up": True if self.value("generate") is False else None,
        }
        return {k: v for k, v in out.items() if v is not None}

    def _wants_schema(self) -> bool:
        for key, inner in (
            ("response_format", None),
            ("text", "format"),
            ("output_config", "format"),
            ("output_format", None),
        ):
            held = self.value(key)
            if inner and isinstance(held, dict):
                held = held.get(inner)
            if isinstance(held, dict) and held.get("type") in ("json_schema", "json_object"):
                return True
        return False

    def compaction(self) -> dict[str, Any]:
        """Context management that the request asks for."""
        asked = self.value("context_management")
        edits = asked.get("edits") if isinstance(asked, dict) else asked
        kinds = (
            [e["type"] for e in edits if isinstance(e, dict) and identifier(e.get("type"))]
            if isinstance(edits, list)
            else []
        )
        trigger = False
        try:
            last = decode(self._last) if b'"compaction' in self._last else None
        except (ValueError, RecursionError):
            last = None
        if isinstance(last, dict) and str(last.get("type", "")).startswith("compaction"):
            trigger = not last.get("encrypted_content")
        return {k: v for k, v in {"asked": kinds or None, "trigger_item": trigger or None}.items() if v is not None}


def _elements(raw: bytes) -> list[bytes]:
    """The elements of a JSON list, each as it stands there; none if it is broken."""
    try:
        return [bytes(e) for e in msgspec.json.decode(raw, type=list[msgspec.Raw])]
    except (msgspec.MsgspecError, RecursionError):
        return []


def codex_metadata(text: Any) -> dict[str, str | None]:
    """The parts of Codex's turn metadata (a JSON text) that name session, thread, window and kind of the request."""
    if isinstance(text, str):
        try:
            text = json.loads(text)
        except ValueError:
            return {}
    if not isinstance(text, dict):
        return {}
    out = {
        "codex_session": identifier(text.get("session_id")),
        "codex_thread": identifier(text.get("thread_id")),
        "codex_turn": identifier(text.get("turn_id")),
        "codex_window": identifier(text.get("window_id")),
        "codex_kind": identifier(text.get("request_kind")),
    }
    compaction = text.get("compaction")
    if isinstance(compaction, dict):
        out["codex_compaction_trigger"] = identifier(compaction.get("trigger"))
        out["codex_compaction_reason"] = identifier(compaction.get("reason"))
    return {k: v for k, v in out.items() if v}
