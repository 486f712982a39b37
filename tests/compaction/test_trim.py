"""Trimming: outdated reads, long results with their errors, pages, arguments; nothing else changes."""

from __future__ import annotations

import json

import pytest

from monitor import conversation
from monitor.compaction.options import Options
from monitor.compaction.strategies import apply
from monitor.compaction.trim import shorten, trim
from monitor.conversation.rules import check
from tests.compaction.stories import FORMATS, Call, Story, build, noise, say, user

CODE = noise(1, 200, "code")
STORY = Story(
    "t", "s",
    [
        user("Fix it."),
        say("", Call("read_file", {"path": "src/a.py"}, CODE), Call("read_file", {"path": "src/b.py"}, CODE)),
        say("", Call("write_file", {"path": "src/a.py", "content": CODE}, "Wrote src/a.py")),
        say("", Call("run", {"command": "pytest"}, noise(2, 200) + "\nE       ValueError: bad lot 77\n" + noise(3, 200) + "\n1 failed in 2s\n[exit code 1]")),
        say("", Call("read_file", {"path": "src/b.py"}, CODE)),
        say("done"), user("next"), say("", Call("run", {"command": "ls"}, noise(4, 200))), say("ok"), user("go"),
    ], {},
)  # fmt: skip


@pytest.mark.parametrize("fmt", FORMATS)
def test_what_goes_and_what_stays(fmt: str) -> None:
    conv = conversation.load(build(STORY, fmt))
    result = trim(conv, [e.start for e in conv.exchanges()][-2])
    out = conversation.load(conversation.dump(result.conv), fmt)
    assert check(out) == []
    assert len(out.messages) == len(conv.messages)
    results = [r.text for m in out.messages for r in m.results]
    assert results[0].startswith("[src/a.py: ") and "changed since" in results[0]
    assert results[1].startswith("[src/b.py: ") and "read again later" in results[1]
    assert "ValueError: bad lot 77" in results[3] and "1 failed in 2s" in results[3] and "removed …]" in results[3]
    assert results[5] == noise(4, 200)  # the last exchanges stay as they are
    calls = [c for m in out.messages for c in m.calls]
    assert len(calls[2].arguments_text) < 1_500 and "characters removed" in calls[2].arguments_text
    assert set(result.saved) == {"outdated reads", "long results", "arguments of calls"}


def test_strategy_trim_reports_and_validates() -> None:
    out, proof = apply(conversation.load(build(STORY, "openai-chat")), Options(strategies=("trim",)))
    assert out.output is not None and proof is not None
    assert out.tokens_after < 0.6 * out.tokens_before
    assert any("tokens saved" in n for n in out.notes)
    body = json.loads(conversation.dump(out.output))
    assert body["messages"][0] == {"role": "system", "content": "s"}


def test_short_results_stay() -> None:
    story = Story("s", "s", [user("a"), say("", Call("run", {"command": "x"}, "short")), user("b")], {})
    out, _ = apply(conversation.load(build(story, "openai-chat")), Options(strategies=("trim",)))
    assert out.output is None and "nothing to trim" in out.reason


def test_shorten_keeps_head_tail_and_errors() -> None:
    text = "first line\n" + noise(1, 300) + "\nE   KeyError: 'lot'\n" + noise(2, 300) + "\nlast line"
    short = shorten(text, 300, 300, failed=True)
    assert short.startswith("first line\n") and short.endswith("\nlast line")
    assert "KeyError: 'lot'" in short and len(short) < 1_200


def test_trimming_leaves_no_secret() -> None:
    key = "glsa_Wq71xV0aPz72LkWdYt55RbNc_1e2f33ab"
    steps = [
        *STORY.steps[:4],
        say("", Call("run", {"command": "env"}, f"GRAFANA_TOKEN={key}\nHOME=/home/dev")),
        *STORY.steps[4:],
    ]
    story = Story("t", "s", steps, {})
    for fmt in FORMATS:
        out, _ = apply(conversation.load(build(story, fmt)), Options(strategies=("trim",)))
        assert out.output is not None
        seen = conversation.dump(out.output).decode()
        assert key not in seen and "HOME=/home/dev" in seen
