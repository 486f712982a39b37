"""Aider: its analytics log and its chat history.

Where: the file given with ``--analytics-log`` (JSON lines), and ``.aider.chat.history.md`` in the project. Neither lies
in a folder that is searched without being asked: name the file or the project's folder. Give one of the two, as they
tell the same calls in ways that cannot be matched.

What is read: analytics: ``message_send`` events; a session begins with ``launched`` or ``cli session``. Chat history:
lines ``> Tokens: 12k sent, 1.2k cache write, 3k cache hit, 604 received. Cost: $0.02 message, $0.10 session.`` below
headings ``# aider chat started at …``, which begin a session; lines ``#### …`` are what the user typed. Aider rounds
from 1,000 on: such a call has the status estimated. One line or event stands for one message, retries included.

Prompt tokens: ``prompt_tokens``, or what was sent, which includes what was written to the cache and what was read from
it.

Unknown: the cache figures in analytics; times in the chat history (its headings have local times without a zone, so
only their text names the session); the context window; compactions (a weak model summarises silently).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePath
from typing import Any

from monitor.readers import agent_values as look
from monitor.readers import usage
from monitor.readers.agent_values import JsonLines, StepLog, obj, time_ms, tokens, word
from monitor.readers.base import BaseParser, FileContext, Head
from monitor.readers.lines import first_objects, strip
from monitor.readers.patterns import lazy
from monitor.readers.times import iso
from monitor.records import Call, Record, SessionInfo

SOURCE = "aider"
_BEGINS = ("launched", "cli session")
_STARTED = lazy(r"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*\Z")
_TOKENS = lazy(r"> Tokens: ([\d.,]+)([kM]?) (?:sent|request)\b(.*)")
_PART = lazy(r"([\d.,]+)([kM]?) (cache write|cache hit|received|response)\b")
_COST = lazy(r"Cost: \$([\d.,]+) (?:message|request|send)\b")
_MODEL = lazy(r"> (?:Main model|Models?): ([^\s,]+)")
_TYPED = "#### "
_FACTOR = {"": 1, "k": 1_000, "M": 1_000_000}


class AnalyticsParser(JsonLines):
    """See the module; the analytics log."""

    def __init__(self, context: FileContext) -> None:
        super().__init__(context)
        self._name = PurePath(context.name).stem if context.path is not None else "stdin"
        self._session: str | None = None
        self._sent = False  # the session has calls

    def row(self, value: dict[str, Any], number: int) -> None:
        event, time = value.get("event"), time_ms(value.get("time"))
        if event in _BEGINS:
            # "launched" comes first, "cli session" with it; both begin one session
            if event == "launched" or self._session is None or self._sent:
                self._begin(time, number)
        elif event == "message_send":
            if self._session is None:
                self._begin(time, number)
            self._sent = True
            self._send(obj(value.get("properties")), time, number)

    def _begin(self, time: int | None, number: int) -> None:
        self._sent = False
        self._session = f"{self._name} {iso(time) or f'line {number}'}"
        self.records.append(SessionInfo(session=self._session, source=SOURCE, file=self.file, started=time))

    def _send(self, found: dict[str, Any], time: int | None, number: int) -> None:
        sent, received = tokens(found.get("prompt_tokens")), tokens(found.get("completion_tokens"))
        figures = usage.inclusive(sent or None, None, None, received, rule="aider")
        self.records.append(
            Call(
                session=self._session or self._name,
                source=SOURCE,
                file=self.file,
                line=number,
                key=f"aider:{time}:{sent}:{received}:{number if time is None else ''}",
                time=time,
                model=word(found.get("main_model")),
                prompt_tokens=figures.prompt,
                fresh_tokens=figures.fresh,
                output_tokens=figures.output,
                cost_usd=look.cost(found.get("cost")),
                usage_rule=figures.rule,
            )
        )


class HistoryParser(BaseParser):
    """See the module; the chat history."""

    def __init__(self, context: FileContext) -> None:
        super().__init__(context)
        self._folder = context.path.parent.name if context.path is not None else ""
        self._session: str | None = None
        self._steps = StepLog(context.options)
        self._model: str | None = None
        self._exchange = 0
        self._typed: list[str] = []
        self._keys: dict[str, int] = {}

    def feed(self, lines: Iterable[bytes], first: int) -> None:
        number = first - 1
        for raw in lines:
            number += 1
            text = strip(raw).decode("utf-8", "replace")
            if text.startswith(_TYPED):
                self._typed.append(text[len(_TYPED) :])
                continue
            if self._typed:
                self._user(number - 1)
            if text.startswith("> Tokens:"):
                self._report(text, number)
            elif text.startswith("# aider chat started at"):
                self._begin(text)
            elif text.startswith("> M") and (found := _MODEL.match(text)) is not None:
                self._model = found.group(1)

    def _begin(self, text: str) -> None:
        found = _STARTED.match(text)
        if found is not None:
            self._session = " ".join(part for part in (self._folder, found.group(1)) if part)
            self._exchange = 0
            self._model = None
            self.records.append(
                SessionInfo(session=self._session, source=SOURCE, file=self.file, cwd_name=self._folder or None)
            )

    def _user(self, number: int) -> None:
        self._exchange += 1
        text, self._typed = "\n".join(self._typed), []
        self._steps.push(self._session or "aider", "main", ("user", None, number, text))

    def _report(self, text: str, number: int) -> None:
        found = _TOKENS.match(text)
        if found is None:
            return
        sent, rounded = _number(found.group(1), found.group(2))
        parts: dict[str, int | None] = {}
        for figure, unit, name in _PART.findall(found.group(3)):
            parts[name], also = _number(figure, unit)
            rounded = rounded or also
        received = parts.get("received", parts.get("response"))
        figures = usage.inclusive(sent, parts.get("cache hit"), parts.get("cache write"), received, rule="aider")
        price = _COST.search(text)
        session = self._session or self._folder or "aider"
        key = f"aider:{session}:{text}"
        same = self._keys[key] = self._keys.get(key, 0) + 1
        self.records.append(
            Call(
                session=session,
                source=SOURCE,
                file=self.file,
                line=number,
                key=f"{key}#{same}",
                model=self._model,
                prompt_tokens=figures.prompt,
                fresh_tokens=figures.fresh,
                cache_read_tokens=figures.read,
                cache_write_tokens=figures.write,
                output_tokens=figures.output,
                cost_usd=_cost(price.group(1)) if price is not None else None,
                status="estimated" if rounded else "ok",
                exchange=self._exchange or None,
                usage_rule=figures.rule,
            )
        )
        self._steps.push(session, "main", ("answer", None, number))

    def take(self) -> list[Record]:
        return [*super().take(), *self._steps.take()]


def _number(text: str, unit: str) -> tuple[int | None, bool]:
    """A figure of the report, and whether it was rounded."""
    try:
        value = float(text.replace(",", "").rstrip("."))
    except ValueError:
        return None, False
    return tokens(round(value * _FACTOR[unit])), unit != ""


def _cost(text: str) -> float | None:
    try:
        return look.cost(float(text.replace(",", "").rstrip(".")))
    except ValueError:
        return None


class AiderAnalytics:
    """Reader of Aider's analytics log."""

    source = SOURCE
    title = "Aider analytics log"
    lines = True

    def sniff(self, head: Head) -> float:
        score = 0.0
        for value in first_objects(head.data, 12):
            if not {"event", "properties", "time"} <= value.keys():
                continue
            if value["event"] == "message_send" or "aider_version" in obj(value["properties"]):
                return 0.9
            score = 0.6 if "user_id" in value and value["event"] in _BEGINS else score
        return score

    def parser(self, context: FileContext) -> AnalyticsParser:
        return AnalyticsParser(context)


class AiderHistory:
    """Reader of Aider's chat history."""

    source = SOURCE
    title = "Aider chat history"
    lines = True

    def sniff(self, head: Head) -> float:
        if b"# aider chat started at " in head.data[:4096]:
            return 0.9
        return 0.6 if re.search(rb"^> Tokens: [\d.,]+k? (?:sent|request)", head.data, re.MULTILINE) else 0.0

    def parser(self, context: FileContext) -> HistoryParser:
        return HistoryParser(context)


READERS = [AiderAnalytics(), AiderHistory()]
