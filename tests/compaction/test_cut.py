"""The cut: whatever is asked to stay, calls and results stay together and the user's last words are there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor import conversation
from monitor.compaction.cut import cut
from monitor.compaction.options import Options
from monitor.compaction.strategies import apply
from monitor.conversation.rules import check
from monitor.conversation.tokens import count_messages
from tests.compaction.stories import FORMATS, Call, Step, Story, build, noise, say, user
from tests.conversation import build as shapes


@st.composite
def stories(draw: st.DrawFn) -> Story:
    """A conversation of any shape: exchanges with parallel calls, failures, thinking, empty texts."""
    steps: list[Step] = []
    for e in range(draw(st.integers(1, 4))):
        steps.append(user(f"Request {e}: never touch table_{e}."))
        for a in range(draw(st.integers(0, 4))):
            n = draw(st.integers(0, 3))
            calls = [
                Call(
                    "run",
                    {"command": f"make t{e}{a}{k}"},
                    noise(e + a + k, draw(st.integers(1, 40))),
                    draw(st.booleans()),
                )
                for k in range(n)
            ]
            steps.append(
                say(
                    draw(st.sampled_from(["", "I look.", "It fails because of the lock."])) or ("ok" if not n else ""),
                    *calls,
                )
            )
    if not steps[-1].user:
        steps.append(user("And now?"))
    return Story("any", "You are an agent.", steps, {})


@settings(max_examples=25)
@given(
    story=stories(),
    fmt=st.sampled_from(FORMATS),
    exchanges=st.integers(0, 5),
    tokens=st.sampled_from([0, 100, 600, 20_000]),
)
def test_any_cut_gives_a_valid_conversation(story: Story, fmt: str, exchanges: int, tokens: int) -> None:
    conv = conversation.load(build(story, fmt))
    out, _ = apply(conv, Options(keep_exchanges=exchanges, keep_tokens=tokens), refuse=False)
    if out.output is None:
        return
    assert check(out.output) == []
    before, after = conv.last_user(), out.output.last_user()
    assert before is not None and after is not None and after.text == before.text
    kept = [m.text for m in out.cut.kept if m.typed]
    assert kept == [m.text for m in conv.messages if m.typed][-len(kept) :]
    for e in range(conv.messages[-1].exchange or 0):
        rule = f"never touch table_{e}."
        if any(rule in m.text for m in conv.messages):
            assert any(rule in m.text for m in out.output.messages if m.role == "user")


def test_the_budget_holds_but_for_what_must_stay() -> None:
    steps = [
        user("a"),
        *[say(f"{i}", Call("run", {"command": f"x{i}"}, noise(i, 20))) for i in range(12)],
        user("b"),
        say("c"),
    ]
    conv = conversation.load(build(Story("b", "s", steps, {}), "openai-chat"))
    one = count_messages(conv.messages[2:4])
    for budget in (0, one, 3 * one, 100 * one):
        found = cut(conv, 2, budget)
        tools = [m for m in found.kept if m.results]
        assert len(tools) <= budget // one + 1
        assert [m.text for m in found.kept if m.typed] == ["a", "b"]
        assert all(m in found.kept or m in found.folded or m.role == "system" for m in conv.messages)


def test_messages_instead_of_exchanges() -> None:
    steps: list[Step] = []
    for i in range(8):
        steps += [user(f"u{i}"), say("", Call("run", {"command": "x"}, "y")), say(f"a{i}")]
    conv = conversation.load(build(Story("m", "s", steps, {}), "openai-chat"))
    for n in range(1, 12):
        found = cut(conv, 2, 20_000, n)
        assert len(found.kept) <= max(n, 1) + 1
        ids = {c.id for m in found.kept for c in m.calls}
        assert all(r.call_id in ids for m in found.kept for r in m.results)


@pytest.mark.parametrize("name", ["opencode", "hermes", "cline", "chatgpt-export", "claude-export"])
def test_formats_of_other_clients(name: str) -> None:
    if name not in shapes.FILES:
        pytest.skip(f"no sample of {name}")
    conv = conversation.load(shapes.FILES[name])
    out, _ = apply(conv, Options(keep_exchanges=0), refuse=False)
    if out.output is None:
        return
    again = conversation.load(conversation.dump(out.output))
    assert again.format == name
    assert sum(m.is_summary for m in again.messages) == 1
    assert check(again) == []


def test_after_a_client_compacted_in_the_middle_of_an_exchange_its_summary_is_enough(tmp_path: Path) -> None:
    """Pi keeps the end of a long exchange only: what the user said stands in the summary, and no message is theirs."""
    rows: list[dict[str, Any]] = [
        {"type": "session", "version": 3, "id": "s", "timestamp": "2026-05-04T10:00:00.000Z", "cwd": "/home/dev/shop"}
    ]

    def add(kind: str, **facts: Any) -> str:
        id = f"e{len(rows):03d}"
        rows.append({"type": kind, "id": id, "parentId": rows[-1]["id"] if len(rows) > 1 else None,
                     "timestamp": f"2026-05-04T10:00:{len(rows):02d}.000Z", **facts})  # fmt: skip
        return id

    def step(number: int) -> str:
        asked = {"type": "toolCall", "id": f"c{number}", "name": "bash", "arguments": {"command": f"cat f{number}.py"}}
        first = add("message", message={"role": "assistant", "content": [asked]})
        shown = [{"type": "text", "text": f"def f{number}(): pass\n" * 300}]
        add("message", message={"role": "toolResult", "toolCallId": f"c{number}", "content": shown})
        return first

    add("message", message={"role": "user", "content": [{"type": "text", "text": "Port it. Do not change pay.py."}]})
    step(0)
    kept = step(1)
    add("compaction", summary="## Goal\nPort it. Do not change pay.py.", firstKeptEntryId=kept, tokensBefore=9000)
    for number in range(2, 6):
        step(number)
    add("message", message={"role": "assistant", "content": [{"type": "text", "text": "Half of it is done."}]})
    path = tmp_path / "session.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    done, _ = apply(conversation.load(path), Options(keep_tokens=4_000))
    assert done.output is not None and check(done.output) == []
    assert 0 < len(done.cut.kept) < len(done.source.messages)
    assert done.summary is not None and "Do not change pay.py" in done.summary.text
