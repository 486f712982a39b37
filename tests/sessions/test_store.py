"""Who owns a call that several files tell of; replacing what a file said."""

from __future__ import annotations

from itertools import permutations

from monitor.records import Call, Problem
from monitor.sources.files import Batch
from tests.factory import MODEL, call, event, store


def names(made: object) -> dict[str, tuple[int, int]]:
    return {view.session: (view.sums.calls, view.inherited_calls) for view in made.views()}  # type: ignore[attr-defined]


def test_resumed_copy_counts_once_and_belongs_to_the_original() -> None:
    original = [call(n, 20_000 + n, 0) for n in range(3)]
    copy = [call(n, 20_000 + n, 0, session="t", file="b.jsonl") for n in range(3)]
    own = call(9, 30_000, 20_000, session="t", file="b.jsonl")
    assert names(store(original, [*copy, own])) == {"s": (3, 0), "t": (1, 3)}
    # the order of the files does not matter
    assert names(store([*copy, own], original)) == {"s": (3, 0), "t": (1, 3)}


def test_both_went_on_after_the_fork_the_earlier_owns() -> None:
    shared = [call(n, 20_000 + n, 0) for n in range(2)]
    first = [*shared, call(5, 21_000, 20_000)]
    second = [call(n, 20_000 + n, 0, session="t", file="b.jsonl") for n in range(2)]
    second.append(call(7, 22_000, 20_000, session="t", file="b.jsonl"))
    assert names(store(first, second)) == {"s": (3, 0), "t": (1, 2)}


def copied(*numbers: int, session: str) -> list[Call]:
    return [call(n, 20_000 + 100 * n, 20_000, session=session, file=f"{session}.jsonl") for n in numbers]


def test_a_session_resumed_twice_keeps_each_call_where_it_was_made() -> None:
    # s made 0 and 1; t went on from it with 2 and 3; u went on from t with 4
    files = [
        copied(0, 1, session="s"),
        copied(0, 1, 2, 3, session="t"),
        copied(0, 1, 2, 3, 4, session="u"),
    ]
    expected = {"s": (2, 0), "t": (2, 2), "u": (1, 4)}
    for order in permutations(files):
        assert names(store(*order)) == expected


def test_a_fork_of_a_fork_owns_nothing_of_the_first_session() -> None:
    # s made 0, 1 and went on with 2; t forked it after 1 and made 5; u forked t and made 7
    files = [copied(0, 1, 2, session="s"), copied(0, 1, 5, session="t"), copied(0, 1, 5, 7, session="u")]
    for order in permutations(files):
        made = store(*order)
        assert names(made) == {"s": (3, 0), "t": (1, 2), "u": (1, 3)}
        assert [view.events for view in made.views()] == [(), (), ()]


def test_a_fork_that_keeps_the_model_names_it() -> None:
    made = store(copied(0, 1, session="s"), copied(0, 1, 2, session="t"))
    assert {view.session: view.models for view in made.views()} == {"s": (MODEL,), "t": (MODEL,)}


def test_no_drop_is_inferred_across_the_joint_of_a_fork() -> None:
    original = [call(n, 100_000 + n, 90_000) for n in range(2)]
    copy = [call(n, 100_000 + n, 90_000, session="t", file="b.jsonl") for n in range(2)]
    own = [call(n, 30_000 + n, 12_000, session="t", file="b.jsonl") for n in (8, 9)]
    made = store(original, [*copy, *own])
    fork = next(view for view in made.views() if view.session == "t")
    assert fork.events == ()
    assert fork.turns[0].expected_read == 100_001  # compared with the inherited context


def test_compaction_in_a_copied_part_counts_once() -> None:
    original = [call(0, 100_000, 0), event(0.5), call(1, 20_000, 0)]
    copy = [
        call(0, 100_000, 0, session="t", file="b.jsonl"),
        event(0.5, session="t", file="b.jsonl"),
        call(1, 20_000, 0, session="t", file="b.jsonl"),
        call(2, 21_000, 20_000, session="t", file="b.jsonl"),
    ]
    assert sum(view.compactions for view in store(original, copy).views()) == 1


def test_one_call_in_two_files_of_a_session_keeps_the_fuller_telling() -> None:
    progress = call(0, 9_000, 0, chain="agent:x", output_tokens=3, file="main.jsonl")
    own = call(0, 9_000, 0, chain="agent:x", output_tokens=512, file="agent.jsonl")
    for order in ([progress], [own]), ([own], [progress]):
        (found,) = store(*order).views()
        assert [turn.call.output_tokens for turn in found.turns] == [512]


def test_a_file_told_anew_replaces_what_it_said() -> None:
    made = store([call(0, 10_000, 0), call(1, 11_000, 10_000)])
    made.apply(Batch("a.jsonl", [call(0, 10_000, 0), Problem("a.jsonl", 2, "broken")], True))
    assert names(made) == {"s": (1, 0)}
    assert [problem.reason for problem in made.problems()] == ["broken"]
    made.apply(Batch("a.jsonl", [], True))
    assert made.views() == []


def test_appended_telling_of_a_call_replaces_the_earlier_one() -> None:
    made = store([call(0, 10_000, 0, output_tokens=2, output_is_lower_bound=True)])
    made.views()
    made.apply(Batch("a.jsonl", [call(0, 10_000, 0, output_tokens=350)], False))
    (found,) = made.views()
    assert [(t.call.output_tokens, t.call.output_is_lower_bound) for t in found.turns] == [(350, False)]


def test_order_is_time_then_file_then_line() -> None:
    late_file_early_time = [call(0, 1_000, 0, file="b.jsonl", chain="agent:x", key="b0", time=call(0, 1, 0).time)]
    made = store([call(1, 2_000, 0), call(2, 3_000, 2_000)], late_file_early_time)
    (found,) = made.views()
    assert [(turn.index, turn.call.chain) for turn in found.turns] == [(0, "agent:x"), (1, "main"), (2, "main")]


def test_inherited_without_parent_is_not_counted() -> None:
    burst = [call(n, 30_000 + n, 0, inherited=True) for n in range(3)]
    (found,) = store([*burst, call(5, 60_000, 50_000)]).views()
    assert (found.sums.calls, found.inherited_calls) == (1, 3)
