"""The lines of one answer of Claude Code, while they come in, and the call they make. See :mod:`.claude_code`."""

from __future__ import annotations

from monitor.readers import claude_lines as shape
from monitor.readers import usage
from monitor.readers.times import iso_ms
from monitor.records import Call, Event

SOURCE = "claude-code"
_TTL_5M, _TTL_1H = 300, 3600


class Group:
    """One answer: the figures that count of all its lines."""

    __slots__ = (
        "answered",
        "chain",
        "dirty",
        "end",
        "exchange",
        "key",
        "line",
        "message",
        "model",
        "output",
        "requested",
        "session",
        "stop",
        "time",
        "usage",
    )

    def __init__(self, session: str, chain: str, line: int, key: str, message: str | None) -> None:
        self.session, self.chain, self.line, self.key, self.message = session, chain, line, key, message
        self.model: str | None = None
        self.usage: shape.Usage | None = None
        self.output: int | None = None
        self.stop: str | None = None
        self.time: str | None = None
        self.end: str | None = None
        self.requested: str | None = None
        self.exchange: int | None = None
        self.dirty = True
        self.answered = False


def call_of(group: Group, file: str) -> Call:
    """The call that the lines of one answer tell."""
    found = group.usage
    tokens = usage.UNKNOWN if found is None else shape.tokens(found, group.output)
    start = iso_ms(group.requested) if group.requested else None
    time = start if start is not None else iso_ms(group.time or "")
    end = iso_ms(group.end or "") if start is not None and group.stop else None
    ttl = None
    if found is not None and tokens.write:
        ttl = _TTL_1H if tokens.write_1h else _TTL_5M
    return Call(
        session=group.session,
        source=SOURCE,
        file=file,
        line=group.line,
        chain=group.chain,
        call_id=group.message,
        key=group.key,
        time=time,
        duration_ms=max(0, end - time) if end is not None and time is not None else None,
        provider="anthropic" if (group.model or "").startswith("claude") else None,
        model=group.model,
        prompt_tokens=tokens.prompt,
        fresh_tokens=tokens.fresh,
        cache_read_tokens=tokens.read,
        cache_write_tokens=tokens.write,
        cache_write_1h_tokens=tokens.write_1h,
        output_tokens=tokens.output,
        output_is_lower_bound=group.stop is None,
        reasoning_tokens=tokens.reasoning,
        billed_prompt_tokens=tokens.billed_prompt,
        billed=tokens.billed,
        exchange=group.exchange,
        cache_ttl_s=ttl,
        stop=group.stop,
        usage_rule=tokens.rule,
    )


def compaction_in(group: Group, call: Call) -> Event | None:
    """The compaction the provider made inside this call, if it made one."""
    if call.billed is None or shape.compaction_pass(group.usage) is None:
        return None
    return Event(
        kind="compaction",
        evidence="recorded",
        session=call.session,
        chain=call.chain,
        file=call.file,
        line=call.line,
        trigger="auto",
        time=call.time,
        key=f"{call.key}:compaction",
        in_call=call.key,
    )
