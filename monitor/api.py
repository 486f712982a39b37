"""The public Python API: calls and sessions as pandas data frames.

    import monitor

    calls = monitor.load("~/.claude/projects")  # one row per call
    per_session = monitor.sessions(calls)  # one row per session

Every number comes from the functions behind ``ctxmon report``. What is unknown is missing (``pandas.NA``, ``NaT`` or
``NaN``), never 0. ``docs/api.md`` explains the columns.
"""

from __future__ import annotations

import datetime as dt
import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from monitor.frames import CALLS, SESSIONS, calls_frame, records, sessions_frame
from monitor.readers.base import ReadOptions
from monitor.records import Call, Event, Record
from monitor.sessions.build import Settings
from monitor.sessions.filter import Wanted
from monitor.sessions.limits import Overrides

if TYPE_CHECKING:
    import pandas as pd

    from monitor.pricing import PriceTable

__all__ = ["CALLS", "SESSIONS", "load", "sessions"]

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
Moment = str | dt.date | dt.datetime
Limit = int | Mapping[str, int]
Map = str | os.PathLike[str] | Mapping[str, Any]


def load(
    paths: Paths = (),
    *,
    source: str | None = None,
    map: Map | None = None,
    session_by: str | None = None,
    since: Moment | None = None,
    until: Moment | None = None,
    model: str | None = None,
    session: str | None = None,
    context_limit: Limit | None = None,
    prices: str | os.PathLike[str] | None = None,
    copies: bool = False,
    problems: list[str] | None = None,
) -> pd.DataFrame:
    """Calls of log files, exports and databases: one row per call, with the columns and types of :data:`CALLS`.

    Args:
        paths: a file, folder, glob or address, or several; none: the agents' own log folders of this machine.
        source: force a reader, as ``--source``.
        map: column map for tables: a YAML file, or the map itself (``{"prompt": "in_tok", …}``).
        session_by: form sessions by ``explicit``, ``chain``, ``prefix``, ``lane`` or ``file``.
        since, until: only calls from then on, and before then; ``2026-11-30`` or a date object, without a zone UTC.
        model: only calls of models whose name matches this pattern.
        session: only this session (the beginning of its id is enough).
        context_limit: context window in tokens, for all models or by patterns of their names.
        prices: own price file on top of the built-in table.
        copies: list the calls that resumed or forked sessions took over, too, with ``inherited`` true. Sums of the
            frame then count them twice; :func:`sessions` does not.
        problems: is given a sentence for everything that could not be read; without it a warning tells how many.

    Raises:
        ValueError: an argument that cannot be understood, or a price file or column map that cannot be used.
    """
    from monitor.sessions.load import Request
    from monitor.sessions.load import load as load_sessions

    found = load_sessions(
        Request(
            paths=_paths(paths),
            options=ReadOptions(source=_source(source, map), map=_map(map), session_by=_way(session_by)),
            settings=Settings(prices=_prices(prices), overrides=Overrides(_limits(context_limit))),
            wanted=Wanted(since=_moment(since, "since"), until=_moment(until, "until"), model=model, session=session),
        )
    )
    told = [_sentence(problem) for problem in found.problems]
    if problems is not None:
        problems += told
    elif told:
        warnings.warn(f"{len(told)} problems while reading, the first: {told[0]}", UserWarning, stacklevel=2)
    shown = {view.session for view in found.sessions}
    return calls_frame(found.sessions, [call for call in found.copies if call.session in shown] if copies else ())


