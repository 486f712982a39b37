"""The way of a compaction: valid input, cut, state, summary, the format's own boundary, and the proof that it is right.

Pure: takes a conversation and gives a conversation; nothing is read or written here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from monitor.compaction.collect import collect
from monitor.compaction.cut import Cut, cut
from monitor.compaction.options import KEEP_TOKENS, REFUSE, CompactionError, Options
from monitor.compaction.redact import Redactor
from monitor.compaction.render import Summary, as_object, render
from monitor.compaction.state import State
from monitor.conversation.model import CompactionOptions, Conversation, Message
from monitor.conversation.repair import repair
from monitor.conversation.rules import Violation, check
from monitor.conversation.tokens import measure

if TYPE_CHECKING:
    from monitor.compaction.summarizer import Writer

#: share of the input the kept part and the summary may have together, where the user gave no budget
SHARE = 0.48
#: below this many tokens of kept part a conversation is too small to care
LEAST = 1_200
ACKNOWLEDGEMENT = {
    "de": "Verstanden, ich mache von diesem Stand aus weiter.",
    "zh": "好的，我从这个状态继续。",
    "ja": "了解しました。この状態から続けます。",
    "es": "Entendido, continúo desde este estado.",
    "fr": "Compris, je continue à partir de cet état.",
    "en": "Understood, I go on from this state.",
}


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What a compaction gave. ``output`` None: nothing was to be folded, ``reason`` says why."""

    input: Conversation
    source: Conversation  # the input, repaired where it broke rules
    output: Conversation | None
    state: State
    summary: Summary | None
    cut: Cut
    redactor: Redactor
    tokens_before: int
    tokens_after: int
    repairs: tuple[str, ...] = ()
    violations: tuple[Violation, ...] = ()
    notes: tuple[str, ...] = ()
    reason: str = ""
    cost_usd: float | None = None
    summarizer: str = "offline"

    @property
    def ratio(self) -> float | None:
        """Output tokens by input tokens."""
        return round(self.tokens_after / self.tokens_before, 4) if self.tokens_before else None


def compact_conversation(conv: Conversation, options: Options, writer: Writer | None = None) -> Outcome:
    """Compact ``conv`` by a summary. ``writer``: a model that writes the prose; None: the offline summary alone.

    Raises CompactionError where the conversation holds no user message or cannot be made valid.
    """
    source, repairs = valid(conv, options)
    # after a client's own compaction what the user said may stand in its summary alone
    if source.last_user() is None and not any(m.is_summary or m.opaque for m in source.messages):
        raise CompactionError(
            f"{conv.path or 'the conversation'}: holds no message of a user, so there is nothing to go on from", 3
        )
    before = measure(source)
    chosen = choose(source, options, before.total)
    redactor = Redactor.of(source)
    state = collect(source, chosen.kept)
    state = msgspec.structs.replace(state, names=tuple(n for n in state.names if not redactor.holds(n)))
    if chosen.nothing:
        return Outcome(
            input=conv,
            source=source,
            output=None,
            state=state,
            summary=None,
            cut=chosen,
            redactor=redactor,
            tokens_before=before.total,
            tokens_after=before.total,
            repairs=tuple(repairs),
            reason="nothing to fold: all of it belongs to the part that stays (keep fewer exchanges or tokens)",
        )
    # an object is written with a few more marks than a text
    most = options.summary_tokens if options.form == "text" else options.summary_tokens * 4 // 5
    summary = render(state, most=most, redact=redactor, pointer=options.pointer)
    notes: list[str] = []
    cost = None
    name = "offline"
    if writer is not None:
        written = writer.write(source, chosen, state, summary, redactor)
        summary, cost, name = written.summary, written.cost_usd, written.name
        notes += written.notes
    kept, changed = redact_kept(source, chosen.kept, redactor, source.last_user())
    if changed:
        repairs.append(f"secrets removed from {changed} of the messages that are kept")
    if options.form == "json":
        summary = as_object(summary)
    text = f"{options.prefix}\n{summary.text}" if options.prefix else summary.text
    output = source.compacted(
        text,
        kept,
        CompactionOptions(
            timestamp=options.timestamp,
            tokens_before=before.total,
            append=options.append,
            acknowledgement=acknowledgement(options, kept, state),
            read_files=tuple(state.paths("read")),
            modified_files=tuple(state.paths("modified", "created")),
        ),
    )
    output, violations = proven(output, options, repairs)
    after = measure(output).total
    return Outcome(
        input=conv,
        source=source,
        output=output,
        state=state,
        summary=summary,
        cut=chosen,
        redactor=redactor,
        tokens_before=before.total,
        tokens_after=after,
        repairs=tuple(repairs),
        violations=tuple(violations),
        notes=tuple(dict.fromkeys((*conv.notes, *output.notes, *notes))),
        cost_usd=cost,
        summarizer=name,
    )


