"""Factors of the forecast from past contexts, by hand."""

from __future__ import annotations

from monitor.sessions.forecast import FACTORS
from monitor.sessions.refit import LEVELS, Sample, fit, refit, samples, segments
from monitor.sessions.view import SessionView
from tests.factory import call, event, view


def steady(number: int, top: int = 25_000) -> SessionView:
    """A context that grows by 1,000 tokens a call from 10,000 on."""
    prompts = range(10_000, top + 1, 1_000)
    return view([call(n, prompt, 0, output_tokens=0, session=f"s{number}") for n, prompt in enumerate(prompts)])


def test_levels_are_fixed_sizes() -> None:
    assert LEVELS[:3] == (20_000, 25_000, 31_250)
    assert LEVELS[-1] > 1_000_000


def test_every_third_call_with_enough_growth_behind_it_is_compared() -> None:
    # 20,000 is reached by call 10, 25,000 by call 15; at calls 9 and 12 there are eight deltas and more
    found = samples(segments([steady(0)]))
    assert [(s.fill, s.forecast, s.calls, s.ratio) for s in found] == [
        (0.95, 1.0, 1, 1.0),
        (0.76, 6.0, 6, 1.0),
        (0.88, 3.0, 3, 1.0),
    ]


def test_segments_are_windows_of_main() -> None:
    records = [call(n, 30_000 + n, 0) for n in range(3)]
    agent = call(3, 9_000, 0, chain="agent:x", key="x")
    found = segments([view([*records, agent, event(3.5), call(4, 12_000, 0), call(5, 13_000, 0)])])
    assert [(len(s.points), s.ended) for s in found] == [(3, True), (2, False)]
    assert [point.mean for point in found[1].points] == [None, 1_000.0]


def test_silent_below_ten_contexts() -> None:
    assert refit([steady(n) for n in range(9)]) is None
    fitted = refit([steady(n) for n in range(10)])
    # forecasts were made at 76, 88 and 95 % and were exact; the other stages keep the built-in factors
    assert fitted == (FACTORS[0], FACTORS[1], (0.85, 1.0, 1.0, 1.0), (9.9, 1.0, 1.0, 1.0))


def test_factors_are_quantiles_that_hold_for_the_next_one() -> None:
    # 19 multiples 0.1 ... 1.9: with the next one as the twentieth, two in twenty lie below 0.2 and above 1.8
    found = [Sample(f"s{n}", n, 0.9, 10.0, n) for n in range(1, 20)]
    fitted = fit(found)
    assert fitted is not None
    assert fitted[3] == (9.9, 0.2, 1.0, 1.8)


def test_unknown_prompts_and_failed_calls_are_left_out() -> None:
    records = [
        call(0, 10_000, 0),
        call(1, None, None),
        call(2, None, None, status="error", key="e"),
        call(3, 11_000, 0),
    ]
    (segment,) = segments([view(records)])
    assert [(point.prompt, point.used) for point in segment.points] == [(10_000, 10_100), (11_000, 11_100)]
