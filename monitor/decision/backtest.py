"""Replaying decisions over past sessions: the table and fixed policies against what really happened.

Two questions, two replays. *What would it have said when?*: the policy looks at the session as it really went, call by
call; from this come the advice and its lead time before real compactions. *What would it have cost?*: the policy's acts
are carried out on a simulated context (:mod:`monitor.decision.simulate`) that it then sees itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import msgspec

from monitor.decision.engine import decide_on
from monitor.decision.facts import Facts, Tracker
from monitor.decision.model import Action, Decision
from monitor.decision.phase import phase
from monitor.decision.simulate import Assumptions, Deed, Outcome, Run, Series, as_it_was, forced, replay, series_of
from monitor.decision.table import Table, builtin
from monitor.pricing import PriceTable
from monitor.records import Event, Step
from monitor.sessions.view import SessionView, Turn

_KEPT_STEPS = 64
#: share of the cache's life after which it is asked once more whether to compact before it expires
_BEFORE_EXPIRY = 0.87
_DEEDS: dict[Action, Deed] = {
    "compact_now": "compact",
    "notes_new_window": "window",
    "fresh": "window",
    "trim": "trim",
}
BOUNDARY = 0.6


class Advice(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """What a policy began to say after a call (only changes are kept)."""

    index: int  # of the call in its session
    time: int | None
    action: Action
    rule: str


class Replay(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One policy on one session. ``low``/``high``: cost under kinder and harsher assumptions."""

    policy: str
    said: dict[str, int]  # work calls after which each action was advised
    changes: tuple[Advice, ...]
    leads: tuple[int, ...]  # calls between the first advice to act and each real compaction that was foreseen
    outcome: Outcome
    low: Outcome
    high: Outcome


