"""Keys, mouse, live updates and states of the whole dashboard, headless."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from monitor.dashboard.keys import COMPACT_KEYS, KEYS, face
from monitor.dashboard.model.state import ViewState, load, save
from monitor.dashboard.screens.main import MainScreen
from monitor.dashboard.screens.sheet import Sheet
from monitor.dashboard.widgets.lines import LinesPanel
from monitor.dashboard.widgets.table import Table
from tests.dashboard import fake
from tests.dashboard.harness import dashboard


def test_every_key_has_an_action_and_no_key_stands_twice() -> None:
    seen: dict[str, str] = {}
    for key in KEYS:
        name = key.action.split("(")[0]
        assert name.startswith("app.") or hasattr(MainScreen, f"action_{name}"), key.id
        for one in key.keys.split(","):
            assert one not in seen, (one, key.id, seen.get(one))
            seen[one] = key.id


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


async def test_it_follows_the_size_of_the_terminal() -> None:
    async with dashboard(size=(160, 48)) as run:
        await run.pilot.resize_terminal(60, 15)
        await run.settle()
        assert "3 Decide" in run.text() and "7 Turn #" not in run.text()
        await run.pilot.resize_terminal(160, 48)
        await run.settle()
        assert "5 Mix" in run.text() and "7 Turn #" in run.text()
        assert run.desk.sight.width == run.main.query_one("#chart").size.width


async def test_the_cursor_moves_and_everything_follows_it() -> None:
    async with dashboard(size=(160, 48)) as run:
        assert "#499 of 500" in run.text()
        await run.press("plus", "plus", "plus", "plus")
        assert run.desk.sight.extent().level >= 1
        await run.press("left")
        turn = run.desk.turn
        assert turn is not None and turn.index < 499
        assert f"#{turn.index} of 500" in run.text() and f"7 Turn #{turn.index}" in run.text()
        turns = run.main.query_one("#turns", Table)
        assert run.desk.turns.row(turns.row).index == turn.index
        assert "browsing" in run.text()
        await run.press("G")
        assert "follow" in run.text() and run.desk.sight.follow


async def test_jumps_and_what_they_say_at_the_end() -> None:
    async with dashboard() as run:
        await run.press("left_square_bracket")
        marks = {run.desk.sight.curve.turn(m.position).index for m in run.desk.sight.curve.marks}  # type: ignore[union-attr]
        assert run.desk.turn is not None and run.desk.turn.index in marks
        await run.press("G", "n")
        assert "no cache miss after this turn" in run.text()
        await run.press("N")
        assert run.desk.turn is not None and run.desk.turn.cache_outcome in ("miss", "partial")
        await run.press("e")
        assert "no error after this turn" in run.text()


async def test_share_scale_and_lines() -> None:
    async with dashboard(size=(160, 48)) as run:
        await run.press("s")
        assert "Share of each prompt" in run.text() and "100%" in run.text()
        await run.press("s", "v")
        assert "scale: limit" in run.text()
        await run.press("a")
        assert "all lines" in run.text() and "line" in run.text()
        await run.press("a")
        assert "agent:" in run.text()


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


async def test_new_calls_appear_and_the_cursor_follows() -> None:
    long = fake.growing(120)
    first = msgspec.structs.replace(long, turns=long.turns[:119], version=1)
    async with dashboard(fake.snapshot((first,))) as run:
        assert "#118 of 119" in run.text()
        await run.feed_with(fake.snapshot((long,)))
        assert "#119 of 120" in run.text()


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


async def test_problems_are_counted_and_listed() -> None:
    async with dashboard(fake.snapshot(problems=fake.PROBLEMS), size=(160, 48)) as run:
        assert "⚠ 2 problems" in run.text()
        await run.press("p")
        assert "the line is not JSON" in run.text() and "17" in run.text()


async def test_why_and_help_are_sheets_that_close() -> None:
    async with dashboard(size=(120, 40)) as run:
        await run.press("w")
        assert isinstance(run.app.screen, Sheet) and "▶ near-limit" in run.text()
        await run.press("escape", "question_mark")
        text = run.text()
        assert "Help" in text and "previous turn (one API call)" in text
        assert "preview, then write" not in text  # nothing compacts here
        await run.press("q")
        assert not isinstance(run.app.screen, Sheet)


async def test_the_help_lists_every_key() -> None:
    async with dashboard() as run:
        text = "\n".join("".join(word for word, _style in line) for line in run.app.help_lines(200))
        for key in KEYS:
            if key.id not in COMPACT_KEYS:
                assert key.text in text, key.id


async def test_keys_can_be_moved() -> None:
    async with dashboard(keys={"live.pause": "x"}) as run:
        await run.press("x")
        assert run.desk.paused
        await run.press("space")
        assert run.desk.paused
        text = "\n".join("".join(word for word, _style in line) for line in run.app.help_lines(200))
        assert "Space" not in text.split("Live")[1].split("More")[0]


async def test_commands_of_the_palette_act() -> None:
    async with dashboard() as run:
        commands = {command.title: command for command in run.app.get_system_commands(run.app.screen)}
        assert len(commands) > 35
        commands["Shares of each prompt, 0-100 %"].callback()
        await run.settle()
        assert run.desk.sight.share
        await run.press("ctrl+p")
        assert type(run.app.screen).__name__ == "CommandPalette"


async def test_the_call_is_copied_as_json(monkeypatch: pytest.MonkeyPatch) -> None:
    async with dashboard() as run:
        copied: list[str] = []
        monkeypatch.setattr(run.app, "copy_to_clipboard", copied.append)
        await run.press("y")
        assert json.loads(copied[0])["index"] == 499
        assert "#499 copied as JSON" in run.text()


async def test_themes_change_every_colour() -> None:
    async with dashboard() as run:
        dark = {segment.style for strip in run.app.screen._compositor.render_strips() for segment in strip}
        await run.press("t")
        assert run.app.theme == "ctxmon-light"
        light = {segment.style for strip in run.app.screen._compositor.render_strips() for segment in strip}
        papers = {style.bgcolor.name for style in light if style is not None and style.bgcolor is not None}
        assert "#0f1317" not in papers and "#f6f5f1" in papers
        assert dark != light


async def test_any_theme_of_textual_works() -> None:
    async with dashboard(theme="textual-ansi") as run:
        assert "#499" in run.text()
        for theme in ("nord", "solarized-light", "textual-dark"):
            run.app.theme = theme
            await run.settle()
            assert "#499" in run.text()


async def test_without_colour_the_bars_are_glyphs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with dashboard() as run:
        assert "████" in run.text()
        assert "▒" in run.text()
        # the read-out and the help name the parts by the same signs
        for part in ("█ cached", "▒ write", "░ new"):
            assert run.text().count(part) == 2, part
        await run.press("question_mark", "G")
        assert "■" not in run.text() and "▓ " in run.text()


async def test_mouse(monkeypatch: pytest.MonkeyPatch) -> None:
    async with dashboard(size=(160, 48)) as run:
        chart = run.main.query_one("#chart")
        await run.pilot.click("#chart", offset=(20, 6))
        assert not run.desk.sight.follow
        at = run.desk.sight.cursor
        await run.pilot.click("#chart", offset=(60, 6))
        assert run.desk.sight.cursor is not None and at is not None and run.desk.sight.cursor > at
        # the overview is the last row inside the frame
        await run.pilot.click("#chart", offset=(12, chart.region.height - 2))
        await run.settle()
        assert run.desk.sight.cursor is not None and run.desk.sight.cursor < 60
        await run.press("G")
        await run.pilot.click("#turns", offset=(10, 4))
        await run.settle()
        assert run.focused() == "turns"
        assert run.desk.turn is not None and run.desk.turn.index == 497
        await run.pilot.click("#turns", offset=(20, 1))
        await run.settle()
        await run.pilot.click("#hints", offset=(run.text().splitlines()[-1].index("share"), 0))
        await run.settle()
        assert run.desk.sight.share


async def test_the_view_comes_back_at_the_next_start(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    async with dashboard(state_path=path) as run:
        await run.press("s", "t", "8")
    state = load(path)
    assert (state.share, state.theme, state.panel, state.session) == (True, "ctxmon-light", "events", "api-fix")
    async with dashboard(state_path=path) as run:
        assert run.desk.sight.share and run.app.theme == "ctxmon-light" and run.main.board.tab == "events"


async def test_a_state_from_elsewhere_does_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    save(path, ViewState(theme="no such theme", panel="nowhere", sort="x", turn_sort="y"))
    async with dashboard(state_path=path) as run:
        assert "#499" in run.text()


async def test_a_session_and_a_call_at_the_start() -> None:
    async with dashboard(session="docs", call=12) as run:
        assert "#12 of 88" in run.text()


async def test_a_provider_without_figures() -> None:
    view = fake.plain(20)
    async with dashboard(fake.snapshot((view,), decisions={}), size=(160, 48)) as run:
        text = run.text()
        assert "NO ADVICE" in text and "not reported" in text and "--context-limit N" in text


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


def test_the_page_lists_every_key() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "dashboard.md").read_text(encoding="utf-8")
    for key in KEYS:
        shown = " ".join(f"`{face(one)}`" for one in key.keys.split(","))
        assert f"| {shown} | {key.text} |" in page, key.id
