"""Amazon Bedrock's model invocation log.

Where: the S3 bucket of the log (``…/BedrockModelInvocationLogs/<region>/YYYY/MM/DD/HH/*.json.gz``, objects one after
the other), or the CloudWatch log group, exported: each record is then the text ``message`` of a log event.

What is read: records of schema ModelInvocationLog. A record with an error code is a failed call. Embedding and image
models are side.

Prompt tokens: ``inputTokenCount`` leaves the cache out: prompt = inputTokenCount + cacheReadInputTokenCount +
cacheWriteInputTokenCount. Where the answer's body is in the record its own usage is used (it tells 1-hour writes). Of
streams the body is the list of events.

Session: an id in ``requestMetadata`` (session_id, conversation_id …) or in the body's metadata; else sessions are
formed from messages (bodies up to 100 KB are in the record), caller and growth.

Unknown: bodies that were put into a file of their own; calls over the ``bedrock-mantle`` address are not logged.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from monitor.readers import gateway_bodies, shapes, table_rows, usage
from monitor.readers import gateway_values as values
from monitor.readers.base import BaseParser, FileContext, Head
from monitor.readers.exchange_reply import Reply

_SCHEMA = b"ModelInvocationLog"
_SESSION = ("session_id", "sessionid", "session", "conversation_id", "conversationid", "thread_id", "trace_id")


class BedrockParser(BaseParser):
    """Reads invocation records, bare or wrapped by CloudWatch."""

    def read(self, context: FileContext) -> None:
        rows = gateway_bodies.Rows(self.file, "bedrock", detail=self.options.detail)
        found = [(line, one) for line, row in table_rows.rows(context, self.problem) for one in _records(row)]
        for line, record in values.oldest_first(found, "timestamp"):
            self.records += rows.add(_row(record, line))


def _row(row: dict[str, Any], line: int | None) -> gateway_bodies.Row:
    sent, got = values.as_object(row.get("input")), values.as_object(row.get("output"))
    model = _model(values.text(row.get("modelId")))
    reply = gateway_bodies.reply_of(got.get("outputBodyJson"), model)
    tokens = _tokens(sent, got, reply, model)
    failed = bool(row.get("errorCode")) or (bool(reply.error) and tokens.output is None)
    if failed and not tokens.output:
        tokens = usage.UNKNOWN
    body = values.as_object(sent.get("inputBodyJson"))
    id, answer = values.text(row.get("requestId")), reply.id
    return gateway_bodies.Row(
        id=answer or (f"bedrock:{id}" if id else f"bedrock:{row.get('timestamp')}:{line}:{tokens.prompt}"),
        call_id=answer or id,
        line=line,
        time=values.time_ms(row.get("timestamp")),
        duration=None,
        tokens=tokens,
        session=_session(values.as_object(row.get("requestMetadata"))),
        origin=values.origin("bedrock", row.get("accountId"), values.as_object(row.get("identity")).get("arn")),
        provider="bedrock",
        model=model,
        body=gateway_bodies.request_of(body),
        reply=reply,
        failed=failed,
        stop=values.text(row.get("errorCode")) if failed else None,
        side=values.is_side(model, row.get("operation")),
    )


def _records(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Invocation records in a row: itself, or the texts that CloudWatch made of them."""
    if row.get("schemaType") == "ModelInvocationLog":
        yield row
        return
    for name in ("message", "@message"):
        inner = values.as_object(row.get(name))
        if inner.get("schemaType") == "ModelInvocationLog":
            yield inner


def _tokens(sent: dict[str, Any], got: dict[str, Any], reply: Reply, model: str | None) -> usage.Tokens:
    counted = {
        "inputTokenCount": sent.get("inputTokenCount"),
        "outputTokenCount": got.get("outputTokenCount"),
        "cacheReadInputTokenCount": sent.get("cacheReadInputTokenCount"),
        "cacheWriteInputTokenCount": sent.get("cacheWriteInputTokenCount"),
    }
    told = {name: value for name, value in counted.items() if value is not None}
    plain = shapes.tokens(told, model=model or "")
    if reply.tokens.prompt is not None and (plain.prompt is None or reply.tokens.prompt >= plain.prompt):
        return reply.tokens
    return plain


def _session(metadata: dict[str, Any]) -> str | None:
    found = {name.lower().replace("-", "_"): value for name, value in metadata.items()}
    return next((id for name in _SESSION if (id := values.text(found.get(name)))), None)


def _model(id: str | None) -> str | None:
    """A model or profile name without the account and region of its ARN."""
    return id.rsplit("/", 1)[-1] if id and id.startswith("arn:") else id


class BedrockReader:
    """Bedrock's model invocation log."""

    source = "bedrock"
    title = "Bedrock model invocation log"
    lines = False

    def sniff(self, head: Head) -> float:
        if _SCHEMA not in head.data[:65536]:
            return 0.0
        found = table_rows.peek(head)
        return 0.95 if any(True for row in found.rows for _ in _records(row)) else 0.0

    def parser(self, context: FileContext) -> BedrockParser:
        return BedrockParser(context)


READER = BedrockReader()
