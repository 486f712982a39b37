"""What a request costs: hand arithmetic with published prices (USD per million tokens)."""

from __future__ import annotations

import pytest

from monitor.pricing import Price, PriceTable, Tier

SONNET = PriceTable.load().lookup("claude-sonnet-4-5-20250929")
assert SONNET is not None

STEPPED = Price(
    model="m",
    provider="p",
    input=2.0,
    output=10.0,
    cache_read=0.2,
    cache_write_5m=2.5,
    cache_write_1h=4.0,
    tiers=(
        Tier(above=100_000, input=4.0, output=20.0, cache_read=0.4, cache_write_5m=5.0, cache_write_1h=8.0),
        Tier(above=200_000, input=6.0, output=30.0, cache_read=0.6, cache_write_5m=7.5, cache_write_1h=12.0),
    ),
)


def test_hour_long_writes_at_twice_the_input() -> None:
    # 1,000 * 3 + 100,000 * 6 + 500 * 15 = 3,000 + 600,000 + 7,500
    assert SONNET.cost(1_000, 0, 100_000, 100_000, 500) == pytest.approx(0.6105)


def test_five_minute_and_hour_long_writes_in_one_request() -> None:
    # 40,000 * 3.75 + 60,000 * 6 = 150,000 + 360,000
    assert SONNET.cost(0, 0, 100_000, 60_000, 0) == pytest.approx(0.51)


def test_reads_and_five_minute_writes() -> None:
    # 12 * 3 + 150,000 * 0.3 + 2,000 * 3.75 + 700 * 15 = 36 + 45,000 + 7,500 + 10,500
    assert SONNET.cost(12, 150_000, 2_000, 0, 700) == pytest.approx(0.063036)


def test_more_hour_long_writes_than_writes_are_a_slip_of_the_log() -> None:
    assert SONNET.cost(0, 0, 1_000, 5_000, 0) == pytest.approx(0.006)


@pytest.mark.parametrize(
    ("prompt", "price"),
    [(0, 2.0), (100_000, 2.0), (100_001, 4.0), (200_000, 4.0), (200_001, 6.0), (5_000_000, 6.0)],
)
def test_the_whole_request_is_billed_at_the_tier_of_its_size(prompt: int, price: float) -> None:
    assert STEPPED.cost(prompt, 0, 0, 0, 0) == pytest.approx(prompt * price / 1e6)
    assert STEPPED.at(prompt).input == price


def test_reads_and_writes_count_towards_the_size() -> None:
    # 90,000 + 10,000 + 1 tokens: above the step, all at its rates
    # 1 * 4 + 90,000 * 0.4 + 10,000 * 5 + 100 * 20 = 4 + 36,000 + 50,000 + 2,000
    assert STEPPED.cost(1, 90_000, 10_000, 0, 100) == pytest.approx(0.088004)
    # one token less: 90,000 * 0.2 + 10,000 * 2.5 + 100 * 10 = 18,000 + 25,000 + 1,000
    assert STEPPED.cost(0, 90_000, 10_000, 0, 100) == pytest.approx(0.044)


def test_at_gives_a_price_without_steps() -> None:
    got = STEPPED.at(150_000)
    assert (got.input, got.output, got.cache_read, got.cache_write_5m, got.cache_write_1h) == (4.0, 20.0, 0.4, 5.0, 8.0)
    assert got.tiers == ()
    assert got.model == "m"
    assert STEPPED.at(None).input == 2.0
    flat = Price(model="m", provider="p", input=1.0, output=1.0)
    assert flat.at(10**9) is flat


@pytest.mark.parametrize("missing", [(None, 0, 0, 0, 5), (5, 0, 0, 0, None)])
def test_unknown_tokens_cost_an_unknown_amount(missing: tuple[int | None, ...]) -> None:
    assert SONNET.cost(*missing) is None


def test_cache_figures_the_log_does_not_give_are_part_of_the_fresh_ones() -> None:
    assert SONNET.cost(10_000, None, None, None, 100) == pytest.approx(0.0315)


def test_an_unknown_rate_costs_an_unknown_amount() -> None:
    assert Price(model="m", provider="p", input=1.0).cost(1, 0, 0, 0, 1) is None
    assert Price(model="m", provider="p", output=1.0).cost(1, 0, 0, 0, 1) is None


