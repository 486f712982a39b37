"""Small logs of gateways, captures and tables with the truth about them; see contract_base.py."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.e2e.contract_base import COOKIE, KEY, SIX, TOKEN, TOOL_OUTPUT, TYPED, URL_SECRET, Log, at, lines, six


# ---------------------------------------------------------------------------------------------------------- gateways
def new_api(folder: Path) -> Log:
    """Newest first as the gateway sends them; Claude rows whose prompt leaves the cache out; a refused request."""

    def row(second: int, prompt: int, read: int, write: int, out: int, quota: int, kind: int = 2) -> dict[str, Any]:
        other = {"claude": True, "cache_tokens": read, "cache_creation_tokens": write, "model_ratio": 1.5}
        return {"id": second, "user_id": 3, "created_at": 1_775_808_000 + second, "type": kind, "content": KEY,
                "username": "dev", "token_name": "agent", "model_name": "claude-sonnet-4-5", "quota": quota,
                "prompt_tokens": prompt, "completion_tokens": out, "use_time": 4, "is_stream": True, "channel": 7,
                "group": "default", "other": json.dumps(other) if kind == 2 else "{}"}  # fmt: skip

    rows = [row(30, 0, 0, 0, 0, 0, kind=5), row(20, 4, 12_000, 500, 70, 5_000), row(10, 6, 0, 12_000, 90, 25_000)]
    path = folder / "log.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"success": True, "message": "", "data": {"items": rows, "total": 3}}), encoding="utf-8")
    # a quota of 500,000 is one dollar
    return Log(
        [str(path)],
        "new-api",
        [
            six(12_006, 6, 0, 12_000, 90, 0, cost_usd=0.05, cost_source="logged", duration_ms=4_000, exchange=None,
                 cache_outcome="first", line=None),
            six(12_504, 4, 12_000, 500, 70, 1, cost_usd=0.01, cache_outcome="hit", exchange=None),
            six(None, None, None, None, None, 2, status="error", cost_usd=None, cost_source=None),
        ],
        session={"calls": 2, "cost_usd": 0.06, "exchanges": None, "prompt_tokens": 24_510},
    )  # fmt: skip


def litellm(folder: Path) -> Log:
    """StandardLoggingPayload with a session, one failed call, and bodies and keys that must stay inside."""

    def payload(number: int, prompt: int, read: int, out: int, **more: Any) -> dict[str, Any]:
        figures = {"prompt_tokens": prompt, "completion_tokens": out, "total_tokens": prompt + out,
                   "prompt_tokens_details": {"cached_tokens": read},
                   "completion_tokens_details": {"reasoning_tokens": 0}}  # fmt: skip
        return {"id": f"resp-{number}", "litellm_call_id": f"call-{number}", "trace_id": "shop-42",
                "call_type": "acompletion", "cache_hit": False, "status": "success", "custom_llm_provider": "openai",
                "startTime": 1_775_808_000.25 + 10 * number, "endTime": 1_775_808_002.5 + 10 * number,
                "model": "gpt-5-mini", "metadata": {"usage_object": figures, "user_api_key_hash": "abc"},
                "response_cost": 0.0125, "prompt_tokens": prompt, "completion_tokens": out,
                "messages": [{"role": "user", "content": f"{TYPED} {KEY}"}], "response": {"content": TOOL_OUTPUT},
                "model_parameters": {}, **more}  # fmt: skip

    failed = payload(3, 0, 0, 0, status="failure", response_cost=0, error_str=f"bad key {KEY}",
                     error_information={"error_code": "429"})  # fmt: skip
    path = lines(folder / "payloads.jsonl", [payload(1, 1_000, 0, 20), payload(2, 1_200, 960, 30), failed])
    ok = {"session": "shop-42", "session_evidence": "explicit", "cost_source": "logged", "cost_usd": 0.0125}
    return Log(
        [path],
        "litellm",
        [
            six(1_000, 1_000, 0, 0, 20, 0, duration_ms=2_250, time="2026-04-10T08:00:10.250Z", **ok),
            six(1_200, 240, 960, 0, 30, 1, cache_outcome="hit", **ok),
            six(None, None, None, None, None, 2, status="error"),
        ],
        session={"calls": 2, "cost_usd": 0.025, "prompt_tokens": 2_200, "session": "shop-42"},
    )


# ---------------------------------------------------------------------------------------------------------- captures
def har(folder: Path) -> Log:
    """A counted call, one whose answer was not kept, a token count (side) and a refused request, with secrets around."""

    def entry(second: int, url: str, request: Any, status: int, answer: Any) -> dict[str, Any]:
        headers = [{"name": "Authorization", "value": f"Bearer {KEY}"}, {"name": "Cookie", "value": COOKIE},
                   {"name": "X-Claude-Code-Session-Id", "value": "har-1"}]  # fmt: skip
        return {"startedDateTime": at(0, second), "time": 1_500,
                "request": {"method": "POST", "url": f"{url}?key={URL_SECRET}", "headers": headers,
                            "postData": {"mimeType": "application/json", "text": json.dumps(request)}},
                "response": {"status": status, "headers": [{"name": "Set-Cookie", "value": COOKIE}],
                             "content": {"text": json.dumps(answer)} if answer is not None else {}}}  # fmt: skip

    asked = {"model": "claude-sonnet-4-5", "max_tokens": 900, "system": TYPED,
             "messages": [{"role": "user", "content": f"{TYPED} {TOKEN}"}]}  # fmt: skip
    usage = {"input_tokens": 9, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 5_000, "output_tokens": 33,
             "cache_creation": {"ephemeral_5m_input_tokens": 5_000, "ephemeral_1h_input_tokens": 0}}  # fmt: skip
    reply = {"id": "msg_h1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "usage": usage,
             "stop_reason": "end_turn", "content": [{"type": "text", "text": TOOL_OUTPUT}]}  # fmt: skip
    root = "https://api.anthropic.com/v1/messages"
    entries = [
        entry(1, root, asked, 200, reply),
        entry(5, f"{root}/count_tokens", asked, 200, {"input_tokens": 5_009}),
        entry(9, root, asked | {"messages": asked["messages"] * 1 + [{"role": "assistant", "content": "ok"},
                                {"role": "user", "content": "more"}]}, 200, None),
        entry(20, root, asked, 429, {"type": "error", "error": {"type": "rate_limit_error", "message": KEY}}),
    ]  # fmt: skip
    path = folder / "capture.har"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"log": {"version": "1.2", "creator": {"name": "t"}, "entries": entries}}), "utf-8")
    nothing = dict.fromkeys(SIX[:5])
    return Log(
        [str(path)],
        "har",
        [
            six(5_009, 9, 0, 5_000, 33, 0, time=at(0, 1), duration_ms=1_500, call_id="msg_h1", exchange=1,
                 status="ok", purpose="work", line=1),
            {"purpose": "side", "index": 1},
            {**nothing, "index": 2, "purpose": "work", "cost_usd": None, "cost_source": None,
             "cache_outcome": "unreported"},
            {**nothing, "index": 3, "status": "error"},
        ],
        session={"session": "har-1", "side_calls": 1, "prompt_tokens": 5_009},
    )  # fmt: skip


def api_log(folder: Path) -> Log:
    """Request/response lines without a session: the file names it; Gemini has no cache writes (0), output tells less."""

    def row(second: int, said: list[str], usage: dict[str, int], id: str) -> dict[str, Any]:
        turns = [{"role": ("user", "model")[n % 2], "parts": [{"text": text}]} for n, text in enumerate(said)]
        url = f"https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-pro:generateContent?key={URL_SECRET}"
        answer = {"responseId": id, "modelVersion": "gemini-2.5-pro", "usageMetadata": usage,
                  "candidates": [{"finishReason": "STOP", "content": {"role": "model", "parts": [{"text": KEY}]}}]}  # fmt: skip
        return {"timestamp": at(0, second), "duration_ms": 700, "response": {"status": 200, "body": answer},
                "request": {"method": "POST", "url": url, "headers": {"x-goog-api-key": KEY, "cookie": COOKIE},
                            "body": {"contents": turns}}}  # fmt: skip

    one = {"promptTokenCount": 2_000, "candidatesTokenCount": 20, "thoughtsTokenCount": 80, "totalTokenCount": 2_100}
    two = {"promptTokenCount": 2_300, "cachedContentTokenCount": 1_900, "candidatesTokenCount": 10,
           "totalTokenCount": 2_310}  # fmt: skip
    path = lines(folder / "requests.jsonl", [row(1, [TYPED], one, "g1"), row(9, [TYPED, "ok", "more"], two, "g2")])
    # thoughts are generated tokens beside the candidates
    return Log(
        [path],
        "api-log",
        [
            six(2_000, 2_000, 0, 0, 100, 0, reasoning_tokens=80, time=at(0, 1), duration_ms=700, exchange=1),
            six(2_300, 400, 1_900, 0, 10, 1, cache_outcome="hit", exchange=2),
        ],
        session={"calls": 2, "prompt_tokens": 4_300, "output_tokens": 110, "exchanges": 2},
    )


def table(folder: Path) -> Log:
    """A CSV by a column map, with a cell that is empty and one row that failed."""
    folder.mkdir(parents=True, exist_ok=True)
    text = ("when,llm,in_tok,hit_tok,out_tok,thread,state,usd,note\n"
            f"2026-03-01T10:00:00Z,gpt-5.4,20000,0,300,t1,ok,0.5,{TYPED}\n"
            f"2026-03-01T10:01:00Z,gpt-5.4,21500,19968,,t1,ok,,{KEY}\n"
            f"2026-03-01T10:02:00Z,gpt-5.4,,,,t1,failed,,{TOKEN}\n")  # fmt: skip
    (folder / "table.csv").write_text(text, encoding="utf-8")
    names = ("time: when\nmodel: llm\nprompt: in_tok\ncached: hit_tok\noutput: out_tok\nsession: thread\n"
             "status: state\ncost: usd\ninput_includes_cached: true\n")  # fmt: skip
    (folder / "map.yaml").write_text(names, encoding="utf-8")
    return Log(
        [str(folder / "table.csv")],
        "table",
        [
            {"prompt_tokens": 20_000, "fresh_tokens": 20_000, "cache_read_tokens": 0, "cache_write_tokens": None,
             "output_tokens": 300, "cost_usd": 0.5, "cost_source": "logged", "exchange": None, "line": 2,
             "reasoning_tokens": None, "duration_ms": None, "time": "2026-03-01T10:00:00.000Z", "session": "t1"},
            {"prompt_tokens": 21_500, "fresh_tokens": 1_532, "cache_read_tokens": 19_968, "output_tokens": None},
            {"prompt_tokens": None, "output_tokens": None, "status": "error", "cost_usd": None},
        ],
        session={"calls": 2, "prompt_tokens": 41_500, "output_tokens": 300, "session": "t1"},
        options=["--map", str(folder / "map.yaml")],
    )  # fmt: skip
