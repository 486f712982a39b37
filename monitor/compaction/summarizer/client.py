"""Calls over HTTP with time-outs, retries with back-off, and errors in one clear sentence.

What is tried again: 408, 409, 425, 429, 5xx (529 too), time-outs, connections that fail or break, answers that are
no JSON. ``Retry-After`` (seconds or a date) is obeyed up to a minute. What is not: a refused key, a wrong address or
model, a request that is too long (:class:`TooLong`, the caller makes it smaller). No message text and no key is told.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from typing import Any

from monitor.compaction.summarizer.endpoint import Endpoint

#: longest wait before another try, whatever the server asks for
MOST_WAIT_S = 60.0
_AGAIN = frozenset((408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529))
_LONG = (
    "context_length",
    "context length",
    "too long",
    "maximum context",
    "max_tokens_exceeded",
    "too many tokens",
    "input is too large",
    "prompt is too long",
    "context window",
    "exceeds the limit",
    "request_too_large",
)


class EndpointError(Exception):
    """The endpoint gave no usable answer; one clear sentence without message text."""


class TooLong(EndpointError):
    """The request does not fit the model's window."""


def post(
    at: Endpoint,
    body: Mapping[str, Any],
    *,
    path: str = "",
    headers: Mapping[str, str] | None = None,
    sleep: Callable[[float], None] = time.sleep,
    told: Callable[[str], None] | None = None,
) -> Any:
    """Send ``body`` and give the decoded answer. ``told`` hears of every retry. Raises EndpointError."""
    import httpx

    url = at.url(path)
    host = httpx.URL(url).host
    reason = ""
    wait = 1.0
    with httpx.Client(
        timeout=httpx.Timeout(at.timeout, connect=min(at.timeout, 15.0)), follow_redirects=False
    ) as client:
        for attempt in range(at.max_retries + 1):
            pause: float | None = None
            try:
                response = client.post(url, json=body, headers={**at.headers(), **(headers or {})})
            except httpx.TimeoutException:
                reason = f"{host} did not answer within {at.timeout:g} s"
            except httpx.HTTPError as err:
                reason = f"{host} cannot be reached or broke off ({type(err).__name__})"
            except (httpx.InvalidURL, ValueError) as err:
                raise EndpointError(f"the address {url} cannot be used ({err})") from None
            else:
                if response.status_code < 300:
                    try:
                        return _decode(response)
                    except ValueError:
                        reason = f"{host} answered something that is no JSON"
                elif response.status_code in _AGAIN:
                    reason = f"{host} answered {response.status_code}{_why(response)}"
                    pause = _retry_after(response)
                else:
                    _refuse(at, host, response)
            if attempt >= at.max_retries:
                break
            pause = min(wait if pause is None else pause, MOST_WAIT_S)
            if told:
                told(f"{reason}; trying again in {pause:g} s ({attempt + 1} of {at.max_retries})")
            sleep(pause)
            wait = min(wait * 2, MOST_WAIT_S)
    tries = at.max_retries + 1
    raise EndpointError(f"{reason}{f', {tries} times' if tries > 1 else ''}")


def _decode(response: Any) -> Any:
    """The JSON of an answer; of an event stream, the last complete response in it."""
    if "event-stream" not in response.headers.get("content-type", ""):
        return response.json()
    import json

    text: list[str] = []
    last: Any = None
    finish = None
    for line in response.text.splitlines():
        if not line.startswith("data:") or line[5:].strip() in ("", "[DONE]"):
            continue
        event = json.loads(line[5:])
        last = event
        for choice in event.get("choices") or []:
            text.append(str((choice.get("delta") or {}).get("content") or ""))
            finish = choice.get("finish_reason") or finish
        if isinstance(event.get("response"), dict) and event.get("type") == "response.completed":
            return event["response"]
    if not text:
        raise ValueError("no answer in the stream")
    usage = last.get("usage") if isinstance(last, dict) else None
    return {
        "choices": [{"message": {"content": "".join(text)}, "finish_reason": finish or "length"}],
        "usage": usage or {},
    }


def _refuse(at: Endpoint, host: str, response: Any) -> None:
    """Raise for an answer that another try would not change."""
    status = response.status_code
    if status in (401, 403):
        raise EndpointError(
            f"{host} refused the key ({status}); it is read from the environment variable "
            f"{at.key_name()}{'' if at.key() else ', which is not set'}"
        )
    if status == 413 or (status in (400, 422) and any(w in response.text[:4000].lower() for w in _LONG)):
        raise TooLong(f"the request is too long for {at.model} ({status})")
    if status == 404:
        raise EndpointError(f"{host} knows no such address or model ({status}); check --summarizer and --model")
    if 300 <= status < 400:
        raise EndpointError(f"{host} redirects ({status}); give the address it redirects to")
    raise EndpointError(f"{host} answered {status}{_why(response)}")


def _why(response: Any) -> str:
    """The error's own type or code, never its message (it may quote the request)."""
    try:
        error = response.json().get("error")
    except Exception:
        return ""
    if not isinstance(error, dict):
        return ""
    word = error.get("code") or error.get("type")
    return f" ({str(word)[:60]})" if isinstance(word, str | int) and word else ""


def _retry_after(response: Any) -> float | None:
    value = response.headers.get("retry-after-ms")
    if value and value.replace(".", "", 1).isdecimal():
        return float(value) / 1000
    value = response.headers.get("retry-after")
    if not value:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        moment = parsedate_to_datetime(value)
    except (TypeError, ValueError):
        return None
    return max(0.0, moment.timestamp() - time.time())
