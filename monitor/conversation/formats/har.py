"""HAR files (browser, mitmproxy, Charles): the request bodies sent to model providers."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import Any

from monitor.conversation.formats.base import Document
from monitor.conversation.formats.captured import Body, Capture, as_body


class Har(Capture):
    """``log.entries[].request.postData.text``."""

    name = "har"

    def sniff(self, doc: Document) -> float:
        log = doc.json.get("log") if isinstance(doc.json, dict) else None
        return 0.99 if isinstance(log, dict) and isinstance(log.get("entries"), list) else 0.0

    def bodies(self, doc: Document) -> Iterator[Body]:
        for entry in doc.json["log"]["entries"]:
            request = entry.get("request") if isinstance(entry, dict) else None
            if not isinstance(request, dict):
                continue
            body = as_body(_text(request.get("postData")))
            if body is not None:
                yield Body(body, str(request.get("url") or ""))


def _text(data: Any) -> str:
    if not isinstance(data, dict) or not isinstance(data.get("text"), str):
        return ""
    text: str = data["text"]
    if data.get("encoding") != "base64":
        return text
    try:
        return base64.b64decode(text).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return ""


HAR = Har()
