"""Compaction in one's own agent: plain dicts in and out, triggers by reported tokens, messages and phases."""

from __future__ import annotations

import asyncio
import copy
import json
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from monitor.compaction import Compaction, CompactionError, Compactor, acompact, compact, endpoint_of
from monitor.compaction.agent import prompt_tokens
from monitor.conversation import from_messages
from monitor.conversation.rules import check
from tests.compaction.loopback import GOOD, Provider, chat, provider
from tests.compaction.stories import build, noise
from tests.compaction.story_data import STORIES

ROOT = Path(__file__).resolve().parents[2]


def messages(fmt: str = "openai-chat") -> list[Any]:
    listed: list[Any] = json.loads(build(STORIES["rust-cli-en-de"], fmt))["messages"]
    return [m for m in listed if not (m["role"] == "user" and "In Progress" in str(m["content"]))]


@pytest.mark.parametrize("fmt", ["openai-chat", "anthropic"])
def test_plain_lists(fmt: str) -> None:
    given = messages(fmt)
    before = copy.deepcopy(given)
    result = compact(given)
    assert isinstance(result, Compaction) and result.changed
    assert given == before  # never changed
    assert result.body is None
    assert result.messages[-1] == given[-1]
    assert "Never change the exit codes." in result.constraints
    assert "Never change the exit codes. (user message 1)" in result.summary
    assert result.tokens_after < 0.5 * result.tokens_before
    assert result.ratio == round(result.tokens_after / result.tokens_before, 4)
    assert result.invented == []
    assert result.retention["constraints"]["lost"] == []
    assert check(from_messages(result.messages, fmt)) == []
    again = compact(result.messages)
    assert not again.changed and again.messages == result.messages


def test_a_request_body_keeps_its_other_keys() -> None:
    body = json.loads(build(STORIES["rust-cli-en-de"], "anthropic"))
    result = compact(body)
    assert result.body is not None
    assert {k: v for k, v in result.body.items() if k != "messages"} == {
        k: v for k, v in body.items() if k != "messages"
    }
    assert result.messages == result.body["messages"]


def test_summarizer_and_async() -> None:
    with provider(chat(GOOD.replace("sku", "gzip").replace("lot", "file"))) as made:
        result = asyncio.run(acompact(messages(), summarizer=made.url, model="m"))
        assert result.summarizer == "m" and len(made.seen) == 1
        result = compact(messages(), summarizer=endpoint_of(made.url, "n"))
        assert result.summarizer == "n"
    with pytest.raises(CompactionError, match="--model"):
        compact(messages(), summarizer="http://localhost:1")


@pytest.mark.parametrize("bad", [[], [{"role": "system", "content": "x"}], {"messages": "no"}, [1, 2]])
def test_what_is_no_conversation(bad: Any) -> None:
    with pytest.raises(CompactionError):
        compact(bad)


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        (1234, 1234),
        (None, None),
        ({"prompt_tokens": 900, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 800}}, 900),
        ({"input_tokens": 900, "output_tokens": 5, "input_tokens_details": {"cached_tokens": 800}}, 900),
        ({"input_tokens": 100, "cache_read_input_tokens": 700, "cache_creation_input_tokens": 100, "output_tokens": 5}, 900),
        (SimpleNamespace(prompt_tokens=900, completion_tokens=5), 900),
        (SimpleNamespace(model_dump=lambda: {"input_tokens": 100, "cache_read_input_tokens": 800, "output_tokens": 1}), 900),
        ({"usage": {"prompt_tokens": 900, "completion_tokens": 5}}, 900),
        ({}, None),
    ],
)  # fmt: skip
def test_usage_of_any_provider(usage: Any, tokens: int | None) -> None:
    assert prompt_tokens(usage) == tokens


def test_token_threshold() -> None:
    c = Compactor()
    assert c.threshold == 100_000
    assert c.due(messages()) is None  # no call yet
    assert c.after_call({"prompt_tokens": 99_999, "completion_tokens": 1}) is False
    assert c.due(messages()) is None
    assert c.after_call({"prompt_tokens": 100_000, "completion_tokens": 1}) is True
    assert c.due(messages()) == "threshold"
    small = c.maybe(messages())
    assert len(small) < len(messages()) and c.count == 1
    assert c.prompt_tokens is None  # what was reported was the old context
    assert c.maybe(small) is small


def test_unknown_usage_changes_nothing() -> None:
    c = Compactor(threshold=10)
    c.after_call({"prompt_tokens": 50, "completion_tokens": 1})
    c.after_call({})
    assert c.prompt_tokens == 50


def test_never_while_a_call_waits_for_its_result() -> None:
    c = Compactor(threshold=10)
    c.after_call(50)
    listed = [
        *messages(),
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "z", "type": "function", "function": {"name": "run", "arguments": "{}"}}],
        },
    ]
    assert c.due(listed) is None
    assert c.due([*listed, {"role": "tool", "tool_call_id": "z", "content": "x"}]) == "threshold"


