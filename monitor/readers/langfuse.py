"""Langfuse observations: what its page, its API and its blob export give.

Where: the export of the observations or tracing page (CSV, JSON), answers of the API (``/api/public/observations``),
and the blob storage export ``observations_v2/`` or ``observations/`` (JSON lines, JSON, CSV, Parquet). Column names in
snake or camel case.

What is read: observations of type GENERATION are calls, EMBEDDING is side; spans, tools, agents and events are none.
Level ERROR is a failed call. ``cost_details.total`` (``totalCost``) is the logged cost.

Prompt tokens: ``usage_details`` maps kinds of tokens to counts. ``input`` leaves the other input kinds out (Langfuse
takes them off, and Anthropic's figures come so): prompt = ``input`` + every key that begins with ``input_`` or
``cache_``. Where ``total`` is given it is checked: if it equals input + output alone, ``input`` held the cache after
all; if it lacks the writes (LiteLLM) or the reads only, ``input`` held these. Older rows (``promptTokens``,
``inputTokens``) have no cache figures.

Session: ``session_id``. Without it calls are grouped by their messages where ``input`` holds them; else a trace with
several generations is a session (evidence "chain"), and the rest is grouped by application and growth. The legacy blob
export keeps session ids in another file.

Unknown: the provider, response ids (copies of a call in other logs cannot be told).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from monitor.readers import gateway_bodies, shapes, table_rows, usage
from monitor.readers import gateway_values as values
from monitor.readers.base import BaseParser, FileContext, Head
from monitor.records import Call

_READ = ("cache_read_input_tokens", "input_cached_tokens", "input_cache_read", "input_cached", "cache_read", "cached")
_WRITE = (
    "cache_creation_input_tokens",
    "input_cache_creation",
    "input_cache_write",
    "cache_creation",
    "cache_write",
    "input_cache_write_tokens",
    "input_cache_creation_tokens",
)
_HOUR = ("input_cache_creation_1h", "cache_creation_1h", "cache_creation_ephemeral_1h_input_tokens")
_REASONING = ("output_reasoning_tokens", "output_reasoning", "reasoning_tokens", "output_reasoning_output_tokens")
#: parts of a figure that is there as a whole too
_PARTS = ("ephemeral_5m", "ephemeral_1h", "creation_5m", "creation_1h")


def tokens_of(details: Mapping[str, Any]) -> usage.Tokens:
    """Tokens from ``usage_details``, by the rule of the module's description."""
    if "prompt_tokens" in details or "promptTokenCount" in details or "inputTokens" in details:
        return shapes.tokens(details)
    counts = {name: number for name, value in details.items() if (number := usage.count(value)) is not None}
    plain, output, total = counts.get("input"), counts.get("output"), counts.get("total")
    if plain is None and output is None:
        return usage.UNKNOWN
    read, write, hour = (_first(counts, names) for names in (_READ, _WRITE, _HOUR))
    reasoning = _first(counts, _REASONING)
    parts = [n for n in counts if n.startswith(("input_", "cache_")) and not any(part in n for part in _PARTS)]
    if write is None and hour is not None:
        write = hour + (_first(counts, ("input_cache_creation_5m", "cache_creation_ephemeral_5m_input_tokens")) or 0)
        extra = write + sum(counts[name] for name in parts)
    else:
        extra = sum(counts[name] for name in parts)
    more_output = sum(number for name, number in counts.items() if name.startswith("output_"))
    inside = output
    whole = None if output is None else output + more_output
    if plain is None:
        return usage.Tokens(output=whole, reasoning=reasoning, rule="langfuse")
    if total is not None and extra and total != plain + extra + (whole or 0):
        if total in (plain + (inside or 0), plain + (whole or 0)):
            out = inside if total == plain + (inside or 0) else whole
            return usage.inclusive(plain, read, write, out, write_1h=hour, reasoning=reasoning, rule="langfuse total")
        if total == plain + extra + (inside or 0):
            whole = inside
        else:
            # some take only the reads off what the provider counted as input, or only the writes
            kept = next((n for n in (write, read) if n and n <= plain and total == plain + extra - n + (whole or 0)), 0)
            plain -= kept
    elif total is not None and more_output and total == plain + extra + (inside or 0):
        whole = inside
    other = extra - (read or 0) - (write or 0)  # audio, images, text of the input: fresh like ``input`` itself
    return usage.additive(
        plain + max(0, other), read, write, whole, write_1h=hour, reasoning=reasoning, rule="langfuse"
    )


