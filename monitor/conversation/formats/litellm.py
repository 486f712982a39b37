"""LiteLLM: logging payloads (JSON, JSON lines, lists of them) and SpendLogs rows with stored request bodies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from monitor.conversation.formats.base import Document
from monitor.conversation.formats.captured import Body, Capture, as_body
from monitor.conversation.jsonio import loads

_MARKS = ("litellm_call_id", "proxy_server_request", "standard_logging_object", "spend")


class LiteLLM(Capture):
    """``proxy_server_request`` where it is stored, else ``messages`` with ``model_parameters``."""

    name = "litellm"

    def sniff(self, doc: Document) -> float:
        for record in _records(doc):
            if "call_type" in record and any(k in record for k in _MARKS):
                return 0.97
            return 0.0
        return 0.0

    def bodies(self, doc: Document) -> Iterator[Body]:
        for record in _records(doc):
            stored = record.get("standard_logging_object")
            if isinstance(stored, dict):
                record = stored
            body = _body(record)
            if body is not None:
                yield Body(body, _url(str(record.get("call_type") or "")))


def _records(doc: Document) -> Iterator[dict[str, Any]]:
    value = doc.json
    values = [line.obj for line in doc.lines if line.obj] if value is None else value
    if value is None and not values:  # a list of records a line
        values = []
        for line in doc.data.split(b"\n"):
            if line.strip().startswith(b"["):
                try:
                    values += loads(line.strip())
                except ValueError:
                    continue
    for item in values if isinstance(values, list) else [values]:
        if isinstance(item, dict):
            yield item


def _body(record: dict[str, Any]) -> dict[str, Any] | None:
    for key in ("proxy_server_request", "request_body"):
        stored = record.get(key)
        if isinstance(stored, dict) and isinstance(stored.get("body"), dict):
            stored = stored["body"]
        body = as_body(stored)
        if body is not None:
            return body
    messages = record.get("messages")
    if isinstance(messages, str):
        try:
            messages = loads(messages)
        except ValueError:
            return None
    parameters = record.get("model_parameters")
    parameters = parameters if isinstance(parameters, dict) else {}
    key = "input" if str(record.get("call_type") or "").endswith("responses") else "messages"
    model = str(record.get("model") or "").rpartition("/")[2]
    return as_body({"model": model, **parameters, key: messages})


def _url(call_type: str) -> str:
    return {"anthropic_messages": "/v1/messages", "acompletion": "/chat/completions"}.get(call_type, "")


LITELLM = LiteLLM()
