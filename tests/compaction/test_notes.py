"""Notes for a new window: complete, short, the same on every run, without secrets."""

from __future__ import annotations

from monitor import conversation
from monitor.compaction.collect import collect
from monitor.compaction.notes import ASK_AGENT, MOST, new_window, notes
from monitor.compaction.redact import Redactor
from monitor.conversation.tokens import count
from tests.compaction.stories import build
from tests.compaction.story_data import STORIES


def test_notes_of_every_story() -> None:
    for story in STORIES.values():
        conv = conversation.load(build(story, "openai-chat"))
        made = notes(conv, collect(conv), Redactor.of(conv), source="chat.json", digest="ab" * 32)
        assert made.tokens == count(made.text) <= MOST
        for rule in story.gold["constraints"]:
            assert rule["text"] in " ".join(made.text.split())
        for secret in story.gold["secrets"]:
            assert secret not in made.text
        assert [x for x in made.text.split("\n") if x.startswith("## ")] == [
            "## Goal",
            "## Progress",
            "## Facts",
            "## Decisions",
            "## Next steps",
            "## Start prompt",
        ]
        assert "ctxmon show chat.json" in made.text
        assert made.start in made.text
        assert notes(conv, collect(conv), Redactor.of(conv), source="chat.json", digest="ab" * 32) == made


def test_files_to_read_first_and_the_next_task() -> None:
    conv = conversation.load(build(STORIES["inventory-batch-ja"], "openai-chat"))
    made = notes(conv, collect(conv), Redactor.of(conv))
    assert "Read first: `PLAN.md`" in made.text or "Read first: `batch/report.py`" in made.text
    assert "Go on with: 差分レポートを出力する" in made.start


def test_the_new_window() -> None:
    conv = conversation.load(build(STORIES["inventory-batch-ja"], "openai-chat"))
    new = new_window(conv, collect(conv), "HANDOFF.md", str)
    assert [m.role for m in new.messages] == ["system", "user"]
    assert new.messages[0].raw is conv.messages[0].raw
    assert new.messages[1].text.startswith("Read HANDOFF.md first")


def test_the_prompt_that_asks_the_agent_names_all_sections() -> None:
    text = ASK_AGENT.format(file="HANDOFF.md", words=700)
    for word in ("Goal", "Progress", "Facts", "Decisions", "Next steps", "word for word", "HANDOFF.md"):
        assert word in text
