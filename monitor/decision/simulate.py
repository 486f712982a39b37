"""What a past session would have cost under other decisions: its calls replayed on another size of context.

The work is taken as it happened: the same calls, growth, outputs, pauses and cache faults. Only what sits in the
context differs. Where the real session was compacted and the simulated one was not, that call's own growth is not
known and the mean growth before it is taken. Money and tokens are told as differences between two simulations (a
policy and what really happened), so that what the model gets wrong in both cancels. Real compactions are charged the
same rework as simulated ones: what they really asked for again is part of the growth and cannot be told apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from monitor.decision.facts import RESETS, is_work
from monitor.pricing import PriceTable
from monitor.pricing.model import Price
from monitor.records import Event
from monitor.sessions.view import SessionView, Turn

Deed = Literal["compact", "window", "trim", "forced"]
_FIXED_MAX = 40_000
_REWORK_OUTPUT = 300


class Assumptions(msgspec.Struct, frozen=True, kw_only=True):
    """What a compaction or a new window leaves behind and asks for. Tokens and calls; all can be changed."""

    after_tokens: int | None = None  # size after a compaction; None: fixed part + summary + kept tail
    summary_tokens: int = 4_000
    keep_tokens: int = 10_000
    instruction_tokens: int = 1_000
    notes_tokens: int = 2_000
    reread_tokens: int = 15_000  # read again after a compaction or in a new window
    rework_calls: int = 4  # over so many extra calls
    share: float = 0.80  # of the policy that compacts at a share of the usable limit
    every_calls: int = 40  # of the policy that compacts every N calls
    boundary_tokens: int = 60_000  # boundaries below this size are let pass


class Point(msgspec.Struct, frozen=True, gc=False):
    """One real work call of the main chain. ``found``: share of the expected prefix that was cached (None: untold)."""

    turn: Turn
    prompt: int
    output: int
    growth: float
    guessed: bool  # the growth is a mean, as a real reset lies before this call
    reset: Event | None
    found: float | None


class Series(msgspec.Struct, frozen=True, gc=False):
    """A session as the simulation sees it."""

    view: SessionView
    points: tuple[Point, ...]
    fixed: int  # system prompt, tools, project: what every context begins with
    writes: bool  # the provider charges cache writes as an item of their own
    limit: int | None
    window: int | None


class Outcome(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """Sums of one simulation. ``cost`` is None if a call has no price."""

    prompt_tokens: int
    cost: float | None
    over_90: int
    deeds: tuple[tuple[int, Deed], ...]  # (after which work call, what)


def series_of(view: SessionView) -> Series | None:
    """The work calls of the main chain with their growth; None if there are fewer than two."""
    turns = [turn for turn in view.turns if is_work(turn)]
    if len(turns) < 2:
        return None
    resets = {e.before_call: e for e in view.events if e.kind in RESETS and e.chain == "main"}
    points: list[Point] = []
    total, known = 0.0, 0
    before: Turn | None = None
    for turn in turns:
        prompt = turn.call.prompt_tokens or 0
        reset = next((resets[n] for n in _between(before, turn) if n in resets), None)
        if before is None:
            growth, guessed = float(prompt), False
        elif reset is not None:
            growth, guessed = (total / known if known else 0.0), True
        else:
            growth, guessed = float(prompt - (before.call.prompt_tokens or 0)), False
            if growth > 0:
                total, known = total + growth, known + 1
        points.append(Point(turn, prompt, turn.call.output_tokens or 0, growth, guessed, reset, _found(turn)))
        before = turn
    return Series(
        view=view,
        points=tuple(points),
        fixed=min(points[0].prompt, _FIXED_MAX),
        writes=any(p.turn.call.cache_write_tokens for p in points),
        limit=view.usable_limit,
        window=view.context_limit,
    )


def _between(before: Turn | None, turn: Turn) -> range:
    return range((before.index if before is not None else -1) + 1, turn.index + 1)


def _found(turn: Turn) -> float | None:
    """Share of the expected prefix that was read; faults that come from a real reset count as found."""
    read = turn.call.cache_read_tokens
    if read is None or turn.cache_outcome == "unreported":
        return None
    if turn.cache_miss_cause in ("compaction", "trim") or not turn.expected_read:
        return 1.0
    return min(1.0, read / turn.expected_read)


def after_size(series: Series, a: Assumptions, deed: Deed) -> int:
    """Size of the context right after a compaction or in a new window, without what is read again."""
    if deed == "window":
        return series.fixed + a.notes_tokens
    return max(series.fixed, a.after_tokens) if a.after_tokens else series.fixed + a.summary_tokens + a.keep_tokens


def own_after_size(views: Sequence[SessionView]) -> int | None:
    """Median size of the first prompt after a real compaction of these sessions; None if there was none."""
    return middle_size([size for view in views for size in after_sizes(view)])


def after_sizes(view: SessionView) -> list[int]:
    """Sizes of the first prompts after the real compactions of a session's main chain."""
    return [e.tokens_after for e in view.events if e.kind == "compaction" and e.chain == "main" and e.tokens_after]


