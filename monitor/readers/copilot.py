"""GitHub Copilot CLI sessions: the database of all sessions, and a log of events for each.

Where: ``~/.copilot/session-store.db`` (SQLite, since 2026; opened read-only) and
``~/.copilot/session-state/<session>/events.jsonl`` (one file ``<session>.jsonl`` in older versions).

What is read: of the database, a row of ``assistant_usage_events`` for each request, subagents' too; its time is the
answer's, less what the request took. The log has no figures of single calls: ``session.shutdown`` tells what all
models used in that run (``modelMetrics``, else ``tokenDetails``); several runs of a resumed session add up. Until the
first shutdown only the output of the answers is known (``outputTokens`` of ``assistant.message``). A session without
rows in the database is shown with these totals and without a curve.
``session.compaction_complete`` and ``session.truncation`` are recorded compactions; ``session.error`` is an error.
Hosts that keep ``assistant.usage`` events too (programs built on Copilot's SDK) have a curve: each is a call, and the
totals are left out. Copilot's own telemetry (OpenTelemetry) has a curve as well; see that page.

Prompt tokens: ``inputTokens`` and ``input_tokens``, which include the cache; ``input`` of ``tokenDetails``, which does
not.

Unknown: prompts of single calls, where the database does not tell them; the context window; what a request cost (told
in units whose price is not). The sizes at the end of a session (``currentTokens``) are the client's estimate and not
used.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from monitor.readers import agent_values as look
from monitor.readers import usage
from monitor.readers.agent_values import SQLITE, JsonLines, StepLog, obj, rows, text_of, time_ms, tokens, word
from monitor.readers.base import FileContext, Head, Parser
from monitor.readers.lines import first_objects
from monitor.records import Call, Event, EventKind, Record, SessionInfo

SOURCE = "copilot"
Totals = tuple[int | None, int | None, int | None, int | None, int | None]
_NOTHING: Totals = (None, None, None, None, None)


class CopilotParser(JsonLines):
    """See the module."""

    def __init__(self, context: FileContext) -> None:
        super().__init__(context)
        path = context.path
        stem = PurePath(context.name).stem if path is not None else "stdin"
        self._session = path.parent.name if path is not None and stem == "events" and path.parent.name else stem
        self._steps = StepLog(context.options)
        self._exchange = 0
        self._model: str | None = None
        self._started: int | None = None
        self._folder: str | None = None
        self._named = False
        self._outputs: dict[str, int] = {}  # answers, as one may be told in several chunks
        self._runs: dict[str, Totals] = {}  # start of a run -> what it used
        self._curve = False
        self._dirty = False

    def row(self, value: dict[str, Any], number: int) -> None:
        kind, data = value.get("type"), obj(value.get("data"))
        time = time_ms(value.get("timestamp"))
        id = word(value.get("id"))
        if kind == "assistant.message":
            self._answer(data, time, number, id)
        elif kind == "user.message":
            self._user(data, time, number)
        elif kind == "assistant.usage":
            self._usage(data, time, number, id)
        elif kind == "tool.execution_complete":
            self._result(data, time, number)
        elif kind == "session.start":
            self._start(data)
        elif kind == "session.model_change":
            self._model = word(data.get("newModel")) or self._model
        elif kind == "session.shutdown":
            self._shutdown(data, number)
        elif kind == "session.compaction_complete":
            self._compacted(data, time, number, id)
        elif kind == "session.truncation":
            before = tokens(data.get("preTruncationTokensInMessages"))
            after = tokens(data.get("postTruncationTokensInMessages"))
            self._event("compaction", time, number, id, recorded_before=before or None, recorded_after=after or None,
                        trigger="auto")  # fmt: skip
        elif kind == "session.error":
            detail = word(data.get("statusCode")) or word(data.get("errorType")) or ""
            self._event("error", time, number, id, detail=detail[:40])

    def _start(self, data: dict[str, Any]) -> None:
        if not self._named:
            self._named = True
            self._session = word(data.get("sessionId")) or self._session
            self._started = time_ms(data.get("startTime"))
            self._folder = look.folder_name(obj(data.get("context")).get("cwd"))
        self._model = word(data.get("selectedModel")) or self._model
        self._dirty = True

    def _event(self, kind: EventKind, time: int | None, number: int, id: str | None, **more: Any) -> None:
        self.records.append(
            Event(kind=kind, evidence="recorded", session=self._session, file=self.file, line=number, time=time,
                  key=f"copilot:{kind}:{self._session}:{time}:{id}", **more)
        )  # fmt: skip

    # ------------------------------------------------------------------------------------------------ messages
    def _user(self, data: dict[str, Any], time: int | None, number: int) -> None:
        text = text_of(data.get("content"))
        if text.strip() and data.get("parentAgentTaskId") is None:
            self._exchange += 1
            self._steps.push(self._session, "main", ("user", time, number, text))

    def _answer(self, data: dict[str, Any], time: int | None, number: int, id: str | None) -> None:
        said = tokens(data.get("outputTokens"))
        name = word(data.get("messageId")) or id or f"{number}"
        if said and said > self._outputs.get(name, 0):
            self._outputs[name] = said
            self._dirty = True
        chain = _chain(data)
        asked = rows(data.get("toolRequests"))
        for request in asked:
            item = (
                "tool_call", time, number, word(request.get("toolCallId")), word(request.get("name")),
                request.get("arguments"),
            )  # fmt: skip
            self._steps.push(self._session, chain, item)
        if not asked:
            self._steps.push(self._session, chain, ("answer", time, number))

    def _result(self, data: dict[str, Any], time: int | None, number: int) -> None:
        success = data.get("success")
        ok = success if isinstance(success, bool) else None
        text = text_of(obj(data.get("result")).get("content")) or text_of(obj(data.get("error")).get("message"))
        id = word(data.get("toolCallId"))
        self._steps.push(self._session, _chain(data), ("tool_result", time, number, id, ok, text))

    # ------------------------------------------------------------------------------------------------ figures
    def _usage(self, data: dict[str, Any], time: int | None, number: int, id: str | None) -> None:
        found = _inclusive(data)
        if found.prompt is None and not found.output:
            return
        self._curve = True
        span = tokens(data.get("duration"))
        chain = _chain(data)
        call = word(data.get("apiCallId")) or word(data.get("providerCallId"))
        self.records.append(
            Call(
                session=self._session,
                source=SOURCE,
                file=self.file,
                line=number,
                chain=chain,
                call_id=call,
                key=call or f"copilot:{self._session}:{id or number}",
                time=time - span if time is not None and span is not None else time,
                duration_ms=span,
                model=word(data.get("model")) or self._model,
                prompt_tokens=found.prompt,
                fresh_tokens=found.fresh,
                cache_read_tokens=found.read,
                cache_write_tokens=found.write,
                output_tokens=found.output,
                billed_prompt_tokens=found.billed_prompt,
                exchange=self._exchange or None if chain == "main" else None,
                usage_rule=found.rule,
            )
        )

    def _compacted(self, data: dict[str, Any], time: int | None, number: int, id: str | None) -> None:
        if data.get("success") is False:
            return
        used = obj(data.get("compactionTokensUsed"))
        summary = tokens(used.get("outputTokens")) or tokens(used.get("output"))
        self._event(
            "compaction", time, number, id, recorded_before=tokens(data.get("preCompactionTokens")) or None,
            recorded_after=tokens(data.get("postCompactionTokens")) or None, summary_tokens=summary or None,
        )  # fmt: skip

    def _shutdown(self, data: dict[str, Any], number: int) -> None:
        used = [_inclusive(obj(obj(metrics).get("usage"))) for metrics in obj(data.get("modelMetrics")).values()]
        used = [found for found in used if found.prompt is not None or found.output is not None]
        details = obj(data.get("tokenDetails"))
        if not used and details:
            names = ("input", "cache_read", "cache_write", "output")
            fresh, read, write, said = (tokens(obj(details.get(name)).get("tokenCount")) for name in names)
            used = [usage.additive(fresh, read, write, said, rule="copilot")]
        if not used:
            return
        # a run that is told twice told more the second time
        run = word(data.get("sessionStartTime")) or f"line {number}"
        self._runs[run] = _add([(found.prompt, found.fresh, found.read, found.write, found.output) for found in used])
        self._dirty = True

    def take(self) -> list[Record]:
        if self._dirty:
            self._dirty = False
            self.records.append(
                SessionInfo(session=self._session, source=SOURCE, file=self.file, started=self._started,
                            cwd_name=self._folder, totals_only=None if self._curve else self._totals())
            )  # fmt: skip
        return [*super().take(), *self._steps.take()]

    def _totals(self) -> Totals | None:
        if self._runs:
            return _add(list(self._runs.values()))
        said = sum(self._outputs.values())
        return (None, None, None, None, said) if said else None


def _inclusive(found: dict[str, Any]) -> usage.Tokens:
    asked, said = tokens(found.get("inputTokens")), tokens(found.get("outputTokens"))
    read, write = tokens(found.get("cacheReadTokens")), tokens(found.get("cacheWriteTokens"))
    if not (asked or said or read or write):
        return usage.UNKNOWN
    return usage.inclusive(asked, read, write, said, rule="copilot")


def _chain(data: dict[str, Any]) -> str:
    agent = word(data.get("parentToolCallId"))
    return f"agent:{agent}" if agent is not None else "main"


def _add(parts: list[Totals]) -> Totals:
    sums = []
    for column in zip(*parts, strict=True):
        known = [value for value in column if value is not None]
        sums.append(sum(known) if known else None)
    prompt, fresh, read, write, output = sums or _NOTHING
    return prompt, fresh, read, write, output


class Copilot:
    """Reader of Copilot CLI's event logs."""

    source = SOURCE
    title = "Copilot CLI session"
    lines = True

    def sniff(self, head: Head) -> float:
        score = 0.0
        for value in first_objects(head.data, 8):
            kind, data = value.get("type"), value.get("data")
            if not isinstance(kind, str) or not isinstance(data, dict) or "timestamp" not in value:
                continue
            if kind == "session.start" and ("sessionId" in data or "copilotVersion" in data):
                return 0.95
            if kind.startswith(("session.", "assistant.", "user.message", "tool.execution")) and "id" in value:
                score = 0.85
        return score

    def parser(self, context: FileContext) -> CopilotParser:
        return CopilotParser(context)


class CopilotStore:
    """Reader of Copilot CLI's database of all sessions."""

    source = SOURCE
    title = "Copilot CLI database"
    lines = False

    def sniff(self, head: Head) -> float:
        if not head.data.startswith(SQLITE):
            return 0.0
        # what databases need is loaded where there is one
        from monitor.readers import sqlite_files

        return 0.95 if "input_tokens" in sqlite_files.tables(head).get("assistant_usage_events", "") else 0.0

    def parser(self, context: FileContext) -> Parser:
        from monitor.readers.copilot_store import CopilotStoreParser

        return CopilotStoreParser(context)


READER = Copilot()
READERS = [READER, CopilotStore()]