class Tested(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """All policies on one session, and what really happened."""

    series: Series
    actual: Outcome  # simulated, for differences; under each of the assumptions
    actual_low: Outcome
    actual_high: Outcome
    paid: float | None  # as logged or priced, main chain
    prompt_tokens: int
    compactions: int
    replays: tuple[Replay, ...]


class Moment(msgspec.Struct, frozen=True, gc=False):
    """When a policy is asked: with the facts, the present, and how finished the phase looks."""

    facts: Facts
    now: int
    boundary: float | None
    since: int  # calls since the last reset


class Policy:
    """Asked after every call; answers with an action and the rule behind it."""

    name = ""

    def ask(self, moment: Moment) -> tuple[Action, str]:
        raise NotImplementedError

    def fresh(self) -> Policy:
        """The same policy for another session."""
        return self


class Fixed(Policy):
    """Compacts when a simple test says so."""

    def __init__(self, name: str, test: Callable[[Moment], bool]) -> None:
        self.name, self._test = name, test

    def ask(self, moment: Moment) -> tuple[Action, str]:
        return ("compact_now", self.name) if self._test(moment) else ("continue", self.name)


class ByTable(Policy):
    """The decision table, with its hysteresis."""

    def __init__(self, table: Table, prices: PriceTable | None, threshold: int | None, name: str = "table") -> None:
        self.name, self._table, self._prices, self._threshold = name, table, prices, threshold
        self._previous: Decision | None = None

    def ask(self, moment: Moment) -> tuple[Action, str]:
        self._previous = decide_on(
            moment.facts,
            now_ms=moment.now,
            prices=self._prices,
            table=self._table,
            threshold=self._threshold,
            previous=self._previous,
            brief=True,
        )
        return self._previous.action, self._previous.rule

    def fresh(self) -> Policy:
        return ByTable(self._table, self._prices, self._threshold, self.name)


def used(moment: Moment) -> int:
    """Prompt plus output of the latest call."""
    return (moment.facts.prompt or 0) + (moment.facts.output or 0)


def fixed_policies(a: Assumptions) -> list[Policy]:
    """The policies a table is compared with."""

    def at_share(m: Moment) -> bool:
        return m.facts.usable_limit is not None and used(m) >= a.share * m.facts.usable_limit

    def at_limit(m: Moment) -> bool:
        return m.facts.usable_limit is not None and used(m) >= m.facts.usable_limit

    def at_boundary(m: Moment) -> bool:
        return (m.boundary or 0.0) >= BOUNDARY and used(m) >= a.boundary_tokens

    return [
        Fixed("never", lambda m: False),
        Fixed(f"at {a.share:.0%}", at_share),
        Fixed("client's threshold", at_limit),
        Fixed(f"every {a.every_calls} calls", lambda m: m.since >= a.every_calls),
        Fixed("at boundaries", at_boundary),
    ]


def at_tokens(size: int) -> Policy:
    """Compacts at a size in tokens."""
    return Fixed(f"at {size:,} tokens", lambda m: used(m) >= size)


def backtest(
    views: Sequence[SessionView],
    *,
    prices: PriceTable | None,
    table: Table | None = None,
    threshold: int | None = 100_000,
    assumptions: Assumptions | None = None,
    policies: Sequence[Policy] | None = None,
    lean: bool = False,
) -> list[Tested]:
    """Replay policies over sessions; sessions with fewer than two work calls are left out.

    Args:
        views: loaded with every step (detail), or boundaries cannot be told.
        table: None for the built-in one.
        policies: None for the table and the fixed ones.
        lean: only simulate, do not tell what was said when.
    """
    a = assumptions or Assumptions()
    chosen = list(policies) if policies is not None else [
        ByTable(table or builtin(), prices, threshold), *fixed_policies(a)
    ]  # fmt: skip
    out = []
    for view in views:
        series = series_of(view)
        if series is None or view.totals_only:
            continue
        moments = _Moments(series, bare=lean)
        replays = tuple(_replay(series, moments, policy, prices, a, lean) for policy in chosen)
        paid = [t.cost_usd for t in view.turns if t.call.chain == "main" and t.call.purpose != "side"]
        known = None if any(c is None for c in paid) else sum(c for c in paid if c is not None)
        out.append(
            Tested(
                series=series,
                actual=as_it_was(series, prices, a),
                actual_low=as_it_was(series, prices, kinder(a)),
                actual_high=as_it_was(series, prices, harsher(a)),
                paid=known,
                prompt_tokens=sum(
                    t.call.prompt_tokens or 0 for t in view.turns if t.call.chain == "main" and t.call.purpose != "side"
                ),
                compactions=sum(e.kind == "compaction" and e.chain == "main" for e in view.events),
                replays=replays,
            )
        )
    return out


def kinder(a: Assumptions) -> Assumptions:
    """Half the summary, and nothing has to be read again."""
    return msgspec.structs.replace(a, summary_tokens=a.summary_tokens // 2, reread_tokens=0, rework_calls=0)


def harsher(a: Assumptions) -> Assumptions:
    """Twice the summary and twice the rework."""
    return msgspec.structs.replace(
        a, summary_tokens=a.summary_tokens * 2, reread_tokens=a.reread_tokens * 2, rework_calls=a.rework_calls * 2
    )


class _Moments:
    """When a policy is asked after each call, and the steps seen by then; the same for every policy of a session."""

    def __init__(self, series: Series, *, bare: bool = False) -> None:
        points = series.points
        self.times = [p.turn.call.time for p in points]
        steps = [s for s in series.view.steps if s.chain == "main" and s.time is not None]
        # lines tell the order best, but only inside one file
        files = {p.turn.call.file for p in points}
        lines = [p.turn.call.line for p in points]
        by_line = len(files) == 1 and all(n is not None for n in lines) and all(s.line is not None for s in steps)
        places = [((s.line if by_line else s.time) or 0) for s in steps]
        order = sorted(range(len(steps)), key=places.__getitem__)
        self._steps = [steps[k] for k in order]
        starts = lines if by_line else self.times
        self._ends: list[int] = []
        place = 0
        for n in range(len(points)):
            until = starts[n + 1] if n + 1 < len(points) else None
            while place < len(order) and (until is None or places[order[place]] < until):
                place += 1
            self._ends.append(place)
        self.boundaries = [None if bare else self._boundary(n) for n in range(len(points))]

    def steps(self, n: int, until: int | None = None) -> Sequence[Step]:
        """The latest steps before the call after ``n`` (or before a time)."""
        end = self._ends[n]
        if until is not None:
            while end > 0 and (self._steps[end - 1].time or 0) > until:
                end -= 1
        return self._steps[max(0, end - _KEPT_STEPS) : end]

    def now(self, n: int) -> int:
        """The last moment before the next call."""
        after = self.times[n + 1] if n + 1 < len(self.times) else None
        own = self.times[n]
        return after - 1 if after is not None else own if own is not None else 0

    def _boundary(self, n: int) -> float | None:
        own, now = self.times[n], self.now(n)
        idle = None if own is None else max(0.0, (now - own) / 1000)
        return phase(self.steps(n), idle_s=idle, now_ms=now).boundary


def _replay(
    series: Series, moments: _Moments, policy: Policy, prices: PriceTable | None, a: Assumptions, lean: bool
) -> Replay:
    said: dict[str, int] = {}
    changes: tuple[Advice, ...] = ()
    leads: tuple[int, ...] = ()
    if not lean:
        said, changes, leads = _as_it_went(series, moments, policy.fresh())
    outcome = _simulate(series, moments, policy.fresh(), prices, a)
    return Replay(
        policy=policy.name,
        said=said,
        changes=changes,
        leads=leads,
        outcome=outcome,
        low=replay(series, prices, kinder(a), outcome.deeds),
        high=replay(series, prices, harsher(a), outcome.deeds),
    )


def _as_it_went(
    series: Series, moments: _Moments, policy: Policy
) -> tuple[dict[str, int], tuple[Advice, ...], tuple[int, ...]]:
    """What the policy would have said about the session as it really was."""
    tracker = Tracker(series.view)
    said: Counter[str] = Counter()
    changes: list[Advice] = []
    leads: list[int] = []
    first: int | None = None  # work call after which acting was first advised in this window
    since = 0
    for n, point in enumerate(series.points):
        if point.reset is not None and n:
            if point.reset.kind == "compaction" and first is not None:
                leads.append(n - 1 - first)
            first, since = None, 0
            tracker.reset(point.reset)
        since += 1
        facts = tracker.add(point.turn, moments.steps(n))
        action, rule = policy.ask(Moment(facts, moments.now(n), moments.boundaries[n], since))
        said[action] += 1
        if action != "continue" and first is None:
            first = n
        if not changes or (changes[-1].action, changes[-1].rule) != (action, rule):
            changes.append(Advice(index=point.turn.index, time=point.turn.call.time, action=action, rule=rule))
    return dict(said), tuple(changes), tuple(leads)


def _simulate(series: Series, moments: _Moments, policy: Policy, prices: PriceTable | None, a: Assumptions) -> Outcome:
    """Carry out what the policy says on a context of its own."""
    run = Run(series, prices, a)
    tracker = Tracker(series.view)
    needs_steps = isinstance(policy, ByTable)
    armed = False
    last = len(series.points) - 1
    before: Turn | None = None
    for n, point in enumerate(series.points):
        size = run.arrive(n)
        turn = _as_simulated(point.turn, size, before, reset=run.since == 1 and n > 0)
        before = turn
        if n == last:
            break
        facts = tracker.add(turn, moments.steps(n) if needs_steps else ())
        action, cold, at_once, drop = _ask(policy, facts, moments, n, run.since)
        deed = _DEEDS.get(action)
        if deed is None and armed and (moments.boundaries[n] or 0.0) >= BOUNDARY:
            deed = "compact"
        if deed is None and forced(run, n):
            deed = "forced"
        armed = (armed or action == "compact_at_boundary") and deed is None
        if deed is None or (deed == "trim" and not drop):
            continue
        run.act(n, deed, cold=cold, at_once=at_once, drop=drop)
        if deed == "trim":
            tracker.trim()
        else:
            tracker.reset(_event(series.view, deed, run.next_size))
    return run.outcome()


def _ask(policy: Policy, facts: Facts, moments: _Moments, n: int, since: int) -> tuple[Action, bool, bool, int]:
    """What the policy wants: (action, cache cold by then, the next call follows at once, tokens a trim would drop).

    Fixed policies act right after a call. The table is asked before the cache expires and again before the next call.
    """
    start, now, life = facts.time, moments.now(n), facts.ttl_s
    moment = Moment(facts, now, moments.boundaries[n], since)
    if not isinstance(policy, ByTable):
        return policy.ask(moment)[0], False, False, 0
    gap = 0.0 if start is None else (now - start) / 1000
    if start is not None and life and gap > _BEFORE_EXPIRY * life:
        early = start + round(_BEFORE_EXPIRY * life * 1000)
        seen = msgspec.structs.replace(facts, steps=moments.steps(n, early))
        action, _ = policy.ask(Moment(seen, early, moments.boundaries[n], since))
        if action in _DEEDS:
            return action, False, False, _droppable(facts)
    action, _ = policy.ask(moment)
    return action, bool(life and gap > life), True, _droppable(facts)


def _droppable(facts: Facts) -> int:
    """Tokens in tool results older than the last three, by their sizes."""
    from monitor.decision.signals import CHARS_PER_TOKEN

    results = [s.size for s in facts.steps if s.kind == "tool_result"][:-3]
    return min(round(sum(results) / CHARS_PER_TOKEN), facts.prompt or 0)


def _as_simulated(turn: Turn, size: int, before: Turn | None, *, reset: bool) -> Turn:
    """The real call with the simulated prompt."""
    expected = before.call.prompt_tokens if before is not None else None
    read = turn.call.cache_read_tokens
    if read is not None and turn.expected_read and expected is not None and not reset:
        read = round(min(1.0, read / turn.expected_read) * min(expected, size))
    call = msgspec.structs.replace(turn.call, prompt_tokens=size, cache_read_tokens=read)
    delta = None if expected is None or reset else size - expected
    return msgspec.structs.replace(turn, call=call, delta=delta, expected_read=expected)


def _event(view: SessionView, deed: Deed, after: int | None) -> Event:
    """A simulated reset; a new window takes the summaries of before with it."""
    return Event(
        kind="clear" if deed == "window" else "compaction",
        evidence="inferred",
        session=view.session,
        file=view.files[0] if view.files else "",
        tokens_after=after,
    )
