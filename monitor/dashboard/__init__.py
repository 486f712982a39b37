"""The dashboard. Importing this costs nothing; Textual is loaded when :func:`run` is called."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import tzinfo
from os import PathLike
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.segment import Segment

    from monitor.dashboard.app import Dashboard
    from monitor.dashboard.compactor import Compactor
    from monitor.dashboard.feed import Feed, FeedFactory

__all__ = ["run"]


def run(
    source: FeedFactory | Sequence[str | PathLike[str]],
    *,
    once: bool = False,
    session: str | None = None,
    call: int | None = None,
    notify: bool = False,
    title: str = "ctxmon",
    theme: str | None = None,
    zone: tzinfo | None = None,
    remember: bool = True,
    compactor: Compactor | None = None,
    keys: Mapping[str, str] | None = None,
    size: tuple[int, int] | None = None,
    verbose: bool = False,
    begun: bool = False,
) -> int:
    """Show the dashboard until the user quits; with ``once`` print one frame and end.

    ``source`` makes the feed (called in the worker thread), or is a list of paths to follow; an empty list means the
    agents' own folders. ``session`` (an id or its beginning) and ``call`` (an index) choose what is shown first.
    ``notify`` rings when an advice changes. ``title`` stands at the left of the header. ``remember``: keep the view for
    the next start. ``compactor`` gives the compact key something to do. ``keys`` maps ids of keys to other keys.
    ``size`` (columns, rows) is for ``once`` without a terminal. ``begun``: an empty file is a log that is just being
    begun, and no trouble.

    Returns the exit code: 0; 1 if the dashboard itself failed; with ``once`` 3 if there was no session to show.
    """
    with _late_collections() as begin:
        from monitor.dashboard.app import Dashboard
        from monitor.dashboard.model.state import state_file
        from monitor.dashboard.once import print_frame, rows_of, terminal_size
        from monitor.dashboard.terminal import own_terminal

        drawn: list[list[list[Segment]]] = []

        def first(app: Dashboard) -> None:
            drawn.append(rows_of(app))
            app.exit(0)

        app = Dashboard(
            source if callable(source) else _follow(source, begun, once),
            session=session,
            call=call,
            notify=notify,
            title=title,
            theme=theme,
            zone=zone,
            state_path=state_file() if remember and not once else None,
            compactor=compactor,
            keys=keys,
            verbose=verbose,
            on_first=first if once else None,
            on_read=None if once else begin,
        )
        if once:
            app.run(headless=True, size=size or terminal_size())
            if app.return_code or not drawn:
                return 1
            print_frame(drawn[0], no_color=app.no_color)
            return 0 if app.desk.view is not None else 3
        with own_terminal():
            app.run()
        return 1 if app.return_code else 0


@contextmanager
def _late_collections() -> Iterator[Callable[[], None]]:
    """What is made until the first picture is there stays: looking for garbage in it is for nothing, then and later.

    Gives a function that begins to collect what comes afterwards.
    """
    was = gc.isenabled()
    gc.disable()

    def begin() -> None:
        gc.freeze()
        if was:
            gc.enable()

    try:
        yield begin
    finally:
        if was:
            gc.enable()


def _follow(paths: Sequence[str | PathLike[str]], begun: bool, once: bool = False) -> FeedFactory:
    """The feed that follows these paths, or reads them once."""

    def factory() -> Feed:
        from monitor.dashboard.live import LiveFeed
        from monitor.pricing import PriceTable
        from monitor.sessions.build import Settings

        settings = Settings(prices=PriceTable.load())
        return LiveFeed([str(path) for path in paths], settings=settings, begun=begun, once=once)

    return factory
