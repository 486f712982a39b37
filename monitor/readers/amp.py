"""Amp threads.

Where: ``~/.local/share/amp/threads/T-<id>.json``.

What is read: assistant messages with ``usage``; an event of ``usageLedger`` that ends at the same message gives the
time where the usage does not. Ledger events without such a message are calls whose prompt is unknown unless they state
the cache; those of another operation than inference (titles and the like) are side calls.

Prompt tokens: ``inputTokens + cacheCreationInputTokens + cacheReadInputTokens``. For models of OpenAI, which bill no
cache writes, Amp counts what was not cached as creation: it is fresh input there. ``maxInputTokens`` is the logged
context limit. Amp's credits are no dollars and are left out.

Unknown: when a request began; requests of subagents, which are in no thread file; reasoning tokens.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from monitor.readers import agent_values as look
from monitor.readers import usage
from monitor.readers.agent_values import JsonDocument, StepLog, head_has, obj, rows, text_of, time_ms, tokens, word
from monitor.readers.base import FileContext, Head
from monitor.records import Call, Record, SessionInfo

SOURCE = "amp"
_USAGE = ("inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens", "outputTokens")
_LEDGER = ("input", "cacheReadInputTokens", "cacheCreationInputTokens", "output")


class AmpParser(JsonDocument):
    """See the module."""

    def __init__(self, context: FileContext) -> None:
        super().__init__(context)
        self._thread = PurePath(context.name).stem if context.path else "stdin"
        self._steps = StepLog(context.options)

    def take(self) -> list[Record]:
        return [*super().take(), *self._steps.take()]

    def document(self, value: Any) -> None:
        thread = obj(value)
        self._thread = word(thread.get("id")) or self._thread
        tree = next(iter(rows(obj(obj(thread.get("env")).get("initial")).get("trees"))), {})
        self.records.append(
            SessionInfo(session=self._thread, source=SOURCE, file=self.file, started=time_ms(thread.get("created")),
                        cwd_name=word(tree.get("displayName")))
        )  # fmt: skip
        ledger = rows(obj(thread.get("usageLedger")).get("events"))
        ends: dict[str, dict[str, Any]] = {}
        for event in ledger:
            end = word(event.get("toMessageId"))
            if end is not None and _inference(event):
                ends.setdefault(end, event)
        exchange = 0
        told: set[str] = set()
        for place, message in enumerate(rows(thread.get("messages"))):
            id = word(message.get("messageId"))
            number = id if id is not None else f"#{place}"
            found = obj(message.get("usage"))
            entry = ends.get(number, {})
            time = time_ms(found.get("timestamp")) or time_ms(entry.get("timestamp"))
            if message.get("role") == "user":
                exchange += self._user(message, time)
            elif message.get("role") == "assistant":
                self._tools(message, time)
                if found and self._call(found, _USAGE, number, time, exchange or None, found):
                    told.add(number)
        for place, event in enumerate(ledger):
            end = word(event.get("toMessageId"))
            if end is None or end not in told:
                name = word(event.get("id")) or f"ledger:{end or place}"
                self._call(obj(event.get("tokens")), _LEDGER, name, time_ms(event.get("timestamp")), None, event)

    def _call(
        self, found: dict[str, Any], names: tuple[str, ...], id: str, time: int | None, exchange: int | None,
        told: dict[str, Any],
    ) -> bool:  # fmt: skip
        fresh, read, write, said = (tokens(found.get(name)) for name in names)
        if not (fresh or read or write or said):
            return False
        model = word(told.get("model"))
        if model is not None and model.startswith(("gpt-", "o3", "o4")) and write:
            fresh, write = (fresh or 0) + write, 0
        if names is _LEDGER and read is None and write is None:
            fresh = None  # the ledger may leave the cache out
        figures = usage.additive(fresh, read, write, said, rule="amp")
        work = _inference(told)
        limit = tokens(found.get("maxInputTokens"))
        self.records.append(
            Call(
                session=self._thread,
                source=SOURCE,
                file=self.file,
                chain="main" if work else "side",
                call_id=id,
                key=f"amp:{self._thread}:{id}",
                time=time,
                model=model,
                prompt_tokens=figures.prompt,
                fresh_tokens=figures.fresh,
                cache_read_tokens=figures.read,
                cache_write_tokens=figures.write,
                output_tokens=figures.output,
                billed_prompt_tokens=figures.billed_prompt,
                context_limit=limit or None,
                purpose="work" if work else "side",
                exchange=exchange,
                usage_rule=figures.rule,
            )
        )
        return True

    def _user(self, message: dict[str, Any], time: int | None) -> int:
        """Notes a user message; 1 if somebody typed it, 0 if it holds results of tools."""
        results = [block for block in rows(message.get("content")) if block.get("type") == "tool_result"]
        for block in results:
            run = obj(block.get("run"))
            status = run.get("status")
            ok = True if status == "done" else False if status in ("error", "cancelled") else None
            shown = run.get("result")
            text = shown if isinstance(shown, str) else text_of(obj(shown).get("output"))
            id = word(block.get("toolUseID")) or word(block.get("tool_use_id"))
            text = text or text_of(obj(run.get("error")).get("message"))
            self._steps.push(self._thread, "main", ("tool_result", time, None, id, ok, text))
        text = look.text_of(message.get("content"))
        if results or not text.strip():
            return 0
        self._steps.push(self._thread, "main", ("user", time, None, text))
        return 1

    def _tools(self, message: dict[str, Any], time: int | None) -> None:
        calls = [block for block in rows(message.get("content")) if block.get("type") == "tool_use"]
        for block in calls:
            item = ("tool_call", time, None, word(block.get("id")), word(block.get("name")), block.get("input"))
            self._steps.push(self._thread, "main", item)
        if not calls:
            self._steps.push(self._thread, "main", ("answer", time, None))


def _inference(told: dict[str, Any]) -> bool:
    return told.get("operationType") in (None, "inference")


class Amp:
    """Reader of Amp's threads."""

    source = SOURCE
    title = "Amp thread"
    lines = False

    def sniff(self, head: Head) -> float:
        if not head.data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
            return 0.0
        if head_has(head, b'"messages"', within=len(head.data)) and b'"id"' in head.data:
            if b'"T-' in head.data[:4096] and b'"created"' in head.data:
                return 0.9
            if b'"usageLedger"' in head.data or b'"totalInputTokens"' in head.data:
                return 0.85
        return 0.0

    def parser(self, context: FileContext) -> AmpParser:
        return AmpParser(context)


READER = Amp()
