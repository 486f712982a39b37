"""The closed forms against a token-level prefix cache, against arithmetic and against the published table.

The simulator is our own (cache_simulator.py); the table is that of the decision notes, section 2.4.
"""

from __future__ import annotations

import math

import pytest

from monitor.decision import economics as eco
from monitor.decision.economics import NewWindow, Situation
from monitor.pricing import Price, PriceTable, Tier
from tests.decision.cache_simulator import ASK, KEPT, OUT, PREFIX, SUMMARY, Case, Provider, price

CLASSES = {
    "Opus 5, GPT-6": (0.10, 1.25, 5),
    "Opus 5 with 1 h": (0.10, 2.0, 5),
    "Opus 5.5, GPT-6.1": (0.05, 1.25, 5),
    "Opus 5.5 with 1 h": (0.05, 2.0, 5),
    "Fable 5.2": (0.025, 1.25, 5),
    "GPT-5.5": (0.10, 1.0, 8),
    "GPT-4.1": (0.25, 1.0, 4),
    "GPT-4o": (0.50, 1.0, 4),
    "Gemini 3": (0.10, 1.0, 6),
    "Kimi K3.1": (0.10, 1.0, 5),
    "DeepSeek V4 Flash": (0.02, 1.0, 4),
    "GLM 5.3": (0.186, 1.0, 3.14),
}


def first_call_that_pays(case: Case, how: str) -> int:
    """By simulation: the first number of calls after which the change is not dearer than going on."""
    horizon = 110 if how == "flattened" else 40
    return turn(case.bills(horizon, how), case.bills(horizon, "go on"))


def turn(changed: list[float], unchanged: list[float]) -> int:
    return next(n for n, (a, b) in enumerate(zip(changed, unchanged), 1) if a <= b + 1e-12)


@pytest.mark.parametrize("cache", ["warm", "cold"])
@pytest.mark.parametrize("how", ["cached", "flattened"])
@pytest.mark.parametrize("context", [80_000, 150_000, 300_000, 600_000])
@pytest.mark.parametrize("name", CLASSES)
def test_break_even_is_the_call_at_which_the_simulated_bill_turns(
    name: str, context: int, how: eco.Summary, cache: str
) -> None:
    case = Case(price(*CLASSES[name]), context, pause=1_000.0 if cache == "cold" else 0.0)
    k = eco.break_even_compact(case.situation(cache), how)
    assert k is not None
    assert first_call_that_pays(case, how) == max(1, math.ceil(k - 1e-9))


@pytest.mark.parametrize("cache", ["warm", "cold"])
@pytest.mark.parametrize("calls", [1, 2, 7, 40])
@pytest.mark.parametrize("name", CLASSES)
def test_the_money_is_that_of_the_simulated_bill(name: str, calls: int, cache: str) -> None:
    case = Case(price(*CLASSES[name]), 150_000, growth=2_300, pause=1_000.0 if cache == "cold" else 0.0)
    s = case.situation(cache)
    assert eco.continue_cost(s, calls) == pytest.approx(case.play(calls, "go on"))
    assert eco.compact_cost(s, calls, "cached") == pytest.approx(case.play(calls, "cached"))
    assert eco.compact_cost(s, calls, "flattened") == pytest.approx(case.play(calls, "flattened"))
    if cache == "warm":
        assert eco.trim_cost(s, calls, 40_000, 25_000) == pytest.approx(case.play(calls, "trim 40000 25000"))


@pytest.mark.parametrize("growth", [300, 1_500, 6_000])
def test_growth_does_not_move_the_break_even(growth: int) -> None:
    case = Case(price(0.1, 1.25, 5), 150_000, growth=growth)
    assert eco.break_even_compact(case.situation("warm")) == pytest.approx(4.491, abs=0.001)
    assert first_call_that_pays(case, "cached") == 5


