"""OpenTelemetry JSON of every shape to one: log records, spans and metrics with plain attributes.

Shapes: OTLP/JSON export requests (``resourceSpans``, ``resourceLogs``, ``resourceMetrics``; names in camel or snake
case; older ``instrumentationLibrary…``); the console and file exporters of the SDKs (attributes as an object, times as
ISO text or ``[seconds, nanoseconds]``, ids with ``0x``); span rows of Phoenix (``attributes.…`` columns).
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from msgspec import Struct

from monitor.readers import gateway_values as values

Attributes = dict[str, Any]
Kind = Literal["log", "span", "metric"]


class Item(Struct, gc=False):
    """One log record, span or metric."""

    kind: Kind
    name: str = ""
    attributes: Attributes = {}
    resource: Attributes = {}
    scope: str = ""
    start: int | None = None  # ms; of a log record: when it was written
    end: int | None = None
    trace: str = ""
    span: str = ""
    parent: str = ""
    failed: bool = False

    def get(self, *names: str) -> Any:
        """The first of these attributes that is there; the resource's attributes come last."""
        for name in names:
            value = self.attributes.get(name)
            if value is not None and value != "":
                return value
        for name in names:
            value = self.resource.get(name)
            if value is not None and value != "":
                return value
        return None


def items(value: Any) -> Iterator[Item]:
    """All items in a JSON value; what is no telemetry yields nothing."""
    if isinstance(value, list):
        for part in value:
            yield from items(part)
        return
    if not isinstance(value, dict):
        return
    found = False
    for kind, outer, inner, leaf in _OTLP:
        for resource in _list(value, *outer):
            found = True
            facts = attributes(_dict(resource.get("resource")).get("attributes"))
            for scope in _list(resource, *inner):
                name = str(_dict(scope.get("scope") or scope.get("instrumentationLibrary")).get("name") or "")
                for record in _list(scope, *leaf):
                    yield _otlp(kind, record, facts, name)
    if not found:
        yield from _console(value)


_OTLP: tuple[tuple[Kind, tuple[str, ...], tuple[str, ...], tuple[str, ...]], ...] = (
    (
        "log",
        ("resourceLogs", "resource_logs"),
        ("scopeLogs", "scope_logs", "instrumentationLibraryLogs"),
        ("logRecords", "log_records", "logs"),
    ),
    (
        "span",
        ("resourceSpans", "resource_spans"),
        ("scopeSpans", "scope_spans", "instrumentationLibrarySpans"),
        ("spans",),
    ),
    (
        "metric",
        ("resourceMetrics", "resource_metrics"),
        ("scopeMetrics", "scope_metrics", "instrumentationLibraryMetrics"),
        ("metrics",),
    ),
)


def _list(value: Mapping[str, Any], *names: str) -> list[dict[str, Any]]:
    for name in names:
        found = value.get(name)
        if isinstance(found, list):
            return [one for one in found if isinstance(one, dict)]
    return []


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _otlp(kind: Kind, record: dict[str, Any], resource: Attributes, scope: str) -> Item:
    get = record.get
    facts = attributes(get("attributes")) if kind != "metric" else {}
    name = str(get("name") or "")
    if kind == "log":
        body = value_of(get("body")) if isinstance(get("body"), dict) else get("body")
        name = str(facts.get("event.name") or get("eventName") or get("event_name") or body or "")
        start = _nano(get("timeUnixNano") or get("time_unix_nano")) or _nano(
            get("observedTimeUnixNano") or get("observed_time_unix_nano")
        )
    else:
        start = _nano(get("startTimeUnixNano") or get("start_time_unix_nano"))
    return Item(
        kind,
        name,
        facts,
        resource,
        scope,
        start,
        _nano(get("endTimeUnixNano") or get("end_time_unix_nano")),
        _id(get("traceId") or get("trace_id")),
        _id(get("spanId") or get("span_id")),
        _id(get("parentSpanId") or get("parent_span_id")),
        _failed(get("status")),
    )


