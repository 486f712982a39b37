"""Small requests and answers of each provider for the tests of the capture readers; all contents are invented."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import pytest

from monitor.readers.base import DEFAULT_OPTIONS, FileContext, ReadOptions, read_head
from monitor.records import Call, Event, Problem, Record

SECRET = "sk-ant-TESTS-ONLY-0000"
SESSION = "0d9f6f6e-5f0c-4c53-9a0e-0d5a5d1f2a11"


def chat_request(*said: str, model: str = "gpt-5.4", **more: Any) -> dict[str, Any]:
    """An OpenAI chat request; ``said`` alternates user, assistant, user …"""
    roles = ("user", "assistant")
    messages = [{"role": roles[n % 2], "content": text} for n, text in enumerate(said)]
    return {"model": model, "messages": [{"role": "system", "content": "You are careful."}, *messages], **more}


def chat_reply(
    prompt: int, output: int, cached: int | None = 0, *, id: str = "chatcmpl-1", text: str = "Done."
) -> dict[str, Any]:
    usage: dict[str, Any] = {"prompt_tokens": prompt, "completion_tokens": output, "total_tokens": prompt + output}
    if cached is not None:
        usage["prompt_tokens_details"] = {"cached_tokens": cached}
    return {
        "id": id,
        "object": "chat.completion",
        "model": "gpt-5.4",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": usage,
    }


def anthropic_request(*said: str, model: str = "claude-sonnet-4-5", **more: Any) -> dict[str, Any]:
    roles = ("user", "assistant")
    messages = [{"role": roles[n % 2], "content": text} for n, text in enumerate(said)]
    return {"model": model, "max_tokens": 900, "system": "You are careful.", "messages": messages, **more}


def anthropic_usage(fresh: int, read: int, write: int, output: int) -> dict[str, Any]:
    return {
        "input_tokens": fresh,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": write,
        "cache_creation": {"ephemeral_5m_input_tokens": write, "ephemeral_1h_input_tokens": 0},
        "output_tokens": output,
    }


def anthropic_reply(
    fresh: int, read: int, write: int, output: int, *, id: str = "msg_1", **more: Any
) -> dict[str, Any]:
    return {
        "id": id,
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": [{"type": "text", "text": "Done."}],
        "stop_reason": "end_turn",
        "usage": anthropic_usage(fresh, read, write, output),
        **more,
    }


def anthropic_events(fresh: int, read: int, write: int, output: int, *, id: str = "msg_1") -> list[dict[str, Any]]:
    start = {"id": id, "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": []}
    return [
        {"type": "message_start", "message": {**start, "usage": anthropic_usage(fresh, read, write, 2)}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Done."}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": output}},
        {"type": "message_stop"},
    ]


def response_object(prompt: int, answered: int, cached: int = 0, *, id: str = "resp_1", **more: Any) -> dict[str, Any]:
    return {
        "id": id,
        "object": "response",
        "created_at": 1_775_808_000,
        "status": "completed",
        "model": "gpt-5.4",
        "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]}],
        "usage": {
            "input_tokens": prompt,
            "input_tokens_details": {"cached_tokens": cached},
            "output_tokens": answered,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": prompt + answered,
        },
        **more,
    }


def sse(events: list[Any], done: bool = False) -> str:
    lines = [f"data: {json.dumps(event)}\n\n" for event in events]
    return "".join(lines) + ("data: [DONE]\n\n" if done else "")


def trace(
    request: Any,
    response: Any,
    *,
    url: str = "https://api.openai.com/v1/chat/completions",
    at: float = 1_775_808_000.0,
    took: float = 1.5,
    status: int = 200,
    headers: dict[str, str] | None = None,
    raw: bool = False,
) -> dict[str, Any]:
    """One line of a claude-trace style log; ``raw`` keeps the answer as text."""
    said: dict[str, Any] | None = None
    if response is not None:
        said = {"timestamp": at + took, "status_code": status, "headers": {}, "body_raw" if raw else "body": response}
    return {
        "request": {
            "timestamp": at,
            "method": "POST",
            "url": url,
            "headers": {"authorization": f"Bearer {SECRET}", **(headers or {})},
            "body": request,
        },
        "response": said,
        "logged_at": "2026-04-10T08:00:01.500Z",
    }


def lines(*values: Any) -> bytes:
    return "".join(json.dumps(value) + "\n" for value in values).encode()


def context(data: bytes, name: str = "log.jsonl", options: ReadOptions = DEFAULT_OPTIONS) -> FileContext:
    return FileContext(name=name, data=data, options=options)


def sniff(module: str, data: bytes, name: str = "log") -> float:
    reader = importlib.import_module(f"monitor.readers.{module}").READER
    return float(reader.sniff(read_head(context(data, name))))


def records(module: str, data: bytes, name: str = "log.jsonl") -> list[Record]:
    """Everything a reader makes of bytes."""
    reader = importlib.import_module(f"monitor.readers.{module}").READER
    at = context(data, name)
    parser = reader.parser(at)
    parser.read(at)
    return list(parser.take())


def calls(found: list[Record]) -> list[Call]:
    return [record for record in found if isinstance(record, Call)]


def events(found: list[Record], kind: str = "") -> list[Event]:
    return [record for record in found if isinstance(record, Event) and kind in ("", record.kind)]


def problems(found: list[Record]) -> list[Problem]:
    return [record for record in found if isinstance(record, Problem)]


def figures(call: Call) -> tuple[int | None, ...]:
    """prompt, fresh, read, write, output"""
    return (
        call.prompt_tokens,
        call.fresh_tokens,
        call.cache_read_tokens,
        call.cache_write_tokens,
        call.output_tokens,
    )


def shared(name: str) -> Path:
    """A file of the public fixtures beside the project; the test is skipped where they are not there."""
    path = Path(__file__).resolve().parents[2].parent / "shared" / "samples" / "public_fixtures" / name
    if not path.exists():
        pytest.skip("the public fixtures are not beside the project")
    return path
