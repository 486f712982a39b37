"""Codex rollouts.

Where: ``$CODEX_HOME/sessions/YYYY/MM/DD/rollout-*.jsonl`` (``~/.codex``), ``archived_sessions/``; files older than a
week are compressed to ``.jsonl.zst``.

What is read: ``token_usage_record`` (0.151 and newer: one for each answered request, the summarising one included),
``event_msg``/``token_count`` whose running total changed where no record tells the request. A repeated total is a
refresh, ``info: null`` a rate-limit notice, zero input with a total an estimate of the context after a compaction, a
total equal to the window a mark that the context was full. ``compacted``, its estimate and ``context_compacted`` are
one compaction, and so is a ``compaction`` item that the server put before an answer. ``thread_settings_applied`` says
whether ``priority`` (fast) is paid from there on.

Prompt tokens: ``input_tokens`` (includes the cached part); output includes reasoning. The window is logged (95 % of
the full one). A fork begins with a copy of its parent's records: their keys are those of the parent, and records that
stand in the second of the fork, go on with such records at once, or are older, are inherited even if the parent's file
is gone. A file with ``history_base`` goes on from another one and first repeats the totals of that one.

Unknown: usage in rollouts from before token counts (no envelope); the calls of remote compactions before records.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from pathlib import PurePath
from typing import Any

import msgspec

from monitor.readers import codex_lines as shape
from monitor.readers import usage
from monitor.readers.base import BaseParser, FileContext, Head
from monitor.readers.codex_compaction import Compactions
from monitor.readers.codex_counts import Totals
from monitor.readers.codex_fork import Fork
from monitor.readers.codex_told import Told
from monitor.readers.forgotten import Latest
from monitor.readers.service_tier import joined
from monitor.readers.times import iso_ms
from monitor.records import Call, Event, Quota, Record, SessionInfo

SOURCE = "codex"
RECENT_STEPS = 40


class CodexParser(BaseParser):
    """See the module."""

    def __init__(self, context: FileContext) -> None:
        super().__init__(context)
        self._id: str | None = None
        self._session = PurePath(context.name).stem if context.path else "stdin"
        self._chain = "main"
        self._fork = Fork()
        self._model: str | None = None
        self._provider: str | None = "openai"
        self._tier: str | None = None
        self._limit: int | None = None
        self._usable: int | None = None  # where the client compacts by itself
        self._totals = Totals()
        self._told = Told()
        self._first_item: str | None = None
        self._first_id: str | None = None
        self._answered = False  # the model answered since the last count
        self._answers = False  # answers are written as items in this file
        self._exchange = 0
        self._user_open = False
        self._calls: Latest[Call] = Latest()
        self._last_key: str | None = None
        self._compactions = Compactions()
        self._overflowed = False  # since the last answer
        self._put_in: Event | None = None  # a compaction item in the answer that is being told
        self._ordinal: int | None = None  # of the line
        self._rolled_back = False
        self._raw_steps: deque[tuple[Any, ...]] = deque(maxlen=None if self.options.detail else RECENT_STEPS)
        self._quota: Quota | None = None
        self._info_dirty = False
        self._cwd: str | None = None

    # ------------------------------------------------------------------------------------------------ lines
    def feed(self, lines: Iterable[bytes], first: int) -> None:
        number = first - 1
        decode, item = shape.decode, self._item
        for raw in lines:
            number += 1
            try:
                line = decode(raw)
            except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
                self._slow(raw, number)
                continue
            payload = line.payload
            if payload is None:
                continue
            if line.type == "response_item":  # most lines
                item(payload, line.timestamp, number)
            else:
                self._line(line, payload, number)

    def _slow(self, raw: bytes, number: int) -> None:
        for value in self.values_of(raw, number):
            if not isinstance(value, dict) or not isinstance(value.get("payload"), dict):
                continue
            payload = shape.lenient(value["payload"])
            stamp = value.get("timestamp")
            kind = value.get("type")
            line = shape.Line(
                kind if isinstance(kind, str) else None, stamp if isinstance(stamp, str) else None, payload
            )
            self._line(line, payload, number)

    def _line(self, line: shape.Line, payload: shape.Payload, number: int) -> None:
        kind, self._ordinal = line.type, line.ordinal
        if kind == "response_item":
            self._item(payload, line.timestamp, number)
        elif kind == "event_msg":
            self._event(payload, line.timestamp, number)
        elif kind == "token_usage_record":
            self._record(payload, line.timestamp, number)
        elif kind == "turn_context":
            self._model = payload.model or self._model
        elif kind == "session_meta":
            self._meta(payload, line.timestamp)
        elif kind == "compacted":
            self._compacted(payload, line.timestamp, number)

    def _meta(self, payload: shape.Payload, stamp: str | None) -> None:
        thread = payload.id
        if thread is None:
            return
        fork = self._fork
        fork.parents.setdefault(thread, payload.forked_from_id)
        if self._id is not None:
            return  # a copy of the parent's header
        self._id = thread
        fork.created = iso_ms(payload.timestamp or stamp or "")
        # newer forks name the line of their parent they go on from, and copy nothing
        fork.forked = payload.forked_from_id is not None and payload.forked_from_ordinal_exclusive is None
        self._cwd = payload.cwd
        fork.own_from = payload.subagent_history_start_ordinal
        fork.based = bytes(payload.history_base)[:1] == b"{"
        if payload.model_provider and payload.model_provider != "openai":
            self._provider = None
        parent = payload.parent_thread_id or shape.spawned_by(payload.source)
        root = payload.session_id if payload.session_id and payload.session_id != thread else parent
        if root is not None and parent is not None:
            self._session, self._chain = root, f"agent:{thread}"
            fork.forked = True  # spawned threads may begin with a copy of their parent's records
        else:
            self._session = thread
        self._info_dirty = True

    def _event(self, payload: shape.Payload, stamp: str | None, number: int) -> None:
        kind = payload.type
        if kind == "token_count":
            self._count(payload, stamp, number)
        elif kind == "task_started":
            self._limit = payload.model_context_window or self._limit
            self._overflowed = False  # another request, which may be refused as well
        elif kind == "thread_settings_applied" and payload.thread_settings is not None:
            # how requests are served from here on; the model is that of the turn, if one has begun
            self._tier = joined(payload.thread_settings.service_tier, None, None)
            self._model = self._model or payload.thread_settings.model
        elif kind == "user_message":
            self._user(shape.text(payload.message), stamp, number)
        elif kind == "context_compacted":
            self._compact_event(stamp, number, None)
        elif kind == "turn_aborted":
            self._user_open = False  # what comes next was typed anew
        elif kind == "thread_rolled_back":
            self._rolled_back = True
            self._simple("rewind", stamp, number)
        elif kind in ("error", "stream_error"):
            self._simple("overflow" if shape.overflow(payload) else "error", stamp, number)

    def _simple(self, kind: Any, stamp: str | None, number: int) -> None:
        if kind == "overflow":
            if self._overflowed:
                return  # the mark in the counts and the error tell the same
            self._overflowed = True
        self.records.append(self._event_of(kind, stamp, number, f"{kind}:{stamp}"))

    def _event_of(self, kind: Any, stamp: str | None, number: int, key: str) -> Event:
        return Event(kind=kind, evidence="recorded", session=self._session, chain=self._chain, file=self.file,
                     line=number, time=iso_ms(stamp or ""), key=key)  # fmt: skip

    def _item(self, payload: shape.Payload, stamp: str | None, number: int) -> None:
        kind = payload.type
        if kind == "function_call_output" or kind == "custom_tool_call_output":
            self._raw_steps.append(("tool_result", number, stamp, payload.call_id, payload.output))
        elif kind == "function_call" or kind == "custom_tool_call" or kind == "local_shell_call":
            if not self._answered:
                self._mark_answer(stamp, payload.id)
            arguments = payload.arguments or payload.input or payload.action
            self._raw_steps.append(("tool_call", number, stamp, payload.call_id, payload.name or kind, arguments))
        elif kind == "message":
            if payload.role == "assistant":
                self._mark_answer(stamp, payload.id)
                self._raw_steps.append(("answer", number, stamp))
            elif payload.role == "user":
                self._user(shape.text(payload.content), stamp, number)
        elif kind == "reasoning" or kind == "web_search_call":
            self._mark_answer(stamp, payload.id)
        elif kind == "compaction" and payload.id is not None:
            self._mark_answer(stamp, payload.id)
            # alone in an answer it is what was asked for, which ``compacted`` tells
            self._put_in = self._event_of("compaction", stamp, number, f"{self._root()}:item:{payload.id}")

    def _mark_answer(self, stamp: str | None, id: str | None) -> None:
        self._answered = self._answers = True
        if self._put_in is not None:
            # the server put it before its answer: the next request stands on it
            ended = None if self._put_in.time is None else self._put_in.time + 1
            self.records.append(msgspec.structs.replace(self._put_in, trigger="auto", time=ended))
            self._put_in = None
        if self._first_item is None:
            self._first_item, self._first_id = stamp, id

    def _user(self, text: str, stamp: str | None, number: int) -> None:
        if not text.strip() or text.lstrip().startswith(shape.MADE_UP):
            return
        if not self._user_open:
            self._exchange += 1
            self._user_open = True
            self._raw_steps.append(("user", number, stamp, text))

    # ------------------------------------------------------------------------------------------------ calls
    def _record(self, payload: shape.Payload, stamp: str | None, number: int) -> None:
        found = payload.usage
        if found is None or found.input_tokens is None:
            return
        key = self._told.record(found) or payload.response_id or f"{self._session}:{number}"
        chain = self._chain
        thread = payload.thread_id
        if thread and self._id and thread != self._id and thread not in self._fork.parents:
            chain = f"agent:{thread}"
        self._add(found, key, payload.response_id, chain, stamp, number, own=thread is not None and thread == self._id)

    def _count(self, payload: shape.Payload, stamp: str | None, number: int) -> None:
        quota = shape.quota(payload.rate_limits, stamp)
        if quota is not None:
            self._quota, self._info_dirty = quota, True
        info = payload.info
        if info is None:
            return
        if info.model_context_window:
            self._limit = info.model_context_window
        self._usable = info.auto_compact_token_limit or self._usable
        said, found = self._totals.tell(info, self._answered, self._limit, self._fork.based)
        if said == "call":
            if not self._told.totals():
                key = f"{self._root()}:{self._totals.name}"
                self._told.by_totals(key, info.last_token_usage or found)
                self._add(found, key, None, self._chain, stamp, number)
        elif said == "full":
            self._simple("overflow", stamp, number)
        elif said == "estimate":
            self._told.estimate()
            if not self._rolled_back:  # else the rewind is noted already
                self._compact_event(stamp, number, found.total_tokens)
        elif said == "again" and self._told.records and self._answered:
            # an answer stands between two equal totals and has no record of its own: its usage was not told
            name = self._first_id or f"{self._totals.name}{number}"
            self._add(shape.NO_COUNT, f"{self._root()}:{name}", None, self._chain, stamp, number)

    def _root(self) -> str:
        """The thread that copied records are known by."""
        return self._fork.root(self._id or self._session)

    def _add(
        self, found: shape.Count, key: str, call_id: str | None, chain: str, stamp: str | None, number: int,
        own: bool = False,
    ) -> None:  # fmt: skip
        tokens = usage.inclusive(
            found.input_tokens,
            found.cached_input_tokens,
            found.cache_write_input_tokens or 0,
            found.output_tokens,
            reasoning=found.reasoning_output_tokens,
            rule="codex",
        )
        # by position, see monitor.records
        self._calls[key] = call = Call(
            self._session,
            SOURCE,
            self.file,
            number,
            chain,
            "explicit",
            call_id,
            key,
            iso_ms(self._first_item or stamp or ""),
            None,  # duration_ms
            self._provider,
            self._model,
            tokens.prompt,
            tokens.fresh,
            tokens.read,
            tokens.write,
            None,  # cache_write_1h_tokens
            tokens.output,
            False,  # output_is_lower_bound
            tokens.reasoning,
            tokens.billed_prompt,
            None,  # billed
            self._limit,
            self._usable,
            None,  # cost_usd
            "ok",
            "work",
            self._exchange or None,
            None,  # cache_ttl_s
            None if self._answered else "silent",  # stop
            False,  # has_bodies
            None,  # prefix_kept
            tokens.rule,
            None,  # evidence
            self._fork.forked and not own and self._fork.copied(stamp, self._ordinal),  # inherited
            None,  # window_id
            self._tier,
        )
        self._last_key = key
        self._rolled_back = self._overflowed = False
        self._compactions.settle()
        self.records.append(call)
        self._first_item, self._answered, self._user_open, self._put_in = None, False, False, None

    def _compacted(self, payload: shape.Payload, stamp: str | None, number: int) -> None:
        summary: int | None = None
        named = self._calls.get(payload.compaction_response_id or "")
        self.reread |= self._calls.knew(payload.compaction_response_id or "")
        if named is None and self._last_key is not None and shape.text(payload.message).strip():
            last = self._calls[self._last_key]
            # a local compaction is an ordinary request whose answer is not written as an item, as others are
            named = last if self._answers and last.stop == "silent" and last.purpose == "work" else None
        if named is not None:
            summary = named.output_tokens
            chain = named.chain
            moved = msgspec.structs.replace(named, purpose="compaction", chain="side")
            self._calls[named.key] = moved
            self.records.append(moved)
        else:
            chain = self._chain
        self._compact_event(stamp, number, None, summary, chain)

    def _compact_event(
        self, stamp: str | None, number: int, after: int | None, summary: int | None = None, chain: str | None = None
    ) -> None:
        def made() -> Event:
            return Event(
                kind="compaction", evidence="recorded", session=self._session, chain=chain or self._chain,
                file=self.file, line=number, time=iso_ms(stamp or ""),
                key=f"{self._root()}:compacted:{self._compactions.count}:{self._totals.name}",
            )  # fmt: skip

        self._compactions.tell(self.records, made, after, summary)

    # ------------------------------------------------------------------------------------------------ results
    def take(self) -> list[Record]:
        out = super().take()
        if self.forgets:
            self._calls.trim()
        # of a call that changed within this batch only the last state counts
        calls = [record for record in out if type(record) is Call]
        last = {call.key: call for call in calls}
        if len(last) < len(calls):
            out = [record for record in out if type(record) is not Call or last[record.key] is record]
        if self._info_dirty and self._id is not None:
            self._info_dirty = False
            name = PurePath(self._cwd.replace("\\", "/")).name if self._cwd else None
            out.append(
                SessionInfo(session=self._session, source=SOURCE, file=self.file, chain=self._chain,
                            parent=self._fork.parents.get(self._id), started=self._fork.created, quota=self._quota,
                            cwd_name=name)
            )  # fmt: skip
        out.extend(shape.step(self._session, self._chain, item) for item in self._raw_steps)
        self._raw_steps.clear()
        return out


class Codex:
    """Reader of Codex rollouts."""

    source = SOURCE
    title = "Codex rollout"
    lines = True

    def sniff(self, head: Head) -> float:
        return shape.score(head.data)

    def parser(self, context: FileContext) -> CodexParser:
        return CodexParser(context)


READER = Codex()
