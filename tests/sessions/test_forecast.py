"""Forecast arithmetic by hand."""

from __future__ import annotations

import pytest

from monitor.sessions.forecast import forecast
from monitor.sessions.view import Range
from tests.factory import call, view


def test_silent_below_eight_deltas() -> None:
    found = forecast(used=50_000, usable=100_000, window=120_000, mean_delta=1_000, deltas=7, recent=[1_000] * 7)
    assert found is not None
    assert (found.calls_to_limit, found.tokens_per_call, found.deltas) == (None, None, 7)


def test_range_from_mean_growth_and_fill() -> None:
    # 40 % full: factors .32, .98, 3.2 on (100,000 - 40,000) / 1,000 = 60 calls
    found = forecast(used=40_000, usable=100_000, window=200_000, mean_delta=1_000, deltas=20, recent=[1_000] * 20,
                     calls_per_exchange=6, seconds_per_call=30)  # fmt: skip
    assert found is not None
    assert found.calls_to_limit == Range(19.2, 58.8, 192.0)
    assert found.exchanges_to_limit == Range(3.2, 9.8, 32.0)
    assert found.seconds_to_limit == Range(576.0, 1764.0, 5760.0)


def test_over_the_limit_is_zero_calls() -> None:
    found = forecast(used=101_000, usable=100_000, window=None, mean_delta=500, deltas=9, recent=[500] * 9)
    assert found is not None
    assert found.calls_to_limit == Range(0.0, 0.0, 0.0)
    assert found.calls_to_window is None


def test_growth_is_an_ewma_since_the_last_reset() -> None:
    # deltas 1,000 nine times, then one of 5,000: 1,000 + 0.15 x 4,000
    prompts = [20_000 + 1_000 * n for n in range(10)] + [34_000]
    found = view([call(n, prompt, prompt - 500) for n, prompt in enumerate(prompts)])
    assert found.forecast is not None
    assert found.forecast.tokens_per_call == pytest.approx(1_600.0)
    assert found.forecast.deltas == 10
