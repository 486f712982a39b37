"""What all rule sets share: the violation, its repair hint, and the rules that hold for any format."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from monitor.conversation.jsonio import dumps
from monitor.conversation.rules.hints import HINTS


class Violation(msgspec.Struct, frozen=True):
    """One broken rule. ``where`` names message, item or line; ``level`` "warning" does not make a file invalid."""

    code: str
    where: str
    message: str
    repair: str = ""
    level: Literal["error", "warning"] = "error"


class Findings:
    """Collects violations; looks the repair hint up by code."""

    def __init__(self) -> None:
        self.items: list[Violation] = []

    def add(self, code: str, where: str, message: str) -> None:
        """A violation."""
        self.items.append(Violation(code, where, message, HINTS.get(code, "")))

    def warn(self, code: str, where: str, message: str) -> None:
        """A convention, or what depends on settings of server or client."""
        self.items.append(Violation(code, where, message, HINTS.get(code, ""), "warning"))


class Entry(msgspec.Struct, frozen=True, eq=False):
    """A raw message or item with the name of its place."""

    raw: Any
    where: str


def any_format(raw: Any, where: str, out: Findings) -> None:
    """Rules of any format on one message: text that cannot be written as UTF-8, images that do not decode."""
    text = dumps(raw)
    if "\\ud" in text and _lone_surrogate(raw):
        out.add("U-lone-surrogate", where, "half of a surrogate pair: cannot be written as UTF-8")
    if "image" in text or "nline" in text:
        for data in image_data(raw):
            try:
                base64.b64decode(data, validate=True)
            except (binascii.Error, ValueError):
                out.add("image-broken", where, "base64 data of an image does not decode")


def _lone_surrogate(value: Any) -> bool:
    if isinstance(value, str):
        return any("\ud800" <= ch <= "\udfff" for ch in value)
    if isinstance(value, dict):
        return any(_lone_surrogate(k) or _lone_surrogate(v) for k, v in value.items())
    return isinstance(value, list) and any(_lone_surrogate(v) for v in value)


def image_data(value: Any) -> Iterator[str]:
    """The base64 texts of all images in a raw message, tool results included."""
    if isinstance(value, list):
        for item in value:
            yield from image_data(item)
        return
    if not isinstance(value, dict):
        return
    data = value.get("data")
    if isinstance(data, str) and (
        value.get("type") in ("base64", "image") or "mimeType" in value or "mime_type" in value
    ):
        yield data
        return
    url = value.get("image_url")
    if isinstance(url, dict):
        url = url.get("url")
    if isinstance(url, str) and url.startswith("data:") and ";base64," in url:
        yield url.partition(";base64,")[2]
        return
    for key, inner in value.items():
        if isinstance(inner, dict | list) and key not in ("input", "args", "arguments"):
            yield from image_data(inner)


def readable(content: Any) -> bool:
    """True where a content value holds text that is more than white space."""
    from monitor.conversation.blocks import parts_of
    from monitor.conversation.model import Opaque, Other, Text

    for part in parts_of(content, ()):
        if isinstance(part, Text | Opaque) and part.text.strip():
            return True
        if isinstance(part, Other) and (part.kind in MEDIA or part.text.strip()):
            return True
    return False


#: blocks that make a user message more than empty
MEDIA = ("file", "input_file", "input_audio", "audio", "document", "refusal")


def image_count(content: Any) -> int:
    """Images among the blocks of a content value, those inside tool results not counted."""
    from monitor.conversation.blocks import parts_of
    from monitor.conversation.model import Image

    return sum(isinstance(p, Image) for p in parts_of(content, ()))
