"""What an answer tells: id, model, tokens, why it stopped, and what happened to the context inside it.

Takes the JSON values of an answer (one document, or the events of a stream) of any provider, in order. Rules that need
more than one event live here: figures of Anthropic streams come in two parts, usage of others on the last or on every
chunk, and a stream that was cut gives lower bounds or nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from monitor.readers import exchange_anthropic as anthropic_usage
from monitor.readers import shapes
from monitor.readers.exchange_answer import Answer, ToolCall
from monitor.readers.overflow import too_long
from monitor.readers.patterns import lazy
from monitor.readers.service_tier import service_tier
from monitor.readers.usage import UNKNOWN, Tokens, count

_WORD = lazy(r"[A-Za-z][\w.:-]{0,47}")
_ANTHROPIC = frozenset(
    {
        "message_start",
        "message_delta",
        "message_stop",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "ping",
    }
)


class Reply(msgspec.Struct, gc=False):
    """Facts of one answer."""

    shape: str = ""  # chat, responses, messages, gemini, interactions, converse, cohere, ollama, compact, count
    id: str | None = None
    model: str | None = None
    tokens: Tokens = UNKNOWN
    stop: str | None = None
    complete: bool = False
    error: str = ""  # short machine word
    overflow: bool = False
    cost: float | None = None
    created: int | None = None  # s since the epoch, as the provider states it
    compaction_item: bool = False  # the answer ends with a compaction item (Responses)
    compacted_from: int | None = None  # prompt before a compaction inside the call
    summary_tokens: int | None = None
    cleared: int | None = None  # sum of cleared_input_tokens of context edits
    digest: bytes = b""  # of the answer as a message
    calls: list[ToolCall] = msgspec.field(default_factory=list)  # id, name, arguments
    conversation: str | None = None
    service_tier: str | None = None  # of a price of its own


class ReplyReader:
    """Takes the JSON values of an answer one by one; :meth:`reply` may be asked at any time.

    ``asked``: the model the request named, for answers that do not name theirs.
    """

    def __init__(self, asked: str | None = None) -> None:
        self._asked = asked or ""
        self._reply = Reply()
        self._usage: Mapping[str, Any] | None = None
        self._timings: Any = None
        self._tier: Any = None  # as told beside the usage
        self._start: dict[str, Any] | None = None  # usage of message_start
        self._delta: dict[str, Any] = {}
        self._server_tools = False
        self._answer = Answer()

    def feed(self, value: Any) -> None:
        """Take the next JSON value; anything that is no part of an answer is ignored."""
        if not isinstance(value, dict):
            return
        inner = value.get("response")
        kind = value.get("type")
        if not isinstance(kind, str):
            kind = ""
        if kind.startswith("response."):
            self._response_event(kind, value)
        elif kind in _ANTHROPIC or kind == "message":
            self._anthropic(kind, value)
        elif value.get("error"):
            self._error(value["error"])
        elif kind == "error":
            self._error(value)
        elif value.get("object") in ("response", "response.compaction"):
            self._response(value)
        elif "choices" in value or str(value.get("object")).startswith(("chat.completion", "text_completion")):
            self._chat(value)
        elif "usageMetadata" in value or "candidates" in value or "promptFeedback" in value:
            self._gemini(value)
        elif isinstance(inner, dict) and ("candidates" in inner or "usageMetadata" in inner):
            self._gemini(inner)
        elif "event_type" in value or value.get("object") == "interaction":
            self._interaction(value)
        elif kind.startswith(("message-", "content-", "tool-")):
            self._cohere_event(kind, value)
        elif "done" in value or "prompt_eval_count" in value:
            self._ollama(value)
        else:
            self._other(value)

    # ------------------------------------------------------------------------------------------------ OpenAI
    def _chat(self, value: dict[str, Any]) -> None:
        reply = self._named("chat", value)
        self._timings = value.get("timings") or self._timings
        groq = value.get("x_groq")
        found = value.get("usage") or (groq.get("usage") if isinstance(groq, dict) else None)
        for choice in _rows(value.get("choices")):
            if not isinstance(choice, dict):
                continue
            found = found or choice.get("usage")
            if isinstance(reason := choice.get("finish_reason"), str):
                reply.stop, reply.complete = reason, True
            if choice.get("index") not in (0, None):
                continue
            part = choice.get("delta") or choice.get("message") or {}
            if isinstance(part, dict):
                self._answer.text(part.get("content"))
                for n, call in enumerate(_rows(part.get("tool_calls"))):
                    if isinstance(call, dict) and isinstance(function := call.get("function"), dict):
                        self._answer.call(
                            call.get("index", n), call.get("id"), function.get("name"), function.get("arguments")
                        )
        if isinstance(found, Mapping) and found:
            self._usage = found

    def _response_event(self, kind: str, value: dict[str, Any]) -> None:
        inner = value.get("response")
        if isinstance(inner, dict):
            self._response(
                inner, final=kind in ("response.completed", "response.incomplete", "response.failed", "response.done")
            )
        elif kind == "response.output_item.done" and isinstance(done := value.get("item"), dict):
            if done.get("type") == "compaction":
                self._reply.compaction_item = True
            self._answer.whole.append(done)
        elif kind == "response.error":
            self._error(value)
        self._reply.shape = self._reply.shape or "responses"

    def _response(self, value: dict[str, Any], final: bool = True) -> None:
        compact = value.get("object") == "response.compaction"
        reply = self._named("compact" if compact else "responses", value)
        reply.created = count(value.get("created_at")) or reply.created
        conversation = value.get("conversation")
        if isinstance(conversation, dict) and isinstance(conversation.get("id"), str):
            reply.conversation = conversation["id"]
        if isinstance(value.get("usage"), Mapping) and value["usage"]:
            self._usage = value["usage"]
        if isinstance(value.get("error"), dict):
            self._error(value["error"])
        if not final:
            return
        status = value.get("status")
        reply.complete = status in ("completed", "incomplete", None)
        details = value.get("incomplete_details")
        reply.stop = (details.get("reason") if isinstance(details, dict) else None) or (
            status if isinstance(status, str) else None
        )
        if isinstance(output := value.get("output"), list) and output:
            self._answer.whole = output
            reply.compaction_item = any(isinstance(o, dict) and o.get("type") == "compaction" for o in output)

    # ------------------------------------------------------------------------------------------------ Anthropic
    def _anthropic(self, kind: str, value: dict[str, Any]) -> None:
        reply = self._reply
        if kind == "message_start":
            message = value.get("message")
            if isinstance(message, dict):
                self._named("messages", message)
                found = message.get("usage")
                self._start = dict(found) if isinstance(found, dict) else {}
        elif kind == "message":
            self._named("messages", value)
            self._delta = dict(value["usage"]) if isinstance(value.get("usage"), dict) else self._delta
            self._stopped(value.get("stop_reason"))
            self._edits(value.get("context_management"))
            self._answer.whole = [value]
        elif kind == "message_delta":
            found = value.get("usage")
            if isinstance(found, dict):
                self._delta.update({k: v for k, v in found.items() if v is not None})
            delta = value.get("delta")
            self._stopped(delta.get("stop_reason") if isinstance(delta, dict) else None)
            self._edits(value.get("context_management"))
        elif kind == "content_block_start":
            block = value.get("content_block")
            if isinstance(block, dict):
                self._server_tools = self._server_tools or block.get("type") == "server_tool_use"
                if block.get("type") in ("tool_use", "server_tool_use"):
                    self._answer.call(value.get("index"), block.get("id"), block.get("name"), None)
        elif kind == "content_block_delta":
            delta = value.get("delta")
            if isinstance(delta, dict):
                self._answer.text(delta.get("text"))
                if isinstance(delta.get("partial_json"), str):
                    self._answer.call(value.get("index"), None, None, delta["partial_json"])
        elif kind == "message_stop":
            reply.complete = True
            self._metrics(value)

    def _stopped(self, reason: Any) -> None:
        if isinstance(reason, str):
            self._reply.stop, self._reply.complete = reason, True
            if reason == "model_context_window_exceeded":
                self._reply.overflow = True

    def _edits(self, management: Any) -> None:
        edits = management.get("applied_edits") if isinstance(management, dict) else None
        if isinstance(edits, list):
            self._reply.cleared = sum(count(e.get("cleared_input_tokens")) or 0 for e in edits if isinstance(e, dict))

    def _metrics(self, value: dict[str, Any]) -> None:
        found = value.get("amazon-bedrock-invocationMetrics")
        if isinstance(found, dict) and (self._delta or self._start):
            self._start = dict(self._start or {})
            anthropic_usage.add_metrics(self._start, self._delta, found)
        elif isinstance(found, dict) and not self._usage:
            self._usage = found

    # ------------------------------------------------------------------------------------------------ others
    def _gemini(self, value: dict[str, Any]) -> None:
        reply = self._reply
        reply.shape = "gemini"
        reply.id = _string(value.get("responseId")) or reply.id
        reply.model = _string(value.get("modelVersion")) or reply.model
        if isinstance(value.get("usageMetadata"), Mapping) and value["usageMetadata"]:
            self._usage = value["usageMetadata"]
        for candidate in _rows(value.get("candidates")):
            if not isinstance(candidate, dict) or candidate.get("index") not in (0, None):
                continue
            if isinstance(reason := candidate.get("finishReason"), str):
                reply.stop, reply.complete = reason, True
            content = candidate.get("content")
            for part in _rows(content.get("parts") if isinstance(content, dict) else None):
                if isinstance(part, dict):
                    if not part.get("thought"):
                        self._answer.text(part.get("text"))
                    if isinstance(call := part.get("functionCall"), dict):
                        self._answer.add(call.get("id"), call.get("name"), call.get("args"))
        feedback = value.get("promptFeedback")
        if isinstance(feedback, dict) and feedback.get("blockReason"):
            reply.stop, reply.complete = "blocked", True

    def _interaction(self, value: dict[str, Any]) -> None:
        reply = self._reply
        reply.shape = "interactions"
        inner = value.get("interaction") if "event_type" in value else value
        if isinstance(inner, dict):
            reply.id, reply.model = _string(inner.get("id")) or reply.id, _string(inner.get("model")) or reply.model
            if isinstance(inner.get("usage"), Mapping):
                self._usage = inner["usage"]
            if isinstance(status := inner.get("status"), str):
                reply.stop, reply.complete = status, status in ("completed", "requires_action", "incomplete")

    def _cohere_event(self, kind: str, value: dict[str, Any]) -> None:
        reply = self._reply
        reply.shape, reply.id = "cohere", _string(value.get("id")) or reply.id
        delta = value.get("delta")
        if kind == "message-end" and isinstance(delta, dict):
            reply.complete, reply.stop = True, _string(delta.get("finish_reason"))
            if isinstance(delta.get("usage"), Mapping):
                self._usage = delta["usage"]

    def _ollama(self, value: dict[str, Any]) -> None:
        reply = self._named("ollama", value)
        message = value.get("message")
        self._answer.text(message.get("content") if isinstance(message, dict) else value.get("response"))
        if value.get("done"):
            reply.complete, reply.stop = True, _string(value.get("done_reason")) or "stop"
            self._usage = value

    def _other(self, value: dict[str, Any]) -> None:
        """Bedrock Converse, Cohere as a whole, llama.cpp, and refusals without an error object."""
        reply = self._reply
        if isinstance(meta := value.get("metadata"), dict) and isinstance(meta.get("usage"), Mapping):
            reply.shape, self._usage, reply.complete = "converse", meta["usage"], True
        elif isinstance(end := value.get("messageStop"), dict):
            reply.shape, reply.stop = "converse", _string(end.get("stopReason"))
        elif "messageStart" in value or "contentBlockDelta" in value or "contentBlockStart" in value:
            self._converse_part(value)
        elif isinstance(value.get("output"), dict) and ("stopReason" in value or "usage" in value):
            reply.shape, reply.complete, reply.stop = "converse", True, _string(value.get("stopReason"))
            self._usage = value.get("usage") if isinstance(value.get("usage"), Mapping) else None
            message = value["output"].get("message")
            self._answer.whole = [message] if isinstance(message, dict) else []
        elif "tokens_evaluated" in value:
            reply.shape, reply.complete, self._usage = "llama", True, value
            reply.model = _string(value.get("model"))
        elif isinstance(value.get("usage") or value.get("meta"), Mapping) and (
            "message" in value or "finish_reason" in value
        ):
            self._named("cohere", value)
            found = value.get("usage") or value.get("meta")
            reply.complete, reply.stop, self._usage = True, _string(value.get("finish_reason")), found
            reply.id = reply.id or _string(value.get("generation_id"))
        elif set(value) == {"input_tokens"} or "original_input_tokens" in str(value.get("context_management")):
            reply.shape = "count"
        elif failed := next((key for key in value if key.endswith("Exception")), None):
            self._error({"type": failed, "message": str(value[failed])})
        elif "totalTokens" in value or value.get("object") == "response.input_tokens":
            reply.shape = "count"
        elif isinstance(value.get("detail"), str | list) or (isinstance(value.get("message"), str) and len(value) <= 3):
            self._error(value)
        elif isinstance(value.get("usage"), Mapping):
            self._usage = value["usage"]
            reply.complete = True
            reply.model = _string(value.get("model")) or reply.model
            reply.id = _string(value.get("id")) or reply.id
        self._metrics(value)

    def _converse_part(self, value: dict[str, Any]) -> None:
        self._reply.shape = "converse"
        for key, field in (("contentBlockStart", "start"), ("contentBlockDelta", "delta")):
            if isinstance(part := value.get(key), dict) and isinstance(inner := part.get(field), dict):
                self._answer.text(inner.get("text"))
                if isinstance(tool := inner.get("toolUse"), dict):
                    self._answer.call(
                        part.get("contentBlockIndex"), tool.get("toolUseId"), tool.get("name"), tool.get("input")
                    )

    # ------------------------------------------------------------------------------------------------ common
    def _named(self, shape: str, value: dict[str, Any]) -> Reply:
        reply = self._reply
        reply.shape = shape
        reply.id = _string(value.get("id")) or reply.id
        reply.model = _string(value.get("model")) or reply.model
        reply.created = count(value.get("created")) or reply.created
        self._tier = value.get("service_tier") or self._tier
        return reply

    def _error(self, error: Any) -> None:
        """A short word for an error object; its text is only looked at for what it says about the context."""
        reply = self._reply
        word = ""
        if isinstance(error, dict):
            for key in ("code", "type", "status"):
                if isinstance(found := error.get(key), str) and _WORD.fullmatch(found) and found != "error":
                    word = found
                    break
            said = str(error.get("message") or error.get("detail") or error.get("error") or "")
        else:
            said = str(error)
        if too_long(word, said):
            reply.overflow = True
        reply.error = word or reply.error or "error"

    def reply(self) -> Reply:
        """What is known so far."""
        reply = self._reply
        if self._start is not None or self._delta:
            found = anthropic_usage.merge(self._start or {}, self._delta, self._server_tools)
            reply.tokens, reply.compacted_from, reply.summary_tokens = found
            merged = {**(self._start or {}), **self._delta}
            reply.service_tier, reply.cost = service_tier(merged), shapes.cost(merged)
        elif self._usage is not None:
            reply.tokens = shapes.tokens(
                self._usage,
                model=reply.model or self._asked,
                timings=self._timings,
                flavour="anthropic" if reply.shape == "messages" else "openai",
            )
            reply.compacted_from, reply.summary_tokens = shapes.compacted(self._usage)
            reply.cost = shapes.cost(self._usage)
            reply.service_tier = service_tier(self._usage, self._tier)
            if reply.shape == "compact":
                reply.summary_tokens = reply.tokens.output
        reply.digest, reply.calls = self._answer.finish()
        return reply


def _rows(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _string(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
