"""The report as JSON and CSV."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from monitor.decision.model import Decision
from monitor.readers.times import iso
from monitor.reports import shape
from monitor.reports.encode import listed, to_json
from monitor.sessions.view import Loaded, SessionView


def body(found: Loaded, decisions: Mapping[str, Decision], now: int) -> dict[str, Any]:
    """`report --format json` (contract.md)."""
    sessions = [_session(view, decisions) for view in found.sessions]
    return {"schema": "ctxmon.report/1", "generated": iso(now), "sessions": sessions, **_sums(found)}


def pieces(found: Loaded, decisions: Mapping[str, Decision], now: int) -> Iterator[str]:
    """:func:`body` as text, piece by piece: of a gateway's month there are a hundred thousand sessions."""
    first = to_json({"schema": "ctxmon.report/1", "generated": iso(now)})[:-1]
    yield f'{first},"sessions":['
    yield from listed((_session(view, decisions) for view in found.sessions), ",")
    yield f"],{to_json(_sums(found))[1:]}"


def _session(view: SessionView, decisions: Mapping[str, Decision]) -> dict[str, Any]:
    decision = decisions.get(view.session)
    return shape.session(view, shape.decision(decision) if decision is not None else None)


def _sums(found: Loaded) -> dict[str, Any]:
    return {
        "totals": shape.totals(found.sessions),
        "by_model": shape.by_model(found.sessions),
        "by_day": shape.by_day(found.sessions),
        "problems": [shape.problem(problem) for problem in found.problems],  # type: ignore[arg-type]
    }


_COLUMNS = [
    "session",
    "source",
    "project",
    "models",
    "first",
    "last",
    "calls",
    "exchanges",
    "prompt_tokens",
    "fresh_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "output_tokens",
    "peak_prompt_tokens",
    "last_prompt_tokens",
    "context_limit",
    "usable_limit",
    "fill",
    "side_calls",
    "cache_hit_ratio",
    "prefix_hit_ratio",
    "windows",
    "compactions",
    "inferred_compactions",
    "cost_usd",
    "unpriced_calls",
    "inherited_calls",
]


def csv_text(found: Loaded, decisions: Mapping[str, Decision]) -> str:
    """One row per session."""
    import csv
    import io

    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*_COLUMNS, "decision"])
    for view in found.sessions:
        row = shape.session(view)
        row["models"] = " ".join(view.models)
        decision = decisions.get(view.session)
        values = ["" if row[name] is None else row[name] for name in _COLUMNS]
        writer.writerow([*values, decision.action if decision is not None else ""])
    return out.getvalue().rstrip("\n")
