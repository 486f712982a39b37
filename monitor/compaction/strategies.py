"""The strategies and their combinations, from a loaded conversation to an outcome with its proof."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from monitor.compaction.collect import collect
from monitor.compaction.cut import Cut
from monitor.compaction.engine import Outcome, compact_conversation, proven, redact_kept, refuse_if_larger, valid
from monitor.compaction.options import CompactionError, Options
from monitor.compaction.redact import Redactor
from monitor.compaction.trim import trim
from monitor.compaction.verify import Proof, prove
from monitor.conversation.model import Conversation
from monitor.conversation.tokens import count_message, measure

if TYPE_CHECKING:
    from monitor.compaction.summarizer import Endpoint, Writer


def apply(
    conv: Conversation,
    options: Options,
    *,
    writer: Writer | None = None,
    remote: Endpoint | None = None,
    sleep: Callable[[float], None] = time.sleep,
    told: Callable[[str], None] | None = None,
    refuse: bool = True,
) -> tuple[Outcome, Proof | None]:
    """Compact ``conv`` as ``options.strategies`` say (``notes`` is not for here), and prove the result.

    Raises CompactionError: nothing to go on from, an output that is hardly smaller (with ``refuse``), a provider that
    gives no usable answer, rules that stay broken.
    """
    wanted = [s for s in options.strategies if s != "notes"]
    if not wanted:
        raise CompactionError("the strategy notes writes notes, not a conversation", 2)
    outcome: Outcome | None = None
    if "remote" in wanted:
        from monitor.compaction.remote import compact_remote

        if remote is None:
            raise CompactionError("remote compaction needs an endpoint: --summarizer URL --model NAME", 2)
        outcome = compact_remote(conv, options, remote, sleep=sleep, told=told)
    elif "summary" in wanted:
        outcome = compact_conversation(conv, options, writer)
    if "trim" in wanted:
        outcome = _trimmed(conv, options, outcome)
    assert outcome is not None
    if outcome.output is None:
        return outcome, None
    if outcome.violations:
        codes = ", ".join(sorted({v.code for v in outcome.violations}))
        raise CompactionError(
            f"the output would break rules of its provider that cannot be repaired ({codes}); nothing was written"
        )
    if refuse:
        refuse_if_larger(outcome)
    text = outcome.summary.text if outcome.summary else ""
    opaque = any(m.has_opaque for m in outcome.output.messages) and not text
    proof = None if opaque else prove(outcome.source, outcome.output, text, outcome.redactor, outcome.state)
    return outcome, proof


def _trimmed(conv: Conversation, options: Options, done: Outcome | None) -> Outcome:
    """Trim the whole conversation, or what a summary kept of it (its last exchange stays as it is)."""
    if done is not None and done.output is not None:
        base, keep = done.output, 1
    elif done is not None:
        base, keep = done.source, options.keep_exchanges
    else:
        base, repairs = valid(conv, options)
        keep = options.keep_exchanges
        done = _plain(conv, base, tuple(repairs))
    groups = [e for e in base.exchanges() if e.user is not None]
    start = groups[-keep].start if 0 < keep <= len(groups) else (0 if groups and keep else len(base.messages))
    tight = (options.keep_tokens or 20_000) < 8_000
    result = trim(base, start, aggressive=tight)
    if not result.messages:
        return (
            done
            if done.output is not None
            else msgspec.structs.replace(done, reason="nothing to trim: no old tool result or argument is long")
        )
    repairs = list(done.repairs)
    messages, secret = redact_kept(result.conv, result.conv.messages, done.redactor, result.conv.last_user())
    if secret and done.summary is None:
        done = msgspec.structs.replace(done, notes=(*done.notes, f"secrets removed in {secret} messages"))
    output, violations = proven(result.conv.with_messages(messages) if secret else result.conv, options, repairs)
    told = ", ".join(f"{kind} {n:,}" for kind, n in result.saved.items())
    notes = (*done.notes, f"trimmed {result.messages} messages; tokens saved: {told}")
    return msgspec.structs.replace(
        done,
        output=output,
        tokens_after=measure(output).total,
        repairs=tuple(repairs),
        violations=tuple(violations),
        notes=notes,
        reason="",
    )


def _plain(conv: Conversation, source: Conversation, repairs: tuple[str, ...]) -> Outcome:
    """An outcome without a summary, to be filled."""
    total = measure(source).total
    kept = tuple(m for m in source.messages if m.role != "system")
    n = len([e for e in source.exchanges() if e.user is not None])
    return Outcome(
        input=conv,
        source=source,
        output=None,
        state=collect(source),
        summary=None,
        cut=Cut(kept, (), n, False, sum(count_message(m) for m in kept)),
        redactor=Redactor.of(source),
        tokens_before=total,
        tokens_after=total,
        repairs=repairs,
        summarizer="none",
    )
