"""Usage comes out of every API's answers, however they are cut, encoded or broken."""

from __future__ import annotations

import gzip
import json
import random
from typing import Any

import brotli
import pytest
import zstandard

from monitor.recorder import tap as module
from monitor.recorder.bodies import Budget
from monitor.recorder.found import Found
from monitor.recorder.tap import ResponseTap

SSE = "text/event-stream"


def sse(*events: Any, named: bool = False, newline: str = "\n") -> bytes:
    out = ""
    for event in events:
        if named and isinstance(event, dict):
            out += f"event: {event['type']}{newline}"
        out += "data: " + (event if isinstance(event, str) else json.dumps(event, ensure_ascii=False)) + newline * 2
    return out.encode()


def read(
    data: bytes, kind: str = SSE, encoding: str = "", step: int = 1 << 20, complete: bool = True, api: Any = "other"
) -> Found:
    found = Found(api, 0.0)
    made = ResponseTap(found, kind, encoding)
    for number, at in enumerate(range(0, len(data), step)):
        made.feed([(data[at : at + step], 1.0 + number)])
    made.end(9.0, complete)
    return found


ANTHROPIC_START = {"input_tokens": 8, "cache_read_input_tokens": 100, "output_tokens": 1}
ANTHROPIC_END = {"input_tokens": 8, "cache_read_input_tokens": 100, "output_tokens": 28}
CHAT_USAGE = {"prompt_tokens": 50, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 0}}
RESPONSES_USAGE = {"input_tokens": 60, "output_tokens": 9}
GEMINI_USAGE = {"promptTokenCount": 70, "candidatesTokenCount": 8, "thoughtsTokenCount": 3}
TEXT = 'Größe – 完成 ✅ \n\n "usage": {"input_tokens": 999} data: [DONE]'
STREAMS: dict[str, tuple[bytes, dict[str, Any], str]] = {
    "anthropic": (
        sse(
            {"type": "message_start", "message": {"id": "msg_1", "model": "c", "usage": ANTHROPIC_START}},
            {"type": "ping"},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            *[{"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": TEXT}}] * 5,
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": ANTHROPIC_END},
            {"type": "message_stop"},
            named=True,
        ),
        ANTHROPIC_END,
        "msg_1",
    ),
    "chat": (
        sse(
            {"id": "chatcmpl-1", "model": "c", "choices": [{"delta": {"role": "assistant", "content": ""}, "finish_reason": None}], "usage": None},
            *[{"id": "chatcmpl-1", "model": "c", "choices": [{"delta": {"content": TEXT}, "finish_reason": None}], "usage": None}] * 5,
            {"id": "chatcmpl-1", "model": "c", "choices": [{"delta": {}, "finish_reason": "end_turn"}], "usage": None},
            {"id": "chatcmpl-1", "model": "c", "choices": [], "usage": CHAT_USAGE},
            "[DONE]",
        ),
        CHAT_USAGE,
        "chatcmpl-1",
    ),
    "responses": (
        sse(
            {"type": "response.created", "response": {"id": "resp_1", "model": "c", "usage": None}},
            *[{"type": "response.output_text.delta", "delta": TEXT}] * 5,
            {"type": "response.output_item.done", "item": {"type": "message", "content": [{"text": TEXT}]}},
            {"type": "response.completed", "response": {"id": "resp_1", "model": "c", "status": "end_turn", "usage": RESPONSES_USAGE}},
            named=True,
        ),
        RESPONSES_USAGE,
        "resp_1",
    ),
    "gemini": (
        sse(
            *[{"candidates": [{"content": {"parts": [{"text": TEXT}]}}], "modelVersion": "c", "responseId": "r1", "usageMetadata": {"promptTokenCount": 70}}] * 3,
            {"candidates": [{"content": {"parts": []}, "finishReason": "end_turn"}], "modelVersion": "c", "responseId": "r1", "usageMetadata": GEMINI_USAGE},
            newline="\r\n",
        ),
        GEMINI_USAGE,
        "r1",
    ),
}  # fmt: skip
PACK = {
    "": lambda data: data,
    "gzip": gzip.compress,
    "br": brotli.compress,
    "zstd": zstandard.compress,
}


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("encoding", PACK)
@pytest.mark.parametrize("step", [1, 7, 4099])
def test_streams_in_any_cuts_and_encodings(name: str, encoding: str, step: int) -> None:
    data, usage, response_id = STREAMS[name]
    found = read(PACK[encoding](data), encoding=encoding, step=step)
    assert (found.usage, found.response_id, found.model, found.stop) == (usage, response_id, "c", "end_turn")
    assert found.usage_final and found.malformed == 0 and not found.lossy and not found.undecodable
    assert found.ended is (name != "gemini") and found.first_token is not None


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("step", [1, 5, 1 << 20])
def test_line_ends_comments_and_split_data_lines(newline: str, step: int) -> None:
    text = ': OPENROUTER PROCESSING\n\n\nid: 3\nretry: 5\ndata: {"choices": [],\ndata:  "usage": {"prompt_tokens": 4}}\n\ndata:[DONE]\n\n'
    found = read(text.replace("\n", newline).encode(), step=step)
    assert found.usage == {"prompt_tokens": 4} and found.ended and found.malformed == 0


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_cut_anywhere_gives_no_more_than_it_told(name: str) -> None:
    data, usage, _ = STREAMS[name]
    for cut in random.Random(3).sample(range(len(data)), 60):
        found = read(data[:cut], complete=False)
        if found.usage_final:
            assert found.usage == usage
        elif found.usage is not None:
            assert found.usage in (ANTHROPIC_START, {"promptTokenCount": 70})


