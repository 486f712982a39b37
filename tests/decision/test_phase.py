"""Where the work stands: boundary score, waiting calls, loops, change of subject, todos. Weights by hand."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.decision.phase import ABANDONED_MS, phase
from monitor.records import Step
from tests.decision.factory import NOW, answer, say, tool


def judge(*steps, idle=5.0, now=NOW):
    return phase(steps, idle_s=idle, now_ms=now)


EDIT = tool("edit", paths=(1,))


def test_without_steps_nothing_is_known():
    p = judge()
    assert (p.boundary, p.loop, p.topic, p.todos, p.task_complete) == (None, None, None, None, None)


@pytest.mark.parametrize(
    ("steps", "score"),
    [
        ([say(), *EDIT], 0.0),
        ([say(), *EDIT, answer()], 0.35),
        ([say(), *EDIT, *tool("commit"), answer()], 0.60),
        ([say(), *EDIT, *tool("commit")], 0.25),
        ([say(), *EDIT, *tool("commit", ok=False)], 0.0),  # a failed commit, and a failure at the end
        ([say(), *EDIT, *tool("push"), answer()], 0.70),
        ([say(), *EDIT, *tool("check", said=("passed",)), answer()], 0.60),
        ([say(), *tool("read"), *tool("check", said=("passed",)), answer()], 0.35),  # nothing was edited
        ([say(), *EDIT, *tool("check", ok=False, said=("failed",)), answer()], 0.0),  # 0.35 - 0.4 - 0.3
        ([say(), *tool("check", said=("passed",)), *EDIT, answer()], 0.05),  # edited since: 0.35 - 0.3
        ([say(), *tool("plan", flags=("plan_exit",))], 0.30),
        ([say(), *tool("shell", flags=("background",)), answer()], 0.05),
        ([say(), *tool("edit", paths=(7,)), *tool("edit", paths=(7,))], 0.0),
        ([say(), *EDIT, *tool(result=False)], 0.0),
        ([say(), *EDIT, say("clear", kind="command")], 1.0),
    ],
)
def test_boundary_score(steps, score):
    assert judge(*steps).boundary == pytest.approx(score)


def test_a_pipe_hides_the_exit_code_so_the_output_counts():
    piped = tool("check", ok=True, flags=("piped",), said=("failed",))
    assert judge(say(), *EDIT, *piped, answer()).boundary == 0.0
    plain = tool("check", ok=True, said=())
    assert judge(say(), *EDIT, *plain, answer()).boundary == pytest.approx(0.60)


def test_what_was_done_before_the_last_order_ended_another_phase():
    assert judge(say(), *EDIT, *tool("commit"), answer(), say(), *tool("read")).boundary == 0.0
    # a nod does not begin a new one
    assert judge(say(), *EDIT, *tool("commit"), say("ack"), answer()).boundary == pytest.approx(0.60)


def test_the_user_speaking_means_the_turn_had_ended():
    assert judge(say(), *EDIT, *tool("commit"), say()).boundary == pytest.approx(0.60)
    assert judge(say(), *EDIT, *tool("commit"), say("interrupted")).boundary == pytest.approx(0.25)


def test_a_long_pause_adds_a_little():
    assert judge(say(), *EDIT, answer(), idle=601).boundary == pytest.approx(0.50)


def test_finished_todos_count_as_a_boundary():
    steps = [say(), *tool("todo", todos=(1, 1, 0)), *EDIT, *tool("todo", todos=(0, 0, 2)), answer()]
    p = judge(*steps)
    assert p.boundary == pytest.approx(0.75) and p.task_complete is True  # turn end 0.35 + todos 0.40
    ticked = [
        say(),
        *tool("todo", todos=(2, 1, 0)),
        *[s for _ in range(7) for s in EDIT],
        *tool("todo", todos=(1, 0, 2)),
    ]
    assert judge(*ticked).todos == (1, 0, 2)


def test_todos_told_one_by_one_are_added_up():
    steps = [
        say(),
        *tool("todo", flags=("todo_add",)),
        *tool("todo", flags=("todo_add",)),
        *tool("todo", flags=("todo_start",)),
        *EDIT,
        *EDIT,
        *tool("todo", flags=("todo_done",)),
    ]
    p = judge(*steps)
    assert p.todos == (1, 0, 1)
    assert p.calls_per_todo is not None and p.calls_per_todo >= 2


def test_waiting_calls_are_counted_and_the_user_speaking_ends_them():
    one, two = tool(result=False), tool(result=False)
    assert judge(say(), *one, *two).pending == 2
    assert judge(say(), *one, *tool()).pending == 1
    assert judge(say(), *one, say()).pending == 0
    assert judge(say(), *one, answer()).pending == 0


def test_a_call_that_never_came_back_is_taken_as_abandoned_after_six_hours():
    late = NOW - 5000 + ABANDONED_MS + 1
    p = judge(say(), *tool(result=False), now=late)
    assert (p.pending, p.abandoned) == (0, True)
    assert judge(say(), *tool(result=False), now=late - 2).pending == 1


def failing(n, **options):
    return [step for _ in range(n) for step in tool(ok=False, **options)]


def test_three_failures_of_one_call_are_a_loop_and_two_are_not():
    assert judge(say(), *failing(3, key=5, error=1)).loop is True
    assert judge(say(), *failing(2, key=5, error=1)).loop is False


def test_the_same_error_from_different_calls_is_a_loop():
    steps = [*tool(ok=False, key=1, error=9), *tool(ok=False, key=2, error=9), *tool(ok=False, key=3, error=9)]
    p = judge(say(), *steps)
    assert p.loop is True and p.loop_count == 3


def test_a_success_at_the_end_ends_the_loop():
    assert judge(say(), *failing(3, key=5, error=1), *tool(key=5), *tool(key=6)).loop is False


def test_overload_is_nobodys_loop():
    assert judge(say(), *failing(4, key=5, error=1, said=("transient",))).loop is False


def test_tests_that_fail_differently_after_each_edit_are_progress():
    def round_(error):
        return [*tool("edit"), *tool("check", ok=False, key=5, error=error)]

    assert judge(say(), *round_(1), *round_(2), *round_(3)).loop is False
    assert judge(say(), *round_(1), *round_(1), *round_(1)).loop is True


def test_two_corrections_in_a_row_are_a_loop():
    p = judge(say(), *EDIT, answer(), say("correction"), *EDIT, answer(), say("correction"))
    assert (p.loop, p.corrections) == (True, 2)
    once = judge(say(), *EDIT, answer(), say("correction"), *EDIT, answer(), say())
    assert once.loop is False
    other = judge(say("correction"), *EDIT, say("new_task"), *EDIT, say("correction"))
    assert other.corrections == 1


OLD = [say(words=(1, 2, 3, 4), paths=(11,)), *tool("edit", paths=(11,)), answer()]


def test_other_words_and_other_files_are_another_subject():
    p = judge(*OLD, say(words=(5, 6, 7, 8), paths=(99,)))
    assert p.topic == pytest.approx(0.7) and p.topic_depends is False  # words 0.4 + files 0.3


def test_pointing_back_makes_it_less_and_dependent():
    p = judge(*OLD, say("anaphora", words=(5, 6, 7, 8), paths=(99,)))
    assert p.topic == pytest.approx(0.4) and p.topic_depends is True


def test_shared_words_or_files_are_the_same_subject():
    assert judge(*OLD, say(words=(1, 2, 3, 8))).topic == 0.0
    p = judge(*OLD, say(words=(5, 6, 7, 8), paths=(11,)))
    assert p.topic == 0.0 and p.topic_depends is True


def test_a_nod_and_short_messages_say_nothing_about_the_subject():
    assert judge(*OLD, say("ack")).topic == 0.0
    assert judge(*OLD, say(words=(5, 6))).topic is None
    assert judge(say(words=(5, 6, 7, 8))).topic is None  # nothing before it


def test_a_subject_is_not_judged_when_the_agent_is_long_at_work_on_it():
    assert judge(*OLD, say(words=(5, 6, 7, 8), paths=(99,)), *EDIT, *EDIT, *EDIT).topic is None


def test_thanks_complete_a_task_unless_an_order_follows():
    assert judge(say(), *EDIT, answer(), say("thanks")).task_complete is True
    assert judge(say(), *EDIT, answer(), say("thanks", "new_task", words=(1, 2, 3, 4))).task_complete is False
    assert judge(say(), *tool("other", flags=("complete",))).task_complete is True


def test_what_the_client_added_is_not_taken_for_the_user():
    meta = Step(session="s1", kind="user", flags=("meta",))
    assert judge(say(), *EDIT, *tool("commit"), answer(), meta).boundary == pytest.approx(0.25)


any_step = st.builds(
    Step,
    session=st.just("s1"),
    kind=st.sampled_from(["user", "tool_call", "tool_result", "answer", "command"]),
    time=st.one_of(st.none(), st.integers(NOW - 10**8, NOW)),
    category=st.sampled_from(["edit", "read", "check", "commit", "push", "todo", "plan", "agent", "shell", "other"]),
    id=st.sampled_from(["", "a", "b", "c"]),
    key=st.integers(0, 3),
    ok=st.sampled_from([None, True, False]),
    error_key=st.integers(0, 2),
    words=st.lists(st.integers(0, 9), max_size=8).map(tuple),
    paths=st.lists(st.integers(0, 3), max_size=3).map(tuple),
    flags=st.lists(st.sampled_from(["ack", "correction", "new_task", "meta", "thanks", "passed", "failed", "transient",
                                    "todo_add", "todo_start", "todo_done", "clear", "background"]), max_size=3).map(tuple),
    todos=st.sampled_from([None, (0, 0, 0), (2, 1, 0), (0, 0, 3)]),
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.lists(any_step, max_size=30), st.one_of(st.none(), st.floats(0, 1e6)))
def test_any_steps_get_a_judgement_within_bounds(steps, idle):
    p = phase(steps, idle_s=idle, now_ms=NOW)
    assert p.boundary is None if not steps else 0 <= p.boundary <= 1
    assert p.topic is None or 0 <= p.topic <= 1
    assert p.todos is None or min(p.todos) >= 0
    assert not p.pending or p.boundary == 0
