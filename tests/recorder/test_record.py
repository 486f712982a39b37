"""The lines of the log: what they hold, and what they never hold."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx
import pytest

from monitor.recorder.record import api_of, clean_path, iso

from .conftest import Asked, Start, Upstream, answer, payload, request, stream

SECRET = "sk-do-not-log-0123456789"
UUID = "0198c0de-0000-7000-8000-000000000001"
ASK = {"model": "m", "messages": [{"role": "user", "content": "private words"}]}
USAGE = {"prompt_tokens": 5, "completion_tokens": 2}
CHAT = json.dumps(
    {
        "id": "chatcmpl-1",
        "model": "m-1",
        "choices": [{"finish_reason": "stop", "message": {"content": "private answer"}}],
        "usage": USAGE,
    }
).encode()


def post(path: str, body: Any, headers: str = "") -> bytes:
    return request(path, json.dumps(body).encode(), headers)


async def test_fields_of_a_call(upstream: Upstream, record: Start) -> None:
    upstream.handler = answer(CHAT)
    rec = await record(f"openai={upstream.url}")
    body = json.dumps(ASK).encode()
    await rec.raw(
        request(
            "/openai/v1/chat/completions?api-version=1",
            body,
            "User-Agent: OpenAI/Python 2.1 (x)\r\nx-stainless-retry-count: 1\r\n",
        )
    )
    (line,) = await rec.lines()
    assert line["schema"] == "ctxmon.call/1" and line["time"].endswith("Z") and len(line["time"]) == 24
    wanted = {
        "upstream": "openai", "host": "127.0.0.1", "method": "POST", "path": "/v1/chat/completions", "status": 200, "sent": True,
        "api": "openai-chat", "kind": "call", "stream": False, "websocket": False, "complete": True, "request_complete": True,
        "client_gone": False, "error": None, "model": "m", "response_model": "m-1", "response_id": "chatcmpl-1", "stop": "stop",
        "usage": USAGE, "usage_start": None, "usage_final": True, "session": {}, "compaction": None, "client": "OpenAI/Python",
        "hints": {"tools": 0, "retry": 1}, "bytes": {"request": len(body), "response": len(CHAT)}, "lossy": None, "first_token_ms": None,
    }  # fmt: skip
    assert {k: line[k] for k in wanted} == wanted
    assert 0 <= line["first_byte_ms"] <= line["duration_ms"]
    assert "request_body" not in line


async def test_session_of_the_headers(upstream: Upstream, record: Start) -> None:
    rec = await record(upstream.url)
    meta = json.dumps({"session_id": UUID, "thread_id": UUID, "window_id": f"{UUID}:1", "request_kind": "turn"})
    await rec.raw(
        post(
            "/v1/responses",
            ASK,
            f"session-id: {UUID}\r\nx-codex-window-id: {UUID}:1\r\nx-codex-turn-metadata: {meta}\r\n",
        )
    )
    await rec.raw(post("/v1/messages", ASK, f"X-Claude-Code-Session-Id: {UUID}\r\nx-claude-code-agent-id: a1\r\n"))
    await rec.raw(post("/v1/chat/completions", ASK, f"x-session-id: ses_1\r\nx-parent-session-id: {SECRET}\r\n"))
    codex, claude, opencode = (line["session"] for line in await rec.lines())
    assert codex == {"codex_session": UUID, "codex_thread": UUID, "codex_window": f"{UUID}:1", "codex_kind": "turn"}
    assert claude == {"claude_session": UUID, "claude_agent": "a1"} and opencode == {"client_session": "ses_1"}


async def test_no_text_and_no_key_in_the_log(upstream: Upstream, record: Start) -> None:
    upstream.handler = answer(CHAT, extra=f"Set-Cookie: s={SECRET}\r\n")
    rec = await record(upstream.url)
    headers = [
        f"Authorization: Bearer {SECRET}",
        f"X-Api-Key: {SECRET}",
        f"Cookie: {SECRET}",
        f"session-id: {SECRET}",
        f"User-Agent: {SECRET} x",
    ]
    for header in headers:
        await rec.raw(
            post(
                f"/v1/chat/completions?key={SECRET}&alt=sse",
                {**ASK, "prompt_cache_key": "private words"},
                header + "\r\n",
            )
        )
    await rec.raw(post(f"/{SECRET}/v1/models/x:generateContent?key={SECRET}", ASK, f"x-goog-api-key: {SECRET}\r\n"))
    lines = await rec.lines()
    assert len(lines) == 6 and lines[-1]["path"] == "/[redacted]/v1/models/x:generateContent"
    text = rec.log.read_text(encoding="utf-8")
    assert "do-not-log" not in text and "private" not in text and "alt=sse" not in text


async def test_bodies_only_when_asked_and_without_the_key(upstream: Upstream, record: Start) -> None:
    upstream.handler = stream(
        [b'data: {"id":"1","choices":[],"usage":{"prompt_tokens":3},"echo":"%s"}\n\n' % SECRET.encode()]
    )
    rec = await record(upstream.url, bodies=True)
    await rec.raw(post("/v1/chat/completions", {**ASK, "note": SECRET}, f"Authorization: Bearer {SECRET}\r\n"))
    (line,) = await rec.lines()
    assert json.loads(line["request_body"]) == {**ASK, "note": "[redacted]"}
    assert (
        line["response_body"].startswith('data: {"id":"1"')
        and line["response_format"] == "sse"
        and line["bodies_truncated"] is False
    )
    assert SECRET not in rec.log.read_text(encoding="utf-8")


async def test_callers_are_told_apart(upstream: Upstream, record: Start) -> None:
    rec = await record(upstream.url)
    for key in ("one-key-123456", "one-key-123456", "two-key-123456"):
        await rec.raw(post("/v1/chat/completions", ASK, f"Authorization: Bearer {key}\r\n"))
    first, second, third = (line["origin"] for line in await rec.lines())
    assert first == second != third and len(first) == 8


async def test_what_is_no_call_is_not_logged(upstream: Upstream, record: Start) -> None:
    rec = await record(upstream.url)
    for method, path in (
        ("GET", "/v1/models"),
        ("HEAD", "/"),
        ("GET", "/v1/responses/resp_1"),
        ("POST", "/v1/telemetry"),
    ):
        await rec.raw(request(path, method=method))
    assert len(upstream.asked) == 4
    upstream.handler = answer(b'{"object":"list","usage":{"prompt_tokens":3}}')
    await rec.raw(post("/v1/embeddings", {"model": "e", "input": "x"}))
    (line,) = await rec.lines()
    assert (line["api"], line["usage"], line["model"]) == ("other", {"prompt_tokens": 3}, "e")


async def test_request_that_was_never_sent_whole_is_no_call(upstream: Upstream, record: Start) -> None:
    rec = await record(upstream.url)
    _, writer = await rec.connect()
    writer.write(b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{")
    await writer.drain()
    writer.close()
    await asyncio.wait_for(upstream.hung_up.wait(), 10)
    assert await rec.lines() == []


async def test_hang_up_behind_the_last_event_is_complete(upstream: Upstream, record: Start) -> None:
    events = b'data: {"id":"c","choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: {"choices":[],"usage":{"prompt_tokens":9}}\n\ndata: [DONE]\n\n'

    async def without_end(asked: Asked, writer: Any) -> None:
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n"
            % (len(events), events)
        )
        await asked.reader.read()
        raise ConnectionError

    upstream.handler = without_end
    rec = await record(upstream.url)
    reader, writer = await rec.connect()
    writer.write(post("/v1/chat/completions", {**ASK, "stream": True}))
    await reader.readuntil(b"[DONE]\n\n")
    writer.close()
    await asyncio.wait_for(upstream.hung_up.wait(), 10)
    (line,) = await rec.lines()
    assert (
        line["complete"]
        and line["client_gone"]
        and line["usage"] == {"prompt_tokens": 9}
        and line["usage_final"]
        and line["error"] is None
    )


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        ("429 Too Many Requests", b'{"error":{"type":"rate_limit_exceeded","message":"private words"}}', {"from": "upstream", "type": "rate_limit_exceeded"}),
        ("502 Bad Gateway", b"<html>private words</html>", {"from": "upstream"}),
        ("400 Bad Request", b'{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 900 tokens > 800 maximum"}}',
         {"from": "upstream", "type": "invalid_request_error", "overflow": True, "tokens": 900, "limit": 800}),
    ],
)  # fmt: skip
async def test_refused_calls(
    upstream: Upstream, record: Start, status: str, body: bytes, error: dict[str, Any]
) -> None:
    upstream.handler = answer(body, status=status)
    rec = await record(upstream.url)
    assert payload(await rec.raw(post("/v1/messages", ASK))) == body
    (line,) = await rec.lines()
    assert (line["status"], line["error"], line["usage"]) == (int(status[:3]), error, None)
    assert "private" not in rec.log.read_text(encoding="utf-8")


async def test_token_counts_are_no_generation(upstream: Upstream, record: Start) -> None:
    rec = await record(upstream.url)
    upstream.handler = answer(b'{"input_tokens":2628,"context_management":{"original_input_tokens":9000}}')
    await rec.raw(post("/v1/messages/count_tokens", ASK))
    upstream.handler = answer(b'{"totalTokens":16}')
    await rec.raw(post("/v1beta/models/gemini-x:countTokens", {"contents": []}))
    one, two = await rec.lines()
    assert one["kind"] == two["kind"] == "count" and one["usage"] is two["usage"] is None
    assert one["hints"]["counted_tokens"] == 2628 and one["hints"]["original_tokens"] == 9000
    assert two["hints"]["counted_tokens"] == 16 and two["model"] == "gemini-x"


async def test_calls_under_way_when_the_recorder_ends(
    upstream: Upstream, record: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("monitor.recorder.server.GRACE_S", 0.0)
    begun = asyncio.Event()

    async def slow(asked: Asked, writer: Any) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        begun.set()
        await asked.reader.read()
        raise ConnectionError

    upstream.handler = slow
    rec = await record(upstream.url)
    async with httpx.AsyncClient(base_url=rec.address) as client:
        call = asyncio.create_task(client.post("/v1/messages", json=ASK))
        await begun.wait()
        (line,) = await rec.lines()
        with pytest.raises(httpx.HTTPError):
            await call
    assert line["error"] == {"from": "recorder", "type": "recorder_stopped"} and not line["complete"]


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("/v1/chat/completions", ("openai-chat", "call")),
        ("/backend-api/codex/responses", ("openai-responses", "call")),
        ("/v1/responses/compact", ("openai-responses", "compact")),
        ("/openai/deployments/x/chat/completions", ("openai-chat", "call")),
        ("/v1/messages/count_tokens", ("anthropic", "count")),
        ("/v1beta/models/g:streamGenerateContent", ("gemini", "call")),
        ("/v1/messages/batches", ("other", "call")),
    ],
)
def test_api_of_a_path(path: str, found: tuple[str, str]) -> None:
    assert api_of(path) == found


def test_paths_without_keys() -> None:
    assert clean_path("/v1/models/gemini-2.5-pro:generateContent", []) == "/v1/models/gemini-2.5-pro:generateContent"
    assert clean_path("/bot/AIzaSyA-1234567890/x", []) == "/bot/[redacted]/x"
    assert clean_path("/mykey/x", [b"mykey"]) == "/[redacted]/x"


def test_iso() -> None:
    assert iso(1_700_000_000_007) == "2023-11-14T22:13:20.007Z"


async def test_an_answer_fetched_by_its_id_is_logged_once_it_tells_usage(upstream: Upstream, record: Start) -> None:
    rec = await record(upstream.url)
    queued = {"id": "resp_1", "object": "response", "status": "queued", "model": "m", "usage": None}
    usage = {"input_tokens": 30, "output_tokens": 4, "total_tokens": 34}
    upstream.handler = answer(json.dumps(queued).encode())
    await rec.raw(post("/v1/responses", {"model": "m", "input": "x", "background": True}))
    await rec.raw(request("/v1/responses/resp_1", method="GET"))
    upstream.handler = answer(json.dumps({**queued, "status": "completed", "usage": usage}).encode())
    await rec.raw(request("/v1/responses/resp_1", method="GET"))
    asked, fetched = await rec.lines()
    assert (asked["kind"], asked["stop"], asked["usage"]) == ("call", "queued", None)
    assert (fetched["kind"], fetched["method"], fetched["response_id"]) == ("fetch", "GET", "resp_1")
    assert fetched["usage"] == usage
