"""Cline, Roo Code and Kilo Code tasks, and the session store of Cline's SDK.

Where: in VS Code's ``User/globalStorage/<extension>/tasks/<task>/ui_messages.json`` (``saoudrizwan.claude-dev``,
``rooveterinaryinc.roo-cline``, ``kilocode.kilo-code``) or ``~/.cline/data/tasks``; Cline's SDK keeps
``~/.cline/data/sessions/<id>/<id>.messages.json`` with a manifest and, after a compaction, ``<id>.compaction.json``.
Roo and Kilo are told from Cline by that folder, or by records only they write.

What is read: ``api_req_started`` rows, whose text is JSON. Figures appear when the request ends: the last row without
them is running, an earlier one failed, as did one that was cancelled with zeros. ``deleted_api_reqs`` and
``subagent_usage`` are sums over other requests and no calls. The model stands in the row, else in
``task_metadata.json`` or the conversation beside it. Compactions: a growing ``conversationHistoryDeletedRange``,
``condense_context``, ``sliding_window_truncation``, ``compaction`` and ``summarizeTask`` rows; those between two
requests are one. In the SDK's store: answers with ``metrics``; ``metadata.kind`` marks compactions.

Prompt tokens: Cline: ``tokensIn + cacheReads + cacheWrites``. Roo since 2025-10-31: ``tokensIn``, which then includes
the cache; rows up to the last one that cannot be read so (more cache than input) are added up as before. ``--source
cline`` or ``roo`` decides otherwise. SDK store: ``inputTokens``, which includes the cache.

Unknown: the context window; when a request ended; the call that condenses a conversation (only its cost is logged).
"""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from monitor.readers import agent_values as look
from monitor.readers import cline_store, usage
from monitor.readers.agent_values import JsonDocument, StepLog, head_has, obj, rows, time_ms, word
from monitor.readers.base import FileContext, Head
from monitor.readers.cline_models import ModelTimes
from monitor.readers.patterns import lazy
from monitor.records import Call, Event, Record, SessionInfo

#: when Roo began to log all input tokens as tokensIn (RooCodeInc/Roo-Code 416fa57)
ROO_INCLUSIVE_FROM = 1_761_868_800_000
_ROW = lazy(rb'"type"\s*:\s*"(?:say|ask)"')
_ROO_FOLDERS = ("roo-cline", "rooveterinaryinc", "roo-code", "kilocode", "kilo-code")
_ROO_ROWS = ("condense_context", "sliding_window_truncation", "condense_context_error")
_TYPED = ("task", "user_feedback", "user_feedback_diff")
_FIGURES = ("tokensIn", "tokensOut", "cacheReads", "cacheWrites")
_UNDONE = ("started", "running", "pending", "in_progress", "failed", "error", "cancelled", "skipped")


class _Marks:
    """What the rows between two requests say of a compaction: several marks are one compaction."""

    def __init__(self) -> None:
        self.found = False
        self.time: int | None = None
        self.before: int | None = None
        self.after: int | None = None
        self.manual: bool | None = None

    def mark(self, time: int | None, before: Any = None, after: Any = None, manual: bool | None = None) -> None:
        self.found = True
        self.time = self.time if self.time is not None else time
        self.before = look.tokens(before) if self.before is None else self.before
        self.after = look.tokens(after) if self.after is None else self.after
        self.manual = manual if manual is not None else self.manual


