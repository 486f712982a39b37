"""Calls and events for tests, with only what a test cares about spelled out."""

from __future__ import annotations

from typing import Any

from monitor.pricing import PriceTable
from monitor.records import Call, Event, Record
from monitor.sessions.build import Settings
from monitor.sessions.store import Store
from monitor.sessions.view import SessionView
from monitor.sources.files import Batch

START = 1_767_261_600_000  # 2026-01-01T10:00:00Z
MODEL = "claude-sonnet-4-5"


def call(number: int, prompt: int | None, read: int | None = None, **facts: Any) -> Call:
    """The ``number``th call of a session, 10 s apart, everything not read from the cache written to it."""
    values: dict[str, Any] = {
        "session": "s",
        "source": "claude-code",
        "file": "a.jsonl",
        "line": number + 1,
        "key": f"msg_{number}",
        "time": START + number * 10_000,
        "provider": "anthropic",
        "model": MODEL,
        "prompt_tokens": prompt,
        "cache_read_tokens": read,
        "output_tokens": 100,
        **facts,
    }
    if prompt is not None and read is not None:
        values.setdefault("fresh_tokens", 10)
        values.setdefault("cache_write_tokens", prompt - read - 10)
    else:
        values.setdefault("fresh_tokens", prompt)
    return Call(**values)


def event(number: float, kind: str = "compaction", **facts: Any) -> Event:
    """An event between calls: 2.5 lies between calls 2 and 3."""
    values: dict[str, Any] = {
        "kind": kind,
        "evidence": "recorded",
        "session": "s",
        "file": "a.jsonl",
        "line": int(number + 1),
        "time": START + int(number * 10_000),
        "key": f"{kind}:{number}",
        **facts,
    }
    return Event(**values)


def store(*batches: list[Record], prices: PriceTable | None = None) -> Store:
    """A store fed with one batch per file (the file is that of the first record)."""
    made = Store(Settings(prices=prices))
    for records in batches:
        made.apply(Batch(records[0].file, list(records), True))
    return made


def view(records: list[Record], prices: PriceTable | None = None) -> SessionView:
    """The only session of some records."""
    (found,) = store(records, prices=prices).views()
    return found
