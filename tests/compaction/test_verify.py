"""The proof: what is lost is said, what is invented is found."""

from __future__ import annotations

import json

from monitor import conversation
from monitor.compaction.compare import between, made_by_agent
from monitor.compaction.options import Options
from monitor.compaction.redact import Redactor
from monitor.compaction.strategies import apply
from monitor.compaction.verify import CLASSES, independent, invented
from tests.compaction.stories import build
from tests.compaction.story_data import STORIES

EN = STORIES["rust-cli-en-de"]


def test_a_complete_compaction_loses_nothing_that_matters() -> None:
    for story in STORIES.values():
        _, proof = apply(conversation.load(build(story, "openai-chat")), Options())
        assert proof is not None
        assert set(proof.retention) == set(CLASSES)
        for kind in (
            "constraints",
            "files_modified",
            "files_created",
            "files_read",
            "checks",
            "commits",
            "errors_open",
            "todos_open",
        ):
            assert proof.retention[kind].lost == (), (story.name, kind)
        assert proof.invented == ()
        assert all(p.answered for p in proof.probe if p.kind == "constraints")


def test_what_a_bad_compaction_lost_is_named() -> None:
    a = conversation.load(build(EN, "openai-chat"))
    body = json.loads(build(EN, "openai-chat"))
    bland = {
        "role": "user",
        "content": "Summary: we worked on the reader and it went well. Peak was 99712 kB in src/ghost.rs.",
    }
    b = conversation.from_messages([body["messages"][0], bland, *body["messages"][-2:]])
    made = between(a, b)
    lost = made.proof.retention
    assert "Never change the exit codes." in lost["constraints"].lost
    assert "cargo test --all: passed" in lost["checks"].lost
    assert lost["files_created"].lost == ("src/stream.rs",)
    assert set(made.proof.invented) == {"src/ghost.rs", "99712"}
    assert made.tokens_after < made.tokens_before


def test_compactions_an_agent_made_itself() -> None:
    for fmt in ("pi", "codex", "claude-code"):
        found = made_by_agent(conversation.load(build(EN, fmt)))
        assert len(found) == 1
        made = found[0]
        assert made.summary_tokens > 20
        lost = made.proof.retention["constraints"].lost
        # Codex keeps the user's messages, the others only what the summary says
        assert ("Never change the exit codes." in lost) is (fmt != "codex")


def test_numbers_that_are_only_written_otherwise_are_not_invented() -> None:
    conv = conversation.from_messages(
        [{"role": "user", "content": "Revenue was 1 214 380.55 EUR, see docs/rev.md and 7be03d5a."}]
    )
    assert invented("1214380.55 and 1,214,380.55, docs/rev.md, 7be03d5a (user message 112)", conv) == []
    assert invented("1214381.55, docs/ref.md, 7be03d5b", conv) == ["docs/ref.md", "7be03d5b", "1214381.55"]


def test_what_is_counted_without_the_reading_that_writes_the_summary() -> None:
    function = {"name": "bash", "arguments": json.dumps({"command": "sort in/a.csv > out/b.csv"})}
    call = {"id": "c1", "type": "function", "function": function}
    source = conversation.from_messages(
        [
            {"role": "user", "content": "Sort the list. Keep it stable; no temp files."},
            {"role": "assistant", "content": "It has 48211 rows.", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": ""},
            {"role": "assistant", "content": "See https://wiki.example/sort for how."},
        ]
    )
    found = independent(source, "Sort the list. - Keep it stable - no temp files. out/b.csv 48 211 rows", Redactor())
    assert (found.user_sentences.kept, found.user_sentences.total) == (2, 2)  # the clauses of one stand apart
    assert found.paths.lost == ("in/a.csv",)
    assert found.values.lost == ("https://wiki.example/sort",)
    assert (found.values.kept, found.values.total) == (1, 2)


def test_what_a_client_keeps_behind_the_summary_counts_as_kept() -> None:
    source = conversation.load(build(EN, "claude-code"))
    outcome, _ = apply(source, Options(append=True))
    assert outcome.output is not None
    made = made_by_agent(conversation.load(conversation.dump(outcome.output)))
    newest = made[-1]  # the story holds an earlier one
    assert newest.proof.retention["constraints"].lost == ()
    assert newest.tokens_after > newest.summary_tokens + 20
    assert newest.proof.independent is not None
