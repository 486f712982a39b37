"""Request/response lines: tracing proxies and SDK hooks that write one call a line with the bodies in it.

Known keys: ``request.body`` (claude-trace, claude-tap), ``request`` itself, ``request_body`` (this program's recorder),
``body``, ``requestBody``, ``kwargs``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from monitor.conversation.formats.base import Document
from monitor.conversation.formats.captured import Body, Capture, as_body

_KEYS = ("request_body", "requestBody", "request", "body", "kwargs", "params")


class ApiLog(Capture):
    """One call a line."""

    name = "api-log"

    def sniff(self, doc: Document) -> float:
        for record in _records(doc, 20):
            if ("response" in record or "request" in record or "request_body" in record) and _body(record):
                return 0.9
        return 0.0

    def bodies(self, doc: Document) -> Iterator[Body]:
        for record in _records(doc):
            body = _body(record)
            if body is not None:
                yield body


def _records(doc: Document, most: int | None = None) -> Iterator[dict[str, Any]]:
    value = doc.json
    values: Any = [line.obj for line in doc.lines] if value is None else value
    for n, item in enumerate(values if isinstance(values, list) else [values]):
        if most is not None and n >= most:
            return
        if isinstance(item, dict):
            yield item


def _body(record: dict[str, Any]) -> Body | None:
    request = record.get("request")
    url = str(record.get("url") or record.get("path") or record.get("endpoint") or "")
    if isinstance(request, dict):
        url = str(request.get("url") or request.get("path") or url)
        body = as_body(request.get("body"))
        if body is not None:
            return Body(body, url)
    for key in _KEYS:
        body = as_body(record.get(key))
        if body is not None:
            return Body(body, url)
    return None


API_LOG = ApiLog()
