"""The two requests of a compaction, shown apart before anything is done.

What a summarizer gets, and what the next working call gets, are different requests with different prices: the first is
paid once, the second again with every call. Tokens by part for both, the cost of both, and for the summarizer both ways
to ask: with the history as text (``flat``) and behind the prefix of the working calls (``cache``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from monitor.compaction.engine import Outcome
from monitor.conversation.tokens import measure

if TYPE_CHECKING:
    from monitor.compaction.summarizer import Writer
    from monitor.pricing import PriceTable


def plan(outcome: Outcome, writer: Writer | None, prices: PriceTable | None, main_model: str | None) -> dict[str, Any]:
    """Both requests with tokens and costs, as ``--dry-run --report json`` gives them. Unknown costs are null."""
    model = main_model or outcome.input.model
    out: dict[str, Any] = {"summary_call": None, "next_call": None, "before": None}
    if writer is not None:
        calls = writer.plan(outcome.source, outcome.cut, outcome.redactor)
        modes = {}
        for mode in ("flat", "cache"):
            other = _as_mode(writer, mode)
            if mode == "cache" and not other.can_cache(outcome.source, outcome.redactor):
                modes[mode] = {"possible": False, "why": _why_not(outcome, other)}
                continue
            planned = other.plan(outcome.source, outcome.cut, outcome.redactor)
            modes[mode] = {
                "possible": True,
                "calls": len(planned),
                "input_tokens": sum(c.tokens for c in planned),
                "cached_tokens": sum(c.cached for c in planned),
                "output_tokens_at_most": sum(c.max_output for c in planned),
                "cost_usd": _cost(
                    prices, writer.at.model, [(c.tokens, c.cached, writer.summary_tokens // 3) for c in planned]
                ),
            }
        out["summary_call"] = {
            "endpoint": writer.at.shown(),
            "api": writer.at.api,
            "model": writer.at.model,
            "window": writer.window(),
            "mode": writer.mode,
            "parts": {
                "instruction": calls[0].tokens - _history(calls[0].tokens, calls),
                "history": _history(calls[0].tokens, calls),
            }
            if calls
            else {},
            "modes": modes,
        }
    before = measure(outcome.source)
    out["before"] = {
        "tokens": before.total,
        "parts": before.parts(),
        "cost_usd": _cost(prices, model, [(before.total, before.total, 0)]),
        "served_from_cache": True,
    }
    if outcome.output is not None:
        after = measure(outcome.output)
        prefix = after.system + after.tools
        out["next_call"] = {
            "model": model,
            "tokens": after.total,
            "parts": after.parts(),
            "cost_usd": {
                "first": _cost(prices, model, [(after.total, prefix, 0)]),
                "later_from_cache": _cost(prices, model, [(after.total, after.total, 0)]),
            },
        }
    return out


def _history(first: int, calls: list[Any]) -> int:
    from monitor.compaction.summarizer import prompt
    from monitor.conversation.tokens import count

    return max(0, first - count(prompt.INSTRUCTION) - count(prompt.SYSTEM))


def _as_mode(writer: Writer, mode: str) -> Writer:
    import copy

    other = copy.copy(writer)
    other.mode = mode  # type: ignore[assignment]
    return other


def _why_not(outcome: Outcome, writer: Writer) -> str:
    if outcome.redactor.values:
        return "the history holds secrets, which must not be sent"
    if outcome.source.bare:
        return "the file holds messages only, not the request they were sent in"
    native = {"openai-chat": "chat", "anthropic": "anthropic", "responses": "responses"}.get(outcome.source.format)
    if native != writer.at.api:
        return f"the conversation is of the format {outcome.source.format}, the endpoint speaks {writer.at.api}"
    return "the history and the answer do not fit the window of the model"


def _cost(prices: PriceTable | None, model: str | None, calls: list[tuple[int, int, int]]) -> float | None:
    """USD of calls given as (input tokens, those of them from cache, output tokens)."""
    price = prices.lookup(model) if prices and model else None
    if price is None:
        return None
    total = 0.0
    for tokens, cached, output in calls:
        one = price.cost(tokens - cached, cached, 0, None, output)
        if one is None:
            return None
        total += one
    return round(total, 6)


def as_text(planned: dict[str, Any], outcome: Outcome) -> str:
    """The plan for people, the two requests apart."""
    lines = []
    call = planned["summary_call"]
    lines.append("1. What the summarizer gets")
    if call is None:
        lines.append("   nothing: the summary is made offline, at no cost")
    else:
        lines.append(f"   {call['endpoint']}, model {call['model']}, window {call['window']:,}; chosen: {call['mode']}")
        for mode, m in call["modes"].items():
            if not m["possible"]:
                lines.append(f"   {mode}: not possible, {m['why']}")
                continue
            lines.append(
                f"   {mode}: {m['calls']} call{'s' if m['calls'] > 1 else ''}, {m['input_tokens']:,} tokens in, of "
                f"which {m['cached_tokens']:,} from cache; "
                f"cost {_usd(m['cost_usd'])}"
            )
    lines += ["", "2. What the next working call gets"]
    now = planned["next_call"]
    before = planned["before"]
    if now is None:
        lines.append(f"   the same as now: {outcome.reason}")
    else:
        lines.append(f"   {now['tokens']:,} tokens instead of {before['tokens']:,}")
        for part, n in now["parts"].items():
            if n or before["parts"].get(part):
                lines.append(f"     {part:10} {before['parts'].get(part, 0):>10,} -> {n:>9,}")
        cost = now["cost_usd"]
        lines.append(
            f"   cost of its prompt: {_usd(cost['first'])} the first time, {_usd(cost['later_from_cache'])} from "
            f"cache; uncompacted from cache {_usd(before['cost_usd'])}"
        )
    return "\n".join(lines)


def _usd(value: float | None) -> str:
    return "unknown" if value is None else f"${value:.4f}"
