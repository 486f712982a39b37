"""The table by its drawn rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from textual.app import App, ComposeResult
from textual.geometry import Size

from monitor.dashboard.model.tables import Column
from monitor.dashboard.themes import Inks
from monitor.dashboard.widgets.table import Table


class Numbers:
    """Rows 0 to n-1; counts how many were asked for."""

    columns: Sequence[Column] = (
        Column("n", "number", 8, ">", 1, lambda row: (str(row), "")),
        Column("word", "word", 8, "<", 2, lambda row: (f"w{row}", "dim"), True),
    )

    def __init__(self, count: int) -> None:
        self.count = count
        self.before = 0  # rows that came in above the others
        self.asked: list[int] = []
        self.version: object = 0

    def __len__(self) -> int:
        return self.count

    def row(self, number: int) -> Any:
        self.asked.append(number)
        return number

    def name(self, number: int) -> int:
        return number - self.before


class Host(App[None]):
    """An app around one table."""

    CSS = "Table { width: 100%; height: 100%; }"

    def __init__(self, source: Numbers) -> None:
        super().__init__()
        self.source = source
        self.heard: list[tuple[str, int | str]] = []

    def compose(self) -> ComposeResult:
        yield Table(self.source, id="table", empty="nothing here")

    def inks_on(self, paper: str) -> Inks:
        return Inks()

    def on_table_moved(self, message: Table.Moved) -> None:
        self.heard.append((type(message).__name__, message.row))

    def on_table_chosen(self, message: Table.Chosen) -> None:
        self.heard.append(("Chosen", message.row))

    def on_table_heading_clicked(self, message: Table.HeadingClicked) -> None:
        self.heard.append(("Heading", message.key))


def lines(table: Table) -> list[str]:
    return [table.render_line(y).text.rstrip(" │┃") for y in range(table.size.height)]


async def test_only_visible_rows_are_asked_for() -> None:
    source = Numbers(1_000_000)
    async with Host(source).run_test(size=(40, 12)) as pilot:
        table = pilot.app.query_one(Table)
        table.focus()
        await pilot.pause()
        assert lines(table)[0].split() == ["number", "word"]
        assert lines(table)[1].split() == ["0", "w0"]
        await pilot.press("pagedown", "pagedown")
        assert table.row == 20 and lines(table)[-1].split() == ["20", "w20"]
        assert len(set(source.asked)) < 40


async def test_moves_stay_inside_and_are_told() -> None:
    source = Numbers(5)
    app = Host(source)
    async with app.run_test(size=(40, 12)) as pilot:
        pilot.app.query_one(Table).focus()
        await pilot.press("up", "down", "down", "pagedown", "down", "enter")
        assert app.heard == [("Moved", 1), ("Moved", 2), ("Moved", 4), ("Chosen", 4)]


async def test_a_growing_source_keeps_the_cursor_row_in_sight() -> None:
    source = Numbers(50)
    async with Host(source).run_test(size=(40, 12)) as pilot:
        table = pilot.app.query_one(Table)
        table.update(row=30)
        await pilot.pause()
        assert any(line.split() == ["30", "w30"] for line in lines(table))
        source.count, source.version = 3, 1
        table.update()
        await pilot.pause()
        assert table.row == 2 and lines(table)[3].split() == ["2", "w2"]
        source.count, source.version = 0, 2
        table.update()
        await pilot.pause()
        assert lines(table)[1].strip() == "nothing here"


def first(table: Table) -> int:
    return int(lines(table)[1].split()[0])


async def test_who_scrolled_away_stays_there_while_rows_come_in() -> None:
    source = Numbers(500)
    async with Host(source).run_test(size=(40, 12)) as pilot:
        table = pilot.app.query_one(Table)
        table.focus()
        table.update(row=3, subject="one")
        for _ in range(20):
            table._scroll(3)
        assert first(table) == 60
        source.count, source.before, source.version = 501, 1, 1
        table.update(row=4, subject="one")  # one came in at the top: what was read moves along
        assert first(table) == 61
        source.count, source.before, source.version = 503, 3, 2
        table.update(row=0, subject="one")  # the cursor stays at the newest
        assert first(table) == 63
        source.version = 3
        table.update(row=5, subject="one")  # or goes elsewhere
        assert first(table) == 63
        await pilot.press("down")  # goes on from where one looks
        assert table.row == 63
        table._scroll(60)
        source.version = 4
        table.update(row=7, subject="two")
        assert first(table) <= 7 < first(table) + table.page


async def test_nothing_is_drawn_again_where_it_reads_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    source = Numbers(500)
    async with Host(source).run_test(size=(40, 12)) as pilot:
        table = pilot.app.query_one(Table)
        table.update(row=3)
        source.version = 1
        table.update(row=3)
        await pilot.pause()
        drawn: list[list[int]] = []  # lines of the widget; none of them: all
        monkeypatch.setattr(table, "refresh", lambda *regions: drawn.append(sorted(region.y for region in regions)))
        source.version = 2
        table.update(row=3)
        assert not drawn
        source.count, source.version = 501, 3  # the bar is another one
        table.update(row=3)
        assert drawn.pop() == []
        monkeypatch.setattr(source, "row", lambda number: number if number == 2 else number + 7)
        source.version = 4
        table.update(row=3)
        assert drawn.pop() == [1, 2, *range(4, 12)] and first(table) == 7
        table.update(row=5)
        assert drawn.pop() == [4, 6]
        table.action_rows(-1)
        assert drawn.pop() == [5, 6] and not drawn


async def test_rows_that_come_before_there_is_room_are_drawn_for_the_room_there_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = Numbers(5)
    async with Host(source).run_test(size=(40, 12)) as pilot:
        table = pilot.app.query_one(Table)
        source.version = 1
        with monkeypatch.context() as early:
            early.setattr(Table, "size", property(lambda self: Size(0, 0)))
            table.update(row=2)
        table._reveal()
        assert [line.split() for line in lines(table)[1:6]] == [[str(n), f"w{n}"] for n in range(5)]


async def test_another_order_is_seen_from_its_top() -> None:
    source = Numbers(500)
    async with Host(source).run_test(size=(40, 12)) as pilot:
        table = pilot.app.query_one(Table)
        table.update(row=3)
        source.version = 1
        table.update(row=300, sorted_by="n")
        await pilot.pause()
        assert table.row == 300 and first(table) == 0
        source.version = 2
        table.update(row=300, sorted_by="n")
        assert first(table) == 0


async def test_mouse_chooses_rows_headings_and_drags_the_bar() -> None:
    source = Numbers(1_000)
    app = Host(source)
    async with app.run_test(size=(40, 12)) as pilot:
        table = app.query_one(Table)
        await pilot.click(Table, offset=(5, 4))
        await pilot.click(Table, offset=(5, 4))
        await pilot.click(Table, offset=(12, 0))
        assert app.heard == [("Moved", 3), ("Chosen", 3), ("Heading", "word")]
        await pilot.mouse_down(Table, offset=(39, 11))
        await pilot.mouse_up(Table, offset=(39, 11))
        await pilot.pause()
        assert lines(table)[-1].split() == ["999", "w999"]
        assert "┃" in table.render_line(11).text


async def test_every_line_has_the_width() -> None:
    source = Numbers(1_000)
    async with Host(source).run_test(size=(40, 12)) as pilot:
        for size in ((40, 12), (9, 4), (120, 30)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            table = pilot.app.query_one(Table)
            for y in range(table.size.height):
                strip = table.render_line(y)
                assert strip.cell_length == len(strip.text) == size[0]
