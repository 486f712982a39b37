"""The backtest for eyes: whole at every width, the figures that matter longest."""

from __future__ import annotations

import pytest

from monitor.decision.backtest import backtest
from monitor.decision.history import actual_sum, policy_sums, suggest
from monitor.decision.simulate import Assumptions
from monitor.pricing import PriceTable
from monitor.reports import backtest_text
from monitor.reports.text import cells
from monitor.sessions.view import SessionView
from tests.factory import START, call
from tests.reports.stories import loaded, long_session


def told(views: list[SessionView], width: int) -> str:
    prices, assumptions = PriceTable.load(), Assumptions()
    tested = backtest(views, prices=prices, threshold=100_000, assumptions=assumptions)
    hints = suggest(views, prices=prices, assumptions=assumptions)
    return backtest_text.text(
        tested, actual_sum(tested), policy_sums(tested), hints, assumptions, "built-in", 100_000, width=width
    )


def grown(name: str, file: str) -> list:
    """Prompts of 20,000 to 118,000 tokens, each read from the cache but its last 2,000."""
    return [
        call(n, 20_000 + 2_000 * n, 18_000 + 2_000 * n if n else 0, session=name, key=f"{name}{n}", file=file,
             time=START + n * 10_000)
        for n in range(50)
    ]  # fmt: skip


@pytest.mark.parametrize("width", [33, 54, 66, 76, 100, 118])
def test_nothing_is_wider_than_asked_for(width: int) -> None:
    views = loaded(grown("alpha", "a.jsonl"), grown("beta", "b.jsonl"))[0].sessions
    for some in (views, views[:1], loaded(long_session())[0].sessions):
        lines = told(some, width).splitlines()
        assert [line for line in lines if cells(line) > width] == []


def test_a_narrow_terminal_keeps_policy_and_cost() -> None:
    views = loaded(grown("alpha", "a.jsonl"))[0].sessions
    wide, narrow = told(views, 118), told(views, 54)
    assert "against what happened" in wide and "≥90%" in wide
    head, actual, first = narrow[narrow.index("  policy") :].splitlines()[:3]
    assert head.split() == ["policy", "prompt", "cost", "±", "prompt", "±", "cost"]
    # 50 prompts of 69,000 on average
    assert actual.split()[:3] == ["what", "happened", "3.45M"]
    assert first.split()[0] == "table" and "$" in first.split()[-1]
