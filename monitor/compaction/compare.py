"""What compactions kept, lost and invented: between two files, or those an agent made itself in its session file."""

from __future__ import annotations

from typing import Any

import msgspec

from monitor.compaction.collect import collect, collect_messages, is_former, timeline
from monitor.compaction.former import text_of
from monitor.compaction.redact import Redactor
from monitor.compaction.verify import Proof, compare, context_text, independent, invented, plain
from monitor.conversation.model import Conversation, Message
from monitor.conversation.tokens import count, measure


class Made(msgspec.Struct, frozen=True, kw_only=True):
    """One compaction: where it stands, the context before and after it, and what survived."""

    index: int
    where: str
    time: str | int | float | None
    tokens_before: int
    tokens_after: int
    summary_tokens: int
    proof: Proof


def between(a: Conversation, b: Conversation) -> Made:
    """What the conversation ``b`` kept of ``a``."""
    redactor = Redactor.of(a)
    summary = next((m for m in b.messages if is_former(m)), None) or _new_user_text(a, b)
    text = text_of(summary) if summary is not None else ""
    after = collect_messages(b, [m for m in b.messages if m.role != "system"], ())
    seen = context_text(b)
    proof = compare(collect(a), after, seen, redactor, invented(text, a))
    proof = msgspec.structs.replace(proof, independent=independent(a, seen, redactor))
    return Made(
        index=0,
        where=summary.where if summary is not None else "",
        time=None,
        tokens_before=measure(a).total,
        tokens_after=measure(b).total,
        summary_tokens=count(text),
        proof=proof,
    )


def _new_user_text(a: Conversation, b: Conversation) -> Message | None:
    """The summary of another program: the first user message of ``b`` that ``a`` does not hold."""
    known = {" ".join(m.text.split()) for m in a.messages}
    return next(
        (
            m
            for m in b.messages
            if m.role == "user" and m.text.strip() and not m.results and " ".join(m.text.split()) not in known
        ),
        None,
    )


def made_by_agent(conv: Conversation) -> list[Made]:
    """Each compaction recorded in a file, in order; empty where there is none with its history before it."""
    out: list[Made] = []
    redactor = Redactor.of(conv)
    for m in timeline(conv):
        if not is_former(m):
            continue
        pair = _around(conv, m)
        if pair is None:
            continue
        before, after = pair
        source = collect(before)
        seen = [x for x in after.messages if x.role != "system"]
        told = context_text(after)
        proof = compare(source, collect_messages(after, seen, ()), told, redactor, invented(text_of(m), before))
        proof = msgspec.structs.replace(proof, independent=independent(before, told, redactor))
        out.append(
            Made(
                index=len(out),
                where=m.where,
                time=m.time,
                tokens_before=measure(before).total,
                tokens_after=measure(after).total,
                summary_tokens=count(text_of(m)),
                proof=proof,
            )
        )
    return out


def _around(conv: Conversation, m: Message) -> tuple[Conversation, Conversation] | None:
    """(the conversation right before the compaction, the one right after it)."""
    if not conv.handler.jsonl:
        at = next((i for i, x in enumerate(conv.messages) if x is m), 0)
        if not any(x.typed for x in conv.messages[:at]):
            return None
        system = [x for x in conv.messages[:at] if x.role == "system"]
        return conv.with_messages(conv.messages[:at]), conv.with_messages([*system, m])
    if m.source is None:
        return None
    from_lines = getattr(conv.handler, "from_lines", None)
    if from_lines is None:
        return None
    before = from_lines(conv.lines[: m.source], conv.path)
    if not any(x.typed for x in before.messages):
        return None
    return before, from_lines(conv.lines[: _end(conv, m, before)], conv.path)


def _end(conv: Conversation, m: Message, before: Conversation) -> int:
    """The line behind the compaction: what a client keeps stands behind the summary again, word for word."""
    known = {_words(x) for x in before.messages}
    end = (m.source or 0) + 1
    for x in conv.history():
        if x.source is None or x.source < end:
            continue
        if x.is_summary or _words(x) not in known:
            break
        end = x.source + 1
    return end


def _words(m: Message) -> object:
    return m.role, m.text, tuple(c.arguments_text for c in m.calls), tuple(r.text for r in m.results)


def as_json(made: Made) -> dict[str, Any]:
    """One compaction as JSON values."""
    return {
        "index": made.index,
        "where": made.where or None,
        "time": made.time,
        "tokens_before": made.tokens_before,
        "tokens_after": made.tokens_after,
        "ratio": round(made.tokens_after / made.tokens_before, 4) if made.tokens_before else None,
        "summary_tokens": made.summary_tokens,
        "kept_share": made.proof.share,
        **plain(made.proof),
    }


def as_text(made: Made, title: str, most: int = 6) -> str:
    """One compaction for people."""
    ratio = f" ({made.tokens_after / made.tokens_before:.1%})" if made.tokens_before else ""
    lines = [
        f"{title}: {made.tokens_before:,} -> {made.tokens_after:,} tokens{ratio}, summary "
        f"{made.summary_tokens:,} tokens"
    ]
    share = made.proof.share
    lines.append(f"  still to be found: {'–' if share is None else f'{share:.0%}'} of what the conversation held")
    for kind, r in made.proof.retention.items():
        if r.total:
            lines.append(f"    {kind.replace('_', ' '):16} {r.kept:>3} of {r.total}")
            lines += [f"      lost: {x}" for x in r.lost[:most]]
            if len(r.lost) > most:
                lines.append(f"      … and {len(r.lost) - most} more")
    lines.append(f"  invented: {', '.join(made.proof.invented) if made.proof.invented else 'nothing'}")
    return "\n".join(lines)
