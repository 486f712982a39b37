"""Windows, outcomes, causes, events and sums of one session; every number by hand from contract.md."""

from __future__ import annotations

import random

import msgspec
import pytest

from monitor.pricing import PriceTable
from monitor.records import Call, Record
from monitor.sessions.build import Session, Settings
from monitor.sessions.cold import Kept
from tests.factory import START, call, event, view


def outcomes(records: list[Record]) -> list[tuple[str, str | None]]:
    return [(turn.cache_outcome, turn.cache_miss_cause) for turn in view(records).turns]


def kinds(records: list[Record]) -> list[tuple[str, str]]:
    return [(event.kind, event.evidence) for event in view(records).events]


def test_outcome_is_read_against_the_previous_prompt() -> None:
    # E is 10,000: 9,000 and more is a hit, 500 and less a miss, between them partial
    for read, want in ((9_000, "hit"), (8_999, "partial"), (501, "partial"), (500, "miss"), (0, "miss")):
        assert outcomes([call(0, 10_000, 0), call(1, 20_000, read)])[1][0] == want


def test_first_call_and_unreported_cache() -> None:
    assert outcomes([call(0, 10_000, 0), call(1, 11_000, None)]) == [("first", None), ("unreported", None)]
    assert outcomes([call(0, 10_000, None)]) == [("unreported", None)]


def test_big_new_input_is_still_a_hit() -> None:
    assert outcomes([call(0, 40_000, 0), call(1, 190_000, 39_936)])[1] == ("hit", None)


@pytest.mark.parametrize(
    ("gap_s", "hour", "want"),
    [(299, False, "unknown"), (301, False, "expired"), (3_599, True, "unknown"), (3_601, True, "expired")],
)
def test_expired_needs_a_gap_longer_than_the_life_of_the_cache(gap_s: int, hour: bool, want: str) -> None:
    first = call(0, 40_000, 0, cache_write_1h_tokens=39_990 if hour else 0, cache_ttl_s=3600 if hour else 300)
    second = call(1, 41_000, 0, time=START + gap_s * 1000)
    assert outcomes([first, second])[1] == ("miss", want)


def test_causes_in_the_order_of_the_contract() -> None:
    late = START + 3_600_000
    # everything happened at once: the compaction is the cause, then the trim, then the switch, then the pause
    switched = call(1, 30_000, 0, time=late, model="claude-opus-4-5")
    assert outcomes([call(0, 100_000, 0), event(0.5), switched])[1][1] == "compaction"
    assert outcomes([call(0, 100_000, 0), event(0.5, "microcompaction"), switched])[1][1] == "trim"
    assert outcomes([call(0, 100_000, 0), switched])[1][1] == "model_switch"
    assert outcomes([call(0, 100_000, 0), call(1, 101_000, 0, time=late)])[1][1] == "expired"


def test_prefix_changed_only_where_bodies_exist() -> None:
    bodies = call(1, 41_000, 0, has_bodies=True)
    assert outcomes([call(0, 40_000, 0), bodies])[1] == ("miss", "prefix_changed")
    kept = call(1, 41_000, 0, has_bodies=True, prefix_kept=True)
    assert outcomes([call(0, 40_000, 0), kept])[1] == ("miss", "unknown")


def test_recorded_compaction_opens_a_window_and_tells_both_sides() -> None:
    found = view(
        [call(0, 60_000, 0), call(1, 165_040, 60_000), event(1.5, recorded_before=165_960), call(2, 38_412, 18_204)]
    )
    (compaction,) = found.events
    assert (compaction.tokens_before, compaction.tokens_after) == (165_040, 38_412)
    assert (compaction.after_call, compaction.before_call) == (1, 2)
    assert compaction.recorded_before == 165_960
    assert [turn.window for turn in found.turns] == [1, 1, 2]
    assert (found.windows, found.compactions, found.inferred_compactions) == (2, 1, 0)


@pytest.mark.parametrize("behind", [False, True])
@pytest.mark.parametrize("kind", ["compaction", "trim"])
def test_an_event_inside_a_call_lies_before_it(behind: bool, kind: str) -> None:
    holder = call(1, 30_000, 10_000)
    held = event(1, kind, in_call="msg_1", recorded_before=90_000)
    found = view([call(0, 80_000, 0), *([holder, held] if behind else [held, holder]), call(2, 31_000, 30_000)])
    assert [(e.kind, e.tokens_before, e.tokens_after, e.after_call, e.before_call) for e in found.events] == [
        (kind, 80_000, 30_000, 0, 1)
    ]
    assert [turn.window for turn in found.turns] == ([1, 2, 2] if kind == "compaction" else [1, 1, 1])
    assert found.turns[1].cache_miss_cause == kind


