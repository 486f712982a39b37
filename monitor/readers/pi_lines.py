"""Shapes of Pi's entries for the typed decoder, and what a message holds. See :mod:`.pi`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Raw, Struct

from monitor.readers import usage
from monitor.readers.agent_values import cost, obj
from monitor.readers.claude_lines import clean
from monitor.readers.lines import later


class Cost(Struct, gc=False):
    total: float | None = None


class Lives(Struct, gc=False):
    ephemeral1h: usage.Figure | None = None


class Usage(Struct, gc=False):
    input: usage.Figure | None = None
    output: usage.Figure | None = None
    cacheRead: usage.Figure | None = None
    cacheWrite: usage.Figure | None = None
    reasoning: usage.Figure | None = None
    reasoningTokens: usage.Figure | None = None  # oh-my-pi's word
    costUSD: float | None = None  # OpenClaw's
    cacheWrite1h: usage.Figure | None = None  # a part of cacheWrite
    cttl: Lives | None = None  # the same in oh-my-pi
    totalTokens: usage.Figure | None = None
    cost: Cost | None = None


class Block(Struct, gc=False):
    type: str = ""
    id: str | None = None
    name: str | None = None
    text: str | None = None
    arguments: Raw = Raw()


class Message(Struct, gc=False):
    role: str | None = None
    provider: str | None = None
    model: str | None = None
    usage: Usage | None = None
    stopReason: str | None = None
    errorMessage: str | None = None
    timestamp: int | float | str | None = None
    responseId: str | None = None
    toolCallId: str | None = None
    toolName: str | None = None
    isError: bool | None = None
    content: Raw = Raw()  # looked at only if it makes one of the latest steps


class Line(Struct, gc=False):
    type: str | None = None
    id: str | None = None
    parentId: str | None = None
    timestamp: int | float | str | None = None
    version: int | None = None
    cwd: str | None = None
    parentSession: str | None = None
    branchedFrom: str | None = None
    provider: str | None = None
    modelId: str | None = None
    tokensBefore: int | None = None
    fromId: str | None = None
    usage: Usage | None = None  # of the call that made a summary
    model: str | None = None
    message: Message | None = None


decode = msgspec.json.Decoder(Line).decode
_decode_tolerant = msgspec.json.Decoder(Line, strict=False).decode
_content: Callable[[Any], str | list[Block] | None] = msgspec.json.Decoder(str | list[Block] | None).decode


def blocks_of(raw: Raw) -> list[Block]:
    found = _read(raw)
    return found if isinstance(found, list) else []


def text_of(raw: Raw) -> str:
    found = _read(raw)
    return found if isinstance(found, str) else "\n".join(block.text or "" for block in found or ())


def _read(raw: Raw) -> str | list[Block] | None:
    """What a message holds. Blocks of an odd shape are left out."""
    if not raw:
        return None
    try:
        return _content(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        value = later(raw)
    if not isinstance(value, list):
        return value if isinstance(value, str) else None
    names = ("type", "id", "name", "text")
    return [
        Block(**{name: block[name] for name in names if isinstance(block.get(name), str)}, arguments=_raw(block))
        for block in value
        if isinstance(block, dict)
    ]


def _raw(block: dict[str, Any]) -> Raw:
    return Raw(clean(block["arguments"])) if "arguments" in block else Raw()


def tokens(found: Usage, model: str | None, provider: str | None) -> usage.Tokens:
    """The usage rule of the module's description."""
    fresh, read, write = found.input, found.cacheRead, found.cacheWrite
    if not (fresh or read or write):
        return usage.UNKNOWN
    thought = found.reasoning if found.reasoning is not None else found.reasoningTokens
    hour = found.cacheWrite1h if found.cttl is None else found.cttl.ephemeral1h
    bedrock = provider is not None and "bedrock" in provider
    gross = (bedrock and usage.gross(model, fresh, read, write)) or _holds_cache(found)
    rule = usage.inclusive if gross else usage.additive
    return rule(fresh, read, write, found.output, write_1h=hour, rule="pi", reasoning=thought)


def spent(found: Usage) -> float | None:
    """The cost of a call in USD, where it is stated; 0 is a price that was not known."""
    return (found.cost.total if found.cost is not None else found.costUSD) or None


def _holds_cache(found: Usage) -> bool:
    """Whether the total proves that the input holds the cache (OpenClaw's harness of Codex, openclaw#69298)."""
    fresh, cached = found.input or 0, (found.cacheRead or 0) + (found.cacheWrite or 0)
    return fresh >= cached > 0 and found.totalTokens == fresh + (found.output or 0)


def _figures(found: Any) -> dict[str, Any] | None:
    if not isinstance(found, dict):
        return None
    names = [name for name in Usage.__struct_fields__ if name not in ("cost", "costUSD", "cttl")]
    figures: dict[str, Any] = {name: usage.count(found.get(name)) for name in names}
    figures["costUSD"] = cost(found.get("costUSD")) or cost(obj(found.get("cost")).get("total"))
    return figures


def lenient(value: dict[str, Any]) -> Line:
    """An entry the typed decoder refused: figures as counts, fields of a wrong type left out.

    Raises:
        msgspec.ValidationError: there is nothing to be made of it.
    """
    out = {name: item for name, item in value.items() if name in Line.__struct_fields__}
    out["tokensBefore"] = usage.count(out.get("tokensBefore"))
    if not isinstance(out.get("version"), int):
        out.pop("version", None)
    for name in ("id", "parentId", "cwd", "parentSession", "branchedFrom", "provider", "modelId", "fromId", "model"):
        if not isinstance(out.get(name), str):
            out.pop(name, None)
    out["usage"] = _figures(out.get("usage"))
    message = out.pop("message", None)
    if isinstance(message, dict):
        message = {name: item for name, item in message.items() if name in Message.__struct_fields__}
        message["usage"] = _figures(message.get("usage"))
        for name in ("role", "provider", "model", "stopReason", "errorMessage", "responseId", "toolCallId"):
            if not isinstance(message.get(name), str):
                message.pop(name, None)
        out["message"] = message
    return _decode_tolerant(clean(out))
