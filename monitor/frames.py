"""Calls and sessions to data frames, and frames of calls back to records (for :mod:`monitor.api`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any

import msgspec

from monitor.readers import gateway_values as values
from monitor.readers import usage
from monitor.readers.table_calls import place, status_of, status_word, tokens_of
from monitor.records import Call, Event, Evidence
from monitor.sessions.view import SessionView, Turn

if TYPE_CHECKING:
    import pandas as pd

#: columns of a frame of calls and their types
CALLS: dict[str, str] = {
    "session": "string",
    "session_evidence": "category",
    "chain": "category",
    "window": "Int64",
    "index": "Int64",
    "exchange": "Int64",
    "time": "datetime64[ms, UTC]",
    "duration_ms": "Int64",
    "source": "category",
    "provider": "category",
    "model": "category",
    "prompt_tokens": "Int64",
    "fresh_tokens": "Int64",
    "cache_read_tokens": "Int64",
    "cache_write_tokens": "Int64",
    "cache_write_1h_tokens": "Int64",
    "output_tokens": "Int64",
    "output_is_lower_bound": "bool",
    "reasoning_tokens": "Int64",
    "billed_prompt_tokens": "Int64",
    "context_limit": "Int64",
    "context_limit_source": "category",
    "usable_limit": "Int64",
    "cost_usd": "float64",
    "cost_source": "category",
    "cost_estimated": "bool",
    "status": "category",
    "purpose": "category",
    "cache_outcome": "category",
    "cache_miss_cause": "category",
    "miss_cost_usd": "float64",
    "expected_read": "Int64",
    "delta": "Int64",
    "events_before": "string",
    "events_after": "string",
    "inherited": "bool",
    "cache_ttl_s": "Int64",
    "has_bodies": "bool",
    "prefix_kept": "boolean",
    "project": "category",
    "file": "category",
    "line": "Int64",
    "call_id": "string",
    "key": "string",
}

_CAUSES = ("expired", "compaction", "model_switch", "prefix_changed", "trim", "unknown")
#: columns of a frame of sessions and their types
SESSIONS: dict[str, str] = {
    "session": "string",
    "source": "category",
    "session_evidence": "category",
    "project": "category",
    "models": "string",
    "first": "datetime64[ms, UTC]",
    "last": "datetime64[ms, UTC]",
    "calls": "int64",
    "side_calls": "int64",
    "error_calls": "int64",
    "inherited_calls": "int64",
    "calls_without_usage": "int64",
    "exchanges": "Int64",
    "prompt_tokens": "Int64",
    "fresh_tokens": "Int64",
    "cache_read_tokens": "Int64",
    "cache_write_tokens": "Int64",
    "cache_write_1h_tokens": "Int64",
    "output_tokens": "Int64",
    "output_is_lower_bound": "bool",
    "reasoning_tokens": "Int64",
    "billed_prompt_tokens": "Int64",
    "peak_prompt_tokens": "Int64",
    "last_prompt_tokens": "Int64",
    "context_limit": "Int64",
    "context_limit_source": "category",
    "usable_limit": "Int64",
    "fill": "float64",
    "cache_hit_ratio": "float64",
    "prefix_hit_ratio": "float64",
    "cache_misses": "int64",
    **{f"misses_{cause}": "int64" for cause in _CAUSES},
    "windows": "int64",
    "compactions": "int64",
    "inferred_compactions": "int64",
    "cost_usd": "float64",
    "unpriced_calls": "int64",
    "tokens_per_call": "float64",
    "calls_to_limit_p10": "float64",
    "calls_to_limit_p50": "float64",
    "calls_to_limit_p90": "float64",
}

#: events that change a context; in a frame they stand at the calls around them
_RESETS = ("compaction", "microcompaction", "trim", "clear", "fork", "rewind")
_INFERRED = "~"
_OF_TURN = (
    "window",
    "index",
    "exchange",
    "context_limit",
    "context_limit_source",
    "cost_usd",
    "cost_source",
    "cost_estimated",
    "cache_outcome",
    "cache_miss_cause",
    "miss_cost_usd",
    "expected_read",
    "delta",
)


# --- to frames -------------------------------------------------------------------------------------------------------
def calls_frame(views: Sequence[SessionView], copies: Sequence[Call]) -> pd.DataFrame:
    """One row per call, in the order of sessions and of calls in them; copies come last."""
    turns = [turn for view in views for turn in view.turns]
    turns += [Turn(call=call, index=0, window=0) for call in copies]
    calls = [turn.call for turn in turns]
    own = len(calls) - len(copies)
    before: list[str | None] = [None] * len(calls)
    after: list[str | None] = [None] * len(calls)
    projects: list[str | None] = []
    start = 0
    for view in views:
        _events(view, before, after, start)
        projects += [view.project] * len(view.turns)
        start += len(view.turns)
    known: dict[str, list[Any]] = {
        "events_before": before,
        "events_after": after,
        "project": [*projects, *[None] * len(copies)],
        "inherited": [call.inherited or n >= own for n, call in enumerate(calls)],
    }
    columns: dict[str, list[Any]] = {}
    for name in CALLS:
        if name in known:
            columns[name] = known[name]
        elif name in _OF_TURN:
            # what the analysis found out; of a copy it found out nothing
            found = [getattr(turn, name) for turn in turns[:own]]
            columns[name] = found + [False if name == "cost_estimated" else None] * len(copies)
        elif name == "key":
            columns[name] = [call.key or None for call in calls]
        else:
            columns[name] = [getattr(call, name) for call in calls]
    return frame(columns, CALLS)


def _events(view: SessionView, before: list[str | None], after: list[str | None], start: int) -> None:
    for event in view.events:
        if event.kind not in _RESETS:
            continue
        word = event.kind if event.evidence == "recorded" else _INFERRED + event.kind
        for into, at in ((before, event.before_call), (after, event.after_call)):
            if at is not None and at < len(view.turns):
                there = into[start + at]
                into[start + at] = word if there is None else f"{there} {word}"
                break


def sessions_frame(views: Sequence[SessionView], told: pd.DataFrame | None = None) -> pd.DataFrame:
    """One row per session.

    Args:
        told: the frame their calls are from, for what it knows beside the calls.
    """
    projects = _pairs(told, "project")
    limits = _pairs(told, "context_limit_source")
    rows = [_session(view, projects.get(view.session)) for view in views]
    for row in rows:
        if row["context_limit_source"] == "logged":
            row["context_limit_source"] = limits.get(row["session"], "logged")
    return frame({name: [row[name] for row in rows] for name in SESSIONS}, SESSIONS)


def _session(view: SessionView, project: str | None) -> dict[str, Any]:
    forecast = view.forecast
    left = forecast.calls_to_limit if forecast is not None else None
    return {
        **msgspec.structs.asdict(view.sums),
        **{name: getattr(view, name) for name in SESSIONS if hasattr(view, name)},
        "session_evidence": view.evidence,
        "project": view.project or project,
        "models": " ".join(view.models) or None,
        "cache_misses": sum(view.cache_misses.values()),
        **{f"misses_{cause}": view.cache_misses.get(cause, 0) for cause in _CAUSES},
        "tokens_per_call": forecast.tokens_per_call if forecast is not None else None,
        "calls_to_limit_p10": left.p10 if left is not None else None,
        "calls_to_limit_p50": left.p50 if left is not None else None,
        "calls_to_limit_p90": left.p90 if left is not None else None,
    }


def _pairs(told: pd.DataFrame | None, name: str) -> dict[str, str]:
    """The last known value of a column for each session."""
    if told is None or not {"session", name} <= set(told.columns):
        return {}
    known = told[["session", name]].dropna().drop_duplicates("session", keep="last")
    return {str(session): str(value) for session, value in known.itertuples(index=False)}


def frame(columns: Mapping[str, Sequence[Any]], types: Mapping[str, str]) -> pd.DataFrame:
    """Columns of plain values, None where unknown, as a frame of these types."""
    import pandas as pd

    return pd.DataFrame({name: _typed(columns[name], kind) for name, kind in types.items()})


def _typed(column: Sequence[Any], kind: Any) -> Any:
    import numpy as np
    import pandas as pd

    if kind == "category":
        return pd.Categorical(column)
    if kind == "float64":
        return np.array([np.nan if value is None else value for value in column], dtype="float64")
    if kind.startswith("datetime64"):
        nothing = np.iinfo("int64").min
        moments = np.array([nothing if value is None else value for value in column], dtype="int64")
        return pd.Series(moments.view("datetime64[ms]")).dt.tz_localize("UTC")
    if kind in ("bool", "int64"):
        return np.array(column, dtype=kind)
    return pd.array(list(column), dtype=kind)


# --- from frames -----------------------------------------------------------------------------------------------------
def records(found: pd.DataFrame) -> Iterator[tuple[str, Call | Event]]:
    """The calls of a frame, each with the events around it, and the name of the file each is from.

    Raises:
        ValueError: a session that is no name, or another value that cannot be used.
    """
    cells = {name: _column(found, name, clean) for name, clean in _CLEAN.items()}
    has_fresh = "fresh_tokens" in found.columns
    names = [name for name in _CLEAN if name not in ("events_before", "events_after", "project")]
    rows = zip(*(cells[name] for name in names), strict=True)
    for number, row in enumerate(rows, 1):
        call = _call(dict(zip(names, row)), number, has_fresh)
        for n, kind in enumerate(_told(cells["events_before"][number - 1])):
            yield call.file, _event(call, kind, f"before {n}")
        yield call.file, call
        for n, kind in enumerate(_told(cells["events_after"][number - 1])):
            yield call.file, _event(call, kind, f"after {n}")


def _call(row: dict[str, Any], number: int, has_fresh: bool) -> Call:
    prompt, fresh, read, write = (row.pop(name) for name in _PARTS)
    if not has_fresh:
        tokens = tokens_of(prompt, None, read, write, row["cache_write_1h_tokens"], row["output_tokens"], None, True)
        prompt, fresh, read, write = tokens.prompt, tokens.fresh, tokens.read, tokens.write
    if row.pop("context_limit_source") == "table":
        row["context_limit"] = None  # looked up anew
    status = row.pop("status")
    chain, purpose = place(row.pop("chain"), row.pop("purpose"))
    session, told = row.pop("session"), row.pop("session_evidence")
    evidence = None
    if session is None:
        session, told, evidence = values.placeholder(row["file"] or ""), "file", Evidence(response_id=row["call_id"])
    return Call(
        session=session,
        session_evidence=told or "explicit",
        evidence=evidence,
        file=row.pop("file") or "frame",
        source=row.pop("source") or "table",
        line=row.pop("line") or number,
        key=row.pop("key") or row["call_id"] or f"row:{number}",
        chain=chain,
        purpose=purpose,
        status=status_of(status, usage.Tokens(prompt)) if status is not None else "ok",
        prompt_tokens=prompt,
        fresh_tokens=fresh,
        cache_read_tokens=read,
        cache_write_tokens=write,
        output_is_lower_bound=row.pop("output_is_lower_bound") is True,
        inherited=row.pop("inherited") is True,
        has_bodies=row.pop("has_bodies") is True,
        **row,
    )


def _told(words: str | None) -> list[str]:
    """The events that stand at a call."""
    return [word for word in (words or "").split() if word.removeprefix(_INFERRED) in _RESETS]


def _event(call: Call, word: str, where: str) -> Event:
    kind: Any = word.removeprefix(_INFERRED)
    # a call that the frame holds twice is one call, with its events; "#" has a meaning in keys of events
    key = f"{where} {call.key}".replace("#", " ")
    return Event(kind=kind, evidence="recorded" if kind == word else "inferred", session=call.session, file=call.file,
                 line=call.line, chain=call.chain, time=call.time, key=key)  # fmt: skip


def _column(found: pd.DataFrame, name: str, clean: Callable[[Any], Any]) -> list[Any]:
    """A column as clean plain values; unknown in all rows where there is none."""
    import pandas as pd

    if name not in found.columns:
        return list(repeat(None, len(found)))
    column = found[name]
    if isinstance(column, pd.DataFrame):
        raise ValueError(f"the frame has more than one column '{name}'")
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        zone = column.dt.tz_convert("UTC") if column.dt.tz is not None else column.dt.tz_localize("UTC")
        numbers = zone.astype("datetime64[ms, UTC]").astype("int64")
        return [None if gone else int(value) for gone, value in zip(column.isna(), numbers)]
    return [None if gone else clean(value) for gone, value in zip(column.isna(), column.astype(object))]


def _flag(value: Any) -> bool | None:
    return values.truth(value)


def _number(value: Any) -> float | None:
    return values.number(value)


_PARTS = ("prompt_tokens", "fresh_tokens", "cache_read_tokens", "cache_write_tokens")
_WORDS = ("session", "session_evidence", "chain", "source", "provider", "model", "purpose", "context_limit_source",
          "events_before", "events_after", "project", "file", "call_id", "key")  # fmt: skip
_COUNTS = (*_PARTS, "cache_write_1h_tokens", "output_tokens", "reasoning_tokens", "billed_prompt_tokens", "exchange",
           "duration_ms", "context_limit", "usable_limit", "cache_ttl_s", "line")  # fmt: skip
_FLAGS = ("output_is_lower_bound", "inherited", "has_bodies", "prefix_kept")
#: the columns that are read back, and what makes their values clean
_CLEAN: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(_WORDS, values.text),
    **dict.fromkeys(_COUNTS, usage.count),
    **dict.fromkeys(_FLAGS, _flag),
    "time": values.time_ms,
    "cost_usd": _number,
    "status": status_word,
}
