"""Answers without an id that two captures tell, and summaries that the client did not take."""

from __future__ import annotations

from typing import Any

from monitor.records import Call, Evidence
from monitor.sessions.copies import copied, untaken
from tests.factory import START, call, event, store

WORDS = bytes(range(16))


def refused(number: int, start: int, end: int, file: str, **facts: Any) -> Call:
    """A request that the provider refused, from ``start`` to ``end`` ms after the first."""
    values: dict[str, Any] = {
        "session": file, "source": "ctxmon", "file": file, "session_evidence": "file", "status": "error",
        "evidence": Evidence(messages=WORDS, origin="k"), "call_id": None, "key": f"at {START + start} {file}",
        "time": START + start, "duration_ms": end - start, "output_tokens": None, **facts,
    }  # fmt: skip
    return call(number, None, None, **values)


def test_a_refused_request_on_both_sides_of_a_proxy_is_one() -> None:
    outer, inner = refused(0, 0, 40, "outer"), refused(0, 5, 35, "inner")
    assert len(copied([outer, inner])) == 1
    made = store([outer], [inner])
    assert [len(view.turns) for view in made.views()] == [1]
    assert sum(made.duplicates().values()) == 1


def test_a_second_try_is_another_request() -> None:
    tries = [(refused(0, at, at + 40, "outer"), refused(0, at + 5, at + 35, "inner")) for at in (0, 60)]
    calls = [one for pair in tries for one in pair]
    assert copied([one for one in calls if one.file == "outer"]) == []
    left = set(range(4)) - set(copied(calls))
    assert sorted(calls[place].time for place in left) == [START, START + 60]
    # one side began to record after the first try
    assert len(copied(calls[:1] + calls[2:])) == 1


def test_other_words_another_time_or_another_outcome_are_another_request() -> None:
    outer = refused(0, 0, 40, "outer")
    strangers = [
        refused(0, 5, 35, "inner", evidence=Evidence(messages=WORDS[::-1], origin="k")),
        refused(0, 2_000, 2_030, "inner"),
        refused(0, 5, 35, "inner", model="another"),
        refused(0, 5, 35, "inner", purpose="compaction"),
        refused(0, 5, 35, "inner", status="ok"),
        refused(0, 5, 35, "inner", source="claude-code"),  # a client's own note is paired otherwise
    ]
    assert [copied([outer, one]) for one in strangers] == [[]] * len(strangers)
    # digests of other captures follow a rule of their own: there the time tells
    har = refused(0, 5, 35, "x.har", source="har", evidence=Evidence(messages=WORDS[::-1]))
    assert len(copied([outer, har])) == 1


def test_the_telling_stays_that_stands_among_its_conversation() -> None:
    answered = call(1, 100, 0, source="har", file="x.har", call_id="r", time=START + 900)
    calls = [refused(0, 0, 40, "outer"), refused(0, 5, 35, "x.har", source="har"), answered]
    assert copied(calls) == [0]
    assert copied([*calls[:2], call(1, 100, 0, source="ctxmon", file="outer", call_id="r", time=START + 900)]) == [1]


def test_a_summary_after_which_all_goes_on_as_before_is_no_compaction() -> None:
    def after(kept: bool | None, prompt: int) -> set[int]:
        noted = event(1.5, evidence="inferred", key="sum#compaction")
        return untaken([call(0, 20_000), call(1, 21_000), call(2, prompt, prefix_kept=kept)], [noted])

    assert after(True, 21_500) == {0}
    assert after(False, 21_500) == set()  # a small conversation may become larger by its summary
    assert after(None, 21_500) == set()
    assert after(True, 9_000) == set()
    # what a log says by a mark of its own happened; and a summary at the end may still be taken
    marked = event(1.5, key="sum#compaction")
    calls = [call(0, 20_000), call(1, 21_000), call(2, 21_500, prefix_kept=True)]
    assert untaken(calls, [marked]) == set()
    assert untaken(calls, [event(5, evidence="inferred", key="sum#compaction")]) == set()
    # another chain goes on, or a request that failed
    other = event(1.5, evidence="inferred", key="sum#compaction", chain="agent:a")
    assert untaken(calls, [other]) == set()
    failed = call(2, None, status="error", prefix_kept=True)
    noted = event(1.5, evidence="inferred", key="sum#compaction")
    assert untaken([*calls[:2], failed, call(3, 9_000, prefix_kept=False)], [noted]) == set()


