"""JSON as text, whatever names a file system holds."""

from __future__ import annotations

from typing import Any


def encodable(text: str) -> str:
    """A text that can be written as UTF-8: what is no valid Unicode becomes a question mark."""
    return text.encode("utf-8", "replace").decode()


def to_json(value: Any) -> str:
    """Compact JSON. Names that are no valid Unicode (files named in another encoding) come out as escapes, exactly."""
    import msgspec

    try:
        return msgspec.json.encode(value).decode()
    except UnicodeEncodeError:
        import json

        return json.dumps(value, separators=(",", ":"))
