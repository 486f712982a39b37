"""Records of a line format that stand in one JSON array, or that are laid out over several lines.

``jq``, editors and exports of other programs make such files of logs; laid out anew they are lines again.
"""

from __future__ import annotations

from monitor.readers.base import FileContext, Head
from monitor.readers.claude_lines import clean
from monitor.readers.lines import MAX_LINE, NOT_JSON, Skipped, objects, strip


def head_of(head: Head) -> Head | None:
    """A head as it would be if its records were lines; None if it holds no records."""
    data, _ = _lines(head.data)
    return Head(data, head.name, head.complete, head.path, head.raw_magic) if data else None


def relined(context: FileContext) -> tuple[bytes, str]:
    """The whole of an input as lines, and why the rest of it could not be read.

    Raises:
        ReadError, OSError: as :meth:`FileContext.open`.
    """
    with context.open() as stream:
        data = stream.read(MAX_LINE + 1)
    if len(data) > MAX_LINE:
        return b"", "it is too large to be taken apart"
    return _lines(data)


def _lines(data: bytes) -> tuple[bytes, str]:
    bare = strip(data)
    array = bare[:1] == b"["
    if array:
        bare = bare[1:]
        array = bare[-1:] == b"]"
        bare = bare[:-1] if array else bare
    elif bare[:1] != b"{":
        return b"", ""
    why = ""
    try:
        values = objects(bare)
    except Skipped as skipped:
        values, why = skipped.objects, str(skipped) if array else "the last record is not finished"
        why = "what follows the last readable record is not valid JSON" if why == NOT_JSON else why
    records = [value for value in values if isinstance(value, dict)]
    return b"".join(clean(record) + b"\n" for record in records), why
