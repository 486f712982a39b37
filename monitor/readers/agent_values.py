"""What the readers of agents' own files share: careful looks into JSON, whole documents, steps kept for later.

Every look gives the value if it has the expected type and something empty if not, so that one odd field costs itself
only. Nothing here keeps text of a conversation longer than until the next :meth:`monitor.readers.base.Parser.take`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePath
from typing import Any

import msgspec

from monitor.readers import steps, usage
from monitor.readers.base import BaseParser, FileContext, Head, ReadError, ReadOptions
from monitor.readers.gateway_values import time_ms
from monitor.readers.lines import MAX_LINE, TORN, Skipped, objects, strip
from monitor.records import Step

#: steps kept of the main chain when not all are asked for; signals look no further back
RECENT_STEPS = 40
#: how a database begins
SQLITE = b"SQLite format 3\0"
#: a larger figure is no token count (and no sum of them fits what JSON readers take)
_MOST = 10**12
_decode = msgspec.json.Decoder().decode
_DEEPEST = 200
_DEEPEST_TREE = 64

__all__ = [
    "SQLITE",
    "JsonDocument",
    "JsonLines",
    "StepLog",
    "at_root",
    "cost",
    "decode",
    "folder_name",
    "head_has",
    "loads",
    "obj",
    "rows",
    "text_of",
    "time_ms",
    "tokens",
    "word",
]


def obj(value: Any) -> dict[str, Any]:
    """A JSON object; anything else is an empty one."""
    return value if isinstance(value, dict) else {}


def rows(value: Any) -> list[dict[str, Any]]:
    """The objects of a JSON array; anything else has none."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def word(value: Any) -> str | None:
    """A name or id as text; numbers are ids, too. Empty, boolean and nested values are None."""
    if isinstance(value, str):
        return value or None
    if type(value) is int:
        return str(value) if abs(value) < 10**30 else None
    return None


def tokens(value: Any) -> int | None:
    """A token count in any of the ways logs write it; None if it is none or absurdly large."""
    found = usage.count(value)
    return found if found is None or found < _MOST else None