def test_last_event_without_its_empty_line_counts() -> None:
    assert read(STREAMS["chat"][0].rstrip(b"\n")).ended
    assert read(sse({"choices": [], "usage": CHAT_USAGE}).rstrip(b"\n")).usage == CHAT_USAGE


def test_broken_event_is_skipped() -> None:
    data = STREAMS["chat"][0].removesuffix(b"data: [DONE]\n\n")
    data += b'data: {"choices":[{"delta":{"content":"\xc3\n\ndata: [DONE]\n\n'
    found = read(data)
    assert found.usage == CHAT_USAGE and found.malformed == 1


def test_error_in_mid_stream() -> None:
    found = read(
        sse(
            {"type": "message_start", "message": {"usage": ANTHROPIC_START}},
            {"type": "error", "error": {"type": "overloaded_error"}},
        )
    )
    assert found.error == {"from": "upstream", "type": "overloaded_error"}
    assert (found.usage, found.usage_final) == (ANTHROPIC_START, False)


def test_preliminary_usage_on_every_chunk() -> None:
    chunk = {"choices": [{"delta": {"content": "x"}}], "usage": {"prompt_tokens": 5, "completion_tokens": 1}}
    found = read(sse(chunk, chunk), complete=False)
    assert found.usage == {"prompt_tokens": 5, "completion_tokens": 1} and not found.usage_final


DOCUMENTS = {
    "anthropic": ({"id": "msg_1", "type": "message", "role": "assistant", "model": "c", "content": [], "stop_reason": "end_turn", "usage": ANTHROPIC_END}, ANTHROPIC_END),
    "chat": ({"id": "chatcmpl-1", "object": "chat.completion", "model": "c", "choices": [{"finish_reason": "end_turn", "message": {}}], "usage": CHAT_USAGE}, CHAT_USAGE),
    "responses": ({"id": "resp_1", "object": "response", "model": "c", "status": "end_turn", "output": [], "usage": RESPONSES_USAGE}, RESPONSES_USAGE),
    "gemini": ({"candidates": [{"content": {}, "finishReason": "end_turn"}], "modelVersion": "c", "usageMetadata": GEMINI_USAGE}, GEMINI_USAGE),
}  # fmt: skip


