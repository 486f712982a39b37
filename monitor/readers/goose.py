"""Goose sessions.

Where: ``$GOOSE_PATH_ROOT/data/sessions/sessions.db``, ``~/.local/share/goose/sessions/sessions.db`` (also under
``Block/goose``, on Windows in ``%APPDATA%``), SQLite, opened read-only.

What is read: ``usage_ledger`` (schema 15 and newer), one row for each answered request. Rows with ``is_compaction`` are
the requests that wrote a summary; each is one compaction. Rows whose ``cost_source`` is ``carried_forward`` bring the
sums of times before the ledger into it; they are no calls and are left out. ``messages`` give what the user typed and
the steps between the calls. Sessions without a ledger have sums only (``accumulated_…``) and are shown without a curve.
A session with a parent is that of a subagent.

Prompt tokens: ``input_tokens``, which holds cache reads and writes.

Unknown: when a request was sent (a row is written when its answer is there); who asked for a compaction.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any

import msgspec

from monitor.readers import agent_values as look
from monitor.readers import usage
from monitor.readers.agent_values import SQLITE, JsonDocument, StepLog, obj, rows, text_of, time_ms, tokens
from monitor.readers.base import FileContext, Head
from monitor.readers.lines import later
from monitor.records import Call, Event, SessionInfo

if TYPE_CHECKING:
    import sqlite3

SOURCE = "goose"
_SESSION = ("id", "parent_session_id", "working_dir", "created_at", "provider_name", "model_config_json",
            "accumulated_input_tokens", "accumulated_output_tokens", "accumulated_cache_read_tokens",
            "accumulated_cache_write_tokens")  # fmt: skip
_ROW = ("id", "session_id", "created_timestamp", "model", "input_tokens", "output_tokens", "cache_read_tokens",
        "cache_write_tokens", "cost", "cost_source", "is_compaction")  # fmt: skip
_MESSAGE = ("session_id", "role", "content_json", "created_timestamp", "metadata_json")
_CARRIED = "carried_forward"


class _Session(msgspec.Struct):
    """A row of ``sessions``, and what is told of it elsewhere."""

    parent: str | None
    folder: str | None
    started: int | None
    provider: str | None
    model: str | None
    sums: tuple[int | None, int | None, int | None, int | None]  # input, cache read, cache write, output
    typed: list[int] = msgspec.field(default_factory=list)  # when the user said something
    told: bool = False  # it has calls of its own


class GooseParser(JsonDocument):
    """See the module."""

    def read(self, context: FileContext) -> None:
        from monitor.readers import sqlite_files as sqlite  # loaded where there is a database

        self._sessions: dict[str, _Session] = {}
        with sqlite.connection(context, self.problem) as database:
            for row in sqlite.select(database, "sessions", _SESSION, self.problem):
                self._session(row)
            self._messages(database)
            self._ledger(database)
        for id, found in self._sessions.items():
            session, chain = look.at_root(id, self._parent)
            self.records.append(
                SessionInfo(session=session, source=SOURCE, file=self.file, chain=chain, started=found.started,
                            cwd_name=found.folder, totals_only=None if found.told else _sums(found))
            )  # fmt: skip

    def _session(self, row: tuple[Any, ...]) -> None:
        from monitor.readers.sqlite_files import text

        id, parent, folder, created, provider, config = (text(value) for value in row[:6])
        if id is None:
            return
        sums = tuple(tokens(row[place]) for place in (6, 8, 9, 7))
        model = look.word(obj(later(config.encode("utf-8", "replace"))).get("model_name")) if config else None
        self._sessions[id] = _Session(parent, look.folder_name(folder), time_ms(created), provider, model, sums)  # type: ignore[arg-type]

    def _parent(self, id: str) -> str | None:
        found = self._sessions.get(id)
        return found.parent if found is not None else None

    # ------------------------------------------------------------------------------------------------ calls
    def _ledger(self, database: sqlite3.Connection) -> None:
        from monitor.readers import sqlite_files as sqlite

        try:
            if not sqlite.columns(database, "usage_ledger"):
                return  # a version that had none yet
        except sqlite.DAMAGE:
            return
        carried = 0
        found = list(sqlite.select(database, "usage_ledger", _ROW, self.problem))
        for row in sorted(found, key=lambda row: (time_ms(row[2]) or 0, row[0] if isinstance(row[0], int) else 0)):
            if sqlite.text(row[9]) == _CARRIED:
                carried += 1
            else:
                self._call(row)
        if carried:
            what = "a row brings" if carried == 1 else f"{carried} rows bring"
            self.problem(None, f"{what} sums of times before Goose kept calls; they are no calls and are left out")

    def _call(self, row: tuple[Any, ...]) -> None:
        from monitor.readers.sqlite_files import text

        number, id, stamp = row[0], text(row[1]), time_ms(row[2])
        if id is None:
            return
        session, chain = look.at_root(id, self._parent)
        owner = self._sessions.get(id)
        summarises = bool(row[10])
        counts = [tokens(value) for value in row[4:8]]
        prompt, output, read, write = counts
        found = usage.inclusive(prompt, read, write, output, rule="goose")
        key = f"goose:{id}:{number}:{row[2]}:{prompt}:{output}"
        exchange = None
        if owner is not None:
            owner.told = True
            if chain == "main" and stamp is not None:
                exchange = bisect_right(owner.typed, stamp) or None
        if summarises:
            self.records.append(
                Event(kind="compaction", evidence="recorded", session=session, file=self.file, chain=chain, time=stamp,
                      summary_tokens=output, key=f"{key}:compaction")
            )  # fmt: skip
        # by position, see monitor.records
        self.records.append(
            Call(
                session,
                SOURCE,
                self.file,
                None,  # line
                "side" if summarises else chain,
                "explicit",
                None,  # call_id
                key,
                stamp,
                None,  # duration_ms
                owner.provider if owner is not None else None,
                text(row[3]) or (owner.model if owner is not None else None),
                found.prompt,
                found.fresh,
                found.read,
                found.write,
                None,  # cache_write_1h_tokens
                found.output,
                billed_prompt_tokens=found.billed_prompt,
                cost_usd=look.cost(row[8]),
                purpose="compaction" if summarises else "work",
                exchange=exchange,
                usage_rule=found.rule,
            )
        )

    # ------------------------------------------------------------------------------------------------ messages
    def _messages(self, database: sqlite3.Connection) -> None:
        from monitor.readers import sqlite_files as sqlite

        log = StepLog(self.options)
        for row in sqlite.select(database, "messages", _MESSAGE, self.problem):
            id, role, content, _, metadata = (sqlite.text(value) for value in (*row[:3], None, row[4]))
            found = self._sessions.get(id or "")
            if id is None or found is None or content is None:
                continue
            session, chain = look.at_root(id, self._parent)
            blocks = rows(later(content.encode("utf-8", "replace")))
            time = time_ms(row[3])
            shown = obj(later(metadata.encode("utf-8", "replace"))).get("userVisible", True) if metadata else True
            self._steps(log, (session, chain), role, blocks, time)
            spoken = role == "user" and shown and any(block.get("type") == "text" for block in blocks)
            if spoken and time is not None:
                found.typed.append(time)
                log.push(session, chain, ("user", time, None, text_of(blocks)))
        self.records += log.take()
        for one in self._sessions.values():
            one.typed.sort()

    @staticmethod
    def _steps(
        log: StepLog, where: tuple[str, str], role: str | None, blocks: list[dict[str, Any]], time: int | None
    ) -> None:
        """Calls of tools and their results; an answer that calls none ends the turn."""
        called = False
        for block in blocks:
            kind, id = block.get("type"), look.word(block.get("id")) or ""
            if kind == "toolRequest":
                call = obj(obj(block.get("toolCall")).get("value"))
                log.push(*where, ("tool_call", time, None, id, look.word(call.get("name")), call.get("arguments")))
                called = True
            elif kind == "toolResponse":
                told = obj(block.get("toolResult"))
                value = told.get("value")
                content = value.get("content") if isinstance(value, dict) else value
                failed = told.get("status") == "error" or obj(value).get("isError") is True
                said = text_of(content) or look.word(told.get("error")) or ""
                log.push(*where, ("tool_result", time, None, id, False if failed else None, said))
        if role == "assistant" and not called and any(block.get("type") == "text" for block in blocks):
            log.push(*where, ("answer", time, None))


def _sums(found: _Session) -> tuple[int | None, int | None, int | None, int | None, int | None] | None:
    if not any(found.sums):
        return None
    prompt, read, write, output = found.sums
    total = usage.inclusive(prompt, read, write, output, rule="goose")
    return total.prompt, total.fresh, total.read, total.write, total.output


class Goose:
    """Reader of Goose's database."""

    source = SOURCE
    title = "Goose sessions"
    lines = False

    def sniff(self, head: Head) -> float:
        if not head.data.startswith(SQLITE):
            return 0.0
        from monitor.readers import sqlite_files

        found = sqlite_files.tables(head)
        if not {"sessions", "messages"} <= found.keys():
            return 0.0
        own = "accumulated_input_tokens" in found["sessions"] and "content_json" in found["messages"]
        return 0.95 if own else 0.0

    def parser(self, context: FileContext) -> GooseParser:
        return GooseParser(context)


READER = Goose()
