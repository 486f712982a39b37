"""One line for a coding agent's status bar, from the status JSON it sends (Claude Code's shape).

The client's own figures are used where it sends them (context size, cache with expiry, quota) and compared with the
transcript's. Usage that is all zero means that a compaction or clear has just happened: the size is pending, not
zero. Everything is optional; whatever is missing is left out of the line.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from monitor.decision.engine import decide_on
from monitor.decision.facts import Facts, Warmth
from monitor.decision.model import ACTION_WORDS, Decision
from monitor.decision.specs import amount
from monitor.records import Quota
from monitor.reports.statusline_tail import TailFacts, read_tail
from monitor.sessions.forecast import forecast
from monitor.sessions.limits import Overrides, context_limit, max_output, usable_limit

if TYPE_CHECKING:
    from monitor.decision.table import Table
    from monitor.pricing import PriceTable

_COLOURS = {"continue": "32", "trim": "33", "compact_at_boundary": "33", "compact_now": "31"}
_LIVES = {"5m": 300, "1h": 3600}
#: the client's clock and ours may differ by this much before a difference is told (seconds)
_SLACK = 30
_QUOTAS = (("five_hour", "5h"), ("seven_day", "7d"))
_QUOTA_MINUTES = {"five_hour": 300, "seven_day": 10_080}


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """What a status line is made of."""

    facts: Facts
    tail: TailFacts | None
    usage: str  # known, pending (replaced context, no call yet), none (no call yet)
    client_expires: int | None = None  # ms since the epoch
    client_warm: bool | None = None
    client_hit_ratio: float | None = None
    client_misses: int | None = None
    client_cause: str | None = None
    quotas: tuple[tuple[str, float], ...] = ()


class StatusError(ValueError):
    """The input is no status JSON."""


def parse(data: bytes) -> dict[str, Any]:
    """The status object of the input; of several lines the last one.

    Raises:
        StatusError: there is none.
    """
    text = data.strip().removeprefix(b"\xef\xbb\xbf")
    for part in (text, text.rsplit(b"\n", 1)[-1]):
        try:
            value = msgspec.json.decode(part)
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
            continue
        if isinstance(value, dict):
            return value
    raise StatusError("no status JSON on stdin")


def status(data: Mapping[str, Any], *, prices: PriceTable | None, overrides: Overrides | None = None) -> Status:
    """Gather what the status JSON and the end of the transcript say. Odd values count as missing."""
    path = data.get("transcript_path")
    tail = read_tail(path) if isinstance(path, str) and path else None
    window_part = _mapping(data.get("context_window"))
    prompt, output, state = _usage(window_part, tail)
    model = _text(_mapping(data.get("model")).get("id")) or (tail.model if tail is not None else None)
    cache = _mapping(data.get("prompt_cache"))
    expires, life = _number(cache.get("expires_at")), _LIVES.get(_text(cache.get("ttl")) or "")
    ttl = life or (tail.ttl_s if tail is not None else None)
    time = tail.time if tail is not None else None
    if expires is not None and life is not None:
        time = round((expires - life) * 1000)
    window, known = context_limit(
        source="claude-code",
        model=model,
        provider=None,
        when=None,
        peak=tail.peak if tail is not None else prompt,
        logged=_whole(window_part.get("context_window_size")),
        prices=prices,
        overrides=overrides or Overrides(),
    )
    usable = usable_limit("claude-code", window, known, max_output(model, None, None, prices))
    used = None if prompt is None else prompt + (output or 0)
    quotas = tuple(_quotas(data))
    pending = state == "pending"
    facts = Facts(
        session=_text(data.get("session_id")) or "",
        source="claude-code",
        model=model,
        provider="anthropic",
        prompt=prompt,
        output=output,
        prompt_how="logged by the client",
        time=time,
        calls=tail.calls if tail is not None else int(used is not None),
        opening=tail.opening if tail is not None else None,
        context_limit=window,
        whole_window=window,
        usable_limit=usable,
        usable_assumed=True,
        forecast=forecast(
            used=used,
            usable=usable,
            window=window,
            mean_delta=tail.mean_delta if tail is not None and not pending else None,
            deltas=tail.deltas if tail is not None and not pending else 0,
            recent=tail.recent if tail is not None else (),
        ),
        compactions=tail.compactions if tail is not None else 0,
        latest=tail.latest if tail is not None else (),
        pending_reset=pending,
        warmth=tail.warmth if tail is not None else Warmth(),
        cache_hit_ratio=_number(cache.get("hit_ratio")) if cache else (tail.hit_ratio if tail is not None else None),
        cache_reported=bool(cache) or (tail is not None and tail.hit_ratio is not None),
        ttl_s=ttl,
        ttl_logged=True,
        quota=_quota(data),
    )
    return Status(
        facts=facts,
        tail=tail,
        usage=state,
        client_expires=None if expires is None else round(expires * 1000),
        client_warm=cache.get("warm") if isinstance(cache.get("warm"), bool) else None,
        client_hit_ratio=_number(cache.get("hit_ratio")),
        client_misses=_whole(cache.get("misses")),
        client_cause=_text(cache.get("last_miss_cause")),
        quotas=quotas,
    )


def decision_of(
    found: Status, *, now_ms: int, prices: PriceTable | None, table: Table | None, threshold: int | None
) -> Decision:
    """The advice by the same table as `decide`. What only the steps of a session tell is not known here."""
    return decide_on(found.facts, now_ms=now_ms, prices=prices, table=table, threshold=threshold)


def line(found: Status, decision: Decision, now_ms: int, *, colour: bool = False) -> str:
    """The status line, about 80 characters."""
    parts = [_size(found, decision)]
    growth = _growth(found, decision)
    if growth:
        parts.append(growth)
    left = decision.signals["calls_to_limit"].value
    if left is not None:
        parts.append(f"~{amount(left['p50'])} turns left ({amount(left['p10'])}–{amount(left['p90'])})")
    cache = _cache(found, now_ms)
    if cache:
        parts.append(cache)
    parts += [f"{name} {share:.0f}%" for name, share in found.quotas]
    word = ACTION_WORDS[decision.action]
    parts.append(f"\x1b[1;{_COLOURS.get(decision.action, '35')}m{word}\x1b[0m" if colour else word)
    return " · ".join(parts)


def comparison(found: Status, now_ms: int) -> str:
    """The client's cache figures beside those of the transcript, a line each."""
    tail = found.tail
    rows = [("", "client", "transcript", "")]
    ours = _our_expiry(found)
    rows.append(("cache expires", _until(found.client_expires, now_ms), _until(ours, now_ms), _differs_time(found)))
    whole = tail is not None and tail.whole
    mine = tail.hit_ratio if tail is not None else None
    rows.append(
        ("hit ratio", _share(found.client_hit_ratio), _share(mine), _differs(found.client_hit_ratio, mine, whole))
    )
    count = tail.misses if tail is not None else None
    rows.append(("misses", _count(found.client_misses), _count(count), _differs(found.client_misses, count, whole)))
    sizes = [max(len(row[n]) for row in rows) for n in range(3)]
    out = ["  ".join([*(row[n].ljust(sizes[n]) for n in range(3)), row[3]]).rstrip() for row in rows]
    if tail is not None and not tail.whole:
        out.append("only the end of the transcript was read; sums over the session can differ")
    return "\n".join(out)


