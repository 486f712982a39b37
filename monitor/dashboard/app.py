"""The Textual application: feed thread, desk, main screen, themes, commands."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import tzinfo
from functools import partial
from pathlib import Path
from typing import Any

from rich.style import Style as RichStyle
from textual.actions import ActionParseResult
from textual.app import SystemCommand
from textual.binding import Binding
from textual.color import Color
from textual.content import Content
from textual.dom import DOMNode
from textual.geometry import Size
from textual.screen import Screen
from textual.theme import Theme

from monitor.dashboard import aside
from monitor.dashboard.compactor import Compactor
from monitor.dashboard.failures import failure_sentence
from monitor.dashboard.feed import FeedFactory, FeedThread
from monitor.dashboard.keys import COMPACT_KEYS, KEYS, face
from monitor.dashboard.model import state as states
from monitor.dashboard.model.cells import GLYPHS
from monitor.dashboard.model.desk import Advice, Desk
from monitor.dashboard.model.header import name_of
from monitor.dashboard.model.help import help_lines
from monitor.dashboard.model.mix import Mixes
from monitor.dashboard.model.text import Line
from monitor.dashboard.program import Program
from monitor.dashboard.screens.main import MainScreen
from monitor.dashboard.themes import DARK, LIGHT, THEMES, Inks
from monitor.dashboard.widgets.table import Table
from monitor.decision.model import ACTION_WORDS, Decision
from monitor.sessions.view import SessionView

#: how often ages on the screen are renewed while nothing else happens
_TICK_S = 10.0
#: a single picture waits so long for what is counted beside everything else, and so does what follows the first reading
_PATIENCE_S = 3.0


class Dashboard(Program):
    """The dashboard. ``keys`` maps ids of :data:`~monitor.dashboard.keys.KEYS` to other keys."""

    TITLE = "ctxmon"
    CSS_PATH = "dashboard.tcss"
    ENABLE_COMMAND_PALETTE = True

    def __init__(
        self,
        factory: FeedFactory,
        *,
        session: str | None = None,
        call: int | None = None,
        notify: bool = False,
        title: str = "ctxmon",
        theme: str | None = None,
        zone: tzinfo | None = None,
        state_path: Path | None = None,
        compactor: Compactor | None = None,
        keys: Mapping[str, str] | None = None,
        verbose: bool = False,
        on_first: Callable[[Dashboard], None] | None = None,
        on_read: Callable[[], object] | None = None,
    ) -> None:
        super().__init__()
        self.title = title
        self.state_path = state_path
        self.state = states.load(state_path)
        self.panel = self.state.panel
        self.compactor = compactor
        self.keys = dict(keys or {})
        self.tells = notify
        self.verbose = verbose
        self._inks: dict[str, Inks] = {}
        self.desk = Desk(self.state, session=session, call=call, zone=zone, glyphs=self.no_color)
        self.legend: Content = Content("")
        self._on_first, self._on_read = on_first, on_read
        self._fed_at = time.monotonic()
        for one in THEMES:
            self.register_theme(one)
        wanted = theme or self.state.theme or DARK
        self.theme = wanted if wanted in self.available_themes else DARK
        self.refresh_css()
        self._take_theme(self.current_theme)
        self._feed = FeedThread(factory, self._publish, self._fail)
        self.mixes = Mixes(self._feed.examine, self._mixed)
        if self.keys:
            self.set_keymap(self.keys)

    # life

    @property
    def size(self) -> Size:
        """The size of the terminal; 80 x 24 as long as it tells none (0 x 0, as new pseudo-terminals do)."""
        driver = self._driver
        if self._size is None and driver is not None and driver._size is None:
            # Textual asks twice and falls back to two sizes; between the two it would draw for ever
            columns, lines = shutil.get_terminal_size((0, 0))
            if not (columns and lines):
                size = shutil.get_terminal_size()
                driver._size = (size.columns, size.lines)
        return super().size

    def get_default_screen(self) -> Screen[Any]:
        """The main screen is the only one that stays."""
        return MainScreen(id="main")

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Our own variables for themes that are not ours."""
        return {"edge": "#3a4450", "edge-focus": "#56b4e9", "edge-title": "#9aa4ae"}

    def on_mount(self) -> None:
        """Start reading; the first frame does not wait for it."""
        self.theme_changed_signal.subscribe(self, self._theme_changed)
        self.set_interval(_TICK_S, self.tick)
        self.set_timer(_PATIENCE_S, self._read)
        self._feed.start()

    def on_unmount(self) -> None:
        """End the thread and what is counted beside it, remember the view."""
        self._feed.stop()
        aside.stop()
        self.remember()

    def remember(self) -> None:
        """Write the state of the view."""
        if self.desk.view is not None:
            states.save(self.state_path, self.desk.state(self.theme, self.panel))

    @property
    def main(self) -> MainScreen | None:
        """The main screen, wherever it is in the stack."""
        return next((screen for screen in self.screen_stack if isinstance(screen, MainScreen)), None)

    # the feed's thread

    def _publish(self, snapshot: Any) -> None:
        main = self.main
        if main is not None:
            main.post_message(MainScreen.Fed(snapshot))

    def _fail(self, sentence: str) -> None:
        main = self.main
        if main is not None:
            main.post_message(MainScreen.Failed(sentence))

    def explained(self) -> Decision | None:
        """The decision being shown, with all rows of the table where the feed can give them."""
        view, decision = self.desk.view, self.desk.decision
        if view is None or decision is None or decision.rows:
            return decision
        try:
            return self._feed.explain(view) or decision
        except Exception:  # the shorter answer is better than none
            return decision

    def backtest(self, view: SessionView) -> Callable[[int], str] | None:
        """What other policies would have done with a session; called in a worker thread."""
        return self._feed.backtest(view)

    def arrived(self) -> None:
        """A snapshot has come: ages are counted from here, also of one that is kept while the screen is on hold."""
        self._fed_at = time.monotonic()

    def fed(self, changed: list[Advice]) -> None:
        """A snapshot was drawn. Rings where the advice changed, if that was asked for."""
        if self.tells and changed:
            self.bell()
            for advice in changed[:3]:
                word = ACTION_WORDS.get(advice.after, advice.after)
                was = ACTION_WORDS.get(advice.before, advice.before)
                self.notify(f"{word}  (was {was})", title=name_of(advice.view), markup=False)
        if self._on_read is not None and not self.desk.loading:
            self.call_after_refresh(self._read)
        if self._on_first is not None and not self.desk.loading:
            self._finish()
            self.set_timer(_PATIENCE_S, partial(self._finish, wait=False))

    def _read(self) -> None:
        """All is read and drawn, or it takes long."""
        if self._on_read is not None:
            read, self._on_read = self._on_read, None
            read()

    @property
    def waits(self) -> bool:
        """Whether only a picture of everything is wanted, so that none is drawn before all is read."""
        return self._on_first is not None

    def _finish(self, wait: bool = True) -> None:
        """The first picture is complete: all is read, and what is counted beside is there (or takes too long)."""
        if self._on_first is not None and not self.desk.loading and not (wait and self.mixes.busy):
            first, self._on_first = self._on_first, None
            self.call_after_refresh(self.call_after_refresh, first, self)

    def _mixed(self) -> None:
        """A composition is ready; called in its thread."""

        def show() -> None:
            if self.main is not None and not self.desk.paused:
                self.main.draw_mix()
            self._finish()

        self.hand_over(show)

    def hand_over(self, what: Callable[..., object], *words: object) -> None:
        """For other threads: have something done in the program's own one, without waiting for it.

        Nothing happens once the program has ended; nobody is kept waiting, and no warning is left on the terminal.
        """
        with suppress(RuntimeError):
            self.call_later(what, *words)

    def tick(self) -> None:
        """Ages grow while nothing comes in."""
        if self.desk.paused or self.desk.view is None:
            return
        self.desk.tick(int((time.monotonic() - self._fed_at) * 1000))
        main = self.main
        if main is not None and main.is_current:
            main.draw_ages()

    # looks

    def refresh_css(self, animate: bool = True) -> None:
        """Other colours: the style sheet is read again; before anything stands on the screen they are only noted."""
        if self.screen_stack:
            super().refresh_css(animate)
        else:
            self.stylesheet.set_variables(self.get_css_variables())

    def _take_theme(self, theme: Theme) -> None:
        self._inks = {}
        inks = self.inks_on("background")
        names = ("read", "write", "fresh")
        colours = [inks.cell((name, "")).color for name in names]
        parts = [
            part
            for name, colour, word in zip(names, colours, ("cached", "write", "new"))
            for part in ((GLYPHS[name] if self.no_color else "■", colour.name if colour else ""), f" {word}  ")
        ]
        self.legend = Content.assemble(*parts, "▲ compaction")

    def inks_on(self, paper: str) -> Inks:
        """Styles in the present colours on a background named by a variable of the theme."""
        inks = self._inks.get(paper)
        if inks is None:
            named = self.theme_variables
            base = RichStyle.from_color(
                Color.parse(named["foreground"]).rich_color, Color.parse(named[paper]).rich_color
            )
            inks = self._inks[paper] = Inks(self.current_theme.dark, glyphs=self.no_color, base=base)
        return inks

    def _theme_changed(self, theme: Theme) -> None:
        self._take_theme(theme)
        main = self.main
        if main is not None:
            main.redraw()

    def other_theme(self) -> None:
        """Dark to light and back."""
        self.theme = LIGHT if self.current_theme.dark else DARK

    # commands and help

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """The command palette: every key's command, each theme by Textual's own command."""
        main = self.main
        if main is not None:
            for key in KEYS:
                if key.id in ("palette", "back") or (key.id in COMPACT_KEYS and self.compactor is None):
                    continue
                shown = ", ".join(face(one) for one in self.keys.get(key.id, key.keys).split(","))
                yield SystemCommand(key.text[:1].upper() + key.text[1:], f"key {shown}", self._runner(key.action))
        yield SystemCommand("Theme", "choose a colour theme", self.action_change_theme)

    async def run_action(
        self,
        action: str | ActionParseResult,
        default_namespace: DOMNode | None = None,
        namespaces: Mapping[str, DOMNode] | None = None,
    ) -> bool:
        """Any command takes the last word said off the screen."""
        main = self.main
        if main is not None and main.is_mounted:
            main.say("")
        return await super().run_action(action, default_namespace, namespaces)

    def _runner(self, action: str) -> Callable[[], None]:
        def run() -> None:
            main = self.main
            if main is not None:
                main.call_later(main.run_action, action)

        return run

    def help_lines(self, width: int) -> list[Line]:
        """The help, from the bindings that are in force."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for key in KEYS:
            if key.id in COMPACT_KEYS and self.compactor is None:
                continue
            shown = " ".join(face(one) for one in self.keys.get(key.id, key.keys).split(","))
            groups.setdefault(key.group, []).append((shown, key.text))
        for binding in Table.BINDINGS:
            if not isinstance(binding, Binding):
                continue
            keys = " ".join(face(one) for one in self.keys.get(binding.id or "", binding.key).split(","))
            groups["Lists"].append((keys, binding.description))
        groups["Move"].append(("mouse", "click: turn · wheel: zoom · shift wheel: window · headings: order"))
        return help_lines(groups.items(), width)

    # failures

    def _fatal_error(self) -> None:
        """An error of ours ends the program with one sentence; a traceback only for those who asked (-v)."""
        if self.verbose:
            super()._fatal_error()
            return
        from rich.segment import Segments
        from rich.text import Text

        sentence = Text(failure_sentence(self._exception))
        self._exit_renderables.append(Segments(self.console.render(sentence, self.console.options)))
        self._close_messages_no_wait()
