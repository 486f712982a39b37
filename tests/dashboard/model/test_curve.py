"""From views to columns of numbers: which calls, what state, where the events stand."""

from __future__ import annotations

import random

import msgspec
import pytest

from monitor.dashboard.model.call_list import TurnList
from monitor.dashboard.model.curve import ALL, ERROR, FIRST, HIT, MISS, NOTHING, PARTIAL, UNREPORTED, Curve, choices
from tests.dashboard.fake import event, growing, turn, view


def curve_of(turns: list, events: tuple = (), choice: str = "main") -> Curve:
    curve = Curve("s1", choice)
    curve.update(view(turns, events))
    return curve


def test_only_work_calls_of_the_chosen_line_are_drawn() -> None:
    turns = [
        turn(0, 10_000, 0, 9_000),
        turn(1, 4_000, 0, 3_000, chain="agent:a1"),
        turn(2, 900, 0, 0, chain="side", purpose="side"),
        turn(3, 12_000, 10_000, 1_500),
        turn(4, 12_500, 12_000, 0, purpose="compaction"),
    ]
    assert list(curve_of(turns).index) == [0, 3]
    assert list(curve_of(turns, choice=ALL).index) == [0, 1, 3]
    assert list(curve_of(turns, choice="agent:a1").index) == [1]
    assert list(curve_of(turns, choice="side").index) == [2]
    assert choices(view(turns)) == ["main", ALL, "agent:a1", "side"]


def test_parts_are_kept_apart_and_unknown_stays_unknown() -> None:
    curve = curve_of([turn(0, 10_000, 7_000, 2_000), turn(1, 10_000), turn(2, None, None, status="error")])
    assert list(curve.total) == [10_000, 10_000, -1]
    assert list(curve.read) == [7_000, -1, -1]
    assert list(curve.write) == [2_000, -1, -1]
    assert curve.peak == 10_000


def test_writes_a_provider_does_not_tell_follow_from_the_rest() -> None:
    # 10,000 = 7,000 read + 400 fresh + what must have been written
    only_fresh = turn(0, 10_000, 7_000, None, fresh_tokens=400)
    assert list(curve_of([only_fresh]).write) == [2_600]


def test_states() -> None:
    turns = [
        turn(0, 10_000, 0, 9_000, cache_outcome="first"),
        turn(1, 11_000, 10_000, 900),
        turn(2, 12_000, 5_000, 6_000, cache_outcome="partial"),
        turn(3, 13_000, 0, 12_000, cache_outcome="miss"),
        turn(4, 14_000),
        turn(5, None, status="error"),
        turn(6, None, status="in_flight"),
    ]
    curve = curve_of(turns)
    assert list(curve.state) == [FIRST, HIT, PARTIAL, MISS, UNREPORTED, ERROR, NOTHING]
    assert curve.alerts == [2, 3]
    assert curve.errors == [5]


def test_while_a_subagent_works_the_main_line_holds() -> None:
    turns = [turn(0, 50_000, 0, 0), turn(1, 4_000, 0, 0, chain="agent:a"), turn(2, 51_000, 50_000, 0)]
    assert list(curve_of(turns, choice=ALL).hold) == [-1, 50_000, -1]


def test_an_appended_call_extends_the_columns() -> None:
    long = growing(400)
    curve = Curve("s1")
    assert curve.update(msgspec.structs.replace(long, turns=long.turns[:390]))
    first = curve.index
    assert not curve.update(long)
    assert curve.index is first
    assert len(curve) == 400
    whole = Curve("s1")
    whole.update(long)
    assert (curve.total, curve.read, curve.state, curve.alerts) == (whole.total, whole.read, whole.state, whole.alerts)


def test_a_call_that_ends_or_comes_late_changes_only_what_follows_it() -> None:
    turns = [turn(i, 10_000 + i, 9_000, 0) for i in range(30)]
    curve = curve_of(turns)
    done = [*turns[:-1], turn(29, 99_000, 9_000, 0)]
    assert not curve.update(view(done))
    assert curve.total[-1] == 99_000 and curve.peak == 99_000
    late = [*done[:10], turn(10, 55_000, 9_000, 0), *[turn(i + 1, 10_000 + i, 9_000, 0) for i in range(10, 30)]]
    assert not curve.update(view(late))
    assert curve.total[10] == 55_000 and len(curve) == 31 and curve.peak == 55_000
    assert curve.update(view([turn(0, 5, 0, 0), *late[1:]]))  # another beginning: another history


