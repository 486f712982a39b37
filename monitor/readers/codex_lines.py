"""Shapes of Codex rollout lines for the typed decoder, and small helpers. See :mod:`monitor.readers.codex`."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw, Struct

from monitor.readers import steps, usage
from monitor.readers.lines import first_objects, later
from monitor.readers.overflow import too_long
from monitor.readers.times import iso_ms, span_ms, to_ms
from monitor.records import Quota, Step


class Count(Struct, gc=False):
    input_tokens: usage.Figure | None = None
    cached_input_tokens: usage.Figure | None = None
    cache_write_input_tokens: usage.Figure | None = None
    output_tokens: usage.Figure | None = None
    reasoning_output_tokens: usage.Figure | None = None
    total_tokens: usage.Figure | None = None


NO_COUNT = Count()


class Info(Struct, gc=False):
    total_token_usage: Count | None = None
    last_token_usage: Count | None = None
    model_context_window: int | None = None
    auto_compact_token_limit: int | None = None


class Settings(Struct, gc=False):
    model: str | None = None
    service_tier: str | None = None


class Payload(Struct, gc=False):
    type: str | None = None
    id: str | None = None
    session_id: str | None = None
    forked_from_id: str | None = None
    forked_from_ordinal_exclusive: int | None = None
    parent_thread_id: str | None = None
    thread_id: str | None = None
    response_id: str | None = None
    compaction_response_id: str | None = None
    timestamp: str | None = None
    cwd: str | None = None
    model: str | None = None
    model_provider: str | None = None
    model_context_window: int | None = None
    role: str | None = None
    name: str | None = None
    call_id: str | None = None
    usage: Count | None = None
    info: Info | None = None
    source: Raw = Raw()
    rate_limits: Raw = Raw()
    message: Raw = Raw()
    content: Raw = Raw()
    arguments: Raw = Raw()
    input: Raw = Raw()
    action: Raw = Raw()
    output: Raw = Raw()
    window_id: str | None = None
    codex_error_info: Raw = Raw()
    subagent_history_start_ordinal: int | None = None
    history_base: Raw = Raw()
    thread_settings: Settings | None = None


class Line(Struct, gc=False):
    type: str | None = None
    timestamp: str | None = None
    payload: Payload | None = None
    ordinal: int | None = None


decode = msgspec.json.Decoder(Line).decode
Vector = tuple[int, int, int, int, int]
MADE_UP = ("<environment_context", "<user_instructions", "<ENVIRONMENT", "<turn_aborted", "<skills_instructions",
            "<permissions", "<INSTRUCTIONS", "# AGENTS.md", "<subagent", "<user_shell_command", "<collaboration_mode",
            "Another language model started to solve this problem")  # fmt: skip


# ---------------------------------------------------------------------------------------------------------------------
def score(head: bytes) -> float:
    """How sure the first bytes of a file are those of a rollout, 0 to 1."""
    found = 0.0
    for value in first_objects(head):
        payload = value.get("payload")
        kind = value.get("type")
        if isinstance(payload, dict) and "timestamp" in value:
            if kind in ("session_meta", "turn_context", "token_usage_record"):
                return 1.0
            if kind in ("response_item", "event_msg", "compacted", "world_state"):
                found = max(found, 0.9)
        elif value.get("record_type") == "state" or ({"id", "timestamp", "instructions"} <= value.keys()):
            found = max(found, 0.6)  # from before the envelope
    return found


def step(session: str, chain: str, item: tuple[Any, ...]) -> Step:
    """A step from what the parser noted: kind, line, time stamp, and what the kind needs."""
    kind, number, stamp = item[:3]
    where = (session, chain, iso_ms(stamp or ""), number)
    if kind == "tool_call":
        return steps.tool_call(*where, item[3] or "", item[4] or "", text(item[5]) or bytes(item[5]))
    if kind == "tool_result":
        return steps.tool_result(*where, item[3] or "", None, text(item[4]))
    if kind == "user":
        return steps.user(*where, item[3])
    return steps.answer(*where)


def vector(found: Count) -> Vector:
    return (
        found.input_tokens or 0,
        found.cached_input_tokens or 0,
        found.cache_write_input_tokens or 0,
        found.output_tokens or 0,
        found.reasoning_output_tokens or 0,
    )


def grown(now: Vector, before: Vector) -> Count:
    """What was spent between two totals; what became less is unknown."""
    return Count(*(usage.count(new - old) for new, old in zip(now, before, strict=True)))


def text(raw: Raw | bytes | None) -> str:
    """Text of a JSON value: a string, or the texts of a list of content parts."""
    if not raw:
        return ""
    value = later(raw)
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(str(part.get("text") or "") for part in value if isinstance(part, dict))
    return ""


def overflow(payload: Payload) -> bool:
    """Whether an error says that the context did not fit."""
    return too_long(bytes(payload.codex_error_info).decode("utf-8", "replace"), text(payload.message))


def full(total: Count) -> bool:
    """Whether totals are the mark that the context is full: the size of the window, and no tokens that make it up."""
    return bool(total.total_tokens) and not any(vector(total))


def spawned_by(raw: Raw) -> str | None:
    """Parent thread of a spawned subagent, as ``source`` tells it."""
    if len(raw) < 3:
        return None
    value = later(raw)
    for name in ("subagent", "thread_spawn"):
        value = value.get(name) if isinstance(value, dict) else None
    parent = value.get("parent_thread_id") if isinstance(value, dict) else None
    return parent if isinstance(parent, str) else None


def lenient(value: dict[str, Any]) -> Payload:
    """A payload the typed decoder refused, with what can be used of it."""
    from monitor.readers.claude_lines import clean

    out: dict[str, Any] = {}
    for name in Payload.__struct_fields__:
        item = value.get(name)
        if name in ("usage", "info"):
            if isinstance(item, dict):
                out[name] = _numbers(item)
        elif name == "thread_settings":
            if isinstance(item, dict):
                out[name] = {key: item[key] for key in ("model", "service_tier") if isinstance(item.get(key), str)}
        elif name in ("model_context_window", "forked_from_ordinal_exclusive", "subagent_history_start_ordinal"):
            out[name] = usage.count(item)
        elif name in (
            "source",
            "rate_limits",
            "message",
            "content",
            "arguments",
            "input",
            "action",
            "output",
            "codex_error_info",
            "history_base",
        ):
            if item is not None:
                out[name] = item
        elif isinstance(item, str):
            out[name] = item
    return msgspec.json.decode(clean(out), type=Payload)


def _numbers(value: dict[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for name, item in value.items():
        if name.endswith(("_tokens", "_window")):
            out[name] = usage.count(item)
        elif isinstance(item, dict):
            out[name] = _numbers(item)
    return out


def quota(raw: Raw, stamp: str | None) -> Quota | None:
    """Use of the subscription's allowance, in the shapes of all versions."""
    if len(raw) < 5:
        return None
    limits = later(raw)
    if not isinstance(limits, dict):
        return None
    primary = limits.get("primary")
    resets: int | None = None
    if isinstance(primary, dict):
        used, window, at = (primary.get(name) for name in ("used_percent", "window_minutes", "resets_at"))
        after = primary.get("resets_in_seconds")
        if at is None and isinstance(after, (int, float)):
            now, left = iso_ms(stamp or ""), span_ms(after * 1000)
            resets = now + left if now is not None and left is not None else None
        else:
            resets = to_ms(at)
    else:
        used, window = limits.get("primary_used_percent"), limits.get("primary_window_minutes")
    if not isinstance(used, (int, float)) or isinstance(used, bool):
        return None
    return Quota(float(used), resets, window if isinstance(window, int) else None)
