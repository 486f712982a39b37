"""Forms in which logs of one's own keep requests and answers; see :mod:`monitor.readers.api_log`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from monitor.readers import exchange_bodies as bodies
from monitor.readers.exchange import Exchange, lower
from monitor.readers.exchange_pairs import as_bytes, event_values, set_reply
from monitor.readers.exchange_session import clean
from monitor.readers.times import span_ms, to_ms

_PAIRS = (
    ("request", "response"),
    ("request_body", "response_body"),
    ("req", "res"),
    ("req", "resp"),
    ("requestBody", "responseBody"),
)
_BODIES = ("body", "json", "data", "payload", "content")
_URLS = ("url", "uri", "endpoint", "path", "request_path")
_STARTS = (
    "timestamp",
    "time",
    "ts",
    "started_at",
    "start_time",
    "startTime",
    "request_time",
    "created_at",
    "date",
    "datetime",
)
_ENDS = ("ended_at", "end_time", "endTime", "response_time", "completed_at", "finished_at")
_TOOK = (
    ("duration_ms", 1.0),
    ("latency_ms", 1.0),
    ("elapsed_ms", 1.0),
    ("duration_s", 1000.0),
    ("duration_seconds", 1000.0),
)
_SESSIONS = (
    "session_id",
    "sessionId",
    "session",
    "conversation_id",
    "conversationId",
    "thread_id",
    "threadId",
    "chat_id",
)
_PART_TYPES = frozenset(
    {
        "message_start",
        "message_delta",
        "message_stop",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "ping",
        "message-start",
        "message-end",
        "content-start",
        "content-delta",
        "content-end",
        "tool-plan-delta",
    }
)
_CONVERSE = frozenset(["messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop"])


def is_pair(value: Mapping[str, Any]) -> bool:
    """A request together with its answer."""
    for asked, said in _PAIRS:
        if asked in value and said in value:
            request = _json(value[asked])
            if not isinstance(request, dict):
                return False
            return is_request(request) or any(name in request for name in _URLS) or is_request(_json(_body(request)))
    return "custom_id" in value and (isinstance(value.get("response"), dict) or _result(value) is not None)


def _result(value: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """What became of one request of an Anthropic batch."""
    found = value.get("result")
    return found if "custom_id" in value and isinstance(found, dict) and isinstance(found.get("type"), str) else None


def is_request(value: Any) -> bool:
    """The body of a request to a model."""
    if not isinstance(value, dict) or "usage" in value or "choices" in value:
        return False
    if isinstance(value.get("model"), str) and any(
        isinstance(value.get(k), list | str) for k in ("messages", "input", "prompt")
    ):
        return True
    own = ("generationConfig", "systemInstruction", "system_instruction", "tools", "inferenceConfig")
    held = value.get("contents") if "contents" in value else value.get("messages")
    return isinstance(held, list) and any(key in value for key in own)


def is_reply(value: Mapping[str, Any]) -> bool:
    """A whole answer of a model API."""
    kind = value.get("object")
    if kind in ("chat.completion", "text_completion", "response", "response.compaction", "interaction"):
        return True
    if value.get("type") == "message" and value.get("role") == "assistant" and isinstance(value.get("usage"), dict):
        return True
    if "usageMetadata" in value or (isinstance(value.get("candidates"), list) and "contents" not in value):
        return True
    if isinstance(value.get("usage"), dict) and any(
        isinstance(value.get(k), list | dict) for k in ("choices", "output", "content", "message")
    ):
        return "uuid" not in value
    return "prompt_eval_count" in value or "tokens_evaluated" in value


def is_part(value: Mapping[str, Any]) -> bool:
    """A part of a stream."""
    kind = value.get("type")
    if isinstance(kind, str) and (
        kind in _PART_TYPES or (kind.startswith("response.") and ("sequence_number" in value or "response" in value))
    ):
        return True
    if str(value.get("object")).endswith(".chunk") or (
        isinstance(value.get("choices"), list)
        and any(isinstance(one, dict) and "delta" in one for one in value["choices"])
    ):
        return True
    if value.get("object") == "chat.completion.done" or isinstance(value.get("event_type"), str):
        return True
    if value.get("done") is False and ("message" in value or "response" in value):
        return True
    if value.get("done") is True and "model" in value:
        return True
    metadata = value.get("metadata")
    if isinstance(metadata, dict) and isinstance(metadata.get("usage"), dict) and len(value) == 1:
        return True
    return ("candidates" in value and "usageMetadata" in value and "responseId" in value) or bool(
        _CONVERSE & value.keys()
    )


def opens_stream(value: Mapping[str, Any]) -> bool:
    """The first part of a stream, where the format has one."""
    return (
        value.get("type") in ("message_start", "response.created", "message-start")
        or "messageStart" in value
        or value.get("event_type") == "interaction.created"
    )


def stream_id(value: Mapping[str, Any]) -> str | None:
    """The id a part of a stream carries."""
    inner: Any = value
    for key in ("message", "response", "interaction"):
        if isinstance(value.get(key), dict) and "id" in value[key]:
            inner = value[key]
    id = inner.get("id") or inner.get("responseId")
    return id if isinstance(id, str) else None


def pair(value: Mapping[str, Any], line: int) -> Exchange | None:
    """The exchange of a pair; None if it was never sent (a batch that was cancelled or ran out of time)."""
    if (result := _result(value)) is not None:
        if result["type"] not in ("succeeded", "errored"):
            return None
        answered = result["type"] == "succeeded"
        body = result.get("message" if answered else "error")
        value = {**value, "response": {"status_code": 200 if answered else 400, "body": body}}
    asked: Any = None
    said: Any = None
    for one, other in _PAIRS:
        if one in value and other in value:
            asked, said = _json(value[one]), value[other]
            break
    else:
        said = value.get("response")
    request: Mapping[str, Any] = asked if isinstance(asked, dict) else {}
    enveloped = bool(request) and not is_request(request)
    body = _json(_body(request)) if enveloped else request
    status, reply_headers, answer, response = _said(said)
    start, end = _times(value, request if enveloped else {}, response)
    session = next((found for name in _SESSIONS if (found := clean(value.get(name)))), None)
    url = next(
        (str(source[name]) for source in (request, value) for name in _URLS if isinstance(source.get(name), str)), ""
    )
    method = request.get("method") if enveloped else value.get("method")
    host = value.get("host") or value.get("upstream")
    if url.startswith("/") and isinstance(host, str):
        url = (host if "://" in host else f"https://{host}") + url
    made = Exchange(
        url=url,
        method=str(method or "POST").upper(),
        headers=lower(request.get("headers") if enveloped else value.get("headers")),
        request=as_bytes(body) if body else b"",
        status=status,
        reply_headers=reply_headers,
        time=start,
        end=end,
        line=line,
        session=session,
        trusted="custom_id" in value or (is_request(body) and not url),
        failure="error" if value.get("error") and said is None else "",
    )
    if isinstance(answer, list) and any(isinstance(one, dict) and "data" in one for one in answer):
        made.documents = event_values(answer)
    else:
        set_reply(made, answer)
    return made


def _said(said: Any) -> tuple[int | None, dict[str, str], Any, Mapping[str, Any]]:
    """Status, headers and body of an answer, and its envelope."""
    if said is None:
        return 0, {}, None, {}
    value = _json(said)
    if isinstance(value, dict) and not is_reply(value) and not is_part(value):
        status = next(
            (value[k] for k in ("status_code", "status", "statusCode", "code") if isinstance(value.get(k), int)), None
        )
        body = next(
            (
                value[k]
                for k in ("body", "body_raw", "json", "data", "content", "text")
                if value.get(k) not in (None, "")
            ),
            None,
        )
        if status is not None or body is not None:
            events = event_values(value.get("events") or value.get("sse_events") or value.get("chunks"))
            return status, lower(value.get("headers")), body if body is not None else events or None, value
    if isinstance(value, dict | list):
        return 200, {}, value, {}
    return 200, {}, said, {}


def _times(
    value: Mapping[str, Any], request: Mapping[str, Any], response: Mapping[str, Any]
) -> tuple[int | None, int | None]:
    start = _time(request, _STARTS)
    end = _time(response, _STARTS) or _time(response, _ENDS)
    if start is None:
        start = _time(value, _STARTS)
    if end is None:
        end = _time(value, _ENDS)
    told = (span_ms(value.get(name), factor) for name, factor in _TOOK)
    took = next((length for length in told if length is not None), None)
    if end is None and start is not None and took is not None:
        end = start + took
    if start is not None and end is not None and end < start:
        end = None
    return start, end


def _time(source: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    for name in names:
        try:
            found = to_ms(source.get(name))
        except (ValueError, OverflowError):
            found = None
        if found is not None and found > 946_684_800_000:  # later than the year 2000: not a duration
            return found
    return None


def _body(request: Mapping[str, Any]) -> Any:
    return next((request[name] for name in _BODIES if name in request), None)


def _json(value: Any) -> Any:
    if isinstance(value, str) and value[:1] in ("{", "["):
        found = bodies.one(value)
        return value if found is None else found
    return value
