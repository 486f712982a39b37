"""Logs that keep one exchange in one JSON object: what the readers of such files have in common."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from monitor.readers.base import BaseParser, FileContext
from monitor.readers.exchange import Assembler, Exchange
from monitor.readers.json_stream import JsonAssembler

_encode = msgspec.json.Encoder().encode


class PairParser(BaseParser):
    """Feeds the exchanges of each JSON value to an assembler; a reader says how a value becomes exchanges."""

    source = ""

    def __init__(self, context: FileContext) -> None:
        super().__init__(context)
        self.assembler = Assembler(self.file, self.source, detail=self.options.detail)
        self._json = JsonAssembler(self.problem)

    def feed(self, lines: Iterable[bytes], first: int) -> None:
        for number, line in enumerate(lines, first):
            for at, value in self._json.push(line, number):
                self.value(value, at)

    def value(self, value: Any, line: int) -> None:
        """Take one JSON value of the file."""
        if isinstance(value, list):
            for one in value:
                if isinstance(one, dict):
                    self.value(one, line)
        elif isinstance(value, dict):
            for exchange in self.exchanges(value, line):
                self.records.extend(self.assembler.add(exchange))

    def exchanges(self, value: dict[str, Any], line: int) -> list[Exchange]:
        """The exchanges of one object of the log; empty if it holds none."""
        raise NotImplementedError


def as_bytes(value: Any) -> bytes:
    """A body as bytes: text as it is, JSON values encoded."""
    if value is None:
        return b""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    try:
        return _encode(value)
    except (UnicodeEncodeError, TypeError, ValueError, RecursionError):
        import json

        try:
            return json.dumps(value, ensure_ascii=False, default=str).encode("utf-8", "replace")
        except (ValueError, RecursionError):
            return b""


def set_reply(exchange: Exchange, body: Any) -> None:
    """Give an exchange its answer: text (JSON, event stream, base64) or JSON values that the log keeps decoded."""
    if isinstance(body, str):
        exchange.reply = as_bytes(body)
    elif isinstance(body, dict):
        exchange.documents = [body]
    elif isinstance(body, list):
        exchange.documents = body


def event_values(events: Any) -> list[Any]:
    """JSON values of a list of stream events, given as values or as ``{event, data}``."""
    from monitor.readers.exchange_bodies import one

    found: list[Any] = []
    for event in events if isinstance(events, list) else ():
        data = event
        if isinstance(event, dict) and "data" in event and "type" not in event:
            data = event["data"]
        if isinstance(data, str):
            data = one(data)
        if isinstance(data, dict):
            found.append(data)
    return found


def as_object(value: Any) -> dict[str, Any]:
    """A JSON object; anything else is an empty one."""
    return value if isinstance(value, dict) else {}
