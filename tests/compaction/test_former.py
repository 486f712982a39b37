"""Summaries read back: ours exactly, those of the agents by their headings."""

from __future__ import annotations

import json

import msgspec

from monitor import conversation
from monitor.compaction import former
from monitor.compaction.collect import collect
from monitor.compaction.render import as_object, render
from monitor.compaction.state import State
from tests.compaction.stories import build
from tests.compaction.story_data import STORIES


def test_our_own_summary_is_read_back() -> None:
    state = collect(conversation.load(build(STORIES["inventory-batch-ja"], "openai-chat")))
    state = msgspec.structs.replace(state, folded=state.last)
    back = former.read(render(state).text)
    assert {(r.text, r.turn, r.standing, r.by) for r in back.rules} == {
        (r.text, r.turn, r.standing, r.by) for r in state.rules
    }
    assert back.files == state.files
    assert [(c.command, c.status, c.code or 0) for c in back.checks if c.check] == [
        (c.command, c.status, c.code or 0) for c in state.checks if c.check
    ]
    assert [(e.text, e.place, e.resolved) for e in sorted(back.errors, key=str)] == [
        (e.text, e.place, e.resolved) for e in sorted(state.errors, key=str)
    ]
    assert sorted(t.text for t in back.todos) == sorted(t.text for t in state.todos)
    assert {(t.text, t.status) for t in back.todos} == {(t.text, t.status) for t in state.todos}
    assert [c.hash for c in back.commits] == [c.hash for c in state.commits]
    assert back.last == state.last
    assert [s.text for s in back.dead_ends] == [s.text for s in state.dead_ends]


def test_pi_summary() -> None:
    state = former.read(
        "## Goal\nStream gzip input.\n\n## Constraints & Preferences\n- Never change exit codes\n\n## "
        "Progress\n### Done\n- [x] decoder\n"
        "### In Progress\n- [ ] measure memory\n\n## Key Decisions\n- **MultiGzDecoder**: already a "
        "dependency\n\n## Next Steps\n1. measure\n"
        "<read-files>\nsrc/a.rs\n</read-files>\n<modified-files>\nsrc/b.rs\n</modified-files>"
    )
    assert [r.text for r in state.rules] == ["Never change exit codes"]
    assert [s.text for s in state.decisions] == ["**MultiGzDecoder**: already a dependency"]
    assert state.files == {"src/a.rs": "read", "src/b.rs": "modified"}
    assert not any("measure" in s.text for s in state.findings) and not state.todos
    assert [s.text for s in state.next] == ["measure memory", "measure"]  # until an answer tells what comes next


def test_gemini_snapshot() -> None:
    state = former.read(
        "<state_snapshot>\n<overall_goal>\nPort the parser.\n</overall_goal>\n<key_knowledge>\n- Port "
        "9000\n</key_knowledge>\n</state_snapshot>"
    )
    assert [s.text for s in state.goal] == ["Port the parser."]
    assert [s.text for s in state.findings] == ["Port 9000"]


def test_a_list_below_a_bullet_and_files_with_their_use() -> None:
    state = former.read(
        "## Progress\n- Constraints:\n  - No triggers.\n  - Batches of 20000 rows at most.\n- swapped the key\n\n"
        "## Files and Code Sections\n- dags/daily.py (created)\n- jobs/load.py (modified)\n\n"
        "## Pending Tasks\n- drop the cron lines\n"
    )
    assert [r.text for r in state.rules] == ["No triggers.", "Batches of 20000 rows at most."]
    assert state.files == {"dags/daily.py": "created", "jobs/load.py": "modified"}
    assert [s.text for s in state.findings] == ["swapped the key"]
    assert [s.text for s in state.next] == ["drop the cron lines"]


def test_a_summary_that_is_an_object_is_read_back_like_the_text() -> None:
    state = collect(conversation.load(build(STORIES["rust-cli-en-de"], "openai-chat")))
    plain = render(msgspec.structs.replace(state, folded=state.last))
    made = as_object(plain)
    body = made.text[made.text.index("\n{") : made.text.rindex("\n}") + 2]
    told = json.loads(body)
    assert list(told) == ["goal", "progress", "facts", "decisions", "next_steps"]
    assert all(isinstance(line, str) for lines in told.values() for line in lines)
    assert "- Never change the exit codes. (user message 1)" in told["goal"]
    assert former.read(made.text) == former.read(plain.text)


def test_the_users_words_in_the_summary_of_another_program() -> None:
    told = former.read(
        "1. Primary Request and Intent:\n"
        '   Find why sessions drop. "Never touch the north cluster." The user is on call.\n'
        "3. Files and Code Sections:\n"
        "   - helm/values.yaml (modified: rate 500 -> 1000)\n"
        "6. All user messages:\n"
        '   - "find out why the gateways drop"\n'
        '   - "Do not page the vendor before I say so."\n'
        '   - "You can page the vendor now."\n'
    )
    standing = {r.text: r.standing for r in told.rules}
    assert standing == {
        "Never touch the north cluster.": "active",
        "Do not page the vendor before I say so.": "cancelled",
    }
    assert [s.text for s in told.goal] == ["Find why sessions drop. The user is on call."]
    assert "find out why the gateways drop" in [s.text for s in told.said]
    assert told.files == {"helm/values.yaml": "modified"} and any("500 -> 1000" in s.text for s in told.findings)


def test_a_quoted_rule_that_was_withdrawn_before() -> None:
    told = former.read(
        "## ユーザーの指示（原文）\n- 「第3条は変えないでください。」\n- 「差分は1条ずつ見せてください。」（撤回済み）\n"
    )
    assert [(r.text, r.standing, r.cited) for r in told.rules] == [
        ("第3条は変えないでください。", "active", True),
        ("差分は1条ずつ見せてください。", "cancelled", True),
    ]
    kept = former.merge(State(), told, covered=True)  # the file holds messages, but perhaps not those
    assert [r.text for r in kept.rules] == ["第3条は変えないでください。", "差分は1条ずつ見せてください。"]
