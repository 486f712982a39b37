"""Small helpers of the tests of agents' own formats."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from monitor.pricing import PriceTable
from monitor.readers.base import FileContext, Head, Reader, ReadOptions
from monitor.records import Call, Event, Record, SessionInfo, Step
from monitor.sessions.build import Settings
from monitor.sessions.load import Request, load
from monitor.sessions.view import Loaded


def lines(rows: list[Any]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def read(reader: Reader, data: bytes, name: str = "log", **options: Any) -> list[Record]:
    """Records of bytes without a path."""
    context = FileContext(name=name, data=data, options=ReadOptions(**options))
    parser = reader.parser(context)
    parser.read(context)
    return parser.take()


def read_path(reader: Reader, path: Path, **options: Any) -> list[Record]:
    """Records of a file where it lies."""
    context = FileContext(name=str(path), path=path, options=ReadOptions(**options))
    parser = reader.parser(context)
    parser.read(context)
    return parser.take()


def write(path: Path, value: Any) -> Path:
    """A JSON document (or bytes) at a path whose folders are made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(value if isinstance(value, bytes) else json.dumps(value).encode())
    return path


def calls(records: list[Record]) -> list[Call]:
    return [record for record in records if isinstance(record, Call)]


def events(records: list[Record]) -> list[Event]:
    return [record for record in records if isinstance(record, Event)]


def infos(records: list[Record]) -> list[SessionInfo]:
    return [record for record in records if isinstance(record, SessionInfo)]


def steps(records: list[Record]) -> list[tuple[str, str, bool | None]]:
    """Kind, tool and success of each step."""
    return [(record.kind, record.tool, record.ok) for record in records if isinstance(record, Step)]


def figures(call: Call) -> tuple[int | None, ...]:
    """Prompt, fresh, read, write, output."""
    return (
        call.prompt_tokens,
        call.fresh_tokens,
        call.cache_read_tokens,
        call.cache_write_tokens,
        call.output_tokens,
    )


def loaded(*paths: Path) -> Loaded:
    """Everything a run over these paths says."""
    settings = Settings(prices=PriceTable.load())
    return load(Request(paths=[str(path) for path in paths], options=ReadOptions(), settings=settings))


def head(data: bytes, path: Path | None = None) -> Head:
    return Head(data, str(path or "x"), True, path, data[:16])
