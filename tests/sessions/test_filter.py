"""Narrowing: what is left, and its sums."""

from __future__ import annotations

from monitor.pricing import PriceTable
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


def test_estimates_mark_the_sums_they_are_in() -> None:
    guessed = call(1, 20_000, 10_000, status="estimated", model="gpt-5.4")
    aside = call(2, 900, 0, status="estimated", purpose="side", chain="side", key="x")  # in no sum
    for rest, marked in (([guessed], True), ([aside], False), ([], False)):
        views = store([call(0, 10_000, 0), *rest, call(3, 21_000, 20_000)]).views()
        assert views[0].sums.cost_is_estimate is marked
    (whole,) = store([call(0, 10_000, 0), guessed]).views()
    assert {bucket.model for bucket in whole.buckets if bucket.sums.cost_is_estimate} == {"gpt-5.4"}
    (before,) = narrow([whole], Wanted(until=START + 10_000))
    (after,) = narrow([whole], Wanted(since=START + 10_000))
    assert (before.sums.cost_is_estimate, after.sums.cost_is_estimate) == (False, True)


def test_a_price_of_a_similar_name_marks_the_sums() -> None:
    # only the dated snapshot of an unknown preview is known by a shortened name
    near = call(0, 10_000, 0, model="claude-sonnet-4-5-preview", cost_usd=None)
    (view,) = store([near], prices=PriceTable.load()).views()
    assert view.turns[0].cost_estimated and view.sums.cost_is_estimate


def test_chains_fill_and_costs_of_compactions_are_those_of_what_is_left() -> None:
    records = [call(0, 10_000, 0), call(1, 20_000, 10_000), call(2, 30_000, 20_000), event(2.5),
               call(3, 5_000, 1_000), call(4, 6_000, 5_000), call(5, 9_000, 0, chain="agent:a")]  # fmt: skip
    views = store(records, prices=PriceTable.load()).views()
    (early,) = narrow(views, Wanted(until=START + 20_000))
    assert [(c.chain, c.calls, c.peak_prompt_tokens, c.last_prompt_tokens, c.windows) for c in early.chains] == [
        ("main", 2, 20_000, 20_000, 1)
    ]
    assert (early.windows, early.compactions, len(early.compaction_costs)) == (1, 0, 0)
    assert early.fill == 20_100 / 167_000
    (late,) = narrow(views, Wanted(since=START + 40_000))
    assert [(c.chain, c.calls, c.peak_prompt_tokens, c.windows) for c in late.chains] == [
        ("main", 1, 6_000, 1), ("agent:a", 1, 9_000, 1),
    ]  # fmt: skip
    assert late.fill == views[0].fill == 6_100 / 167_000


def test_the_forecast_is_that_of_the_last_call_left() -> None:
    steady = [call(n, 10_000 + 1_000 * n, max(0, 9_000 + 1_000 * n)) for n in range(11)]
    jumps = [call(11 + n, 40_000 + 20_000 * n, 20_000) for n in range(4)]
    views = store([*steady, *jumps]).views()
    (early,) = narrow(views, Wanted(until=START + 110_000))
    assert early.forecast is not None and views[0].forecast is not None
    assert early.forecast.tokens_per_call == 1_000  # ten times 1,000
    assert early.forecast.deltas == 10
    assert early.forecast.basis is not None and early.forecast.basis.seconds_per_call == 10
    assert (views[0].forecast.tokens_per_call or 0) > 5_000
    (late,) = narrow(views, Wanted(since=START + 30_000))
    assert late.forecast == views[0].forecast


def test_an_error_stays_with_the_call_before_it() -> None:
    error = event(1.5, kind="overflow")
    views = store([call(0, 10_000, 0), call(1, 20_000, 10_000), error, call(2, 21_000, 20_000)]).views()
    assert [e.after_call for e in views[0].events] == [1]
    (late,) = narrow(views, Wanted(since=START + 5_000))
    assert [e.kind for e in late.events] == ["overflow"]


def test_a_compaction_after_the_bound_is_none_before_it() -> None:
    views = store([call(0, 90_000, 0), call(1, 100_000, 90_000), event(1.5), call(2, 30_000, 1_000)]).views()
    (early,) = narrow(views, Wanted(until=START + 12_000))
    assert (early.compactions, early.events) == (0, ())
    (closing,) = narrow(views, Wanted(until=START + 16_000))  # it happened in time, though no call followed
    assert closing.compactions == 1
