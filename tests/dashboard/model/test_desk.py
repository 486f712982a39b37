"""Snapshots in, view out."""

from __future__ import annotations

import msgspec

from monitor.dashboard.model.desk import Desk
from monitor.dashboard.model.state import ViewState
from tests.dashboard import fake


def desk_with(*views: object, **options: object) -> Desk:
    desk = Desk(**options)  # type: ignore[arg-type]
    desk.apply(fake.snapshot(views))  # type: ignore[arg-type]
    return desk


ONE = fake.growing(60, session="one")
TWO = fake.growing(40, session="two", agents=True, seed=5)


def test_the_newest_session_is_shown_and_kept_when_another_becomes_newer() -> None:
    desk = desk_with(ONE, TWO)
    assert desk.view is ONE
    desk.apply(fake.snapshot((TWO, ONE)))
    assert desk.view is ONE


def test_a_session_and_a_call_can_be_asked_for() -> None:
    desk = desk_with(ONE, TWO, session="tw", call=12)
    assert desk.view is TWO and desk.turn is not None and desk.turn.index >= 12
    assert not desk.sight.follow
    late = Desk(session="two")
    late.apply(fake.snapshot((ONE,), loading=True))
    assert late.view is ONE
    late.apply(fake.snapshot((ONE, TWO)))
    assert late.view is TWO
    nowhere = desk_with(ONE, TWO, session="three")
    assert nowhere.view is ONE and "'three'" in nowhere.all_problems[0].reason


def test_the_remembered_session_comes_back_only_when_nothing_is_running() -> None:
    state = ViewState(session="two")
    now = ONE.last or 0
    busy = Desk(state)
    busy.apply(fake.snapshot((ONE, TWO), time=now + 1_000))
    assert busy.view is ONE
    quiet = Desk(state)
    quiet.apply(fake.snapshot((ONE, TWO), time=now + 7_200_000))
    assert quiet.view is TWO


def test_new_calls_are_followed() -> None:
    desk = desk_with(msgspec.structs.replace(ONE, turns=ONE.turns[:59], version=1))
    assert desk.sight.cursor == 58
    desk.apply(fake.snapshot((ONE,)))
    assert desk.sight.cursor == 59
    desk.sight.move(-5)
    grown = fake.growing(70, session="one")
    desk.apply(fake.snapshot((grown,)))
    assert desk.sight.cursor == 54 and desk.view is grown


def test_a_late_call_leaves_the_cursor_on_its_call() -> None:
    desk = desk_with(ONE)
    desk.sight.point(30)
    wanted = desk.turn
    assert wanted is not None
    moved = [t if i < 10 else msgspec.structs.replace(t, index=t.index + 1) for i, t in enumerate(ONE.turns)]
    late = [*moved[:10], fake.turn(10, 9_000, 0, 0, session="one"), *moved[10:]]
    desk.apply(fake.snapshot((msgspec.structs.replace(ONE, turns=tuple(late)),)))
    # the cursor is remembered by index; the call it stood on moved on by one
    assert desk.turn is not None and desk.turn.index == wanted.index


def test_changed_advice_is_told() -> None:
    desk = desk_with(ONE, TWO)
    decisions = {"one": fake.decision("one", "compact_now"), "two": fake.decision("two")}
    changed = desk.apply(fake.snapshot((ONE, TWO), decisions=decisions))
    assert [(c.view.session, c.before, c.after) for c in changed] == [("one", "compact_at_boundary", "compact_now")]
    assert desk.apply(fake.snapshot((ONE, TWO), decisions=decisions)) == []


def test_what_is_said_while_logs_are_still_read_is_no_change_of_advice() -> None:
    desk = Desk()
    desk.apply(fake.snapshot((ONE,), loading=True))
    whole = {"one": fake.decision("one", "compact_now")}
    assert desk.apply(fake.snapshot((ONE,), decisions=whole)) == []
    later = {"one": fake.decision("one", "continue")}
    assert [c.after for c in desk.apply(fake.snapshot((ONE,), decisions=later))] == ["continue"]