def test_a_gateways_row_under_an_id_of_its_own_is_the_captured_call() -> None:
    def answered(n: int, source: str, file: str, **facts: Any) -> Call:
        values: dict[str, Any] = {"source": source, "file": file, "call_id": f"{source}{n}", "key": f"{source}{n}",
                                  "time": START + n * 1_000, "duration_ms": 40, **facts}  # fmt: skip
        return call(n, 20_000 + n, 128, **values)

    seen = [answered(n, "ctxmon", "calls") for n in range(3)]
    rows = [answered(n, "litellm", "rows", time=START + n * 1_000 + 5, model="anthropic/claude-sonnet-4-5") for n in range(3)]
    both = sorted([*seen, *rows], key=lambda one: one.time or 0)
    assert [both[place].source for place in sorted(copied(both))] == ["litellm"] * 3
    # what they tell under one id is one anyway; two captures with other ids, or other figures, are other calls
    same = [*both[:2], answered(5, "har", "x.har", key="litellm0"), *both[2:]]
    assert len(copied(same)) == 2
    others = [answered(0, "ctxmon", "calls"), answered(0, "har", "x.har")]
    assert copied(others) == [] and copied([seen[0], answered(1, "litellm", "rows", time=START)]) == []


def test_many_refusals_at_different_times_cost_little() -> None:
    import time

    calls = [refused(n, n * 1_000, n * 1_000 + 40, name) for n in range(10_000) for name in ("outer", "inner")]
    began = time.perf_counter()
    assert len(copied(calls)) == 10_000
    assert time.perf_counter() - began < 5


def test_a_client_that_hung_up_before_the_proxy_had_the_answer_asked_once() -> None:
    def seen(file: str, start: int, words: bytes = WORDS, **facts: Any) -> Call:
        values: dict[str, Any] = {"source": "ctxmon", "file": file, "call_id": "r", "key": "r", "time": START + start,
                                  "duration_ms": 90, "evidence": Evidence(messages=words, origin="k"), **facts}  # fmt: skip
        return call(0, 20_000, 0, **values)

    outer = refused(0, 0, 40, "outer")
    assert copied([outer, seen("inner", 5)]) == [0]
    assert copied([outer, seen("inner", 5, source="har")]) == [0]  # the only one there was
    # the same side answered it, or it was another one, or another time
    for other in (seen("outer", 5), seen("inner", 5, WORDS[::-1]), seen("inner", 2_000), seen("inner", 5, model="x")):
        assert copied([outer, other, refused(9, 9_000, 9_040, "inner")]) == []
    # two at once: only what they say tells which of them it was
    both = [seen("inner", 5, WORDS[::-1], call_id="q", key="q"), seen("inner", 6)]
    assert copied([outer, *both]) == [0]
    assert copied([refused(0, 0, 40, "outer", source="har"), *both]) == []


def test_both_captures_of_a_call_stand_in_one_place() -> None:
    """Of named sessions too, whose other capture digests system prompt and tools by a rule of its own."""
    from monitor.sessions.sessionize import assign

    def seen(n: int, source: str, rule: int, **facts: Any) -> Call:
        messages = bytes([rule + k for k in range(8 * n + 8)])
        values: dict[str, Any] = {"source": source, "file": source, "call_id": f"r{n}", "key": f"r{n}", "session": "s",
                                  "evidence": Evidence(response_id=f"r{n}", messages=messages, message_ids=messages,
                                                       system=rule, tools=rule, origin=source), **facts}  # fmt: skip
        return call(n, 20_000 + n, 0, **values)

    one, other = ([seen(n, source, rule) for n in range(3)] for source, rule in (("ctxmon", 1), ("har", 90)))
    both = [call for pair in zip(one, other, strict=True) for call in pair]
    assert {(call.session, call.chain) for call in assign(both)} == {("s", "main")}
    summary = {"purpose": "compaction", "chain": "side", "session_evidence": "file", "session": "f"}
    placed = assign([*both, seen(4, "ctxmon", 1, **summary), seen(4, "har", 90, **summary)])
    assert placed[-1].session == placed[-2].session