@pytest.mark.parametrize("by_agent", [True, False])
@pytest.mark.parametrize("prefix_warm", [True, False])
@pytest.mark.parametrize("context", [80_000, 150_000, 300_000])
@pytest.mark.parametrize("name", CLASSES)
def test_a_new_window_pays_back_when_the_simulated_bill_says_so(
    name: str, context: int, prefix_warm: bool, by_agent: bool
) -> None:
    case = Case(price(*CLASSES[name]), context)
    w = NewWindow(by_agent=by_agent, prefix_warm=prefix_warm)
    s = case.situation("warm")
    bills = case.new_window(90, w)
    assert eco.new_window_cost(s, 6, w) == pytest.approx(bills[5])
    k = eco.break_even_new_window(s, w)
    assert k is not None
    assert turn(bills, case.bills(90, "go on")) == max(1, math.ceil(k - 1e-9))


def test_a_trim_pays_back_as_simulated() -> None:
    # (omega - rho) t / (rho x) = 1.15 * 60,000 / (0.1 * 40,000) = 17.25
    case = Case(price(0.1, 1.25, 5), 150_000)
    assert eco.break_even_trim(case.situation("warm"), 40_000, 60_000) == pytest.approx(17.25)
    assert first_call_that_pays(case, "trim 40000 60000") == 18


# ------------------------------------------------------------------------------------------------------- tiers
DOUBLE = (Tier(above=200_000, input=2.0, output=7.5, cache_read=0.2, cache_write_5m=2.5, cache_write_1h=4.0),)


@pytest.mark.parametrize("how", ["cached", "flattened"])
@pytest.mark.parametrize("context", [120_000, 180_000, 196_000, 199_600, 240_000, 600_000])
@pytest.mark.parametrize("growth", [400, 1_500, 9_000])
def test_every_request_is_billed_at_the_tier_of_its_own_size(context: int, growth: int, how: eco.Summary) -> None:
    case = Case(price(0.1, 1.25, 5, DOUBLE), context, growth=growth)
    s = case.situation("warm")
    for calls in (1, 3, 20, 90):
        assert eco.continue_cost(s, calls) == pytest.approx(case.play(calls, "go on"))
        assert eco.compact_cost(s, calls, how) == pytest.approx(case.play(calls, how))
    k = eco.break_even_compact(s, how)
    assert k is not None
    assert abs(first_call_that_pays(case, how) - max(1, math.ceil(k - 1e-9))) <= 1


def test_a_step_just_ahead_makes_compacting_pay_sooner() -> None:
    flat = Situation(price=price(0.1, 1.25, 5), context=196_000, growth=1_500.0)
    stepped = Situation(price=price(0.1, 1.25, 5, DOUBLE), context=196_000, growth=1_500.0)
    a, b = eco.break_even_compact(flat), eco.break_even_compact(stepped)
    assert a is not None and b is not None and b < a


def test_next_tier_tells_how_far_and_how_much() -> None:
    p = price(0.1, 1.25, 5, DOUBLE)
    step = eco.next_tier(p, 150_000)
    assert step is not None
    assert (step.above, step.tokens_left, step.input_factor, step.output_factor) == (200_000, 50_000, 2.0, 1.5)
    assert eco.next_tier(p, 200_000) == eco.NextTier(200_000, 0, 2.0, 1.5)  # the next token is the dear one
    assert eco.next_tier(p, 200_001) is None
    assert eco.next_tier(price(0.1, 1.25, 5), 10) is None
    assert eco.next_tier(None, 10) is None


def test_haiku_5_5_gets_five_times_as_dear_above_100k() -> None:
    step = eco.next_tier(PriceTable.load().lookup("claude-haiku-5-5"), 60_000)
    assert step is not None
    assert (step.above, step.tokens_left) == (100_000, 40_000)
    assert step.input_factor == pytest.approx(5.0)


