"""Panels, lists and sizes of the whole dashboard, headless."""

from __future__ import annotations

import pytest

from monitor.dashboard.widgets.lines import LinesPanel, Panel
from tests.dashboard import fake
from tests.dashboard.harness import dashboard


@pytest.mark.parametrize(
    ("size", "words"),
    [
        ((160, 48), ["1 Sessions", "Prompt tokens per turn", "3 Decision", "4 Forecast", "5 Mix", "6 Turns", "7 Turn #", "8 Events"]),
        ((120, 32), ["Prompt tokens per turn", "3 Decision", "4 Forecast", "6 Turns"]),
        ((80, 24), ["Prompt tokens per turn", "3 Decision", "rule near-limit", "usable 167k?"]),
        ((60, 15), ["#499", "3 Decide", "near-limit", "hit"]),
        ((40, 10), ["#499", "COMPACT AT BOUNDARY", "hit"]),
        ((20, 5), ["#499"]),
        ((200, 2), []),
        ((3, 3), []),
        ((1, 1), []),
    ],
)  # fmt: skip
async def test_sizes(size: tuple[int, int], words: list[str]) -> None:
    async with dashboard(size=size) as run:
        text = run.text()
        for word in words:
            assert word in text, word
        assert all(len(line) <= size[0] for line in text.splitlines())


async def test_a_panel_that_was_drawn_before_it_had_a_size_is_drawn_again() -> None:
    async with dashboard(size=(60, 15)) as run:
        panel = run.main.query_one("#decision", LinesPanel)
        panel.show(())
        await run.settle()
        assert "near-limit" not in run.text()
        panel.on_resize()
        await run.settle()
        assert "near-limit" in run.text()


@pytest.mark.parametrize("size", [(160, 48), (120, 32), (80, 24), (60, 15), (40, 10)])
async def test_a_panel_is_drawn_for_its_place_before_it_stands_there(
    monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    again: list[str | None] = []
    monkeypatch.setattr(Panel, "resized", lambda panel: again.append(panel.id))
    async with dashboard(size=size) as run:
        for key in ("6", "z", "1", "z", "9", "5", "4", "2"):
            await run.press(key)
            assert again == []
            for panel in run.main.query(Panel):
                assert not panel.display or panel.room == panel.size, panel.id


async def test_it_follows_the_size_of_the_terminal() -> None:
    async with dashboard(size=(160, 48)) as run:
        await run.pilot.resize_terminal(60, 15)
        await run.settle()
        assert "3 Decide" in run.text() and "7 Turn #" not in run.text()
        await run.pilot.resize_terminal(160, 48)
        await run.settle()
        assert "5 Mix" in run.text() and "7 Turn #" in run.text()
        assert run.desk.sight.width == run.main.query_one("#chart").size.width


async def test_what_people_and_logs_call_things_is_no_markup() -> None:
    turns = [fake.turn(i, 20_000 + 500 * i, chain="agent:[/x]" if i % 2 else "main") for i in range(40)]
    async with dashboard(fake.snapshot((fake.view(turns, session="[/b]"),)), size=(160, 48)) as run:
        await run.press("slash", "left_square_bracket", "slash", "b", "enter")
        assert "· [/b" in run.text()
        await run.press("a", "a")
        assert "· agent:[/x]" in run.text()


@pytest.mark.parametrize("size", [(160, 48), (120, 32), (80, 24), (60, 15), (40, 10)])
async def test_each_number_leads_to_its_panel(size: tuple[int, int]) -> None:
    async with dashboard(fake.snapshot(problems=fake.PROBLEMS), size=size) as run:
        for number, name in enumerate(
            ["sessions", "chart", "decision", "forecast", "mix", "turns", "turn", "events", "problems"], 1
        ):
            await run.press(str(number))
            assert run.focused() == name
            assert run.main.query_one(f"#{name}").region.height > 0


async def test_tab_walks_through_the_panels_and_escape_leads_back() -> None:
    async with dashboard(size=(80, 24)) as run:
        await run.press("tab")
        assert run.focused() == "decision"
        await run.press("shift+tab", "shift+tab")
        assert run.focused() == "sessions"
        await run.press("escape")
        assert run.focused() == "chart"


async def test_one_panel_alone() -> None:
    async with dashboard(size=(80, 24)) as run:
        await run.press("6", "z")
        assert run.main.query_one("#turns").region.height == 22
        assert "Prompt tokens per turn" not in run.text()
        await run.press("z")
        assert "Prompt tokens per turn" in run.text()


async def test_filter_is_typed_and_taken_back() -> None:
    async with dashboard(size=(160, 48)) as run:
        await run.press("slash", *"docs")
        assert [v.session for v in run.desk.sessions.views] == ["docs-rewrite"]
        assert "Sessions 1 of 4" in run.text()
        await run.press("enter")
        assert run.focused() == "sessions" and len(run.desk.sessions) == 1
        await run.press("slash", "escape")
        assert len(run.desk.sessions) == 4


async def test_sessions_are_chosen_and_sorted() -> None:
    async with dashboard(size=(160, 48)) as run:
        await run.press("1", "down")
        assert run.desk.view is not None and run.desk.view.session == "docs-rewrite"
        await run.press("greater_than_sign")
        assert run.desk.view.session == "refactor"
        await run.press("o")
        assert "sessions by fill" in run.text()
        fills = [view.fill or -1 for view in run.desk.sessions.views]
        assert fills == sorted(fills, reverse=True)


async def test_a_filter_that_stays_is_seen_in_every_layout() -> None:
    for size in ((80, 24), (160, 48)):
        async with dashboard(size=size) as run:
            await run.press("slash", *"docs", "enter")
            assert "1 of 4 sessions match 'docs'" in run.text()
            await run.press("3")
            assert "sessions match" not in run.text() and "help" in run.text().splitlines()[-1]
            assert ("1/4" if size == (80, 24) else "1 of 4 · docs") in run.text()
            await run.press("slash", "escape")
            assert "1/4" not in run.text() and "1 of 4" not in run.text()


async def test_turns_are_sorted_filtered_and_opened() -> None:
    async with dashboard(size=(120, 40)) as run:
        await run.press("6", "o")
        assert "turns by prompt" in run.text()
        sizes = [run.desk.turns.row(i).call.prompt_tokens or -1 for i in range(20)]
        assert sizes == sorted(sizes, reverse=True)
        await run.press("b", "b")
        assert "misses only" in run.text()
        assert {run.desk.turns.row(i).cache_outcome for i in range(len(run.desk.turns))} <= {"miss", "partial"}
        await run.press("down", "enter")
        assert (run.focused() == "turn" and "expired" in run.text()) or "compaction" in run.text()


async def test_an_event_leads_to_its_turn() -> None:
    async with dashboard(size=(120, 40)) as run:
        await run.press("8", "enter")
        newest = run.desk.events.row(0)[0]
        assert run.desk.turn is not None and run.desk.turn.index == newest.before_call
        assert run.focused() == "chart"


async def test_problems_are_counted_and_listed() -> None:
    async with dashboard(fake.snapshot(problems=fake.PROBLEMS), size=(160, 48)) as run:
        assert "⚠ 2 problems" in run.text()
        await run.press("p")
        assert "the line is not JSON" in run.text() and "17" in run.text()


async def test_a_provider_without_figures() -> None:
    view = fake.plain(20)
    async with dashboard(fake.snapshot((view,), decisions={}), size=(160, 48)) as run:
        text = run.text()
        assert "NO ADVICE" in text and "not reported" in text and "--context-limit N" in text
