"""Shapes of opencode's messages and parts, and the tokens of a step. See :mod:`monitor.readers.opencode`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any, TypeVar

import msgspec
from msgspec import Raw, Struct

from monitor.readers import agent_values as look
from monitor.readers import usage
from monitor.readers.agent_values import obj, tokens, word
from monitor.readers.lines import Skipped

T = TypeVar("T")


class Told(Struct, gc=False):
    """The fields of a message or a part that are looked at; large ones stay bytes until they are needed."""

    id: Any = None
    sessionID: Any = None
    messageID: Any = None
    role: Any = None
    parentID: Any = None
    modelID: Any = None
    providerID: Any = None
    model: Any = None
    mode: Any = None
    agent: Any = None
    cost: Any = None
    tokens: Any = None
    time: Any = None
    finish: Any = None
    error: Any = None
    type: Any = None
    reason: Any = None
    auto: Any = None
    overflow: Any = None
    synthetic: Any = None
    tool: Any = None
    callID: Any = None
    summary: Raw = Raw()
    text: Raw = Raw()
    state: Raw = Raw()


class State(Struct, gc=False):
    """Of a tool part: whether and when it ended, and whether its output was pruned."""

    status: Any = None
    time: Any = None
    input: Raw = Raw()
    output: Raw = Raw()
    error: Raw = Raw()


_told = msgspec.json.Decoder(Told).decode
_state = msgspec.json.Decoder(State).decode
_RAW = ("summary", "text", "state")


def told(data: bytes) -> Told | None:
    """A message or part from its JSON; None if it is none."""
    return read(data, _told, told_of)


def read(data: bytes, decode: Callable[[bytes], T], tolerant: Callable[[dict[str, Any]], T]) -> T | None:
    """A record from its JSON; None if it is none.

    Args:
        decode: the typed decoder.
        tolerant: makes the record of an object, where the decoder refuses its JSON.
    """
    try:
        return decode(data)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        pass
    try:
        found = look.loads(data)
    except Skipped:
        return None
    return tolerant(found[0]) if found and isinstance(found[0], dict) else None


def told_of(value: dict[str, Any]) -> Told:
    """The same from a decoded object."""
    return Told(**fields_of(value, Told.__struct_fields__, _RAW))


def fields_of(value: dict[str, Any], names: Iterable[str], raw: Iterable[str]) -> dict[str, Any]:
    """The named fields of an object; those in ``raw`` as JSON."""
    fields = {name: value[name] for name in names if name in value}
    return fields | {name: Raw(msgspec.json.encode(fields[name])) for name in raw if name in fields}


class Finish(Struct, gc=False):
    """A step that ended: what one request used."""

    part: str
    tokens: dict[str, Any]
    cost: Any
    reason: str | None
    before: int | None  # when the last tool of the message's earlier steps had ended


class Message(Struct):
    """A message with what its parts say."""

    id: str
    session: str
    told: Told
    created: int | None
    typed: bool = False
    parts: int = 0
    auto: bool | None = None  # it asks for a compaction, by itself or by hand
    overflow: bool = False  # because the provider refused the last request as too long
    words: int = 0  # digest of what a person typed
    starts: list[str] = []  # parts with which a step begins
    finishes: list[Finish] = []
    tools: list[tuple[str, int]] = []  # part, end of the tool
    texts: list[str] = []  # parts with what a person typed
    calls: list[str] = []  # parts with a tool call


def state_of(value: Told) -> State:
    """The state of a tool part; empty if it has none."""
    try:
        return _state(value.state)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return State()


def string(raw: Raw) -> str:
    """A text that was left undecoded."""
    try:
        found = msgspec.json.decode(raw) if len(bytes(raw)) else ""
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return ""
    return found if isinstance(found, str) else ""


def ordered(message: Message) -> list[Finish]:
    """Steps in the order of their parts, each with the end of the last tool before it (its request follows that)."""
    finishes = sorted(message.finishes, key=lambda finish: finish.part)
    if len(finishes) > 1:
        for before, finish in pairwise(finishes):
            ends = [end for part, end in message.tools if part < before.part]
            finish.before = max(ends) if ends else None
    return finishes


def with_broken(message: Message, finishes: list[Finish]) -> list[Finish]:
    """The steps, and those that another one followed before they had ended: requests whose answer broke off."""
    ends = {finish.part for finish in message.finishes}
    steps = sorted({*message.starts, *ends})
    lost = [one for one, after in pairwise(steps) if one not in ends and after not in ends]
    if not lost:
        return finishes
    found = [Finish(one, {}, None, None, None) for one in lost] + finishes
    found.sort(key=lambda finish: (not finish.part, finish.part))
    for finish in found[1:]:
        began = max((one for one in message.starts if one <= (finish.part or "~")), default="")
        finish.before = max((end for part, end in message.tools if part < began), default=message.created)
    return found


def summed(found: dict[str, Any]) -> int:
    cache = obj(found.get("cache"))
    parts = (found.get("input"), found.get("output"), cache.get("read"), cache.get("write"))
    return sum(tokens(part) or 0 for part in parts)


def error(value: Told) -> str:
    """The class of an error, never its text."""
    return word(obj(value.error).get("name")) or ("error" if value.error else "")


def step_tokens(found: dict[str, Any]) -> tuple[usage.Tokens, bool]:
    """Tokens of a step, and whether it tells none (zeros).

    ``input`` excludes the cache and ``output`` excludes reasoning, unless the total says otherwise.
    """
    cache = obj(found.get("cache"))
    fresh, output, thought = (tokens(found.get(name)) for name in ("input", "output", "reasoning"))
    read, write = tokens(cache.get("read")), tokens(cache.get("write"))
    if not summed(found):
        return usage.UNKNOWN, True
    total = tokens(found.get("total"))
    cached = (read or 0) + (write or 0)
    said, rule = output, "opencode"
    if output is not None and thought:
        inside = fresh is not None and total in (fresh + cached + output, fresh + output)
        said = output if inside else output + thought
    if total is not None and fresh is not None and fresh >= cached > 0 and total == fresh + (said or 0):
        return usage.inclusive(fresh, read, write, said, reasoning=thought, rule="opencode+inclusive"), False
    return usage.additive(fresh, read, write, said, reasoning=thought, rule=rule), False


def session_of(value: dict[str, Any]) -> tuple[str | None, str | None, Any, Any]:
    """Id, parent, directory and creation time of a session's own object."""
    created = obj(value.get("time")).get("created")
    return word(value.get("id")), word(value.get("parentID")), value.get("directory"), created