# ---------------------------------------------------------------------------------- the published tables (2.4)
PUBLISHED = [  # C0 = 80k, 150k, 300k, 600k | flattened 150k | cold and flattened 150k
    ("Opus 5, GPT-6", (9.8, 4.5, 2.5, 1.7, 14.4, 1.5)),
    ("Opus 5 with 1 h", (12.1, 5.4, 2.9, 1.9, 15.3, -6.0)),
    ("Opus 5.5, GPT-6.1", (18.2, 7.8, 4.0, 2.4, 28.9, 2.0)),
    ("Opus 5.5 with 1 h", (22.7, 9.6, 4.8, 2.8, 30.7, -13.0)),
    ("Fable 5.2", (34.9, 14.4, 6.9, 3.8, 58.0, 3.1)),
    ("GPT-5.5", (11.7, 5.2, 2.8, 1.9, 15.1, 5.1)),
    ("GPT-4.1", (4.1, 2.2, 1.5, 1.3, 5.4, 2.1)),
    ("GPT-4o", (2.8, 1.7, 1.3, 1.1, 2.7, 1.5)),
    ("Gemini 3", (9.9, 4.5, 2.5, 1.7, 14.4, 4.4)),
    ("Kimi K3.1", (9.0, 4.2, 2.4, 1.7, 14.1, 4.0)),
    ("DeepSeek V4 Flash", (35.1, 14.5, 6.9, 3.8, 69.3, 14.4)),
    ("GLM 5.3", (4.7, 2.4, 1.6, 1.3, 7.2, 2.3)),
]


@pytest.mark.parametrize(("name", "expected"), PUBLISHED)
def test_break_evens_of_the_published_table(name: str, expected: tuple[float, ...]) -> None:
    p = price(*CLASSES[name])
    got = [eco.break_even_compact(Situation(price=p, context=c)) for c in (80_000, 150_000, 300_000, 600_000)]
    got.append(eco.break_even_compact(Situation(price=p, context=150_000), "flattened"))
    got.append(eco.break_even_compact(Situation(price=p, context=150_000, cache="cold"), "flattened"))
    for k, want in zip(got, expected):
        assert k == pytest.approx(want, abs=0.06)


@pytest.mark.parametrize(
    ("rho", "growth", "reread", "extra", "thousands"),
    [
        (0.10, 800, 0, 0, 59),
        (0.05, 800, 0, 0, 70),
        (0.025, 800, 0, 0, 84),
        (0.10, 2_500, 0, 0, 79),
        (0.05, 2_500, 0, 0, 97),
        (0.025, 2_500, 0, 0, 122),
        (0.10, 800, 20_000, 4, 92),
        (0.10, 2_500, 20_000, 4, 121),
        (0.05, 800, 20_000, 4, 105),
        (0.05, 2_500, 20_000, 4, 144),
    ],
)
def test_best_sizes_of_the_published_table(rho: float, growth: int, reread: int, extra: int, thousands: int) -> None:
    s = Situation(price=price(rho, 1.25, 5), context=150_000, growth=growth)
    assert eco.optimal_size(s, reread=reread, extra_calls=extra) == pytest.approx(thousands * 1000, abs=600)


def test_best_size_by_hand() -> None:
    # C1 = 34,000; X = 1,000 + 5 * 4,000 + 1.15 * 14,000 = 37,100; sigma C1 = 3,400
    # sqrt(2 * 800 * 40,500 / 0.1) = sqrt(648,000,000) = 25,455.8
    s = Situation(price=price(0.1, 1.25, 5), context=150_000, growth=800)
    assert eco.optimal_size(s) == 59_456


