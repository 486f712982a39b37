"""A model endpoint: where it is, what is sent in each of three dialects, and what came back.

Dialects: ``chat`` (OpenAI Chat Completions and all that is compatible), ``responses`` (OpenAI), ``anthropic``.
The key comes from the environment only. A vendor's own variable (``OPENAI_API_KEY``, ``ANTHROPIC_API_KEY``) is sent to
that vendor's hosts only; any other host gets ``CTXMON_API_KEY`` or the variable named in the settings.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Literal
from urllib.parse import urlsplit

import msgspec

from monitor.compaction.options import CompactionError

Api = Literal["chat", "responses", "anthropic"]
_PATHS: dict[Api, str] = {"chat": "/chat/completions", "responses": "/responses", "anthropic": "/messages"}
_VERSIONED = ("/v1", "/v2", "/v3", "/v4", "/openai", "/v1beta", "/api/v1")
_VENDORS = {"api.openai.com": "OPENAI_API_KEY", "api.anthropic.com": "ANTHROPIC_API_KEY"}
DEFAULT_MODELS: dict[Api, str] = {"chat": "", "responses": "", "anthropic": ""}


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """Where and how to ask. Times in seconds, sizes in tokens."""

    base_url: str
    model: str
    api: Api = "chat"
    key_env: str = ""
    timeout: float = 120.0
    max_retries: int = 3
    window: int | None = None
    max_output: int | None = None

    def url(self, path: str = "") -> str:
        """The address of a call; the base may have or lack ``/v1``, a slash at its end, or be the whole address."""
        base, mark, query = self.base_url.strip().partition("?")
        base = base.rstrip("/")
        for known in _PATHS.values():
            if base.endswith(known):
                base = base[: -len(known)]
        last = "/" + base.rsplit("/", 1)[-1]
        if last not in _VERSIONED:
            base += "/v1"
        return base + (path or _PATHS[self.api]) + mark + query

    def shown(self) -> str:
        """The address for people: without the query, which may hold a key."""
        return self.url().partition("?")[0]

    def key(self, environ: Mapping[str, str] | None = None) -> str | None:
        """The key, None where no variable holds one."""
        env = os.environ if environ is None else environ
        if self.key_env:
            return env.get(self.key_env) or None
        own = env.get("CTXMON_API_KEY")
        if own:
            return own
        vendor = _VENDORS.get((urlsplit(self.base_url).hostname or "").lower())
        return (env.get(vendor) or None) if vendor else None

    def key_name(self) -> str:
        """Which variable the key is looked for in, for messages."""
        return self.key_env or _VENDORS.get((urlsplit(self.base_url).hostname or "").lower(), "CTXMON_API_KEY")

    def headers(self, environ: Mapping[str, str] | None = None) -> dict[str, str]:
        """The headers of a call."""
        key = self.key(environ)
        out = {"content-type": "application/json", "accept": "application/json", "user-agent": "ctxmon"}
        if self.api == "anthropic":
            out["anthropic-version"] = "2023-06-01"
            if key:
                out["x-api-key"] = key
        elif key:
            out["authorization"] = f"Bearer {key}"
        return out


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What an endpoint answered, in neutral words. Token figures None: not told."""

    text: str = ""
    finish: Literal["stop", "length", "tool", "refused", "other"] = "stop"
    reasoning: bool = False
    tool_call: bool = False
    input_tokens: int | None = None
    cached_tokens: int | None = None
    written_tokens: int | None = None
    output_tokens: int | None = None


def _shown(address: str) -> str:
    scheme, mark, rest = address.partition("://")
    return f"{scheme}{mark}{rest.partition('?')[0].rpartition('@')[2]}" if mark else address.partition("?")[0]