def _console(value: dict[str, Any]) -> Iterator[Item]:
    """One object of a console or file exporter, or a Phoenix span."""
    if "scopeMetrics" in value or ("data" in value and "descriptor" in value):
        if value.get("scopeMetrics") or value.get("data"):
            yield Item("metric", resource=attributes(_dict(value.get("resource")).get("attributes")))
        return
    if "attributes" not in value and not any(name.startswith("attributes.") for name in value):
        return
    facts = attributes(value.get("attributes"))
    for name, cell in value.items():
        if name.startswith("attributes.") and cell is not None and cell == cell:
            facts[name[11:]] = cell
    resource = attributes(_dict(value.get("resource")).get("attributes"))
    scope = _dict(value.get("instrumentationScope") or value.get("scope") or value.get("instrumentation_info"))
    context = _dict(value.get("context") or value.get("_spanContext") or value.get("spanContext"))
    start, end = _moment(value, "start_time", "startTime"), _moment(value, "end_time", "endTime")
    trace = _id(
        context.get("trace_id") or context.get("traceId") or value.get("context.trace_id") or value.get("trace_id")
    )
    span = _id(context.get("span_id") or context.get("spanId") or value.get("context.span_id") or value.get("span_id"))
    parent = value.get("parent_id") or value.get("parentSpanId") or _dict(value.get("parentSpanContext")).get("spanId")
    if start is None and end is None:
        when = _moment(value, "hrTime", "timestamp", "observed_timestamp")
        name = str(facts.get("event.name") or value.get("event_name") or value.get("body") or "")
        yield Item("log", name, facts, resource, str(scope.get("name") or ""), when, None, trace, span)
        return
    kind = value.get("span_kind")
    if isinstance(kind, str) and "openinference.span.kind" not in facts:
        facts["openinference.span.kind"] = kind
    status = value.get("status") if value.get("status") is not None else value.get("status_code")
    yield Item(
        "span",
        str(value.get("name") or ""),
        facts,
        resource,
        str(scope.get("name") or ""),
        start,
        end,
        trace,
        span,
        _id(parent),
        _failed(status),
    )


def attributes(value: Any) -> Attributes:
    """Attributes as a flat object, from the list of OTLP, from an object, or from nested objects."""
    out: Attributes = {}
    if isinstance(value, list):
        for pair in value:
            if isinstance(pair, dict) and isinstance(pair.get("key"), str):
                out[pair["key"]] = value_of(pair.get("value"))
        return out
    if isinstance(value, str):
        value = values.as_object(value)
    if isinstance(value, dict):
        _flatten(value, "", out, 0)
    return out


def _flatten(value: dict[str, Any], prefix: str, out: Attributes, depth: int) -> None:
    for name, inner in value.items():
        if isinstance(inner, dict) and depth < 8:
            _flatten(inner, f"{prefix}{name}.", out, depth + 1)
        else:
            out[f"{prefix}{name}"] = inner


def value_of(value: Any, depth: int = 0) -> Any:
    """A value of OTLP (``{"intValue": "7"}``) as a plain one."""
    if not isinstance(value, dict) or depth > 40:
        return None if isinstance(value, dict) else value
    for name, inner in value.items():
        if name in ("stringValue", "string_value", "boolValue", "bool_value", "doubleValue", "double_value"):
            return inner
        if name in ("intValue", "int_value"):
            try:
                return int(inner)
            except (TypeError, ValueError, OverflowError):  # 1e999 is infinity
                return None
        if name in ("arrayValue", "array_value"):
            return [value_of(one, depth + 1) for one in _list(_dict(inner), "values")]
        if name in ("kvlistValue", "kvlist_value"):
            return {
                str(pair.get("key")): value_of(pair.get("value"), depth + 1) for pair in _list(_dict(inner), "values")
            }
    return None


def _nano(value: Any) -> int | None:
    found = values.time_ms(value, "ns") if isinstance(value, int | str) else None
    return found if found else None  # zero is how OTLP says that there is no time


def _moment(value: dict[str, Any], *names: str) -> int | None:
    for name in names:
        found = value.get(name)
        if isinstance(found, list) and len(found) == 2 and all(isinstance(part, int) for part in found):
            return int(found[0] * 1000 + found[1] // 1_000_000)
        if found is not None and not isinstance(found, list) and (time := values.time_ms(found)) is not None:
            return time
    return None


def _id(value: Any) -> str:
    """A trace or span id in hex; protobuf's JSON writes base64, the console exporter ``0x``."""
    if not isinstance(value, str):
        return ""
    text = value.strip().lower().removeprefix("0x")
    if len(value) in (12, 24):
        try:
            return base64.b64decode(value, validate=True).hex()
        except (ValueError, binascii.Error):
            return text
    return text


def _failed(status: Any) -> bool:
    if isinstance(status, dict):
        status = status.get("code", status.get("status_code"))
    return status == 2 or (isinstance(status, str) and "ERROR" in status.upper())
