"""Writes a small log as Claude Code does."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path


def line(number: int, read: int, write: int, at: datetime) -> str:
    """One answer as Claude Code writes it; 20 tokens of the prompt are new."""
    usage = {
        "input_tokens": 20,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": write,
        "output_tokens": 300,
    }
    message = {
        "id": f"msg_{number:04d}",
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-4-5",
        "content": [{"type": "text", "text": "ok"}],
        "stop_reason": "end_turn",
        "usage": usage,
    }
    record = {
        "type": "assistant",
        "uuid": f"u{number}",
        "parentUuid": f"u{number - 1}" if number else None,
        "sessionId": "11111111-2222-3333-4444-555555555555",
        "requestId": f"req_{number:04d}",
        "isSidechain": False,
        "cwd": "/home/someone/shop",
        "version": "2.1.0",
        "timestamp": at.isoformat().replace("+00:00", "Z"),
        "message": message,
    }
    return json.dumps(record) + "\n"


def write_log(path: Path, count: int, begin: datetime | None = None) -> datetime:
    """``count`` calls, five seconds and 1,000 tokens apart, from 20,000 on; returns the time of the next one."""
    at = begin or datetime.now(UTC).replace(microsecond=0) - timedelta(seconds=5 * count)
    size = 19_980
    with path.open("w", encoding="utf-8") as out:
        for i in range(count):
            read = size - 1_000 if i else 0
            out.write(line(i, read, size - read, at))
            size += 1_000
            at += timedelta(seconds=5)
    return at


def write_logs(folder: Path, sessions: int, count: int) -> list[str]:
    """The log of :func:`write_log` as so many sessions of their own."""
    paths = []
    for number in range(sessions):
        path = folder / f"{number}.jsonl"
        write_log(path, count)
        text = path.read_text(encoding="utf-8")
        for name in ("11111111-2222", "msg_", "req_"):
            text = text.replace(name, f"{name}{number}")
        path.write_text(text, encoding="utf-8")
        paths.append(str(path))
    return paths