def middle_size(sizes: Sequence[int]) -> int | None:
    """The median of such sizes; None of none."""
    return sorted(sizes)[len(sizes) // 2] if sizes else None


class Run:
    """One simulated session, call by call: :meth:`arrive`, then perhaps :meth:`act`, and so on."""

    def __init__(self, series: Series, prices: PriceTable | None, a: Assumptions, *, real: bool = False) -> None:
        self.series, self.prices, self.a, self.real = series, prices, a, real
        self.size = 0  # prompt of the latest call
        self.before = 0  # prompt of the call before it
        self.since = 0  # calls since the last reset
        self.fresh_start = False  # a reset lies before the next call
        self.prompt_tokens = 0
        self.cost: float | None = 0.0
        self.over_90 = 0
        self.deeds: list[tuple[int, Deed]] = []
        self._next_size: float | None = None
        self._at_once = False  # acted just before the next call: no pause lies between

    def arrive(self, n: int) -> int:
        """Make call number ``n``; its simulated prompt."""
        point = self.series.points[n]
        self.before = self.size
        if self.real:
            self.size = point.prompt
            if point.reset is not None and n:
                self.fresh_start = True
        elif n == 0:
            self.size = point.prompt
        else:
            if self._next_size is not None:
                self.before = round(self._next_size)
            self.size = max(self.series.fixed, round(self.before + point.growth))
        self._bill(point, self.size, point.output, n)
        self._next_size, self.fresh_start, self._at_once = None, False, False
        self.since += 1
        limit = self.series.limit
        if limit and self.size + point.output >= 0.9 * limit:
            self.over_90 += 1
        return self.size

    @property
    def next_size(self) -> int | None:
        """What the next call starts from after an act."""
        return None if self._next_size is None else round(self._next_size)

    def act(self, n: int, deed: Deed, *, cold: bool = False, at_once: bool = False, drop: int = 0) -> None:
        """Do something after call ``n``: the summary or notes are paid for, and the next call starts from less.

        Args:
            cold: the cache had expired by then.
            at_once: the next call follows without a pause, so it finds the cache as the act left it.
            drop: tokens a trim takes out.
        """
        point = self.series.points[n]
        a, used = self.a, self.size + point.output
        price = self._price(point.turn)
        self.deeds.append((n, deed))
        self._at_once = at_once
        if deed == "trim":
            self._next_size = float(max(self.series.fixed, self.size - drop))
            self.fresh_start = True
            return
        answer = a.notes_tokens if deed == "window" else a.summary_tokens
        self._charge(price, used + a.instruction_tokens, 0 if cold else self.size, answer)
        left = after_size(self.series, a, deed)
        self.fresh_start = not self._rework(price, left)
        # where the real session was reset too, what was read again there is part of the growth that follows
        echo = any(p.reset is not None for p in self.series.points[n + 1 : n + 3])
        self._next_size = float(left if echo else left + a.reread_tokens)
        self.since = 0

    def really(self, n: int) -> None:
        """A real compaction after call ``n``: the summary call, and the same rework as any other compaction."""
        point, a = self.series.points[n], self.a
        price = self._price(point.turn)
        self._charge(price, self.size + point.output + a.instruction_tokens, self.size, a.summary_tokens)
        self._rework(price, after_size(self.series, a, "compact"))
        self.deeds.append((n, "compact"))

    def _rework(self, price: Price | None, left: int) -> bool:
        """The extra calls that find the way again; whether there are any."""
        a = self.a
        if not a.rework_calls or not a.reread_tokens:
            return False
        part = a.reread_tokens / a.rework_calls
        for k in range(a.rework_calls):
            read = self.series.fixed if k == 0 else round(left + part * k)
            self._charge(price, round(left + part * (k + 1)), read, _REWORK_OUTPUT)
        return True

    def outcome(self) -> Outcome:
        """The sums so far."""
        return Outcome(prompt_tokens=self.prompt_tokens, cost=self.cost, over_90=self.over_90, deeds=tuple(self.deeds))

    def _price(self, turn: Turn) -> Price | None:
        call = turn.call
        if self.prices is None:
            return None
        return self.prices.lookup(call.model, call.provider, call.time, call.service_tier)

    def _bill(self, point: Point, size: int, output: int, n: int) -> None:
        share = point.found if point.found is None or not self._at_once else 1.0
        prefix = 0 if n == 0 else self.series.fixed if self.fresh_start else self.before
        read = 0 if share is None else round(min(prefix, size) * share)
        self._charge(self._price(point.turn), size, read if share is not None else None, output)

    def _charge(self, price: Price | None, prompt: int, read: int | None, output: int) -> None:
        self.prompt_tokens += prompt
        if self.cost is None:
            return
        if price is None:
            self.cost = None
            return
        hits = min(read or 0, prompt)
        new = prompt - hits
        write = new if self.series.writes and read is not None else 0
        hour = write if self._hour() else 0
        paid = price.cost(new - write, hits, write, hour, output)
        self.cost = None if paid is None else self.cost + paid

    def _hour(self) -> bool:
        first = self.series.points[0].turn.call
        return bool(first.cache_write_1h_tokens) or first.cache_ttl_s == 3600


def as_it_was(series: Series, prices: PriceTable | None, a: Assumptions) -> Outcome:
    """The simulation of what really happened: real sizes, real compactions."""
    run = Run(series, prices, a, real=True)
    for n, point in enumerate(series.points):
        if point.reset is not None and point.reset.kind == "compaction" and n:
            run.really(n - 1)
        run.arrive(n)
    return run.outcome()


def replay(series: Series, prices: PriceTable | None, a: Assumptions, deeds: Sequence[tuple[int, Deed]]) -> Outcome:
    """The same deeds at the same calls under other assumptions; what the window forces comes on top."""
    planned = {n: deed for n, deed in deeds if deed != "forced"}
    run = Run(series, prices, a)
    last = len(series.points) - 1
    for n, _ in enumerate(series.points):
        run.arrive(n)
        if n == last:
            break
        deed = planned.get(n)
        if deed is not None and deed != "trim":
            run.act(n, deed)
        elif forced(run, n):
            run.act(n, "forced")
    return run.outcome()


def forced(run: Run, n: int) -> bool:
    """Whether the next call would not fit the window: then every policy has to compact."""
    series = run.series
    window = series.window
    if window is None or n + 1 >= len(series.points):
        return False
    coming = max(0.0, series.points[n + 1].growth)
    return run.size + coming > window and run.size > after_size(series, run.a, "compact") + run.a.reread_tokens