def refuse_if_larger(outcome: Outcome) -> None:
    """Raises CompactionError where the output is hardly smaller than the input."""
    if outcome.output is None or not outcome.tokens_before or outcome.tokens_after <= REFUSE * outcome.tokens_before:
        return
    fixed = measure(outcome.output)
    why = ""
    if fixed.system + fixed.tools > 0.5 * outcome.tokens_before:
        why = "; system prompt and tools alone are more than half of it, so no compaction can help"
    raise CompactionError(
        f"the output would have {outcome.tokens_after:,} of {outcome.tokens_before:,} tokens, more than "
        f"{REFUSE:.0%} of the input: not written{why}"
    )


def valid(conv: Conversation, options: Options) -> tuple[Conversation, list[str]]:
    """The conversation with what breaks its provider's rules repaired, and what was done."""
    found = check(conv, strict_roles=options.strict_roles)
    if not found:
        return conv, []
    mended, done = repair(conv, found, strict_roles=options.strict_roles)
    return mended, done


def proven(output: Conversation, options: Options, repairs: list[str]) -> tuple[Conversation, list[Violation]]:
    """The output, repaired once more if need be, and what is still broken (nothing, else it must not be written)."""
    found = check(output, strict_roles=options.strict_roles)
    if found:
        output, done = repair(output, found, strict_roles=options.strict_roles)
        repairs += done
        found = check(output, strict_roles=options.strict_roles)
    return output, found


def choose(conv: Conversation, options: Options, total: int) -> Cut:
    """The cut. Without a budget of the user's the output is to be under half of the input."""
    n, at_most = options.keep_exchanges, options.keep_messages
    if options.keep_tokens is not None:
        return cut(conv, n, options.keep_tokens, at_most)
    whole = cut(conv, n, KEEP_TOKENS, at_most)
    if whole.nothing:
        return whole
    parts = measure(conv)
    fixed = parts.system + parts.tools + parts.opaque
    room = int(SHARE * total) - fixed - min(options.summary_tokens, max(800, total // 12))
    return whole if whole.tokens <= room else cut(conv, n, min(KEEP_TOKENS, max(room, LEAST)), at_most)


def redact_kept(
    conv: Conversation, kept: Sequence[Message], redactor: Redactor, last: Message | None
) -> tuple[list[Message], int]:
    """The kept messages without secrets; the user's last message stays word for word."""
    out, n = [], 0
    for m in kept:
        new = m if m is last else redactor.message(conv, m)
        n += new is not m
        out.append(new)
    return out, n


def acknowledgement(options: Options, kept: Sequence[Message], state: State) -> str:
    """The assistant's line behind the summary, "" for none: only where two user messages may not follow each other."""
    wanted = options.acknowledgement
    if wanted == "never":
        return ""
    first = next((m for m in kept if not m.opaque), None)
    needed = options.strict_roles and first is not None and first.role == "user"
    if wanted == "auto" and not needed:
        return ""
    if wanted in ("auto", "always"):
        from monitor.compaction.words import languages

        sample = " ".join(s.text for s in (*state.goal, *state.said)[:6])
        return ACKNOWLEDGEMENT.get(languages(sample)[0], ACKNOWLEDGEMENT["en"])
    return wanted