# ------------------------------------------------------------------------------------------------------- parts
def _size(found: Status, decision: Decision) -> str:
    facts = found.facts
    limit = facts.usable_limit
    of = f" of {_k(limit)}" if limit is not None else ""
    if found.usage == "none":
        return "no call yet" + (f", room for {_k(limit)}" if limit is not None else "")
    if found.usage == "pending":
        about = f", about {_k(facts.prompt)}" if facts.prompt is not None else ""
        return f"size pending after a reset{about}{of}"
    fill = decision.signals["fill"].value
    used = decision.signals["used"].value
    share = f"{fill * 100:.0f}% " if fill is not None else ""
    return f"{share}{_k(used)}{of}" if used is not None else "size not known"


def _growth(found: Status, decision: Decision) -> str:
    known = decision.signals["tokens_per_call"].value
    if known is not None:
        return f"{_signed(known)}/turn"
    tail = found.tail
    if found.usage != "known" or tail is None or tail.mean_delta is None or tail.deltas < 2:
        return ""
    return f"~{_signed(tail.mean_delta)}/turn"


def _cache(found: Status, now_ms: int) -> str:
    client, ours = found.client_expires, _our_expiry(found)
    expires = client if client is not None else ours
    if expires is None:
        return ""
    left = (expires - now_ms) / 1000
    # the client says warm or not; its word can be old by now
    cold = left <= 0 or (client is not None and found.client_warm is False)
    text = "cache cold" if cold else f"cache warm {_minutes(left)}"
    if client is not None and ours is not None and not found.facts.pending_reset:
        mine = (ours - now_ms) / 1000 <= 0
        if mine != cold and abs(ours - client) / 1000 > _SLACK:
            text += f" (log: {'cold' if mine else 'warm'})"
    ratio = found.client_hit_ratio if found.client_hit_ratio is not None else found.facts.cache_hit_ratio
    if ratio is not None:
        text += f", {ratio * 100:.0f}% hit"
        tail = found.tail
        if tail is not None and tail.whole and tail.hit_ratio is not None and abs(tail.hit_ratio - ratio) > 0.05:
            text += f" (log: {tail.hit_ratio * 100:.0f}%)"
    return text


