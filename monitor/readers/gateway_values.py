"""What all readers of gateway and observability exports need: nested values, money, hashes, names, ids seen once."""

from __future__ import annotations

import datetime as dt
import hashlib
import re
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

import msgspec

from monitor.readers.patterns import lazy
from monitor.readers.times import to_ms
from monitor.records import Call, Record

#: times after the year 9999 are no times
LAST_MS = 253_402_300_800_000
_LARGEST = 1e15
_decode = msgspec.json.Decoder().decode
_NUMBER = lazy(r"[-+]?\d[\d,]*\.?\d*(?:[eE][-+]?\d+)?|[-+]?\.\d+")
_SLASHED = lazy(r"^(\d{4})[/.](\d{1,2})[/.](\d{1,2})(.*)$")

#: words of call types and request paths that do not extend a conversation
_SIDE = lazy(
    r"embedding|rerank|moderation|transcription|speech|image|audio|video|count_tokens|tokenize|ocr|batch", re.IGNORECASE
)
_PROVIDERS = {
    "az.ai.openai": "azure",
    "azure.ai.openai": "azure",
    "azure_openai": "azure",
    "aws.bedrock": "bedrock",
    "aws_bedrock": "bedrock",
    "amazon-bedrock": "bedrock",
    "gcp.gemini": "google",
    "gcp.vertex_ai": "google",
    "gcp.gen_ai": "google",
    "vertex_ai": "google",
    "vertexai": "google",
    "gemini": "google",
    "google-ai-studio": "google",
    "x_ai": "xai",
    "mistral_ai": "mistral",
}


def as_object(value: Any) -> dict[str, Any]:
    """A JSON object, or the text of one; anything else is an empty object."""
    if isinstance(value, dict):
        return value
    if isinstance(value, str | bytes) and value[:1] in ("{", b"{"):
        try:
            found = _decode(value)
        except (msgspec.DecodeError, RecursionError, UnicodeError):
            return {}
        return found if isinstance(found, dict) else {}
    if isinstance(value, list) and value and isinstance(value[0], tuple):  # a Parquet map
        return {str(key): item for key, item in value if key is not None}
    return {}


def at(row: Any, path: str) -> Any:
    """The value at ``a.b.c``; a column whose name holds the dots wins; texts of JSON objects are looked into."""
    if isinstance(row, Mapping) and path in row:
        return row[path]
    head, dot, rest = path.partition(".")
    while dot:
        inner = row.get(head) if isinstance(row, Mapping) else None
        if inner is not None:
            found = at(inner if isinstance(inner, Mapping) else as_object(inner), rest)
            if found is not None:
                return found
        part, dot, rest = rest.partition(".")
        head = f"{head}.{part}"
    return None


def first(row: Mapping[str, Any], *names: str) -> Any:
    """The first of these columns that is not empty."""
    for name in names:
        value = row.get(name)
        if value is not None and value != "":
            return value
    return None


def text(value: Any) -> str | None:
    """A name or id as text; empty is None."""
    if value is None or isinstance(value, bool | dict | list):
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    found = str(value).strip()
    return found if found and found.lower() not in ("none", "null", "nan") else None


def time_ms(value: Any, unit: str | None = None) -> int | None:
    """As :func:`monitor.readers.times.to_ms`; also date objects of workbooks and dates with slashes."""
    if isinstance(value, dt.datetime):
        moment = value if value.tzinfo else value.replace(tzinfo=dt.UTC)
        return (moment - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)) // dt.timedelta(milliseconds=1)
    if isinstance(value, str):
        found = _SLASHED.match(value.strip())
        if found:
            year, month, day, rest = found.groups()
            value = f"{year}-{int(month):02d}-{int(day):02d}{rest}"
    try:
        found_ms = to_ms(value, unit)
    except (ValueError, OverflowError):
        return None
    return found_ms if found_ms is not None and 0 <= found_ms < LAST_MS else None


def moment(ms: int) -> dt.datetime:
    """A time in ms since the epoch as a date object in UTC."""
    return dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(milliseconds=ms)


