"""Pi session files.

Where: ``$PI_CODING_AGENT_DIR/sessions`` or ``~/.pi/agent/sessions``: ``--<cwd>--/<time>_<id>.jsonl``. Forks of Pi
(oh-my-pi, OpenClaw) write the same records elsewhere.

What is read: a ``session`` header, then entries; ``message`` entries of role assistant carry usage. ``compaction``
entries mark compactions (``tokensBefore`` is prompt plus output of the last call); newer versions tell what the
summarising request used, as of the summary of a branch that was left (``branch_summary``). Version 1 is linear, later
versions are a tree written in place: an entry whose parent is not the entry before it is a rewind.

Prompt tokens: ``input + cacheRead + cacheWrite`` (additive for every provider; only of OpenAI's models on Bedrock Pi
copies an input that holds the cache, and OpenClaw where the total proves it). Rows that are all zero (aborted, failed)
were sent but carry no usage: calls with an error and unknown tokens.

Unknown: the context window; reasoning tokens and the summarising calls of a compaction in older versions.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from pathlib import PurePath
from typing import Any, Literal

import msgspec

from monitor.readers import pi_lines as shape
from monitor.readers import steps, usage
from monitor.readers.base import BaseParser, FileContext, Head
from monitor.readers.forgotten import Latest
from monitor.readers.lines import first_objects
from monitor.readers.overflow import too_long
from monitor.readers.times import to_ms
from monitor.records import Call, Event, Record, SessionInfo, Step

SOURCE = "pi"
RECENT_STEPS = 40
#: entries noted for them: not every answer is a step
_NOTED = 4 * RECENT_STEPS
#: larger content in bytes is turned into steps at once, so that what is noted stays small
_HUGE = 1 << 18
_ENTRIES = frozenset(("message", "compaction", "model_change", "thinking_level_change", "branch_summary", "custom",
                      "custom_message", "label", "session_info"))  # fmt: skip
_NO_USAGE = shape.Usage()
_CALL = b'"toolCall"'
Stamp = int | float | str | None
#: kind, line number, time as logged, content, and what else the kind needs; finished steps instead of the content
Note = tuple[Literal["user", "said", "result", "steps"], int, Stamp, Any, str | None, bool | None]


class PiParser(BaseParser):
    """See the module."""

    def __init__(self, context: FileContext, session: str | None = None) -> None:
        super().__init__(context)
        self._session = session or (PurePath(context.name).stem if context.path else "stdin")
        self._model: str | None = None
        self._provider: str | None = None
        self._asked: tuple[str | None, str | None] = (None, None)  # model and provider of the last answer
        self._last_entry: str | None = None
        self._started: int | None = None
        self._exchange = 0
        self._keys: Latest[int] = Latest()
        self._user_open = False
        self._noted: deque[Note] = deque(maxlen=None if self.options.detail else _NOTED)

    def feed(self, lines: Iterable[bytes], first: int) -> None:
        number, decode = first - 1, shape.decode
        for raw in lines:
            number += 1
            try:
                line = decode(raw)
            except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
                self._slow(raw, number)
                continue
            self._line(line, number)

    def _slow(self, raw: bytes, number: int) -> None:
        for value in self.values_of(raw, number):
            if isinstance(value, dict):
                try:
                    line = shape.lenient(value)
                except msgspec.ValidationError:
                    self.problem(number, "this entry has an unexpected shape; it was skipped")
                    continue
                self._line(line, number)

    def _line(self, line: shape.Line, number: int) -> None:
        kind = line.type
        if kind == "session":
            self._header(line)
            return
        if kind not in _ENTRIES:
            return
        if line.id is not None:
            if line.parentId is not None and self._last_entry is not None and line.parentId != self._last_entry:
                self._event("rewind", to_ms(line.timestamp), number, f"rewind:{line.id}")
            self._last_entry = line.id
        if kind == "message" and line.message is not None:
            self._message(line.message, line.timestamp, number)
        elif kind == "model_change":
            self._provider, self._model = line.provider or self._provider, line.modelId or self._model
        elif kind == "compaction":
            time = to_ms(line.timestamp)
            summary = self._summary(line, time, number)
            key = f"compaction:{line.timestamp}:{line.tokensBefore}"
            self._event("compaction", time, number, key, line.tokensBefore, summary)
        elif kind == "branch_summary":
            self._summary(line, to_ms(line.timestamp), number)

    def _header(self, line: shape.Line) -> None:
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

    def _event(
        self, kind: Any, time: int | None, number: int, key: str, before: int | None = None, summary: int | None = None
    ) -> None:
        self.records.append(
            Event(kind=kind, evidence="recorded", session=self._session, file=self.file, line=number, time=time,
                  recorded_before=usage.count(before), summary_tokens=summary, key=key)
        )  # fmt: skip

    def _summary(self, line: shape.Line, time: int | None, number: int) -> int | None:
        """The call that made a summary, where it is told; the tokens of the summary."""
        found = line.usage
        if found is None:
            return None
        model, provider = line.model or self._asked[0], line.provider or self._asked[1]
        tokens = shape.tokens(found, model, provider)
        if tokens.prompt is None:
            return None
        self.records.append(
            Call(session=self._session, source=SOURCE, file=self.file, line=number, chain="side", purpose="compaction",
                 key=f"pi:summary:{line.timestamp}:{tokens.prompt}:{tokens.output}", time=time, provider=provider,
                 model=model, prompt_tokens=tokens.prompt, fresh_tokens=tokens.fresh, cache_read_tokens=tokens.read,
                 cache_write_tokens=tokens.write, cache_write_1h_tokens=tokens.write_1h, output_tokens=tokens.output,
                 reasoning_tokens=tokens.reasoning, billed_prompt_tokens=tokens.billed_prompt,
                 cost_usd=shape.spent(found), usage_rule=tokens.rule)
        )  # fmt: skip
        return tokens.output

    def _message(self, message: shape.Message, stamp: Stamp, number: int) -> None:
        role = message.role
        if role == "assistant":
            self._assistant(message, stamp, number)
            self._note(("said", number, stamp, message.content, message.stopReason, None))
        elif role == "toolResult":
            ok = None if message.isError is None else not message.isError
            self._note(("result", number, stamp, message.content, message.toolCallId, ok))
        elif role == "user":
            if not self._user_open:
                self._exchange += 1
                self._user_open = True
            self._note(("user", number, stamp, message.content, None, None))

    def _assistant(self, message: shape.Message, stamp: Stamp, number: int) -> None:
        found = message.usage or _NO_USAGE
        fresh, output, read, write = found.input, found.output, found.cacheRead, found.cacheWrite
        failed = message.stopReason in ("error", "aborted")
        zero = not (fresh or read or write)
        model, provider = self._asked = message.model or self._model, message.provider or self._provider
        tokens = shape.tokens(found, message.model, message.provider)
        # the entry's own time orders calls (parallel ones are stamped before they are written)
        time = to_ms(stamp)
        start = time if time is not None else to_ms(message.timestamp)
        sums = f"{model}:{fresh}:{read}:{write}:{output}"
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
                tokens.write_1h,
                tokens.output if not zero else (output or None),
                reasoning_tokens=tokens.reasoning,
                billed_prompt_tokens=tokens.billed_prompt,
                cost_usd=shape.spent(found),
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

    # ------------------------------------------------------------------------------------------------ steps
    def _note(self, note: Note) -> None:
        """Keep an entry that may tell of steps; only the latest ones are looked at."""
        if len(note[3]) > _HUGE:
            note = ("steps", note[1], None, self._steps(note), None, None)
        self._noted.append(note)

    def take(self) -> list[Record]:
        out = super().take()
        if self.forgets:
            self._keys.trim()
        found: list[list[Step]] = []
        count = 0
        # from the end: entries before the latest steps are not looked at
        for note in reversed(self._noted):
            if count >= RECENT_STEPS and not self.options.detail:
                break
            made = note[3] if note[0] == "steps" else self._steps(note)
            found.append(made)
            count += len(made)
        latest = [step for made in reversed(found) for step in made]
        out += latest if self.options.detail else latest[-RECENT_STEPS:]
        self._noted.clear()
        return out

    def _steps(self, note: Note) -> list[Step]:
        kind, number, stamp, content, word, ok = note
        where = (self._session, "main", to_ms(stamp), number)
        if kind == "result":
            return [steps.tool_result(*where, word or "", ok, shape.text_of(content))]
        if kind == "user":
            return [steps.user(*where, shape.text_of(content))]
        made = [
            steps.tool_call(*where, block.id or "", block.name or "", bytes(block.arguments))
            for block in (shape.blocks_of(content) if _CALL in bytes(content) else ())  # quotes in a text are escaped
            if block.type == "toolCall"
        ]
        return made or ([steps.answer(*where)] if word == "stop" else [])


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
