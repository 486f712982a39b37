"""Replays and simulations, checked by hand arithmetic (Sonnet 4.5: 3 / 15 / 0.30 / 3.75 USD per million)."""

from __future__ import annotations

import msgspec
import pytest

from monitor.decision.backtest import ByTable, Fixed, at_tokens, backtest, fixed_policies, kinder
from monitor.decision.history import actual_sum, difference, policy_sums, suggest
from monitor.decision.simulate import Assumptions, Run, as_it_was, own_after_size, series_of
from monitor.decision.table_source import parse
from monitor.pricing import PriceTable
from tests.decision.factory import NOW, Session, answer, say, tool

PRICES = PriceTable.load()
IN, OUT, READ, WRITE = 3e-6, 15e-6, 0.30e-6, 3.75e-6
NO_REWORK = Assumptions(reread_tokens=0, rework_calls=0)


def priced(view):
    """The view with each call's own cost, as the session layer fills it in."""
    turns = []
    for turn in view.turns:
        c = turn.call
        price = PRICES.lookup(c.model, c.provider, c.time)
        cost = price.cost(10, c.cache_read_tokens, c.prompt_tokens - 10 - c.cache_read_tokens, 0, c.output_tokens)
        turns.append(msgspec.structs.replace(turn, cost_usd=cost, cost_source="table"))
    return msgspec.structs.replace(view, turns=turns, last_turn=turns[-1])


def run(session, *policies, a=NO_REWORK, **options):
    return backtest([priced(session.view())], prices=PRICES, assumptions=a, policies=policies, **options)[0]


def test_what_happened_is_simulated_call_by_call():
    series = series_of(Session().grow(10_000, 2_000, 3).view())
    got = as_it_was(series, PRICES, NO_REWORK)
    written = (10_000 + 2_000 + 2_000) * WRITE
    read = (10_000 + 12_000) * READ
    assert got.cost == pytest.approx(written + read + 3 * 300 * OUT, rel=1e-12)
    assert got.prompt_tokens == 36_000


def test_a_policy_that_does_nothing_costs_exactly_what_happened():
    tested = run(Session().grow(10_000, 2_000, 10), Fixed("never", lambda m: False))
    assert tested.replays[0].outcome == tested.actual
    assert difference(tested, tested.replays[0]) == (0.0, 0.0, 0.0)


def test_one_compaction_costs_its_summary_and_saves_the_reading():
    # 4 calls of 50,000 + 10,000 each; at 60,000 used after call 1 (index 1: 60,000 + 300)
    session = Session().grow(50_000, 10_000, 4)
    tested = run(session, at_tokens(60_000))
    replay = tested.replays[0]
    assert replay.outcome.deeds[0] == (1, "compact")
    fixed = 40_000  # the first prompt, at most 40,000
    left = fixed + 4_000 + 10_000
    summary = 60_000 * READ + (300 + 1_000) * WRITE + 4_000 * OUT
    first_two = 50_000 * WRITE + 50_000 * READ + 10_000 * WRITE
    third = fixed * READ + (left + 10_000 - fixed) * WRITE
    # 64,300 used again: compacted again, and the fourth call starts from the same size
    again = 64_000 * READ + (300 + 1_000) * WRITE + 4_000 * OUT
    fourth = third
    expected = first_two + summary + third + again + fourth + 4 * 300 * OUT
    assert [n for n, _ in replay.outcome.deeds] == [1, 2]
    assert replay.outcome.cost == pytest.approx(expected, rel=1e-12)


def test_rework_is_paid_call_by_call_and_stays_in_the_context():
    series = series_of(Session().grow(50_000, 10_000, 3).view())
    a = Assumptions(reread_tokens=8_000, rework_calls=2)
    plain, costly = Run(series, PRICES, NO_REWORK), Run(series, PRICES, a)
    for each in (plain, costly):
        each.arrive(0)
        each.act(0, "compact")
    left = 54_000
    extra = 40_000 * READ + (left + 4_000 - 40_000) * WRITE + 300 * OUT
    extra += (left + 4_000) * READ + 4_000 * WRITE + 300 * OUT
    assert costly.cost - plain.cost == pytest.approx(extra, rel=1e-9)
    assert (plain.next_size, costly.next_size) == (54_000, 62_000)


def test_a_cold_cache_makes_the_summary_dear():
    series = series_of(Session().grow(50_000, 10_000, 3).view())
    warm, cold = Run(series, PRICES, NO_REWORK), Run(series, PRICES, NO_REWORK)
    for each, state in ((warm, False), (cold, True)):
        each.arrive(0)
        each.act(0, "compact", cold=state)
    assert cold.cost - warm.cost == pytest.approx(50_000 * (WRITE - READ), rel=1e-9)


