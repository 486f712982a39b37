"""Which conversation a request names: ids in headers and in the body of the clients and gateways that set them.

Only ids are taken from headers, and only those that look like ids; keys and cookies are never looked at, but for one
digest that tells senders apart.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, Literal

import msgspec

from monitor.readers.exchange_bodies import one
from monitor.readers.exchange_request import Request, text, value_of
from monitor.readers.patterns import lazy

Trigger = Literal["auto", "manual", "idle"]
_ID = lazy(r"[A-Za-z0-9][\w.:@/-]{0,199}")
_SECRET = lazy(r"(?:sk|pk|rk|xai|gsk|hf|ghp|pplx)[-_]|AIza|Bearer|Basic|ey[JA-Z]\w{20}", re.IGNORECASE)
_USER_SESSION = lazy(r"session_([0-9A-Za-z-]{8,64})")
#: headers that name a session, the surest first; ``x-<vendor>-session-id`` of others comes after them
_HEADERS = (
    "x-claude-code-session-id",
    "session-id",
    "session_id",
    "conversation_id",
    "thread-id",
    "x-session-id",
    "x-litellm-session-id",
    "x-litellm-trace-id",
    "helicone-session-id",
    "x-magpie-session",
    "x-session-affinity",
)
_VENDOR = lazy(r"x-[a-z0-9-]+-(?:session(?:-id)?|conversation-id)")
_SENDER = ("authorization", "x-api-key", "api-key", "x-goog-api-key", "user-agent")


class Identity(msgspec.Struct, frozen=True, gc=False):
    """What a request says about its conversation."""

    session: str | None = None
    chain: str = "main"
    window: str | None = None  # the client's own name of the window
    kind: str | None = None  # Codex: turn, compaction …
    trigger: Trigger | None = None
    previous: str | None = None  # response this one continues
    conversation: str | None = None  # conversation object of the Responses API
    cache_key: str | None = None


def identity(headers: Mapping[str, str], request: Request | None) -> Identity:
    """Ids of headers (names in lower case) and body."""
    codex = _codex(headers, request)
    session = codex.get("session")
    for name in _HEADERS:
        session = session or clean(headers.get(name))
    if session is None:
        session = next((clean(v) for k, v in headers.items() if _VENDOR.fullmatch(k) and clean(v)), None)
    chain = "main"
    if agent := clean(headers.get("x-claude-code-agent-id")):
        chain = f"agent:{agent}" if agent != "main" else "main"
    parent = clean(headers.get("x-parent-session-id"))
    thread = codex.get("thread") or clean(headers.get("thread-id"))
    if parent and parent != session:
        session, chain = parent, f"agent:{session}"
    elif chain == "main" and thread and session and thread != session:
        chain = f"agent:{thread}"
    previous = conversation = cache_key = None
    if request is not None:
        session = session or _body_session(request)
        body = request.body
        previous = clean(text(body.previous_response_id) or text(body.previous_interaction_id))
        held = value_of(body.conversation)
        conversation = clean(held.get("id") if isinstance(held, dict) else held)
        key = text(body.prompt_cache_key)
        cache_key = (clean(key) or blake2b(key.encode("utf-8", "replace"), digest_size=8).hexdigest()) if key else None
    trigger = codex.get("trigger")
    return Identity(
        session=session,
        chain=chain,
        window=clean(headers.get("x-codex-window-id")) or codex.get("window"),
        kind=codex.get("kind"),
        trigger=trigger if trigger in ("auto", "manual", "idle") else None,  # type: ignore[arg-type]
        previous=previous,
        conversation=conversation,
        cache_key=cache_key,
    )


def clean(value: Any) -> str | None:
    """An id as it is; a text that may be a key as a digest of it; None if it is no id."""
    if not isinstance(value, str) or not (value := value.strip()):
        return None
    if _SECRET.match(value) or len(value) > 200:
        return "h-" + blake2b(value.encode("utf-8", "replace"), digest_size=8).hexdigest()
    return value if _ID.fullmatch(value) else None


def _codex(headers: Mapping[str, str], request: Request | None) -> dict[str, str]:
    """Codex's turn metadata, from the header or from the body's ``client_metadata``."""
    found = one(headers["x-codex-turn-metadata"]) if "x-codex-turn-metadata" in headers else None
    client: Any = None
    if request is not None and len(request.body.client_metadata) > 2:
        client = value_of(request.body.client_metadata)
        if not isinstance(found, dict) and isinstance(client, dict):
            inner = client.get("x-codex-turn-metadata")
            found = one(inner) if isinstance(inner, str) else inner
    out: dict[str, str] = {}
    for source in (found, client):
        if not isinstance(source, dict):
            continue
        for name, key in (
            ("session", "session_id"),
            ("thread", "thread_id"),
            ("window", "window_id"),
            ("kind", "request_kind"),
        ):
            if name not in out and (value := clean(source.get(key))):
                out[name] = value
        if "window" not in out and (value := clean(source.get("x-codex-window-id"))):
            out["window"] = value
        compaction = source.get("compaction")
        if "trigger" not in out and isinstance(compaction, dict) and isinstance(compaction.get("trigger"), str):
            out["trigger"] = compaction["trigger"]
    return out


def _body_session(request: Request) -> str | None:
    """Session ids in bodies: Anthropic's ``metadata.user_id`` (JSON text, object, or older text), LiteLLM, OpenRouter,
    Qwen Code, Gemini Code Assist."""
    body = request.body
    for field in (body.metadata, body.litellm_metadata):
        held = value_of(field)
        if not isinstance(held, dict):
            continue
        user = held.get("user_id")
        if isinstance(user, str):
            inner = one(user) if user.startswith("{") else None
            if isinstance(inner, dict):
                user = inner
            elif match := _USER_SESSION.search(user):
                return match[1]
        if isinstance(user, dict) and (found := clean(user.get("session_id"))):
            return found
        for name in ("session_id", "sessionId", "trace_id"):
            if found := clean(held.get(name)):
                return found
    return clean(text(body.session_id)) or clean(text(body.litellm_session_id))


def origin(headers: Mapping[str, str], host: str) -> str | None:
    """A digest that tells senders apart: key, client and address; it does not lead back to any of them."""
    parts = [headers[name] for name in _SENDER if name in headers]
    if not parts and not host:
        return None
    return blake2b("\0".join([*parts, host]).encode("utf-8", "replace"), digest_size=8).hexdigest()


_PROVIDERS: tuple[tuple[str, str], ...] = (
    ("api.anthropic.com", "anthropic"),
    ("openai.azure.com", "azure"),
    ("services.ai.azure.com", "azure"),
    ("cognitiveservices.azure.com", "azure"),
    ("api.openai.com", "openai"),
    ("chatgpt.com", "openai"),
    ("aiplatform.googleapis.com", "vertex"),
    ("googleapis.com", "google"),
    ("amazonaws.com", "bedrock"),
    ("api.deepseek.com", "deepseek"),
    ("moonshot.", "moonshotai"),
    ("kimi.com", "moonshotai"),
    ("dashscope", "qwen"),
    ("bigmodel.cn", "zhipuai"),
    ("z.ai", "zai"),
    ("api.mistral.ai", "mistral"),
    ("api.groq.com", "groq"),
    ("api.x.ai", "xai"),
    ("openrouter.ai", "openrouter"),
    ("cohere.", "cohere"),
    ("perplexity.ai", "perplexity"),
    ("minimax", "minimax"),
)
_FAMILIES = (
    (lazy(r"(?:anthropic/)?claude"), "anthropic"),
    (lazy(r"(?:openai/)?(?:gpt-(?!oss)|o[1-9]\b|chatgpt|codex)"), "openai"),
    (lazy(r"(?:google/|models/)?gemini"), "google"),
)


def provider(host: str, model: str | None, shape: str) -> str | None:
    """Who answered: by the address, else (loopback, a gateway) by the model's family; None if neither tells."""
    name = host.lower()
    for part, found in _PROVIDERS:
        if part in name:
            return found
    for pattern, found in _FAMILIES:
        if model and pattern.match(model.lower()):
            return found
    return "ollama" if shape == "ollama" else None
