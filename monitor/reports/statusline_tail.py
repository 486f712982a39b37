"""The end of a Claude Code transcript, read for the status line: sizes, growth, cache and compactions of late.

A reading of its own because a status line has 60 ms of CPU: it looks at the last megabyte, decodes only lines that can
matter, and needs none of the readers. What a call's prompt is (additive: fresh + written + read) and which lines make
one call (same message id) is as in :mod:`monitor.readers.claude_code`.
"""

from __future__ import annotations

from datetime import datetime
from os import PathLike

import msgspec

from monitor.decision.facts import Compacted, Warmth
from monitor.sessions.forecast import weighted

TAIL_BYTES = 1 << 20
_RECENT = 40
_WARM_CALLS = 10


class _Split(msgspec.Struct, gc=False):
    ephemeral_1h_input_tokens: int | None = None


class _Usage(msgspec.Struct, gc=False):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation: _Split | None = None


class _Message(msgspec.Struct, gc=False):
    id: str | None = None
    model: str | None = None
    usage: _Usage | None = None


class _Compact(msgspec.Struct, gc=False):
    postTokens: int | float | None = None


class _Line(msgspec.Struct, gc=False):
    type: str = ""
    subtype: str | None = None
    timestamp: str | None = None
    isSidechain: bool | None = None
    message: _Message | None = None
    compactMetadata: _Compact | None = None


class _Call(msgspec.Struct, gc=False):
    prompt: int
    read: int | None
    write_1h: int
    output: int
    model: str | None
    time: int | None


class TailFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens and milliseconds. ``whole``: the transcript was read from its beginning."""

    whole: bool
    calls: int
    prompt: int | None = None
    output: int | None = None
    model: str | None = None
    opening: int | None = None
    time: int | None = None
    ttl_s: int | None = None
    mean_delta: float | None = None
    deltas: int = 0
    recent: tuple[int, ...] = ()
    compactions: int = 0
    latest: tuple[Compacted, ...] = ()
    reset_pending: bool = False  # a compaction after the last call
    recorded_after: int | None = None
    peak: int | None = None
    warmth: Warmth = Warmth()
    hit_ratio: float | None = None
    misses: int = 0


def read_tail(path: str | PathLike[str], size: int = TAIL_BYTES) -> TailFacts | None:
    """Read the end of a transcript; None if it cannot be opened or holds no call."""
    try:
        with open(path, "rb") as stream:
            end = stream.seek(0, 2)
            start = max(0, end - size)
            stream.seek(start)
            data = stream.read()
    except (OSError, ValueError):
        return None
    lines = data.split(b"\n")
    return _facts(lines[1:] if start else lines, whole=start == 0)


def _facts(lines: list[bytes], whole: bool) -> TailFacts | None:
    decode = msgspec.json.Decoder(_Line).decode
    calls: list[_Call | None] = []  # None: a compaction
    after: dict[int, int | None] = {}
    places: dict[str, int] = {}
    for raw in lines:
        if b'"usage"' not in raw and b'"compact_boundary"' not in raw:
            continue
        try:
            line = decode(raw)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            continue
        if line.isSidechain:
            continue
        if line.type == "system" and line.subtype == "compact_boundary":
            told = line.compactMetadata.postTokens if line.compactMetadata is not None else None
            after[len(calls)] = None if told is None else round(told)
            calls.append(None)
        elif line.type == "assistant" and (call := _call(line)) is not None:
            id = line.message.id if line.message is not None else None
            if id is not None and id in places:
                known = calls[places[id]]
                if known is not None:
                    known.output = max(known.output, call.output)
                continue
            if id is not None:
                places[id] = len(calls)
            calls.append(call)
    made = [call for call in calls if call is not None]
    if not made:
        return None
    last = made[-1]
    mean, recent = _growth(calls)
    ends = [n for n, call in enumerate(calls) if call is None]
    pending = calls[-1] is None
    reads = sum(c.read for c in made if c.read is not None)
    prompts = sum(c.prompt for c in made if c.read is not None)
    life = 3600 if any(c.write_1h for c in made[-20:]) else 300
    warmth, misses = _warmth(calls, life)
    return TailFacts(
        whole=whole,
        calls=len(made),
        prompt=last.prompt,
        output=last.output,
        model=last.model,
        opening=made[0].prompt if whole else None,
        time=last.time,
        ttl_s=life,
        mean_delta=mean,
        deltas=len(recent),
        recent=tuple(recent[-_RECENT:]),
        compactions=len(ends),
        latest=tuple(_compacted(calls, at) for at in ends[-3:]),
        reset_pending=pending,
        recorded_after=after.get(len(calls) - 1) if pending else None,
        peak=max(c.prompt for c in made),
        warmth=warmth,
        hit_ratio=reads / prompts if prompts else None,
        misses=misses,
    )


def _call(line: _Line) -> _Call | None:
    message = line.message
    if message is None or message.usage is None or message.model == "<synthetic>":
        return None
    u = message.usage
    prompt = (u.input_tokens or 0) + (u.cache_creation_input_tokens or 0) + (u.cache_read_input_tokens or 0)
    if not prompt:
        return None  # a gateway that does not report: unknown, not empty
    hour = u.cache_creation.ephemeral_1h_input_tokens if u.cache_creation is not None else None
    return _Call(
        prompt, u.cache_read_input_tokens, hour or 0, u.output_tokens or 0, message.model, _milliseconds(line.timestamp)
    )


def _milliseconds(text: str | None) -> int | None:
    try:
        return round(datetime.fromisoformat(text).timestamp() * 1000) if text else None
    except (ValueError, OverflowError, OSError):
        return None


def _compacted(calls: list[_Call | None], at: int) -> Compacted:
    behind = [call for call in calls[at + 1 :] if call is not None]
    return Compacted(len(behind), behind[0].prompt if behind else None)


def _growth(calls: list[_Call | None]) -> tuple[float | None, list[int]]:
    """Weighted mean of growth since the last reset, and the deltas it rests on."""
    mean: float | None = None
    recent: list[int] = []
    before: _Call | None = None
    for call in calls:
        if call is None or (before is not None and _dropped(before, call)):
            mean, recent, before = None, [], call
            continue
        if before is not None:
            delta = call.prompt - before.prompt
            mean = weighted(mean, delta)
            recent.append(delta)
        before = call
    return mean, recent


def _dropped(before: _Call, call: _Call) -> bool:
    """A reset that no line tells: under 0.7 of the prompt before, and more than 4,000 tokens less."""
    return call.prompt < 0.7 * before.prompt and before.prompt - call.prompt > 4_000


def _warmth(calls: list[_Call | None], life: int) -> tuple[Warmth, int]:
    """Cache figures of the last calls that could have hit, and how many calls missed part of the prefix."""
    rows: list[tuple[int, int, int]] = []
    misses = 0
    before: _Call | None = None
    for call in calls:
        if call is not None and before is not None and call.read is not None:
            missed = call.read < 0.9 * before.prompt
            misses += missed
            gap = None if call.time is None or before.time is None else (call.time - before.time) / 1000
            excused = call.model != before.model or (gap is not None and gap > life)
            if not (missed and excused):
                rows.append((call.read, call.prompt, before.prompt))
        before = call
    rows = rows[-_WARM_CALLS:]
    found = sum(min(read, expected) for read, _, expected in rows)
    return (
        Warmth(sum(r for r, _, _ in rows), sum(p for _, p, _ in rows), found, sum(e for _, _, e in rows), len(rows)),
        misses,
    )
