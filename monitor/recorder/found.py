"""What the answers of the providers say about a call, whichever API they speak; judged by the shape of each object."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Literal

from monitor.readers.overflow import too_long
from monitor.recorder.evidence import answer_id, identifier

Api = Literal["openai-chat", "openai-responses", "anthropic", "gemini", "other"]

#: "prompt is too long: 210000 tokens > 200000 maximum"
_NUMBERS = re.compile(r"(\d{3,9}) tokens > (\d{3,9})")
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_OLLAMA = (
    "prompt_eval_count",
    "eval_count",
    "prompt_eval_duration",
    "eval_duration",
    "total_duration",
    "load_duration",
)
_FINAL = {"response.completed", "response.incomplete", "response.failed", "response.done"}


@dataclass(slots=True)
class Found:
    """What has been read so far. ``usage`` and ``usage_start`` are the provider's own objects."""

    api: Api
    started: float  # monotonic, when the request came
    model: str | None = None
    response_id: str | None = None
    usage: dict[str, Any] | None = None
    usage_start: dict[str, Any] | None = None  # Anthropic's message_start, before the final figures
    usage_final: bool = False
    service_tier: str | None = None  # where it stands beside the usage (OpenAI)
    stop: str | None = None
    ended: bool = False  # the format's own last event came
    finished: bool = False  # a finish reason came
    first_token: float | None = None  # monotonic
    error: dict[str, Any] | None = None
    applied_edits: list[Any] | None = None
    compaction_items: list[str] = field(default_factory=list)  # ids, "" for blocks without one
    object: str | None = None  # the "object" or "type" of a whole answer
    original_tokens: int | None = None  # count_tokens with context editing
    counted_tokens: int | None = None  # answer of a token counting request
    malformed: int = 0
    lossy: bool = False
    undecodable: bool = False


def word(value: Any) -> str | None:
    """A value if it is a single machine word, else None: error codes may be kept, messages may not."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) and _WORD.fullmatch(value) else None


def error_of(value: Any) -> dict[str, Any]:
    """The machine words of a provider's error object, and whether it tells of a prompt that was too long."""
    out: dict[str, Any] = {"from": "upstream"}
    if not isinstance(value, dict):
        value = {"message": value}
    kind = word(value.get("type")) or word(value.get("status"))
    code = word(value.get("code"))
    if kind:
        out["type"] = kind
    if code:
        out["code"] = code
    text = f"{value.get('message', '')} {value.get('code', '')} {value.get('type', '')}"[:4000]
    if too_long(text):
        out["overflow"] = True
        if numbers := _NUMBERS.search(text):
            out["tokens"], out["limit"] = int(numbers[1]), int(numbers[2])
    return out


def absorb(found: Found, event: dict[str, Any], now: float, streamed: bool) -> None:
    """Take one event of a stream (``streamed``) or a whole answer; ``now`` is monotonic seconds."""
    kind = event.get("type")
    if kind is None and isinstance(inner := event.get("response"), dict):  # Gemini through Code Assist
        event = inner
    if isinstance(kind, str) and kind.startswith("response."):
        _responses_event(found, event, kind, now)
    elif isinstance(event.get("error"), dict | str) and event["error"]:
        found.error = error_of(event["error"])
    elif kind in _ANTHROPIC:
        _ANTHROPIC[kind](found, event, now)
    elif "candidates" in event or "usageMetadata" in event or "promptFeedback" in event:
        _gemini(found, event, now, streamed)
    elif "choices" in event:
        _chat(found, event, now, streamed)
    elif event.get("object") in ("response", "response.compaction"):
        _response_object(found, event)
        found.object = event["object"]
        found.usage_final = found.ended = True
    elif kind == "message" and "role" in event:
        _message(found, event)
        found.usage_final = found.ended = True
    else:
        _other(found, event)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _usage(value: Any) -> dict[str, Any] | None:
    return value if isinstance(value, dict) and value else None


# ----------------------------------------------------------------------------------------------------------- Anthropic


def _message(found: Found, message: dict[str, Any]) -> None:
    found.model = _text(message.get("model")) or found.model
    found.response_id = answer_id(message.get("id")) or found.response_id
    found.usage = _usage(message.get("usage")) or found.usage
    found.stop = word(message.get("stop_reason")) or found.stop
    _context_management(found, message)
    content = message.get("content")
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") == "compaction":
            found.compaction_items.append(identifier(block.get("id")) or "")


def _context_management(found: Found, holder: dict[str, Any]) -> None:
    management = holder.get("context_management")
    if isinstance(management, dict) and isinstance(management.get("applied_edits"), list):
        found.applied_edits = [
            {k: v for k, v in edit.items() if isinstance(v, int) or k == "type"}
            for edit in management["applied_edits"]
            if isinstance(edit, dict)
        ]


def _message_start(found: Found, event: dict[str, Any], now: float) -> None:
    message = event.get("message")
    if isinstance(message, dict):
        _message(found, {**message, "usage": None})
        found.usage_start = _usage(message.get("usage"))
        found.usage = found.usage or found.usage_start


def _message_delta(found: Found, event: dict[str, Any], now: float) -> None:
    delta = event.get("delta")
    if isinstance(delta, dict):
        found.stop = word(delta.get("stop_reason")) or found.stop
    _context_management(found, event)
    usage = _usage(event.get("usage"))
    if usage:
        # cumulative; of several the last one wins field by field
        found.usage = {**found.usage, **usage} if found.usage_final and found.usage else usage
        found.usage_final = True


