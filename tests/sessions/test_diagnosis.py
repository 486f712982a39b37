"""Which block of a request changed, from hashes of the bodies."""

from __future__ import annotations

from typing import Any

from monitor.records import Call, Evidence
from monitor.sessions.diagnosis import change, explain
from monitor.sessions.view import PrefixChange
from tests.factory import START, call, view


def told(*messages: str, system: int = 1, tools: int = 2) -> Evidence:
    ids = b"".join(name.encode().ljust(8)[:8] for name in messages)
    return Evidence(message_ids=ids, messages=ids, system=system, tools=tools)


def made(number: int, prompt: int, read: int, evidence: Evidence | None, **facts: Any) -> Call:
    return call(number, prompt, read, evidence=evidence, has_bodies=True, session_evidence="explicit", **facts)


def test_what_changed_first() -> None:
    before = made(0, 20_000, 0, told("task", "a1", "r1"))
    same = told("task", "a1", "r1", "a2")

    def found(evidence: Evidence, read: int = 0) -> PrefixChange | None:
        return change(made(1, 21_000, read, evidence), before)

    assert found(same) is None
    # the last message may have grown
    assert found(told("task", "a1", "r1 and more", "a2")) is None
    assert found(told("task", "a1", "r1", tools=9)) == PrefixChange("tools", None, 0)
    assert found(told("other", "a1", "r1", system=9)) == PrefixChange("system", None, None)
    assert found(told("task", "a1", "r1", system=9), read=4_000) == PrefixChange("system", None, 4_000)
    assert found(told("clock", "a1", "r1")) == PrefixChange("history", 0, None)
    assert found(told("task", "edited", "r1"), read=15_000) == PrefixChange("history", 1, 15_000)


def test_depth_lies_between_the_prompts_of_earlier_calls() -> None:
    # 2 messages took 12,000 tokens, 6 messages 20,000: four messages in, 16,000 stand in front of the fifth
    first = made(0, 12_000, 0, told("m0", "m1"))
    last = made(1, 20_000, 12_000, told("m0", "m1", "m2", "m3", "m4", "m5"))
    miss = made(2, 21_000, 0, told("m0", "m1", "m2", "m3", "X", "m5", "m6"))
    assert change(miss, last, [first, last]) == PrefixChange("history", 4, 16_000)
    # in front of the first message: 2,000 a message less than the first call
    early = made(2, 21_000, 0, told("X", "m1", "m2", "m3", "m4", "m5", "m6"))
    assert change(early, last, [first, last]) == PrefixChange("history", 0, 8_000)


def test_a_change_that_hashes_do_not_show() -> None:
    before = made(0, 20_000, 0, told("task", "a1"))
    moved_mark = made(1, 21_000, 0, told("task", "a1", "r1"), prefix_kept=False)
    assert change(moved_mark, before) == PrefixChange("history", None, None)
    assert change(call(1, 21_000, 0), call(0, 20_000, 0)) is None


def test_long_conversations_whose_first_hashes_are_gone() -> None:
    names = [f"m{n}" for n in range(1_100)]

    def window(count: int) -> Evidence:
        full = told(*names[:count])
        return Evidence(message_ids=full.message_ids[-8_192:], messages=full.messages[-8_192:], system=1, tools=2)

    before = made(0, 90_000, 0, window(1_080))
    assert change(made(1, 91_000, 0, window(1_082)), before) is None
    other = Evidence(
        message_ids=told(*[f"x{n}" for n in range(1_024)]).message_ids, messages=b"y" * 8_192, system=1, tools=2
    )
    assert change(made(1, 91_000, 0, other), before) == PrefixChange("history", None, None)


def test_the_change_is_on_the_turn_and_the_cause_of_the_miss() -> None:
    records = [
        made(0, 12_000, 0, told("m0", "m1")),
        made(1, 20_000, 12_000, told("m0", "m1", "m2", "m3", "m4", "m5")),
        made(2, 21_000, 0, told("m0", "m1", "m2", "m3", "X", "m5", "m6"), prefix_kept=True),
        made(3, 22_000, 21_000, told("m0", "m1", "m2", "m3", "X", "m5", "m6", "m7")),
    ]
    found = view(list(records))
    assert [turn.cache_miss_cause for turn in found.turns] == [None, None, "prefix_changed", None]
    assert [turn.prefix_change for turn in found.turns] == [None, None, PrefixChange("history", 4, 16_000), None]
    assert explain(found.turns[2], found.turns[1], found.turns[:2]) == PrefixChange("history", 4, 16_000)


def test_bodies_that_repeat_the_prefix_accuse_nobody() -> None:
    records = [made(0, 12_000, 0, told("m0", "m1")), made(1, 13_000, 0, told("m0", "m1", "m2"), prefix_kept=True)]
    found = view(list(records))
    assert (found.turns[1].cache_miss_cause, found.turns[1].prefix_change) == ("unknown", None)


def test_the_change_is_told_only_where_it_is_the_cause() -> None:
    late = START + 10_000_000
    records = [made(0, 12_000, 0, told("m0", "m1")), made(1, 13_000, 0, told("X", "m1", "m2"), time=late)]
    found = view(list(records))
    assert (found.turns[1].cache_miss_cause, found.turns[1].prefix_change) == ("expired", None)
