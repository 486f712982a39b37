"""Compactions judged by the scorer that stands beside the project. Skipped where it is not."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from monitor import conversation
from monitor.compaction.options import Options
from monitor.compaction.strategies import apply
from monitor.conversation.tokens import count
from tests.compaction.stories import SUFFIX, build
from tests.compaction.story_data import STORIES
from tests.compaction.test_engine import BOTH, run

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "compaction"


def _scorer() -> Any:
    sys.dont_write_bytecode = True
    spec = importlib.util.spec_from_file_location("ctxmon_shared_score", SHARED / "score.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.skipif(not SHARED.is_dir(), reason="../shared/compaction is not here")
@pytest.mark.parametrize(
    "name",
    ["payment-callback-de.json", "pipeline-bughunt-en.json", "frontend-migration-zh.json", "incident-redis-es.jsonl"],
)
def test_labelled_conversations(name: str, tmp_path: Path) -> None:
    path = SHARED / "gold" / name
    out, proof = apply(conversation.load(path), Options())
    assert out.output is not None and out.summary is not None and proof is not None
    target = tmp_path / name
    target.write_bytes(conversation.dump(out.output))
    scorer = _scorer()
    gold = json.loads(Path(scorer.gold_path(str(path))).read_text(encoding="utf-8"))
    found = scorer.score(str(path), str(target), gold, offline=True)
    assert found["failed"] == []
    assert found["score"] >= 92
    assert found["validity"]["violations"] == []
    assert count(out.summary.text) <= 4_000
    assert proof.invented == ()


@pytest.mark.skipif(not SHARED.is_dir(), reason="../shared/compaction is not here")
@pytest.mark.parametrize(("name", "fmt"), BOTH)
def test_stories_by_the_shared_scorer(name: str, fmt: str, tmp_path: Path) -> None:
    story = STORIES[name]
    source, target = tmp_path / f"a{SUFFIX.get(fmt, '.json')}", tmp_path / f"b{SUFFIX.get(fmt, '.json')}"
    source.write_bytes(build(story, fmt))
    out = run(story, fmt)
    assert out.output is not None
    target.write_bytes(conversation.dump(out.output))
    found = _scorer().score(str(source), str(target), story.gold, offline=True)
    assert found["failed"] == []
    assert found["score"] >= 92
