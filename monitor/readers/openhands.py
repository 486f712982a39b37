"""OpenHands conversations.

Where: ``~/.openhands/conversations/<id>/base_state.json`` with ``events/*.json`` beside it (SDK and CLI);
``~/.openhands/sessions/<id>/events/<n>.json`` (before 1.0); exported trajectories and outputs of evaluations.

What is read: ``token_usages`` of the metrics in ``base_state.json``, one entry for each request, in order; the events
give the time and what happened in between. Metrics of the condenser are summarising calls (purpose compaction), those
of titles, routers and analysers side calls, of other names subagents. ``Condensation`` events are recorded
compactions. Before 1.0: the answer an event kept (``tool_call_metadata.model_response``), known by its id, so that
several events of one answer are one call. A conversation's own events are read with its state, not by themselves.

Prompt tokens: ``prompt_tokens``, which includes the cache; where more was read from the cache than that, it does not.
``context_window`` is the logged context limit (0: unknown).

Unknown: times where no event names the answer; requests that failed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from monitor.readers import agent_values as look
from monitor.readers import shapes, usage
from monitor.readers.agent_values import JsonDocument, StepLog, head_has, obj, rows, text_of, time_ms, tokens, word
from monitor.readers.base import FileContext, Head
from monitor.records import Call, Event, Problem, Purpose, Record, SessionInfo

SOURCE = "openhands"
_MAIN = frozenset(("agent", "default", "main", "llm"))
_SIDE = ("title", "router", "security", "analyz", "critic", "ask_agent", "profile")
_MOST_EVENTS = 200_000


class OpenHandsParser(JsonDocument):
    """See the module."""

    def __init__(self, context: FileContext) -> None:
        super().__init__(context)
        self._path = context.path
        self._session = _session(context)
        self._steps = StepLog(context.options)
        self._exchange = 0
        self._times: dict[str, tuple[int | None, int | None]] = {}  # answer -> (time, exchange)
        self._keys: set[str] = set()

    def take(self) -> list[Record]:
        return [*super().take(), *self._steps.take()]

    def document(self, value: Any) -> None:
        document = obj(value)
        if isinstance(value, list):
            self._events(rows(value))
        elif "stats" in document or "usage_to_metrics" in document:
            self._state(document)
        elif any(isinstance(document.get(name), list) for name in ("trajectory", "history", "events")):
            events = next(rows(document[n]) for n in ("trajectory", "history", "events") if n in document)
            self._session = word(document.get("instance_id")) or self._session
            before = len(self._keys)
            self._events(events)
            if len(self._keys) == before:
                self._metrics("agent", obj(document.get("metrics")))
        else:
            self._event_file(document)

    # ------------------------------------------------------------------------------------------------ state
    def _state(self, document: dict[str, Any]) -> None:
        self._session = word(document.get("id")) or self._session
        workspace = obj(document.get("workspace"))
        folder = workspace.get("working_dir") or workspace.get("cwd")
        self.records.append(
            SessionInfo(session=self._session, source=SOURCE, file=self.file, cwd_name=look.folder_name(folder))
        )
        if self._path is not None:
            self._events(self._beside(self._path.parent / "events"))
        stats = obj(document.get("stats")) or document
        found = obj(stats.get("usage_to_metrics")) or obj(stats.get("service_to_metrics"))
        for name, metrics in found.items():
            self._metrics(name, obj(metrics))

    def _beside(self, folder: Path) -> Iterator[dict[str, Any]]:
        try:
            paths = sorted(folder.glob("*.json"))[:_MOST_EVENTS]
        except OSError:
            return
        for path in paths:
            try:
                yield obj(look.decode(path.read_bytes()))
            except OSError as error:
                why = error.strerror or type(error).__name__
                self.records.append(Problem(str(path), None, f"cannot be read: {why.lower()}"))
            except (ValueError, RecursionError):
                self.records.append(Problem(str(path), None, "this event is not valid JSON (cut off or damaged)"))

    def _metrics(self, name: str, metrics: dict[str, Any]) -> None:
        chain, purpose = _place(name)
        latencies = {
            word(row.get("response_id")): row.get("latency") for row in rows(metrics.get("response_latencies"))
        }
        used = rows(metrics.get("token_usages"))
        costs = rows(metrics.get("costs"))
        # free answers leave no cost: only lists of the same length belong together
        paired = costs if len(costs) == len(used) else [{}] * len(used)
        for place, (row, price) in enumerate(zip(used, paired, strict=True)):
            id = word(row.get("response_id"))
            told = self._times.get(id or "")
            end = time_ms(price.get("timestamp"))
            latency = latencies.get(id)
            span = round(latency * 1000) if isinstance(latency, float) and 0 < latency < 1e6 else None
            if end is not None and span is not None:
                start: int | None = end - span
            else:
                start = end if end is not None else told[0] if told is not None else None
            figures = _tokens(row)
            if figures.prompt is None and not figures.output:
                continue
            self._call(
                figures, chain, purpose, id, id or f"openhands:{self._session}:{name}:{place}", start, span,
                word(row.get("model")) or word(metrics.get("model_name")), tokens(row.get("context_window")) or None,
                look.cost(price.get("cost")), told[1] if told is not None and chain == "main" else None,
            )  # fmt: skip

    def _call(
        self, figures: usage.Tokens, chain: str, purpose: Purpose, id: str | None, key: str, time: int | None,
        span: int | None, model: str | None, limit: int | None, cost: float | None, exchange: int | None,
    ) -> None:  # fmt: skip
        if key in self._keys:
            return
        self._keys.add(key)
        provider, slash, name = (model or "").partition("/")
        self.records.append(
            Call(
                session=self._session,
                source=SOURCE,
                file=self.file,
                chain=chain,
                call_id=id,
                key=key,
                time=time,
                duration_ms=span,
                provider=provider if slash and name else None,
                model=name if slash and name else model,
                prompt_tokens=figures.prompt,
                fresh_tokens=figures.fresh,
                cache_read_tokens=figures.read,
                cache_write_tokens=figures.write,
                output_tokens=figures.output,
                reasoning_tokens=figures.reasoning,
                billed_prompt_tokens=figures.billed_prompt,
                context_limit=limit,
                cost_usd=cost,
                purpose=purpose,
                exchange=exchange,
                usage_rule=figures.rule,
            )
        )

    # ------------------------------------------------------------------------------------------------ events
    def _events(self, events: Any) -> None:
        for event in events:
            self._event(event)

    def _event_file(self, event: dict[str, Any]) -> None:
        folder = self._path.parent.parent if self._path is not None else None
        if folder is not None and (folder / "base_state.json").exists():
            self.companion = True  # read with the state
            return
        self._event(event)
        # the number of the user's messages before it is not known here
        self.records = [_unnumbered(record) for record in self.records]
        self.companion = not self._keys

    def _event(self, event: dict[str, Any]) -> None:
        time = time_ms(event.get("timestamp"))
        kind = word(event.get("kind")) or word(event.get("action")) or word(event.get("observation"))
        source = event.get("source")
        id = word(event.get("llm_response_id"))
        if kind in ("Condensation", "condensation") or event.get("action") == "condensation":
            self._condensed(event, time)
        elif source == "user" and kind in ("MessageEvent", "message"):
            self._user(event, time)
        elif id is not None:
            self._times.setdefault(id, (time, self._exchange or None))
        self._tool(event, time)
        answer = obj(obj(event.get("tool_call_metadata")).get("model_response"))
        if answer:
            self._answered(answer, time)

    def _answered(self, answer: dict[str, Any], time: int | None) -> None:
        id = word(answer.get("id"))
        model = word(answer.get("model"))
        figures = shapes.tokens(answer.get("usage"), model=model or "")
        if id is None or (figures.prompt is None and not figures.output):
            return
        exchange = self._exchange or None
        self._call(figures, "main", "work", id, id, time, None, model, None, None, exchange)

    def _condensed(self, event: dict[str, Any], time: int | None) -> None:
        args = obj(event.get("args")) or event
        if not (args.get("forgotten_event_ids") or args.get("forgotten_events_start_id") is not None):
            return
        self.records.append(
            Event(kind="compaction", evidence="recorded", session=self._session, file=self.file, time=time,
                  key=f"openhands:compaction:{self._session}:{word(event.get('id')) or time}")
        )  # fmt: skip

    def _user(self, event: dict[str, Any], time: int | None) -> None:
        message = obj(event.get("llm_message"))
        args = obj(event.get("args"))
        text = text_of(message.get("content")) or text_of(args.get("content")) or text_of(event.get("message"))
        if text.strip():
            self._exchange += 1
            self._steps.push(self._session, "main", ("user", time, None, text))

    def _tool(self, event: dict[str, Any], time: int | None) -> None:
        meta = obj(event.get("tool_call_metadata"))
        id = word(event.get("tool_call_id")) or word(meta.get("tool_call_id"))
        name = word(event.get("tool_name")) or word(meta.get("function_name"))
        if id is None or name is None:
            if event.get("kind") == "MessageEvent" and event.get("source") == "agent":
                self._steps.push(self._session, "main", ("answer", time, None))
            return
        seen = event.get("observation")
        if seen is None and event.get("kind") != "ObservationEvent":
            arguments = event.get("action") if isinstance(event.get("action"), dict) else event.get("args")
            self._steps.push(self._session, "main", ("tool_call", time, None, id, name, arguments))
            return
        content = obj(seen).get("content") if isinstance(seen, dict) else event.get("content")
        code = obj(seen).get("exit_code") if isinstance(seen, dict) else obj(event.get("extras")).get("exit_code")
        ok = code == 0 if type(code) is int else None
        self._steps.push(self._session, "main", ("tool_result", time, None, id, ok, text_of(content)))


def _unnumbered(record: Record) -> Record:
    if isinstance(record, Call) and record.exchange is not None:
        return replace(record, exchange=None)
    return record


def _session(context: FileContext) -> str:
    """The conversation's folder: ``<id>/base_state.json`` or ``<id>/events/<n>.json``."""
    path = context.path
    if path is None:
        return "stdin"
    if path.parent.name == "events":
        return path.parent.parent.name or path.stem
    return path.parent.name or path.stem if path.name == "base_state.json" else path.stem


