"""Compactions that nothing marks: made sessions with known truth, real logs whose marks are hidden."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.inference import Score, hide, logs, made
from monitor.records import Record
from tests.factory import call, event, view

SAMPLES = Path(__file__).resolve().parents[2].parent / "shared" / "samples"


def test_recall_and_false_alarms_on_made_sessions() -> None:
    total = Score("all")
    for score in made(80, seed=5):
        for name in ("calls", "compactions", "found", "false_alarms"):
            setattr(total, name, getattr(total, name) + getattr(score, name))
    assert total.compactions >= 90
    assert total.recall is not None and total.recall >= 0.95
    assert total.false_per_2000 <= 1.0


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="../shared/samples is not here")
@pytest.mark.parametrize(
    ("name", "compactions"),
    [
        ("skeletons/cc2076_compact.jsonl", 1),
        ("skeletons/cc211_compact2_synth.jsonl", 2),
        ("skeletons/cc2117_microcompact_compact.jsonl", 1),
        ("skeletons/cx0122_compacted.jsonl", 1),
        ("skeletons/cc2076_badline_b.jsonl", 0),
        ("skeletons/pi_v1_large_session.jsonl", 0),
        ("real_clients/claude-code/projects", 1),
        ("real_clients/codex-remote/sessions", 1),
        ("real_clients/pi-openai/sessions", 1),
        ("real_clients/gemini-cli/tmp", 0),
        ("captures/agents/codex.mitm", 1),
        ("captures/agents/claude_code_part.har", 1),
    ],
)
def test_real_logs_whose_marks_are_hidden(name: str, compactions: int) -> None:
    score = logs(name, [str(SAMPLES / name)])
    assert (score.compactions, score.found, score.false_alarms) == (compactions, compactions, 0)


def test_hiding_takes_marks_out_and_summaries_back_in() -> None:
    summary = call(1, 90_000, 89_000, chain="side", purpose="compaction")
    shown = hide([call(0, 90_000, 0), summary, event(1.5), event(1.6, "error")])
    assert [getattr(record, "kind", None) or record.purpose for record in shown] == ["work", "work", "error"]  # type: ignore[union-attr]
    assert shown[1].chain == "main"


def test_a_subagent_in_the_same_chain_is_no_compaction_if_the_old_context_is_read_again() -> None:
    agent: list[Record] = [
        call(2, 12_000, 0),
        call(3, 13_000, 12_000),
        call(4, 14_000, 13_000),
        call(5, 15_000, 14_000),
    ]
    before: list[Record] = [call(0, 90_000, 0), call(1, 91_000, 90_000)]
    # read at 91,000 of 92,000 tokens although the call before sent 15,000: the context of call 1 is still there
    back = view([*before, *agent, call(6, 92_000, 91_000)])
    assert (back.compactions, back.windows) == (0, 1)
    assert [turn.delta for turn in back.turns] == [None, 1_000, None, None, None, None, 1_000]
    # a context that grew back by itself proves nothing
    grown = view([*before, *agent, call(6, 50_000, 15_000), call(7, 93_000, 50_000), call(8, 94_000, 93_000)])
    assert grown.inferred_compactions == 1


def unread(*prompts: int) -> list[Record]:
    """Calls of a log that tells no cache figures."""
    return [call(n, prompt) for n, prompt in enumerate(prompts)]


def test_without_cache_figures_one_leap_back_to_the_old_size_shows_a_subagent() -> None:
    back = view(unread(90_000, 91_000, 12_000, 13_000, 14_000, 15_000, 92_000, 93_000))
    assert (back.compactions, back.windows) == (0, 1)
    assert [turn.delta for turn in back.turns] == [None, 1_000, None, None, None, None, 1_000, 1_000]


@pytest.mark.parametrize(
    "later",
    [
        (12_000, 13_000, 14_000, 92_000),  # back at the third call: the contract's two calls are over, and no run yet
        (12_000, 30_000, 50_000, 70_000, 92_000),  # grew back by itself
        (12_000, 13_000, 14_000, 15_000, 120_000),  # larger than what was lost
        (50_000, 51_000, 52_000, 53_000, 92_000),  # one large file may be as large as this
    ],
)
def test_without_cache_figures_other_ways_back_are_no_proof(later: tuple[int, ...]) -> None:
    assert view(unread(90_000, 91_000, *later)).inferred_compactions == 1
