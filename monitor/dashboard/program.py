"""What widgets and screens ask of the program they are part of, so that they need not know how it is put together."""

from __future__ import annotations

from collections.abc import Callable

from textual.app import App
from textual.content import Content

from monitor.dashboard.compactor import Compactor
from monitor.dashboard.model.desk import Advice, Desk
from monitor.dashboard.model.mix import Mixes
from monitor.dashboard.model.text import Line
from monitor.dashboard.themes import Inks
from monitor.decision.model import Decision
from monitor.sessions.view import SessionView


class Program(App[int]):
    """The application as its parts see it; :class:`monitor.dashboard.app.Dashboard` is the one that runs."""

    #: what is shown, and where the cursor stands
    desk: Desk
    #: compositions, counted beside everything else
    mixes: Mixes
    #: None where nothing compacts
    compactor: Compactor | None
    #: keys that the user moved, by their ids
    keys: dict[str, str]
    #: the panel used last, for the next time
    panel: str
    #: the words below the chart, in the present colours
    legend: Content

    # the feed

    @property
    def waits(self) -> bool:
        """Whether only a picture of everything is wanted, so that none is drawn before all is read."""
        raise NotImplementedError

    def arrived(self) -> None:
        """A snapshot has come, whether or not it is drawn."""
        raise NotImplementedError

    def fed(self, changed: list[Advice]) -> None:
        """A snapshot was drawn, with advice that changed."""
        raise NotImplementedError

    def tick(self) -> None:
        """Ages grow while nothing comes in."""
        raise NotImplementedError

    def explained(self) -> Decision | None:
        """The decision being shown, with all rows of the table where they are to be had."""
        raise NotImplementedError

    def backtest(self, view: SessionView) -> Callable[[int], str] | None:
        """What other policies would have done with a session; called in a worker thread."""
        raise NotImplementedError

    def hand_over(self, what: Callable[..., object], *words: object) -> None:
        """For other threads: have something done in the program's own one, without waiting for it."""
        raise NotImplementedError

    # looks and help

    def inks_on(self, paper: str) -> Inks:
        """Styles in the present colours on a background named by a variable of the theme."""
        raise NotImplementedError

    def other_theme(self) -> None:
        """Dark to light and back."""
        raise NotImplementedError

    def help_lines(self, width: int) -> list[Line]:
        """The help, from the bindings that are in force."""
        raise NotImplementedError
