"""A token-level prefix cache that bills whole sessions, to check the cost formulas against.

It knows nothing of the formulas: every prompt is a list of token runs, what it has in common with an earlier prompt
that is still cached is read, the rest is written, and the bill of each request is added up.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from monitor.decision.economics import NewWindow, Situation
from monitor.pricing import Price, Tier

PREFIX, SUMMARY, KEPT, ASK, OUT = 20_000, 4_000, 10_000, 1_000, 300


def price(rho: float, omega: float, phi: float, tiers: tuple[Tier, ...] = ()) -> Price:
    """A price whose input is 1 USD per million, so that ratios can be read off. Both writes cost omega."""
    return Price(
        model="m",
        provider="p",
        input=1.0,
        output=phi,
        cache_read=rho,
        cache_write_5m=omega,
        cache_write_1h=omega,
        tiers=tiers,
    )


# ---------------------------------------------------------------------------------------------- the simulator
@dataclass
class Provider:
    """A provider with a prefix cache: tokens are numbers, prompts are runs of them."""

    price: Price
    life: float
    bill: float = 0.0
    calls: int = 0
    seen: list[tuple[float, list[range]]] = field(default_factory=list)
    names: Iterator[int] = field(default_factory=lambda: iter(range(0, 10**15, 10**8)))

    def text(self, tokens: int) -> range:
        """That many tokens nobody has sent before."""
        start = next(self.names)
        return range(start, start + tokens)

    def shared(self, prompt: list[range], now: float) -> int:
        """Tokens at the start of the prompt that a still cached prompt began with as well."""
        best = 0
        for when, old in self.seen:
            if now - when > self.life:
                continue
            common = 0
            for a, b in zip(prompt, old):
                if a.start != b.start:
                    break
                common += min(len(a), len(b))
                if len(a) != len(b):
                    break
            best = max(best, common)
        return best

    def ask(self, now: float, prompt: list[range], output: float, plain: int = 0, cached: bool = True) -> None:
        """One request. ``plain`` tokens at its end are neither read nor written (an instruction, once used)."""
        size = sum(map(len, prompt))
        rates = self.price.at(size + plain)
        hit = self.shared(prompt, now) if cached else 0
        new = rates.cache_write_5m if cached else rates.input
        assert rates.input is not None and rates.output is not None
        assert rates.cache_read is not None and new is not None
        self.bill += hit * rates.cache_read + (size - hit) * new + plain * rates.input + output * rates.output
        self.calls += 1
        if cached:
            self.seen = [*self.seen[-2:], (now, list(prompt))]


@dataclass
class Case:
    """One session that stands at ``context`` tokens; played on with or without a change."""

    price: Price
    context: int
    growth: int = 1_500
    life: float = 300.0
    pause: float = 0.0  # before the next request
    prefix_lives: bool = True  # other sessions keep the system prompt cached

    def start(self) -> tuple[Provider, range, list[range]]:
        p = Provider(self.price, self.life)
        fixed = p.text(PREFIX)
        body = [p.text(self.context - PREFIX - KEPT), p.text(KEPT)]
        p.ask(0.0, [fixed, *body], 0.0)
        p.bill = 0.0
        return p, fixed, body

    def play(self, calls: int, how: str) -> float:
        """USD of ``calls`` calls after the change ``how``."""
        return self.bills(calls, how)[-1]

    def bills(self, calls: int, how: str) -> list[float]:
        """The bill after each of the calls."""
        p, fixed, body = self.start()
        now = 20.0 + self.pause
        if how in ("cached", "flattened"):
            if how == "cached":
                p.ask(now, [fixed, *body], SUMMARY, plain=ASK)
            else:
                p.ask(now, body, SUMMARY, plain=ASK, cached=False)
            now += 20.0
            body = [p.text(SUMMARY), p.text(KEPT)]
        elif how.startswith("trim"):
            # the body is long text, a tool result, and what followed it; only the first part keeps its place
            dropped, after = (int(n) for n in how.split()[1:])
            head = self.context - PREFIX - dropped - after
            p, fixed, _ = self.start()
            body = [p.text(head), p.text(dropped), p.text(after)]
            p.seen.clear()
            p.ask(0.0, [fixed, *body], 0.0)
            p.bill = 0.0
            del body[1]
        return self.go_on(p, fixed, body, now, calls)

    def go_on(self, p: Provider, fixed: range, body: list[range], now: float, calls: int) -> list[float]:
        out = []
        for _ in range(calls):
            body.append(p.text(self.growth))
            p.ask(now, [fixed, *body], OUT)
            now += 20.0
            out.append(p.bill / 1e6)
        return out

    def new_window(self, calls: int, w: NewWindow) -> list[float]:
        p, fixed, body = self.start()
        now = 20.0 + self.pause
        if w.by_agent:
            p.ask(now, [fixed, *body], w.notes)
            now += 20.0
        if not w.prefix_warm:
            p.seen.clear()
        body = [p.text(w.notes)]
        for _ in range(w.extra_calls):
            body.append(p.text(w.reread // w.extra_calls))
            p.ask(now, [fixed, *body], OUT)
            now += 20.0
        return self.go_on(p, fixed, body, now, calls)

    def situation(self, cache: str) -> Situation:
        return Situation(
            price=self.price,
            context=self.context,
            growth=self.growth,
            cache="cold" if cache == "cold" else "warm",
        )
