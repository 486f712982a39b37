"""Copilot CLI's database of all sessions. See :mod:`monitor.readers.copilot`.

The table ``assistant_usage_events`` holds a row for each request, written when its answer has come; ``input_tokens``
include the cache, as public reports about this table agree (``token_details_json`` holds the uncached part). The
column ``initiator`` says who asked, where it was not the user.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from monitor.readers import sqlite_files as sqlite
from monitor.readers import usage
from monitor.readers.agent_values import JsonDocument, folder_name, time_ms, tokens
from monitor.readers.base import FileContext
from monitor.records import Call, SessionInfo

if TYPE_CHECKING:
    import sqlite3

SOURCE = "copilot"
_SESSION = ("id", "cwd", "created_at")
_CALL = (
    "id", "session_id", "turn_index", "agent_id", "parent_tool_call_id", "model", "copilot_usage_model", "input_tokens",
    "cache_read_tokens", "cache_write_tokens", "output_tokens", "reasoning_tokens", "duration_ms", "finish_reason",
    "created_at", "initiator",
)  # fmt: skip


class CopilotStoreParser(JsonDocument):
    """Reads the calls of all sessions."""

    def read(self, context: FileContext) -> None:
        with sqlite.connection(context, self.problem) as database:
            told = self._calls(database)
            for id, folder, created in sqlite.select(database, "sessions", _SESSION, self.problem):
                session = sqlite.text(id)
                if session in told:
                    self.records.append(
                        SessionInfo(session=session, source=SOURCE, file=self.file, started=time_ms(_plain(created)),
                                    cwd_name=folder_name(sqlite.text(folder)))
                    )  # fmt: skip

    def _calls(self, database: sqlite3.Connection) -> set[str]:
        told: set[str] = set()
        found = sqlite.select(database, "assistant_usage_events", _CALL, self.problem)
        for number, row in enumerate(found, 1):
            session = sqlite.text(row[1])
            if session is None:
                continue
            told.add(session)
            self._call(session, tokens(row[0]) or number, [_plain(value) for value in row])
        return told

    def _call(self, session: str, number: int, row: list[Any]) -> None:
        _, _, turn, agent, caller, model, billed, *counts = row[:12]
        span, finish, created, initiator = row[12:]
        asked, read, write, said, thought = (tokens(value) for value in counts)
        known = usage.inclusive(asked, read, write, said, rule="copilot") if asked or said else usage.UNKNOWN
        chain = _chain(caller or agent, initiator)
        written = time_ms(created)
        lasted = int(span) if isinstance(span, int | float) and span >= 0 else None
        self.records.append(
            Call(
                session=session,
                source=SOURCE,
                file=self.file,
                line=number,
                chain=chain,
                key=f"copilot:{session}:row:{number}",
                time=written - lasted if written is not None and lasted is not None else written,
                duration_ms=lasted,
                model=billed if model in (None, "", "auto") else model,
                prompt_tokens=known.prompt,
                fresh_tokens=known.fresh,
                cache_read_tokens=known.read,
                cache_write_tokens=known.write,
                output_tokens=known.output,
                reasoning_tokens=thought if known.output is not None else None,
                billed_prompt_tokens=known.billed_prompt,
                exchange=turn + 1 if chain == "main" and isinstance(turn, int) and turn >= 0 else None,
                stop=finish or None,
                usage_rule=known.rule,
            )
        )


def _chain(agent: Any, initiator: Any) -> str:
    if agent:
        return f"agent:{agent}"
    return f"agent:{initiator}" if initiator in ("sub-agent", "mcp-sampling") else "main"


def _plain(value: Any) -> Any:
    return sqlite.text(value) if isinstance(value, bytes) else value