@pytest.mark.parametrize("seed", range(8))
def test_whatever_happens_the_columns_are_those_of_the_whole(seed: int) -> None:
    chance = random.Random(seed)
    sizes: list[tuple[int | None, str, str]] = []
    curves = {choice: Curve("s1", choice) for choice in ("main", ALL, "agent:a")}
    listed = TurnList()
    kinds = {"only": chance.choice(["all", "misses", "chain", "errors"]), "sort": chance.choice(["turn", "prompt"])}
    for _ in range(120):
        move = chance.random()
        if move < 0.7 or not sizes:
            sizes += [
                (
                    chance.choice([None, 9_000, chance.randrange(90_000)]),
                    chance.choice(["main", "main", "agent:a", "side"]),
                    chance.choice(["hit", "miss", "hit"]),
                )
                for _ in range(chance.randrange(1, 9))
            ]
        elif move < 0.85:  # one of the latest is told again
            sizes[-chance.randrange(1, min(60, len(sizes)) + 1)] = (chance.randrange(90_000), "main", "partial")
        elif move < 0.95:
            sizes.insert(len(sizes) - chance.randrange(min(60, len(sizes))), (7_000, "agent:a", "hit"))
        else:
            del sizes[len(sizes) * 2 // 3 :]
        turns = [
            turn(i, prompt, 1_000, chain=chain, cache_outcome=outcome, status="ok" if prompt is not None else "error")
            for i, (prompt, chain, outcome) in enumerate(sizes)
        ]
        shown = view(turns)
        for choice, curve in curves.items():
            curve.update(shown)
            whole = Curve("s1", choice)
            whole.update(shown)
            for name in ("index", "total", "read", "write", "hold", "state", "alerts", "errors", "peak"):
                assert getattr(curve, name) == getattr(whole, name), name
            assert [curve.chains[n] for n in curve.line] == [whole.chains[n] for n in whole.line]
        listed.update(shown, **kinds)
        alone = TurnList()
        alone.update(shown, **kinds)
        rows = [listed.row(number) for number in range(len(listed))]
        assert rows == [alone.row(number) for number in range(len(alone))]
        assert [listed.find(one.index) for one in rows] == list(range(len(rows)))


def test_events_stand_before_the_call_that_followed() -> None:
    turns = [turn(i, 1_000 * (i + 1), 0, 0, chain="side" if i == 2 else "main") for i in range(6)]
    events = (
        event("compaction", 3),
        event("trim", None, after_call=4, evidence="inferred"),
        event("model_switch", None, after_call=None, time=turns[1].call.time),
        event("compaction", 5, chain="agent:z"),
        event("error", None, after_call=None, time=None),
    )
    curve = curve_of(turns, events)
    # on the main line calls 0, 1, 3, 4, 5 stand at positions 0 to 4
    assert [(m.position, m.kind, m.glyph) for m in curve.marks] == [
        (1, "model_switch", "◆"),
        (2, "compaction", "▲"),
        (4, "trim", "▽"),
    ]


def test_an_event_after_the_last_call_stands_at_the_last() -> None:
    curve = curve_of([turn(0, 5_000, 0, 0), turn(1, 6_000, 0, 0)], (event("compaction", None, after_call=1),))
    assert [m.position for m in curve.marks] == [1]


def test_jumps() -> None:
    turns = [turn(i, 9_000, 8_000, 0, cache_outcome="miss" if i in (2, 7) else "hit") for i in range(10)]
    turns[5] = turn(5, None, status="error")
    curve = curve_of(turns, (event("compaction", 4), event("model_switch", 6)))
    assert curve.next_alert(0, 1) == 2 and curve.next_alert(2, 1) == 7 and curve.next_alert(7, 1) is None
    assert curve.next_alert(7, -1) == 2
    assert curve.next_reset(0, 1) == 4 and curve.next_reset(4, 1) is None and curve.next_reset(9, -1) == 4
    assert curve.next_error(0, 1) == 5 and curve.next_error(5, -1) is None


def test_indexes_with_gaps_are_found() -> None:
    turns = [turn(i * 3, 5_000, 0, 0) for i in range(5)]
    curve = curve_of(turns, (event("compaction", 6),))
    assert curve.position_of(6) == 2
    assert [m.position for m in curve.marks] == [2]
