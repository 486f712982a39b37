"""What the keys do on the main screen."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.screen import Screen
from textual.widgets import Input

from monitor.dashboard.keys import COMPACT_KEYS, hints
from monitor.dashboard.model.calls import call_json
from monitor.dashboard.model.layout import PANELS
from monitor.dashboard.model.sheets import replay_lines, why_lines
from monitor.dashboard.model.text import Line, Span, line_width
from monitor.dashboard.program import Program
from monitor.dashboard.widgets.board import Board
from monitor.dashboard.widgets.lines import ButtonLine
from monitor.sessions.view import SessionView

if TYPE_CHECKING:
    from monitor.dashboard.screens.compact import Compacting

#: hints that mean something on the screen without data
_WITHOUT_DATA = ("palette", "help", "quit")
_NONE = {"reset": "compaction or trim", "miss": "cache miss", "error": "error"}


class Actions(Screen[None]):
    """Actions of the main screen; :class:`~monitor.dashboard.screens.main.MainScreen` draws."""

    app: Program
    _said = ""
    _replays = 0
    _compacting: Compacting | None = None

    @property
    def board(self) -> Board:
        """The container of the panels."""
        raise NotImplementedError

    def draw(self) -> None:
        """Draw everything."""
        raise NotImplementedError

    def draw_chart(self) -> None:
        """Draw what moves with the cursor."""
        raise NotImplementedError

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The compact keys are there only with something that compacts."""
        if action in ("compact", "compact_file"):
            return self.app.compactor is not None
        return True

    def say(self, text: str) -> None:
        """A word in the line of hints until the next command."""
        if text != self._said:
            self._said = text
            self.draw_hints()

    # cursor and window

    def _moved(self) -> None:
        self.draw_chart()

    def action_move(self, steps: int) -> None:
        """Cursor by turns."""
        self.app.desk.sight.move(steps)
        self._moved()

    def action_first(self) -> None:
        """First turn."""
        self.app.desk.sight.first()
        self._moved()

    def action_last(self) -> None:
        """Newest turn."""
        self.app.desk.sight.stick()
        self._moved()

    def action_jump(self, what: str, step: int) -> None:
        """Next or previous reset, miss or error."""
        if self.app.desk.sight.jump(what, step):
            self._moved()
        else:
            self.say(f"no {_NONE[what]} {'after' if step > 0 else 'before'} this turn")

    def action_zoom(self, steps: int) -> None:
        """Larger or smaller."""
        self.app.desk.sight.zoom(steps)
        self._moved()

    def action_fit(self, everything: bool) -> None:
        """Whole history, or its readable part."""
        self.app.desk.sight.fit(everything)
        self._moved()

    def action_pan(self, columns: int) -> None:
        """Window by columns."""
        self.app.desk.sight.pan(columns)
        self._moved()

    def action_share(self) -> None:
        """Tokens or shares."""
        self.app.desk.sight.toggle_share()
        self._moved()

    def action_scale(self) -> None:
        """Next scale."""
        self.app.desk.sight.next_scale()
        self._moved()
        self.say(f"scale: {self.app.desk.sight.scale}")

    def action_chain(self, step: int) -> None:
        """Next line of context."""
        choice = self.app.desk.next_chain(step)
        self.draw()
        self.say({"main": "main line", "*": "all lines on one axis"}.get(choice, choice))

    def action_session(self, step: int) -> None:
        """Next session of the list."""
        self.app.desk.step_session(step)
        self.draw()

    # panels

    def action_panel(self, name: str) -> None:
        """Show a panel and put the focus on it."""
        if name == "mix":
            self.app.mixes.ask(self.app.desk.view)
        board = self.board
        board.active = name
        if name != "chart":
            board.tab = self.app.panel = name
        board.arrange_again()
        if board.shows(name):
            self.query_one(f"#{name}").focus()
        self.draw()

    def action_focus_step(self, step: int) -> None:
        """Next panel, in the order of their numbers; panels behind tabs are shown."""
        names = list(PANELS)
        at = names.index(self.board.active) if self.board.active in names else 0
        self.action_panel(names[(at + step) % len(names)])

    def action_alone(self) -> None:
        """One panel alone, and back."""
        self.board.alone = not self.board.alone
        self.action_panel(self.board.active)

    def action_back(self) -> None:
        """Leave the filter, then a lone panel, then go to the chart."""
        if self.board.filtering:
            self.stop_filtering(keep=False)
            return
        self.board.alone = False
        self.action_panel("chart")

    # lists

    def action_filter(self) -> None:
        """Type a filter for the sessions."""
        board = self.board
        board.filtering = True
        if not board.shows("sessions"):
            self.action_panel("sessions")
        if not board.query("#filter"):  # most never filter
            board.mount(Input(id="filter", placeholder="words in name, id, source, model", compact=True))
        board.arrange_again()
        board.query_one("#filter", Input).focus()

    def stop_filtering(self, *, keep: bool) -> None:
        """Close the line of the filter; without ``keep`` all sessions are listed again."""
        line = self.query_one("#filter", Input)
        if not keep:
            line.value = ""
            self.app.desk.filter_sessions("")
        self.board.filtering = False
        self.action_panel("sessions")
        desk = self.app.desk
        if desk.filter_text:
            self.say(f"{len(desk.sessions)} of {desk.sessions.all} sessions match {desk.filter_text!r}")

    def action_sort(self) -> None:
        """Next order, of the turns where they are in use, else of the sessions."""
        desk = self.app.desk
        if self.board.active == "turns":
            self._after(f"turns by {desk.sort_turns()}")
        else:
            self._after(f"sessions by {desk.sort_sessions()}")

    def action_only(self) -> None:
        """Next kind of turns."""
        only = self.app.desk.filter_turns()
        self.action_panel("turns")
        self._after({"all": "all turns", "chain": "turns of this line"}.get(only, f"{only} only"))

    def _after(self, text: str) -> None:
        self.draw()
        self.say(text)

    # live

    def action_follow(self) -> None:
        """Follow, or stay."""
        self.app.desk.sight.toggle_follow()
        self._moved()

    def action_newest(self) -> None:
        """Always the session that was active last, or not."""
        desk = self.app.desk
        desk.newest = not desk.newest
        if desk.newest and desk.snapshot is not None and desk.snapshot.sessions:
            desk.select(desk.snapshot.sessions[0].session)
            desk.newest = True
        self._after("shows the session that was active last" if desk.newest else "stays at this session")

    def action_pause(self) -> None:
        """Hold, or go on."""
        desk = self.app.desk
        changed = desk.pause()
        self._after("on hold: space goes on" if desk.paused else "live again")
        if not desk.paused:
            self.app.fed(changed)
            self.app.tick()

    # more

    def action_why(self) -> None:
        """The rules of the decision."""
        decision = self.app.explained()
        if decision is None:
            self.say("no advice for this session")
            return
        self._show("Why", lambda width: why_lines(decision, width))

    def action_backtest(self) -> None:
        """Replay other policies on this session; the sheet opens when it is done."""
        view = self.app.desk.view
        if view is None:
            self.say("no session to replay")
            return
        self.say("replaying …")
        self._replays = number = self._replays + 1
        app = self.app

        def replay() -> None:
            try:
                text = app.backtest(view)
            except Exception as error:
                app.hand_over(self.say, f"the backtest failed ({type(error).__name__})")
                return
            app.hand_over(self._replayed, number, view, text)

        # a thread that nobody waits for: leaving must not take as long as the replay of a long session
        threading.Thread(target=replay, name="ctxmon-backtest", daemon=True).start()

    def _replayed(self, number: int, view: SessionView, text: Callable[[int], str] | None) -> None:
        if number != self._replays:  # asked for again meanwhile
            return
        self.say("")
        if text is None:
            self.say("too short to replay: it takes two turns of known size")
            return
        self._show("Backtest", lambda width: replay_lines(text(width), view, width))

    def action_copy(self) -> None:
        """The call under the cursor as JSON to the clipboard of the terminal."""
        desk = self.app.desk
        if desk.view is None or desk.turn is None:
            self.say("no turn to copy")
            return
        self.app.copy_to_clipboard(call_json(desk.turn))
        self.say(f"#{desk.turn.index} copied as JSON")

    def action_compact(self) -> None:
        """Preview of a compaction of the session's own file."""
        view, compacting = self.app.desk.view, self.compacting()
        if view is None or compacting is None:
            self.say("no session to compact")
            return
        compacting.session(view)

    def action_compact_file(self) -> None:
        """Preview of a compaction of any file."""
        compacting = self.compacting()
        if compacting is not None:
            compacting.file()

    def compacting(self) -> Compacting | None:
        """The way to a compaction, None where nothing compacts."""
        if self._compacting is None and self.app.compactor is not None:
            from monitor.dashboard.screens.compact import Compacting  # the first picture needs none

            self._compacting = Compacting(self.app, self.app.compactor, self.say)
        return self._compacting

    def action_theme(self) -> None:
        """Dark or light."""
        self.app.other_theme()

    def action_help(self) -> None:
        """The help."""
        self._show("Help", self.app.help_lines)

    def _show(self, title: str, lines: Callable[[int], list[Line]]) -> None:
        from monitor.dashboard.screens.sheet import Sheet  # the first picture needs none

        self.app.push_screen(Sheet(title, lines))

    # lines of hints and tabs

    def draw_hints(self) -> None:
        """Keys worth knowing here, as many as fit; or the last word said."""
        line = self.query_one("#hints", ButtonLine)
        if self._said:
            line.actions = []
            line.show(((" " + self._said, "accent"),))
            return
        hidden = frozenset() if self.app.compactor is not None else COMPACT_KEYS
        wanted = hints(hidden, self.app.keys)
        if self.board.empty:
            wanted = [hint for hint in wanted if hint[2] in _WITHOUT_DATA]
        width = self.size.width - 1
        kept: list[tuple[int, str, str, str]] = []
        for hint in sorted(wanted, key=lambda item: item[0]):
            if sum(len(key) + len(words) + 3 for _w, key, words, _a in [*kept, hint]) <= width:
                kept.append(hint)
        spans: list[Span] = [(" ", "")]
        actions: list[tuple[int, int, str]] = []
        at = 1
        for hint in wanted:
            if hint in kept:
                _worth, key, words, action = hint
                spans += [(key, "key"), (f" {words}  ", "dim")]
                size = line_width(tuple(spans[-2:]))
                actions.append((at, at + size, action))
                at += size
        line.actions = actions
        line.show(tuple(spans))

    def _draw_tabs(self) -> None:
        made = self.board.arrangement
        if made.tab_bar is None:
            return
        line = self.query_one("#tabs", ButtonLine)
        shown = next((name for name in made.tabs if name in made.panels), "")
        width = made.tab_bar.width
        for form in range(4):
            spans, actions = self._tabs(made.tabs, shown, form)
            if line_width(spans) <= width:
                break
        line.actions = actions
        rule = "─" * max(0, width - line_width(spans))
        line.show((*spans, (rule, "rail")))

    def _tabs(self, names: tuple[str, ...], shown: str, form: int) -> tuple[Line, list[tuple[int, int, str]]]:
        spans: list[Span] = []
        actions: list[tuple[int, int, str]] = []
        at = 0
        problems, listed = len(self.app.desk.all_problems), self.app.desk.sessions
        for name in names:
            number, long, short = PANELS[name]
            title = (long, long, short, "" if name != shown else short)[form]
            text = f" {number} {title}" if title else f" {number}"
            style = "accent bold" if name == shown else "warn" if name == "problems" and problems else "dim"
            if name == "problems" and problems and title:
                text += f" {problems}"
            if name == "sessions" and listed.text and title:
                text += f" {len(listed)}/{listed.all}"
            if form == 0:
                text += " "
            spans.append((text, style))
            actions.append((at, at + len(text), f"panel('{name}')"))
            at += len(text)
        return tuple(spans), actions
