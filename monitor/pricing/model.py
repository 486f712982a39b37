"""Prices and limits as frozen records.

Units: USD per million tokens for every rate, tokens for limits. ``None`` is "not known"; a rate of 0 only stands where
a price list says so.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

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
    #: ways of being served at another price: what input and cache writes, output and cache reads are multiplied by
    modes: tuple[tuple[str, tuple[float, float, float]], ...] = ()

    def served(self, tier: str) -> Price:
        """The price of a call that was served in another way than the standard one (``Call.service_tier``).

        A way the list does not have: half the price for batches and flex, which every vendor grants, as an estimate;
        for Anthropic's priority, which is bought in advance, the list price as an estimate; the list price for "us",
        which only newer models ask more for; else unknown.
        """
        ways = dict(self.modes)
        fresh = out = read = 1.0
        estimated = self.estimated
        for way in tier.split("+"):
            known = ways.get(way)
            if known is None and way in ("batch", "flex"):
                known, estimated = (0.5, 0.5, 0.5), True
            elif known is None and way == "priority" and self.provider == "anthropic":
                known, estimated = (1.0, 1.0, 1.0), True
            elif known is None and way == "us":
                known = (1.0, 1.0, 1.0)
            if known is None:
                return replace(self, input=None, output=None, tiers=(), modes=())
            fresh, out, read = fresh * known[0], out * known[1], read * known[2]

        factors = [("input", fresh), ("output", out), ("cache_read", read)]
        factors += [("cache_write_5m", fresh), ("cache_write_1h", fresh)]

        def times(rates: Price | Tier) -> dict[str, float | None]:
            told = ((name, getattr(rates, name), factor) for name, factor in factors)
            return {name: None if rate is None else rate * factor for name, rate, factor in told}

        tiers = tuple(replace(one, **times(one)) for one in self.tiers)
        return replace(self, **times(self), tiers=tiers, estimated=estimated, modes=())

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
        return replace(
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
        rates: Price | Tier = self
        tiers = self.tiers
        if tiers and (prompt := fresh + (read or 0) + (write or 0)) > tiers[0].above:
            rates = self._rates(prompt)
        plain, said = rates.input, rates.output
        if plain is None or said is None:
            return None
        total = fresh * plain + output * said
        if read:
            rate = rates.cache_read
            total += read * (plain if rate is None else rate)
        if write:
            short = rates.cache_write_5m
            hour = min(write_1h, write) if write_1h else 0
            total += (write - hour) * (plain if short is None else short)
            if hour:
                long = rates.cache_write_1h
                if long is None:
                    if short is not None:
                        return None
                    long = plain
                total += hour * long
        return total / 1e6
