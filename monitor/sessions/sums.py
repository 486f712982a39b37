"""Sums over calls. A figure that no call knows stays unknown."""

from __future__ import annotations

from collections.abc import Iterable

from monitor.records import Call
from monitor.sessions.view import Sums


class Acc:
    """A running sum over calls of purpose work and compaction."""

    __slots__ = ("billed", "calls", "cost", "errors", "fresh", "hour", "lower", "output", "prompt", "read", "reasoning",
                 "rough", "side", "unpriced", "unreported", "write")  # fmt: skip

    def __init__(self) -> None:
        self.calls = self.side = self.errors = self.unpriced = self.unreported = 0
        self.lower = self.rough = False
        self.prompt: int | None = None
        self.fresh: int | None = None
        self.read: int | None = None
        self.write: int | None = None
        self.hour: int | None = None
        self.output: int | None = None
        self.reasoning: int | None = None
        self.billed: int | None = None
        self.cost: float | None = None

    def add(self, call: Call, cost: float | None, rough: bool) -> None:
        """Count one call; ``cost`` in USD or None if it has no price, ``rough``: the price is one of a similar name."""
        self.calls += 1
        if (value := call.prompt_tokens) is not None:
            self.prompt = (self.prompt or 0) + value
        else:
            self.unreported += 1
        if (value := call.fresh_tokens) is not None:
            self.fresh = (self.fresh or 0) + value
        if (value := call.cache_read_tokens) is not None:
            self.read = (self.read or 0) + value
        if (value := call.cache_write_tokens) is not None:
            self.write = (self.write or 0) + value
        if (value := call.cache_write_1h_tokens) is not None:
            self.hour = (self.hour or 0) + value
        if (value := call.output_tokens) is not None:
            self.output = (self.output or 0) + value
        if (value := call.reasoning_tokens) is not None:
            self.reasoning = (self.reasoning or 0) + value
        if (value := call.billed_prompt_tokens) is not None:
            self.billed = (self.billed or 0) + value
        if call.output_is_lower_bound:
            self.lower = True
        if rough or call.status == "estimated":
            self.rough = True
        if cost is not None:
            self.cost = (self.cost or 0.0) + cost
        else:
            self.unpriced += 1

    def take(self, call: Call, cost: float | None, rough: bool) -> None:
        """Count any call as what it is: of the sums, beside them, or failed; see :meth:`add`."""
        if call.counts:
            self.add(call, cost, rough)
        elif call.answered:
            self.side += 1
        else:
            self.fail(call)

    def fail(self, call: Call) -> None:
        """Note one call without an answer: no tokens, but money where the log says that it cost some."""
        if call.status == "error":
            self.errors += 1
            if call.cost_usd is not None and call.purpose != "side":
                self.cost = (self.cost or 0.0) + call.cost_usd

    def copy(self) -> Acc:
        other = Acc.__new__(Acc)
        for name in Acc.__slots__:
            setattr(other, name, getattr(self, name))
        return other

    def sums(self) -> Sums:
        """The sum as a frozen value."""
        return Sums(
            calls=self.calls,
            side_calls=self.side,
            prompt_tokens=self.prompt,
            fresh_tokens=self.fresh,
            cache_read_tokens=self.read,
            cache_write_tokens=self.write,
            cache_write_1h_tokens=self.hour,
            output_tokens=self.output,
            output_is_lower_bound=self.lower,
            reasoning_tokens=self.reasoning,
            billed_prompt_tokens=self.billed,
            cost_usd=self.cost,
            unpriced_calls=self.unpriced,
            calls_without_usage=self.unreported,
            error_calls=self.errors,
            cost_is_estimate=self.rough,
        )


_COUNTS = ("calls", "side_calls", "unpriced_calls", "calls_without_usage", "error_calls")
_KNOWN = ("prompt_tokens", "fresh_tokens", "cache_read_tokens", "cache_write_tokens", "cache_write_1h_tokens",
          "output_tokens", "reasoning_tokens", "billed_prompt_tokens", "cost_usd")  # fmt: skip


def total(parts: Iterable[Sums]) -> Sums:
    """The sum of sums; costs are added in the order given."""
    counts = dict.fromkeys(_COUNTS, 0)
    known: dict[str, int | float | None] = dict.fromkeys(_KNOWN)
    lower = rough = False
    for part in parts:
        for name in _COUNTS:
            counts[name] += getattr(part, name)
        for name in _KNOWN:
            value = getattr(part, name)
            if value is not None:
                known[name] = (known[name] or 0) + value
        lower = lower or part.output_is_lower_bound
        rough = rough or part.cost_is_estimate
    return Sums(output_is_lower_bound=lower, cost_is_estimate=rough, **counts, **known)  # type: ignore[arg-type]
