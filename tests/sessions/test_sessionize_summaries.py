"""Summaries whose request holds the history as text, of a sender that has several conversations at once."""

from __future__ import annotations

from tests.sessions.test_sessionize import T, call, groups

HISTORY = {"purpose": "compaction", "gap": 1, "system": 9, "tools": None}


def two(first="one", second="two", **more):
    """Two conversations that go on at the same time: calls at seconds 0 to 5, in turn."""
    words = {0: [first], 1: [second]}
    made = []
    for n in range(6):
        said = words[n % 2]
        made.append(call(n, *said, gap=1, **more))
        said += [f"{said[0]} answer {n}", f"{said[0]} result {n}"]
    return made, words


def test_the_conversation_that_waited_and_goes_on_with_something_new_made_the_summary():
    calls, words = two()
    parts = [call(6, "history", **HISTORY), call(7, "half of it", **HISTORY)]
    # the second one worked last, but simply goes on
    later = [call(8, *words[1], gap=1), call(9, "summary", *words[0][1:], gap=1)]
    found = groups([*calls, *parts, *later])
    assert found == [[0, 2, 4, 6, 7, 9], [1, 3, 5, 8]]


def test_of_two_that_waited_the_one_that_worked_last_made_it():
    calls, words = two()
    later = [call(n, "summary", *words[n % 2][1:], gap=1) for n in (8, 9)]
    assert groups([*calls, call(6, "history", **HISTORY), *later]) == [[0, 2, 4, 7], [1, 3, 5, 6, 8]]


def test_a_summary_at_the_end_is_of_the_one_that_worked_last():
    calls, _ = two()
    summaries = [call(6, "history", status="error", **HISTORY), call(7, "history", **HISTORY)]
    assert groups([*calls, *summaries]) == [[0, 2, 4], [1, 3, 5, 6, 7]]
    # long afterwards nobody can tell, nor of another sender
    late = call(600, "history", **HISTORY)
    stranger = call(6, "history", origin="another", **HISTORY)
    for alone in (late, stranger):
        assert groups([*calls, alone]) == [[0, 2, 4], [1, 3, 5], [6]]


def test_a_conversation_that_works_while_the_summary_is_made_did_not_ask_for_it():
    import msgspec

    calls, words = two()
    asked = msgspec.structs.replace(call(6, "history", **HISTORY), duration_ms=3_000)  # until second 9
    # both go on with something new, the one that worked last before the summary was ready
    later = [call(8, "news", *words[1][1:], gap=1), call(10, "summary", *words[0][1:], gap=1)]
    found = groups([*calls, asked, *later])
    assert asked.time == T + 6_000 and found == [[0, 2, 4, 6, 8], [1, 3, 5, 7]]
