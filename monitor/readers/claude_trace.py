"""Logs of claude-trace (also lemmy's and other copies of its format).

Where: ``.claude-trace/log-<date>.jsonl`` in the folder Claude Code was started in.

What is read: one JSON object a line, ``{request: {timestamp, method, url, headers, body}, response: {timestamp,
status_code, headers, body | body_raw} | null, logged_at}``. ``body_raw`` is the event stream as text; Bedrock's binary
streams were kept as text there and are searched for their payloads. A request without a response got none: ``error``.
Token counting is a side call.

Prompt tokens: from the provider's usage object in the answer, by the rules of :mod:`monitor.readers.shapes`
(Anthropic: ``input_tokens + cache_creation_input_tokens + cache_read_input_tokens``).

Sessions: ``x-claude-code-session-id`` or the body's ``metadata.user_id``; older logs are grouped by their messages.

Unknown: the context window; answers whose body was not kept.
"""

from __future__ import annotations

import re
from typing import Any

from monitor.readers.base import FileContext, Head
from monitor.readers.exchange import Exchange, lower
from monitor.readers.exchange_pairs import PairParser, as_bytes, as_object, event_values, set_reply
from monitor.readers.patterns import lazy
from monitor.readers.times import to_ms

SOURCE = "claude-trace"
_HEAD = lazy(rb'\s*(?:\xef\xbb\xbf)?\{\s*"request"\s*:\s*\{\s*"timestamp"\s*:\s*[\d.]+\s*,\s*"method"\s*:')
_URL = lazy(rb'"url"\s*:\s*"([^"]{0,400})"')
_OURS = lazy(rb"/v1/messages|anthropic|/model/|rawPredict", re.IGNORECASE)


def exchange(value: dict[str, Any], line: int) -> Exchange | None:
    """The exchange of one line; None if it has no request."""
    request = value.get("request")
    if not isinstance(request, dict) or not isinstance(request.get("url"), str):
        return None
    response = as_object(value.get("response"))
    status = response.get("status_code", response.get("status"))
    made = Exchange(
        url=request["url"],
        method=str(request.get("method") or "POST").upper(),
        headers=lower(request.get("headers")),
        request=as_bytes(request.get("body")),
        status=status if isinstance(status, int) and response else (None if response else 0),
        reply_headers=lower(response.get("headers")),
        time=to_ms(request.get("timestamp")),
        end=to_ms(response.get("timestamp")),
        line=line,
    )
    if response.get("body") not in (None, "", {}):
        set_reply(made, response["body"])
    elif isinstance(response.get("body_raw"), str):
        set_reply(made, response["body_raw"])
    elif events := event_values(response.get("events")):
        made.documents = events
    return made


class ClaudeTraceParser(PairParser):
    """See the module."""

    source = SOURCE

    def exchanges(self, value: dict[str, Any], line: int) -> list[Exchange]:
        made = exchange(value, line)
        return [made] if made is not None else []


class ClaudeTrace:
    """Reader of claude-trace logs."""

    source = SOURCE
    title = "claude-trace log"
    lines = True

    def sniff(self, head: Head) -> float:
        if _HEAD.match(head.data) is None:
            return 0.0
        found = _URL.search(head.data[:4096])
        # the same form with other providers' addresses is a log of requests and answers in general
        return 0.95 if found is not None and _OURS.search(found[1]) else 0.3

    def parser(self, context: FileContext) -> ClaudeTraceParser:
        return ClaudeTraceParser(context)


READER = ClaudeTrace()
