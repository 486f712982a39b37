"""What a request body tells: model, messages as digests, what it is for, and which conversation it names."""

from __future__ import annotations

import re
from typing import Any

import msgspec
from msgspec import Raw, Struct

from monitor.readers import exchange_bodies as bodies
from monitor.readers.exchange_messages import Item, Messages, texts, unmarked_digest
from monitor.readers.patterns import lazy

_decode = msgspec.json.Decoder().decode
_list_of_raw = msgspec.json.Decoder(list[Raw]).decode


class Body(Struct, gc=False):
    """The parts of a request body that are looked at; all are kept as bytes until needed."""

    type: Raw = Raw()
    model: Raw = Raw()
    messages: Raw = Raw()
    input: Raw = Raw()
    contents: Raw = Raw()
    prompt: Raw = Raw()
    message: Raw = Raw()  # Cohere v1
    system: Raw = Raw()
    instructions: Raw = Raw()
    systemInstruction: Raw = Raw()
    system_instruction: Raw = Raw()
    tools: Raw = Raw()
    toolConfig: Raw = Raw()
    functions: Raw = Raw()
    metadata: Raw = Raw()
    client_metadata: Raw = Raw()
    litellm_metadata: Raw = Raw()
    litellm_session_id: Raw = Raw()
    session_id: Raw = Raw()
    previous_response_id: Raw = Raw()
    previous_interaction_id: Raw = Raw()
    conversation: Raw = Raw()
    prompt_cache_key: Raw = Raw()
    max_tokens: Raw = Raw()
    generate: Raw = Raw()
    request: Raw = Raw()  # Gemini Code Assist wraps the request
    response_format: Raw = Raw()
    generationConfig: Raw = Raw()


_body = msgspec.json.Decoder(Body).decode

#: how agents word the request for a summary (observed with the clients; kept narrow, as a person may ask for one too)
_ASKS_SUMMARY = lazy(
    r"CONTEXT CHECKPOINT|context checkpoint summary"
    r"|(?:[Cc]reate|[Ww]rite|[Pp]rovide|[Gg]enerate|[Pp]roduce) an? (?:[\w-]+,? ){0,3}detailed (?:[\w-]+ ){0,2}"
    r"summary of (?:the|our|this) (?:\w+ )?(?:conversation|session|chat)"
    r"|(?:continuation|context|conversation) summary that (?:will|would|can|lets?|allows?)\b"
    r"|[Cc]ompact(?:ing|s)? (?:a|an|the|this|our) (?:[\w-]+ ){0,3}(?:conversation|context|history)\b"
    r"|[Ss]ummari[sz]e th(?:is|e) partial conversation|context limit (?:was|has been) reached (?:when|while)"
    r"|Respond with TEXT ONLY.{0,20000}<summary>|<state_snapshot>|[Aa]nchored summary"
    r"|Summarize the prefix to provide context for the retained suffix"
    r"|prompt for continuing our conversation|[Hh]and-?off summary|conversation to summari[sz]e"
    r"|[Ss]ummari[sz]e (?:the|this|our) (?:conversation|session|chat)"
    r"(?: history)?(?: so far| above| up to (?:this|now))?[^\n]{0,60}"
    r"(?:new context|context window|next session|continu|hand-?off|resume|described in the prompt)",
    re.DOTALL,
)
#: what a model is told that does nothing but summarise; only of requests without tools
_SUMMARISER = lazy(
    r"(?:summari[sz]ing|compacting|condensing) (?:[\w-]+ ){0,3}(?:conversations?|contexts?|histor(?:y|ies))\b"
    r"|context[ -](?:summari[sz](?:ation|er)|extraction|compact(?:ion|or)|condens(?:ation|er))"
    r"|(?:maintain|keep)\w* an? (?:[\w-]+ ){0,3}summary\b",
    re.IGNORECASE,
)
#: requests beside the conversation: titles, topic and command checks, routing
_ASKS_SIDE = lazy(
    r"title generator|[Gg]enerate (?:a|an) (?:[\w-]+,? ){0,4}title\b|[Cc]ome up with (?:a|an) [^\n]{0,40}title\b"
    r"|\btitle (?:for|of) (?:this|the|that|our|a) (?:[\w-]+ ){0,3}(?:conversation|chat|session|thread)\b"
    r"|[Tt]ask [Rr]outing|SUGGESTION MODE"
    r"|session title|isNewTopic|new conversation topic|command prefix|<policy_spec>"
    r"|filepaths? (?:from|in) (?:this|the) command"
    r"|next_speaker|[Ss]ummari[sz]e this coding conversation in under|under 50 characters"
)
_SMALL_MODEL = lazy(r"haiku|flash-lite|\bnano\b|-nano|[-_]mini\b|small|[-_]lite\b", re.IGNORECASE)
_PROBE = 24_000