def _first(counts: Mapping[str, int], names: tuple[str, ...]) -> int | None:
    return next((counts[name] for name in names if name in counts), None)


def _get(row: dict[str, Any], snake: str) -> Any:
    """A column under its snake-case or camel-case name."""
    value = row.get(snake)
    if value is not None and value != "":
        return value
    head, *rest = snake.split("_")
    return row.get(head + "".join(word.capitalize() for word in rest))


class LangfuseParser(BaseParser):
    """Reads observations."""

    def read(self, context: FileContext) -> None:
        rows, traces = gateway_bodies.Rows(self.file, "langfuse", detail=self.options.detail), values.Sightings("chain")
        found = [
            (line, row)
            for line, row in table_rows.rows(context, self.problem)
            if str(_get(row, "type") or "GENERATION").upper() in ("GENERATION", "EMBEDDING")
        ]
        for line, row in values.oldest_first(found, "start_time" if _has_snake(found) else "startTime"):
            trace = values.text(_get(row, "trace_id"))
            for record in rows.add(_row(row, line)):
                loose = isinstance(record, Call) and record.session_evidence == "file" and not record.has_bodies
                self.records += traces.see(trace, record) if isinstance(record, Call) and loose else [record]
        self.records = values.latest(self.records)


def _has_snake(found: list[tuple[int | None, dict[str, Any]]]) -> bool:
    return bool(found) and "start_time" in found[0][1]


def _row(row: dict[str, Any], line: int | None) -> gateway_bodies.Row:
    id = values.text(row.get("id"))
    tokens = tokens_of(_details(row))
    failed = str(row.get("level") or "").upper() == "ERROR"
    if failed and not tokens.output:
        tokens = usage.UNKNOWN
    cost = values.usd(values.as_object(_get(row, "cost_details")).get("total"))
    if cost is None:
        cost = values.usd(_get(row, "total_cost") or _get(row, "calculated_total_cost"))
    start, end = values.time_ms(_get(row, "start_time")), values.time_ms(_get(row, "end_time"))
    return gateway_bodies.Row(
        id=f"langfuse:{id}" if id else f"langfuse:{start}:{line}:{tokens.prompt}:{tokens.output}",
        call_id=id,
        line=line,
        time=start,
        duration=None if start is None or end is None or end < start else end - start,
        tokens=tokens,
        session=values.text(_get(row, "session_id")),
        origin=values.origin(
            "langfuse", _get(row, "user_id"), _get(row, "trace_name"), row.get("environment"), row.get("name")
        ),
        provider=None,
        model=values.text(_get(row, "provided_model_name") or row.get("model")),
        body=gateway_bodies.request_of(row.get("input")),
        reply=gateway_bodies.reply_of(row.get("output")),
        cost=cost or None,
        failed=failed,
        side=str(_get(row, "type")).upper() == "EMBEDDING",
    )


def _details(row: dict[str, Any]) -> dict[str, Any]:
    details = values.as_object(_get(row, "usage_details")) or values.as_object(row.get("usage"))
    if details:
        return details
    names = (("input", "input_tokens", "prompt_tokens"), ("output", "output_tokens", "completion_tokens"))
    found = {key: next((v for n in many if (v := _get(row, n)) not in (None, "")), None) for key, *many in names}
    return {key: value for key, value in found.items() if value is not None}


class LangfuseReader:
    """Langfuse observations."""

    source = "langfuse"
    title = "Langfuse observations"
    lines = False

    def sniff(self, head: Head) -> float:
        found = table_rows.peek(head)
        snake = found.has("type", "trace_id", "start_time", "usage_details")
        camel = found.has("type", "traceId", "startTime")
        counted = found.columns & {"usageDetails", "usage", "promptTokens", "inputTokens", "inputUsage"}
        own = found.columns & {"providedModelName", "model", "completionStartTime", "parentObservationId"}
        return 0.95 if snake or (camel and counted and own) else 0.0

    def parser(self, context: FileContext) -> LangfuseParser:
        return LangfuseParser(context)


READER = LangfuseReader()
