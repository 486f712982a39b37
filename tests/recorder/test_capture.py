"""Whatever the worker does, the tap neither waits nor fills memory."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from monitor.recorder import capture as module
from monitor.recorder import http1
from monitor.recorder.capture import Recorder
from monitor.recorder.logfile import CallLog
from monitor.recorder.record import CallJob
from monitor.recorder.upstreams import Routes, parse_upstream

REQUEST = http1.parse_request(b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n\r\n")
RESPONSE = http1.parse_response(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
ROUTE = Routes.of([parse_upstream("http://x.example")]).find(b"/v1/chat/completions")


def held_bytes(recorder: Recorder) -> int:
    return recorder._put - recorder._done


def test_a_stuck_worker_does_not_fill_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BACKLOG", 200_000)
    monkeypatch.setattr(module, "BATCH", 20_000)
    monkeypatch.setattr(module, "KEPT", 5_000)
    go, take = threading.Event(), CallJob.take

    def stuck(self: CallJob, ops: Any) -> None:
        go.wait()
        take(self, ops)

    monkeypatch.setattr(CallJob, "take", stuck)
    warnings: list[str] = []
    log = CallLog(tmp_path / "log.jsonl", warnings.append)
    log.start()
    recorder = Recorder(log, warnings.append)
    captures = [recorder.begin(REQUEST, ROUTE) for _ in range(64)]
    for capture in captures:
        capture.request([b'{"model":"m","messages":[]}'], True)
        capture.head(RESPONSE, 1.0)
    event = b'data: {"choices":[{"delta":{"content":"%s"}}]}\n\n' % (b"x" * 900)
    for _ in range(400):
        for capture in captures:
            capture.response([event], 2.0)
    assert held_bytes(recorder) <= 200_000
    assert all(capture._size <= 2 * 20_000 + 2_000 for capture in captures)
    for capture in captures:
        capture.response([b'data: {"id":"c","choices":[],"usage":{"prompt_tokens":7}}\n\ndata: [DONE]\n\n'], 3.0)
        capture.finish(None, True, True)
    assert held_bytes(recorder) <= 200_000 + 64 * 8_000
    go.set()
    assert recorder.close()
    lines = [json.loads(x) for x in log.path.read_text(encoding="utf-8").splitlines()]
    assert len(lines) == 64 and all(line["usage"] == {"prompt_tokens": 7} and line["usage_final"] for line in lines)
    assert all(line["bytes"]["response"] > 360_000 for line in lines)
    assert any(line["lossy"] for line in lines) and len(warnings) == 1 and "cannot keep up" in warnings[0]


def test_finish_counts_once(tmp_path: Path) -> None:
    log = CallLog(tmp_path / "log.jsonl", lambda _: None)
    log.start()
    recorder = Recorder(log, lambda _: None, wall=lambda: 1_700_000_000.5)
    capture = recorder.begin(REQUEST, ROUTE)
    for _ in range(2):
        capture.finish(None, True, True)
    capture.response([b"late"], 1.0)
    assert recorder.close()
    (line,) = [json.loads(x) for x in log.path.read_text(encoding="utf-8").splitlines()]
    assert line["time"] == "2023-11-14T22:13:20.500Z" and line["bytes"] == {"request": 0, "response": 0}
