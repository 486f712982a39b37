"""Compacting from the dashboard: show what would happen, ask, write beside. The log is never touched."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from textual.app import ComposeResult
from textual.binding import Binding
from textual.screen import ModalScreen
from textual.suggester import Suggester
from textual.widgets import Input

from monitor.dashboard.compactor import Compactor, Preview
from monitor.dashboard.failures import reason
from monitor.dashboard.model.compacting import change_lines, preview_lines
from monitor.dashboard.program import Program
from monitor.dashboard.screens.sheet import Confirm
from monitor.dashboard.widgets.lines import LinesPanel
from monitor.sessions.view import SessionView

#: so many names of a folder are looked at for a suggestion
_NAMES = 5_000


class CompactSheet(Confirm):
    """The preview; ``d`` shows it message by message and back."""

    BINDINGS = [Binding("d,tab,shift+tab", "other", "message by message", show=False)]

    def __init__(self, preview: Preview) -> None:
        self._preview = preview
        self._by_message = False
        ask = "Esc closes" if preview.blocked else "y writes it · Esc leaves"
        super().__init__("Compact: preview", self._shown, note=f"{ask} · d messages")

    def _shown(self, width: int) -> list[tuple[tuple[str, str], ...]]:
        return change_lines(self._preview, width) if self._by_message else preview_lines(self._preview, width)

    def action_other(self) -> None:
        """Numbers and words, or message by message."""
        self._by_message = not self._by_message
        panel = self.query_one("#sheet", LinesPanel)
        panel.border_title = "Compact: message by message" if self._by_message else "Compact: preview"
        panel.scroll_lines(-1_000_000)
        self._fill()

    def action_yes(self) -> None:
        """Yes, where it can be written at all."""
        if not self._preview.blocked:
            super().action_yes()


class Paths(Suggester):
    """Completes a path by the names in its folder, files of a session first."""

    def __init__(self) -> None:
        super().__init__(use_cache=False, case_sensitive=True)

    async def get_suggestion(self, value: str) -> str | None:
        """The path that begins with what was typed, None where there is none."""
        return await asyncio.to_thread(complete, value)


def complete(typed: str) -> str | None:
    """The only or first name that goes on from what was typed; a folder ends with a separator."""
    folder, _, begin = typed.replace("\\", "/").rpartition("/") if os.sep == "\\" else typed.rpartition("/")
    if not begin:
        return None
    with suppress(OSError, RuntimeError):
        place = Path(folder + "/").expanduser() if folder or typed.startswith("/") else Path()
        found: list[tuple[bool, str]] = []
        with os.scandir(place) as entries:
            for _number, entry in zip(range(_NAMES), entries):
                if entry.name.startswith(begin):
                    found.append((entry.is_dir(), entry.name))
        if found:
            is_folder, name = min(found)
            return typed[: len(typed) - len(begin)] + name + ("/" if is_folder else "")
    return None


class AskPath(ModalScreen[str]):
    """Asks for the path of a file; the right arrow takes over what is suggested."""

    BINDINGS = [Binding("escape", "leave", "leave", show=False)]

    def compose(self) -> ComposeResult:
        """One line to type in."""
        yield Input(id="path", placeholder="path of a session file or an exported conversation", suggester=Paths())

    def on_mount(self) -> None:
        """What it is about."""
        line = self.query_one("#path", Input)
        line.border_title = "Compact a file"
        line.border_subtitle = "→ completes · Enter shows a preview · Esc leaves"

    def on_input_submitted(self, message: Input.Submitted) -> None:
        """Take it, if there is something."""
        if message.value.strip():
            self.dismiss(message.value.strip())

    def action_leave(self) -> None:
        """Without a file."""
        self.dismiss("")


class Compacting:
    """The way from the key to the file. Only the newest preview that was asked for is shown.

    Args:
        say: puts a word into the line of hints; an empty one takes it away.
    """

    def __init__(self, app: Program, compactor: Compactor, say: Callable[[str], None]) -> None:
        self._app = app
        self._compactor = compactor
        self._say = say
        self._asked = 0

    def session(self, view: SessionView) -> None:
        """Preview of the session's own file."""
        self._prepare(lambda: self._compactor.preview(view))

    def file(self) -> None:
        """Ask for a path, then preview."""

        def typed(path: str | None) -> None:
            if path:
                self._prepare(lambda: self._compactor.preview_file(Path(path)))

        self._app.push_screen(AskPath(), typed)

    def _prepare(self, make: Callable[[], Preview]) -> None:
        self._asked += 1
        number = self._asked
        app = self._app
        self._say("preparing the preview …")

        def work() -> None:
            try:
                preview = make()
            except Exception as error:  # whatever it is, the dashboard goes on
                app.hand_over(self._refused, number, reason(error))
            else:
                app.hand_over(self._show, number, preview)

        # a thread that nobody waits for: leaving must not take as long as a preview of a large file
        threading.Thread(target=work, name="ctxmon-preview", daemon=True).start()

    def _refused(self, number: int, sentence: str) -> None:
        if number == self._asked:
            self._say("")
            self._app.notify(sentence, severity="warning", title="No preview", markup=False, timeout=10)

    def _show(self, number: int, preview: Preview) -> None:
        if number != self._asked:
            return
        self._say("")

        def answered(yes: bool | None) -> None:
            if yes:
                self._app.run_worker(
                    lambda: self._write(preview), thread=True, exclusive=True, group="compact", exit_on_error=False
                )

        self._app.push_screen(CompactSheet(preview), answered)

    def _write(self, preview: Preview) -> None:
        try:
            path = self._compactor.write(preview)
        except Exception as error:
            self._app.hand_over(self._failed, reason(error))
            return
        self._app.hand_over(self._written, str(path))

    def _failed(self, sentence: str) -> None:
        self._app.notify(sentence, severity="error", title="Nothing was written", markup=False, timeout=10)

    def _written(self, path: str) -> None:
        self._app.notify(path, title="Written", markup=False, timeout=10)