class TaskParser(JsonDocument):
    """See the module."""

    def __init__(self, context: FileContext, source: str) -> None:
        super().__init__(context)
        self._context = context
        self._source = source
        self._task = context.path.parent.name if context.path is not None else ""
        if not self._task:
            self._task = PurePath(context.name).stem or "stdin"
        self._steps = StepLog(context.options)
        self._exchange = 0
        self._range: int | None = None

    def document(self, value: Any) -> None:
        if isinstance(value, list):
            found = rows(value)
            if any("say" in row or "ask" in row for row in found):
                self._messages(found)
            else:
                self.companion = True  # the conversation as the provider sees it
        elif "messages" in obj(value):
            self.records += cline_store.records(obj(value), self._context, self._steps)
            self.companion = cline_store.only_events(self._context)
        else:
            self.records += cline_store.manifest(obj(value), self.file)
            self.companion = True

    def take(self) -> list[Record]:
        return [*super().take(), *self._steps.take()]

    # ------------------------------------------------------------------------------------------------ tasks
    def _messages(self, found: list[dict[str, Any]]) -> None:
        if self.options.source is None and any(row.get("say") in _ROO_ROWS for row in found):
            self._source = "roo"
        requests = [(row, _payload(row)) for row in found if row.get("say") == "api_req_started"]
        additive = self._additive_until(requests)
        models = ModelTimes(self._context.path, needed=any(not obj(row.get("modelInfo")) for row, _ in requests))
        first = next((time for row in found if (time := time_ms(row.get("ts"))) is not None), None)
        self.records.append(SessionInfo(session=self._task, source=self._source, file=self.file, started=first))
        marks = _Marks()
        place = -1
        for number, row in enumerate(found):
            if row.get("partial") is True:
                continue
            time = time_ms(row.get("ts"))
            self._deleted(row, time, marks)
            if row.get("say") != "api_req_started":
                self._other(row, number, time, marks)
                continue
            place += 1
            self._compacted(marks)
            marks = _Marks()
            last = place == len(requests) - 1
            self.records.append(self._call(row, requests[place][1], time, place < additive, last, models))
        self._compacted(marks)

    def _additive_until(self, requests: list[tuple[dict[str, Any], dict[str, Any]]]) -> int:
        """How many requests, from the first, leave the cache out of ``tokensIn``."""
        if self._source != "roo":
            return len(requests)
        until = 0
        for place, (row, payload) in enumerate(requests):
            figures = [look.tokens(payload.get(name)) or 0 for name in _FIGURES]
            time = time_ms(row.get("ts"))
            if figures[0] < figures[2] + figures[3] or (time is not None and time < ROO_INCLUSIVE_FROM):
                until = place + 1
        return until

    def _deleted(self, row: dict[str, Any], time: int | None, marks: _Marks) -> None:
        found = row.get("conversationHistoryDeletedRange")
        end = look.tokens(found[1]) if isinstance(found, list) and len(found) == 2 else None
        if end is not None:
            if end > (self._range or 0):
                marks.mark(time)
            self._range = end

    def _compacted(self, marks: _Marks) -> None:
        if marks.found:
            trigger = None if marks.manual is None else "manual" if marks.manual else "auto"
            self.records.append(
                Event(kind="compaction", evidence="recorded", session=self._task, file=self.file, time=marks.time,
                      trigger=trigger,  # type: ignore[arg-type]
                      recorded_before=marks.before, recorded_after=marks.after,
                      key=f"cline:compaction:{self._task}:{marks.time}")
            )  # fmt: skip

    def _other(self, row: dict[str, Any], number: int, time: int | None, marks: _Marks) -> None:
        say, ask, text = row.get("say"), row.get("ask"), row.get("text")
        if say in _TYPED or (number == 0 and say == "text"):
            self._exchange += 1
            self._steps.push(self._task, "main", ("user", time, None, text if isinstance(text, str) else ""))
        elif say == "condense_context":
            found = row.get("contextCondense")
            if isinstance(found, dict):
                marks.mark(time, found.get("prevContextTokens"), found.get("newContextTokens"))
        elif say == "sliding_window_truncation":
            cut = obj(row.get("contextTruncation"))
            marks.mark(time, cut.get("prevContextTokens"), cut.get("newContextTokens"), manual=False)
        elif say == "compaction":
            found = _json(text)
            if found.get("status") not in _UNDONE:
                marks.mark(time, found.get("tokensBefore"), found.get("tokensAfter"))
        elif ask == "condense":
            marks.manual = True
        else:
            self._step(say or ask, text, time, marks)

    def _step(self, kind: Any, text: Any, time: int | None, marks: _Marks) -> None:
        id = f"{time}"
        if kind == "tool":
            found = _json(text)
            name = word(found.get("tool")) or "tool"
            if name == "summarizeTask":
                marks.mark(time, manual=False)
            self._steps.push(self._task, "main", ("tool_call", time, None, id, name, found))
        elif kind == "command":
            self._steps.push(self._task, "main", ("tool_call", time, None, id, "execute_command", {"command": text}))
        elif kind == "use_mcp_server":
            self._steps.push(self._task, "main", ("tool_call", time, None, id, "use_mcp_tool", _json(text)))
        elif kind in ("command_output", "mcp_server_response"):
            shown = text if isinstance(text, str) else ""
            self._steps.push(self._task, "main", ("tool_result", time, None, "", None, shown))
        elif kind == "completion_result":
            self._steps.push(self._task, "main", ("answer", time, None))

    def _call(
        self, row: dict[str, Any], payload: dict[str, Any], time: int | None, additive: bool, last: bool,
        models: ModelTimes,
    ) -> Call:  # fmt: skip
        asked, said, read, write = (look.tokens(payload.get(name)) for name in _FIGURES)
        failed = bool(payload.get("cancelReason") or payload.get("streamingFailedMessage"))
        if not (asked or read or write):
            tokens = usage.Tokens(output=said or None, rule="unreported")
        elif additive:
            tokens = usage.additive(asked, read, write, said, rule=self._source)
        else:
            tokens = usage.inclusive(asked, read, write, said, rule=f"{self._source}+inclusive")
        status = "ok"
        if tokens.prompt is None and not said:
            ended = any(name in payload for name in _FIGURES)
            status = "error" if failed or (not ended and not last) else "ok" if ended else "in_flight"
        info = obj(row.get("modelInfo"))
        provider, model = word(info.get("providerId")), word(info.get("modelId"))
        if model is None:
            provider, model = models.at(time, provider)
        reason = payload.get("cancelReason")
        return Call(
            session=self._task,
            source=self._source,
            file=self.file,
            key=f"cline:{self._task}:{word(row.get('ts')) or len(self.records)}",
            time=time,
            provider=provider,
            model=model,
            prompt_tokens=tokens.prompt,
            fresh_tokens=tokens.fresh,
            cache_read_tokens=tokens.read,
            cache_write_tokens=tokens.write,
            output_tokens=tokens.output,
            billed_prompt_tokens=tokens.billed_prompt,
            cost_usd=look.cost(payload.get("cost")),
            status=status,  # type: ignore[arg-type]
            exchange=self._exchange or None,
            stop=reason if isinstance(reason, str) else None,
            usage_rule=tokens.rule,
        )


