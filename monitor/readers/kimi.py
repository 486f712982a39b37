"""Kimi CLI and Kimi Code sessions.

Where: ``~/.kimi-code/sessions/<workspace>/<session>/agents/<agent>/wire.jsonl`` (Kimi Code; the agent ``main`` and one
folder for each subagent), ``~/.kimi/sessions/<project>/<session>/wire.jsonl`` (Kimi CLI). ``context.jsonl`` beside it
holds the conversation and is not needed.

What is read: Kimi Code: ``step.end`` events with usage; ``usage.record`` lines repeat them, and stand for a call only
where no step tells it. ``llm.request`` gives the start and the model; one that is never answered failed (a call with an
error). ``context.apply_compaction`` is a recorded compaction with the sizes it states (of the messages alone); the
usage record of the summarising request has no step and gives the size of the summary. Kimi CLI: ``StatusUpdate``
messages with ``token_usage``; ``CompactionEnd`` is a recorded compaction; ``SubagentEvent`` wraps what a subagent says.

Prompt tokens: ``inputOther + inputCacheRead + inputCacheCreation``. Reasoning is part of the output.

Unknown: the context window; the model in Kimi CLI's files; reasoning tokens; sizes of a Kimi CLI compaction.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec import Struct

from monitor.readers import agent_values as look
from monitor.readers import usage
from monitor.readers.agent_values import JsonDocument, JsonLines, StepLog, obj, text_of, time_ms, tokens, word
from monitor.readers.base import FileContext, Head
from monitor.readers.lines import first_objects
from monitor.records import Call, Event, Record, SessionInfo

SOURCE = "kimi"
Vector = tuple[int | None, int | None, int | None, int | None]  # other, read, creation, output
_CODE = ("turn.prompt", "context.append_loop_event", "llm.request", "usage.record", "config.update")
_FIGURES = (
    ("inputOther", "inputCacheRead", "inputCacheCreation", "output"),
    ("input_other", "input_cache_read", "input_cache_creation", "output"),
)


class _Request(Struct, gc=False):
    """A request that was sent and not answered yet."""

    line: int
    time: int | None
    model: str | None
    exchange: int | None


class KimiParser(JsonLines):
    """See the module."""

    def __init__(self, context: FileContext) -> None:
        super().__init__(context)
        self._session, self._agent = _from_path(context.path)
        self._steps = StepLog(context.options)
        self._open: dict[str, _Request] = {}
        self._model: str | None = None
        self._provider: str | None = None
        self._exchange = 0
        self._begun: dict[str, int | None] = {}  # chain -> start of a step (Kimi CLI)
        self._compacting: dict[str, bool] = {}  # chain -> by hand
        self._summary: dict[str, int] = {}  # chain -> tokens of the summary
        self._told: dict[Vector, int] = {}  # steps whose usage record has not come yet
        #: usage records whose step has not come yet: their keys and requests
        self._records: dict[Vector, list[tuple[str, _Request | None]]] = {}
        self._started: dict[str, int | None] = {}

    def row(self, value: dict[str, Any], number: int) -> None:
        message = value.get("message")
        if isinstance(message, dict) and "payload" in message:
            self._wire(message, self._agent, time_ms(value.get("timestamp")), number)
            return
        agent = word(value.get("agentId"))
        chain = self._agent if agent in (None, "main") else f"agent:{agent}"
        time = time_ms(value.get("time"))
        self._code(value.get("type"), value, chain, time, number)

    def take(self) -> list[Record]:
        return [*super().take(), *self._steps.take()]

    # ------------------------------------------------------------------------------------------------ Kimi Code
    def _code(self, kind: Any, value: dict[str, Any], chain: str, time: int | None, number: int) -> None:
        if kind == "context.append_loop_event":
            self._loop(obj(value.get("event")), chain, time, number)
        elif kind == "llm.request":
            self._request(value, chain, time, number)
        elif kind == "usage.record":
            self._usage(value, chain, time, number)
        elif kind in ("turn.prompt", "turn.steer"):
            if obj(value.get("origin")).get("kind") in (None, "user"):
                self._user(text_of(value.get("input")), chain, time, number)
        elif kind in ("turn.cancel", "turn.ended"):
            self._unanswered(chain)
        elif kind in ("config.update", "profile.bind"):
            self._model = word(value.get("modelAlias")) or self._model
            self._info(chain, time, obj(value.get("environmentDisclosure")).get("cwd") or value.get("cwd"))
        elif kind == "metadata":
            self._info(chain, time_ms(value.get("created_at")), None)
        elif kind == "full_compaction.begin":
            self._compacting[chain] = value.get("source") == "manual"
        elif kind == "context.apply_compaction":
            self._compacted(chain, time, number, value.get("tokensBefore"), value.get("tokensAfter"))

    def _info(self, chain: str, time: int | None, folder: Any) -> None:
        name = look.folder_name(folder)
        if chain in self._started and name is None:
            return
        started = self._started.setdefault(chain, time)
        self.records.append(
            SessionInfo(
                session=self._session, source=SOURCE, file=self.file, chain=chain, started=started, cwd_name=name
            )
        )

    def _user(self, text: str, chain: str, time: int | None, number: int) -> None:
        self._unanswered(chain)
        if chain == "main" and text.strip():
            self._exchange += 1
            self._steps.push(self._session, chain, ("user", time, number, text))

    def _request(self, value: dict[str, Any], chain: str, time: int | None, number: int) -> None:
        self._provider = _provider(value.get("provider")) or self._provider
        if value.get("kind") == "compaction":
            return  # its answer is told by the compaction
        self._unanswered(chain)
        model = word(value.get("model")) or self._model
        self._open[chain] = _Request(number, time, model, self._where(chain))

    def _where(self, chain: str) -> int | None:
        return self._exchange or None if chain == "main" else None

    def _unanswered(self, chain: str) -> None:
        """A request that something else follows than its answer has failed."""
        request = self._open.pop(chain, None)
        if request is not None:
            self.records.append(
                Call(session=self._session, source=SOURCE, file=self.file, line=request.line, chain=chain,
                     key=f"kimi:failed:{self._session}:{chain}:{request.time}:{request.line}", time=request.time,
                     provider=self._provider, model=request.model, status="error", exchange=request.exchange)
            )  # fmt: skip

    def _loop(self, event: dict[str, Any], chain: str, time: int | None, number: int) -> None:
        kind = event.get("type")
        if kind == "step.end":
            found = event.get("usage")
            if isinstance(found, dict):
                self._step(event, found, chain, time, number)
            if event.get("finishReason") == "end_turn":
                self._steps.push(self._session, chain, ("answer", time, number))
        elif kind == "tool.call":
            id = word(event.get("toolCallId")) or word(event.get("uuid"))
            item = ("tool_call", time, number, id, word(event.get("name")), event.get("args"))
            self._steps.push(self._session, chain, item)
        elif kind == "tool.result":
            self._result(obj(event.get("result")), "isError", word(event.get("toolCallId")), chain, time, number)

    def _result(
        self, result: dict[str, Any], flag: str, id: str | None, chain: str, time: int | None, number: int
    ) -> None:
        failed = result.get(flag)
        ok = None if not isinstance(failed, bool) else not failed
        output = result.get("output")
        text = text_of(output) or text_of(result.get("message"))
        self._steps.push(self._session, chain, ("tool_result", time, number, id, ok, text))

    def _step(self, event: dict[str, Any], found: dict[str, Any], chain: str, time: int | None, number: int) -> None:
        vector = _vector(found)
        if not any(vector):
            return  # its request stays unanswered
        request = self._open.pop(chain, None)
        id = word(event.get("messageId"))
        waiting = self._records.get(vector)
        if waiting:
            key, request = waiting.pop()  # its usage record came first: the same call, told better
        else:
            key = id or f"kimi:{time}:{vector}"
            self._told[vector] = self._told.get(vector, 0) + 1
        model = word(event.get("model")) or (request.model if request is not None else None) or self._model
        start = request.time if request is not None and request.time is not None else time
        # a step ends when its tools have; the model was done before
        latency, stream = (tokens(event.get(f"llm{name}Ms")) for name in ("FirstTokenLatency", "StreamDuration"))
        span = latency + stream if latency is not None and stream is not None else None
        self._call(vector, chain, key, id, number, start, span, model, word(event.get("finishReason")))

    def _usage(self, value: dict[str, Any], chain: str, time: int | None, number: int) -> None:
        vector = _vector(obj(value.get("usage")))
        if value.get("usageScope") == "session":
            # not of a step: the request that made the summary
            if chain in self._compacting and vector[3]:
                self._summary[chain] = vector[3]
            return
        if not any(vector):
            return
        if self._told.get(vector):
            self._told[vector] -= 1
            return
        request = self._open.pop(chain, None)
        start = request.time if request is not None and request.time is not None else time
        key = f"kimi:{time}:{vector}"
        self._records.setdefault(vector, []).append((key, request))
        model = (request.model if request is not None else None) or word(value.get("model"))
        self._call(vector, chain, key, None, number, start, None, model, None)

    def _compacted(self, chain: str, time: int | None, number: int, before: Any, after: Any) -> None:
        by_hand = self._compacting.pop(chain, None)
        trigger = None if by_hand is None else "manual" if by_hand else "auto"
        self.records.append(
            Event(kind="compaction", evidence="recorded", session=self._session, chain=chain, file=self.file,
                  line=number, time=time, trigger=trigger,  # type: ignore[arg-type]
                  recorded_before=tokens(before), recorded_after=tokens(after),
                  summary_tokens=self._summary.pop(chain, None),
                  key=f"kimi:compaction:{self._session}:{chain}:{time}")
        )  # fmt: skip

    def _call(
        self, vector: Vector, chain: str, key: str, id: str | None, number: int, start: int | None, span: int | None,
        model: str | None, stop: str | None, limit: int | None = None, compacting: bool = False,
    ) -> None:  # fmt: skip
        other, read, write, output = vector
        found = usage.additive(other, read, write, output, rule="kimi")
        self.records.append(
            Call(
                session=self._session,
                source=SOURCE,
                file=self.file,
                line=number,
                chain="side" if compacting else chain,
                call_id=id,
                key=key,
                time=start,
                duration_ms=span,
                provider=self._provider or "moonshot",
                model=model,
                prompt_tokens=found.prompt,
                fresh_tokens=found.fresh,
                cache_read_tokens=found.read,
                cache_write_tokens=found.write,
                output_tokens=found.output,
                billed_prompt_tokens=found.billed_prompt,
                context_limit=limit,
                purpose="compaction" if compacting else "work",
                exchange=self._where(chain),
                stop=stop,
                usage_rule=found.rule,
            )
        )

    # ------------------------------------------------------------------------------------------------ Kimi CLI
    def _wire(self, message: dict[str, Any], chain: str, time: int | None, number: int, depth: int = 0) -> None:
        kind, payload = message.get("type"), obj(message.get("payload"))
        if kind == "StatusUpdate":
            self._status(payload, chain, time, number)
        elif kind in ("TurnBegin", "SteerInput"):
            self._user(text_of(payload.get("user_input")), chain, time, number)
        elif kind == "StepBegin":
            self._begun[chain] = time
        elif kind == "CompactionBegin":
            self._compacting[chain] = False
        elif kind == "CompactionEnd":
            self._compacting.pop(chain, None)
            self._compacted(chain, time, number, None, None)
        elif kind == "ToolCall":
            asked = obj(payload.get("function"))
            item = ("tool_call", time, number, word(payload.get("id")), word(asked.get("name")), asked.get("arguments"))
            self._steps.push(self._session, chain, item)
        elif kind == "ToolResult":
            id = word(payload.get("tool_call_id"))
            self._result(obj(payload.get("return_value")), "is_error", id, chain, time, number)
        elif kind == "SubagentEvent" and depth < 8:
            agent = word(payload.get("agent_id")) or word(payload.get("task_tool_call_id"))
            agent = agent or word(payload.get("parent_tool_call_id"))
            self._wire(obj(payload.get("event")), f"agent:{agent or 'subagent'}", time, number, depth + 1)

    def _status(self, payload: dict[str, Any], chain: str, time: int | None, number: int) -> None:
        vector = _vector(obj(payload.get("token_usage")))
        if not any(vector):
            return  # only how full the context is
        id = word(payload.get("message_id"))
        key = id or f"kimi:{self._session}:{time}:{vector}"
        start = self._begun.pop(chain, None)
        limit = tokens(payload.get("max_context_tokens")) or None
        compacting = chain in self._compacting
        span = time - start if time is not None and start is not None and time >= start else None
        begun = start if start is not None else time
        self._call(vector, chain, key, id, number, begun, span, None, None, limit, compacting)


def _vector(found: dict[str, Any]) -> Vector:
    names = _FIGURES[0] if "inputOther" in found or "inputCacheRead" in found else _FIGURES[1]
    other, read, write, output = (tokens(found.get(name)) for name in names)
    return other, read, write, output


def _provider(value: Any) -> str | None:
    found = word(value)
    return "moonshot" if found in ("kimi", "moonshot-ai", "moonshot") else found


def _from_path(path: Path | None) -> tuple[str, str]:
    """Session and chain by the folder: ``<session>/agents/<agent>/wire.jsonl`` or ``<session>/wire.jsonl``."""
    if path is None:
        return "stdin", "main"
    if path.name != "wire.jsonl":
        return path.stem, "main"
    folder = path.parent
    if folder.parent.name in ("agents", "subagents"):
        return folder.parent.parent.name or "kimi", "main" if folder.name == "main" else f"agent:{folder.name}"
    return folder.name or "kimi", "main"


class KimiContextParser(JsonDocument):
    """``context.jsonl``: the conversation, whose calls are told by ``wire.jsonl`` beside it."""

    companion = True

    def read(self, context: FileContext) -> None:
        self.companion = context.path is not None and context.path.with_name("wire.jsonl").exists()

    def document(self, value: Any) -> None:
        return


class Kimi:
    """Reader of Kimi's wire logs."""

    source = SOURCE
    title = "Kimi session"
    lines = True

    def sniff(self, head: Head) -> float:
        score = 0.0
        for value in first_objects(head.data, 12):
            kind = value.get("type")
            message = value.get("message")
            if kind == "metadata" and "protocol_version" in value:
                score = max(score, 0.85)
            elif kind in _CODE and ("time" in value or "agentId" in value):
                score = max(score, 0.9)
            elif isinstance(message, dict) and "payload" in message and "timestamp" in value and kind is None:
                score = max(score, 0.9 if message.get("type") in ("TurnBegin", "StepBegin", "StatusUpdate") else 0.5)
        return score

    def parser(self, context: FileContext) -> KimiParser:
        return KimiParser(context)


class KimiContext:
    """Knows Kimi's ``context.jsonl``, so that it is not reported as unknown."""

    source = SOURCE
    title = "Kimi conversation"
    lines = False

    def sniff(self, head: Head) -> float:
        own = ("_checkpoint", "_usage", "_system_prompt")
        return 0.8 if any(value.get("role") in own for value in first_objects(head.data, 8)) else 0.0

    def parser(self, context: FileContext) -> KimiContextParser:
        return KimiContextParser(context)


READERS = [Kimi(), KimiContext()]
