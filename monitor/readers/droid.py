"""Droid (Factory) sessions: totals for each session, because the log has no figures of single calls.

Where: ``~/.factory/sessions/<project>/<session>.settings.json`` with the figures, beside ``<session>.jsonl`` with the
conversation.

What is read: ``tokenUsage`` of the settings, a sum over the session that is rewritten as it grows: the session is shown
without a curve. In the conversation: ``compaction_state`` lines (recorded compactions), tool calls and messages.

Prompt tokens: ``inputTokens + cacheReadTokens + cacheCreationTokens``, summed over all calls.

Unknown: everything about single calls; costs; whether ``thinkingTokens`` are part of ``outputTokens`` (they are not
added).
"""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from monitor.readers import agent_values as look
from monitor.readers import usage
from monitor.readers.agent_values import JsonDocument, JsonLines, StepLog, head_has, obj, rows, time_ms, tokens, word
from monitor.readers.base import HEAD_BYTES, FileContext, Head
from monitor.readers.lines import first_objects
from monitor.records import Event, Record, SessionInfo

SOURCE = "droid"
_SETTINGS = ".settings.json"


def _session(context: FileContext) -> str:
    name = PurePath(context.name).name
    return name.removesuffix(_SETTINGS).removesuffix(".jsonl") if context.path is not None else "stdin"


class DroidSettingsParser(JsonDocument):
    """See the module; the figures."""

    def __init__(self, context: FileContext) -> None:
        super().__init__(context)
        self._session = _session(context)
        self._path = context.path

    def document(self, value: Any) -> None:
        settings = obj(value)
        found = obj(settings.get("tokenUsage"))
        names = ("inputTokens", "cacheReadTokens", "cacheCreationTokens", "outputTokens")
        fresh, read, write, said = (tokens(found.get(name)) for name in names)
        if not (fresh or read or write or said):
            return
        total = usage.additive(fresh, read, write, said, rule="droid")
        self.records.append(
            SessionInfo(session=self._session, source=SOURCE, file=self.file,
                        started=time_ms(settings.get("providerLockTimestamp")), cwd_name=self._folder(),
                        totals_only=(total.prompt, total.fresh, total.read, total.write, total.output))
        )  # fmt: skip

    def _folder(self) -> str | None:
        """The working directory, which the first line of the conversation names."""
        if self._path is None:
            return None
        try:
            with self._path.with_name(f"{self._session}.jsonl").open("rb") as stream:
                head = stream.read(HEAD_BYTES)
        except OSError:
            return None
        return next((look.folder_name(value.get("cwd")) for value in first_objects(head, 1)), None)


class DroidTalkParser(JsonLines):
    """See the module; the conversation, whose figures stand in the settings beside it."""

    def __init__(self, context: FileContext) -> None:
        super().__init__(context)
        self._session = _session(context)
        self._steps = StepLog(context.options)
        path = context.path
        self.companion = path is not None and path.with_name(self._session + _SETTINGS).exists()

    def row(self, value: dict[str, Any], number: int) -> None:
        kind, time = value.get("type"), time_ms(value.get("timestamp"))
        if kind == "message":
            self._message(obj(value.get("message")), time, number)
        elif kind == "compaction_state":
            self.records.append(
                Event(kind="compaction", evidence="recorded", session=self._session, file=self.file, line=number,
                      time=time, key=f"droid:compaction:{self._session}:{word(value.get('id')) or number}")
            )  # fmt: skip

    def _message(self, message: dict[str, Any], time: int | None, number: int) -> None:
        content = message.get("content")
        results = [block for block in rows(content) if block.get("type") == "tool_result"]
        for block in results:
            failed = block.get("is_error")
            ok = None if not isinstance(failed, bool) else not failed
            text = look.text_of(block.get("content"))
            id = word(block.get("tool_use_id"))
            self._steps.push(self._session, "main", ("tool_result", time, number, id, ok, text))
        if message.get("role") == "user":
            text = look.text_of(content)
            if text.strip() and not results:
                self._steps.push(self._session, "main", ("user", time, number, text))
        elif message.get("role") == "assistant":
            calls = [block for block in rows(content) if block.get("type") == "tool_use"]
            for block in calls:
                item = ("tool_call", time, number, word(block.get("id")), word(block.get("name")), block.get("input"))
                self._steps.push(self._session, "main", item)
            if not calls:
                self._steps.push(self._session, "main", ("answer", time, number))

    def take(self) -> list[Record]:
        return [*super().take(), *self._steps.take()]


class DroidSettings:
    """Reader of Droid's settings, which hold the figures."""

    source = SOURCE
    title = "Droid session"
    lines = False

    def sniff(self, head: Head) -> float:
        if not head.data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
            return 0.0
        own = head_has(head, b'"tokenUsage"', b'"inputTokens"', b'"outputTokens"')
        return 0.85 if own and head_has(head, b'"cacheCreationTokens"') and b'"uuid"' not in head.data else 0.0

    def parser(self, context: FileContext) -> DroidSettingsParser:
        return DroidSettingsParser(context)


class DroidTalk:
    """Reader of Droid's conversations."""

    source = SOURCE
    title = "Droid conversation"
    lines = True

    def sniff(self, head: Head) -> float:
        for value in first_objects(head.data, 8):
            if value.get("type") == "session_start" and "id" in value:
                return 0.85
            if value.get("type") == "compaction_state":
                return 0.7
        return 0.0

    def parser(self, context: FileContext) -> DroidTalkParser:
        return DroidTalkParser(context)


READERS = [DroidSettings(), DroidTalk()]