def number(value: Any) -> float | None:
    """The first number in a cell (``4 s``, ``1,200``, ``0.12``); bool and text without one are None."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, str):
        found = _NUMBER.search(value)
        value = found.group().replace(",", "") if found else None
    try:
        size = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return size if -_LARGEST < size < _LARGEST else None  # also false for NaN


def usd(value: Any) -> float | None:
    """A cost in USD; a cell in another currency is unknown, as no rate is known."""
    if isinstance(value, str) and any(mark in value for mark in "¥￥€£元"):
        return None
    found = number(value)
    return found if found is not None and found >= 0 else None


def truth(value: Any) -> bool | None:
    """``true``, ``True``, 1, ``yes`` and their opposites; else None."""
    if isinstance(value, bool):
        return value
    word = str(value).strip().lower() if value is not None else ""
    if word in ("true", "1", "yes", "hit"):
        return True
    return False if word in ("false", "0", "no", "miss") else None


def origin(*parts: Any) -> str | None:
    """Who sent a call, as a hash: what is hashed (key, token name, user, application) never leaves this function."""
    words = [str(part) for part in parts if part not in (None, "")]
    if not words:
        return None
    return hashlib.blake2b("\0".join(words).encode("utf-8", "replace"), digest_size=8).hexdigest()


def placeholder(file: str) -> str:
    """The session name of calls without one: the file's own name, until sessions are formed."""
    return PurePath(file).name or file


def provider_name(value: Any) -> str | None:
    """A provider's name in lower case, with the many spellings of the same one made one."""
    word = text(value)
    if word is None:
        return None
    word = word.lower()
    return _PROVIDERS.get(word, word.removesuffix(".chat").removesuffix(".responses"))


def is_side(*words: Any) -> bool:
    """A call type, path or operation that is no part of a conversation (embedding, image, audio, moderation …)."""
    return any(isinstance(word, str) and _SIDE.search(word) is not None for word in words)


class Ordinals:
    """Makes a key unique in its file: the second row with the same figures is another call, a second file a copy."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}

    def key(self, base: str) -> str:
        """``base`` for its first occurrence, then ``base#1`` …"""
        n = self._seen.get(base, 0)
        self._seen[base] = n + 1
        return base if n == 0 else f"{base}#{n}"


class Sightings:
    """Session ids that count only if they occur more than once.

    Gateways make up an id for a call that brought none. :meth:`see` returns the calls to hand out (again): a call whose
    id is new goes out without a session; when the id occurs again both go out with it.
    """

    def __init__(self, evidence: str = "explicit") -> None:
        self._first: dict[str, Call | None] = {}
        self._evidence = evidence

    def known(self, id: str | None) -> bool:
        """Whether this id was seen before."""
        return id is not None and id in self._first

    def see(self, id: str | None, call: Call) -> list[Call]:
        """``call`` carries its placeholder session; the answer replaces calls of the same key."""
        if not id:
            return [call]
        if id not in self._first:
            self._first[id] = call
            return [call]
        before, self._first[id] = self._first[id], None
        named = msgspec.structs.replace(call, session=id, session_evidence=self._evidence)
        if before is None or before.key == call.key:
            if before is not None:
                self._first[id] = call
                return [call]
            return [named]
        return [msgspec.structs.replace(before, session=id, session_evidence=self._evidence), named]


def latest(records: list[Record]) -> list[Record]:
    """Records with each call once, as it was told last; the order of first mention is kept."""
    at: dict[str, int] = {}
    out: list[Record] = []
    for record in records:
        if isinstance(record, Call) and record.key:
            place = at.setdefault(record.key, len(out))
            if place < len(out):
                out[place] = record
                continue
        out.append(record)
    return out


def written_order(calls: list[Call], *, falling: bool = False) -> list[Call]:
    """Calls of a list that shows the newest first, put back in the order they were made.

    Times are often whole seconds. Within the same time the place in the file decides, backwards; calls that share a
    time lose their line, because a line would put them in the wrong order again.

    Args:
        falling: something else says that the newest come first, where first and last have the same time.
    """
    if len(calls) < 2:
        return calls
    first, last = calls[0].time or 0, calls[-1].time or 0
    if first < last or (first == last and not falling):
        return calls
    calls.reverse()
    calls.sort(key=_time)
    if calls[0].line is not None:
        for at in range(1, len(calls)):
            if calls[at].time == calls[at - 1].time:
                for place in (at - 1, at):
                    if calls[place].line is not None:
                        calls[place] = msgspec.structs.replace(calls[place], line=None)
    return calls


def oldest_first(
    found: list[tuple[int | None, dict[str, Any]]], column: str
) -> list[tuple[int | None, dict[str, Any]]]:
    """Rows in the order they were made, whatever way round the file shows them."""
    if len(found) > 1:
        first, last = time_ms(found[0][1].get(column)), time_ms(found[-1][1].get(column))
        if first is not None and last is not None and first > last:
            return found[::-1]
    return found


def _time(call: Call) -> int:
    return call.time or 0