def sessions(
    calls: pd.DataFrame, *, context_limit: Limit | None = None, prices: str | os.PathLike[str] | None = None
) -> pd.DataFrame:
    """Sessions of a frame of calls: one row per session, latest activity first, columns and types of :data:`SESSIONS`.

    The calls in the frame are analysed as if they were all there is. A frame that does not come from :func:`load` needs
    a column ``prompt_tokens`` (with the part that was cached); the others of :data:`CALLS` are used where they are
    there. Rows without a ``session`` are put into sessions by their token counts.

    Args:
        calls: left as it is.
        context_limit, prices: as for :func:`load`. A cost that the frame tells is kept.

    Raises:
        ValueError: there is no column ``prompt_tokens``, or an argument cannot be understood.
    """
    from monitor.sessions.sessionize import assign
    from monitor.sessions.store import Store
    from monitor.sources.files import Batch

    if "prompt_tokens" not in calls.columns:
        raise ValueError("the frame has no column 'prompt_tokens': rename yours, or read the table with monitor.load")
    by_file: dict[str, list[Call | Event]] = {}
    loose: list[tuple[str, int, Call]] = []
    for file, record in records(calls):
        into = by_file.setdefault(file, [])
        if type(record) is Call and record.evidence is not None:
            loose.append((file, len(into), record))
        into.append(record)
    for (file, at, _), call in zip(loose, assign([call for *_, call in loose]), strict=True):
        by_file[file][at] = call
    store = Store(Settings(prices=_prices(prices), overrides=Overrides(_limits(context_limit))))
    store.session_by = "explicit"  # all are known by now
    for file, told in by_file.items():
        # as in the file: a call without a time stands behind the one before it
        records_of: list[Record] = [*sorted(told, key=lambda record: record.line or 0)]
        store.apply(Batch(file, records_of, True))
    store.learn()
    return sessions_frame(store.views(), calls)


# --- arguments -------------------------------------------------------------------------------------------------------
def _paths(paths: Paths) -> list[str]:
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    return [os.fspath(path) for path in given]


def _source(source: str | None, map: Map | None) -> str | None:
    from monitor.readers import sources

    if source is not None and source not in sources():
        raise ValueError(f"source {source!r} is not known; known are: {', '.join(sources())}")
    return source or ("table" if map is not None else None)


def _map(map: Map | None) -> Any:
    if map is None:
        return None
    from monitor.readers.column_map import MapError, load_map, parse_map

    try:
        if isinstance(map, Mapping):
            import json

            # YAML reads JSON, so there is one place that knows what a map may say
            return parse_map(json.dumps(dict(map)), "map")
        return load_map(Path(map))
    except MapError as error:
        raise ValueError(str(error)) from error


def _way(session_by: str | None) -> str | None:
    from monitor.sessions.sessionize import WAYS

    if session_by is not None and session_by not in WAYS:
        raise ValueError(f"session_by {session_by!r} is not known; it is one of {', '.join(WAYS)}")
    return session_by


def _moment(given: Moment | None, name: str) -> int | None:
    from monitor.readers.gateway_values import time_ms

    if given is None:
        return None
    if isinstance(given, dt.date) and not isinstance(given, dt.datetime):
        given = dt.datetime(given.year, given.month, given.day)
    found = time_ms(given)
    if found is None:
        raise ValueError(f"{name} {given!r} is no time; give a date object or a text such as 2026-11-30T08:00Z")
    return found


def _limits(given: Limit | None) -> dict[str, int]:
    found = {"*": given} if isinstance(given, int) else dict(given or {})
    for name, limit in found.items():
        if not isinstance(limit, int) or limit <= 0:
            raise ValueError(f"context_limit of {name!r} must be a number of tokens, as 200_000")
    return found


def _prices(path: str | os.PathLike[str] | None) -> PriceTable:
    from monitor.pricing import PriceFileError, PriceTable

    try:
        return PriceTable.load(Path(path) if path is not None else None)
    except PriceFileError as error:
        raise ValueError(str(error)) from error
    except OSError as error:
        raise ValueError(f"prices {os.fspath(path or '')}: cannot be opened ({error.strerror})") from error


def _sentence(problem: Any) -> str:
    place = f"{problem.file}:{problem.line}: " if problem.line is not None else f"{problem.file}: "
    return f"{place if problem.file else ''}{problem.reason}"
