"""Narrowing: what is left, and its sums."""

from __future__ import annotations

from monitor.sessions.filter import Wanted, narrow
from tests.factory import START, call, event, store


def test_since_cuts_calls_and_sums() -> None:
    views = store([call(0, 10_000, 0), call(1, 20_000, 10_000), event(1.5), call(2, 5_000, 1_000)]).views()
    (late,) = narrow(views, Wanted(since=START + 15_000))
    assert (late.sums.calls, late.sums.prompt_tokens) == (1, 5_000)
    assert late.compactions == 1  # it lies directly before a wanted call
    assert late.turns[0].index == 2
    assert narrow(views, Wanted(since=START + 10**9)) == []


def test_until_is_exclusive_and_model_a_pattern() -> None:
    views = store([call(0, 10_000, 0), call(1, 20_000, 0, model="gpt-5.4")]).views()
    (early,) = narrow(views, Wanted(until=START + 10_000))
    assert early.sums.prompt_tokens == 10_000
    (gpt,) = narrow(views, Wanted(model="gpt-*"))
    assert (gpt.sums.prompt_tokens, gpt.models) == (20_000, ("gpt-5.4",))


def test_session_by_the_beginning_of_its_id() -> None:
    views = store([call(0, 1, 0, session="abc1")], [call(0, 1, 0, session="abd2", key="x", file="b")]).views()
    assert [v.session for v in narrow(views, Wanted(session="abd"))] == ["abd2"]
    assert narrow(views, Wanted(session="zz")) == []
