"""The session store of Cline's SDK: messages with metrics, manifests, compacted states. See :mod:`.cline`."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from monitor.readers import agent_values as look
from monitor.readers import cline_models, usage
from monitor.readers.agent_values import StepLog, obj, rows, text_of, time_ms, word
from monitor.readers.base import FileContext
from monitor.records import Call, Event, Record, SessionInfo

SOURCE = "cline"
_NOTICE = "<SYSTEM_NOTICE>"


def only_events(context: FileContext) -> bool:
    """Whether a document is the state after a compaction: its messages are told by the session's own file."""
    return PurePath(context.name).name.endswith(".compaction.json")


def manifest(document: dict[str, Any], file: str) -> list[Record]:
    """``session.json``: facts of a session, and which one it was forked from."""
    session = word(document.get("session_id"))
    if session is None:
        return []
    fork = obj(obj(document.get("metadata")).get("fork"))
    return [
        SessionInfo(session=session, source=SOURCE, file=file, parent=word(fork.get("forkedFromSessionId")),
                    started=time_ms(document.get("started_at")), cwd_name=look.folder_name(document.get("cwd")))
    ]  # fmt: skip


def records(document: dict[str, Any], context: FileContext, steps: StepLog) -> list[Record]:
    """``<id>.messages.json`` or ``<id>.compaction.json``."""
    session = word(document.get("sessionId")) or PurePath(context.name).name.partition(".")[0] or "stdin"
    agent = word(document.get("agent"))
    chain = "main" if agent in (None, "lead") else f"agent:{agent}"
    updated = time_ms(document.get("updated_at"))
    events_only = only_events(context)
    out: list[Record] = []
    exchange = 0
    marked: set[str] = set()
    used: list[dict[str, Any]] = []  # the models so far; what a resumed session leaves out its manifest tells
    for place, message in enumerate(rows(document.get("messages"))):
        metadata = obj(message.get("metadata"))
        time = time_ms(message.get("ts"))
        if metadata.get("kind") in ("compaction", "compaction_summary"):
            event = _compaction(metadata, session, chain, context.name, updated)
            if event.key not in marked:
                marked.add(event.key)
                out.append(event)
            continue
        if events_only:
            continue
        if message.get("role") == "user":
            text = text_of(message.get("content")).partition(_NOTICE)[0]
            if not _results(message, session, chain, time, steps) and text.strip():
                exchange += 1
                steps.push(session, chain, ("user", time, None, text))
        elif message.get("role") == "assistant":
            _tools(message, session, chain, time, steps)
            metrics = message.get("metrics")
            if isinstance(metrics, dict):
                where = exchange if chain == "main" and exchange else None
                info = obj(message.get("modelInfo"))
                if word(info.get("id")) is None:
                    info = used[-1] if used else _of_manifest(context, session)
                used.append(info)
                out.append(_call(message, metrics, info, session, chain, context.name, place, where))
    return out


def _of_manifest(context: FileContext, session: str) -> dict[str, Any]:
    """Model and provider that ``<session>.json`` beside the messages names."""
    if context.path is None:
        return {}
    document = obj(cline_models.load(context.path.with_name(f"{PurePath(session).name}.json")))
    return {"id": document.get("model"), "provider": document.get("provider")}


def _compaction(metadata: dict[str, Any], session: str, chain: str, file: str, updated: int | None) -> Event:
    generated = time_ms(metadata.get("generatedAt"))
    time = generated if generated is not None else updated
    reason = word(metadata.get("reason"))
    # usageBefore is what the session had used up, no size of a prompt
    return Event(
        kind="compaction",
        evidence="recorded",
        session=session,
        chain=chain,
        file=file,
        trigger=None if reason is None else "manual" if reason.startswith("manual") else "auto",
        time=time,
        recorded_before=look.tokens(metadata.get("tokensBefore")),
        key=f"cline:compaction:{session}:{time}",
    )


def _call(
    message: dict[str, Any], metrics: dict[str, Any], info: dict[str, Any], session: str, chain: str, file: str,
    place: int, exchange: int | None,
) -> Call:  # fmt: skip
    asked, said = look.tokens(metrics.get("inputTokens")), look.tokens(metrics.get("outputTokens"))
    read, write = look.tokens(metrics.get("cacheReadTokens")), look.tokens(metrics.get("cacheWriteTokens"))
    if asked or read or write:
        tokens = usage.inclusive(asked, read, write, said, rule="cline-sdk")
    else:
        tokens = usage.Tokens(output=said or None, rule="unreported")
    id, time = word(message.get("id")), time_ms(message.get("ts"))
    return Call(
        session=session,
        source=SOURCE,
        file=file,
        chain=chain,
        call_id=id,
        # ids are short; forks keep id and time
        key=f"cline:{id}:{time}" if id is not None and time is not None else f"cline:{session}:{place}",
        time=time,
        provider=word(info.get("provider")),
        model=word(info.get("id")),
        prompt_tokens=tokens.prompt,
        fresh_tokens=tokens.fresh,
        cache_read_tokens=tokens.read,
        cache_write_tokens=tokens.write,
        output_tokens=tokens.output,
        billed_prompt_tokens=tokens.billed_prompt,
        cost_usd=look.cost(metrics.get("cost")),
        exchange=exchange,
        usage_rule=tokens.rule,
    )


def _tools(message: dict[str, Any], session: str, chain: str, time: int | None, steps: StepLog) -> None:
    calls = [block for block in rows(message.get("content")) if block.get("type") == "tool_use"]
    for block in calls:
        item = ("tool_call", time, None, word(block.get("id")), word(block.get("name")), block.get("input"))
        steps.push(session, chain, item)
    if not calls:
        steps.push(session, chain, ("answer", time, None))


def _results(message: dict[str, Any], session: str, chain: str, time: int | None, steps: StepLog) -> bool:
    """Notes the results of tools in a message; whether there are any, so that nobody typed it."""
    found = [block for block in rows(message.get("content")) if block.get("type") == "tool_result"]
    for block in found:
        failed = block.get("is_error")
        ok = None if not isinstance(failed, bool) else not failed
        content = block.get("content")
        text = content if isinstance(content, str) else "\n".join(_shown(item) for item in rows(content))
        steps.push(session, chain, ("tool_result", time, None, word(block.get("tool_use_id")), ok, text))
    return bool(found)


def _shown(item: dict[str, Any]) -> str:
    value = item.get("text", item.get("result"))
    return value if isinstance(value, str) else ""