def test_on_hold_nothing_moves_and_nothing_is_lost() -> None:
    desk = desk_with(ONE)
    assert desk.pause() == [] and desk.paused
    grown = fake.growing(70, session="one")
    decisions = {"one": fake.decision("one", "compact_now")}
    assert desk.apply(fake.snapshot((grown,), decisions=decisions)) == []
    assert desk.view is ONE
    assert [c.after for c in desk.pause()] == ["compact_now"] and not desk.paused
    assert desk.view is grown


def test_lines_of_context() -> None:
    desk = desk_with(TWO)
    seen = [desk.choice]
    for _ in range(len(TWO.chains) + 1):
        seen.append(desk.next_chain())
    assert seen[0] == "main" and seen[1] == "*" and seen[2].startswith("agent:") and seen[-1] == "main"
    desk.next_chain()
    assert len(desk.sight.curve) == len(TWO.turns)


def test_walking_through_the_list() -> None:
    desk = desk_with(ONE, TWO)
    desk.step_session(1)
    assert desk.view is TWO
    desk.step_session(1)
    assert desk.view is TWO
    desk.step_session(-1)
    assert desk.view is ONE
    desk.select("nobody")
    assert desk.view is ONE


def test_a_session_that_vanishes_gives_way_to_the_newest() -> None:
    desk = desk_with(ONE, TWO)
    desk.apply(fake.snapshot((TWO,)))
    assert desk.view is TWO
    desk.apply(fake.snapshot(()))
    assert desk.view is TWO and len(desk.sessions) == 0


def test_always_the_newest() -> None:
    desk = desk_with(ONE, TWO)
    desk.newest = True
    desk.apply(fake.snapshot((TWO, ONE)))
    assert desk.view is TWO


def test_failures_of_the_feed_are_problems() -> None:
    desk = desk_with(ONE)
    desk.fail("reading stopped")
    desk.fail("reading stopped")
    assert [p.reason for p in desk.all_problems] == ["reading stopped"]
    for i in range(9):
        desk.fail(f"{i}")
    assert len(desk.failures) == 3


def test_orders_and_filters_of_the_lists() -> None:
    desk = desk_with(ONE, TWO)
    assert [desk.sort_sessions() for _ in range(4)] == ["fill", "cost", "turns", "activity"]
    assert desk.sort_turns() == "prompt" and desk.sort_turns("cost") == "cost" and desk.turns.sort == "cost"
    assert [desk.filter_turns() for _ in range(5)] == ["chain", "misses", "errors", "resets", "all"]
    desk.filter_sessions("two")
    assert [view.session for view in desk.sessions.views] == ["two"]


def test_only_numbers_and_the_view_are_remembered() -> None:
    desk = desk_with(ONE)
    desk.sight.toggle_share()
    desk.sight.zoom(1)
    state = desk.state("ctxmon-dark", "turns")
    assert (state.session, state.share, state.panel) == ("one", True, "turns")
    assert state.level == desk.sight.window.level
    again = Desk(state)
    assert again.sight.share and again.sight.window.level == state.level


def test_ages_grow_by_themselves() -> None:
    desk = desk_with(ONE)
    now = desk.now
    desk.tick(30_000)
    assert desk.now == now + 30_000 and desk.sessions.now == now + 30_000


def test_while_all_is_being_read_the_newest_so_far_is_shown() -> None:
    desk = Desk()
    desk.apply(fake.snapshot((TWO,), loading=True))
    assert desk.view is TWO
    desk.apply(fake.snapshot((ONE, TWO)))
    assert desk.view is ONE
    desk.apply(fake.snapshot((TWO, ONE)))
    assert desk.view is ONE
    chosen = Desk()
    chosen.apply(fake.snapshot((TWO, ONE), loading=True))
    chosen.select("one")
    chosen.apply(fake.snapshot((TWO, ONE)))
    assert chosen.view is ONE
