"""Spans and events of model calls under all names in use: gen_ai old and new, OpenInference, OpenLLMetry, AI SDK."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from monitor.readers import gateway_values as values
from monitor.readers import usage
from monitor.readers.gateway_bodies import Bodies
from monitor.readers.otel_json import Item
from monitor.readers.patterns import lazy
from monitor.readers.service_tier import joined
from monitor.records import Call, Evidence

_encode = msgspec.json.Encoder().encode

PROMPT = (
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.prompt_tokens",
    "llm.token_count.prompt",
    "llm.usage.prompt_tokens",
    "ai.usage.inputTokens",
    "ai.usage.promptTokens",
)
OUTPUT = (
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.completion_tokens",
    "llm.token_count.completion",
    "llm.usage.completion_tokens",
    "ai.usage.outputTokens",
    "ai.usage.completionTokens",
)
READ = (
    "gen_ai.usage.cache_read.input_tokens",
    "gen_ai.usage.cache_read_input_tokens",
    "gen_ai.usage.cache_read_tokens",
    "gen_ai.usage.cached_tokens",
    "gen_ai.usage.cached_input_tokens",
    "gen_ai.usage.input_tokens.cached",
    "gen_ai.usage.input_cached_tokens",
    "gen_ai.usage.input_cache_read",
    "gen_ai.usage.details.cache_read_tokens",
    "gen_ai.usage.details.cache_read_input_tokens",
    "gen_ai.usage.details.cached_tokens",
    "gen_ai.usage.details.cached_content_tokens",
    "llm.token_count.prompt_details.cache_read",
    "llm.usage.cache_read_input_tokens",
    "ai.usage.inputTokenDetails.cacheReadTokens",
    "ai.usage.cachedInputTokens",
    "llm.token_count.prompt_details.cache_input",
)
WRITE = (
    "gen_ai.usage.cache_creation.input_tokens",
    "gen_ai.usage.cache_write.input_tokens",
    "gen_ai.usage.cache_creation_input_tokens",
    "gen_ai.usage.cache_write_tokens",
    "gen_ai.usage.cache_creation_tokens",
    "gen_ai.usage.input_tokens.cache_write",
    "gen_ai.usage.input_cache_creation",
    "gen_ai.usage.details.cache_write_tokens",
    "gen_ai.usage.details.cache_creation_input_tokens",
    "llm.token_count.prompt_details.cache_write",
    "llm.usage.cache_creation_input_tokens",
    "ai.usage.inputTokenDetails.cacheWriteTokens",
)
HOUR = ("anthropic.usage.cache_creation.ephemeral_1h_input_tokens",)
REASONING = (
    "gen_ai.usage.reasoning.output_tokens",
    "gen_ai.usage.reasoning_tokens",
    "gen_ai.usage.output_tokens.reasoning",
    "gen_ai.usage.reasoning_output_tokens",
    "gen_ai.usage.output_reasoning_tokens",
    "gen_ai.usage.details.reasoning_tokens",
    "gen_ai.usage.details.thoughts_tokens",
    "llm.token_count.completion_details.reasoning",
    "codex.usage.reasoning_output_tokens",
    "ai.usage.outputTokenDetails.reasoningTokens",
    "ai.usage.reasoningTokens",
)
MODEL = (
    "gen_ai.response.model",
    "ai.response.model",
    "llm.model_name",
    "llm.response.model",
    "gen_ai.request.model",
    "llm.request.model",
    "ai.model.id",
)
SESSION = (
    "gen_ai.conversation.id",
    "session.id",
    "langfuse.session.id",
    "traceloop.association.properties.session_id",
    "traceloop.association.properties.conversation_id",
    "traceloop.association.properties.thread_id",
    "ai.telemetry.metadata.sessionId",
    "ai.telemetry.metadata.session_id",
    "ai.telemetry.metadata.threadId",
    "conversation.id",
    "thread.id",
)
TOTAL = ("gen_ai.usage.total_tokens", "llm.token_count.total", "llm.usage.total_tokens", "ai.usage.totalTokens")
COST = ("gen_ai.usage.cost", "gen_ai.usage.total_cost", "llm.cost.total", "operation.cost")
_CALLS = ("chat", "generate_content", "text_completion", "completion", "response", "message", "responses", "messages")
_FLAT = lazy(r"(?:gen_ai\.prompt|llm\.prompts|llm\.input_messages)\.(\d+)\.(?:message\.)?(role|content)")


def role_of(item: Item) -> str:
    """What a span is: "call", "side" (embedding and the like), or "" (no call to a model)."""
    attributes = item.attributes
    kind = str(attributes.get("openinference.span.kind") or "").upper()
    if kind:
        return "call" if kind == "LLM" else "side" if kind in ("EMBEDDING", "RERANKER") else ""
    if str(attributes.get("traceloop.span.kind") or "").lower() in ("workflow", "task", "agent", "tool"):
        return ""
    vercel = str(attributes.get("ai.operationId") or "")
    if vercel:
        return "side" if "embed" in vercel else "call" if vercel.endswith((".doGenerate", ".doStream")) else ""
    operation = str(attributes.get("gen_ai.operation.name") or attributes.get("llm.request.type") or "").lower()
    if operation in _CALLS:
        return "call"
    if values.is_side(operation):
        return "side"
    if operation:
        return ""
    counted = any(name in attributes for name in (*PROMPT, *OUTPUT))
    return "call" if counted and any(name in attributes for name in MODEL) else ""


class Spans:
    """Turns spans of model calls into calls; a call told by two spans is one."""

    def __init__(self, file: str) -> None:
        self.file = file
        self._calls: dict[str, Call] = {}
        self._open: dict[tuple[str, str], str] = {}  # call spans without a response id: their key
        self._parents: set[tuple[str, str]] = set()  # spans that hold a call span
        self._traces = values.Sightings("chain")
        self._bodies = Bodies()

    def take(self, item: Item, line: int | None) -> list[Call]:
        """Calls that are new or changed by this item."""
        role = role_of(item)
        if not role or (item.kind == "log" and not any(name in item.attributes for name in PROMPT)):
            return []
        id = values.text(item.get("gen_ai.response.id", "ai.response.id", "llm.response.id"))
        here, above = (item.trace, item.span), (item.trace, item.parent)
        key = id or (f"otel:{item.trace}:{item.span}" if item.span else f"otel:{item.start}:{line}:{len(self._calls)}")
        if id is None and item.kind == "span":
            if here in self._parents:
                return []  # it sums up the calls inside it, or repeats the only one
            if item.parent and above in self._open:
                key = self._open.pop(above)  # the span around it was no call of its own: this one takes its place
                self._calls.pop(key, None)
        call = self._call(item, line, role, id, key)
        known = self._calls.get(key)
        if known is not None:
            call = merged(known, call)
        self._calls[key] = call
        if item.parent:
            self._parents.add(above)
        if id is None and item.span:
            self._open[here] = key
        if call.session_evidence == "explicit" or (call.evidence is not None and call.evidence.messages):
            return [call]
        return self._traces.see(item.trace or None, call)

    def _call(self, item: Item, line: int | None, role: str, id: str | None, key: str) -> Call:
        count = usage.count
        prompt, output = count(item.get(*PROMPT)), count(item.get(*OUTPUT))
        if not prompt and not output:
            tokens = usage.UNKNOWN
        else:
            read, write, total = count(item.get(*READ)), count(item.get(*WRITE)), count(item.get(*TOTAL))
            cached = (read or 0) + (write or 0)
            # the convention includes the cache; some write the provider's own figure, and then the total shows it
            outside = cached and total is not None and total == (prompt or 0) + cached + (output or 0)
            rule: Callable[..., usage.Tokens] = usage.additive if outside else usage.inclusive
            tokens = rule(
                prompt,
                read,
                write,
                output,
                write_1h=count(item.get(*HOUR)),
                reasoning=count(item.get(*REASONING)),
                rule="otel+total" if outside else "otel",
            )
        session = values.text(item.get(*SESSION))
        service = str(item.resource.get("service.name") or "")
        origin = values.origin(
            "otel", service, item.resource.get("service.instance.id"), item.get("gen_ai.agent.name", "user.id")
        )
        evidence = Evidence(response_id=id, origin=origin)
        if session is None:
            evidence = self._bodies.evidence(_body(item), origin, id)
        reasons = item.get(
            "gen_ai.response.finish_reasons", "anthropic.message.stop_reason", "ai.response.finishReason"
        )
        stop = reasons[0] if isinstance(reasons, list) and reasons else reasons
        return Call(
            session=session or values.placeholder(self.file),
            session_evidence="explicit" if session else "file",
            source="codex-otel" if service.startswith("codex") else "otel",
            file=self.file,
            line=line,
            chain="side" if role == "side" else "main",
            purpose="side" if role == "side" else "work",
            call_id=id,
            key=key,
            time=item.start,
            duration_ms=None if item.start is None or item.end is None else max(0, item.end - item.start),
            provider=values.provider_name(
                item.get("gen_ai.provider.name", "gen_ai.system", "llm.provider", "llm.system", "ai.model.provider")
            ),
            model=values.text(item.get(*MODEL)),
            prompt_tokens=tokens.prompt,
            fresh_tokens=tokens.fresh,
            cache_read_tokens=tokens.read,
            cache_write_tokens=tokens.write,
            cache_write_1h_tokens=tokens.write_1h,
            output_tokens=tokens.output,
            reasoning_tokens=tokens.reasoning,
            billed_prompt_tokens=tokens.billed_prompt,
            cost_usd=values.usd(item.get(*COST)) or None,
            status="error" if item.failed and tokens.prompt is None else "ok",
            stop=values.text(stop),
            has_bodies=bool(evidence.messages),
            usage_rule=tokens.rule,
            evidence=None if session else evidence,
            service_tier=joined(
                item.get("openai.response.service_tier", "gen_ai.openai.response.service_tier"), None, None
            ),
        )


def merged(known: Call, call: Call) -> Call:
    """One call out of two tellings: figures of the later one (it is around the other and ends after it) unless only the
    first knows the cache; the earlier start, the longer duration."""
    first, second = call, known
    if (first.cache_read_tokens is None and second.cache_read_tokens is not None) or first.prompt_tokens is None:
        first, second = second, first
    filled: dict[str, Any] = {
        name: value
        for name in Call.__struct_fields__
        if name not in ("key", "line", "time", "duration_ms", "status")
        if getattr(first, name) is None and (value := getattr(second, name)) is not None
    }
    times = [one.time for one in (known, call) if one.time is not None]
    lengths = [one.duration_ms for one in (known, call) if one.duration_ms is not None]
    if second.session_evidence == "explicit" and first.session_evidence != "explicit":
        filled |= {"session": second.session, "session_evidence": "explicit", "evidence": None}
    elif second.evidence is not None and second.evidence.messages and not (first.evidence and first.evidence.messages):
        filled |= {"evidence": second.evidence, "has_bodies": True}
    return msgspec.structs.replace(
        first,
        **filled,
        key=known.key,
        line=known.line,
        time=min(times, default=None),
        duration_ms=max(lengths, default=None),
        status="ok" if "ok" in (known.status, call.status) else known.status,
    )


# --- bodies ----------------------------------------------------------------------------------------------------------
def _body(item: Item) -> bytes | None:
    """Messages kept in attributes as a request body, for recognising a conversation; None if there are none."""
    attributes = item.attributes
    messages = [_message(one) for one in _parsed(attributes.get("gen_ai.input.messages")) if isinstance(one, dict)]
    if not messages:
        messages = _flat_messages(attributes)
    if not messages:
        return None
    body: dict[str, Any] = {"messages": messages}
    if tools := _parsed(attributes.get("gen_ai.tool.definitions")):
        body["tools"] = tools
    if system := _parsed(attributes.get("gen_ai.system_instructions")):
        body["system"] = [_part(one) for one in system]
    try:
        return _encode(body)
    except (TypeError, ValueError, RecursionError):
        return None


def _parsed(value: Any) -> list[Any]:
    if isinstance(value, str) and value[:1] == "[":
        try:
            value = msgspec.json.decode(value)
        except (msgspec.DecodeError, RecursionError, UnicodeError):
            return []
    return value if isinstance(value, list) else []


def _message(message: dict[str, Any]) -> dict[str, Any]:
    parts = message.get("parts")
    if not isinstance(parts, list):
        return message
    return {"role": message.get("role"), "content": [_part(one) for one in parts]}


def _part(part: Any) -> Any:
    if not isinstance(part, dict):
        return part
    kind = part.get("type")
    if kind == "text" and "content" in part:
        return {"type": "text", "text": str(part["content"])}
    if kind == "tool_call":
        return {"type": "tool_use", "name": part.get("name"), "input": part.get("arguments")}
    if kind == "tool_call_response":
        return {"type": "tool_result", "content": part.get("response", part.get("result"))}
    return part


def _flat_messages(attributes: dict[str, Any]) -> list[dict[str, Any]]:
    """``gen_ai.prompt.0.role`` and its kin as messages."""
    found: dict[int, dict[str, Any]] = {}
    for name, value in attributes.items():
        match = _FLAT.fullmatch(name)
        if match is not None:
            found.setdefault(int(match.group(1)), {})[match.group(2)] = value
    return [found[at] for at in sorted(found) if "role" in found[at]]
