"""What the sample logs hold, from the provider's ledger: `expected.json` and the table in the README.

Nothing here uses ctxmon. Each client's log is read with a few lines of its own and compared with the ledger call by
call; a difference ends the script.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Row = dict[str, Any]
SUMS = {
    "prompt_tokens": "prompt",
    "cache_read_tokens": "cache_read",
    "cache_write_tokens": "cache_write",
    "output_tokens": "output",
}
# seconds a prefix stays in the provider's cache
LIFE = 300


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(x) for x in path.read_bytes().split(b"\n") if x]


def usage(r: Row) -> Row:
    return dict(r["usage"] or {})


def cache(calls: list[Row], folds: list[int]) -> tuple[dict[str, int], dict[str, int]]:
    """Outcomes, and causes of the misses, of one chain's work calls; folds: ledger numbers of its summaries."""
    outcomes, causes, before = {"first": 0, "hit": 0, "partial": 0, "miss": 0}, {}, None
    for r in calls:
        read = usage(r)["cache_read"]
        if before is None:
            outcomes["first"] += 1
        elif read >= 0.9 * usage(before)["prompt"]:
            outcomes["hit"] += 1
        else:
            outcomes["miss" if read <= 0.05 * usage(before)["prompt"] else "partial"] += 1
            cause = (
                "compaction"
                if any(before["seq"] < n < r["seq"] for n in folds)
                else "expired"
                if r["t"] - before["t"] > LIFE
                else "unknown"
            )
            causes[cause] = causes.get(cause, 0) + 1
        before = r
    return outcomes, causes


def facts(source: str, session: str, ledger: list[Row], *, side_logged: bool, agent: str | None = None) -> Row:
    """The right answer for one session. side_logged: whether the log has the summarising calls too."""
    answered = [r for r in ledger if r["status"] == 200 and r["purpose"] != "count"]
    work = [r for r in answered if r["purpose"] == "work" and not r["side"]]
    folds = [r for r in answered if r["purpose"] == "summary"]
    logged = work + folds if side_logged else work
    chains: dict[str, list[Row]] = {}
    for r in work:
        chains.setdefault("main" if r["chain"] == "main" else f"agent:{agent}", []).append(r)
    out: Row = {"source": source, "calls": len(logged), "by_purpose": {"work": len(work)}}
    if side_logged and folds:
        out["by_purpose"]["compaction"] = len(folds)
    out |= {name: sum(usage(r)[key] for r in logged) for name, key in SUMS.items()}
    out["fresh_tokens"] = out["prompt_tokens"] - out["cache_read_tokens"] - out["cache_write_tokens"]
    out["peak_prompt_tokens"] = max(usage(r)["prompt"] for r in work)
    out |= {"sessions": 1, "session": session, "chains": {c: len(v) for c, v in chains.items()}, "compactions": []}
    main, at = chains["main"], -1
    for r in folds:
        before = [x for x in main if x["seq"] < r["seq"]]
        after = [x for x in main if x["seq"] > r["seq"]]
        if len(before) != at:  # Pi may ask for two summaries for one compaction
            out["compactions"].append(
                {
                    "kind": "compaction",
                    "evidence": "recorded",
                    "chain": "main",
                    "tokens_before": usage(before[-1])["prompt"],
                    "tokens_after": usage(after[0])["prompt"] if after else None,
                }
            )
        at = len(before)
    out["windows"] = {c: 1 + (len(out["compactions"]) if c == "main" else 0) for c in chains}
    numbers = [r["seq"] for r in folds]
    told = {c: cache(v, numbers if c == "main" else []) for c, v in chains.items()}
    out["cache_outcomes"] = {c: t[0] for c, t in told.items()}
    out["cache_misses"] = {}
    for _, causes in told.values():
        for cause, n in causes.items():
            out["cache_misses"][cause] = out["cache_misses"].get(cause, 0) + n
    out["prompt_series"] = {f"{session}|{c}": [usage(r)["prompt"] for r in v] for c, v in chains.items()}
    out["unlogged_calls"] = (
        []
        if side_logged
        else [{k: usage(r)[k] for k in ("prompt", "cache_read", "cache_write", "output")} for r in folds]
    )
    out["refused_calls"] = sum(r["status"] != 200 for r in ledger)
    return out


