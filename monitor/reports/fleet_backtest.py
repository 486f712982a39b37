"""The backtest of call tables too big for memory: each session is replayed by itself, the policies are added up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import IO

import msgspec

from monitor.decision.backtest import Tested, backtest
from monitor.decision.history import PolicySum, actual_sum, difference, policy_sums
from monitor.decision.simulate import Assumptions, after_sizes, middle_size
from monitor.decision.table import Table
from monitor.pricing import PriceTable
from monitor.reports import backtest_text
from monitor.reports.encode import to_json
from monitor.reports.fleet_spool import Spool
from monitor.reports.text import Ink, Stream, clean
from monitor.sessions.view import SessionView


class SizeTally:
    """Sizes that real compactions left, to tell their median."""

    def __init__(self, folder: str, bucket: int) -> None:
        self.sessions = 0
        self._sizes: list[int] = []

    def add(self, view: SessionView) -> None:
        """Count a session in."""
        self.sessions += 1
        self._sizes += after_sizes(view)

    def close(self) -> None:
        """The bucket is through."""

    def merge(self, other: SizeTally) -> None:
        """Add another bucket."""
        self.sessions += other.sessions
        self._sizes += other._sizes

    def middle(self) -> int | None:
        """The median in tokens; None if there was no compaction."""
        return middle_size(self._sizes)


class _Policy:
    """One policy over sessions. Costs are kept as differences against what happened: low, middle, high."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.priced = self.forced = self.prompt = self.over_90 = self.cheaper = 0
        self.actions: Counter[str] = Counter()
        self.said: Counter[str] = Counter()
        self.leads: list[int] = []
        self.costs = [0.0, 0.0, 0.0]

    def add(self, found: PolicySum, costs: tuple[float, float, float] | None) -> None:
        self.priced += found.priced_sessions
        self.forced += found.forced
        self.prompt += found.prompt_difference
        self.over_90 += found.calls_over_90_percent
        self.cheaper += found.sessions_cheaper
        self.actions.update(found.actions)
        self.said.update(found.said)
        self.leads += found.leads
        if costs is not None:
            self.costs = [before + more for before, more in zip(self.costs, costs)]

    def merge(self, other: _Policy) -> None:
        self.priced += other.priced
        self.forced += other.forced
        self.prompt += other.prompt
        self.over_90 += other.over_90
        self.cheaper += other.cheaper
        self.actions.update(other.actions)
        self.said.update(other.said)
        self.leads += other.leads
        self.costs = [before + more for before, more in zip(self.costs, other.costs)]

    def sum(self, actual: PolicySum) -> PolicySum:
        """As if all sessions had been replayed at once."""
        low, middle, high = self.costs
        cost = actual.cost_usd if self.priced else None
        return PolicySum(
            policy=self.name,
            sessions=actual.sessions,
            priced_sessions=self.priced,
            actions=dict(self.actions),
            said=dict(self.said),
            forced=self.forced,
            prompt_tokens=actual.prompt_tokens + self.prompt,
            cost_usd=None if cost is None else cost + middle,
            cost_low=None if cost is None else cost + low,
            cost_high=None if cost is None else cost + high,
            calls_over_90_percent=self.over_90,
            leads=tuple(self.leads),
            compactions=actual.compactions,
            prompt_difference=self.prompt,
            cost_difference=middle if self.priced else None,
            sessions_cheaper=self.cheaper,
        )