@pytest.mark.parametrize("name", ["Opus 5, GPT-6", "Opus 5.5, GPT-6.1", "Fable 5.2", "GPT-4o", "DeepSeek V4 Flash"])
@pytest.mark.parametrize("growth", [800, 2_500])
def test_no_other_size_is_cheaper_in_a_long_simulated_run(name: str, growth: int) -> None:
    p = price(*CLASSES[name])
    best = eco.optimal_size(Situation(price=p, context=150_000, growth=growth))

    def average(limit: float) -> float:
        """Two windows, each summarised when the next prompt would pass the limit; every later one is the same."""
        provider, now, calls = Provider(p, 300.0), 0.0, 0
        fixed = provider.text(PREFIX)
        body = [provider.text(SUMMARY), provider.text(KEPT)]
        provider.ask(now, [fixed], 0.0)  # as after a compaction: the fixed prefix is warm, the rest is new
        provider.bill = 0.0
        for _ in range(2):
            while PREFIX + sum(map(len, body)) + growth <= limit:
                now, calls = now + 20.0, calls + 1
                body.append(provider.text(growth))
                provider.ask(now, [fixed, *body], OUT)
            now += 20.0
            provider.ask(now, [fixed, *body], SUMMARY, plain=ASK)
            body = [provider.text(SUMMARY), provider.text(KEPT)]
        return provider.bill / calls

    at_best = average(best)
    others = [average(limit) for limit in range(40_000, 240_000, 10_000)]
    assert at_best <= min(others) * 1.01


def test_a_price_step_below_the_ideal_keeps_the_context_under_it() -> None:
    dear = (Tier(above=100_000, input=5.0, output=25.0, cache_read=0.1, cache_write_5m=6.25, cache_write_1h=10.0),)
    flat = Situation(price=price(0.02, 1.25, 5), context=150_000, growth=2_500)
    stepped = Situation(price=price(0.02, 1.25, 5, dear), context=150_000, growth=2_500)
    assert eco.optimal_size(flat) > 100_000
    assert eco.optimal_size(stepped) == 100_000
    assert eco.mean_cost(stepped, 100_000) < eco.mean_cost(stepped, eco.optimal_size(flat))


# --------------------------------------------------------------------------------- coming back from a break (2.4)
def test_return_from_a_break_costs_what_the_published_line_says() -> None:
    opus = PriceTable.load().lookup("claude-opus-5-5")
    sol = PriceTable.load().lookup("gpt-6.1-sol")
    rows = [
        (opus, "1h", (0.04, 1.60, 0.40, 1.80, 1.08, 0.30)),
        (opus, "5m", (0.04, 1.00, 0.29, 1.16, 0.97, 0.19)),
        (sol, "5m", (0.02, 0.50, 0.15, 0.58, 0.49, 0.09)),
    ]
    for p, ttl, expected in rows:
        s = Situation(price=p, context=200_000, ttl="1h" if ttl == "1h" else "5m")
        r = eco.return_costs(s)
        assert r is not None
        got = (
            r.still_warm,
            r.cold,
            r.compacted_before,
            r.compacted_after_cached,
            r.compacted_after_flattened,
            r.new_window,
        )
        for x, want in zip(got, expected):
            assert x == pytest.approx(want, abs=0.006)


def test_chance_of_return_that_makes_compacting_before_expiry_pay() -> None:
    opus = PriceTable.load().lookup("claude-opus-5-5")
    # rho C0 + q + phi S = 10,000 + 1,000 + 20,000 = 31,000; omega (C0 - C1) = 2 * 166,000, or 1.25 * 166,000
    hour = eco.return_threshold(Situation(price=opus, context=200_000, ttl="1h"))
    five = eco.return_threshold(Situation(price=opus, context=200_000))
    assert hour == pytest.approx(31_000 / 332_000)
    assert five == pytest.approx(31_000 / 207_500)
    assert eco.return_threshold(Situation(price=opus, context=30_000)) is None


# ------------------------------------------------------------------------------------------------ single figures
def test_one_compaction_in_dollars_by_hand() -> None:
    # Sonnet 4.5, 150k: read 150,000 * 0.30 + 1,000 * 3 + 4,000 * 15 = 45,000 + 3,000 + 60,000 = 0.108 USD;
    # first call after: read 20,000 * 0.30, write 14,000 + 1,500 at 3.75, output 300 * 15
    #   = 6,000 + 58,125 + 4,500 = 0.068625 USD
    s = Situation(price=PriceTable.load().lookup("claude-sonnet-4-5"), context=150_000, growth=1_500)
    assert eco.summary_cost(s) == pytest.approx(0.108)
    assert eco.compact_cost(s, 1) == pytest.approx(0.176625)
    # going on: read 150,000 * 0.30 + write 1,500 * 3.75 + 4,500 = 0.055125
    assert eco.continue_cost(s, 1) == pytest.approx(0.055125)
    assert eco.costs(s, 1) == eco.Costs(
        go_on=eco.continue_cost(s, 1), compact=eco.compact_cost(s, 1), new_window=eco.new_window_cost(s, 1)
    )