def _place(name: str) -> tuple[str, Purpose]:
    """Chain and purpose of the metrics of this name."""
    low = name.lower()
    if low in _MAIN:
        return "main", "work"
    if "condens" in low:
        return "side", "compaction"
    if any(part in low for part in _SIDE):
        return "side", "side"
    return f"agent:{name}", "work"


def _tokens(row: dict[str, Any]) -> usage.Tokens:
    asked, said = tokens(row.get("prompt_tokens")), tokens(row.get("completion_tokens"))
    read, write = tokens(row.get("cache_read_tokens")), tokens(row.get("cache_write_tokens"))
    if not (asked or said or read):
        return usage.UNKNOWN
    thought = tokens(row.get("reasoning_tokens"))
    return usage.inclusive(asked or None, read, write, said, reasoning=thought, rule="openhands")


class OpenHands:
    """Reader of OpenHands conversations."""

    source = SOURCE
    title = "OpenHands conversation"
    lines = False

    def sniff(self, head: Head) -> float:
        opening = head.data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
        if opening == b"{":
            if b'"usage_to_metrics"' in head.data or b'"service_to_metrics"' in head.data:
                return 0.9
            if head.path is not None and head.path.name == "base_state.json" and head_has(head, b'"agent"', b'"llm"'):
                return 0.85
            if head_has(head, b'"instance_id"', b'"test_result"') or head_has(head, b'"trajectory"', b'"source"'):
                return 0.7
            return 0.8 if _is_event(head) and not _many(head) else 0.0
        if opening == b"[" and _is_event(head):
            return 0.7
        return 0.0

    def parser(self, context: FileContext) -> OpenHandsParser:
        return OpenHandsParser(context)


def _is_event(head: Head) -> bool:
    if not head_has(head, b'"source"', b'"timestamp"', b'"id"'):
        return False
    return (
        head_has(head, b'"kind"', b'Event"')
        or (head_has(head, b'"kind"', b'"Condensation'))
        or (head_has(head, b'"message"') and (head_has(head, b'"action"') or head_has(head, b'"observation"')))
    )


def _many(head: Head) -> bool:
    return b"\n{" in head.data.strip()


READER = OpenHands()