def _payload(row: dict[str, Any]) -> dict[str, Any]:
    return _json(row.get("text"))


def _json(text: Any) -> dict[str, Any]:
    if not isinstance(text, str):
        return {}
    try:
        return obj(look.decode(text.encode("utf-8", "replace")))
    except (ValueError, RecursionError):
        return {}


class Cline:
    """Reader of Cline's tasks and of its SDK's store."""

    source = "cline"
    title = "Cline task"
    lines = False
    _score = 0.9

    def sniff(self, head: Head) -> float:
        opening = head.data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
        if opening == b"[":
            if _ROW.search(head.data[:65536]) is not None and head_has(head, b'"ts"'):
                return self._score if self._own(head) else 0.5
            if _beside_a_task(head):
                return 0.5
        elif opening == b"{" and self.source == "cline":
            if head_has(head, b'"messages"', b'"sessionId"', b'"agent"', b'"updated_at"'):
                return 0.9
            if head_has(head, b'"session_id"', b'"messages_path"', b'"provider"'):
                return 0.9
            if head_has(head, b'"model_usage"', b'"files_in_context"') and _beside_a_task(head):
                return 0.6
        return 0.0

    def _own(self, head: Head) -> bool:
        return not is_roo(head)

    def parser(self, context: FileContext) -> TaskParser:
        return TaskParser(context, self.source)


class Roo(Cline):
    """Reader of Roo Code's and Kilo Code's tasks."""

    source = "roo"
    title = "Roo Code task"

    def _own(self, head: Head) -> bool:
        return is_roo(head)


def is_roo(head: Head) -> bool:
    """Whether the folder or the rows are Roo's (or Kilo's)."""
    name = str(head.path or head.name).lower()
    if any(folder in name for folder in _ROO_FOLDERS):
        return True
    return any(f'"{row}"'.encode() in head.data for row in _ROO_ROWS) or b'\\"apiProtocol\\"' in head.data


def _beside_a_task(head: Head) -> bool:
    names = ("api_conversation_history.json", "task_metadata.json")
    path = head.path
    return path is not None and path.name in names and (path.parent / "ui_messages.json").exists()


READERS = [Cline(), Roo()]