def test_hour_long_writes_cost_their_own_price() -> None:
    p = PriceTable.load().lookup("claude-opus-4-5")  # writes 6.25 and 10
    cold = {t: Situation(price=p, context=100_000, growth=0, output=0, cache="cold", ttl=t) for t in ("5m", "1h")}
    assert eco.continue_cost(cold["5m"], 1) == pytest.approx(0.625)
    assert eco.continue_cost(cold["1h"], 1) == pytest.approx(1.0)


def test_measured_hits_move_the_break_even() -> None:
    # rho_eff = 0.5 * 0.1 + 0.5 * 1.25 = 0.675: (0.675*150,000 + 21,000 + 0.575*14,000) / (0.675*116,000) = 1.664
    s = Situation(price=price(0.1, 1.25, 5), context=150_000, hit_share=0.5)
    assert eco.break_even_compact(s) == pytest.approx((101_250 + 21_000 + 8_050) / 78_300)


def test_a_cheaper_model_for_the_summary() -> None:
    t = PriceTable.load()
    haiku, opus = t.lookup("claude-haiku-5-5"), t.lookup("claude-opus-5-5")
    luna, sol = t.lookup("gpt-6-luna"), t.lookup("gpt-6.1-sol")

    def s(p: Price | None, context: int) -> Situation:
        return Situation(price=p, context=context, prefix=0, instruction=0)

    assert eco.summary_cost(s(haiku, 90_000), "flattened") == pytest.approx(0.011)
    assert eco.summary_cost(s(opus, 90_000)) == pytest.approx(0.098)
    assert eco.summary_cost(s(haiku, 200_000), "flattened") == pytest.approx(0.11)
    assert eco.summary_cost(s(opus, 200_000)) == pytest.approx(0.12)
    assert eco.summary_cost(s(luna, 200_000), "flattened") == pytest.approx(0.022)
    assert eco.summary_cost(s(sol, 200_000)) == pytest.approx(0.06)


def test_an_unknown_price_gives_ratios_but_no_money() -> None:
    s = Situation(price=None, context=150_000)
    assert eco.assumed(s)
    assert eco.continue_cost(s, 3) is None
    assert eco.compact_cost(s, 3) is None
    assert eco.new_window_cost(s, 3) is None
    assert eco.trim_cost(s, 3, 10, 10) is None
    assert eco.return_costs(s) is None
    # the usual ratios are those of the first class of the published table
    assert eco.break_even_compact(s) == pytest.approx(4.491, abs=0.001)
    assert not eco.assumed(Situation(price=price(0.1, 1.25, 5), context=1))


def test_a_change_that_shrinks_nothing_never_pays() -> None:
    s = Situation(price=price(0.1, 1.25, 5), context=34_000)
    assert eco.break_even_compact(s) is None
    assert eco.break_even_new_window(Situation(price=price(0.1, 1.25, 5), context=37_000)) is None
    assert eco.break_even_trim(s, 0, 10_000) is None


def test_a_free_model_never_pays_back_by_money() -> None:
    s = Situation(price=price(0.0, 0.0, 0.0), context=150_000)
    assert eco.break_even_compact(s) is None
    assert eco.optimal_size(s) == s.compacted


def test_cold_trim_pays_at_once() -> None:
    s = Situation(price=price(0.1, 1.25, 5), context=150_000, cache="cold")
    k = eco.break_even_trim(s, 40_000, 60_000)
    assert k is not None and k < 1