def same(what: str, seen: list[tuple[int, ...]], rows: list[Row]) -> None:
    """Ends the script unless the log shows the ledger's figures, call by call."""
    want = [tuple(usage(r)[k] for k in ("prompt", "cache_read", "cache_write", "output")) for r in rows]
    if seen != want:
        raise SystemExit(f"{what}: the log differs from the ledger\n log    {seen}\n ledger {want}")


def claude(folder: Path, ledger: list[Row]) -> dict[str, Row]:
    main = next(folder.glob("projects/*/*.jsonl"))
    agent = next(folder.glob("projects/*/*/subagents/agent-*.jsonl"))
    for path, chain in ((main, "main"), (agent, "agent")):
        calls: dict[str, tuple[int, ...]] = {}
        for r in records(path):
            if r["type"] == "assistant":
                u = r["message"]["usage"]
                read, write = u["cache_read_input_tokens"], u["cache_creation_input_tokens"]
                calls[r["message"]["id"]] = (u["input_tokens"] + read + write, read, write, u["output_tokens"])
        same(path.name, list(calls.values()), [r for r in ledger if r["purpose"] == "work" and r["chain"] == chain])
    out = facts("claude-code", main.stem, ledger, side_logged=False, agent=agent.stem.removeprefix("agent-"))
    noted = [r["compactMetadata"] for r in records(main) if r.get("subtype") == "compact_boundary"]
    for c, note in zip(out["compactions"], noted, strict=True):
        c |= {"trigger": note["trigger"], "recorded_before": note["preTokens"], "recorded_after": note["postTokens"]}
    return {"claude-code": out}


def codex(folder: Path, ledger: list[Row]) -> dict[str, Row]:
    path = next(folder.glob("sessions/**/*.jsonl"))
    rows = records(path)
    noted = [r["payload"]["usage"] for r in rows if r["type"] == "token_usage_record"]
    same(
        path.name,
        [
            (u["input_tokens"], u["cached_input_tokens"], u["cache_write_input_tokens"], u["output_tokens"])
            for u in noted
        ],
        ledger,
    )
    out = facts("codex", rows[0]["payload"]["id"], ledger, side_logged=True)
    infos = [r["payload"]["info"] for r in rows if r["payload"].get("type") == "token_count" and r["payload"]["info"]]
    estimates = [i["last_token_usage"]["total_tokens"] for i in infos if not i["last_token_usage"]["input_tokens"]]
    for c, n in zip(out["compactions"], estimates, strict=True):
        c["recorded_after"] = n
    out["context_limit"] = infos[-1]["model_context_window"]
    return {"codex": out}


def pi(folder: Path, ledger: list[Row]) -> dict[str, Row]:
    path = next(folder.glob("sessions/*/*.jsonl"))
    rows = records(path)
    noted = [r["message"]["usage"] for r in rows if r["type"] == "message" and r["message"]["role"] == "assistant"]
    seen = [
        (u["input"] + u["cacheRead"] + u["cacheWrite"], u["cacheRead"], u["cacheWrite"], u["output"]) for u in noted
    ]
    same(path.name, seen, [r for r in ledger if r["purpose"] == "work"])
    out = facts("pi", rows[0]["id"], ledger, side_logged=False)
    for c, note in zip(out["compactions"], [r for r in rows if r["type"] == "compaction"], strict=True):
        c["recorded_before"] = note["tokensBefore"]
    return {"pi": out}