def test_a_new_window_begins_with_notes_and_the_fixed_part():
    series = series_of(Session().grow(50_000, 10_000, 3).view())
    each = Run(series, PRICES, NO_REWORK)
    each.arrive(0)
    each.act(0, "window")
    assert each.next_size == 42_000


def test_a_trim_takes_out_its_tokens_only():
    series = series_of(Session().grow(50_000, 10_000, 3).view())
    each = Run(series, PRICES, NO_REWORK)
    each.arrive(0)
    each.act(0, "trim", drop=8_000)
    assert each.next_size == 42_000
    assert each.arrive(1) == 52_000


def test_an_expired_cache_stays_expired_under_every_policy():
    session = Session().call(50_000).call(60_000, read=0, cause="expired").call(61_000)
    tested = run(session, Fixed("never", lambda m: False))
    got = tested.actual.cost
    assert got == pytest.approx((50_000 + 60_000 + 1_000) * WRITE + 60_000 * READ + 3 * 300 * OUT, rel=1e-12)


def test_never_is_forced_only_by_the_window_itself():
    # real: compacted at 160,000; without that the mean growth goes on until 200,000 would be passed
    session = Session().grow(100_000, 10_000, 7).compact(30_000).grow(30_000, 10_000, 8)
    tested = run(session, Fixed("never", lambda m: False))
    deeds = tested.replays[0].outcome.deeds
    assert deeds and all(deed == "forced" for _, deed in deeds)
    # sizes 100..160, then +10 each: 170, 180, 190, 200; after that (index 10) the next would be 210
    assert deeds[0][0] == 10


def test_the_clients_own_threshold_compacts_at_the_usable_limit():
    policies = [p for p in fixed_policies(NO_REWORK) if p.name == "client's threshold"]
    tested = run(Session().grow(100_000, 10_000, 12), *policies)
    # 100,300 ... 170,300 is the first used size over 167,000: index 7
    assert tested.replays[0].outcome.deeds[0] == (7, "compact")


def test_every_n_calls_counts_from_the_last_reset():
    policies = [
        p for p in fixed_policies(msgspec.structs.replace(NO_REWORK, every_calls=4)) if p.name.startswith("every")
    ]
    tested = run(Session().grow(60_000, 1_000, 12), *policies)
    assert [n for n, _ in tested.replays[0].outcome.deeds] == [3, 7]


def test_boundaries_are_found_where_the_steps_show_them():
    session = Session().grow(80_000, 1_000, 6)
    view = session.view()
    times = [t.call.time for t in view.turns]

    def at(n, steps):
        return [msgspec.structs.replace(s, time=times[n] + 100 + k) for k, s in enumerate(steps)]

    steps = at(0, [say()]) + at(2, [*tool("edit"), *tool("commit"), answer()]) + at(3, [say(), *tool("read")])
    session.did(*steps)
    policies = [p for p in fixed_policies(NO_REWORK) if p.name == "at boundaries"]
    tested = run(session, *policies)
    assert [n for n, _ in tested.replays[0].outcome.deeds] == [2]


def test_what_the_table_would_have_said_and_how_long_before_the_real_compaction():
    # 70 % of 167,000 is 116,900: used 117,300 at index 9; the real compaction came after index 14
    session = Session().grow(99_000, 2_000, 15).compact(40_000).grow(40_000, 100, 4)
    table = parse(
        "rows:\n  - {id: early, action: compact_at_boundary, when: fill >= 70%}\n  - {id: rest, action: continue}\n"
    )
    tested = run(session, ByTable(table, PRICES, None))
    replay = tested.replays[0]
    assert replay.said == {"continue": 9 + 4, "compact_at_boundary": 6}
    assert [(c.index, c.rule) for c in replay.changes] == [(0, "rest"), (9, "early"), (15, "rest")]
    assert replay.leads == (5,)
    assert tested.compactions == 1


def test_advice_to_wait_for_a_boundary_is_carried_out_at_the_next_one():
    table = parse(
        "rows:\n  - {id: early, action: compact_at_boundary, when: used >= 81k}\n  - {id: rest, action: continue}\n"
    )
    session = Session().grow(80_000, 1_000, 6)
    times = [t.call.time for t in session.view().turns]
    end = [*tool("edit"), *tool("commit"), answer()]
    session.did(msgspec.structs.replace(say(), time=times[0] + 1))
    session.did(*[msgspec.structs.replace(s, time=times[3] + 100 + k) for k, s in enumerate(end)])
    tested = run(session, ByTable(table, PRICES, None))
    assert tested.replays[0].outcome.deeds == ((3, "compact"),)


