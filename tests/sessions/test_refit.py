"""Factors of the forecast from past contexts, by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from monitor.decision.facts import facts_of
from monitor.sessions import recall
from monitor.sessions.build import Settings
from monitor.sessions.forecast import FACTORS
from monitor.sessions.limits import Overrides
from monitor.sessions.load import Request, load
from monitor.sessions.refit import LEVELS, PLACES, Own, Sample, applied, crossings, fit, own, samples, segments
from monitor.sessions.view import Range, SessionView
from monitor.sources.files import Batch
from tests.dashboard.claude_log import write_logs
from tests.factory import call, event, store, view


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
    assert own([steady(n) for n in range(9)]) is None
    # forecasts were made at 76, 88 and 95 % and were exact; the other stages keep the built-in factors
    assert own([steady(n) for n in range(10)]) == Own(
        (FACTORS[0], FACTORS[1], (0.85, 1.0, 1.0, 1.0), (9.9, 1.0, 1.0, 1.0)), 10
    )


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


def test_a_long_context_does_not_outweigh_the_others() -> None:
    # 1,400 calls of 100 tokens from 10,000 on: levels from 20,000 to 149,012, at most 24 places before each
    prompts = range(10_000, 150_001, 100)
    (segment,) = segments([view([call(n, prompt, 0, output_tokens=0) for n, prompt in enumerate(prompts)])])
    found = list(crossings(segment.points))
    assert len({place for place, _, _ in found}) <= PLACES + 1
    assert {level for _, _, level in found} == {level for level in LEVELS if level <= 150_000}


def test_the_newest_contexts_count_and_older_sessions_are_not_looked_at() -> None:
    views = [steady(n) for n in range(40)]
    old = view([call(n, 10_000 + 50 * n, 0, output_tokens=0, session="old") for n in range(400)])
    found = own([*views, old])
    assert found is not None and found == own(views) and found.contexts == 40


def test_ranges_are_made_of_the_same_mean_by_the_new_factors() -> None:
    # 12 calls from 10,000 to 21,000 and 100 tokens out: (167,000 - 21,100) / 1,000 = 145.9 calls to the usable limit
    before = view([call(n, 10_000 + 1_000 * n, 0) for n in range(12)])
    after = applied(before, Own(((0.5, 0.5, 1.0, 2.0), *FACTORS[1:]), 12))
    assert before.forecast is not None and after.forecast is not None
    assert before.forecast.own_contexts is None and after.forecast.own_contexts == 12
    assert after.usable_limit == 167_000
    assert after.forecast.calls_to_limit == Range(73.0, 145.9, 291.8)  # 72.95 is told with one digit
    assert after.forecast.tokens_per_call == before.forecast.tokens_per_call == 1_000


def test_tables_of_many_people_are_no_history_of_ones_own() -> None:
    records = [[call(n, 10_000 + 1_000 * n, 0, output_tokens=0, session=f"t{s}", source="table") for n in range(16)]
               for s in range(12)]  # fmt: skip
    views = [view(list(rows)) for rows in records]
    assert own(views) is None
    mine = own([steady(n) for n in range(10)])
    assert mine is not None and applied(views[0], mine) is views[0]


def test_without_a_forecast_there_is_nothing_to_change() -> None:
    young = view([call(n, 10_000, 0) for n in range(3)])
    assert applied(young, Own(FACTORS, 12)) is young


@pytest.fixture
def history(tmp_path: Path) -> list[str]:
    """Ten sessions of 20 calls: 20,000 tokens, 1,000 more with each call, 300 out."""
    return write_logs(tmp_path, 10, 20)


def test_loading_takes_the_ranges_from_what_is_loaded(
    history: list[str], tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
    monkeypatch.setattr(recall, "WORTH", 0)
    settings = Settings(overrides=Overrides({"*": 50_000}))
    alone = load(Request(paths=history[:9], settings=settings)).sessions[0].forecast
    assert alone is not None and alone.own_contexts is None
    # 39,300 of 50,000 are 79 %. On the way to 39,062 a forecast at 75 % said 9.762 calls and it took 10 (x 1.024), one
    # at 83 % said 6.762 and it took 7 (x 1.035): of twenty such multiples the second and the nineteenth
    for _ in range(2):  # the second time from the cache
        loaded = load(Request(paths=history, settings=settings, cache=True))
        found = loaded.sessions[0].forecast
        assert found is not None and found.own_contexts == 10
        assert found.calls_to_window is not None
        assert (found.calls_to_window.p10, found.calls_to_window.p90) == (11.0, 11.1)  # 10.7 calls times these
        assert facts_of(loaded.sessions[0]).forecast == found
        recall.flush()


def test_a_store_learns_and_goes_on_with_what_it_learnt() -> None:
    made = store(*([call(n, 10_000 + 1_000 * n, 0, output_tokens=0, session=f"s{s}", file=f"{s}", key=f"{s}:{n}")
                    for n in range(16)] for s in range(10)))  # fmt: skip
    assert made.learn() and not made.learn()  # the second time there is nothing new
    assert {v.forecast.own_contexts for v in made.views() if v.forecast is not None} == {10}
    made.apply(Batch("0", [call(16, 26_000, 0, output_tokens=0, session="s0", file="0", key="0:16")], False))
    (changed,) = made.refresh()
    assert changed.forecast is not None and changed.forecast.own_contexts == 10
