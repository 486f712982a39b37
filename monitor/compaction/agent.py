"""Compaction inside one's own agent: plain lists of dicts in and out, whatever client makes the calls.

:func:`compact` compacts now. :class:`Compactor` is told the usage after each call and says when: above a threshold on
the prompt tokens the provider reported, above a number of messages, or at the end of a phase. Nothing here calls the
model of the working loop; a summarizer endpoint is only asked if one is given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from monitor.compaction.engine import Outcome
from monitor.compaction.options import CompactionError, Form, Options, preset, strategies
from monitor.compaction.verify import Proof
from monitor.conversation import from_messages
from monitor.conversation.model import Conversation, ConversationError

if TYPE_CHECKING:
    from monitor.compaction.summarizer import Endpoint

#: prompt tokens from which a Compactor asks for a compaction
THRESHOLD = 100_000
#: at the end of a phase this share of the threshold is enough
PHASE_SHARE = 0.4
#: after a compaction that did not help, the prompt has to grow by this factor before the next try
GROWTH = 1.2
_OPTIONS = ("keep_exchanges", "keep_tokens", "keep_messages", "summary_tokens")

Due = Literal["threshold", "messages", "phase"]


class Compaction(msgspec.Struct, frozen=True, kw_only=True):
    """The result. ``messages``: what to send from now on; where ``changed`` is false, what was given.

    ``body`` is the whole request where one was given, None for a list. ``summary`` is the text that stands for what was
    folded, ``reason`` why nothing was. Token counts are o200k's; ``cost_usd`` is that of the summarizer, None unknown.
    """

    messages: list[Any]
    body: dict[str, Any] | None
    changed: bool
    summary: str
    sections: dict[str, str]
    constraints: list[str]
    tokens_before: int
    tokens_after: int
    retention: dict[str, dict[str, Any]]
    invented: list[str]
    notes: list[str]
    reason: str
    summarizer: str
    cost_usd: float | None

    @property
    def ratio(self) -> float | None:
        """Tokens after by tokens before."""
        return round(self.tokens_after / self.tokens_before, 4) if self.tokens_before else None


def compact(
    messages: list[Any] | dict[str, Any],
    *,
    format: str | None = None,
    keep_exchanges: int | None = None,
    keep_tokens: int | None = None,
    keep_messages: int | None = None,
    summary_tokens: int | None = None,
    strategy: str = "summary",
    preset_name: str | None = None,
    strict_roles: bool = False,
    acknowledgement: str = "auto",
    prefix: str = "",
    prompt: str = "",
    summary_format: Form = "text",
    summarizer: str | Endpoint = "offline",
    model: str | None = None,
    mode: Literal["flat", "cache"] = "flat",
    progress: Callable[[str], None] | None = None,
) -> Compaction:
    """Compact a conversation: a list of messages, or a request body of OpenAI, Anthropic or Gemini shape.

    ``summary_format="json"``: the summary message holds one object with the keys goal, progress, facts, decisions and
    next_steps, each a list of lines. ``format`` overrides the detection (openai-chat, anthropic, responses, gemini).
    ``summarizer``: ``offline``, the address of an endpoint (then ``model`` is needed), or an Endpoint. Never changes
    what it is given. Raises CompactionError: no conversation, no user message, an output that is hardly smaller.
    """
    from monitor.compaction.strategies import apply

    chosen: dict[str, Any] = {k: v for k, v in preset(preset_name).items() if k in _OPTIONS} if preset_name else {}
    given = {
        "keep_exchanges": keep_exchanges,
        "keep_tokens": keep_tokens,
        "keep_messages": keep_messages,
        "summary_tokens": summary_tokens,
    }
    chosen |= {k: v for k, v in given.items() if v is not None}
    options = Options(
        **chosen,
        strategies=strategies(strategy),
        strict_roles=strict_roles,
        acknowledgement=acknowledgement,
        prefix=prefix,
        prompt=prompt,
        form=summary_format,
    )
    conv = _load(messages, format)
    at = _endpoint(summarizer, model)
    remote = "remote" in options.strategies
    writer = None
    if at is not None and not remote:
        from monitor.compaction.summarizer import Writer
        from monitor.pricing import PriceTable

        writer = Writer(
            at,
            summary_tokens=options.summary_tokens,
            mode=mode,
            own_prompt=prompt,
            prices=PriceTable.load(),
            progress=progress,
        )
    outcome, proof = apply(conv, options, writer=writer, remote=at if remote else None, told=progress)
    return _result(messages, outcome, proof)


async def acompact(messages: list[Any] | dict[str, Any], **options: Any) -> Compaction:
    """:func:`compact` without blocking the event loop."""
    import asyncio

    return await asyncio.to_thread(compact, messages, **options)


def _load(messages: list[Any] | dict[str, Any], format: str | None) -> Conversation:
    try:
        return from_messages(messages, format or _guess(messages))
    except ConversationError as err:
        raise CompactionError(f"the messages {err.reason}") from None


def _guess(messages: list[Any] | dict[str, Any]) -> str | None:
    """A short list that could be of several formats is taken for OpenAI Chat; None leaves it to detection."""
    if isinstance(messages, list) and all(
        isinstance(m, dict) and isinstance(m.get("content"), str) and "role" in m for m in messages
    ):
        return "openai-chat"
    return None


def _endpoint(summarizer: str | Endpoint, model: str | None) -> Endpoint | None:
    if isinstance(summarizer, str):
        if summarizer == "offline":
            return None
        from monitor.compaction.summarizer import endpoint_of

        return endpoint_of(summarizer, model)
    return summarizer


def _result(given: list[Any] | dict[str, Any], outcome: Outcome, proof: Proof | None) -> Compaction:
    out = outcome.output
    body: Any = given
    if out is not None:
        body = out.handler.body(out)
    listed = body if isinstance(body, list) else body[outcome.input.handler.list_key(body)]
    return Compaction(
        messages=list(listed),
        body=body if isinstance(body, dict) else None,
        changed=out is not None,
        summary=outcome.summary.text if outcome.summary and out is not None else "",
        sections=dict(outcome.summary.sections) if outcome.summary else {},
        constraints=[r.text for r in outcome.state.active_rules()],
        tokens_before=outcome.tokens_before,
        tokens_after=outcome.tokens_after,
        retention={k: {"kept": r.kept, "total": r.total, "lost": list(r.lost)} for k, r in proof.retention.items()}
        if proof
        else {},
        invented=list(proof.invented) if proof else [],
        notes=list(outcome.notes),
        reason=outcome.reason,
        summarizer=outcome.summarizer,
        cost_usd=outcome.cost_usd,
    )


class Compactor:
    """Says when to compact and does it. One for each conversation; not for several threads at once.

    ``threshold``: prompt tokens of the last call (None: off). ``messages``: number of messages (None: off). ``preset``:
    values for a window, ``small`` is 20 messages with 6 kept. All other options are those of :func:`compact`.
    """

    def __init__(
        self,
        *,
        threshold: int | None = None,
        messages: int | None = None,
        preset_name: str | None = None,
        **options: Any,
    ) -> None:
        found = preset(preset_name) if preset_name else {}
        self.threshold = threshold if threshold is not None else found.get("threshold", THRESHOLD)
        self.messages = messages if messages is not None else found.get("messages")
        self.options: dict[str, Any] = {k: v for k, v in found.items() if k in _OPTIONS} | options
        #: prompt tokens the provider reported last; None: no call since the start or since the last compaction
        self.prompt_tokens: int | None = None
        #: compactions done
        self.count = 0
        self._phase_ended = False
        self._not_below = 0.0
        self._too_many = 0

    def after_call(self, usage: Any) -> bool:
        """Take in the usage of the working call that just ended: an object or dict of any provider, or a number.

        True where a compaction is due by the tokens. Do not report the usage of a summarizing call here.
        """
        tokens = prompt_tokens(usage)
        if tokens is not None:
            self.prompt_tokens = tokens
        return self._by_tokens() is not None

    def finish_phase(self) -> None:
        """A phase of the work is done (tests green, commit made, part delivered): a good moment to compact."""
        self._phase_ended = True

    def due(self, messages: list[Any] | dict[str, Any]) -> Due | None:
        """Why to compact now, None if there is no reason. Never while a tool call waits for its result."""
        listed = messages if isinstance(messages, list) else _listed(messages)
        reason = self._by_tokens()
        if reason is None and self.messages is not None and len(listed) > max(self.messages, self._too_many):
            reason = "messages"
        if reason is None or _waiting(listed):
            return None
        return reason

    def _by_tokens(self) -> Due | None:
        n = self.prompt_tokens
        if n is not None and self.threshold and n >= max(self.threshold, self._not_below):
            return "threshold"
        if (
            self._phase_ended
            and (n is None or not self.threshold or n >= PHASE_SHARE * self.threshold)
            and (n or 0) >= self._not_below
        ):
            return "phase"
        return None

    def compact(self, messages: list[Any] | dict[str, Any]) -> Compaction:
        """Compact now. An output that is hardly smaller leaves the messages as they are (``changed`` false)."""
        return self._done(self._try(messages))

    async def acompact(self, messages: list[Any] | dict[str, Any]) -> Compaction:
        """:meth:`compact` without blocking the event loop."""
        import asyncio

        return self._done(await asyncio.to_thread(self._try, messages))

    def maybe(self, messages: list[Any]) -> list[Any]:
        """The messages to send: compacted if that is due, else as they are."""
        return self.compact(messages).messages if self.due(messages) else messages

    async def amaybe(self, messages: list[Any]) -> list[Any]:
        """:meth:`maybe` without blocking the event loop."""
        return (await self.acompact(messages)).messages if self.due(messages) else messages

    def _try(self, messages: list[Any] | dict[str, Any]) -> Compaction:
        try:
            return compact(messages, **self.options)
        except CompactionError as err:
            if err.code == 2:
                raise
            listed = messages if isinstance(messages, list) else _listed(messages)
            return Compaction(
                messages=listed,
                body=messages if isinstance(messages, dict) else None,
                changed=False,
                summary="",
                sections={},
                constraints=[],
                tokens_before=0,
                tokens_after=0,
                retention={},
                invented=[],
                notes=[],
                reason=str(err),
                summarizer="none",
                cost_usd=None,
            )

    def _done(self, result: Compaction) -> Compaction:
        self._phase_ended = False
        if result.changed:
            self.count += 1
            self.prompt_tokens = None  # what was reported was the old context; the next call tells the new one
            self._not_below = 0.0
            self._too_many = 0
        else:
            self._not_below = (self.prompt_tokens or 0) * GROWTH
            self._too_many = int(len(result.messages) * GROWTH)
        return result


def prompt_tokens(usage: Any) -> int | None:
    """Prompt tokens of a usage object: what occupied the context, cache included. None where it does not tell."""
    from monitor.readers.shapes import tokens

    if usage is None or isinstance(usage, int):
        return usage
    if not isinstance(usage, Mapping):
        dump = getattr(usage, "model_dump", None) or getattr(usage, "to_dict", None)
        usage = dump() if callable(dump) else getattr(usage, "__dict__", {})
    inner = usage.get("usage") or usage.get("usageMetadata")
    found: int | None = tokens(inner if isinstance(inner, Mapping) else usage).prompt
    return found


def _listed(body: Mapping[str, Any]) -> list[Any]:
    return next((v for v in (body.get(k) for k in ("messages", "input", "contents")) if isinstance(v, list)), [])


def _waiting(messages: list[Any]) -> bool:
    """True where the last answer calls tools whose results are not all there."""
    try:
        conv = from_messages(messages, _guess(messages))
    except ConversationError:
        return False
    units = conv.units()
    return bool(units and units[-1].open_calls)