class BacktestTally:
    """Policies over sessions; one row per session on disk where JSON is wanted."""

    def __init__(self, folder: str, bucket: int, start: Start) -> None:
        self.sessions = self.calls = 0
        self.spool = Spool(folder, bucket)
        self._start: Start | None = start
        self._actual: list[PolicySum] = []  # one entry at most: what happened
        self._policies: list[_Policy] = []

    def add(self, view: SessionView) -> None:
        """Replay a session; one with fewer than two calls of known size is left out."""
        start = self._start
        assert start is not None
        for tested in backtest(
            (view,),
            prices=start.prices,
            table=start.table,
            threshold=start.threshold,
            assumptions=start.assumptions,
        ):
            self._add(tested, start)

    def _add(self, tested: Tested, start: Start) -> None:
        self.sessions += 1
        self.calls += len(tested.series.points)
        actual, sums = actual_sum((tested,)), policy_sums((tested,))
        self._happened(actual)
        if not self._policies:
            self._policies = [_Policy(found.policy) for found in sums]
        for policy, found, replay in zip(self._policies, sums, tested.replays):
            policy.add(found, difference(tested, replay))
        if start.rows:
            body = backtest_text.body(
                (tested,), actual, sums, None, start.assumptions, start.table.name, start.threshold
            )
            self.spool.add(tested.series.view, to_json(body["sessions"][0]))

    def _happened(self, more: PolicySum) -> None:
        if not self._actual:
            self._actual = [more]
            return
        before = self._actual[0]
        cost = more.cost_usd if before.cost_usd is None else before.cost_usd + (more.cost_usd or 0.0)
        self._actual[0] = msgspec.structs.replace(
            before,
            sessions=before.sessions + more.sessions,
            priced_sessions=before.priced_sessions + more.priced_sessions,
            actions=dict(Counter(before.actions) + Counter(more.actions)),
            prompt_tokens=before.prompt_tokens + more.prompt_tokens,
            cost_usd=cost,
            cost_difference=None if cost is None else 0.0,
            calls_over_90_percent=before.calls_over_90_percent + more.calls_over_90_percent,
            compactions=before.compactions + more.compactions,
        )

    def close(self) -> None:
        """The bucket is through."""
        self._start = None  # what is sent back needs neither prices nor table
        self.spool.close()

    def merge(self, other: BacktestTally) -> None:
        """Add another bucket."""
        self.sessions += other.sessions
        self.calls += other.calls
        for actual in other._actual:
            self._happened(actual)
        if not self._policies:
            self._policies = other._policies
        else:
            for policy, more in zip(self._policies, other._policies):
                policy.merge(more)
        self.spool.merge(other.spool)

    def sums(self) -> tuple[PolicySum, list[PolicySum]]:
        """What happened, and every policy."""
        actual = self._actual[0] if self._actual else actual_sum(())
        return actual, [policy.sum(actual) for policy in self._policies]


class Start(msgspec.Struct, frozen=True, kw_only=True):
    """Makes the tally of a bucket; goes to the workers. ``rows``: sessions are wanted one by one, too."""

    prices: PriceTable | None
    table: Table
    threshold: int | None
    assumptions: Assumptions
    rows: bool

    def __call__(self, folder: str, bucket: int) -> BacktestTally:
        return BacktestTally(folder, bucket, self)


def write_json(tally: BacktestTally, start: Start, stream: IO[str]) -> None:
    """`backtest --format json` (contract.md), written session by session; without suggestions."""
    actual, sums = tally.sums()
    body = backtest_text.body((), actual, sums, None, start.assumptions, start.table.name, start.threshold)
    body.pop("sessions")
    first = {name: body.pop(name) for name in ("schema", "policies")}
    stream.write(to_json(first)[:-1] + ',"sessions":[')
    for number, row in enumerate(tally.spool.rows()):
        stream.write(("," if number else "") + row)
    stream.write("]," + to_json(body)[1:] + "\n")


def text(tally: BacktestTally, start: Start, *, out: Stream | None = None, width: int = 100) -> str:
    """`backtest --format text`: the policies and what they rest on."""
    ink = Ink(out)
    actual, sums = tally.sums()
    many = "session" if tally.sessions == 1 else "sessions"
    lines: Sequence[str] = [
        *backtest_text.introduction(
            f"{tally.sessions:,} {many} · {tally.calls:,} turns · table {clean(start.table.name)}", ink, width
        ),
        "",
        *backtest_text.policies_table(actual, sums, ink, width),
        "",
        *backtest_text.assumed(start.assumptions, start.threshold, ink, width),
        "",
        ink("  --format json lists every session; suggestions need a history that fits into memory", "dim"),
    ]
    return "\n".join(lines)
