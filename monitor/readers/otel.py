"""OpenTelemetry: what agents and instrumented programs tell about model calls.

Where: files of the collector's ``file`` exporter or of any OTLP/HTTP receiver (JSON, one export request a line); Gemini
CLI's ``telemetry.outfile`` (pretty-printed objects one after the other); console exporters of the SDKs; span tables of
Phoenix (CSV, Parquet, JSON). Compressed files are opened; length-prefixed protobuf is not read: export JSON.

What is read:

* Claude Code (source claude-code-otel): log events ``api_request`` (one a call), ``api_error`` (a failed call),
  ``compaction``, ``user_prompt``; spans ``claude_code.llm_request`` (beta traces). Prompt = input_tokens +
  cache_read_tokens + cache_creation_tokens. ``query_source`` tells purpose and chain: ``compact`` is the summarising
  call; other helpers (titles, hooks, web pages) are side. A call told by log and span is one. ``pre_tokens`` and
  ``post_tokens`` are the client's own estimates and are kept as recorded.
* Codex (codex-otel): ``sse_event`` and ``websocket_event`` of kind ``response.completed`` with counts (each completion
  is told again without). Prompt = input_token_count, which includes the cached part. ``tool_token_count`` is the total,
  in spite of its name. ``auto_compact_token_limit`` is the logged usable limit. There is no compaction event.
* Gemini CLI (gemini-otel): ``api_response``; prompt = input_token_count (cache included) + the tools' prompt; output
  includes thoughts. ``chat_compression`` is a recorded compaction.
* Spans of model calls (otel): gen_ai names of now and before, OpenInference, OpenLLMetry, Vercel's AI SDK. Prompt =
  input tokens, which include the cache; reads and writes larger than the prompt prove an old instrumentation that left
  it out. A call told by the SDK's own span and an instrumentation's is one (response id, or one span inside the other).
  Spans of agents, tools and workflows are no calls; a span that sums up the calls inside it is none either.

Time: spans tell start and end. Log events are written when the answer is complete; their time is that of the call.

Session: session.id, gen_ai.conversation.id, conversation.id and their kin. Without one, calls are grouped by their
messages where spans keep them; else calls of one trace are a session (evidence "chain"), single ones are grouped by
service and growth.

Unknown: metrics are sums over time, not single calls; they are not usable and said to be so. Purposes are known only
where the log tells them: a summarising call among gen_ai spans counts as work. Cache figures that an instrumentation
does not record are unknown.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from monitor.readers import gateway_values as values
from monitor.readers import table_rows
from monitor.readers.base import BaseParser, FileContext, Head
from monitor.readers.json_stream import JsonAssembler
from monitor.readers.otel_agents import Agents
from monitor.readers.otel_json import Item, items
from monitor.readers.otel_spans import Spans
from monitor.records import Call, Record

_METRICS = "metrics are sums over time and tell no single calls; export logs or traces instead"
_EXPORTS = (b'"resourceLogs"', b'"resourceSpans"', b'"resource_spans"', b'"resource_logs"')
_METRIC_EXPORTS = (b'"resourceMetrics"', b'"resource_metrics"', b'"scopeMetrics"')
_TOKENS = (b"gen_ai.", b"llm.token_count", b"llm.usage", b"ai.usage.", b"input_token", b"openinference")
_MARKS = {
    "claude-code-otel": (b'"claude_code.', b"com.anthropic.claude_code", b'"stringValue":"claude-code"'),
    "codex-otel": (b'"codex.', b"codex_otel"),
    "gemini-otel": (b'"gemini_cli.', b'"gemini-cli"'),
}


class OtelParser(BaseParser):
    """Reads telemetry of any shape, as it is appended or as a whole."""

    def __init__(self, context: FileContext) -> None:
        super().__init__(context)
        self._assembler = JsonAssembler(self.problem)
        self._agents = Agents(self.file)
        self._spans = Spans(self.file)
        self._calls = 0
        self._metrics: int | None = None
        self._told = False

    def feed(self, lines: Iterable[bytes], first: int) -> None:
        for number, line in enumerate(lines, first):
            for at, value in self._assembler.push(line, number):
                self._value(value, at)

    def _value(self, value: Any, line: int | None) -> None:
        for item in items(value):
            if item.kind == "metric":
                self._metrics = self._metrics or line or 1
            else:
                self._item(item, line)

    def _item(self, item: Item, line: int | None) -> None:
        found = self._agents.take(item, line)
        records: list[Record] = list(self._spans.take(item, line)) if found is None else found
        self._calls += sum(1 for record in records if isinstance(record, Call))
        self.records += records

    def take(self) -> list[Record]:
        if self._metrics is not None and not self._calls and not self._told:
            self._told = True
            self.problem(None, _METRICS)
        return values.latest(super().take())


class OtelDocumentParser(OtelParser):
    """Reads one document, or a table of spans."""

    def read(self, context: FileContext) -> None:
        with context.open() as stream:
            data = stream.read()
        if not table_rows.is_json(data[:4096]):
            table = FileContext(context.name, data=data, options=context.options)
            for line, row in table_rows.rows(table, self.problem):
                self._value(row, line)
            return
        from monitor.readers.json_stream import values_of

        for line, value in values_of(data, self.problem):
            rows, wrapped = table_rows.unwrap(value)
            self._value(rows if wrapped else value, line)


def _score(head: Head, source: str) -> float:
    """How sure a head is telemetry of a source."""
    found = table_rows.peek(head)
    if found.kind not in ("json", "jsonl"):
        phoenix = source == "otel" and any(name.startswith("attributes.") for name in found.columns)
        return 0.9 if phoenix and found.columns & {"context.trace_id", "context.span_id"} else 0.0
    export = any(mark in head.data for mark in _EXPORTS)
    console = any(_console(row) for row in found.rows)
    metrics = any(mark in head.data for mark in _METRIC_EXPORTS)
    if not export and not console and not metrics:
        return 0.0
    if source in _MARKS:
        return 0.95 if any(mark in head.data for mark in _MARKS[source]) else 0.0
    return 0.9 if metrics or any(mark in head.data for mark in _TOKENS) else 0.4


def _console(row: dict[str, Any]) -> bool:
    """An object as console and file exporters write it."""
    if "scopeMetrics" in row and "resource" in row:
        return True
    timed = row.keys() & {"hrTime", "start_time", "startTime", "timestamp"}
    placed = row.keys() & {"context", "_spanContext", "resource", "hrTimeObserved", "spanContext"}
    return isinstance(row.get("attributes"), dict) and bool(timed) and bool(placed)


class OtelReader:
    """Telemetry, one export request or one object after the other."""

    lines = True

    def __init__(self, source: str, title: str) -> None:
        self.source = source
        self.title = title

    def sniff(self, head: Head) -> float:
        return _score(head, self.source) if self._whole(head) is False else 0.0

    def _whole(self, head: Head) -> bool:
        """A file without lines to follow: a table, or a document that does not end with a line feed."""
        found = table_rows.peek(head)
        return found.kind not in ("json", "jsonl") or (head.complete and not head.data.endswith(b"\n"))

    def parser(self, context: FileContext) -> OtelParser:
        return OtelParser(context)


class OtelDocument(OtelReader):
    """Telemetry as one document or as a table of spans."""

    lines = False

    def sniff(self, head: Head) -> float:
        return _score(head, self.source) if self._whole(head) else 0.0

    def parser(self, context: FileContext) -> OtelDocumentParser:
        return OtelDocumentParser(context)


_KINDS = (
    ("claude-code-otel", "Claude Code telemetry"),
    ("codex-otel", "Codex telemetry"),
    ("gemini-otel", "Gemini CLI telemetry"),
    ("otel", "OpenTelemetry of model calls"),
)
READERS = [*(OtelReader(*kind) for kind in _KINDS), *(OtelDocument(*kind) for kind in _KINDS)]
