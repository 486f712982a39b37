from __future__ import annotations

import base64
import gzip
import json
from typing import Any

import pytest
import zstandard

from monitor.recorder import request as module
from monitor.recorder.bodies import BodyText, Budget
from monitor.recorder.evidence import MessageDigests
from monitor.recorder.request import RequestFacts, codex_metadata

UUID = "0198c0de-0000-7000-8000-000000000001"


def facts(body: Any, encoding: str = "", step: int = 1 << 20) -> RequestFacts:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    made = RequestFacts(encoding, MessageDigests(), None)
    for at in range(0, len(data), step):
        made.feed(data[at : at + step])
    made.end()
    return made


CHAT = {
    "model": "gpt-x",
    "stream": True,
    "max_completion_tokens": 9,
    "prompt_cache_key": "app",
    "tools": [{"type": "function", "function": {"name": "a"}}],
    "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}],
}


def test_chat() -> None:
    got = facts(CHAT)
    assert got.model == "gpt-x" and got.value("stream") is True
    assert got.hints() == {"tools": 1, "max_tokens": 9}
    assert got.session()["cache_key"].startswith("h:")
    digests = got.digests()
    assert digests["count"] == 2 and len(base64.b64decode(digests["messages"])) == 8
    assert digests["system"] == facts({"system": "Be brief.", "messages": []}).digests()["system"]


def test_responses() -> None:
    meta = {"session_id": UUID, "thread_id": UUID, "turn_id": "t1", "window_id": f"{UUID}:2", "request_kind": "compaction",
            "compaction": {"trigger": "auto", "reason": "limit"}}  # fmt: skip
    got = facts(
        {
            "model": "gpt-x", "instructions": "Be brief.", "previous_response_id": "resp_1", "prompt_cache_key": UUID,
            "input": [{"type": "message", "role": "user", "content": "hi"}, {"type": "compaction_trigger"}],
            "context_management": [{"type": "compaction", "compact_threshold": 9}], "conversation": {"id": "conv_1"},
            "client_metadata": {"x-codex-turn-metadata": json.dumps(meta)}, "text": {"format": {"type": "json_schema"}},
        }
    )  # fmt: skip
    assert got.session() == {
        "previous_response_id": "resp_1", "cache_key": UUID, "conversation": "conv_1", "codex_session": UUID, "codex_thread": UUID,
        "codex_turn": "t1", "codex_window": f"{UUID}:2", "codex_kind": "compaction", "codex_compaction_trigger": "auto",
        "codex_compaction_reason": "limit",
    }  # fmt: skip
    assert got.compaction() == {"asked": ["compaction"], "trigger_item": True}
    assert got.hints() == {"tools": 0, "json_schema": True}


def test_a_string_is_one_message() -> None:
    assert (
        facts({"input": "hi"}).digests()["messages"]
        == facts({"input": [{"role": "user", "content": "hi"}]}).digests()["messages"]
    )


def test_anthropic() -> None:
    got = facts(
        {
            "model": "claude-x", "max_tokens": 1, "system": [{"type": "text", "text": "s"}], "messages": [{"role": "user", "content": "q"}],
            "metadata": {"user_id": f"user_a_account__session_{UUID}"}, "context_management": {"edits": [{"type": "clear_tool_uses_20250919"}]},
        }
    )  # fmt: skip
    assert got.session() == {"user_session": UUID} and got.compaction() == {"asked": ["clear_tool_uses_20250919"]}
    assert got.hints() == {"tools": 0, "max_tokens": 1}


def test_gemini_and_its_wrapper() -> None:
    inner = {
        "contents": [{"role": "user", "parts": [{"text": "q"}]}],
        "systemInstruction": {"parts": [{"text": "s"}]},
        "tools": [{"functionDeclarations": [{"name": "a"}, {"name": "b"}]}],
        "generationConfig": {"maxOutputTokens": 7, "responseJsonSchema": {}},
    }
    got = facts(inner)
    assert got.hints() == {"tools": 2, "max_tokens": 7, "json_schema": True}
    wrapped = facts({"model": "gemini-x", "project": "p", "request": inner})
    assert wrapped.model == "gemini-x" and wrapped.digests() == got.digests()


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_encoded_body(encoding: str) -> None:
    data = json.dumps(CHAT).encode()
    packed = gzip.compress(data) if encoding == "gzip" else zstandard.compress(data)
    assert facts(packed, encoding, step=7).digests() == facts(CHAT).digests()


def test_split_body_tells_the_same_as_a_whole_one(monkeypatch: pytest.MonkeyPatch) -> None:
    body = {**CHAT, "messages": CHAT["messages"] + [{"role": "user", "content": f"part {i}"} for i in range(400)]}  # type: ignore[operator]
    whole = facts(body)
    monkeypatch.setattr(module, "WHOLE", 2000)
    split = facts(body, step=777)
    assert (split.digests(), split.hints(), split.model) == (whole.digests(), whole.hints(), whole.model)


def test_memory_for_a_huge_body_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WHOLE", 10_000)
    monkeypatch.setattr(module, "MEMBER", 1000)
    got = RequestFacts("", MessageDigests(), None)
    got.feed(b'{"model":"m","messages":[{"role":"user","content":"')
    for _ in range(100):
        got.feed(b"x" * 10_000)
    assert got._splitter is not None and sum(map(len, got._splitter._parts)) <= 11_000
    got.feed(b'"},{"role":"user","content":"last"}],"max_tokens":3}')
    got.end()
    assert got.model == "m" and got.hints()["max_tokens"] == 3 and got.digests()["count"] == 2


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"no json",
        b"[1,2]",
        b'{"messages":5}',
        b'{"messages":[',
        b'{"tools":3,"metadata":[],"context_management":7}',
        b"\xff\xfe",
    ],
)
def test_odd_bodies_tell_nothing_and_do_no_harm(body: bytes) -> None:
    got = facts(body)
    assert got.model is None and got.session() == {} and got.compaction() == {} and got.hints()["tools"] == 0
    assert "messages" not in got.digests()


def test_what_is_missing_or_broken_is_marked() -> None:
    got = RequestFacts("", MessageDigests(), BodyText(Budget()))
    got.feed(json.dumps(CHAT).encode()[:-5])
    got.gap()
    got.feed(b"more")
    got.end()
    assert got.lossy and got.model == "gpt-x" and got.digests()["count"] == 1
    assert facts(b"broken", "gzip").lossy and facts(b"x", "compress").lossy


def test_codex_metadata_of_other_shapes() -> None:
    assert codex_metadata("{broken") == {} and codex_metadata(None) == {} and codex_metadata("[1]") == {}


def test_what_many_calls_hold_together_is_bounded() -> None:
    """Beyond the room that all share a body is split as it comes; what it tells is the same, and the room comes back."""
    body = {**CHAT, "messages": [{"role": "user", "content": f"part {i} of it"} for i in range(400)]}
    data, want, room = json.dumps(body).encode(), facts(body), Budget(20_000)
    calls = [RequestFacts("", MessageDigests(), None, room) for _ in range(8)]
    for at in range(0, len(data), 500):
        for call in calls:
            call.feed(data[at : at + 500])
        assert sum(sum(map(len, call._parts)) for call in calls) <= 20_000
    broken = RequestFacts("gzip", MessageDigests(), None, room)
    broken.feed(gzip.compress(data)[:-20] + b"no gzip at all, and more of it")
    for call in [*calls, broken]:
        call.end()
    assert room.left == 20_000
    assert all((call.digests(), call.hints()) == (want.digests(), want.hints()) for call in calls)
