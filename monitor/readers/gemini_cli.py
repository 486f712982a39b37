"""Gemini CLI sessions, both kinds.

Where: ``~/.gemini/tmp/<project>/chats/session-<time>-<id>.json`` (one document, until 0.38) or ``.jsonl`` (lines, since
0.39); subagents in ``chats/<parent session>/<id>.jsonl`` with ``kind`` "subagent".

What is read: messages of type ``gemini`` that carry ``tokens``. Lines repeat a message when it grows; the last telling
counts, but one without tokens does not erase tokens already told (``--resume`` writes all history again without them).
``$rewindTo`` is a rewind. ``$set.messages`` replaces the history: with a new ``<state_snapshot>`` in it, or if answers
of the old history are still gone when the next one comes, it is a recorded compaction. If all of them are gone, it was
cleared, unless something the user typed is told again: then the same history stands there under new ids, with tool
results taken out (a trim). The document kind leaves no mark of a compaction.

Prompt tokens: ``input`` (which includes ``cached``) plus ``tool`` (prompts of server-side tools) where the total says
that it stands outside. Output: ``output + thoughts``, unless the total says that thoughts are part of it. Gemini has no
cache writes (0). A row of zeros is an answer that failed: a call with an error and unknown tokens. One whose figures
are null when it is told for the first time is an answer of which the provider told none.

Unknown: the context window; when a request began; utility calls (routing, compression, titles), which are not logged.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath
from typing import Any
from zlib import crc32

from monitor.readers import agent_values as look
from monitor.readers import usage
from monitor.readers.agent_values import JsonDocument, JsonLines, StepLog, obj, rows, text_of, time_ms, word
from monitor.readers.base import FileContext, Head
from monitor.readers.lines import first_objects
from monitor.readers.overflow import too_long
from monitor.readers.patterns import lazy
from monitor.records import Call, Event, EventKind, Record, SessionInfo

SOURCE = "gemini-cli"
_SNAPSHOT = "<state_snapshot>"
_CONTEXT = "<session_context>"  # the client's own first message
#: user rows the client writes: context, summaries, and its own way of saying "go on"
_MADE_UP = (_CONTEXT, _SNAPSHOT, "This is the Gemini CLI. We are setting up the context",
            "System: Potential loop detected")  # fmt: skip
_ANSWER = lazy(rb'"type"\s*:\s*"gemini"')
_CONTINUE = frozenset(("Please continue.", "System: Please continue."))


def gemini_tokens(
    prompt: Any, output: Any, cached: Any, thoughts: Any, tool: Any, total: Any, rule: str
) -> usage.Tokens:
    """Figures as Gemini's clients (and Qwen's, which kept the names) log them.

    The total decides whether thoughts stand outside the output and tool prompts outside the input, as clients differ.
    """
    asked, said, read = look.tokens(prompt), look.tokens(output), look.tokens(cached)
    thought, used, whole = look.tokens(thoughts), look.tokens(tool) or 0, look.tokens(total)
    if not asked and not said:
        return usage.UNKNOWN
    answer = said
    if asked is not None and said is not None and thought:
        inside = whole in (asked + said, asked + said + used) and whole != asked + said + thought + used
        answer = said if inside else said + thought
        rule += "+thoughts-inside" if inside else ""
    if asked is not None and used:
        outside = whole is None or whole != asked + (said or 0) + (thought or 0)
        asked += used if outside else 0
    if asked == 0:
        asked = None
    return usage.inclusive(asked, read if read is not None else 0, 0, answer, reasoning=thought, rule=rule)


class History:
    """What both kinds of file tell, message by message, as records."""

    def __init__(self, context: FileContext) -> None:
        self.file = context.name
        self.records: list[Record] = []
        self.steps = StepLog(context.options)
        self._path = context.path
        self.session = PurePath(context.name).stem if context.path else "stdin"
        self.chain = "main"
        self._known = False
        self._calls: dict[str, Call] = {}
        self._history: dict[str, bool] = {}  # ids of the messages in the context, in order -> has tokens
        #: answers a rewrite left out, line, time, whether it tells the same history under new ids
        self._gone: tuple[set[str], int | None, int | None, bool] | None = None
        self._snapshots: set[int] = set()
        self._summarised = False  # the history holds a snapshot
        self._replacing = False
        self._again = False  # rows tell the history once more, until the rewrite that takes it over
        self._users: set[str] = set()
        self._said: set[int] = set()
        self._first = ""  # what the user typed first
        self._tools: set[str] = set()
        self._exchange = 0

    def header(self, value: dict[str, Any]) -> None:
        """The line or the fields that say which session this is; a resume writes them again."""
        session = word(value.get("sessionId"))
        if session is None or self._known:
            return
        self._known = True
        if value.get("kind") == "subagent":
            self.chain = f"agent:{session}"
            folder = self._path.parent.name if self._path is not None else ""
            session = folder if folder and folder != "chats" else session
        self.session = session
        self.records.append(
            SessionInfo(session=session, source=SOURCE, file=self.file, chain=self.chain,
                        started=time_ms(value.get("startTime")))
        )  # fmt: skip

    def event(self, kind: EventKind, time: int | None, line: int | None, key: str) -> None:
        """Something the log marks by itself."""
        self.records.append(
            Event(kind=kind, evidence="recorded", session=self.session, chain=self.chain, file=self.file, line=line,
                  time=time, key=f"gemini:{kind}:{key}")
        )  # fmt: skip

    # ------------------------------------------------------------------------------------------------ history
    def message(self, value: dict[str, Any], line: int | None) -> None:
        """One message, told for the first time or again."""
        id = word(value.get("id"))
        kind = value.get("type")
        time = time_ms(value.get("timestamp"))
        if id is not None:
            self._history.setdefault(id, False)
        if kind == "user":
            self._user(value.get("content"), id, time, line)
        elif kind == "gemini":
            self._answer(value, id, time, line)
        elif kind == "error":
            self.event("overflow" if too_long(value.get("content")) else "error", time, line, id or f"{time}")

    def rewind(self, id: str, line: int | None) -> None:
        """``$rewindTo``: this message and all later ones have left the context."""
        ids = list(self._history)
        if id in self._history:
            for gone in ids[ids.index(id) :]:
                del self._history[gone]
        self.event("rewind", None, line, f"{id}:{line}")

    def replace(self, messages: list[dict[str, Any]], time: int | None, line: int | None) -> None:
        """``$set.messages``: this is all the history now."""
        before = {id for id, answered in self._history.items() if answered}
        if self._gone is not None:
            before |= self._gone[0]
            self._gone = None
        self._history = {}
        self._replacing = True
        self._again = self._summarised = repeated = False
        fresh_snapshot: int | None = None
        for value in messages:
            text = text_of(value.get("content")) if value.get("type") == "user" else ""
            mark = crc32(text.encode("utf-8", "replace"))
            # the first one may stand in one message with the client's context now
            opens = bool(self._first) and text.startswith(_CONTEXT) and self._first in text
            repeated = repeated or opens or mark in self._said
            if _SNAPSHOT in text[:2000]:
                self._summarised = True
                if mark not in self._snapshots:
                    self._snapshots.add(mark)
                    fresh_snapshot = mark
            self.message(value, line)
        self._replacing = False
        for id in self._history:
            self._history[id] = id in self._calls
        gone = before - set(self._history)
        if fresh_snapshot is not None:
            self.event("compaction", time, line, f"{fresh_snapshot}")
        elif gone:
            self._gone = (gone, line, time, repeated)

    def _settle(self) -> None:
        """Before the next answer: what a rewrite left out and nobody put back has left the context for good."""
        if self._gone is None:
            return
        (gone, line, time, repeated), self._gone = self._gone, None
        gone -= set(self._history)
        if gone:
            kept = self._summarised or any(self._history.values())
            kind: EventKind = "compaction" if kept else "trim" if repeated else "clear"
            self.event(kind, time, line, f"{self.session}:{line}")

    # ------------------------------------------------------------------------------------------------ messages
    def _user(self, content: Any, id: str | None, time: int | None, line: int | None) -> None:
        text = text_of(content)
        if text.startswith(_CONTEXT) and not self._replacing and any(self._history.values()):
            self._again = True
        if not text.strip() or text.lstrip().startswith(_MADE_UP) or text.strip() in _CONTINUE:
            return
        if id is not None:
            if id in self._users:
                return
            self._users.add(id)
        mark = crc32(text.encode("utf-8", "replace"))
        if (self._replacing or self._again) and mark in self._said:
            return  # history told again, possibly under new ids
        self._said.add(mark)
        self._first = self._first or text
        self._exchange += 1
        self.steps.push(self.session, self.chain, ("user", time, line, text))

    def _answer(self, value: dict[str, Any], id: str | None, time: int | None, line: int | None) -> None:
        calls = rows(value.get("toolCalls"))
        self._tool_steps(calls, time, line)
        found = value.get("tokens")
        if found is None and "tokens" in value and value.get("model") and line is not None and not self._replacing:
            found = {}  # an answer without figures: the provider told none
        if not isinstance(found, dict):
            return  # not answered yet, or told again without its figures
        self._settle()
        self._again = False
        if id is not None:
            self._history[id] = True
        # ids are UUIDs; shorter ones (exports, tests) are no identity beyond their session
        key = id if id is not None and len(id) >= 16 else f"gemini:{self.session}:{id or line}"
        tokens = gemini_tokens(
            found.get("input"), found.get("output"), found.get("cached"), found.get("thoughts"), found.get("tool"),
            found.get("total"), "gemini-cli",
        )  # fmt: skip
        failed = bool(found) and tokens.prompt is None and not tokens.output
        old = self._calls.get(id or key)
        call = Call(
            session=self.session,
            source=SOURCE,
            file=self.file,
            line=old.line if old is not None and old.prompt_tokens is not None else line,
            chain=self.chain,
            call_id=id,
            key=key,
            time=old.time if old is not None and old.time is not None else time,
            provider="google",
            model=word(value.get("model")),
            prompt_tokens=tokens.prompt,
            fresh_tokens=tokens.fresh,
            cache_read_tokens=tokens.read,
            cache_write_tokens=tokens.write,
            output_tokens=tokens.output,
            reasoning_tokens=tokens.reasoning,
            billed_prompt_tokens=tokens.billed_prompt,
            status="error" if failed else "ok",
            exchange=old.exchange if old is not None else self._exchange or None,
            usage_rule=tokens.rule,
        )
        if old is None or (found and not failed):
            self._calls[id or key] = call
            self.records.append(call)
        if not calls and text_of(value.get("content")):
            self.steps.push(self.session, self.chain, ("answer", time, line))

    def _tool_steps(self, calls: list[dict[str, Any]], time: int | None, line: int | None) -> None:
        for call in calls:
            id = word(call.get("id")) or ""
            if id in self._tools:
                continue
            self._tools.add(id)
            name, arguments = word(call.get("name")) or "", call.get("args")
            self.steps.push(self.session, self.chain, ("tool_call", time, line, id, name, arguments))
            status = call.get("status")
            if status in ("success", "error", "cancelled"):
                shown = call.get("resultDisplay")
                text = shown if isinstance(shown, str) else _output(call.get("result"))
                done = time_ms(call.get("timestamp")) or time
                ok = status == "success"
                self.steps.push(self.session, self.chain, ("tool_result", done, line, id, ok, text))

    def take(self) -> list[Record]:
        out, self.records = self.records, []
        return [*out, *self.steps.take()]


def _output(result: Any) -> str:
    found = []
    for part in rows(result):
        response = obj(obj(part.get("functionResponse")).get("response"))
        value = response.get("output", response.get("error"))
        if isinstance(value, str):
            found.append(value)
    return "\n".join(found)


class GeminiLinesParser(JsonLines):
    """See the module; the kind that is a line for each change."""

    def __init__(self, context: FileContext) -> None:
        super().__init__(context)
        self._log = History(context)

    def row(self, value: dict[str, Any], number: int) -> None:
        change = value.get("$set")
        if isinstance(change, dict):
            if isinstance(change.get("messages"), list):
                self._log.replace(rows(change["messages"]), time_ms(change.get("lastUpdated")), number)
            return
        if "$rewindTo" in value:
            self._log.rewind(word(value["$rewindTo"]) or "", number)
        elif "type" in value:
            self._log.message(value, number)
        else:
            self._log.header(value)

    def take(self) -> list[Record]:
        return [*self._log.take(), *super().take()]


class GeminiDocumentParser(JsonDocument):
    """See the module; the kind that is one document."""

    def __init__(self, context: FileContext) -> None:
        super().__init__(context)
        self._log = History(context)

    def document(self, value: Any) -> None:
        document = obj(value)
        self._log.header(document)
        for message in rows(document.get("messages")):
            self._log.message(message, None)

    def take(self) -> list[Record]:
        return [*self._log.take(), *super().take()]


class GeminiLines:
    """Reader of Gemini CLI sessions in lines."""

    source = SOURCE
    title = "Gemini CLI session"
    lines = True

    def sniff(self, head: Head) -> float:
        return _lines_score(first_objects(head.data, 8))

    def parser(self, context: FileContext) -> GeminiLinesParser:
        return GeminiLinesParser(context)


def _lines_score(found: Iterable[dict[str, Any]]) -> float:
    score = 0.0
    for value in found:
        if "messages" in value or "uuid" in value:
            return 0.0
        if "sessionId" in value and "projectHash" in value:
            return 0.95
        if "$set" in value or "$rewindTo" in value or (value.get("type") == "gemini" and "id" in value):
            score = 0.7
    return score


class GeminiDocument:
    """Reader of Gemini CLI sessions in one document."""

    source = SOURCE
    title = "Gemini CLI session"
    lines = False

    def sniff(self, head: Head) -> float:
        data = head.data
        if not data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
            return 0.0
        if b'"messages"' in data[:8192] and b'"sessionId"' in data[:8192]:
            own = b'"projectHash"' in data[:8192] or _ANSWER.search(data) is not None
            if own and _lines_score(first_objects(data, 2)) == 0.0:
                return 0.95
        # an early version without ids and figures
        return 0.5 if look.head_has(head, b'"history"', b'"parts"', b'"lastUpdated"') else 0.0

    def parser(self, context: FileContext) -> GeminiDocumentParser:
        return GeminiDocumentParser(context)


READERS = [GeminiLines(), GeminiDocument()]
