"""The main screen: takes snapshots and keys to the desk, and draws what the desk says."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Input

from monitor.dashboard.feed import Snapshot
from monitor.dashboard.keys import bindings
from monitor.dashboard.model import panels, sheets
from monitor.dashboard.model.calls import detail
from monitor.dashboard.model.header import header
from monitor.dashboard.model.layout import PANELS
from monitor.dashboard.model.mix import mix_lines
from monitor.dashboard.screens.actions import Actions
from monitor.dashboard.widgets.board import Board
from monitor.dashboard.widgets.chart import Chart
from monitor.dashboard.widgets.lines import ButtonLine, LinesPanel, OneLine, Panel
from monitor.dashboard.widgets.table import Table


class Header(OneLine):
    """The line at the top, on the paper of a panel."""

    PAPER = "panel"


class MainScreen(Actions, Screen[None]):
    """All panels. The desk is the app's; this screen owns the widgets."""

    BINDINGS: ClassVar[list[BindingType]] = list(bindings())
    AUTO_FOCUS = "#empty"

    class Fed(Message):
        """A snapshot has come from the feed's thread. Only the newest counts."""

        def __init__(self, snapshot: Snapshot) -> None:
            super().__init__()
            self.snapshot = snapshot

        def can_replace(self, message: Message) -> bool:
            """A newer snapshot takes the place of one that was not yet drawn."""
            return isinstance(message, MainScreen.Fed)

    class Failed(Message):
        """The feed could not go on for a moment."""

        def __init__(self, sentence: str) -> None:
            super().__init__()
            self.sentence = sentence

    def compose(self) -> ComposeResult:
        """Every panel exists once; the board decides which are seen."""
        desk = self.app.desk
        yield Board(
            Header(id="header"),
            Table(desk.sessions, id="sessions", empty="no session matches"),
            Chart(desk.sight, id="chart", zone=desk.zone),
            LinesPanel(id="decision"),
            LinesPanel(id="forecast"),
            LinesPanel(id="mix"),
            Table(desk.turns, id="turns", empty="no turns of this kind"),
            LinesPanel(id="turn"),
            Table(desk.events, id="events", empty="no compaction, no error, nothing"),
            LinesPanel(id="problems"),
            LinesPanel(id="empty"),
            ButtonLine(id="tabs"),
            ButtonLine(id="hints"),
            id="board",
        )

    def on_mount(self) -> None:
        """The panel used last time."""
        board = self.board
        if self.app.panel in PANELS and self.app.panel != "chart":
            board.tab = self.app.panel
        board.arrange_again()
        self.draw()

    @property
    def board(self) -> Board:
        """The container of the panels."""
        return self.query_one("#board", Board)

    # what comes in

    def on_main_screen_fed(self, message: Fed) -> None:
        """Draw a new snapshot, and say so where the advice changed."""
        desk = self.app.desk
        if self.app.waits and message.snapshot.loading:
            return
        changed = desk.apply(message.snapshot)
        self.app.arrived()
        if desk.paused:
            return
        empty = desk.view is None
        if empty != self.board.empty:
            self.board.empty = empty
            self.board.arrange_again()
            self.set_focus(self.query_one("#empty" if empty else "#chart"))
        self.draw()
        self.app.fed(changed)

    def on_main_screen_failed(self, message: Failed) -> None:
        """A failure is one more line in the problems."""
        self.app.desk.fail(message.sentence)
        self.draw()

    def redraw(self) -> None:
        """Other colours: nothing drawn before is of use."""
        for panel in self.query(Panel):
            panel.forget()
        self.draw()

    def draw_mix(self) -> None:
        """The composition, which is counted beside everything else."""
        if self.board.shows("mix"):
            panel, view = self.query_one("#mix", LinesPanel), self.app.desk.view
            panel.show(mix_lines(self.app.mixes.of(view), view, panel.room.width))

    def draw_ages(self) -> None:
        """What grows older by itself."""
        self.draw_mix()
        self._draw_header()
        self._draw_session_list()

    # drawing

    def draw(self) -> None:
        """Bring every visible panel to the state of the desk."""
        board, desk = self.board, self.app.desk
        if board.shows("empty"):
            panel = self.query_one("#empty", LinesPanel)
            panel.show(sheets.empty_lines(desk.snapshot, max(20, panel.room.width)))
        self.draw_chart()
        self._draw_session_list()
        view = desk.view
        for name in ("decision", "forecast"):
            if board.shows(name):
                panel = self.query_one(f"#{name}", LinesPanel)
                width, height = panel.room
                if name == "decision":
                    panel.show(panels.decision_lines(desk.decision, width, height))
                else:
                    panel.show(panels.forecast_lines(view, width, desk.zone))
        self.draw_mix()
        if board.shows("events"):
            self.query_one("#events", Table).update()
        if board.shows("problems"):
            problems = self.query_one("#problems", LinesPanel)
            problems.show(sheets.problem_lines(desk.all_problems, problems.room.width))
        self._draw_tabs()
        self.draw_hints()

    def draw_chart(self) -> None:
        """What moves with the cursor: chart, turn, table of turns, header."""
        board, desk = self.board, self.app.desk
        self._draw_header()
        if board.shows("chart"):
            chart = self.query_one("#chart", Chart)
            chart.update()
            self._title_chart(chart)
        turn = desk.turn
        if board.shows("turn"):
            panel = self.query_one("#turn", LinesPanel)
            if desk.view is not None:
                panel.show(detail(desk.view, turn, panel.room.width, desk.zone))
                if board.arrangement.framed and "turn" not in board.arrangement.tabs and turn is not None:
                    panel.entitle(f"7 Turn #{turn.index}")
        if board.shows("turns"):
            row = desk.turns.find(turn.index) if turn is not None else None
            order = desk.turn_sort if desk.turn_sort != "turn" else ""
            self.query_one("#turns", Table).update(row, order, desk.view.session if desk.view is not None else "")

    def _draw_header(self) -> None:
        desk = self.app.desk
        self.query_one("#header", OneLine).show(
            header(
                desk.view,
                desk.decision,
                self.size.width,
                now=desk.now,
                sessions=desk.sessions.all,
                problems=len(desk.all_problems),
                paused=desk.paused,
                follow=desk.sight.follow,
                loading=desk.loading,
                title=self.app.title,
            )
        )

    def _title_chart(self, chart: Chart) -> None:
        if not self.board.arrangement.framed:
            return
        sight = self.app.desk.sight
        line = {"main": "", "*": " · all lines"}.get(sight.curve.choice, f" · {sight.curve.choice}")
        what = "Share of each prompt" if sight.share else "Prompt tokens per turn"
        extent = sight.extent()
        scale = f" · {-extent.level} turns a column" if extent.level < 0 else ""
        chart.entitle(f"2 {what}{line}{scale}", self.app.legend)

    def _draw_session_list(self) -> None:
        board, desk = self.board, self.app.desk
        if not board.shows("sessions"):
            return
        table = self.query_one("#sessions", Table)
        row = desk.sessions.find(desk.view.session) if desk.view is not None else None
        table.update(row, desk.session_sort if desk.session_sort != "activity" else "")
        if "sessions" not in board.arrangement.tabs:
            shown, every = len(desk.sessions), desk.sessions.all
            count = f"{shown} of {every}" if shown != every else str(every)
            note = f" · {desk.filter_text}" if desk.filter_text else ""
            table.entitle(f"1 Sessions {count}{note}")

    # messages of the widgets

    @on(Panel.Resized)
    def _resized(self) -> None:
        self.draw()

    @on(Chart.Pointed)
    def _pointed(self, message: Chart.Pointed) -> None:
        self.app.desk.sight.point(message.position)
        self.draw_chart()

    @on(Chart.Zoomed)
    def _zoomed(self, message: Chart.Zoomed) -> None:
        self.app.desk.sight.zoom(message.steps, message.position)
        self.draw_chart()

    @on(Chart.Panned)
    def _panned(self, message: Chart.Panned) -> None:
        self.app.desk.sight.pan(message.columns)
        self.draw_chart()

    @on(Chart.LookedAt)
    def _looked_at(self, message: Chart.LookedAt) -> None:
        self.app.desk.sight.look_at(message.share)
        self.draw_chart()

    @on(Table.Moved, "#turns")
    @on(Table.Chosen, "#turns")
    def _turn_moved(self, message: Table.Moved) -> None:
        desk = self.app.desk
        desk.sight.point_at_index(desk.turns.row(message.row).index)
        self.draw_chart()
        # a call that is not on the drawn line keeps its own row
        message.table.update(message.row, message.table.sorted_by, desk.view.session if desk.view is not None else "")
        if isinstance(message, Table.Chosen):
            self.action_panel("turn")

    @on(Table.Moved, "#sessions")
    @on(Table.Chosen, "#sessions")
    def _session_moved(self, message: Table.Moved) -> None:
        desk = self.app.desk
        desk.select(desk.sessions.row(message.row).view.session)
        self.draw()
        if isinstance(message, Table.Chosen):
            self.action_panel("chart")

    @on(Table.Chosen, "#events")
    def _event_chosen(self, message: Table.Chosen) -> None:
        event = self.app.desk.events.row(message.row)[0]
        index = event.before_call if event.before_call is not None else event.after_call
        if index is not None:
            self.app.desk.sight.point_at_index(index)
            self.action_panel("chart")

    @on(Table.HeadingClicked)
    def _heading(self, message: Table.HeadingClicked) -> None:
        desk = self.app.desk
        if message.table.id == "turns":
            desk.sort_turns(message.key)
        elif message.table.id == "sessions":
            desk.sort_sessions({"last": "activity", "name": "activity"}.get(message.key, message.key))
        self.draw()

    def on_input_changed(self, message: Input.Changed) -> None:
        """The filter is being typed."""
        self.app.desk.filter_sessions(message.value)
        self._draw_session_list()

    def on_input_submitted(self) -> None:
        """The filter is typed."""
        self.stop_filtering(keep=True)
