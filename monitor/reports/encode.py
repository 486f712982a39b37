"""JSON as text, whatever names a file system holds."""

from __future__ import annotations

from typing import Any


def to_json(value: Any) -> str:
    """Compact JSON. Names that are no valid Unicode (files named in another encoding) come out as escapes, exactly."""
    import msgspec

    try:
        return msgspec.json.encode(value).decode()
    except UnicodeEncodeError:
        import json

        return json.dumps(value, separators=(",", ":"))
