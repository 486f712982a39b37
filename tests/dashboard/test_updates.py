"""What comes in while the dashboard is open, headless."""

from __future__ import annotations

from types import SimpleNamespace

import msgspec
import pytest

from monitor.dashboard.widgets.table import Table
from tests.dashboard import fake
from tests.dashboard.harness import dashboard


async def test_new_calls_appear_and_the_cursor_follows() -> None:
    long = fake.growing(120)
    first = msgspec.structs.replace(long, turns=long.turns[:119], version=1)
    async with dashboard(fake.snapshot((first,))) as run:
        assert "#118 of 119" in run.text()
        await run.feed_with(fake.snapshot((long,)))
        assert "#119 of 120" in run.text()


async def test_turns_scrolled_to_stay_where_they_are_while_new_ones_come_in() -> None:
    long = fake.growing(300)
    first = msgspec.structs.replace(long, turns=long.turns[:200], version=1)
    async with dashboard(fake.snapshot((first,)), size=(160, 48)) as run:
        await run.press("6")
        table = run.main.query_one("#turns", Table)
        table._scroll(40)
        await run.settle()
        seen = run.desk.turns.row(table._top).index
        for size in (201, 202, 240):
            await run.feed_with(fake.snapshot((msgspec.structs.replace(long, turns=long.turns[:size], version=size),)))
            assert run.desk.turns.row(table._top).index == seen
        assert f"#{seen} " in run.text()


async def test_the_end_of_the_first_reading_is_told_once() -> None:
    told: list[int] = []
    async with dashboard(fake.snapshot(loading=True), on_read=lambda: told.append(1)) as run:
        assert told == []
        for size in (20, 30):
            await run.feed_with(fake.snapshot((fake.growing(size),)))
            assert told == [1]


async def test_who_reads_for_long_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("monitor.dashboard.app._PATIENCE_S", 0.05)
    told: list[int] = []
    async with dashboard(fake.snapshot(loading=True), on_read=lambda: told.append(1)) as run:
        await run.pilot.pause(0.2)
        assert told == [1]


async def test_on_hold() -> None:
    long = fake.growing(120)
    first = msgspec.structs.replace(long, turns=long.turns[:119], version=1)
    async with dashboard(fake.snapshot((first,))) as run:
        await run.press("space")
        assert "paused" in run.text()
        await run.feed_with(fake.snapshot((long,)))
        assert "#118 of 119" in run.text()
        await run.press("space")
        assert "#119 of 120" in run.text() and "paused" not in run.text()


async def test_ages_are_right_after_a_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """A snapshot comes 20 minutes into a hold, which ends 10 minutes later; its last turn was 12 seconds old then."""
    clock = [1_000.0]
    monkeypatch.setattr("monitor.dashboard.app.time", SimpleNamespace(monotonic=lambda: clock[0]))
    one = fake.growing(40)
    async with dashboard(fake.snapshot((one,)), notify=True) as run:
        await run.press("space")
        clock[0] += 1_200
        await run.feed_with(fake.snapshot((one,), decisions={"s1": fake.decision(action="compact_now")}))
        assert not run.app._notifications
        clock[0] += 600
        await run.press("space")
        assert run.desk.now - (one.last or 0) == 612_000
        assert "10 min" in run.text().splitlines()[0]
        assert len(run.app._notifications) == 1


async def test_advice_rings_only_if_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    one = fake.growing(40)
    changed = fake.snapshot((one,), decisions={"s1": fake.decision(action="compact_now")})
    for notify in (False, True):
        rung: list[bool] = []
        async with dashboard(fake.snapshot((one,)), notify=notify) as run:
            monkeypatch.setattr(run.app, "bell", lambda rung=rung: rung.append(True))
            await run.feed_with(changed)
            assert "COMPACT NOW" in run.text()
            assert bool(rung) is notify
            assert len(run.app._notifications) == int(notify)


async def test_the_empty_screen_becomes_the_dashboard_when_a_session_starts() -> None:
    empty = fake.snapshot((), searched=("~/.claude/projects",), problems=fake.PROBLEMS)
    async with dashboard(empty, size=(80, 24)) as run:
        text = run.text()
        assert "No calls of a model found yet" in text and "~/.claude/projects" in text
        assert "no such file or folder" in text and "ctxmon doctor" in text
        await run.press("left", "plus", "n", "w", "y", "a", "greater_than_sign", "question_mark", "escape", "6", "2")
        await run.feed_with(fake.snapshot((fake.growing(5),)))
        assert "#4 of 5" in run.text()


async def test_a_failing_feed_is_a_problem_and_not_the_end() -> None:
    async with dashboard() as run:
        await run.feed_with(OSError("the disk is gone"))
        assert "1 problem" in run.text()
        await run.press("9")
        assert "the disk is gone" in run.text()


async def test_the_thread_ends_with_the_app() -> None:
    async with dashboard() as run:
        thread, feed = run.app._feed, run.feed
        assert thread.is_alive()
    assert not thread.is_alive() and feed.closed


async def test_100_000_turns() -> None:
    big = fake.growing(100_000)
    async with dashboard(fake.snapshot((big,)), size=(160, 48)) as run:
        assert "#99999 of 100,000" in run.text()
        await run.press("6", "pagedown", "pagedown", "2", "0")
        assert run.desk.sight.extent().start == 0
        table = run.main.query_one("#turns", Table)
        # rows are formatted when they are seen, never all of them
        assert len(table._drawn) < 400