def _message_stop(found: Found, event: dict[str, Any], now: float) -> None:
    found.ended = True


def _block_start(found: Found, event: dict[str, Any], now: float) -> None:
    block = event.get("content_block")
    if isinstance(block, dict):
        if block.get("type") == "compaction":
            found.compaction_items.append(identifier(block.get("id")) or "")
        elif block.get("type") in ("tool_use", "server_tool_use", "redacted_thinking"):
            _token(found, now)


def _block_delta(found: Found, event: dict[str, Any], now: float) -> None:
    _token(found, now)


def _nothing(found: Found, event: dict[str, Any], now: float) -> None:
    pass


_ANTHROPIC = {
    "message_start": _message_start,
    "message_delta": _message_delta,
    "message_stop": _message_stop,
    "content_block_start": _block_start,
    "content_block_delta": _block_delta,
    "content_block_stop": _nothing,
    "ping": _nothing,
}


def _token(found: Found, now: float) -> None:
    if found.first_token is None:
        found.first_token = now


# -------------------------------------------------------------------------------------------------------------- OpenAI


def _response_object(found: Found, response: dict[str, Any]) -> None:
    found.model = _text(response.get("model")) or found.model
    found.response_id = answer_id(response.get("id")) or found.response_id
    found.usage = _usage(response.get("usage")) or found.usage
    found.service_tier = word(response.get("service_tier")) or found.service_tier
    details = response.get("incomplete_details")
    reason = word(details.get("reason")) if isinstance(details, dict) else None
    found.stop = reason or word(response.get("status")) or found.stop
    if response.get("error"):
        found.error = error_of(response["error"])
    output = response.get("output")
    for item in output if isinstance(output, list) else ():
        _output_item(found, item)


def _output_item(found: Found, item: Any) -> None:
    if isinstance(item, dict) and str(item.get("type", "")).startswith("compaction"):
        name = identifier(item.get("id")) or ""
        if name not in found.compaction_items:
            found.compaction_items.append(name)


def _responses_event(found: Found, event: dict[str, Any], kind: str, now: float) -> None:
    response = event.get("response")
    if kind in _FINAL:
        if isinstance(response, dict):
            _response_object(found, response)
        found.usage_final = found.ended = True
    elif kind == "response.created":
        if isinstance(response, dict):
            found.model = _text(response.get("model")) or found.model
            found.response_id = answer_id(response.get("id")) or found.response_id
    elif kind == "response.output_item.done":
        _output_item(found, event.get("item"))
    elif kind.endswith(".delta"):
        _token(found, now)


def _chat(found: Found, event: dict[str, Any], now: float, streamed: bool) -> None:
    found.model = _text(event.get("model")) or found.model
    found.response_id = answer_id(event.get("id")) or found.response_id
    found.service_tier = word(event.get("service_tier")) or found.service_tier
    choices = event["choices"] if isinstance(event["choices"], list) else []
    usage = _usage(event.get("usage"))
    for choice in choices:
        if not isinstance(choice, dict):
            continue
        if reason := word(choice.get("finish_reason")):
            found.stop, found.finished = reason, True
        usage = usage or _usage(choice.get("usage"))  # Moonshot puts it there
        delta = choice.get("delta")
        if isinstance(delta, dict) and any(v for k, v in delta.items() if k not in ("role", "refusal")):
            _token(found, now)
    if usage is None and isinstance(event.get("x_groq"), dict):
        usage = _usage(event["x_groq"].get("usage"))
    if usage:
        found.usage = usage
        # usage on every chunk is preliminary until the one without choices, or the end of a finished stream
        found.usage_final = not streamed or not choices
    if not streamed:
        found.ended = True


# ------------------------------------------------------------------------------------------------------ Gemini, others


def _gemini(found: Found, event: dict[str, Any], now: float, streamed: bool) -> None:
    found.model = _text(event.get("modelVersion")) or found.model
    found.response_id = answer_id(event.get("responseId")) or found.response_id
    usage = _usage(event.get("usageMetadata"))
    candidates = event.get("candidates")
    for candidate in candidates if isinstance(candidates, list) else ():
        if isinstance(candidate, dict):
            if reason := word(candidate.get("finishReason")):
                found.stop, found.finished = reason, True
            if streamed and candidate.get("content"):
                _token(found, now)
    feedback = event.get("promptFeedback")
    if isinstance(feedback, dict) and (reason := word(feedback.get("blockReason"))):
        found.stop = found.stop or reason
    if usage:
        found.usage = usage
        found.usage_final = found.finished or not streamed


def _other(found: Found, event: dict[str, Any]) -> None:
    """Answers of other kinds: token counts, embeddings, legacy completions, Ollama's lines, Gemini interactions."""
    found.model = _text(event.get("model")) or found.model
    if usage := _usage(event.get("usage")):
        found.usage, found.usage_final = usage, True
        found.response_id = answer_id(event.get("id")) or found.response_id
    elif any(key in event for key in _OLLAMA[:2]):
        found.usage = {key: event[key] for key in _OLLAMA if key in event}
        found.usage_final = found.ended = True
        found.stop = word(event.get("done_reason")) or found.stop
    elif isinstance(inner := event.get("interaction"), dict) and (usage := _usage(inner.get("usage"))):
        found.usage, found.usage_final = usage, True
    for key in ("input_tokens", "totalTokens"):
        if isinstance(event.get(key), int):
            found.counted_tokens = event[key]
    management = event.get("context_management")
    if isinstance(management, dict) and isinstance(management.get("original_input_tokens"), int):
        found.original_tokens = management["original_input_tokens"]
