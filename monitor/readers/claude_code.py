"""Claude Code transcripts.

Where: ``$CLAUDE_CONFIG_DIR/projects`` or ``~/.claude/projects`` (also ``~/.config/claude/projects``):
``<slug>/<session>.jsonl``, subagents in ``<session>/subagents/**/agent-<id>.jsonl`` (2.1), ``agent-<id>.jsonl`` beside
it (2.0) or inline with ``isSidechain`` (1.x). Cowork's ``audit.jsonl`` beside ``.claude/projects`` repeats its calls.

What is read: ``assistant`` lines. One answer is written as several lines, one for each content block, which repeat
``message.id`` and ``requestId`` and the input figures; they are one call. Its output is the largest one seen, and a
lower bound unless a line has a ``stop_reason``. ``api-request`` lines give the start of the request; ``cost-state``,
``api-request-shape`` and others describe the same calls again and are left out. ``system`` lines mark compactions
(``compact_boundary``) and microcompactions. Agents ``acompact-…`` summarise (purpose compaction), the calls of agents
``aprompt_suggestion-…`` are side calls. What ``--output-format stream-json`` prints (the same without times) is read.

Prompt tokens: ``input_tokens + cache_creation_input_tokens + cache_read_input_tokens`` (additive). ``iterations`` with
more than one pass: the context is the last message pass, the top level is billing.

Unknown: the context window (not logged); the summarising call of a compaction (not logged); usage that is all zero (a
gateway that does not report) is unknown, not zero.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath
from typing import Any

import msgspec

from monitor.readers import claude_lines as shape
from monitor.readers import usage
from monitor.readers.base import BaseParser, FileContext, Head
from monitor.readers.claude_audit import AuditParser, beside_transcripts
from monitor.readers.claude_group import FULL, SOURCE, Group, call_of, compaction_in, from_path, overflow_in
from monitor.readers.claude_steps import LONG, OWN, Note, Notes, Results
from monitor.readers.claude_usage import empty
from monitor.readers.forgotten import KEPT, Latest
from monitor.readers.lines import first_objects
from monitor.readers.times import iso_ms
from monitor.records import Call, Event, Record, SessionInfo


class ClaudeCodeParser(BaseParser):
    """See the module."""

    def __init__(self, context: FileContext) -> None:
        super().__init__(context)
        self._groups: Latest[Group] = Latest()
        self._dirty: list[Group] = []
        self._requests: dict[str, str] = {}  # id of an api-request line -> its time
        self._sidechains: dict[str, str] = {}  # uuid of a sidechain line -> root of its chain
        self._last_root = ""
        self._roots = 0
        self._exchange = 0
        self._user_open = False
        self._infos: set[tuple[str, str]] = set()
        self._has_messages = False
        self._parent, self._agent = from_path(context)
        self._session = self._parent or (context.path.stem if context.path else "stdin")
        self._notes = Notes(self.options.detail, self._parent, self._session)
        self._results = Results()

    # ------------------------------------------------------------------------------------------------ lines
    def feed(self, lines: Iterable[bytes], first: int) -> None:
        decode, detail, agent = shape.decode, self.options.detail, self._agent
        group: Group | None = None
        noted, results = self._notes.noted, self._results
        head, inside = results.head, results.inside
        number = first - 1
        for raw in lines:
            number += 1
            # most of a transcript are results of tools, which are not needed before the end
            if (raw[OWN:inside] == head or len(raw) > LONG) and not detail and results.hold(raw):
                head, inside = results.head, results.inside
                if agent is not None:
                    continue  # steps of subagents are not kept
                if not results.sidechain:  # else its chain is not known without looking
                    self._notes.add("main", ("line", "", number, None, raw), len(raw))
                    continue
            try:
                line = decode(raw)
            except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
                self._slow(raw, number)
                continue
            kind, message = line.type, line.message
            if line.session_id is not None:
                line.printed()
            if kind == "assistant":
                if message is None:
                    continue
                # most lines go on with the answer of the line before
                if (
                    group is None
                    or message.id != group.message
                    or line.requestId != group.request
                    or message.model != group.model
                    or not group.key
                    or (agent is None and line.isSidechain)
                ):
                    group = self._answer(line, message, number)
                    if group is None:
                        continue
                found = message.usage
                if found is not None:
                    group.tell(found)
                stop = message.stop_reason
                if stop:
                    group.stop = stop
                if line.costUSD:
                    group.cost = line.costUSD
                if group.requested is not None and line.timestamp:
                    group.end = line.timestamp
                if not group.dirty:
                    group.dirty = True
                    self._dirty.append(group)
                note: Note = ("ended" if stop == "end_turn" else "said", group, number, line.timestamp, message)
                if group.chain == "main":
                    noted(note)
                elif detail:
                    self._notes.add(group.chain, note)
            elif kind == "user":
                if message is not None:
                    self._user(line, message, number, len(raw))
            elif kind == "system":
                self._system(line, number)
            elif kind == "attachment" and agent is None and not line.isSidechain:
                if (text := shape.queued(line)) is not None:
                    self._typed(text, self._session_of(line), line.timestamp, number, len(raw))
            elif kind == "progress" and line.data is not None:
                self._progress(line, number)
            elif kind == "api-request" and line.id and line.timestamp:
                self._requests[line.id] = line.timestamp
        if detail:
            self._notes.settle()

    def _slow(self, raw: bytes, number: int) -> None:
        """Lines the typed decoder refuses: glued objects, odd numbers, NaN, surrogates, torn or broken ones."""
        for value in self.values_of(raw, number):
            if isinstance(value, dict):
                self.feed([shape.lenient(value)], number)

    def _session_of(self, line: shape.Line) -> str:
        return self._parent or line.sessionId or self._session

    def _answer(self, line: shape.Line, message: shape.Message, number: int) -> Group | None:
        """The answer that a line begins or goes on with; None if it tells of no call."""
        if message.model == "<synthetic>" or (line.isApiErrorMessage and empty(message)):
            if line.isApiErrorMessage:
                self._error(line, number, self._session_of(line))
            return None
        chain = self._chain(line) if line.isSidechain else self._agent or "main"
        return self._group(line, message, chain, number, line.timestamp)

    def _group(
        self, line: shape.Line, message: shape.Message, chain: str, number: int, time: str | None
    ) -> Group | None:
        if message.id:
            key = f"{message.id}:{line.requestId or ''}"
            local = key
        else:
            key, local = "", line.uuid or f"line {number}"
        group = self._groups.get(local)
        if group is None:
            if self._groups.knew(local):
                self.reread = True
                return None
            if message.usage is None:
                return None  # nothing says that a request was made (converted and trimmed transcripts)
            session = self._session_of(line)
            group = self._groups[local] = Group(session, chain, number, key, message.id, line.requestId, time)
            self._dirty.append(group)
            if chain == "main":
                group.exchange = self._exchange if self._has_messages else None
                self._user_open = False
            if line.requestRef:
                group.requested = self._requests.get(line.requestRef)
            if (session, chain) not in self._infos:
                self._info(session, chain, line)
        if message.model:
            group.model = message.model
        return group

    def _user(self, line: shape.Line, message: shape.Message, number: int, size: int) -> None:
        chain = self._chain(line) if line.isSidechain else self._agent or "main"
        kept = chain == "main" or self.options.detail
        content: str | list[shape.Block] | None = None
        results = shape.is_result(message)
        if not results:
            content = shape.content_of(message)
            results = isinstance(content, list) and any(block.type == "tool_result" for block in content)
        if results:
            if kept:
                note: Note = ("results", self._session_of(line), number, line.timestamp, message)
                self._notes.add(chain, note, size)
            return
        self._has_messages = True
        if chain != "main" or line.isMeta or line.isCompactSummary or shape.made_by_client(line):
            return
        session = self._session_of(line)
        text = shape.text_of(content)
        if text is not None:
            text = shape.without_context(text)
        if text is None or not shape.typed_by_user(text):
            if text is not None and text.startswith("[Request interrupted"):
                self._user_open = False  # what comes next was typed anew
            if text is not None and (command := shape.command(text)):
                self._notes.add(chain, ("user", session, number, line.timestamp, f"/{command}"))
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
        self._typed(text, session, line.timestamp, number, size)

    def _typed(self, text: str, session: str, stamp: str | None, number: int, size: int) -> None:
        if not self._user_open:
            self._exchange += 1
            self._user_open = True
        self._notes.add("main", ("user", session, number, stamp, text), size)

    def _system(self, line: shape.Line, number: int) -> None:
        subtype = line.subtype
        micro = subtype == "microcompact_boundary"
        if micro or subtype == "compact_boundary":
            facts = line.microcompactMetadata if micro else line.compactMetadata or line.compact_metadata
            facts = facts or shape.Compact()
            before = facts.preTokens if facts.preTokens is not None else facts.pre_tokens
            self.records.append(
                Event(
                    kind="microcompaction" if micro else "compaction",
                    evidence="recorded",
                    session=self._session_of(line),
                    chain=self._chain(line),
                    file=self.file,
                    line=number,
                    trigger=shape.trigger(facts.trigger),
                    time=iso_ms(line.timestamp or ""),
                    recorded_before=usage.count(before),
                    recorded_after=usage.count(facts.post_tokens if facts.postTokens is None else facts.postTokens),
                    key=f"{subtype}:{line.timestamp}:{before}",
                )
            )
        elif subtype == "api_error":
            # a request that was sent and refused: a call without figures (the client tries again by itself)
            self.records.append(
                Call(
                    session=self._session_of(line),
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
            if shape.overflow(line):
                self._error(line, number, self._session_of(line))

    def _error(self, line: shape.Line, number: int, session: str) -> None:
        word = shape.error_word(line)
        self.records.append(
            Event(
                kind="overflow" if shape.overflow(line) else "error",
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
        chain, time = f"agent:{data.agentId or 'unknown'}", data.message.timestamp or line.timestamp
        group = self._group(inner, message, chain, number, time)
        if group is None:
            return
        group.tell(message.usage)
        group.stop = message.stop_reason or group.stop
        if not group.dirty:
            group.dirty = True
            self._dirty.append(group)
        if self.options.detail:
            self._notes.add(chain, ("ended" if group.stop == "end_turn" else "said", group, number, time, message))

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
        self._infos.add((session, chain))
        name = PurePath(line.cwd.replace("\\", "/")).name if line.cwd else None
        self.records.append(SessionInfo(session=session, source=SOURCE, file=self.file, chain=chain, cwd_name=name))

    # ------------------------------------------------------------------------------------------------ results
    def take(self) -> list[Record]:
        out = super().take()
        for group in self._dirty:
            group.dirty = False
            call = call_of(group, self.file)
            out.append(call)
            if call.billed is not None and (inside := compaction_in(group, call)) is not None:
                out.append(inside)
            if group.stop == FULL:
                out.append(overflow_in(call))
        self._dirty.clear()
        out += self._notes.take()
        if self.forgets:
            self._groups.trim()
            if len(self._requests) > 8 * KEPT:
                self._requests = dict(list(self._requests.items())[-4 * KEPT :])
        return out


def _printed(value: dict[str, Any]) -> bool:
    """Whether an object is a line of ``--output-format stream-json``."""
    kind, message = value.get("type"), value.get("message")
    if kind in ("assistant", "user"):
        return isinstance(message, dict) and "content" in message and "parent_tool_use_id" in value
    return (kind == "system" and value.get("subtype") == "init" and "tools" in value) or (
        kind == "result" and "num_turns" in value
    )


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
            if "session_id" in value and _printed(value):
                return 0.9
            if "sessionId" in value and kind in ("user", "assistant", "system", "progress", "attachment"):
                if isinstance(message, dict):
                    if message.get("role") == "model" or "parts" in message:
                        return 0.0
                    if "content" in message and ("uuid" in value or "parentUuid" in value):
                        return 0.95
                score = max(score, 0.8 if "uuid" in value or "parentUuid" in value else 0.6)
            elif (
                isinstance(kind, str)
                and kind in shape.BOOKKEEPING
                and ("sessionId" in value or "leafUuid" in value or "snapshot" in value)
            ):
                score = max(score, 0.5)
        return score

    def parser(self, context: FileContext) -> BaseParser:
        return AuditParser(context) if beside_transcripts(context) else ClaudeCodeParser(context)


READER = ClaudeCode()
