"""A backtest small enough to stand in a page: policies against what happened, where it is quick to replay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from monitor.sessions.view import Loaded

if TYPE_CHECKING:
    from monitor.decision.backtest import Advice
    from monitor.decision.history import PolicySum
    from monitor.pricing import PriceTable

#: work calls up to which a replay takes well under a second (about 0.4 ms a call)
MOST_CALLS = 1_000


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """Policies against what happened. ``actual`` first; ``advice`` only where a single session was replayed."""

    sessions: int
    calls: int
    actual: PolicySum
    policies: Sequence[PolicySum]
    advice: Sequence[Advice] = ()
    assumptions: Sequence[str] = ()


def quick(found: Loaded) -> bool:
    """Whether a replay is cheap enough to be done unasked."""
    left = MOST_CALLS
    for view in found.sessions:
        left -= sum(1 for turn in view.turns if turn.call.works and turn.call.chain == "main")
        if left < 0:
            return False
    return True


def replayed(found: Loaded, prices: PriceTable | None, threshold: int | None = 100_000) -> Summary | None:
    """The built-in table and the fixed policies replayed.

    Args:
        found: sessions read with all their steps, as the phases of the work are judged by them.
        threshold: prompt tokens from which the table advises a compaction; None: off.

    Returns None if no session has two calls of known size, or if it would take too long (:func:`quick`).
    """
    if not quick(found):
        return None
    from monitor.decision.backtest import backtest
    from monitor.decision.history import actual_sum, policy_sums
    from monitor.decision.simulate import Assumptions, own_after_size

    assumptions = Assumptions(after_tokens=own_after_size(found.sessions))
    tested = backtest(found.sessions, prices=prices, threshold=threshold, assumptions=assumptions)
    if not tested:
        return None
    left = assumptions.after_tokens
    return Summary(
        sessions=len(tested),
        calls=sum(len(t.series.points) for t in tested),
        actual=actual_sum(tested),
        policies=policy_sums(tested),
        advice=tested[0].replays[0].changes if len(tested) == 1 else (),
        assumptions=(
            f"a compaction writes a summary of {assumptions.summary_tokens:,} tokens and leaves "
            + (f"{left:,} tokens" if left else f"a tail of {assumptions.keep_tokens:,}"),
            f"a new window gets {assumptions.notes_tokens:,} tokens of notes",
            f"after either {assumptions.reread_tokens:,} tokens are read again in {assumptions.rework_calls} turns",
            f"the table's threshold is {threshold:,} prompt tokens" if threshold else "the table's threshold is off",
        ),
    )