def test_a_dip_of_two_calls_is_no_growth() -> None:
    # 100,000, two calls of something else, back at 101,000 and on: growth is 1,000 a call, the dips none
    prompts = [99_000, 100_000, 5_000, 5_100, 101_000, 102_000]
    found = view([call(n, prompt, 0) for n, prompt in enumerate(prompts)])
    assert [turn.delta for turn in found.turns] == [None, 1_000, None, None, 1_000, 1_000]
    assert found.events == ()


def test_growth_after_an_inflated_first_call_is_measured_from_the_second() -> None:
    records: list[Record] = [call(0, 164_000, 0), event(0.5), call(1, 90_000, 18_000), call(2, 60_000, 18_000),
                             call(3, 62_000, 60_000)]  # fmt: skip
    assert [turn.delta for turn in view(records).turns] == [None, None, None, 2_000]


def test_side_calls_have_a_price_that_is_in_no_sum() -> None:
    side = call(1, 1_000, 0, chain="side", purpose="side", key="t", fresh_tokens=1_000, cache_write_tokens=0)
    found = view([call(0, 50_000, 0), side], PriceTable.load())
    # 1,000 x 3 + 100 x 15 USD per million
    assert found.turns[1].cost_usd == pytest.approx(0.0045)
    assert found.sums.cost_usd == found.turns[0].cost_usd
    assert found.turns[1].cache_outcome == "first"


def test_drop_is_inferred_only_if_it_stays() -> None:
    stays = [call(0, 100_000, 90_000), call(1, 30_000, 12_000), call(2, 31_000, 30_000), call(3, 32_000, 31_000)]
    assert kinds(stays) == [("compaction", "inferred")]
    back_at_once = [call(0, 100_000, 90_000), call(1, 30_000, 12_000), call(2, 101_000, 100_000)]
    back_in_two = [call(0, 100_000, 90_000), call(1, 30_000, 12_000), call(2, 31_000, 30_000), call(3, 96_000, 95_000)]
    assert kinds(back_at_once) == []
    assert kinds(back_in_two) == []


def test_size_of_drops() -> None:
    def drop(prompt: int) -> list[tuple[str, str]]:
        return kinds([call(0, 100_000, 0), call(1, prompt, 10_000), call(2, prompt + 10, prompt)])

    assert drop(69_000) == [("compaction", "inferred")]
    assert drop(71_000) == [("unexplained_drop", "inferred")]
    assert drop(89_000) == [("unexplained_drop", "inferred")]
    assert drop(91_000) == []
    # the ends of "10-30 %" belong to it
    assert drop(69_999) == [("compaction", "inferred")]
    assert drop(70_000) == drop(90_000) == [("unexplained_drop", "inferred")]
    assert drop(90_001) == []
    # less than 4,000 tokens: nothing, whatever the share
    assert kinds([call(0, 5_000, 0), call(1, 1_500, 0), call(2, 1_600, 1_500)]) == []


def test_warm_smaller_prompt_is_a_rewind() -> None:
    records: list[Record] = [
        call(0, 20_000, 0),
        call(1, 138_395, 20_000),
        call(2, 95_864, 95_846),
        call(3, 97_000, 95_864),
    ]
    assert kinds(records) == [("rewind", "inferred")]
    assert view(records).windows == 1


def test_model_switch_is_no_compaction() -> None:
    records: list[Record] = [
        call(0, 96_000, 0),
        call(1, 60_000, 0, model="gpt-5.4"),
        call(2, 61_000, 60_000, model="gpt-5.4"),
    ]
    assert kinds(records) == [("model_switch", "recorded")]


def test_second_call_of_a_window_may_be_smaller() -> None:
    records: list[Record] = [
        call(0, 164_000, 0),
        event(0.5),
        call(1, 136_020, 18_000),
        call(2, 60_310, 18_000),
        call(3, 62_000, 60_000),
    ]
    assert [kind for kind, _ in kinds(records)] == ["compaction", "thrash"]  # 136,020 is over 60 % of 167,000


def test_thrash_rules() -> None:
    def compactions(*places: int) -> list[str]:
        records: list[Record] = []
        for number in range(40):
            records.append(call(number, 50_000, 45_000))
            if number in places:
                records.append(event(number + 0.5))
        return [kind for kind, _ in kinds(records)]

    assert compactions(5, 12) == ["compaction", "compaction", "thrash"]  # 7 calls apart
    assert compactions(5, 13) == ["compaction", "compaction"]
    assert compactions(5, 16, 34) == ["compaction", "compaction", "compaction", "thrash"]  # three within 29 calls
    assert compactions(4, 15, 34) == ["compaction", "compaction", "compaction"]


