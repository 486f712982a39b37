"""Pi session files.

Where: ``$PI_CODING_AGENT_DIR/sessions`` or ``~/.pi/agent/sessions``: ``--<cwd>--/<time>_<id>.jsonl``. Forks of Pi
(oh-my-pi, OpenClaw) write the same records elsewhere.

What is read: a ``session`` header, then entries; ``message`` entries of role assistant carry usage. ``compaction``
entries mark compactions (``tokensBefore`` is prompt plus output of the last call). Version 1 is linear, later versions
are a tree written in place: an entry whose parent is not the entry before it is a rewind.

Prompt tokens: ``input + cacheRead + cacheWrite`` (additive for every provider). Rows that are all zero (aborted,
failed) were sent but carry no usage: calls with an error and unknown tokens.

Unknown: the context window; reasoning tokens; the summarising calls of a compaction (not logged).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from pathlib import PurePath
from typing import Any

import msgspec
from msgspec import Raw, Struct

from monitor.readers import steps, usage
from monitor.readers.base import BaseParser, FileContext, Head
from monitor.readers.claude_lines import clean
from monitor.readers.forgotten import Latest
from monitor.readers.lines import first_objects
from monitor.readers.overflow import too_long
from monitor.readers.times import to_ms
from monitor.records import Call, Event, Record, SessionInfo, Step

SOURCE = "pi"
RECENT_STEPS = 40
_any = msgspec.json.Decoder().decode
_ENTRIES = frozenset(("message", "compaction", "model_change", "thinking_level_change", "branch_summary", "custom",
                      "custom_message", "label", "session_info"))  # fmt: skip


class Cost(Struct, gc=False):
    total: float | None = None


class Usage(Struct, gc=False):
    input: int | None = None
    output: int | None = None
    cacheRead: int | None = None
    cacheWrite: int | None = None
    reasoning: int | None = None
    cost: Cost | None = None


class Block(Struct, gc=False):
    type: str = ""
    id: str | None = None
    name: str | None = None
    text: str | None = None
    arguments: Raw = Raw()


class Message(Struct, gc=False):
    role: str | None = None
    provider: str | None = None
    model: str | None = None
    usage: Usage | None = None
    stopReason: str | None = None
    errorMessage: str | None = None
    timestamp: int | float | str | None = None
    responseId: str | None = None
    toolCallId: str | None = None
    toolName: str | None = None
    isError: bool | None = None
    content: str | list[Block] | None = None


class Line(Struct, gc=False):
    type: str | None = None
    id: str | None = None
    parentId: str | None = None
    timestamp: int | float | str | None = None
    version: int | None = None
    cwd: str | None = None
    parentSession: str | None = None
    branchedFrom: str | None = None
    provider: str | None = None
    modelId: str | None = None
    tokensBefore: int | None = None
    fromId: str | None = None
    message: Message | None = None


_decode = msgspec.json.Decoder(Line).decode


class PiParser(BaseParser):
    """See the module."""

    def __init__(self, context: FileContext) -> None:
        super().__init__(context)
        self._session = PurePath(context.name).stem if context.path else "stdin"
        self._model: str | None = None
        self._provider: str | None = None
        self._last_entry: str | None = None
        self._started: int | None = None
        self._exchange = 0
        self._keys: Latest[int] = Latest()
        self._user_open = False
        self._raw_steps: deque[tuple[Any, ...]] = deque(maxlen=None if self.options.detail else RECENT_STEPS)

    def feed(self, lines: Iterable[bytes], first: int) -> None:
        number = first - 1
        for raw in lines:
            number += 1
            try:
                line = _decode(raw)
            except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
                self._slow(raw, number)
                continue
            self._line(line, number)

    def _slow(self, raw: bytes, number: int) -> None:
        for value in self.values_of(raw, number):
            if isinstance(value, dict):
                try:
                    line = msgspec.convert(_any(clean(_tolerant(value))), Line, strict=False)
                except msgspec.ValidationError:
                    self.problem(number, "this entry has an unexpected shape; it was skipped")
                    continue
                self._line(line, number)

    def _line(self, line: Line, number: int) -> None:
        kind = line.type
        if kind == "session":
            self._header(line)
            return
        if kind not in _ENTRIES:
            return
        time = to_ms(line.timestamp)
        if line.id is not None:
            if line.parentId is not None and self._last_entry is not None and line.parentId != self._last_entry:
                self._event("rewind", time, number, f"rewind:{line.id}")
            self._last_entry = line.id
        if kind == "message" and line.message is not None:
            self._message(line.message, time, number)
        elif kind == "model_change":
            self._provider, self._model = line.provider or self._provider, line.modelId or self._model
        elif kind == "compaction":
            self._event(
                "compaction",
                time,
                number,
                f"compaction:{line.timestamp}:{line.tokensBefore}",
                line.tokensBefore,
            )

    def _header(self, line: Line) -> None:
        if self._started is None and line.id:
            self._session = line.id
        self._started = to_ms(line.timestamp)
        self._provider, self._model = line.provider or self._provider, line.modelId or self._model
        parent = line.parentSession or line.branchedFrom
        if parent:
            # a path to the parent's file, or its id
            parent = PurePath(parent.replace("\\", "/")).stem.rpartition("_")[2]
        name = PurePath(line.cwd.replace("\\", "/")).name if line.cwd else None
        self.records.append(
            SessionInfo(session=self._session, source=SOURCE, file=self.file, parent=parent or None,
                        started=self._started, cwd_name=name)
        )  # fmt: skip

    def _event(self, kind: Any, time: int | None, number: int, key: str, before: int | None = None) -> None:
        self.records.append(
            Event(kind=kind, evidence="recorded", session=self._session, file=self.file, line=number, time=time,
                  recorded_before=usage.count(before), key=key)
        )  # fmt: skip

    def _message(self, message: Message, time: int | None, number: int) -> None:
        role = message.role
        if role == "assistant":
            self._assistant(message, time, number)
        elif role == "user":
            if not self._user_open:
                self._exchange += 1
                self._user_open = True
            self._raw_steps.append(("user", number, time, _text(message.content)))
        elif role == "toolResult":
            ok = None if message.isError is None else not message.isError
            self._raw_steps.append(("tool_result", number, time, message.toolCallId, ok, _text(message.content)))

    def _assistant(self, message: Message, time: int | None, number: int) -> None:
        found = message.usage or Usage()
        fresh, output = usage.count(found.input), usage.count(found.output)
        read, write = usage.count(found.cacheRead), usage.count(found.cacheWrite)
        failed = message.stopReason in ("error", "aborted")
        zero = not (fresh or read or write)
        tokens = usage.UNKNOWN if zero else usage.additive(fresh, read, write, output, rule="pi",
                                                           reasoning=usage.count(found.reasoning))  # fmt: skip
        # the entry's own time orders calls (parallel ones are stamped before they are written)
        start = time if time is not None else to_ms(message.timestamp)
        model, provider = message.model or self._model, message.provider or self._provider
        sums = f"{model}:{fresh}:{read}:{write}:{output}"
        cost = found.cost.total if found.cost is not None else None
        blocks = message.content if isinstance(message.content, list) else []
        key = message.responseId or f"pi:{message.timestamp or time}:{sums}"
        # two answers of one millisecond with the same figures are two calls; copies keep the order
        self.reread |= self._keys.knew(key)
        same = self._keys[key] = self._keys.get(key, 0) + 1
        self._user_open = False
        # by position, see monitor.records
        self.records.append(
            Call(
                self._session,
                SOURCE,
                self.file,
                number,
                "main",
                "explicit",
                message.responseId,
                key if same == 1 else f"{key}#{same}",
                start,
                None,  # duration_ms
                provider,
                model,
                tokens.prompt,
                tokens.fresh,
                tokens.read,
                tokens.write,
                None,  # cache_write_1h_tokens
                tokens.output if not zero else (output or None),
                reasoning_tokens=tokens.reasoning,
                billed_prompt_tokens=tokens.billed_prompt,
                cost_usd=cost if cost else None,
                status="error" if failed and zero else "ok",
                exchange=self._exchange or None,
                stop=message.stopReason,
                usage_rule=tokens.rule,
            )
        )
        if failed and too_long(message.errorMessage):
            self.records.append(
                Event(kind="overflow", evidence="recorded", session=self._session, file=self.file, line=number,
                      time=start, key=f"{key}:overflow")
            )  # fmt: skip
        calls = [block for block in blocks if block.type == "toolCall"]
        for block in calls:
            self._raw_steps.append(("tool_call", number, time, block.id, block.name, block.arguments))
        if not calls and message.stopReason == "stop":
            self._raw_steps.append(("answer", number, time))

    def take(self) -> list[Record]:
        out = super().take()
        if self.forgets:
            self._keys.trim()
        out.extend(self._step(item) for item in self._raw_steps)
        self._raw_steps.clear()
        return out

    def _step(self, item: tuple[Any, ...]) -> Step:
        kind, number, time = item[:3]
        where = (self._session, "main", time, number)
        if kind == "tool_call":
            return steps.tool_call(*where, item[3] or "", item[4] or "", bytes(item[5]))
        if kind == "tool_result":
            return steps.tool_result(*where, item[3] or "", item[4], item[5])
        if kind == "user":
            return steps.user(*where, item[3])
        return steps.answer(*where)


def _text(content: str | list[Block] | None) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(block.text or "" for block in content or ())


def _tolerant(value: dict[str, Any]) -> dict[str, Any]:
    """Figures of a refused entry as counts, fields of a wrong type left out."""
    out = {name: item for name, item in value.items() if name in Line.__struct_fields__}
    out["tokensBefore"] = usage.count(out.get("tokensBefore"))
    if not isinstance(out.get("version"), int):
        out.pop("version", None)
    for name in ("id", "parentId", "cwd", "parentSession", "branchedFrom", "provider", "modelId", "fromId"):
        if not isinstance(out.get(name), str):
            out.pop(name, None)
    message = out.pop("message", None)
    if isinstance(message, dict):
        message = {name: item for name, item in message.items() if name in Message.__struct_fields__}
        found = message.get("usage")
        if isinstance(found, dict):
            names = ("input", "output", "cacheRead", "cacheWrite", "reasoning")
            message["usage"] = {name: usage.count(found.get(name)) for name in names}
        else:
            message.pop("usage", None)
        content = message.get("content")
        if isinstance(content, list):
            message["content"] = [block for block in content if isinstance(block, dict)]
        out["message"] = message
    return out


class Pi:
    """Reader of Pi session files."""

    source = SOURCE
    title = "Pi session"
    lines = True

    def sniff(self, head: Head) -> float:
        objects_ = list(first_objects(head.data, 12))
        for place, value in enumerate(objects_):
            if value.get("type") == "session" and "id" in value and ("cwd" in value or "timestamp" in value):
                if "trace_id" in value:
                    return 0.0  # LHAR
                return 0.95 if place == 0 else 0.7
        for value in objects_:
            message = value.get("message")
            if value.get("type") == "message" and isinstance(message, dict) and "role" in message:
                found = message.get("usage")
                if isinstance(found, dict) and "cacheRead" in found:
                    return 0.8
        return 0.0

    def parser(self, context: FileContext) -> PiParser:
        return PiParser(context)


READER = Pi()