def test_message_count_off_by_default_and_in_the_preset_small() -> None:
    many = [{"role": "system", "content": "s"}]
    for i in range(12):
        many += [
            {"role": "user", "content": f"request {i}"},
            {"role": "assistant", "content": f"answer {i} {noise(i, 12)}"},
        ]
    assert Compactor().due(many) is None
    c = Compactor(preset_name="small")
    assert (c.threshold, c.messages) == (100_000, 20)
    assert c.due(many[:20]) is None
    assert c.due(many) == "messages"
    result = c.compact(many)
    kept = [m for m in result.messages if m["role"] != "system"][1:]
    assert kept == many[-6:]
    assert c.due(result.messages) is None


def test_end_of_a_phase() -> None:
    c = Compactor(threshold=1_000)
    c.after_call(300)
    c.finish_phase()
    assert c.due(messages()) is None  # too early to be worth it
    c.after_call(500)
    assert c.due(messages()) == "phase"
    c.maybe(messages())
    c.after_call(500)
    assert c.due(messages()) is None  # the phase was taken care of


def test_a_compaction_that_does_not_help_is_not_tried_at_every_call() -> None:
    short = [
        {"role": "system", "content": noise(1, 500)},
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "b"},
        {"role": "user", "content": "c"},
        {"role": "assistant", "content": "d"},
        {"role": "user", "content": "e"},
    ]
    c = Compactor(threshold=100)
    c.after_call(110)
    assert c.due(short) == "threshold"
    result = c.compact(short)
    assert not result.changed and result.messages == short and "no compaction can help" in result.reason
    assert c.due(short) is None
    c.after_call(140)
    assert c.due(short) == "threshold"


def test_async_compactor() -> None:
    async def work() -> list[Any]:
        c = Compactor(threshold=100)
        c.after_call(1_000)
        return await c.amaybe(messages())

    assert len(asyncio.run(work())) < len(messages())


def test_presets_and_unknown_names() -> None:
    assert Compactor(preset_name="8k").options == {"keep_exchanges": 1, "keep_tokens": 1_800, "summary_tokens": 1_200}
    assert Compactor(preset_name="1M").threshold == 500_000
    with pytest.raises(CompactionError, match="known are small"):
        Compactor(preset_name="huge")


def test_a_small_window() -> None:
    result = compact(messages(), preset_name="4k")
    assert result.tokens_after < 2_400
    assert "Never change the exit codes." in result.summary


class Agent(Provider):
    """Answers like a model that works with a tool: five calls, then a text; its prompt grows as it would."""


def _script(body: Any) -> Any:
    last = max(i for i, m in enumerate(body["messages"]) if m["role"] == "user")
    done = sum(m["role"] == "tool" for m in body["messages"][last:])
    size = sum(len(json.dumps(m)) for m in body["messages"]) // 4
    usage = {"prompt_tokens": size, "completion_tokens": 9, "total_tokens": size + 9}
    call = {
        "id": f"c{last}_{done}",
        "type": "function",
        "function": {
            "name": "run",
            "arguments": json.dumps({"command": f'"{sys.executable}" -c "print(7 * \'line of output \' * 40)"'}),
        },
    }
    message = (
        {"role": "assistant", "content": None, "tool_calls": [call]}
        if done < 5
        else {"role": "assistant", "content": "All five runs worked."}
    )
    return {"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}


def test_the_example_in_the_documentation_runs() -> None:
    tasks = ["Never delete files. Run the tool five times.", "Once more, please.", "And again.", "A last time."]
    with provider(_script) as made:
        env = {
            **os.environ,
            "BASE_URL": made.url + "/v1",
            "MODEL": "m",
            "THRESHOLD": "6000",
            "PYTHONPATH": str(ROOT),
            "no_proxy": "*",
        }
        script = ROOT / "docs" / "examples" / "own_agent.py"
        assert len(script.read_text(encoding="utf-8").splitlines()) <= 30
        done = subprocess.run(
            [sys.executable, str(script), *tasks],
            env=env,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=100,
        )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["All five runs worked."] * 4
    assert len(made.seen) == 24
    bodies = [b for _, _, b in made.seen]
    sizes = [len(b["messages"]) for b in bodies]
    assert any(b < a for a, b in pairwise(sizes))  # it was compacted on the way
    last = bodies[-1]["messages"]
    assert last[0] == {"role": "system", "content": "You are a careful agent."}
    assert "Never delete files. (user message 1)" in last[1]["content"]
    for body in bodies:
        assert check(from_messages(body["messages"], "openai-chat")) == []


def test_a_summary_as_an_object_for_programs() -> None:
    result = compact(messages(), preset_name="4k", summary_format="json")
    text = str(result.messages[1]["content"])
    told = json.loads(text[text.index("\n{") : text.rindex("\n}") + 2])
    assert "- Never change the exit codes. (user message 1)" in told["goal"]
    assert compact(result.messages, preset_name="4k").changed is False  # known as a summary
