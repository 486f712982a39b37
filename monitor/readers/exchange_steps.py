"""Steps of captured conversations: what people typed, tool calls and their results, as hashes and small numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Raw

from monitor.readers import steps
from monitor.readers.exchange_messages import blocks, text_of
from monitor.readers.exchange_request import value_of
from monitor.records import Call, Record, Step

if TYPE_CHECKING:
    from monitor.readers.exchange_facts import Facts, State

#: steps made of one request when not all are asked for; signals look no further back
_RECENT = 64


class Steps:
    """Makes the steps that are new with a call."""

    def __init__(self, detail: bool) -> None:
        self._limit = None if detail else _RECENT

    def of(self, call: Call, facts: Facts, state: State) -> list[Record]:
        """Steps of the messages a request added, and of its answer."""
        out: list[Step] = []
        for raw in self._new(facts, state):
            out += _of_message(call, value_of(raw))
        for id, name, arguments in facts.reply.calls:
            out.append(steps.tool_call(call.session, call.chain, _answered(call), call.line, id, name, arguments))
        if facts.reply.complete and not facts.reply.calls and call.status == "ok":
            out.append(steps.answer(call.session, call.chain, _answered(call), call.line))
        return list(out if self._limit is None else out[-self._limit :])

    def _new(self, facts: Facts, state: State) -> list[Raw]:
        """Messages of people and tools that no earlier request of the conversation held."""
        request = facts.request
        if request is None:
            return []
        old = state.strict if state.strict is not None and facts.who.previous is None else []
        rows = [(one, raw) for one, raw in zip(request.items, request.raw, strict=True) if one.role != "system"]
        same = 0
        for (one, _), before in zip(rows, old):
            if one.strict != before:
                break
            same += 1
        # in a new window, or after an edit, what was there before is known by its content
        known = set() if same == len(old) else set(old)
        told = [raw for one, raw in rows[same:] if (one.typed or one.role == "tool") and one.strict not in known]
        return told if self._limit is None else told[-self._limit :]


def _answered(call: Call) -> int | None:
    return call.time if call.time is None or call.duration_ms is None else call.time + call.duration_ms


def _of_message(call: Call, message: Any) -> list[Step]:
    if isinstance(message, str):
        message = {"role": "user", "content": message}
    if not isinstance(message, dict):
        return []
    found: list[Step] = []
    role = message.get("role")
    if role in ("tool", "function") or "output" in message:
        text = _text(message.get("output") if "output" in message else message.get("content"))
        id = str(message.get("call_id") or message.get("tool_call_id") or "")
        return [steps.tool_result(call.session, call.chain, call.time, call.line, id, None, text)]
    typed: list[str] = []
    for block in blocks(message):
        if (words := text_of(block)) is not None:
            typed.append(words)
        elif isinstance(block, dict):
            result = (
                block
                if block.get("type") == "tool_result"
                else block.get("toolResult") or block.get("functionResponse")
            )
            if isinstance(result, dict):
                failed = result.get("is_error")
                ok = not failed if isinstance(failed, bool) else None
                if result.get("status") in ("error", "success"):
                    ok = result["status"] == "success"
                id = str(result.get("tool_use_id") or result.get("toolUseId") or result.get("id") or "")
                said = _text(result.get("content") if "content" in result else result.get("response"))
                found.append(steps.tool_result(call.session, call.chain, call.time, call.line, id, ok, said))
    if typed:
        found.append(steps.user(call.session, call.chain, call.time, call.line, "\n".join(typed)))
    return found


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(text for block in content if (text := text_of(block)) is not None)
    return "" if content is None else str(content)