def cost(value: Any) -> float | None:
    """A cost in USD the log states. Agents write 0 where they know no price, so 0 is unknown."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 < value < 1e9 else None


def folder_name(path: Any) -> str | None:
    """The last part of a working directory, of either kind of path."""
    return PurePath(path.replace("\\", "/")).name or None if isinstance(path, str) else None


def at_root(id: str, parent: Callable[[str], str | None]) -> tuple[str, str]:
    """Session and chain of what an agent keeps as a session of its own: a subagent's belong to the root of its tree.

    Args:
        parent: the session that started one, None for the root.
    """
    root, depth = id, 0
    while depth < _DEEPEST_TREE and (above := parent(root)) is not None:
        root, depth = above, depth + 1
    return (root, "main") if root == id else (root, f"agent:{id}")


def text_of(content: Any) -> str:
    """The text of a message: a string, or the ``text`` of its blocks."""
    if isinstance(content, str):
        return content
    found = []
    for block in content if isinstance(content, list) else ():
        inner = block.get("text") if isinstance(block, dict) else block
        if isinstance(inner, str):
            found.append(inner)
    return "\n".join(found)


def head_has(head: Head, *marks: bytes, within: int = 8192) -> bool:
    """Whether all these bytes stand near the beginning of a file."""
    sample = head.data[:within]
    return all(mark in sample for mark in marks)


# ---------------------------------------------------------------------------------------------------- reading
def decode(raw: bytes) -> Any:
    """One JSON value, the fast way.

    Raises:
        ValueError, RecursionError: it is not plain JSON; :func:`loads` may still read it.
    """
    try:
        return _decode(raw)
    except msgspec.DecodeError as error:
        raise ValueError(str(error)) from None


def loads(raw: bytes) -> list[Any]:
    """All values of a line or document the tolerant way (NaN, lone surrogates, glued objects), cleaned for use.

    Raises:
        Skipped: as :func:`monitor.readers.lines.objects`.
    """
    return [_clean(value, 0) for value in objects(raw)]


def _clean(value: Any, depth: int) -> Any:
    """Strings without lone surrogates, figures without NaN; what is nested deeper than any log is dropped."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        if depth > _DEEPEST:
            return None
        return {_clean(key, depth): _clean(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list):
        return [_clean(item, depth + 1) for item in value] if depth <= _DEEPEST else None
    if isinstance(value, float) and value != value:
        return None
    return value


class JsonLines(BaseParser):
    """A parser of JSON lines: :meth:`row` is called with each object and the number of its line.

    ``companion``: see :class:`JsonDocument`.
    """

    companion = False

    def feed(self, lines: Iterable[bytes], first: int) -> None:
        number = first - 1
        for raw in lines:
            number += 1
            try:
                value = decode(raw)
            except (ValueError, RecursionError):
                for value in self._slow(raw, number):
                    if isinstance(value, dict):
                        self.row(value, number)
                continue
            if isinstance(value, dict):
                self.row(value, number)

    def _slow(self, raw: bytes, number: int) -> list[Any]:
        return [_clean(value, 0) for value in self.values_of(raw, number)]

    def row(self, value: dict[str, Any], number: int) -> None:
        """Take one object of the log."""
        raise NotImplementedError


class JsonDocument(BaseParser):
    """A parser of one JSON document; :meth:`document` is called with it.

    ``companion`` tells that a file holds no usage by design because it belongs to another one, which is read instead:
    its silence is no fault of the file.
    """

    companion = False

    def read(self, context: FileContext) -> None:
        for value in self.values(context):
            self.document(value)

    def values(self, context: FileContext) -> Iterator[Any]:
        """The document; more than one where a file holds several.

        Raises:
            ReadError: too large to be a log.
        """
        with context.open() as stream:
            data = stream.read(MAX_LINE + 1)
        if len(data) > MAX_LINE:
            raise ReadError(f"it is larger than {MAX_LINE // (1024 * 1024)} MB, too large for a file of this kind")
        raw = strip(data)
        try:
            yield decode(raw)
            return
        except (ValueError, RecursionError):
            pass
        try:
            yield from loads(raw)
        except Skipped as skipped:
            yield from (_clean(value, 0) for value in skipped.objects)
            # files that are rewritten whole are seen half written now and then
            self.problem(None, TORN if skipped.torn else "this file is not valid JSON (cut off or damaged)")

    def document(self, value: Any) -> None:
        """Take the document."""
        raise NotImplementedError


# ---------------------------------------------------------------------------------------------------- steps
class StepLog:
    """Tool calls, results, user messages and answers as they come; made into steps only when asked for.

    Without ``detail`` the latest ones of the main chain are kept: decisions are about the main chain.
    """

    def __init__(self, options: ReadOptions) -> None:
        self._detail = options.detail
        self._raw: dict[tuple[str, str], deque[tuple[Any, ...]]] = {}

    def push(self, session: str, chain: str, item: tuple[Any, ...]) -> None:
        """``item`` is ``(kind, time, line, …)``; then for tool_call: id, name, arguments; tool_result: id, ok, text;
        user: text."""
        if chain != "main" and not self._detail:
            return
        bucket = self._raw.get((session, chain))
        if bucket is None:
            bucket = self._raw[(session, chain)] = deque(maxlen=None if self._detail else RECENT_STEPS)
        bucket.append(item)

    def take(self) -> list[Step]:
        """The steps since the last call; their words are let go."""
        out = [_step(session, chain, item) for (session, chain), bucket in self._raw.items() for item in bucket]
        self._raw.clear()
        return out


def _step(session: str, chain: str, item: tuple[Any, ...]) -> Step:
    kind, time, line = item[:3]
    where = (session, chain, time, line)
    if kind == "tool_call":
        return steps.tool_call(*where, item[3] or "", item[4] or "", item[5])
    if kind == "tool_result":
        return steps.tool_result(*where, item[3] or "", item[4], item[5])
    if kind == "user":
        return steps.user(*where, item[3])
    return steps.answer(*where)
