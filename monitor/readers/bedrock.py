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

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from monitor.readers import gateway_values as values
from monitor.readers import shapes, table_rows, usage
from monitor.readers.base import BaseParser, FileContext, Head
from monitor.readers.exchange_reply import Reply, ReplyReader
from monitor.readers.gateway_bodies import Bodies
from monitor.records import Call

_encode = msgspec.json.Encoder().encode
_SCHEMA = b"ModelInvocationLog"
_SESSION = ("session_id", "sessionid", "session", "conversation_id", "conversationid", "thread_id", "trace_id")
_USER_SESSION = re.compile(r"session_([0-9a-fA-F-]{36})")


class BedrockParser(BaseParser):
    """Reads invocation records, bare or wrapped by CloudWatch."""

    def read(self, context: FileContext) -> None:
        bodies = Bodies()
        for line, row in table_rows.rows(context, self.problem):
            for record in _records(row):
                self.records.append(self._call(record, line, bodies))

    def _call(self, row: dict[str, Any], line: int | None, bodies: Bodies) -> Call:
        sent, got = values.as_object(row.get("input")), values.as_object(row.get("output"))
        reply = _reply(got.get("outputBodyJson"))
        tokens = _tokens(sent, got, reply)
        failed = bool(row.get("errorCode")) or (bool(reply.error) and tokens.output is None)
        if failed and not tokens.output:
            tokens = usage.UNKNOWN
        body = values.as_object(sent.get("inputBodyJson"))
        session = _session(values.as_object(row.get("requestMetadata"))) or _body_session(body)
        id = values.text(row.get("requestId"))
        model = _model(values.text(row.get("modelId")))
        origin = values.origin("bedrock", row.get("accountId"), values.as_object(row.get("identity")).get("arn"))
        facts = bodies.facts(_encode(body) if body else None, origin, reply.id or id)
        purpose = "side" if values.is_side(model, row.get("operation")) else facts.purpose
        return Call(
            session=session or values.placeholder(self.file),
            session_evidence="explicit" if session else "file",
            source="bedrock",
            file=self.file,
            line=line,
            chain="main" if purpose == "work" else "side",
            purpose=purpose,
            call_id=reply.id or id,
            key=reply.id or (f"bedrock:{id}" if id else f"bedrock:{row.get('timestamp')}:{line}:{tokens.prompt}"),
            time=values.time_ms(row.get("timestamp")),
            provider="bedrock",
            model=model,
            prompt_tokens=tokens.prompt,
            fresh_tokens=tokens.fresh,
            cache_read_tokens=tokens.read,
            cache_write_tokens=tokens.write,
            cache_write_1h_tokens=tokens.write_1h,
            output_tokens=tokens.output,
            reasoning_tokens=tokens.reasoning,
            billed_prompt_tokens=tokens.billed_prompt,
            billed=tokens.billed,
            status="error" if failed else "ok",
            stop=values.text(row.get("errorCode")) if failed else reply.stop,
            has_bodies=facts.has_bodies,
            usage_rule=tokens.rule,
            evidence=None if session else facts.evidence,
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


def _reply(body: Any) -> Reply:
    reader = ReplyReader()
    for part in body if isinstance(body, list) else [body]:
        if isinstance(part, dict):
            reader.feed(part)
    return reader.reply()


def _tokens(sent: dict[str, Any], got: dict[str, Any], reply: Reply) -> usage.Tokens:
    counted = {
        "inputTokenCount": sent.get("inputTokenCount"),
        "outputTokenCount": got.get("outputTokenCount"),
        "cacheReadInputTokenCount": sent.get("cacheReadInputTokenCount"),
        "cacheWriteInputTokenCount": sent.get("cacheWriteInputTokenCount"),
    }
    plain = shapes.tokens({name: value for name, value in counted.items() if value is not None})
    if reply.tokens.prompt is not None and (plain.prompt is None or reply.tokens.prompt >= plain.prompt):
        return reply.tokens
    return plain


def _session(metadata: dict[str, Any]) -> str | None:
    found = {name.lower().replace("-", "_"): value for name, value in metadata.items()}
    return next((id for name in _SESSION if (id := values.text(found.get(name)))), None)


def _body_session(body: dict[str, Any]) -> str | None:
    """The session that Claude Code names in the body's metadata, as JSON or at the end of a user id."""
    user = values.as_object(body.get("metadata")).get("user_id")
    if not isinstance(user, str):
        return None
    inner = values.text(values.as_object(user).get("session_id"))
    if inner:
        return inner
    match = _USER_SESSION.search(user)
    return match.group(1) if match else None


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