def endpoint_of(
    base_url: str,
    model: str | None,
    *,
    api: str | None = None,
    key_env: str = "",
    timeout: float = 120.0,
    max_retries: int = 3,
    window: int | None = None,
    max_output: int | None = None,
) -> Endpoint:
    """An endpoint from settings. Raises CompactionError (usage): no address, no model, an unknown dialect."""
    parts = urlsplit(base_url.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise CompactionError(
            f"summarizer {_shown(base_url)!r}: give offline or an address such as http://localhost:11434 or "
            f"https://api.openai.com/v1",
            2,
        )
    if parts.username or parts.password:
        raise CompactionError(
            "summarizer: a key does not belong in the address; put it into the environment (CTXMON_API_KEY)", 2
        )
    if api is None or api == "":
        path = parts.path.rstrip("/")
        api = (
            "anthropic"
            if "anthropic" in (parts.hostname or "") or path.endswith("/messages")
            else "responses"
            if path.endswith("/responses")
            else "chat"
        )
    if api not in _PATHS:
        raise CompactionError(f"api {api} is not known; known are {', '.join(_PATHS)}", 2)
    if not model:
        raise CompactionError(
            "a model endpoint needs the name of the model: --model NAME, or llm.summary_model in the settings", 2
        )
    return Endpoint(
        base_url=base_url,
        model=model,
        api=api,
        key_env=key_env,
        timeout=timeout,
        max_retries=max_retries,
        window=window,
        max_output=max_output,
    )


# ---------------------------------------------------------------------------------------------------- request bodies
def request(at: Endpoint, system: str, text: str, max_output: int) -> dict[str, Any]:
    """The body of a call with one system text and one user text; no tools are offered."""
    if at.api == "anthropic":
        return {
            "model": at.model,
            "max_tokens": max_output,
            "system": system,
            "messages": [{"role": "user", "content": text}],
        }
    if at.api == "responses":
        message = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
        return {
            "model": at.model,
            "instructions": system,
            "input": [message],
            "max_output_tokens": max_output,
            "store": False,
        }
    messages = [{"role": "system", "content": system}, {"role": "user", "content": text}]
    return {"model": at.model, "messages": messages, "max_tokens": max_output, "stream": False}


# ---------------------------------------------------------------------------------------------------- answers
def read(at: Endpoint, body: Any) -> Answer:
    """An answer of the dialect. Raises ValueError where it has not the shape of one."""
    if not isinstance(body, dict):
        raise ValueError("the answer is no JSON object")
    return {"chat": _chat, "responses": _responses, "anthropic": _anthropic}[at.api](body)


def _int(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _chat(body: dict[str, Any]) -> Answer:
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise ValueError("the answer has no choices")
    message = choices[0].get("message")
    message = message if isinstance(message, dict) else {}
    content = message.get("content")
    if isinstance(content, list):
        content = "\n".join(str(b.get("text") or "") for b in content if isinstance(b, dict))
    usage = body.get("usage") if isinstance(body.get("usage"), dict) else {}
    assert isinstance(usage, dict)
    details = usage.get("prompt_tokens_details")
    finish = {
        "stop": "stop",
        "length": "length",
        "tool_calls": "tool",
        "function_call": "tool",
        "content_filter": "refused",
    }
    return Answer(
        text=content if isinstance(content, str) else "",
        finish=finish.get(str(choices[0].get("finish_reason")), "other"),  # type: ignore[arg-type]
        reasoning=bool(message.get("reasoning_content") or message.get("reasoning")),
        tool_call=bool(message.get("tool_calls") or message.get("function_call")),
        input_tokens=_int(usage.get("prompt_tokens")),
        cached_tokens=_int(details.get("cached_tokens")) if isinstance(details, dict) else None,
        output_tokens=_int(usage.get("completion_tokens")),
    )


def _responses(body: dict[str, Any]) -> Answer:
    items = body.get("output")
    if not isinstance(items, list):
        raise ValueError("the answer has no output")
    texts, reasoning, tool = [], False, False
    for item in items:
        if not isinstance(item, dict):
            continue
        if item.get("type") == "message":
            blocks = item.get("content")
            texts += (
                [str(b.get("text") or "") for b in blocks if isinstance(b, dict) and b.get("type") == "output_text"]
                if isinstance(blocks, list)
                else []
            )
        reasoning = reasoning or item.get("type") == "reasoning"
        tool = tool or str(item.get("type")).endswith("_call")
    usage = body.get("usage") if isinstance(body.get("usage"), dict) else {}
    assert isinstance(usage, dict)
    details = usage.get("input_tokens_details")
    cut = body.get("status") == "incomplete"
    return Answer(
        text="\n".join(texts),
        finish="length" if cut else "tool" if tool and not texts else "stop",
        reasoning=reasoning,
        tool_call=tool,
        input_tokens=_int(usage.get("input_tokens")),
        cached_tokens=_int(details.get("cached_tokens")) if isinstance(details, dict) else None,
        output_tokens=_int(usage.get("output_tokens")),
    )


def _anthropic(body: dict[str, Any]) -> Answer:
    blocks = body.get("content")
    if not isinstance(blocks, list):
        raise ValueError("the answer has no content")
    kinds = [b.get("type") for b in blocks if isinstance(b, dict)]
    usage = body.get("usage") if isinstance(body.get("usage"), dict) else {}
    assert isinstance(usage, dict)
    fresh, read_, write = (
        _int(usage.get(k)) for k in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    )
    finish = {
        "end_turn": "stop",
        "stop_sequence": "stop",
        "max_tokens": "length",
        "tool_use": "tool",
        "refusal": "refused",
    }
    return Answer(
        text="\n".join(str(b.get("text") or "") for b in blocks if isinstance(b, dict) and b.get("type") == "text"),
        finish=finish.get(str(body.get("stop_reason")), "other"),  # type: ignore[arg-type]
        reasoning=any(k in ("thinking", "redacted_thinking") for k in kinds),
        tool_call="tool_use" in kinds,
        input_tokens=None if fresh is None else fresh + (read_ or 0) + (write or 0),
        cached_tokens=read_,
        written_tokens=write,
        output_tokens=_int(usage.get("output_tokens")),
    )
