"""What misses and compactions cost and give back, by hand.

claude-sonnet-4-5, USD per million tokens: input 3, output 15, read 0.30, write 3.75 (one hour: 6); requests of more than
200,000 tokens: 6, 22.50, 0.60, 7.50 (12).
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from monitor.pricing import PriceTable
from monitor.records import Record
from monitor.sessions.filter import Wanted, narrow
from monitor.sessions.view import CompactionCost
from tests.factory import START, call, event, store, view

MILLION = 1e6


def balance(records: list[Record]) -> CompactionCost:
    (cost,) = view(records, PriceTable.load()).compaction_costs
    return cost


def after(number: int, count: int, first: int = 20_000, **facts: Any) -> list[Record]:
    """Calls of the window after a compaction: the first reads 5,000 tokens, the others all but 510 new ones."""
    made: list[Record] = [call(number, first, 5_000, **facts)]
    made += [call(number + n, first + 500 * n, first + 500 * (n - 1) - 10, **facts) for n in range(1, count)]
    return made


def test_logged_summary_rewrite_and_savings() -> None:
    summary = call(2, 101_500, 101_000, chain="side", purpose="compaction", key="c", fresh_tokens=500,
                   cache_write_tokens=0, output_tokens=2_000)  # fmt: skip
    before = [call(0, 100_000, 0), call(1, 101_000, 100_000), summary, event(2.5)]
    cost = balance([*before, *after(3, 6)])
    assert (cost.summary_call_tokens, cost.summary_call_estimated) == (101_500, False)
    assert cost.summary_call_usd == pytest.approx((500 * 3 + 101_000 * 0.3 + 2_000 * 15) / MILLION)
    # 14,990 written and 10 read fresh instead of read
    assert cost.rewrite_tokens == 15_000
    assert cost.rewrite_usd == pytest.approx((14_990 * 3.75 + 10 * 3 - 15_000 * 0.3) / MILLION)
    # 81,000 tokens fewer on each of 6 calls, read at 0.30: 0.0243 USD a call
    assert cost.saved_tokens == 6 * 81_000
    assert cost.saved_usd == pytest.approx(6 * 0.0243)
    # 0.0618 + 0.0517425 spent: 4.67 calls
    assert (cost.break_even_call, cost.calls_after, cost.verdict) == (5, 6, "paid back")


def test_before_break_even_it_is_open_or_lost() -> None:
    summary = call(2, 101_500, 101_000, chain="side", purpose="compaction", key="c", fresh_tokens=500,
                   cache_write_tokens=0, output_tokens=2_000)  # fmt: skip
    before: list[Record] = [call(0, 100_000, 0), call(1, 101_000, 100_000), summary, event(2.5)]
    open_end = balance([*before, *after(3, 3)])
    assert (open_end.break_even_call, open_end.verdict) == (5, "not yet")
    found = view([*before, *after(3, 3), event(6.5), call(8, 15_000, 5_000)], PriceTable.load())
    assert next(cost.verdict for cost in found.compaction_costs) == "did not pay"


def test_unlogged_summary_is_estimated_from_what_it_had_to_read() -> None:
    records = [call(0, 100_000, 0), call(1, 101_000, 100_000), event(1.5, recorded_after=2_738), *after(3, 1)]
    cost = balance(records)
    assert (cost.summary_call_tokens, cost.summary_call_estimated) == (101_000, True)
    # Claude Code reads its live prefix and states the size of the summary
    assert cost.summary_call_usd == pytest.approx((101_000 * 0.3 + 2_738 * 15) / MILLION)
    pi = {"source": "pi"}
    cost = balance([call(0, 100_000, 0, **pi), event(0.5, summary_tokens=1_000), call(1, 20_000, 0, **pi)])
    # the history sent as text: plain input
    assert cost.summary_call_usd == pytest.approx((100_000 * 3 + 1_000 * 15) / MILLION)


def test_pass_inside_a_call_is_what_was_billed_beside_the_context() -> None:
    # passes: 120,000 read + 500 fresh, 3,000 out (the summary); then 20,000 written + 40 fresh, 900 out
    inside = call(2, 20_040, 0, key="m2", fresh_tokens=40, cache_write_tokens=20_000, output_tokens=900,
                  billed_prompt_tokens=140_540, billed=((40, 0, 20_000, 0, 900), (500, 120_000, 0, 0, 3_000)))  # fmt: skip
    made = event(2, in_call="m2", recorded_before=120_500)
    found = view([call(0, 100_000, 0), call(1, 120_000, 100_000), made, inside], PriceTable.load())
    (cost,) = found.compaction_costs
    assert (cost.summary_call_tokens, cost.summary_call_estimated) == (120_500, False)
    assert cost.summary_call_usd == pytest.approx((500 * 3 + 120_000 * 0.3 + 3_000 * 15) / MILLION)
    assert (found.events[0].after_call, found.events[0].before_call) == (1, 2)
    assert (found.events[0].tokens_before, found.events[0].tokens_after) == (120_000, 20_040)


def test_one_hour_writes_cost_twice_the_input() -> None:
    hour: dict[str, Any] = {"cache_write_1h_tokens": 14_990, "cache_ttl_s": 3600}
    cost = balance([call(0, 100_000, 0), event(0.5, summary_tokens=1_000), *after(1, 1, **hour)])
    assert cost.rewrite_usd == pytest.approx((14_990 * 6 + 10 * 3 - 15_000 * 0.3) / MILLION)


def test_a_cold_call_saves_writes_not_reads() -> None:
    first = call(1, 20_000, 5_000)
    cold = call(2, 20_500, 0, time=START + 10_000 + 400_000)  # 400 s later: the five minutes are over
    cost = balance([call(0, 100_000, 0), event(0.5, summary_tokens=1_000), first, cold])
    # 80,000 tokens: read by the first call, written anew by the second
    assert cost.saved_usd == pytest.approx((80_000 * 0.3 + 80_000 * 3.75) / MILLION)


def test_savings_reach_over_a_price_step() -> None:
    # with the 200,000 freed tokens the request had paid the price of those above 200,000, whole
    cost = balance([call(0, 250_000, 0), event(0.5, summary_tokens=1_000), call(1, 50_000, 40_000)])
    now = 10 * 3 + 40_000 * 0.3 + 9_990 * 3.75 + 100 * 15
    then = 10 * 6 + 240_000 * 0.6 + 9_990 * 7.5 + 100 * 22.5
    assert cost.saved_usd == pytest.approx((then - now) / MILLION)


def test_a_compaction_that_frees_nothing_did_not_pay() -> None:
    cost = balance([call(0, 8_000, 0), event(0.5, summary_tokens=400), call(1, 9_100, 2_000)])
    assert (cost.verdict, cost.saved_tokens) == ("did not pay", -1_100)


def test_unknown_price_or_size_is_unknown() -> None:
    mystery = {"model": "mystery-9", "provider": None}
    cost = balance([call(0, 90_000, 0, **mystery), event(0.5), call(1, 20_000, 0, **mystery)])
    assert (cost.verdict, cost.summary_call_usd, cost.saved_usd, cost.saved_tokens) == ("unknown", None, None, 70_000)
    nothing_after = balance([call(0, 90_000, 0), event(0.5)])
    assert (nothing_after.verdict, nothing_after.saved_tokens, nothing_after.calls_after) == ("unknown", None, 0)


def test_the_summary_of_a_subagent_is_not_that_of_main() -> None:
    theirs = call(2, 60_000, 59_000, chain="side", purpose="compaction", key="sub")
    ours = call(4, 100_500, 100_000, chain="side", purpose="compaction", key="own")
    agent = [call(1, 60_000, 0, chain="agent:x", key="x1"), theirs, event(2.5, chain="agent:x"),
             call(3, 15_000, 9_000, chain="agent:x", key="x3")]  # fmt: skip
    found = view([call(0, 100_000, 0), *agent, ours, event(4.5), call(5, 20_000, 5_000)], PriceTable.load())
    assert [cost.summary_call_tokens for cost in found.compaction_costs] == [60_000, 100_500]


def test_miss_cost_takes_the_price_of_what_was_written() -> None:
    # 100,000 were there; 40,000 of them are written for an hour, 20,000 for five minutes, the rest is plain input
    miss = call(1, 101_000, 0, fresh_tokens=41_000, cache_write_tokens=60_000, cache_write_1h_tokens=40_000)
    found = view([call(0, 100_000, 0), miss], PriceTable.load())
    paid = 40_000 * 6 + 20_000 * 3.75 + 40_000 * 3
    assert found.turns[1].miss_cost_usd == pytest.approx((paid - 100_000 * 0.3) / MILLION)


def test_a_call_is_priced_as_it_was_served() -> None:
    # 1,000 fresh at 4 and 100 out at 20 USD a million: 0.006; twice that when fast, half of it in a batch
    facts: dict[str, Any] = {"model": "claude-opus-5-5", "fresh_tokens": 1_000, "cache_write_tokens": 0}
    shown = view(
        [
            call(0, 1_000, 0, **facts),
            call(1, 1_000, 0, service_tier="fast", **facts),
            call(2, 1_000, 0, service_tier="batch", **facts),
        ],
        PriceTable.load(),
    )
    assert [turn.cost_usd for turn in shown.turns] == pytest.approx([0.006, 0.012, 0.003])
    assert shown.sums.cost_usd == pytest.approx(0.021)


def test_what_the_log_says_a_failed_call_cost_is_paid_all_the_same() -> None:
    failed = call(1, None, cost_usd=0.01, status="error", fresh_tokens=None, output_tokens=None)
    aside = call(
        2, None, cost_usd=0.5, status="error", fresh_tokens=None, output_tokens=None, chain="side", purpose="side"
    )
    running = call(3, None, cost_usd=0.25, status="in_flight", fresh_tokens=None, output_tokens=None)
    (shown,) = store([call(0, 1_000, 0, cost_usd=0.02), failed, aside, running]).views()
    assert (shown.sums.calls, shown.sums.error_calls, shown.sums.prompt_tokens) == (1, 2, 1_000)
    assert shown.sums.cost_usd == pytest.approx(0.03)
    (cut,) = narrow([shown], Wanted(since=START + 5_000))
    assert cut.sums.cost_usd == pytest.approx(0.01)


def test_a_pass_of_another_model_inside_a_call_is_paid_at_its_own_price() -> None:
    # sonnet: 1,000 fresh, 100 out; the adviser (opus 4.6: 5 and 25): 2,000 fresh, 40 out
    one = call(0, 1_000, 0, fresh_tokens=1_000, cache_write_tokens=0, output_tokens=100)
    facts = {"elsewhere": (("claude-opus-4-6", 2_000, 0, 0, 0, 40),)}
    advised = msgspec.structs.replace(one, **facts)
    (turn,) = view([advised], PriceTable.load()).turns
    assert turn.cost_usd == pytest.approx((1_000 * 3 + 100 * 15 + 2_000 * 5 + 40 * 25) / MILLION)
    assert turn.call.prompt_tokens == 1_000
    unpriced = msgspec.structs.replace(one, elsewhere=(("nobody-knows", 2_000, 0, 0, 0, 40),))
    assert view([unpriced], PriceTable.load()).turns[0].cost_usd is None