def _our_expiry(found: Status) -> int | None:
    tail = found.tail
    if tail is None or tail.time is None or tail.ttl_s is None or tail.hit_ratio is None:
        return None
    return tail.time + tail.ttl_s * 1000


def _usage(part: Mapping[str, Any], tail: TailFacts | None) -> tuple[int | None, int | None, str]:
    """(prompt, output, state) of the last call: by the client, else by the transcript."""
    usage = part.get("current_usage")
    if isinstance(usage, dict):
        names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        values = [_whole(usage.get(name)) for name in names]
        prompt = sum(value or 0 for value in values)
        if prompt:
            return prompt, _whole(usage.get("output_tokens")), "known"
        if any(value is not None for value in values):
            after = tail.recorded_after if tail is not None and tail.reset_pending else None
            return after, 0, "pending"
    if tail is None:
        return None, None, "none"
    if tail.reset_pending:
        return tail.recorded_after, 0, "pending"
    return tail.prompt, tail.output, "known"


def _quotas(data: Mapping[str, Any]) -> list[tuple[str, float]]:
    limits = _mapping(data.get("rate_limits"))
    out = []
    for key, name in _QUOTAS:
        used = _number(_mapping(limits.get(key)).get("used_percentage"))
        if used is not None:
            out.append((name, used))
    return out


def _quota(data: Mapping[str, Any]) -> Quota | None:
    limits = _mapping(data.get("rate_limits"))
    for key, _ in _QUOTAS:
        part = _mapping(limits.get(key))
        used, resets = _number(part.get("used_percentage")), _number(part.get("resets_at"))
        if used is not None:
            return Quota(used, None if resets is None else round(resets * 1000), _QUOTA_MINUTES[key])
    return None


# ------------------------------------------------------------------------------------------------------- words
def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0 else None


def _whole(value: Any) -> int | None:
    number = _number(value)
    return None if number is None else round(number)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _k(value: float | None) -> str:
    if value is None:
        return "–"
    if abs(value) < 1000:
        return f"{value:.0f}"
    if abs(value) < 99_950:
        return f"{value / 1000:.1f}k".replace(".0k", "k")
    return f"{value / 1000:.0f}k" if abs(value) < 999_500 else f"{value / 1e6:.2f}M"


def _signed(value: float) -> str:
    return f"{'-' if value < 0 else '+'}{_k(abs(value))}"


def _minutes(seconds: float) -> str:
    return (
        f"{seconds:.0f}s" if seconds < 60 else f"{seconds // 60:.0f}m" if seconds < 5400 else f"{seconds / 3600:.1f}h"
    )


def _until(expires: int | None, now_ms: int) -> str:
    if expires is None:
        return "–"
    left = (expires - now_ms) / 1000
    return f"in {_minutes(left)}" if left > 0 else f"{_minutes(-left)} ago"


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value * 100:.1f}%"


def _count(value: float | None) -> str:
    return "–" if value is None else f"{value:.0f}"


def _differs_time(found: Status) -> str:
    ours = _our_expiry(found)
    if found.client_expires is None or ours is None:
        return ""
    return "agree" if abs(found.client_expires - ours) / 1000 <= _SLACK else "differ"


def _differs(client: float | None, ours: float | None, whole: bool) -> str:
    if client is None or ours is None or not whole:
        return ""
    return "agree" if abs(client - ours) <= (0.01 if isinstance(client, float) else 0) else "differ"
