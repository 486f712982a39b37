"""Prices and limits as frozen records.

Units: USD per million tokens for every rate, tokens for limits. ``None`` is "not known"; a rate of 0 only stands where
a price list says so.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from pathlib import Path


class PriceFileError(ValueError):
    """A user's price file cannot be used. ``str()`` names the file, the line if known, and what is expected."""

    def __init__(self, file: Path | str, expected: str, line: int | None = None) -> None:
        self.file = str(file)
        self.line = line
        self.expected = expected
        where = f"{self.file}, line {line}" if line is not None else self.file
        super().__init__(f"{where}: {expected}")


class Limits(msgspec.Struct, frozen=True, gc=False):
    """How many prompt tokens a model takes (``window``) and how many it may generate. ``None``: not known."""

    window: int | None = None
    max_output: int | None = None


class Tier(msgspec.Struct, frozen=True, gc=False):
    """Rates of a request whose prompt has more than ``above`` tokens; the whole request is billed at them."""

    above: int
    input: float | None
    output: float | None
    cache_read: float | None = None
    cache_write_5m: float | None = None
    cache_write_1h: float | None = None


class Price(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """What one model costs from ``valid_from`` (ISO date, UTC; None: since ever) on.

    ``estimated``: the name was resolved by its longest known prefix, or over a reseller or at an hour whose price the
    sources do not state; the figure is then a list price near the truth, to be shown with a mark.
    """

    model: str
    provider: str
    valid_from: str | None = None
    input: float | None = None
    output: float | None = None
    cache_read: float | None = None
    cache_write_5m: float | None = None
    cache_write_1h: float | None = None
    tiers: tuple[Tier, ...] = ()
    window: int | None = None
    max_output: int | None = None
    source: str = ""
    estimated: bool = False

    def _rates(self, prompt_tokens: int | None) -> Price | Tier:
        """Base rates or the tier of a request with that many prompt tokens."""
        if prompt_tokens is not None:
            for tier in reversed(self.tiers):  # ascending by ``above``
                if prompt_tokens > tier.above:
                    return tier
        return self

    def at(self, prompt_tokens: int | None) -> Price:
        """The price that a request with that many prompt tokens pays: a Price without tiers of its own.

        An unknown size (None) gives the base rates.
        """
        if not self.tiers:
            return self
        r = self._rates(prompt_tokens)
        return msgspec.structs.replace(
            self,
            input=r.input,
            output=r.output,
            cache_read=r.cache_read,
            cache_write_5m=r.cache_write_5m,
            cache_write_1h=r.cache_write_1h,
            tiers=(),
        )

    def cost_of(self, passes: Iterable[tuple[int, int, int, int, int]]) -> float | None:
        """USD of a call that bills several internal passes (fresh, read, write, write_1h, output), each at its tier."""
        total = 0.0
        for one in passes:
            usd = self.cost(*one)
            if usd is None:
                return None
            total += usd
        return total

    def cost(
        self,
        fresh: int | None,
        read: int | None,
        write: int | None,
        write_1h: int | None,
        output: int | None,
    ) -> float | None:
        """USD of one request; None where a needed token count or rate is unknown.

        ``write`` counts all cache writes, ``write_1h`` those of them with a life time of one hour. A cache figure the
        log does not give (None) is no item of its own: it is then part of ``fresh``. A list without a cache read or
        write rate bills such tokens as plain input; one-hour writes have no such stand-in unless the list knows no
        write fee at all, as their rate is never that of five-minute writes.
        """
        if fresh is None or output is None:
            return None
        read = read or 0
        write = write or 0
        hour = min(write_1h or 0, write)
        r = self._rates(fresh + read + write) if self.tiers else self
        if r.input is None or r.output is None:
            return None
        total = fresh * r.input + output * r.output
        if read:
            total += read * (r.input if r.cache_read is None else r.cache_read)
        if write:
            short = r.input if r.cache_write_5m is None else r.cache_write_5m
            total += (write - hour) * short
            if hour:
                long = r.cache_write_1h
                if long is None:
                    if r.cache_write_5m is not None:
                        return None
                    long = r.input
                total += hour * long
        return total / 1e6