def test_side_and_failed_calls_are_beside_the_curve() -> None:
    side = call(1, 900, 0, chain="side", purpose="side", key="t")
    failed = call(2, None, None, status="error", key="e")
    found = view([call(0, 50_000, 0), side, failed, call(3, 51_000, 50_000)])
    assert (found.sums.calls, found.sums.side_calls, found.sums.error_calls) == (2, 1, 1)
    assert found.sums.prompt_tokens == 101_000
    assert found.turns[3].cache_outcome == "hit"
    assert found.events == ()


def test_summarising_call_counts_in_sums_but_not_in_the_curve() -> None:
    summary = call(1, 45_383, 45_056, chain="side", purpose="compaction", key="c")
    found = view([call(0, 45_165, 41_000), summary, event(1.5, summary_tokens=100), call(2, 10_260, 8_960)])
    assert found.sums.prompt_tokens == 45_165 + 45_383 + 10_260
    assert found.peak_prompt_tokens == 45_165
    assert found.events[0].tokens_before == 45_165
    (cost,) = found.compaction_costs
    assert (cost.summary_call_tokens, cost.summary_call_estimated) == (45_383, False)


def test_ratios() -> None:
    found = view([call(0, 10_000, 0), call(1, 20_000, 10_000), call(2, 30_000, 5_000)])
    assert found.cache_hit_ratio == pytest.approx(15_000 / 60_000)
    assert found.prefix_hit_ratio == pytest.approx((10_000 + 5_000) / (10_000 + 20_000))
    assert found.cache_misses == {"unknown": 1}


def test_unknown_is_not_zero() -> None:
    found = view([call(0, None, None, output_tokens=None, fresh_tokens=None)])
    assert found.sums.prompt_tokens is None
    assert found.sums.calls_without_usage == 1
    assert found.fill is None
    assert found.cache_hit_ratio is None


def test_prices_are_those_of_the_model_and_1h_writes_cost_twice() -> None:
    one = call(
        0, 101_000, 0, fresh_tokens=1_000, cache_write_tokens=100_000, cache_write_1h_tokens=100_000, output_tokens=500
    )
    found = view([one], PriceTable.load())
    # 1,000 x 3 + 100,000 x 6 + 500 x 15 USD per million
    assert found.sums.cost_usd == pytest.approx(0.6105)
    unpriced = view([call(0, 1_000, 0, model="claude-mystery-9")], PriceTable.load())
    assert (unpriced.sums.cost_usd, unpriced.sums.unpriced_calls) == (None, 1)


def test_logged_cost_wins() -> None:
    found = view([call(0, 1_000, 0, cost_usd=0.25)], PriceTable.load())
    assert (found.turns[0].cost_usd, found.turns[0].cost_source) == (0.25, "logged")


def test_miss_cost_is_what_a_read_would_have_saved() -> None:
    found = view([call(0, 100_000, 0), call(1, 101_000, 0)], PriceTable.load())
    # 100,000 tokens written at 3.75 instead of read at 0.30 USD per million
    assert found.turns[1].miss_cost_usd == pytest.approx(0.345)