def test_the_table_acts_before_the_cache_expires_when_it_says_so():
    table = parse(
        "rows:\n  - {id: save, action: compact_now, when: [cache_age >= 80%, cache_age <= 95%, used >= 100k]}\n"
        "  - {id: rest, action: continue}\n"
    )
    session = Session(gap=400).grow(110_000, 1_000, 3)
    tested = run(session, ByTable(table, PRICES, None))
    assert tested.replays[0].outcome.deeds[0] == (0, "compact")


def test_sums_are_what_was_paid_plus_the_difference():
    tested = run(Session().grow(50_000, 10_000, 4), at_tokens(60_000))
    actual, (row,) = actual_sum([tested]), policy_sums([tested])
    low, middle, high = difference(tested, tested.replays[0])
    assert row.cost_usd == pytest.approx(actual.cost_usd + middle)
    assert (row.cost_difference, row.sessions) == (pytest.approx(middle), 1)
    assert row.cost_low == pytest.approx(actual.cost_usd + low) and row.cost_high == pytest.approx(
        actual.cost_usd + high
    )
    assert row.actions == {"compact_now": 2} and row.forced == 0
    assert row.prompt_tokens == actual.prompt_tokens + row.prompt_difference


def test_the_range_holds_the_middle():
    tested = run(Session().grow(50_000, 3_000, 30), at_tokens(80_000), a=Assumptions())
    low, middle, high = difference(tested, tested.replays[0])
    assert low < middle < high


def test_kinder_assumptions_have_no_rework():
    assert kinder(Assumptions()).reread_tokens == 0 and kinder(Assumptions()).summary_tokens == 2_000


def test_a_session_without_prices_has_tokens_but_no_costs():
    view = Session(model="house-model", provider=None).grow(50_000, 10_000, 4).view()
    tested = backtest([view], prices=PRICES, assumptions=NO_REWORK, policies=[at_tokens(60_000)])
    (row,) = policy_sums(tested)
    assert row.cost_usd is None and row.cost_difference is None and row.priced_sessions == 0
    assert row.prompt_difference != 0


def test_sessions_with_one_call_are_left_out():
    assert backtest([Session().call(10_000).view(), Session().view()], prices=PRICES) == []
    assert series_of(Session().call(10_000).view()) is None


def test_the_own_compactions_tell_what_a_compaction_leaves():
    views = [
        Session().grow(90_000, 10_000, 3).compact(size).grow(size, 100, 2).view() for size in (20_000, 30_000, 50_000)
    ]
    assert own_after_size(views) == 30_000
    assert own_after_size([Session().grow(10_000, 100, 3).view()]) is None


def test_suggestions_name_the_cheapest_size_and_what_is_about_as_good():
    session = Session().grow(30_000, 3_000, 40).compact(30_000).grow(30_000, 3_000, 40)
    found = suggest([priced(session.view())], prices=PRICES, assumptions=Assumptions(after_tokens=30_000))
    assert found.calls == 80 and found.growth_median == 3_000
    assert found.calls_between_compactions == 40 and found.size_after_compaction == 30_000
    assert found.fill_at_compaction == pytest.approx((30_000 + 39 * 3_000 + 300) / 167_000)
    cheapest = min(found.thresholds, key=lambda row: row.cost_difference)
    assert found.best == cheapest.tokens
    assert found.as_good is not None and found.as_good[0] <= found.best <= found.as_good[1]
    # both windows grew past sizes on the way to which a forecast can be judged; it takes ten of them
    assert found.forecast_factors is None and found.forecast_windows == 2


def test_the_history_tells_how_far_forecasts_were_off():
    # growth of 3,000 a call without exception: what was forecast came, but for the part of a call at the level
    views = [priced(Session().grow(30_000, 3_000, 40).view()) for _ in range(10)]
    found = suggest(views, prices=PRICES, assumptions=Assumptions(after_tokens=30_000))
    assert found.forecast_windows == 10 and found.forecast_factors is not None
    low, middle, high = found.forecast_factors
    assert 1.0 <= low <= middle <= 1.2 and high >= middle


def test_a_short_history_suggests_nothing():
    found = suggest([priced(Session().grow(10_000, 100, 5).view())], prices=PRICES, assumptions=Assumptions())
    assert found.best is None and found.calls_between_compactions is None


def test_the_built_in_table_and_five_fixed_policies_are_compared():
    tested = backtest([priced(Session().grow(50_000, 4_000, 30).view())], prices=PRICES)
    names = [r.policy for r in tested[0].replays]
    assert names == ["table", "never", "at 80%", "client's threshold", "every 40 calls", "at boundaries"]
    assert max(c.time for c in tested[0].replays[0].changes) <= NOW
