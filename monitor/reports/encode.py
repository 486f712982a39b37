"""JSON as text, whatever names a file system holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

#: values that are one piece of a text: few enough that a piece is small, enough that pieces are few
_PIECE = 100


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


def listed(values: Iterable[Any], between: str) -> Iterator[str]:
    """JSON of many values in pieces: a text of hundreds of megabytes is never held as a whole."""
    rest, first = iter(values), True
    while part := [to_json(value) for value in islice(rest, _PIECE)]:
        yield between.join(part) if first else between + between.join(part)
        first = False
