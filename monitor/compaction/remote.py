"""Compaction by the provider: an opaque item that only the provider can read stands for the folded part.

OpenAI: ``POST /responses/compact``; its whole ``output`` is the next input, passed on unchanged. Anthropic:
``POST /messages`` with ``compaction: {"type": "summarize"}``; its signed ``compaction`` block is the first block of the
next request. Both see the history as it is, so what is secret in it goes to the provider it went to before.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from monitor.compaction.collect import collect
from monitor.compaction.engine import Outcome, choose, proven, redact_kept, valid
from monitor.compaction.options import CompactionError, Options
from monitor.compaction.redact import Redactor
from monitor.conversation.model import Conversation, Message
from monitor.conversation.tokens import measure

if TYPE_CHECKING:
    from monitor.compaction.summarizer import Endpoint

ANTHROPIC_BETA = "compact-2026-09-04"
_FORMATS = ("responses", "anthropic")


def compact_remote(
    conv: Conversation,
    options: Options,
    at: Endpoint,
    *,
    sleep: Callable[[float], None] = time.sleep,
    told: Callable[[str], None] | None = None,
) -> Outcome:
    """Compact by the provider. Raises CompactionError: a format without such a compaction, or no usable answer."""
    from monitor.compaction.summarizer.client import EndpointError, post

    if conv.format not in _FORMATS:
        raise CompactionError(
            f"remote compaction exists for {' and '.join(_FORMATS)} request bodies, not for {conv.format}; use "
            f"--strategy summary",
            2,
        )
    source, repairs = valid(conv, options)
    if source.last_user() is None:
        raise CompactionError(f"{conv.path or 'the conversation'}: holds no message of a user", 3)
    before = measure(source).total
    chosen = choose(source, options, before)
    redactor = Redactor.of(source)
    state = collect(source, chosen.kept)
    base = Outcome(
        input=conv,
        source=source,
        output=None,
        state=state,
        summary=None,
        cut=chosen,
        redactor=redactor,
        tokens_before=before,
        tokens_after=before,
        repairs=tuple(repairs),
        summarizer=f"remote ({at.model})",
    )
    # the newest opaque item stands for what is before it: it has to be part of what is sent
    folded = [m for m in source.messages if m.role != "system" and (m.opaque or all(m is not k for k in chosen.kept))]
    if not [m for m in folded if not m.opaque]:
        return msgspec.structs.replace(base, reason="nothing to fold: all of it belongs to the part that stays")
    try:
        if conv.format == "responses":
            items = _responses(source, folded, at, post, sleep, told)
        else:
            items = _anthropic(source, folded, at, post, sleep, told)
    except EndpointError as err:
        raise CompactionError(f"remote compaction failed: {err}; nothing was written") from None
    kept, changed = redact_kept(source, [m for m in chosen.kept if not m.opaque], redactor, source.last_user())
    if changed:
        repairs.append(f"secrets removed from {changed} of the messages that are kept")
    head = [m for m in source.messages if m.role == "system"]
    output, violations = proven(source.with_messages([*head, *items, *kept]), options, repairs)
    return msgspec.structs.replace(
        base, output=output, tokens_after=measure(output).total, repairs=tuple(repairs), violations=tuple(violations)
    )


def _responses(
    conv: Conversation, folded: list[Message], at: Endpoint, post: Any, sleep: Any, told: Any
) -> list[Message]:
    body: dict[str, Any] = {"model": at.model, "input": [m.raw for m in folded]}
    instructions = conv.header.get("instructions")
    if isinstance(instructions, str):
        body["instructions"] = instructions
    answer = post(msgspec.structs.replace(at, api="responses"), body, path="/responses/compact", sleep=sleep, told=told)
    output = answer.get("output") if isinstance(answer, dict) else None
    items = output if isinstance(output, list) else []
    if not any(
        isinstance(i, dict) and "compaction" in str(i.get("type")) and i.get("encrypted_content") for i in items
    ):
        raise CompactionError("remote compaction failed: the answer holds no compaction item; nothing was written")
    return [conv.handler.view(i) for i in items]


def _anthropic(
    conv: Conversation, folded: list[Message], at: Endpoint, post: Any, sleep: Any, told: Any
) -> list[Message]:
    body = {
        k: v for k, v in conv.header.items() if k not in ("stream", "context_management", "thinking", "tool_choice")
    }
    body |= {
        "model": at.model,
        "max_tokens": at.max_output or 8_192,
        "messages": [m.raw for m in folded],
        "compaction": {"type": "summarize"},
    }
    answer = post(
        msgspec.structs.replace(at, api="anthropic"),
        body,
        headers={"anthropic-beta": ANTHROPIC_BETA},
        sleep=sleep,
        told=told,
    )
    content = answer.get("content") if isinstance(answer, dict) else None
    blocks = (
        [b for b in content if isinstance(b, dict) and b.get("type") == "compaction"]
        if isinstance(content, list)
        else []
    )
    if not blocks or not (blocks[-1].get("content") or blocks[-1].get("encrypted_content")):
        raise CompactionError("remote compaction failed: the answer holds no compaction block; nothing was written")
    return [conv.handler.view({"role": "assistant", "content": [blocks[-1]]})]
