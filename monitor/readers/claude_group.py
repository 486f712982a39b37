"""The lines of one answer of Claude Code, while they come in, and the call they make. See :mod:`.claude_code`."""

from __future__ import annotations

from typing import Any

import msgspec

from monitor.readers import claude_lines as shape
from monitor.readers import claude_usage as figures
from monitor.readers import usage
from monitor.readers.base import FileContext
from monitor.readers.times import iso_ms
from monitor.records import Call, Event

SOURCE = "claude-code"
FULL = "model_context_window_exceeded"  # why an answer stopped
_TTL_5M, _TTL_1H = 300, 3600
#: agents that the client starts for itself, by the beginning of their chain: they copy the conversation and ask once
_OWN = ("agent:acompact-", "agent:aprompt_suggestion-")
_MOST_USD = 1e6  # a larger cost of one call is damage
#: names that thousands of calls share, as one object each: it saves a fifth of a call's memory
_SAME: dict[Any, Any] = {}


class Group(msgspec.Struct, gc=False):
    """One answer: the figures that count of all its lines."""

    session: str
    chain: str
    line: int
    key: str
    message: str | None  # the provider's id
    request: str | None
    time: str | None = None  # of its first line
    exchange: int | None = None
    requested: str | None = None  # when the request was sent
    model: str | None = None
    usage: shape.Usage | None = None
    weight: int = -1  # of the usage; there is none yet
    output: int | None = None
    cost: float | None = None
    stop: str | None = None
    end: str | None = None  # time of its last line
    dirty: bool = True
    answered: bool = False

    def tell(self, found: shape.Usage) -> None:
        """Take the figures of one line."""
        # (writes told by life time only are looked for where the sum is not told)
        written = found.cache_creation_input_tokens or figures.written(found) or 0
        weight = (found.input_tokens or 0) + (found.cache_read_input_tokens or 0) + written
        if weight >= self.weight:  # they are equal, but for placeholders
            self.usage = found
            self.weight = weight
        output = found.output_tokens
        if output is not None and (self.output is None or output > self.output):
            self.output = output


def _standard(found: shape.Usage) -> bool:
    """Whether it was served as nearly all answers are: a quick look, as every call is asked."""
    return not (found.service_tier != "standard" or found.speed == "fast" or found.inference_geo == "us")


def call_of(group: Group, file: str) -> Call:
    """The call that the lines of one answer tell."""
    found = group.usage
    tokens = usage.UNKNOWN if found is None else figures.tokens(found, group.output)
    model = group.model
    if model is not None:
        model = _SAME.setdefault(model, model)
    time = iso_ms(group.time) if group.time else None
    duration = None
    if group.requested and (start := iso_ms(group.requested)) is not None:
        time = start
        if group.stop and group.end and (end := iso_ms(group.end)) is not None:
            duration = max(0, end - start)
    chain, purpose = group.chain, "work"
    if chain != "main" and chain.startswith(_OWN):
        purpose = "compaction" if chain.startswith("agent:acompact-") else "side"
        chain = "side"
    # by position, see monitor.records
    return Call(
        _SAME.setdefault(group.session, group.session),
        SOURCE,
        file,
        group.line,
        chain,
        "explicit",
        group.message,  # call_id
        group.key,
        time,
        duration,
        "anthropic" if model is not None and model.startswith("claude") else None,  # provider
        model,
        tokens.prompt,
        tokens.fresh,
        tokens.read,
        tokens.write,
        tokens.write_1h,
        tokens.output,
        group.stop is None,  # output_is_lower_bound
        tokens.reasoning,
        tokens.billed_prompt,
        tokens.billed,
        None,  # context_limit
        None,  # usable_limit
        group.cost if group.cost is not None and 0 < group.cost < _MOST_USD else None,
        "ok",
        purpose,  # type: ignore[arg-type]
        group.exchange,
        (_TTL_1H if tokens.write_1h else _TTL_5M) if tokens.write else None,
        _SAME.setdefault(group.stop, group.stop),
        False,  # has_bodies
        None,  # prefix_kept
        tokens.rule,
        service_tier=None if found is None or _standard(found) else figures.service_tier(found),
        elsewhere=tokens.elsewhere,
    )


def compaction_in(group: Group, call: Call) -> Event | None:
    """The compaction the provider made inside this call, if it made one."""
    if call.billed is None or figures.compaction_pass(group.usage) is None:
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


def overflow_in(call: Call) -> Event:
    """The answer was cut because the context was full."""
    return Event(
        kind="overflow",
        evidence="recorded",
        session=call.session,
        chain=call.chain,
        file=call.file,
        line=call.line,
        time=call.time,
        key=f"{call.key}:overflow",
        detail=FULL,
    )


def from_path(context: FileContext) -> tuple[str | None, str | None]:
    """Parent session and chain, where the file lies in a session's ``subagents`` folder."""
    if context.path is None:
        return None, None
    stem = context.path.stem
    if stem.startswith("agent-") and "subagents" in (parts := context.path.parts)[:-1]:
        # agents of agents: the folder of the session is the outermost one, that of an agent is named for it
        places = [n for n, part in enumerate(parts[:-1]) if part == "subagents"]
        while len(places) > 1 and parts[places[-1] - 1].startswith("agent-"):
            places.pop()
        where = places[-1]
        return parts[where - 1] if where else None, f"agent:{stem[6:]}"
    return None, None