def _random_session(seed: int) -> list[Record]:
    chance = random.Random(seed)
    records: list[Record] = []
    prompt = 20_000
    for number in range(700):
        chain = "main" if chance.random() < 0.9 else "agent:x"
        if chance.random() < 0.02:
            records.append(event(number - 0.5, chance.choice(["compaction", "microcompaction", "rewind"]), chain=chain))
            prompt = 20_000
        if chance.random() < 0.01:
            records.append(call(number, prompt, prompt, chain="side", purpose="compaction", key=f"sum{number}"))
        if chance.random() < 0.03:
            prompt = max(5_000, prompt // 2)
        read = chance.choice([0, prompt // 2, max(0, prompt - 300)])
        model = "claude-opus-4-5" if chance.random() < 0.02 else "claude-sonnet-4-5"
        records.append(call(number, prompt, read, chain=chain, model=model, exchange=1 + number // 9))
        prompt += chance.randint(0, 2_500)
    return records


@pytest.mark.parametrize("hot", [None, 40])
@pytest.mark.parametrize("seed", range(6))
def test_incremental_folding_equals_folding_at_once(seed: int, hot: int | None) -> None:
    records = _random_session(seed)
    whole = view(records, PriceTable.load())
    chance = random.Random(seed + 100)
    growing = Session("s", Settings(prices=PriceTable.load()), hot=hot)
    place = 0
    while place < len(records):
        step = chance.choice([1, 1, 1, 7, 60])
        for record in records[place : place + step]:
            growing.put(record, (record.time or 0, 0, record.line or 0))  # type: ignore[arg-type, union-attr]
        place += step
        last = growing.refresh(lambda item: False)
        if chance.random() < 0.3:
            # the newest call is told again (its answer went on), as happens with every streamed one
            item, key = growing.items[-1], growing.order[-1]
            growing.drop(item, key)
            growing.put(item, key)
            last = growing.refresh(lambda item: False)
    assert isinstance(last.turns, Kept) == (hot is not None)
    assert last.turns == whole.turns
    assert last.events == whole.events
    assert last.sums.prompt_tokens == whole.sums.prompt_tokens
    assert last.sums.cost_usd == pytest.approx(whole.sums.cost_usd)
    assert last.cache_misses == whole.cache_misses
    assert last.forecast == whole.forecast
    assert last.compaction_costs == whole.compaction_costs
    assert last.files == whole.files


def test_the_latest_writes_tell_how_long_the_cache_lives() -> None:
    # one-hour writes first (a resumed session's parent), five-minute ones since
    hour = call(0, 40_000, 0, cache_write_1h_tokens=39_990, cache_ttl_s=3600)
    short = call(1, 41_000, 40_000, cache_ttl_s=300)
    late = call(2, 42_000, 0, time=START + 10_000 + 420_000)
    assert outcomes([hour, short, late])[2] == ("miss", "expired")


@pytest.mark.parametrize("late", [3, 300, 600])
def test_a_record_that_comes_late_changes_packed_turns_too(late: int) -> None:
    records = _random_session(1)
    while sum(other.time == records[late].time for other in records) > 1:  # type: ignore[union-attr]
        late += 1  # of two at one time the one that comes later stands behind
    growing = Session("s", Settings(), hot=0)
    seen = []
    for place in [n for n in range(len(records)) if n != late] + [late]:
        record = records[place]
        growing.put(record, (record.time or 0, 0, record.line or 0))  # type: ignore[arg-type, union-attr]
        if place % 50 == 0 or place == late:
            seen.append((growing.refresh(lambda item: False), place))
    whole, (before, place) = view(records), seen[-2]
    assert seen[-1][0].turns == whole.turns and seen[-1][0].events == whole.events
    # what was shown before is still as it was
    shown = [record for n, record in enumerate(records[: place + 1]) if n != late and isinstance(record, Call)]
    assert [turn.call for turn in before.turns] == shown


def test_first_and_last_are_the_outermost_times_that_are_known() -> None:
    # 10 s apart; the first and the last call tell no time
    calls = [call(n, 20_000 + n, 0, **({"time": None} if n in (0, 3) else {})) for n in range(4)]
    found = view(calls)
    assert (found.first, found.last) == (START + 10_000, START + 20_000)
    nothing = view([call(0, 20_000, 0, time=None)])
    assert (nothing.first, nothing.last) == (None, None)


def test_a_recorded_compaction_is_not_inferred_once_more_from_the_next_request() -> None:
    noted, guessed = event(1.2, line=2), event(1.9, evidence="inferred", line=3)
    for pair in ([noted, guessed], [msgspec.structs.replace(guessed, time=noted.time), noted]):
        found = view([call(0, 80_000, 0), call(1, 100_000, 80_000), *pair, call(2, 30_000, 1_000)])
        assert [(e.kind, e.evidence, e.tokens_after) for e in found.events] == [("compaction", "recorded", 30_000)]
        assert found.windows == 2
    # two marks of the log's own are two
    twice = view([call(0, 80_000, 0), call(1, 100_000, 80_000), noted, event(1.9), call(2, 30_000, 1_000)])
    assert [e.kind for e in twice.events].count("compaction") == 2


def test_a_prefix_of_openai_may_have_expired_after_five_minutes() -> None:
    def at(seconds: int, model: str = "gpt-5.4") -> list[Record]:
        facts: dict[str, str | None] = {"provider": "openai", "model": model, "cache_write_tokens": None}
        return [call(0, 40_000, 0, **facts), call(1, 41_000, 0, **facts, time=START + seconds * 1_000)]

    assert outcomes(at(300))[1] == ("miss", "unknown")
    assert outcomes(at(420))[1] == ("miss", "expired")
    assert outcomes(at(420, "gpt-5.6"))[1] == ("miss", "unknown")  # half an hour is promised there
