"""The price table: from a logged model name, provider and time to a price or to the model's limits.

Unknown stays unknown: a name that is not in the table, is of another version or is served by somebody whose prices we
do not have gives None, never a sibling's price and never 0.
"""

from __future__ import annotations

from bisect import bisect_right
from datetime import date
from typing import TYPE_CHECKING

import msgspec

from monitor.pricing import data, names
from monitor.pricing.model import Limits, Price, PriceFileError, Tier

if TYPE_CHECKING:
    from pathlib import Path

_MEMO_LIMIT = 8192  # names come from logs: a hostile one must not grow the memo without end
_DAY_MS = 86_400_000
_EPOCH = date(1970, 1, 1).toordinal()
_MILLION = 1_000_000


class _Dated:
    """The prices of one model over time: periods in order, some with hours of their own."""

    __slots__ = ("hours", "now", "prices", "starts")

    def __init__(
        self,
        starts: list[int],
        prices: list[Price],
        hours: list[tuple[tuple[data.Peak, Price], ...]],
        now: int,
    ) -> None:
        self.starts = starts
        self.prices = prices
        self.hours = hours
        self.now = now

    def at(self, when_ms: int | None) -> Price | None:
        """The price of a call at that time. Without a time: that of the day the table was made."""
        i = bisect_right(self.starts, self.now if when_ms is None else when_ms) - 1
        if i < 0:
            return None
        if self.hours[i]:
            if when_ms is None:  # which of the two it was is open
                return msgspec.structs.replace(self.prices[i], estimated=True)
            minute = when_ms % _DAY_MS // 60_000
            weekday = (when_ms // _DAY_MS + 3) % 7 + 1  # 1970-01-01 was a Thursday (4)
            for peak, price in self.hours[i]:
                if (not peak.days or weekday in peak.days) and any(_within(minute, a, b) for a, b in peak.utc):
                    return price
        return self.prices[i]


def _within(minute: int, start: int, end: int) -> bool:
    return start <= minute < end if start <= end else minute >= start or minute < end


def iso_ms(day: str) -> int:
    """Milliseconds since the epoch of an ISO date at 00:00 UTC. ValueError if it is none."""
    return (date.fromisoformat(day).toordinal() - _EPOCH) * _DAY_MS


class PriceTable:
    """Built-in prices, with a user's own on top. Make one with :meth:`load`; it is read-only afterwards."""

    def __init__(self, base: data.PriceData, own: tuple[data.Entry, ...] = ()) -> None:
        self.date = base.date
        self.sources = base.sources
        self.windows = base.windows
        self._now = iso_ms(base.date)
        self._entries = (*own, *base.models)
        self._own: dict[tuple[str, str], data.Entry] = {}
        self._vendor: dict[str, data.Entry] = {}
        self._gateway: dict[tuple[str, str], data.Entry] = {}
        for e in own:
            for key in (names.bare_key(e.model), *(names.bare_key(a) for a in e.aliases)):
                self._own[e.provider, key] = e
        for e in base.models:
            vendor = e.provider in names.VENDORS
            for key in (names.bare_key(e.model), *e.aliases):
                if vendor:
                    self._vendor.setdefault(key, e)
                else:
                    self._gateway.setdefault((e.provider, key), e)
        self._memo: dict[tuple[str | None, str | None], Price | _Dated | None] = {}
        self._limits: dict[tuple[str | None, str | None], Limits | None] = {}
        self._tiers: dict[tuple[int, str], tuple[Price, Price]] = {}  # with the price of another way of being served

    @classmethod
    def load(cls, user_file: Path | None = None) -> PriceTable:
        """The built-in table (read once per process), with ``user_file`` (YAML or JSON) laid over it.

        Raises PriceFileError for a user file that cannot be used.
        """
        global _builtin
        if _builtin is None:
            _builtin = cls(data.load())
        if user_file is None:
            return _builtin
        from monitor.pricing.userfile import read

        return cls(data.load(), read(user_file))

    # -- lookups -------------------------------------------------------------------------------------------
    def lookup(
        self, model: str | None, provider: str | None = None, when_ms: int | None = None, tier: str | None = None
    ) -> Price | None:
        """Price of a call to ``model`` at ``when_ms`` (ms since the epoch, UTC); None if it is not known.

        Without a time the price of the table's own day is given; live views should pass the present. ``tier``: how it
        was served, where that has a price of its own (``Call.service_tier``).
        """
        if tier is not None:
            return self._served(self.lookup(model, provider, when_ms), tier)
        try:
            hit = self._memo[model, provider]
        except KeyError:
            hit = self._find(model, provider)
        if type(hit) is _Dated:
            return hit.at(when_ms)
        return hit  # type: ignore[return-value]

    def moves(self, model: str | None, provider: str | None) -> bool:
        """Whether the price of a model is another one at other times."""
        return type(self._memo.get((model, provider))) is _Dated

    def _served(self, price: Price | None, tier: str) -> Price | None:
        if price is None:
            return None
        kept = self._tiers.get((id(price), tier))
        if kept is None or kept[0] is not price:
            if len(self._tiers) >= _MEMO_LIMIT:
                self._tiers.clear()
            kept = self._tiers[id(price), tier] = price, price.served(tier)
        return kept[1]

    def limits(self, model: str | None, provider: str | None = None, when_ms: int | None = None) -> Limits | None:
        """Window and output limit of a model as its vendor gives them; None if the model is not known.

        A ``[1m]`` mark on a Claude name gives the million it asks for. Engines on the user's machine set a window of
        their own, so their models are unknown here. What a client makes of a window: :mod:`monitor.pricing.windows`.
        Limits have no history in the table: ``when_ms`` is there for symmetry with :meth:`lookup`.
        """
        key = (model, provider)
        if key not in self._limits:
            if len(self._limits) >= _MEMO_LIMIT:
                self._limits.clear()
            self._limits[key] = self._find_limits(model, provider)
        return self._limits[key]

    def canonical(self, model: str | None, provider: str | None = None) -> str | None:
        """The table's name of a model (``claude-sonnet-4-5`` for every snapshot and gateway spelling of it)."""
        parsed = names.parse(model, provider)
        if parsed is None:
            return None
        found = self._entry(parsed)
        return found[0].model if found else None

    def models(self) -> list[Price]:
        """Every price of the table in order, one for each period and for special hours (named in ``source``)."""
        out: list[Price] = []
        for e in self._entries:
            for period in e.prices:
                out.append(_price(e, period, period.rates))
                for peak in period.peaks:
                    out.append(_price(e, period, peak.rates, hours=peak))
        return out

    # -- resolution ----------------------------------------------------------------------------------------
    def _find(self, model: str | None, provider: str | None) -> Price | _Dated | None:
        if len(self._memo) >= _MEMO_LIMIT:
            self._memo.clear()
        parsed = names.parse(model, provider)
        found = self._entry(parsed) if parsed is not None else None
        result: Price | _Dated | None = None
        if found is not None and parsed is not None:
            entry, near, own = found
            if (own or parsed.route not in ("host", "local")) and entry.prices:
                result = self._dated(entry, near)
        self._memo[model, provider] = result
        return result

    def _find_limits(self, model: str | None, provider: str | None) -> Limits | None:
        parsed = names.parse(model, provider)
        if parsed is None:
            return None
        found = self._entry(parsed)
        if found is None:
            return None
        entry, _, own = found
        if parsed.route == "local" and not own:
            return None
        million = parsed.million and entry.model.startswith("claude-")
        return Limits(_MILLION if million else entry.window, entry.max_output)

    def _entry(self, parsed: names.Parsed) -> tuple[data.Entry, bool, bool] | None:
        """(entry, price only near, the user's own) of a name, from itself down to its stem."""
        for key, near in names.candidates(parsed.key):
            vendor = self._vendor.get(key)
            if self._own:
                # a user's price for a vendor is not one for the gateways that resell it
                sellers = (parsed.route,) if parsed.route else (parsed.vendor, vendor.provider if vendor else None)
                for seller in (*sellers, ""):
                    if seller is not None and (own := self._own.get((seller, key))):
                        return self._with_builtin(own, parsed, key), near, True
            if parsed.route and (entry := self._gateway.get((parsed.route, key))):
                return entry, near or parsed.near, False
            if vendor is not None:
                asks_same = not parsed.route or parsed.route in vendor.also
                return vendor, near or parsed.near or not asks_same, False
        return None

    def _with_builtin(self, own: data.Entry, parsed: names.Parsed, key: str) -> data.Entry:
        """The user's entry, with the built-in prices or limits where it gives none of its own."""
        builtin = self._gateway.get((parsed.route, key)) or self._vendor.get(key)
        if builtin is None:
            return own
        return msgspec.structs.replace(
            own,
            model=builtin.model,
            prices=own.prices or builtin.prices,
            source=own.source if own.prices else builtin.source,
            modes=own.modes or builtin.modes,
            window=builtin.window if own.window is None else own.window,
            max_output=builtin.max_output if own.max_output is None else own.max_output,
        )

    def _dated(self, e: data.Entry, near: bool) -> Price | _Dated:
        prices = [_price(e, p, p.rates, near=near) for p in e.prices]
        if len(prices) == 1 and e.prices[0].since is None and not e.prices[0].peaks:
            return prices[0]
        starts = [iso_ms(p.since) if p.since else -(1 << 62) for p in e.prices]
        hours = [tuple((k, _price(e, p, k.rates, near=near)) for k in p.peaks) for p in e.prices]
        return _Dated(starts, prices, hours, self._now)


_builtin: PriceTable | None = None
_DAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]


def _price(
    e: data.Entry, p: data.Period, rates: data.Rates, *, near: bool = False, hours: data.Peak | None = None
) -> Price:
    source = e.source
    if hours is not None:
        spans = ", ".join(f"{a // 60:02d}:{a % 60:02d}-{b // 60:02d}:{b % 60:02d}" for a, b in hours.utc)
        days = " ".join(_DAYS[d - 1] for d in hours.days)
        source = f"{source}; {spans} UTC{' ' + days if days else ''}"
    return Price(
        model=e.model,
        provider=e.provider,
        valid_from=p.since,
        input=rates[0],
        output=rates[1],
        cache_read=rates[2],
        cache_write_5m=rates[3],
        cache_write_1h=rates[4],
        tiers=() if hours is not None else tuple(Tier(*t) for t in p.tiers),
        window=e.window,
        max_output=e.max_output,
        source=source,
        estimated=near or p.estimated,
        modes=tuple(e.modes.items()),
    )


__all__ = ["PriceFileError", "PriceTable", "iso_ms"]
