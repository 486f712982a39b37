"""Qwen Code chats and its usage files.

Where: ``~/.qwen/projects/<project>/chats/<session>.jsonl``, subagents' transcripts beside them, and
``~/.qwen/usage/token-usage-<month>.jsonl`` with one row for each call of all sessions.

What is read: ``assistant`` lines with ``usageMetadata``. Before each stands a ``ui_telemetry`` line (``api_response``)
with the same figures: one call, for which it gives response id, start and duration. Telemetry of subagents (which have
no other lines in the chat) is a call of their chain; telemetry without an answer is a side call (titles, suggestions).
It is a summary (purpose compaction) if its prompt id or its text says so, or if it stands right before a
``chat_compression`` line, which is a recorded compaction. ``api_error`` is a failed call, ``rewind`` a rewind. A row of
the usage file is the same call again.

Identity: session, figures and, where a session has the same figures twice, their order: times differ by milliseconds
between the places. Lines that a branch copied (``forkedFrom``) belong to the session that made them.

Prompt tokens: ``promptTokenCount``, which includes ``cachedContentTokenCount``. Output: ``candidatesTokenCount`` and,
where the total shows that they stand outside, ``thoughtsTokenCount``. No cache writes are told (0).

Unknown: the context window in versions that do not write ``contextWindowSize``. Telemetry whose figures are all zero,
and the answer without figures after it, come from a server that reports none: the tokens are unknown.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath
from typing import Any, Literal

from msgspec import Struct

from monitor.readers import agent_values as look
from monitor.readers import usage
from monitor.readers.agent_values import JsonLines, StepLog, obj, rows, text_of, time_ms, tokens, word
from monitor.readers.base import FileContext, Head
from monitor.readers.gemini_cli import gemini_tokens
from monitor.readers.lines import first_objects
from monitor.readers.overflow import too_long
from monitor.readers.qwen_origins import Origins
from monitor.records import Call, Event, EventKind, Purpose, Record, SessionInfo

SOURCE = "qwen-code"
Vector = tuple[int | None, int | None, int | None]  # prompt, output as logged, cached
_NONE: Vector = (0, 0, 0)  # telemetry of an answer whose figures were not told
#: user lines that nobody typed
_NOT_TYPED = ("notification", "background_task_completed", "cron", "agent_launch_prompt", "agent_bootstrap")
_SNAPSHOT = "<state_snapshot>"
_TRIGGERS: dict[object, Literal["auto", "manual"]] = {"manual": "manual", "token_limit": "auto"}
_API_RESPONSE, _API_ERROR = "qwen-code.api_response", "qwen-code.api_error"


class _Told(Struct, gc=False):
    """A call as telemetry told it, until its answer is seen."""

    vector: Vector
    event: dict[str, Any]
    line: int
    session: str
    origin: str
    exchange: int | None


class QwenParser(JsonLines):
    """See the module."""

    def __init__(self, context: FileContext) -> None:
        super().__init__(context)
        self._session = PurePath(context.name).stem if context.path else "stdin"
        self._steps = StepLog(context.options)
        self._exchange = 0
        self._has_messages = False
        self._open: list[_Told] = []  # telemetry whose answer has not come yet
        self._early: dict[Vector, int] = {}  # answers that came before their telemetry
        self._count: dict[tuple[str, Vector], int] = {}
        self._infos: set[tuple[str, str]] = set()
        self._compressing = False
        self._origins = Origins(context.path)

    def row(self, value: dict[str, Any], number: int) -> None:
        if "schemaVersion" in value and "inputTokens" in value:
            self._usage_row(value, number)
            return
        session = word(value.get("sessionId")) or self._session
        kind = value.get("type")
        time = time_ms(value.get("timestamp"))
        chain = self._chain(value)
        if kind == "assistant":
            self._info(value, session, chain)
            self._answer(value, session, chain, time, number)
        elif kind == "user":
            self._info(value, session, chain)
            self._user(value, session, chain, time, number)
        elif kind == "tool_result":
            self._result(value, session, chain, time, number)
        elif kind == "system":
            self._system(value, session, chain, time, number)

    def take(self) -> list[Record]:
        return [*super().take(), *self._steps.take()]

    @staticmethod
    def _chain(value: dict[str, Any]) -> str:
        agent = word(value.get("agentId"))
        if agent is not None and value.get("isSidechain") is not False:
            return f"agent:{agent}"
        return "agent:inline" if value.get("isSidechain") is True else "main"

    def _info(self, value: dict[str, Any], session: str, chain: str) -> None:
        if (session, chain) not in self._infos:
            self._infos.add((session, chain))
            self.records.append(
                SessionInfo(session=session, source=SOURCE, file=self.file, chain=chain,
                            parent=word(obj(value.get("forkedFrom")).get("sessionId")),
                            cwd_name=look.folder_name(value.get("cwd")))
            )  # fmt: skip

    # ------------------------------------------------------------------------------------------------ messages
    def _user(self, value: dict[str, Any], session: str, chain: str, time: int | None, number: int) -> None:
        text = text_of(obj(value.get("message")).get("parts"))
        made_up = value.get("subtype") in _NOT_TYPED or value.get("provenance") not in (None, "real_user")
        if chain != "main" or made_up or not text.strip():
            return
        self._has_messages = True
        self._exchange += 1
        self._steps.push(session, chain, ("user", time, number, text))

    def _result(self, value: dict[str, Any], session: str, chain: str, time: int | None, number: int) -> None:
        found = obj(value.get("toolCallResult"))
        status = found.get("status")
        ok = True if status == "success" else False if status in ("error", "cancelled") else None
        for part in rows(obj(value.get("message")).get("parts")):
            answered = obj(part.get("functionResponse"))
            response = obj(answered.get("response"))
            text = response.get("output", response.get("error"))
            id = word(answered.get("id")) or word(found.get("callId"))
            shown = text if isinstance(text, str) else ""
            self._steps.push(session, chain, ("tool_result", time, number, id, ok, shown))

    def _answer(self, value: dict[str, Any], session: str, chain: str, time: int | None, number: int) -> None:
        calls = False
        for part in rows(obj(value.get("message")).get("parts")):
            asked = part.get("functionCall")
            if isinstance(asked, dict):
                calls = True
                item = ("tool_call", time, number, word(asked.get("id")), word(asked.get("name")), asked.get("args"))
                self._steps.push(session, chain, item)
        if not calls:
            self._steps.push(session, chain, ("answer", time, number))
        found = value.get("usageMetadata")
        if not isinstance(found, dict) or not found:
            if chain != "main" or not any(told.vector == _NONE for told in self._open):
                return  # nothing says that a request was made
            found = {"promptTokenCount": 0, "candidatesTokenCount": 0}
        vector = _vector(found, "promptTokenCount", "candidatesTokenCount", "cachedContentTokenCount")
        figures = gemini_tokens(
            found.get("promptTokenCount"), found.get("candidatesTokenCount"), found.get("cachedContentTokenCount"),
            found.get("thoughtsTokenCount"), found.get("toolUsePromptTokenCount"), found.get("totalTokenCount"),
            "qwen-code",
        )  # fmt: skip
        told = self._matching(vector) if chain == "main" else None
        exchange = self._exchange if chain == "main" and self._has_messages else None
        event = told.event if told is not None else {}
        end = time_ms(event.get("event.timestamp"))
        if chain == "main" and told is None:
            self._early[vector] = self._early.get(vector, 0) + 1
        key = self._key(self._origins.of(value) or session, vector)
        limit = tokens(value.get("contextWindowSize"))
        self._call(
            figures, session, chain, "work", key, number, exchange, word(value.get("model")), event,
            end if end is not None else time, limit or None,
        )  # fmt: skip

    def _matching(self, vector: Vector) -> _Told | None:
        """The telemetry of this answer; what was told before it and has no answer were calls beside the talk."""
        for place, told in enumerate(self._open):
            if told.vector == vector:
                for beside in self._open[:place]:
                    self._beside(beside)
                del self._open[: place + 1]
                return told
        return None

    def _call(
        self, figures: usage.Tokens, session: str, chain: str, purpose: Purpose, key: str, number: int,
        exchange: int | None, model: str | None, event: dict[str, Any], end: int | None, limit: int | None,
    ) -> None:  # fmt: skip
        span = tokens(event.get("duration_ms"))
        start = end - span if end is not None and span is not None else end
        self.records.append(
            Call(
                session=session,
                source=SOURCE,
                file=self.file,
                line=number,
                chain=chain,
                call_id=word(event.get("response_id")),
                key=key,
                time=start,
                duration_ms=span,
                model=model,
                prompt_tokens=figures.prompt,
                fresh_tokens=figures.fresh,
                cache_read_tokens=figures.read,
                cache_write_tokens=figures.write,
                output_tokens=figures.output,
                reasoning_tokens=figures.reasoning,
                billed_prompt_tokens=figures.billed_prompt,
                context_limit=limit,
                purpose=purpose,
                exchange=exchange,
                usage_rule=figures.rule,
            )
        )

    # ------------------------------------------------------------------------------------------------ telemetry
    def _system(self, value: dict[str, Any], session: str, chain: str, time: int | None, number: int) -> None:
        subtype = value.get("subtype")
        payload = obj(value.get("systemPayload"))
        if subtype == "ui_telemetry":
            self._telemetry(obj(payload.get("uiEvent")), session, self._origins.of(value) or session, number)
        elif subtype == "slash_command":
            command = payload.get("rawCommand")
            if isinstance(command, str) and payload.get("phase") != "result":
                self._compressing = command.strip().lower().startswith(("/compress", "/summarize"))
                self._steps.push(session, chain, ("user", time, number, command))
        elif subtype == "chat_compression":
            self._compressed(obj(payload.get("info")), session, chain, time, number)
        elif subtype == "rewind":
            self._event("rewind", session, chain, time, number, word(value.get("uuid")))

    def _event(
        self, kind: EventKind, session: str, chain: str, time: int | None, number: int, id: str | None, **more: Any
    ) -> None:
        self.records.append(
            Event(kind=kind, evidence="recorded", session=session, chain=chain, file=self.file, line=number, time=time,
                  key=f"qwen:{kind}:{id or time}", **more)
        )  # fmt: skip

    def _compressed(self, info: dict[str, Any], session: str, chain: str, time: int | None, number: int) -> None:
        if self._open:
            self._told(self._open.pop(), "side", "compaction")  # the request that made the summary
        if info.get("compressionStatus") in (1, "COMPRESSED", "compressed", None):
            before, after = tokens(info.get("originalTokenCount")), tokens(info.get("newTokenCount"))
            self._event(
                "compaction", session, chain, time, number, f"{time}:{before}", recorded_before=before or None,
                recorded_after=after or None,
                trigger=_TRIGGERS.get(word(info.get("triggerReason")), "manual" if self._compressing else "auto"),
            )  # fmt: skip
        self._compressing = False

    def _telemetry(self, event: dict[str, Any], session: str, origin: str, number: int) -> None:
        name = event.get("event.name")
        if name == _API_ERROR:
            self._failed(event, session, origin, number)
            return
        if name != _API_RESPONSE:
            return
        vector = _vector(event, "input_token_count", "output_token_count", "cached_content_token_count")
        exchange = self._exchange if self._has_messages else None
        told = _Told(vector, event, number, session, origin, exchange)
        agent = word(event.get("subagent_id")) or word(event.get("subagent_name"))
        if agent is not None:
            self._told(told, f"agent:{agent}", "work")
        elif self._early.get(vector):
            self._early[vector] -= 1
        else:
            self._open.append(told)

    def _beside(self, told: _Told) -> None:
        said = told.event.get("response_text")
        compressing = "compress" in (word(told.event.get("prompt_id")) or "").lower()
        compressing |= isinstance(said, str) and _SNAPSHOT in said
        self._told(told, "side", "compaction" if compressing else "side")

    def _told(self, told: _Told, chain: str, purpose: Purpose) -> None:
        event = told.event
        if not any(told.vector):
            return
        figures = gemini_tokens(
            event.get("input_token_count"), event.get("output_token_count"), event.get("cached_content_token_count"),
            event.get("thoughts_token_count"), event.get("tool_token_count"), event.get("total_token_count"),
            "qwen-code",
        )  # fmt: skip
        exchange = told.exchange if chain == "side" else None
        self._call(
            figures, told.session, chain, purpose, self._key(told.origin, told.vector), told.line, exchange,
            word(event.get("model")), event, time_ms(event.get("event.timestamp")), None,
        )  # fmt: skip

    def _failed(self, event: dict[str, Any], session: str, origin: str, number: int) -> None:
        time = time_ms(event.get("event.timestamp"))
        agent = word(event.get("subagent_id")) or word(event.get("subagent_name"))
        self.records.append(
            Call(session=session, source=SOURCE, file=self.file, line=number, status="error", time=time,
                 chain=f"agent:{agent}" if agent is not None else "main", model=word(event.get("model")),
                 key=f"qwen:error:{origin}:{time}:{number if time is None else ''}",
                 stop=word(event.get("status_code")) or word(event.get("error_type")),
                 exchange=self._exchange if self._has_messages and agent is None else None)
        )  # fmt: skip
        if too_long(event.get("error_message"), event.get("error")):
            self.records.append(
                Event(kind="overflow", evidence="recorded", session=session, file=self.file, line=number, time=time,
                      chain=f"agent:{agent}" if agent is not None else "main", key=f"qwen:overflow:{origin}:{time}")
            )  # fmt: skip

    def _key(self, session: str, vector: Vector) -> str:
        """What all places that tell a call agree on; see the module."""
        place = self._count[(session, vector)] = self._count.get((session, vector), 0) + 1
        return f"qwen:{session}:{vector[0]}:{vector[1]}:{vector[2]}#{place}"

    # ------------------------------------------------------------------------------------------------ usage file
    def _usage_row(self, value: dict[str, Any], number: int) -> None:
        vector = _vector(value, "inputTokens", "outputTokens", "cachedTokens")
        session = word(value.get("sessionId")) or self._session
        if not any(vector):
            return
        figures = gemini_tokens(
            value.get("inputTokens"), value.get("outputTokens"), value.get("cachedTokens"),
            value.get("thoughtsTokens"), None, value.get("totalTokens"), "qwen-code",
        )  # fmt: skip
        origin = word(value.get("source")) or "main"
        event = {"duration_ms": value.get("apiDurationMs")}
        self._call(
            figures, session, "main" if origin == "main" else f"agent:{origin}", "work", self._key(session, vector),
            number, None, word(value.get("model")), event, time_ms(value.get("timestamp")), None,
        )  # fmt: skip


def _vector(found: dict[str, Any], prompt: str, output: str, cached: str) -> Vector:
    return tokens(found.get(prompt)), tokens(found.get(output)), tokens(found.get(cached)) or 0


class QwenCode:
    """Reader of Qwen Code's chats and usage files."""

    source = SOURCE
    title = "Qwen Code session"
    lines = True

    def sniff(self, head: Head) -> float:
        return max(_scores(head), default=0.0)

    def parser(self, context: FileContext) -> QwenParser:
        return QwenParser(context)


def _scores(head: Head) -> Iterator[float]:
    for value in first_objects(head.data, 12):
        if "sessionId" not in value:
            continue
        if "schemaVersion" in value and "inputTokens" in value and ("localDate" in value or "authType" in value):
            yield 0.95
        if "uuid" in value and "parentUuid" in value:
            if "usageMetadata" in value or "systemPayload" in value:
                yield 0.95
            message = value.get("message")
            if isinstance(message, dict) and ("parts" in message or message.get("role") == "model"):
                yield 0.92


READER = QwenCode()