def new_api(folder: Path, ledger: list[Row]) -> dict[str, Row]:
    """Writes the export, one row per line of the ledger, newest first, in the documented shape of `GET /api/log/`."""
    items = []
    for r in ledger:
        u, wait = usage(r), int(r["fault"].get("first_delay_ms", 0))
        prompt, read, write = u.get("prompt", 0), u.get("cache_read", 0), u.get("cache_write", 0)
        other = {
            "model_ratio": 1.5,
            "group_ratio": 1,
            "completion_ratio": 5,
            "model_price": -1,
            "user_group_ratio": -1,
            "cache_tokens": read,
            "cache_ratio": 0.1,
            "cache_creation_tokens": write,
            "cache_creation_ratio": 1.25,
            "frt": wait,
            "claude": True,
            "usage_semantic": "anthropic",
            "request_path": r["path"],
        }
        fresh = prompt - read - write  # this format's input tokens leave the cache out
        billed = (fresh + read * 0.1 + write * 1.25 + u.get("output", 0) * 5) * 1.5
        failed = r["status"] != 200
        items.append(
            {
                "id": 52_000 + r["seq"],
                "user_id": 7,
                "created_at": int(r["t"]),
                "type": 5 if failed else 2,
                "content": f"status code {r['status']}: Overloaded" if failed else "",
                "username": "dev",
                "token_name": "shop-agent",
                "model_name": r["model"],
                "quota": round(billed),
                "prompt_tokens": fresh,
                "completion_tokens": u.get("output", 0),
                "use_time": -(-wait // 1000),
                "is_stream": r["stream"],
                "channel": 3,
                "channel_name": "loopback",
                "token_id": 11,
                "group": "default",
                "ip": "",
                "request_id": r["response_sha256"][:24],
                "other": json.dumps({"error_code": r["status"]} if failed else other, separators=(",", ":")),
            }
        )
    folder.mkdir(parents=True, exist_ok=True)
    data = {"page": 1, "page_size": 100, "total": len(items), "items": items[::-1]}
    text = json.dumps({"success": True, "message": "", "data": data}, indent=1)
    (folder / "log.json").write_text(text + "\n", encoding="utf-8")
    out = facts("new-api", "", ledger, side_logged=True)
    for c in out["compactions"]:
        c["evidence"] = "inferred"
    note = (
        "The rows do not say what a call was for: the two summarising calls look like any other, so that tokens_after "
        "(the next work call) may be told as the prompt of a row between, and their cold prompts as two more misses. "
        "Sessions are not in the file."
    )
    return {"new-api": out | {"sessions": None, "session": None, "notes": note}}


def litellm(path: Path, ledger: list[Row]) -> dict[str, Row]:
    rows = records(path)
    noted = [r["metadata"]["usage_object"] for r in rows]
    reads = [u["prompt_tokens_details"]["cached_tokens"] for u in noted]
    seen = [(u["prompt_tokens"], read, 0, u["completion_tokens"]) for u, read in zip(noted, reads, strict=True)]
    same(path.name, seen, ledger)
    return {"litellm": facts("litellm", rows[0]["trace_id"], ledger, side_logged=True)}


def merge(path: Path, sources: dict[str, Row]) -> None:
    """Puts the sources into expected.json beside the others and adds all up under `.`."""
    old = json.loads(path.read_text("utf-8"))["sources"] if path.exists() else {}
    every = {k: v for k, v in (old | sources).items() if k != "."}
    total: Row = {k: sum(v[k] for v in every.values()) for k in ("calls", *SUMS, "fresh_tokens")}
    total["peak_prompt_tokens"] = max(v["peak_prompt_tokens"] for v in every.values())
    total["compactions"] = sum(len(v["compactions"]) for v in every.values())
    body = {
        "checked_against": "the provider's ledger: every logged call was found there with the same numbers",
        "sources": {".": total} | dict(sorted(every.items())),
    }
    path.write_text(json.dumps(body, indent=1) + "\n", encoding="utf-8")


def table(expected: Path) -> str:
    """The facts of expected.json as a Markdown table, and the files with their sizes."""
    every = json.loads(expected.read_text("utf-8"))["sources"]
    out = [
        "| folder | made by | calls | prompt | cache read | cache write | output | peak | compactions | misses |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, v in every.items():
        misses = ", ".join(f"{n} {c}" for c, n in v.get("cache_misses", {}).items())
        folds = v["compactions"] if isinstance(v["compactions"], int) else len(v["compactions"])
        figures = [v["calls"], *(v[k] for k in SUMS), v["peak_prompt_tokens"], folds]
        who = "" if name == "." else f"{v['client']}, {v['made']}"
        numbers = " | ".join(f"{n:,}" for n in figures)
        out.append(f"| {'all' if name == '.' else name} | {who} | {numbers} | {misses} |")
    out += ["", "| file | kB |", "|---|---|"]
    root = expected.parent
    for f in sorted(root.rglob("*")):
        if f.is_file() and f.name != "README.md":
            out.append(f"| `{f.relative_to(root).as_posix()}` | {f.stat().st_size / 1000:,.1f} |")
    return "\n".join(out)
