"""Claude Code transcripts.

Where: ``$CLAUDE_CONFIG_DIR/projects`` or ``~/.claude/projects`` (also ``~/.config/claude/projects``):
``<slug>/<session>.jsonl``, subagents in ``<session>/subagents/**/agent-<id>.jsonl`` (2.1), ``agent-<id>.jsonl`` beside
it (2.0) or inline with ``isSidechain`` (1.x).

What is read: ``assistant`` lines. One answer is written as several lines, one for each content block, which repeat
``message.id`` and ``requestId`` and the input figures; they are one call. Its output is the largest one seen, and a
lower bound unless a line has a ``stop_reason``. Newest versions add ``api-request`` lines (they give the start of the
request), ``cost-state``, ``api-request-shape`` and others that describe the same calls again and are left out.
``system`` lines mark compactions (``compact_boundary``) and microcompactions.

Prompt tokens: ``input_tokens + cache_creation_input_tokens + cache_read_input_tokens`` (additive). ``iterations`` with
more than one pass: the context is the last message pass, the top level is billing.

Unknown: the context window (not logged); the summarising call of a compaction (not logged); usage that is all zero (a
gateway that does not report) is unknown, not zero.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from pathlib import PurePath
from typing import Any

import msgspec

from monitor.readers import claude_lines as shape
from monitor.readers import usage
from monitor.readers.base import BaseParser, FileContext, Head
from monitor.readers.claude_group import SOURCE, Group, call_of, compaction_in
from monitor.readers.lines import Skipped, first_objects, objects
from monitor.readers.times import iso_ms
from monitor.records import Call, Event, Record, SessionInfo

#: steps kept of the main chain when not all are asked for; signals look no further back
RECENT_STEPS = 40


class ClaudeCodeParser(BaseParser):
    """See the module."""

    def __init__(self, context: FileContext) -> None:
        super().__init__(context)
        self._groups: dict[str, Group] = {}
        self._dirty: list[Group] = []
        self._requests: dict[str, str] = {}  # id of an api-request line -> its time
        self._sidechains: dict[str, str] = {}  # uuid of a sidechain line -> root of its chain
        self._last_root = ""
        self._roots = 0
        self._raw_steps: dict[str, deque[tuple[Any, ...]]] = {}
        self._exchange = 0
        self._user_open = False
        self._infos: set[tuple[str, str]] = set()
        self._has_messages = False
        self._parent, self._agent = _from_path(context)
        self._session = self._parent or (PurePath(context.name).stem if context.path else "stdin")

    # ------------------------------------------------------------------------------------------------ lines
    def feed(self, lines: Iterable[bytes], first: int) -> None:
        decode = shape.decode
        number = first - 1
        for raw in lines:
            number += 1
            try:
                line = decode(raw)
            except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
                self._slow(raw, number)
                continue
            kind = line.type
            if kind == "assistant":
                self._assistant(line, number)
            elif kind == "user":
                self._user(line, number)
            elif kind == "system":
                self._system(line, number)
            elif kind == "progress" and line.data is not None:
                self._progress(line, number)
            elif kind == "api-request" and line.id and line.timestamp:
                self._requests[line.id] = line.timestamp

    def _slow(self, raw: bytes, number: int) -> None:
        """Lines the typed decoder refuses: glued objects, odd numbers, NaN, surrogates, torn or broken ones."""
        try:
            found = objects(raw)
        except Skipped as skipped:
            found = skipped.objects
            if not skipped.torn:
                self.problem(number, str(skipped))
        for value in found:
            if isinstance(value, dict):
                self.feed([shape.lenient(value)], number)

    def _assistant(self, line: shape.Line, number: int) -> None:
        message = line.message
        if message is None:
            return
        session = self._parent or line.sessionId or self._session
        if message.model == "<synthetic>":
            if line.isApiErrorMessage:
                self._error(line, number, session)
            return
        self._answer(line, message, session, self._chain(line), number, line.timestamp)

    def _answer(
        self,
        line: shape.Line,
        message: shape.Message,
        session: str,
        chain: str,
        number: int,
        time: str | None,
    ) -> None:
        if message.id:
            key = f"{message.id}:{line.requestId or ''}"
            local = key
        else:
            key, local = "", line.uuid or f"line {number}"
        group = self._groups.get(local)
        if group is None and message.usage is None:
            return  # nothing says that a request was made (converted and trimmed transcripts)
        if group is None:
            group = self._groups[local] = Group(session, chain, number, key, message.id)
            group.time = time
            group.exchange = self._exchange if chain == "main" and self._has_messages else None
            if line.requestRef:
                group.requested = self._requests.get(line.requestRef)
            self._dirty.append(group)
            if chain == "main":
                self._user_open = False
            self._info(session, chain, line)
        elif not group.dirty:
            group.dirty = True
            self._dirty.append(group)
        group.model = message.model or group.model
        if time:
            group.end = time
        found = message.usage
        if found is not None:
            if group.usage is None or shape.weight(found) >= shape.weight(group.usage):
                group.usage = found
            if found.output_tokens is not None and (group.output is None or found.output_tokens > group.output):
                group.output = found.output_tokens
        if message.stop_reason:
            group.stop = message.stop_reason
        content = message.content
        if type(content) is list:
            calls = False
            for block in content:
                if block.type == "tool_use":
                    calls = True
                    self._push(session, chain, ("tool_call", number, time, block.id, block.name, block.input))
            if group.stop == "end_turn" and not calls and not group.answered:
                group.answered = True
                self._push(session, chain, ("answer", number, time))

    def _user(self, line: shape.Line, number: int) -> None:
        message = line.message
        if message is None:
            return
        session = self._parent or line.sessionId or self._session
        chain = self._chain(line)
        content = message.content
        if type(content) is list:
            results = [block for block in content if block.type == "tool_result"]
            for block in results:
                item = (
                    "tool_result",
                    number,
                    line.timestamp,
                    block.tool_use_id,
                    block.is_error,
                    block.content,
                )
                self._push(session, chain, item)
            if results:
                return
        self._has_messages = True
        if chain != "main" or line.isMeta or line.isCompactSummary or shape.made_by_client(line):
            return
        text = shape.text_of(content)
        if text is None or not shape.typed_by_user(text):
            if text is not None and (command := shape.command(text)):
                self._push(session, chain, ("user", number, line.timestamp, f"/{command}"))
                if command == "clear":
                    self.records.append(
                        Event(
                            kind="clear",
                            evidence="recorded",
                            session=session,
                            file=self.file,
                            line=number,
                            trigger="manual",
                            time=iso_ms(line.timestamp or ""),
                            key=f"clear:{line.timestamp}",
                        )
                    )
            return
        if not self._user_open:
            self._exchange += 1
            self._user_open = True
        self._push(session, chain, ("user", number, line.timestamp, text))

    def _system(self, line: shape.Line, number: int) -> None:
        subtype = line.subtype
        micro = subtype == "microcompact_boundary"
        if micro or subtype == "compact_boundary":
            facts = (line.microcompactMetadata if micro else line.compactMetadata) or shape.Compact()
            self.records.append(
                Event(
                    kind="microcompaction" if micro else "compaction",
                    evidence="recorded",
                    session=self._parent or line.sessionId or self._session,
                    chain=self._chain(line),
                    file=self.file,
                    line=number,
                    trigger=shape.trigger(facts.trigger),
                    time=iso_ms(line.timestamp or ""),
                    recorded_before=usage.count(facts.preTokens),
                    recorded_after=usage.count(facts.postTokens),
                    key=f"{subtype}:{line.timestamp}:{facts.preTokens}",
                )
            )
        elif subtype == "api_error":
            # a request that was sent and refused: a call without figures (the client tries again by itself)
            self.records.append(
                Call(
                    session=self._parent or line.sessionId or self._session,
                    source=SOURCE,
                    file=self.file,
                    line=number,
                    chain=self._chain(line),
                    key=f"api_error:{line.uuid or line.timestamp}",
                    time=iso_ms(line.timestamp or ""),
                    provider="anthropic",
                    status="error",
                    stop=shape.error_word(line),
                    exchange=self._exchange if self._has_messages and not line.isSidechain else None,
                )
            )

    def _error(self, line: shape.Line, number: int, session: str) -> None:
        word = shape.error_word(line)
        self.records.append(
            Event(
                kind="overflow" if word in ("prompt_too_long", "context_length_exceeded") else "error",
                evidence="recorded",
                session=session,
                chain=self._chain(line),
                file=self.file,
                line=number,
                time=iso_ms(line.timestamp or ""),
                key=f"error:{line.timestamp}:{line.uuid or number}",
                detail=word,
            )
        )

    def _progress(self, line: shape.Line, number: int) -> None:
        """Copies of a subagent's answers in the main file: the same calls, needed only where its own file is gone."""
        data = line.data
        if data is None or data.type != "agent_progress" or data.message is None or data.message.message is None:
            return
        message = data.message.message
        if data.message.type != "assistant" or message.usage is None or not message.id:
            return
        inner = shape.Line(requestId=data.message.requestId, uuid=line.uuid, sessionId=line.sessionId)
        session = self._parent or line.sessionId or self._session
        time = data.message.timestamp or line.timestamp
        self._answer(inner, message, session, f"agent:{data.agentId or 'unknown'}", number, time)

    def _chain(self, line: shape.Line) -> str:
        if self._agent is not None:
            return self._agent
        if not line.isSidechain:
            return "main"
        if line.agentId:
            return f"agent:{line.agentId}"
        # 1.x: subagents inline, told apart by the first line of their thread only
        parent = line.parentUuid
        root = self._sidechains.get(parent or "")
        if root is None:
            if parent is None or not self._last_root:
                self._roots += 1
                root = "inline" if self._roots == 1 else f"inline-{self._roots}"
            else:
                root = self._last_root
        self._last_root = root
        if line.uuid:
            self._sidechains[line.uuid] = root
        return f"agent:{root}"

    def _info(self, session: str, chain: str, line: shape.Line) -> None:
        if (session, chain) not in self._infos:
            self._infos.add((session, chain))
            name = PurePath(line.cwd.replace("\\", "/")).name if line.cwd else None
            self.records.append(SessionInfo(session=session, source=SOURCE, file=self.file, chain=chain, cwd_name=name))

    def _push(self, session: str, chain: str, item: tuple[Any, ...]) -> None:
        if chain != "main" and not self.options.detail:
            return  # decisions are about the main chain
        bucket = self._raw_steps.get(chain)
        if bucket is None:
            bucket = self._raw_steps[chain] = deque(maxlen=None if self.options.detail else RECENT_STEPS)
        bucket.append((session, *item))

    # ------------------------------------------------------------------------------------------------ results
    def take(self) -> list[Record]:
        out = super().take()
        for group in self._dirty:
            group.dirty = False
            call = call_of(group, self.file)
            out.append(call)
            inside = compaction_in(group, call)
            if inside is not None:
                out.append(inside)
        self._dirty.clear()
        for chain, bucket in self._raw_steps.items():
            out.extend(shape.step(chain, item) for item in bucket)
            bucket.clear()
        return out


