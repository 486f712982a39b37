"""A compaction told: as JSON (``ctxmon.compaction/1``) and as text for a terminal."""

from __future__ import annotations

from typing import Any

from monitor.compaction.blocks import SECTION_KEYS
from monitor.compaction.engine import Outcome
from monitor.compaction.notes import Notes
from monitor.compaction.state import State
from monitor.compaction.verify import Proof, plain
from monitor.conversation.model import Conversation
from monitor.conversation.tokens import estimated, measure


def as_json(
    outcome: Outcome, proof: Proof | None, *, path: str | None, strategy: str, extra: dict[str, Any] | None = None
) -> dict[str, Any]:
    """The report of ``compact --report json``. Unknown is null; ``output.path`` null: nothing was written."""
    out = outcome.output
    sections = outcome.summary.sections if outcome.summary else {}
    return {
        "schema": "ctxmon.compaction/1",
        "input": {
            "path": outcome.input.path or None,
            "format": outcome.input.format,
            "messages": len(outcome.input.messages),
            "tokens": outcome.tokens_before,
        },
        "output": {
            "path": path,
            "format": (extra or {}).get("converted_to") or out.format if out else None,
            "messages": len(out.messages) if out else None,
            "tokens": outcome.tokens_after if out else None,
        },
        "ratio": outcome.ratio if out else None,
        "tokens_estimated": estimated(),
        "strategy": strategy,
        "summarizer": outcome.summarizer,
        "summary_tokens": outcome.summary.tokens if outcome.summary else None,
        "kept_turns": outcome.cut.exchanges,
        "split": outcome.cut.split,
        "sections": {key: sections.get(name) for name, key in SECTION_KEYS.items()},
        "constraints": [r.text for r in outcome.state.active_rules()],
        "cancelled": [{"text": r.text, "by": r.by} for r in outcome.state.rules if r.standing != "active"],
        **(plain(proof) if proof else {"retention": {}, "invented": [], "probe": []}),
        "repairs": list(outcome.repairs),
        "violations": [{"code": v.code, "where": v.where, "message": v.message} for v in outcome.violations],
        "notes": list(outcome.notes),
        "reason": outcome.reason or None,
        "cost_usd": outcome.cost_usd,
        **(extra or {}),
    }  # fmt: skip


def notes_json(conv: Conversation, state: State, made: Notes, path: str | None) -> dict[str, Any]:
    """The same report for ``--strategy notes``: nothing is kept beside the notes, which are one message to read."""
    before = measure(conv).total
    return {
        "schema": "ctxmon.compaction/1",
        "input": {
            "path": conv.path or None,
            "format": conv.format,
            "messages": len(conv.messages),
            "tokens": before,
        },
        "output": {"path": path, "format": "markdown", "messages": 1, "tokens": made.tokens},
        "ratio": round(made.tokens / before, 4) if before else None,
        "tokens_estimated": estimated(),
        "strategy": "notes",
        "summarizer": "offline",
        "summary_tokens": made.tokens,
        "kept_turns": 0,
        "sections": {key: made.sections.get(name) for name, key in SECTION_KEYS.items()},
        "constraints": [r.text for r in state.active_rules()],
        "cancelled": [{"text": r.text, "by": r.by} for r in state.rules if r.standing != "active"],
        "retention": {},
        "invented": [],
        "repairs": [],
        "violations": [],
        "cost_usd": None,
        "start_prompt": made.start,
    }


def as_text(outcome: Outcome, proof: Proof | None, *, path: str | None, strategy: str) -> str:
    """The report for people."""
    lines = []
    if outcome.output is None:
        name = outcome.input.path or "conversation"
        return f"{name}: {outcome.reason}; nothing was written ({outcome.tokens_before:,} tokens)"
    mark = "~" if estimated() else ""
    before, after = outcome.tokens_before, outcome.tokens_after
    lines.append(
        f"{path or 'not written'}: {mark}{before:,} -> {mark}{after:,} tokens ({_percent(after, before)}), "
        f"{strategy}, summary by {outcome.summarizer}"
    )
    if outcome.summary:
        lines.append(
            f"  summary {outcome.summary.tokens:,} tokens, kept as it was: {outcome.cut.exchanges} exchanges, "
            f"{len(outcome.cut.kept)} messages, {outcome.cut.tokens:,} "
            f"tokens{', the first of them split' if outcome.cut.split else ''}"
        )
    parts = measure(outcome.output).parts()
    lines.append("  now: " + ", ".join(f"{k} {v:,}" for k, v in parts.items() if v))
    if proof:
        lines.append("")
        lines.append("  what the new conversation still answers")
        for kind, r in proof.retention.items():
            if r.total:
                lines.append(f"    {kind.replace('_', ' '):16} {r.kept:>3} of {r.total}")
                lines += [f"      lost: {x}" for x in r.lost[:6]]
                if len(r.lost) > 6:
                    lines.append(f"      … and {len(r.lost) - 6} more")
        if proof.independent:
            own = proof.independent
            named = {"user sentences": own.user_sentences, "paths": own.paths, "values": own.values}
            counted = ", ".join(f"{k} {r.kept} of {r.total}" for k, r in named.items() if r.total)
            lines.append(f"  counted without reading: {counted or 'nothing'}")
        lines.append(f"  invented: {', '.join(proof.invented) if proof.invented else 'nothing'}")
    if outcome.repairs:
        lines += ["  repaired:", *(f"    {r}" for r in outcome.repairs[:12])]
    lines += [f"  note: {n}" for n in outcome.notes]
    lines.append(f"  rules broken: {len(outcome.violations) or 'none'}")
    if outcome.cost_usd is not None:
        lines.append(f"  cost of the summary: ${outcome.cost_usd:.4f}")
    return "\n".join(lines)


def _percent(after: int, before: int) -> str:
    return f"{after / before:.1%}" if before else "–"
