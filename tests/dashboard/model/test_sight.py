"""Cursor, window, follow."""

from __future__ import annotations

import msgspec
import pytest

from monitor.dashboard.model.curve import Curve
from monitor.dashboard.model.sight import Sight
from tests.dashboard import fake


def sight_of(count: int, width: int = 106) -> Sight:
    sight = Sight()
    sight.width = width
    sight.curve = Curve("s1")
    sight.curve.update(fake.growing(count))
    sight.stick()
    return sight


def visible(sight: Sight) -> bool:
    extent = sight.extent()
    return sight.cursor is not None and extent.start <= sight.cursor < extent.stop


def test_leaving_the_newest_call_stops_following_and_freezes_the_window() -> None:
    sight = sight_of(300)
    before = sight.extent()
    sight.move(-1)
    assert not sight.follow
    assert sight.extent().start == before.start
    grown = fake.growing(340)
    sight.curve.update(grown)
    assert sight.extent().start == before.start
    assert visible(sight)


def test_coming_back_to_the_newest_call_follows_again() -> None:
    sight = sight_of(80)
    sight.move(-3)
    sight.move(99)
    assert sight.follow and sight.cursor == 79 and sight.window.start is None


def test_moves_go_by_columns_where_a_column_holds_several() -> None:
    sight = sight_of(1_000)
    level = sight.extent().level
    assert level < -1
    sight.move(-2)
    assert sight.cursor == 999 + 2 * level


@pytest.mark.parametrize("what", ["reset", "miss"])
def test_jumps_walk_over_all_of_them_and_stay_in_sight(what: str) -> None:
    sight = sight_of(500)
    seen = []
    while sight.jump(what, -1):
        seen.append(sight.cursor)
        assert visible(sight)
    marks = {m.position for m in sight.curve.marks}
    expected = sorted(marks if what == "reset" else sight.curve.alerts, reverse=True)
    assert seen == expected and seen
    assert not sight.jump(what, -1)


def test_zoom_keeps_the_cursor_in_sight_and_follow_at_the_end() -> None:
    sight = sight_of(500)
    sight.zoom(2)
    assert sight.follow and visible(sight) and sight.extent().stop == 500
    sight.point(100)
    for steps in (1, 3, -2, -5):
        sight.zoom(steps)
        assert visible(sight)


def test_fit_shows_all() -> None:
    sight = sight_of(5_000)
    assert sight.extent().start > 0
    sight.fit(True)
    assert (sight.extent().start, sight.extent().stop) == (0, 5_000)
    sight.fit(False)
    assert sight.extent().start > 0


def test_pan_takes_the_cursor_along_at_the_edge() -> None:
    sight = sight_of(1_000)
    sight.pan(-60)
    assert visible(sight) and not sight.follow
    for _ in range(40):
        sight.pan(60)
    assert sight.extent().stop == 1_000


def test_the_overview_leads_to_its_place() -> None:
    sight = sight_of(2_000)
    sight.look_at(0.25)
    assert sight.cursor == 500 and visible(sight)
    sight.look_at(0.9999)
    assert visible(sight)


def test_nothing_happens_without_calls() -> None:
    sight = Sight()
    for action in (lambda: sight.move(1), lambda: sight.zoom(1), lambda: sight.pan(5), lambda: sight.look_at(0.5),
                   sight.first, sight.stick, lambda: sight.point_at_index(4)):  # fmt: skip
        action()
    assert sight.cursor is None and not sight.jump("miss", 1) and sight.fan() is None


def test_the_forecast_belongs_to_the_main_line() -> None:
    sight = sight_of(60)
    fan = sight.fan()
    assert fan is not None and (fan.low, fan.middle, fan.high, fan.limit) == (6, 9, 13, 167_000)
    sight.share = True
    assert sight.fan() is None


def test_without_a_usable_limit_the_forecast_goes_to_the_window() -> None:
    sight = sight_of(60)
    view = msgspec.structs.replace(
        sight.curve.view, usable_limit=None, forecast=msgspec.structs.replace(fake.forecast(), calls_to_limit=None)
    )
    sight.curve.update(view)
    fan = sight.fan()
    assert fan is not None and fan.limit == 200_000 and fan.middle == 31


def test_marks_of_the_limits() -> None:
    sight = sight_of(20)
    assert sight.options().usable_mark == "?" and sight.options().limit_mark == ""
    sight.curve.update(fake.growing(21, context_limit_source="observed", usable_limit_assumed=False))
    assert sight.options().usable_mark == "" and sight.options().limit_mark == "≥"
