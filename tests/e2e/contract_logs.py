"""Small logs of agents with the truth about them, and all small logs by name; see contract_base.py."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.e2e.contract_base import (
    CC_SESSION,
    CODEX_SESSION,
    KEY,
    PI_SESSION,
    PLANTED,
    SIX,
    TOKEN,
    TOOL_OUTPUT,
    TYPED,
    Log,
    at,
    lines,
    six,
)
from tests.e2e.contract_gateways import api_log, har, litellm, new_api, table

__all__ = ["LOGS", "PLANTED", "SIX", "Log"]


# ------------------------------------------------------------------------------------------------------- Claude Code
def claude_code(folder: Path) -> Log:
    """Streamed duplicates, a subagent, a pause that outlives the cache, a compaction, a refused request."""
    base = {"sessionId": CC_SESSION, "cwd": "/home/dev/shop", "version": "2.1.0", "isSidechain": False}

    def row(kind: str, time: str, **more: Any) -> dict[str, Any]:
        return {**base, "type": kind, "uuid": f"{kind}-{time}", "timestamp": time, **more}

    def user(time: str, content: Any) -> dict[str, Any]:
        return row("user", time, message={"role": "user", "content": content})

    def answer(time: str, id: str, usage: tuple[int, int, int, int], stop: str | None, **more: Any) -> dict[str, Any]:
        fresh, read, write, out = usage
        figures = {"input_tokens": fresh, "cache_read_input_tokens": read, "cache_creation_input_tokens": write,
                   "cache_creation": {"ephemeral_5m_input_tokens": write, "ephemeral_1h_input_tokens": 0},
                   "output_tokens": out}  # fmt: skip
        message = {"id": id, "role": "assistant", "model": "claude-sonnet-4-5", "stop_reason": stop, "usage": figures,
                   "content": [{"type": "text", "text": f"I read {TYPED}."}]}  # fmt: skip
        return row("assistant", time, requestId=f"req-{id}", message=message, **more)

    result = [{"type": "tool_result", "tool_use_id": "t1", "content": f"{TOOL_OUTPUT} key={KEY} {TOKEN}"}]
    rows = [
        user(at(0), f"Port the importer, {TYPED}"),
        answer(at(0, 5), "m1", (10, 0, 20_000, 2), None),
        answer(at(0, 6), "m1", (10, 0, 20_000, 300), "tool_use"),
        user(at(0, 10), result),
        answer(at(0, 20), "m2", (12, 20_010, 988, 120), "end_turn"),
        user(at(12), "Go on."),  # the cache lives five minutes
        answer(at(12, 5), "m3", (20, 0, 22_000, 80), "end_turn"),
        row("system", at(13), subtype="compact_boundary", content="Conversation compacted",
            compactMetadata={"trigger": "auto", "preTokens": 22_100, "postTokens": 3_000}),
        row("user", at(13, 1), isCompactSummary=True, message={"role": "user", "content": f"Summary: {TYPED}"}),
        answer(at(13, 10), "m4", (30, 4_000, 4_970, 40), "end_turn"),
        row("system", at(14), subtype="api_error", error={"status": 529}),
    ]  # fmt: skip
    projects = folder / "projects" / "-home-dev-shop"
    main = lines(projects / f"{CC_SESSION}.jsonl", rows)
    agent = answer(at(0, 15), "s1", (5, 0, 8_000, 50), "end_turn", isSidechain=True, agentId="b7")
    lines(projects / CC_SESSION / "subagents" / "agent-b7.jsonl", [agent])
    ok = {"session": CC_SESSION, "session_evidence": "explicit", "chain": "main", "status": "ok", "purpose": "work",
          "provider": "anthropic", "model": "claude-sonnet-4-5", "cost_source": "table",
          "context_limit": 200_000, "context_limit_source": "table"}  # fmt: skip
    return Log(
        [str(folder / "projects")],
        "claude-code",
        [
            six(20_010, 10, 0, 20_000, 300, 0, window=1, exchange=1, cache_outcome="first", line=2, file=main,
                 call_id="m1", time=at(0, 5), cost_usd=(10 * 3 + 20_000 * 3.75 + 300 * 15) / 1e6, **ok),
            six(8_005, 5, 0, 8_000, 50, 1, window=1, cache_outcome="first", **ok | {"chain": "agent:b7"},
                 cost_usd=(5 * 3 + 8_000 * 3.75 + 50 * 15) / 1e6),
            six(21_010, 12, 20_010, 988, 120, 2, window=1, exchange=1, cache_outcome="hit", cache_miss_cause=None,
                 cost_usd=(12 * 3 + 20_010 * 0.3 + 988 * 3.75 + 120 * 15) / 1e6, **ok),
            six(22_020, 20, 0, 22_000, 80, 3, window=1, exchange=2, cache_outcome="miss", cache_miss_cause="expired",
                 cost_usd=(20 * 3 + 22_000 * 3.75 + 80 * 15) / 1e6, **ok),
            six(9_000, 30, 4_000, 4_970, 40, 4, window=2, exchange=2, cache_outcome="partial",
                 cache_miss_cause="compaction", cost_usd=(30 * 3 + 4_000 * 0.3 + 4_970 * 3.75 + 40 * 15) / 1e6, **ok),
            six(None, None, None, None, None, 5, status="error", cost_usd=None, cost_source=None, chain="main"),
        ],
        [{"kind": "compaction", "evidence": "recorded", "trigger": "auto", "session": CC_SESSION, "chain": "main",
          "recorded_before": 22_100, "recorded_after": 3_000, "tokens_before": 22_020, "tokens_after": 9_000,
          "after_call": 3, "before_call": 4, "line": 8, "file": main, "time": at(13)}],
        {"calls": 5, "exchanges": 2, "prompt_tokens": 80_045, "fresh_tokens": 77, "cache_read_tokens": 24_010,
         "cache_write_tokens": 55_958, "output_tokens": 590, "peak_prompt_tokens": 22_020, "last_prompt_tokens": 9_000,
         # the window less 20,000 for the answer less 13,000
         "context_limit": 200_000, "usable_limit": 167_000, "side_calls": 0, "windows": 3, "compactions": 1,
         "inferred_compactions": 0, "cache_misses": {"expired": 1, "compaction": 1}, "unpriced_calls": 0,
         "inherited_calls": 0, "forecast": None, "quota": None, "models": ["claude-sonnet-4-5"]},
    )  # fmt: skip


# ------------------------------------------------------------------------------------------------------------- Codex
def codex(folder: Path) -> Log:
    """Running totals, a repeated row, a logged window, a compaction with its estimate row, quota."""

    def row(time: str, kind: str, **payload: Any) -> dict[str, Any]:
        return {"timestamp": time, "type": kind, "payload": payload}

    def usage(prompt: int, cached: int, out: int, reasoning: int) -> dict[str, int]:
        return {"input_tokens": prompt, "cached_input_tokens": cached, "output_tokens": out,
                "reasoning_output_tokens": reasoning, "total_tokens": prompt + out}  # fmt: skip

    def said(time: str) -> dict[str, Any]:
        text = [{"type": "output_text", "text": f"Reading {TYPED}"}]
        return row(time, "response_item", type="message", role="assistant", content=text)

    def count(time: str, total: dict[str, int], last: dict[str, int]) -> dict[str, Any]:
        info = {"total_token_usage": total, "last_token_usage": last, "model_context_window": 38_000}
        limits = {"primary": {"used_percent": 12.5, "window_minutes": 300, "resets_in_seconds": 60}}
        return row(time, "event_msg", type="token_count", info=info, rate_limits=limits)

    first = usage(10_000, 0, 60, 20)
    both = usage(21_000, 9_984, 100, 20)
    three = usage(24_000, 9_984, 130, 20)
    rows = [
        row(at(0), "session_meta", id=CODEX_SESSION, timestamp=at(0), cwd="/home/dev/shop", model_provider="openai"),
        row(at(0), "turn_context", model="gpt-5.1-codex", cwd="/home/dev/shop"),
        row(at(0, 1), "event_msg", type="user_message", message=f"Port it, {TYPED}"),
        row(at(0, 1), "response_item", type="message", role="user",
            content=[{"type": "input_text", "text": f"Port it, {TYPED}"}]),
        said(at(0, 4)),
        count(at(0, 5), first, first),
        count(at(0, 6), first, first),  # the same totals again: no call
        said(at(0, 19)),
        count(at(0, 20), both, usage(11_000, 9_984, 40, 0)),
        row(at(1), "compacted", message=f"Summary of {TYPED}"),
        count(at(1, 1), both, usage(0, 0, 0, 0) | {"total_tokens": 2_800}),
        count(at(1, 10), three, usage(3_000, 0, 30, 0)),
    ]  # fmt: skip
    path = lines(
        folder / "sessions" / "2026" / "04" / "10" / f"rollout-2026-04-10T08-00-00-{CODEX_SESSION}.jsonl", rows
    )
    ok = {"session": CODEX_SESSION, "chain": "main", "status": "ok", "purpose": "work", "exchange": 1, "file": path,
          "model": "gpt-5.1-codex", "context_limit": 38_000, "context_limit_source": "logged"}  # fmt: skip
    return Log(
        [str(folder / "sessions")],
        "codex",
        [
            six(10_000, 10_000, 0, 0, 60, 0, window=1, reasoning_tokens=20, cache_outcome="first", **ok),
            six(11_000, 1_016, 9_984, 0, 40, 1, window=1, reasoning_tokens=0, cache_outcome="hit", **ok),
            six(3_000, 3_000, 0, 0, 30, 2, window=2, cache_outcome="miss", cache_miss_cause="compaction", **ok),
        ],
        [{"kind": "compaction", "evidence": "recorded", "tokens_before": 11_000, "tokens_after": 3_000,
          "recorded_after": 2_800, "after_call": 1, "before_call": 2, "session": CODEX_SESSION}],
        # the logged window is 0.95 of the full one, of which 0.9 are used: 38,000 / 0.95 * 0.9
        {"calls": 3, "prompt_tokens": 24_000, "fresh_tokens": 14_016, "cache_read_tokens": 9_984, "output_tokens": 130,
         "usable_limit": 36_000, "windows": 2, "compactions": 1, "peak_prompt_tokens": 11_000, "exchanges": 1,
         "last_prompt_tokens": 3_000, "cache_misses": {"compaction": 1},
         "quota": {"used_percent": 12.5, "resets": at(2, 10), "window_min": 300}},
    )  # fmt: skip


# ---------------------------------------------------------------------------------------------------------------- Pi
def pi(folder: Path) -> Log:
    """Costs in the log, a compaction entry, a model without a price, an aborted request."""
    rows: list[dict[str, Any]] = [
        {"type": "session", "version": 3, "id": PI_SESSION, "timestamp": at(0), "cwd": "/home/dev/shop"}
    ]

    def entry(time: str, kind: str, **more: Any) -> None:
        number = len(rows)
        rows.append({"type": kind, "id": f"e{number}", "parentId": f"e{number - 1}" if number > 1 else None,
                     "timestamp": time, **more})  # fmt: skip

    def said(time: str, usage: tuple[int, int, int, int], cost: float | None, stop: str = "stop") -> None:
        fresh, read, write, out = usage
        figures: dict[str, Any] = {"input": fresh, "output": out, "cacheRead": read, "cacheWrite": write}
        if cost is not None:
            figures["cost"] = {"total": cost}
        entry(time, "message", message={
            "role": "assistant", "provider": "shop", "model": "house-model-9b", "stopReason": stop, "usage": figures,
            "timestamp": 0, "content": [{"type": "text", "text": TYPED}]})  # fmt: skip

    entry(at(0), "message", message={"role": "user", "content": f"Port it, {TYPED} {KEY}"})
    said(at(0, 5), (30_000, 0, 0, 50), 0.03)
    said(at(0, 9), (500, 30_000, 0, 50), None)
    entry(at(0, 20), "compaction", summary=TYPED, tokensBefore=30_550, firstKeptEntryId="e2")
    said(at(1), (9_000, 0, 0, 20), 0.01)
    said(at(1, 9), (0, 0, 0, 0), None, stop="aborted")
    path = lines(folder / "sessions" / "--home-dev-shop--" / f"2026-04-10T08-00-00-000Z_{PI_SESSION}.jsonl", rows)
    ok = {"session": PI_SESSION, "source": "pi", "status": "ok", "purpose": "work", "exchange": 1, "file": path,
          "context_limit": None, "context_limit_source": None, "model": "house-model-9b"}  # fmt: skip
    return Log(
        [str(folder / "sessions")],
        "pi",
        [
            six(30_000, 30_000, 0, 0, 50, 0, window=1, cost_usd=0.03, cost_source="logged", **ok),
            six(30_500, 500, 30_000, 0, 50, 1, window=1, cost_usd=None, cost_source=None, **ok),
            six(9_000, 9_000, 0, 0, 20, 2, window=2, cost_usd=0.01, cost_source="logged", **ok),
            six(None, None, None, None, None, 3, status="error", cost_usd=None),
        ],
        [{"kind": "compaction", "evidence": "recorded", "recorded_before": 30_550, "tokens_before": 30_500,
          "tokens_after": 9_000, "after_call": 1, "before_call": 2, "session": PI_SESSION}],
        {"calls": 3, "cost_usd": 0.04, "unpriced_calls": 1, "context_limit": None, "usable_limit": None, "windows": 2,
         "prompt_tokens": 69_500, "last_prompt_tokens": 9_000},
    )  # fmt: skip


LOGS: dict[str, Callable[[Path], Log]] = {
    "claude-code": claude_code, "codex": codex, "pi": pi, "new-api": new_api, "litellm": litellm, "har": har,
    "api-log": api_log, "table": table,
}  # fmt: skip