@pytest.mark.parametrize("name", DOCUMENTS)
@pytest.mark.parametrize("whole", [1 << 20, 60])
def test_documents_whole_and_split(name: str, whole: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WHOLE", whole)
    document, usage = DOCUMENTS[name]
    found = read(json.dumps(document).encode(), "application/json", step=11)
    assert (found.usage, found.model, found.usage_final) == (usage, "c", True)
    assert found.first_token is None


@pytest.mark.parametrize("name", DOCUMENTS)
@pytest.mark.parametrize("whole", [1 << 20, 60])
def test_cut_or_broken_document_gives_no_figures(name: str, whole: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WHOLE", whole)
    data = json.dumps(DOCUMENTS[name][0]).encode()
    assert read(data[:-1], "application/json", complete=False).usage is None
    assert read(data[: -len(data) // 3], "application/json").usage is None


def test_gemini_array_stream() -> None:
    chunks = [
        {"candidates": [{"content": {"parts": [1]}}], "usageMetadata": {"promptTokenCount": 70}},
        DOCUMENTS["gemini"][0],
    ]
    found = read(json.dumps(chunks).encode(), "application/json", step=5)
    assert found.usage == GEMINI_USAGE and found.usage_final


def test_json_lines() -> None:
    lines = [
        {"model": "l", "message": {}, "done": False},
        {"model": "l", "done": True, "prompt_eval_count": 5, "eval_count": 2},
    ]
    found = read("".join(json.dumps(x) + "\n" for x in lines).encode(), "application/x-ndjson", step=9)
    assert found.usage == {"prompt_eval_count": 5, "eval_count": 2} and found.ended


def test_error_document_of_a_stream() -> None:
    found = read(b'{"type":"error","error":{"type":"rate_limit_error","message":"m"}}', SSE)
    assert found.error == {"from": "upstream", "type": "rate_limit_error"}


def test_first_token_is_the_first_content() -> None:
    pieces = [
        sse({"type": "message_start", "message": {}}),
        sse({"type": "ping"}),
        sse({"type": "content_block_delta", "delta": {}}),
    ]
    found = Found("anthropic", 0.0)
    ResponseTap(found, SSE, "").feed([(piece, 10.0 + i) for i, piece in enumerate(pieces)])
    assert found.first_token == 12.0


def test_missing_middle_is_bridged_at_the_next_event() -> None:
    data = STREAMS["anthropic"][0]
    found = Found("anthropic", 0.0)
    made = ResponseTap(found, SSE, "")
    made.feed([(data[:400], 1.0)])
    made.gap()
    made.feed([(data[-400:], 2.0)])
    made.end(3.0, True)
    assert (found.usage, found.usage_start, found.ended) == (
        ANTHROPIC_END,
        ANTHROPIC_START,
        True,
    ) and found.malformed == 0
    packed = Found("anthropic", 0.0)
    made = ResponseTap(packed, SSE, "gzip")
    made.gap()
    made.feed([(gzip.compress(data), 1.0)])
    assert packed.undecodable and packed.usage is None


def test_event_without_end_does_not_fill_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WHOLE", 50_000)
    found = Found("chat", 0.0)  # type: ignore[arg-type]
    made = ResponseTap(found, SSE, "")
    made.feed([(b"data: " + b"x" * 1000, 1.0)] * 200)
    scanner = made._scanner
    assert isinstance(scanner, module.EventScanner) and scanner._size <= 50_000 and found.lossy
    made.feed([(b"\n\n" + sse({"choices": [], "usage": CHAT_USAGE}), 1.0)])
    assert found.usage == CHAT_USAGE


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"", SSE),
        (b"<html>no</html>", "text/html"),
        (b"\x00\x01\x02", "application/octet-stream"),
        (b"  ", "application/json"),
    ],
)
def test_other_bodies_tell_nothing(data: bytes, kind: str) -> None:
    found = read(data, kind)
    assert found.usage is None and found.error is None and found.malformed == 0


def test_unknown_encoding_is_marked() -> None:
    assert read(b"xyz", encoding="compress").undecodable and read(b"xyz" * 99, encoding="gzip").undecodable


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents_beyond_the_room_that_calls_share_are_split_as_they_come(name: str) -> None:
    document, usage = DOCUMENTS[name]
    data, room = json.dumps(document).encode(), Budget(100)
    for complete in (True, False):
        found = Found("other", 0.0)
        tap = ResponseTap(found, "application/json", "", None, room)
        for at in range(0, len(data), 11):
            tap.feed([(data[at : at + 11], 1.0)])
            assert room.left >= 0
        tap.end(1.0, complete)
        assert room.left == 100
        assert found.usage == (usage if complete else None)