def _from_path(context: FileContext) -> tuple[str | None, str | None]:
    """Parent session and chain, where the file lies in a session's ``subagents`` folder."""
    if context.path is None:
        return None, None
    parts = context.path.parts
    stem = context.path.stem
    if "subagents" in parts[:-1] and stem.startswith("agent-"):
        where = len(parts) - 1 - parts[::-1].index("subagents")
        return parts[where - 1] if where else None, f"agent:{stem[6:]}"
    return None, None


class ClaudeCode:
    """Reader of Claude Code transcripts."""

    source = SOURCE
    title = "Claude Code session"
    lines = True

    def sniff(self, head: Head) -> float:
        score = 0.0
        for value in first_objects(head.data):
            kind = value.get("type")
            if "usageMetadata" in value or isinstance(value.get("payload"), dict):
                return 0.0  # Qwen Code and Codex look alike from afar
            message = value.get("message")
            if "sessionId" in value and kind in ("user", "assistant", "system", "progress", "attachment"):
                if isinstance(message, dict):
                    if message.get("role") == "model" or "parts" in message:
                        return 0.0
                    if "content" in message and ("uuid" in value or "parentUuid" in value):
                        return 0.95
                score = max(score, 0.8 if "uuid" in value or "parentUuid" in value else 0.6)
            elif kind in shape.BOOKKEEPING and ("sessionId" in value or "leafUuid" in value or "snapshot" in value):
                score = max(score, 0.5)
        return score

    def parser(self, context: FileContext) -> ClaudeCodeParser:
        return ClaudeCodeParser(context)


READER = ClaudeCode()
