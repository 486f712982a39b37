"""Compaction by the provider: opaque items, passed on whole."""

from __future__ import annotations

import json

import pytest

from monitor import conversation
from monitor.compaction.options import CompactionError, Options
from monitor.compaction.strategies import apply
from monitor.compaction.summarizer import endpoint_of
from monitor.conversation.rules import check
from tests.compaction.loopback import Reply, provider
from tests.compaction.stories import build
from tests.compaction.story_data import STORIES

EN = STORIES["rust-cli-en-de"]
REMOTE = Options(strategies=("remote",))


def test_responses_output_is_the_next_input() -> None:
    items = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "kept by the provider"}]},
        {"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAAAone"},
        {"type": "compaction", "id": "cmp_2", "encrypted_content": "gAAAAtwo"},
    ]
    conv = conversation.load(build(EN, "responses"))
    with provider({"object": "response.compaction", "output": items}) as made:
        out, proof = apply(conv, REMOTE, remote=endpoint_of(made.url + "/v1/", "gpt-5"))
    assert made.seen[0][0] == "/v1/responses/compact"
    assert made.seen[0][2]["instructions"] == "You are a coding agent. Be brief."
    assert out.output is not None and proof is None  # only the provider can read what it holds
    body = json.loads(conversation.dump(out.output))
    assert body["input"][:3] == items
    assert body["input"][-1]["content"][0]["text"] == "Run clippy again."
    assert check(out.output) == []
    # the next compaction sends the opaque items on
    assert made.seen[0][2]["input"] == json.loads(build(EN, "responses"))["input"][: len(made.seen[0][2]["input"])]


def test_anthropic_block_comes_first() -> None:
    block = {"type": "compaction", "content": "what was", "signature": "sig"}
    conv = conversation.load(build(EN, "anthropic"))
    with provider({"content": [block], "stop_reason": "end_turn", "usage": {}}) as made:
        out, _ = apply(conv, REMOTE, remote=endpoint_of(made.url, "m", api="anthropic"))
    path, headers, sent = made.seen[0]
    assert path == "/v1/messages" and headers["anthropic-beta"] == "compact-2026-09-04"
    assert sent["compaction"] == {"type": "summarize"}
    assert out.output is not None
    body = json.loads(conversation.dump(out.output))
    assert body["messages"][0] == {"role": "assistant", "content": [block]}
    assert check(out.output) == []


@pytest.mark.parametrize(
    "answer",
    [{"output": []}, {"output": [{"type": "compaction", "encrypted_content": ""}]}, Reply({"error": {}}, 400), [1]],
)
def test_an_unusable_answer_writes_nothing(answer: object) -> None:
    conv = conversation.load(build(EN, "responses"))
    with provider(answer) as made, pytest.raises(CompactionError, match="remote compaction failed"):
        apply(conv, REMOTE, remote=endpoint_of(made.url, "m", max_retries=0))


def test_formats_without_one_are_told() -> None:
    conv = conversation.load(build(EN, "openai-chat"))
    with pytest.raises(CompactionError, match="use --strategy summary"):
        apply(conv, REMOTE, remote=endpoint_of("http://localhost:1", "m"))