class Request(Struct, gc=False):
    """Facts of one request."""

    body: Body
    model: str | None = None
    items: list[Item] = msgspec.field(default_factory=list)
    raw: list[Raw] = msgspec.field(default_factory=list)
    system: int | None = None
    tools: int | None = None
    has_tools: bool = False
    has_messages: bool = False
    asks_summary: bool = False
    asks_side: bool = False
    warm_up: bool = False
    after_summary: bool = False  # said by a log that holds no messages

    @property
    def continues(self) -> bool:
        """Whether one of the first messages says that a summary stands for what was before."""
        return self.after_summary or any(one.continues or one.role == "compaction" for one in self.items[:12])


def text(raw: Raw) -> str | None:
    """A JSON string, or None."""
    value = value_of(raw)
    return value if isinstance(value, str) and value else None


def value_of(raw: Raw) -> Any:
    """A JSON value, or None if it is missing or odd."""
    if len(raw) == 0:
        return None
    try:
        return _decode(raw)
    except (msgspec.MsgspecError, RecursionError):
        return None


def parse(data: bytes | Raw, memory: Messages) -> Request | None:
    """Facts of a request body given as JSON bytes; None if it is no JSON object."""
    body = _read(data)
    if body is None:
        return None
    if len(body.request) > 2 and len(body.contents) == 0 and len(body.messages) == 0:
        inner = _read(body.request)
        if inner is not None and len(inner.contents):
            inner.model = inner.model if len(inner.model) else body.model
            body = inner
    request = Request(body, model=text(body.model))
    for name in ("messages", "input", "contents", "prompt", "message"):
        field: Raw = getattr(body, name)
        if len(field) and _take(request, field, memory):
            request.has_messages = True
            break
    system: Any = None
    for field in (body.system, body.instructions, body.systemInstruction, body.system_instruction):
        if len(field) > 2:
            system = value_of(field)
            break
    if system is None and request.raw and request.items[0].role == "system":
        system = value_of(request.raw[0])
    request.system = unmarked_digest(system)
    for field in (body.tools, body.toolConfig, body.functions):
        if len(field) > 2:
            request.tools = unmarked_digest(value_of(field))
            request.has_tools = request.tools is not None
            break
    request.warm_up = value_of(body.generate) is False
    _purpose(request, system)
    return request


def _read(data: bytes | Raw) -> Body | None:
    try:
        return _body(data)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        pass
    value = bodies.one(bytes(data))
    if not isinstance(value, dict):
        return None
    import json

    # what msgspec refuses: lone surrogates and numbers JSON does not know
    try:
        return _body(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    except (msgspec.MsgspecError, RecursionError, ValueError):
        return None


def _take(request: Request, field: Raw, memory: Messages) -> bool:
    start = bytes(field[:1]) if isinstance(field, bytes) else bytes(memoryview(field)[:1])
    if start == b"[":
        try:
            request.raw = _list_of_raw(field)
        except (msgspec.MsgspecError, RecursionError):
            return False
    elif start == b'"':
        request.raw = [field]
    else:
        return False
    of = memory.of
    request.items = [of(raw) for raw in request.raw]
    return True


def _purpose(request: Request, system: Any) -> None:
    """Set ``asks_summary`` and ``asks_side`` from the last user message and, without tools, from the system prompt."""
    last = ""
    for at in range(len(request.items) - 1, max(-1, len(request.items) - 8), -1):
        if request.items[at].role in ("user", "tool"):
            message = value_of(request.raw[at])
            if not isinstance(message, dict) or message.get("role") not in ("tool", "function"):
                last = "\n".join(texts(message))
            break
    ends = last if len(last) <= 2 * _PROBE else last[:_PROBE] + last[-_PROBE:]
    instructions = "" if request.has_tools else _system_text(system)
    opened = bool(request.items) and request.items[-1].continues
    request.asks_summary = bool(
        (not opened and _ASKS_SUMMARY.search(ends))
        or (instructions and (_ASKS_SUMMARY.search(instructions) or _SUMMARISER.search(instructions[:1500])))
    )
    if request.asks_summary or request.has_tools:
        return
    short = sum(1 for one in request.items if one.norm) <= 2
    request.asks_side = bool(
        value_of(request.body.max_tokens) == 1
        or _ASKS_SIDE.search(instructions)
        or (short and _ASKS_SIDE.search(ends))
        or b"next_speaker" in bytes(request.body.generationConfig)
    )


def _system_text(system: Any) -> str:
    if isinstance(system, str):
        return system[:_PROBE]
    if isinstance(system, dict):
        return "\n".join(texts(system))[:_PROBE]
    if isinstance(system, list):
        return "\n".join(texts({"content": system}))[:_PROBE]
    return ""


def is_small(model: str | None) -> bool:
    """Whether a model's name says that it is the small one of its family (used for titles and checks)."""
    return model is not None and _SMALL_MODEL.search(model) is not None