def test_a_list_without_cache_rates_bills_such_tokens_as_input() -> None:
    plain = Price(model="m", provider="p", input=2.0, output=8.0)
    assert plain.cost(1_000, 500_000, 500_000, 0, 0) == pytest.approx(2.002)
    assert plain.cost(0, 0, 500_000, 500_000, 0) == pytest.approx(1.0)


def test_hour_long_writes_never_pass_at_the_price_of_short_ones() -> None:
    short = Price(model="m", provider="p", input=2.0, output=8.0, cache_write_5m=2.5)
    assert short.cost(0, 0, 1_000, 1_000, 0) is None
    assert short.cost(0, 0, 1_000, 0, 0) == pytest.approx(0.0025)


def test_a_free_model_costs_nothing_and_that_is_known() -> None:
    assert Price(model="m", provider="p", input=0.0, output=0.0).cost(10, 0, 0, 0, 10) == 0.0


def test_a_price_is_frozen() -> None:
    with pytest.raises(AttributeError):
        STEPPED.input = 1.0  # type: ignore[misc]


# 1,000 fresh, 10,000 read, 2,000 written, 500 out
TOKENS = (1_000, 10_000, 2_000, 0, 500)


@pytest.mark.parametrize(
    ("model", "tier", "usd"),
    [
        # 4, 0.20, 5 and 20 USD: 4,000 + 2,000 + 10,000 + 10,000 = 0.026
        ("claude-opus-5-5", "fast", 0.052),
        ("claude-opus-5-5", "batch", 0.013),
        ("claude-opus-5-5", "us", 0.0286),
        ("claude-opus-5-5", "fast+us", 0.0572),
        # 5, 0.50, 6.25 and 25 USD: 5,000 + 5,000 + 12,500 + 12,500 = 0.035; six times while there was a fast mode
        ("claude-opus-4-6", "fast", 0.21),
        ("claude-opus-4-5", "us", 0.035),  # has no price for one country
        # 5, 0.50, no fee for writes and 30 USD: 5,000 + 5,000 + 10,000 + 15,000 = 0.035
        ("gpt-5.5", "priority", 0.0875),
        ("gpt-5.5", "flex", 0.0175),
        # 2.50, 0.25, no fee and 15 USD, reads at 0.13: 1,250 + 1,300 + 2,500 + 3,750
        ("gpt-5.4", "flex", 0.0088),
        # 0.30, 0.03, no fee and 2.50 USD, reads at no discount: 150 + 300 + 300 + 625
        ("gemini-2.5-flash", "flex", 0.001375),
    ],
)
def test_other_ways_of_being_served_have_prices_of_their_own(model: str, tier: str, usd: float) -> None:
    price = PriceTable.load().lookup(model, None, 1_775_808_000_000, tier)
    assert price is not None
    assert price.cost(*TOKENS) == pytest.approx(usd)
    assert not price.estimated


def test_an_unlisted_way_is_an_estimate_or_unknown() -> None:
    def price(model: str, tier: str) -> Price:
        found = PriceTable.load().lookup(model, None, None, tier)
        assert found is not None
        return found

    # every vendor halves the price of batches
    batch = price("gpt-4.1", "batch")  # 2, 0.50, no fee and 8 USD: 2,000 + 5,000 + 4,000 + 4,000 = 0.015
    assert batch.estimated
    assert batch.cost(*TOKENS) == pytest.approx(0.0075)
    # bought in advance: no price a token
    assert price("claude-sonnet-4-5", "priority").estimated
    assert price("claude-sonnet-4-5", "priority").cost(*TOKENS) == pytest.approx(SONNET.cost(*TOKENS))
    # a model the vendor does not serve fast
    assert price("claude-sonnet-4-5", "fast").cost(*TOKENS) is None


def test_steps_hold_for_every_way() -> None:
    # Haiku 5.5 costs 0.50 instead of 0.10 above 100,000 tokens, and half of it in a batch
    price = PriceTable.load().lookup("claude-haiku-5-5", "anthropic", None, "batch")
    assert price is not None
    assert price.cost(100_000, 0, 0, 0, 0) == pytest.approx(0.005)
    assert price.cost(200_000, 0, 0, 0, 0) == pytest.approx(0.05)
