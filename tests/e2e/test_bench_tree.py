"""A tree of Claude Code logs with resumed sessions and subagents, made by the generator beside the project, against its
truth file: calls, tokens, money, compactions marked and unmarked, causes of misses. Skipped where the generator is not.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from monitor.pricing import PriceTable
from monitor.sessions.build import Settings
from monitor.sessions.load import Request, load
from monitor.sessions.view import SessionView

GENERATOR = Path(__file__).resolve().parents[2].parent / "shared" / "bench" / "gen_claude_logs.py"
pytestmark = pytest.mark.skipif(not GENERATOR.is_file(), reason="../shared/bench is not here")


@pytest.fixture(scope="module", params=[3, 11])
def tree(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[list[SessionView], Any]:
    folder = tmp_path_factory.mktemp("tree")
    command = [sys.executable, str(GENERATOR), str(folder), "--mb", "16", "--seed", str(request.param)]
    subprocess.run(command, check=True, capture_output=True, timeout=90)
    truth = json.loads((folder / "truth.json").read_text(encoding="utf-8"))
    settings = Settings(prices=PriceTable.load())
    found = load(Request(paths=[str(folder / "projects")], settings=settings, cache=False))
    return list(found.sessions), truth


def test_calls_tokens_and_money(tree: tuple[list[SessionView], Any]) -> None:
    views, truth = tree
    calls = [turn.call for view in views for turn in view.turns]
    assert len(calls) == truth["requests"]
    assert len(views) == truth["sessions"]
    assert sum(c.fresh_tokens or 0 for c in calls) == truth["input"]
    assert sum(c.output_tokens or 0 for c in calls) == truth["output"]
    assert sum(c.cache_read_tokens or 0 for c in calls) == truth["cache_read"]
    assert sum(c.cache_write_1h_tokens or 0 for c in calls) == truth["cw1h"]
    assert sum(c.cache_write_tokens or 0 for c in calls) == truth["cw5"] + truth["cw1h"]
    assert sum(view.sums.cost_usd or 0 for view in views) == pytest.approx(truth["cost_usd"], abs=0.001)


def test_compactions_marked_and_unmarked(tree: tuple[list[SessionView], Any]) -> None:
    views, truth = tree
    events = [event for view in views for event in view.events]
    compactions = [event for event in events if event.kind == "compaction"]
    assert truth["compactions"] > 0
    assert sum(e.evidence == "recorded" for e in compactions) == truth["auto"] + truth["manual"]
    assert sum(e.trigger == "auto" for e in compactions) == truth["auto"]
    assert sum(e.evidence == "inferred" for e in compactions) == truth["inferred_only"]
    assert not [e for e in events if e.kind in ("rewind", "clear", "unexplained_drop", "trim")]


def test_causes_of_misses(tree: tuple[list[SessionView], Any]) -> None:
    views, truth = tree
    causes = dict.fromkeys(("expired", "model_switch", "compaction", "unknown"), 0)
    for view in views:
        # the first own call of a resumed session is compared with the inherited context; the truth leaves it out
        own = next((t.index for t in view.turns if t.call.chain == "main"), None) if view.inherited_calls else None
        for turn in view.turns:
            if turn.cache_miss_cause is not None and turn.index != own:
                causes[turn.cache_miss_cause] += 1
    assert causes["expired"] == truth["miss_idle"]
    assert causes["model_switch"] == truth["miss_model"]
    # a session may end with its compaction: no call follows that could miss
    last = sum(e.kind == "compaction" and e.before_call is None for view in views for e in view.events)
    assert causes["compaction"] == truth["compactions"] - last
    assert last <= 2
    assert causes["unknown"] == 0
