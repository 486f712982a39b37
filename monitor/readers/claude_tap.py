"""Traces of claude-tap (Claude Code, Codex and other clients through a local proxy).

Where: a JSONL file exported by ``claude-tap``.

What is read: one object a line, ``{timestamp, request_id, turn, duration_ms, transport, upstream_base_url, request:
{method, path, headers, body}, response: {status, headers, body, sse_events | ws_events}}``. ``timestamp`` is written
when the exchange has ended, so the start is ``timestamp - duration_ms``. A stream's ``body`` is put together by
claude-tap; its events are preferred where they were kept. A WebSocket record holds several calls, one for each
``response.create``; frames with ``generate: false`` only warm the cache up and are side calls.

Prompt tokens: from the provider's usage object in the answer, by the rules of :mod:`monitor.readers.shapes`.

Sessions: the ids of the clients' headers and bodies; else the chain of response ids, or messages.

Unknown: the context window; the times of single calls of a WebSocket, except as the provider states them.
"""

from __future__ import annotations

import re
from typing import Any

from monitor.readers.base import FileContext, Head
from monitor.readers.exchange import Exchange, lower
from monitor.readers.exchange_pairs import PairParser, as_bytes, as_object, event_values, set_reply
from monitor.readers.exchange_ws import Frame, split
from monitor.readers.lines import first_objects
from monitor.readers.patterns import lazy
from monitor.readers.times import span_ms, to_ms

SOURCE = "claude-tap"
_TOP = lazy(rb'"(?:transport|upstream_base_url|turn)"\s*:')
_CUT = lazy(rb'\s*\{\s*"(?:timestamp|id|request_id|turn)"\s*:.{0,400}?"request"\s*:\s*\{\s*"method"\s*:', re.DOTALL)


def _frames(request: dict[str, Any], response: dict[str, Any]) -> list[Frame]:
    asked = event_values(request.get("ws_events")) or (
        [request["body"]] if isinstance(request.get("body"), dict) else []
    )
    said = event_values(response.get("ws_events"))
    if not said and isinstance(response.get("body"), dict):
        said = [{"type": "response.completed", "response": response["body"]}]
    return [*(Frame(True, one) for one in asked), *(Frame(False, one) for one in said)]


class ClaudeTapParser(PairParser):
    """See the module."""

    source = SOURCE

    def exchanges(self, value: dict[str, Any], line: int) -> list[Exchange]:
        request, response = as_object(value.get("request")), as_object(value.get("response"))
        if not request:
            return []
        end = to_ms(value.get("timestamp"))
        took = span_ms(value.get("duration_ms"))
        start = end - took if end is not None and took is not None else end
        status = response.get("status")
        base = str(value.get("upstream_base_url") or "").rstrip("/")
        path = str(request.get("path") or "")
        made = Exchange(
            url=path if "://" in path else base + "/" + path.lstrip("/"),
            method=str(request.get("method") or "POST").upper(),
            headers=lower(request.get("headers")),
            request=as_bytes(request.get("body")),
            status=status if isinstance(status, int) else 0,
            reply_headers=lower(response.get("headers")),
            time=start,
            end=end if start != end else None,
            line=line,
            failure="aborted" if isinstance(response.get("error"), str) and response["error"] else "",
        )
        if value.get("transport") == "websocket" or made.method == "WEBSOCKET":
            made.time = made.end = None  # the record's times are those of the whole connection
            found = split(_frames(request, response), made)
            if len(found) == 1:
                found[0].time, found[0].end = start, end
            return found
        events = event_values(response.get("sse_events"))
        if events:
            made.documents = events
        elif response.get("body") not in (None, "", {}):
            set_reply(made, response["body"])
        return [made]


class ClaudeTap:
    """Reader of claude-tap traces."""

    source = SOURCE
    title = "claude-tap trace"
    lines = True

    def sniff(self, head: Head) -> float:
        for value in first_objects(head.data, 3):
            request = value.get("request")
            if isinstance(request, dict) and "path" in request and "method" in request and "response" in value:
                if "upstream_base_url" in value or "transport" in value:
                    return 0.96
                return 0.9 if "turn" in value and "duration_ms" in value else 0.0
        # the first line may be longer than the head
        if _CUT.match(head.data) is not None and _TOP.search(head.data[:1024]) is not None:
            return 0.9
        return 0.0

    def parser(self, context: FileContext) -> ClaudeTapParser:
        return ClaudeTapParser(context)


READER = ClaudeTap()
