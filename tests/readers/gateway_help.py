"""Reading small texts with one reader, for the tests of gateway formats."""

from __future__ import annotations

import importlib
import json
from typing import Any

from monitor.readers.base import DEFAULT_OPTIONS, FileContext, ReadOptions, read_head
from monitor.records import Call, Event, Problem, Record

MODULES = (
    "litellm",
    "otel",
    "new_api",
    "openrouter",
    "langfuse",
    "helicone",
    "bedrock",
    "cloudflare",
    "portkey",
    "magpie",
    "columns",
)


def readers(module: str) -> list[Any]:
    found = importlib.import_module(f"monitor.readers.{module}")
    return list(getattr(found, "READERS", None) or [found.READER])


def context(data: bytes | str, name: str = "log", options: ReadOptions = DEFAULT_OPTIONS) -> FileContext:
    return FileContext(name, data=data.encode() if isinstance(data, str) else data, options=options)


def score(module: str, data: bytes | str) -> float:
    head = read_head(context(data))
    return max(reader.sniff(head) for reader in readers(module))


def read(module: str, data: bytes | str, name: str = "log", options: ReadOptions = DEFAULT_OPTIONS) -> list[Record]:
    """Records of the module's reader that is surest of the data."""
    at = context(data, name, options)
    head = read_head(at)
    reader = max(readers(module), key=lambda one: one.sniff(head))
    parser = reader.parser(at)
    parser.read(at)
    return parser.take()


def calls(records: list[Record]) -> list[Call]:
    return [record for record in records if isinstance(record, Call)]


def events(records: list[Record]) -> list[Event]:
    return [record for record in records if isinstance(record, Event)]


def problems(records: list[Record]) -> list[Problem]:
    return [record for record in records if isinstance(record, Problem)]


def tokens(call: Call) -> tuple[int | None, ...]:
    """prompt, fresh, read, write, output"""
    return (
        call.prompt_tokens,
        call.fresh_tokens,
        call.cache_read_tokens,
        call.cache_write_tokens,
        call.output_tokens,
    )


def lines(*rows: Any) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)
