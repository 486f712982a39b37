"""Every figure of every expected.json beside the project, against what the program makes of the sample.

The expectations were computed by scripts that share no code with the program and checked against what providers
answered. Skipped where the folder is not there.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from monitor.cli import main
from monitor.pricing import PriceTable
from monitor.readers.base import ReadOptions
from monitor.sessions.build import Settings
from monitor.sessions.load import Request, load
from monitor.sessions.view import Loaded
from tests.e2e.sample_figures import Comparison, unknown_keys

SAMPLES = Path(__file__).resolve().parents[2].parent / "shared" / "samples"
NO_LOGS = {"expected.json", "ledger.jsonl", "ground_truth.jsonl", "MANIFEST.tsv"}
#: damaged files among those without model traffic: their notes ask for a problem with a reason
DAMAGED = ("brokenfile.har", "dumpfile-010.mitm", "corrupted_gzip_body.har")


def _cases() -> list[Any]:
    if not SAMPLES.is_dir():
        return [pytest.param(None, None, None, marks=pytest.mark.skip(reason="../shared/samples is not here"))]
    found = []
    for file in sorted(SAMPLES.rglob("expected.json")):
        sources = json.loads(file.read_text(encoding="utf-8"))["sources"]
        for name, want in sources.items():
            label = f"{file.parent.relative_to(SAMPLES).as_posix()}:{name}"
            found.append(pytest.param(file.parent, name, want, id=label))
    return found


def _paths(folder: Path, name: str) -> list[str]:
    if name == ".":
        return [str(p) for p in sorted(folder.rglob("*")) if p.is_file() and p.name not in NO_LOGS]
    return [str(folder / name)]


def _load(paths: list[str]) -> Loaded:
    return load(Request(paths=paths, options=ReadOptions(), settings=Settings(prices=PriceTable.load()), cache=False))


@pytest.mark.parametrize(("folder", "name", "want"), _cases())
def test_figures(folder: Path, name: str, want: dict[str, Any]) -> None:
    assert not unknown_keys(want)
    found = _load(_paths(folder, name))
    wrong = Comparison(found, name, want).differences()
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("folder", "name", "want"), [case for case in _cases() if case.values[2] is None or not case.values[2].get("calls")]
)
def test_files_without_calls_are_no_curve(
    folder: Path, name: str, want: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    found = _load(_paths(folder, name))
    # nothing may be drawn: not even a prompt of 0
    assert {turn.call.prompt_tokens for view in found.sessions for turn in view.turns} <= {None}
    if any(view.turns or view.totals_only for view in found.sessions):
        return
    assert main(["report", *_paths(folder, name), "--no-cache"]) == 3
    told = capsys.readouterr()
    assert "Traceback" not in told.err
    if name.endswith(DAMAGED):
        assert any(getattr(problem, "reason", "") for problem in found.problems)


FORKS = "public_fixtures/codex/codexbar_forks"


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="../shared/samples is not here")
@pytest.mark.parametrize("family", ["archived-fork-33ce-3869", "live-fork-4d90-52bf", "missing-parent-siblings"])
def test_copied_rows_of_forks_count_once(family: str) -> None:
    """The published sums of these forks add last.total_tokens of every row: calls, the estimates after compactions, and
    a row that repeats the totals of the one before it, which is no call."""
    sources = json.loads((SAMPLES / "public_fixtures" / "expected.json").read_text(encoding="utf-8"))["sources"]
    want = sources[f"codex/codexbar_forks/{family}"]
    folder = SAMPLES / FORKS / family
    alone = 0
    for file in sorted(folder.rglob("*.jsonl")):
        found = _load([str(file)])
        alone += sum(view.sums.calls + view.inherited_calls for view in found.sessions)
        repeated = _repeated_rows(file)
        assert _row_totals(found) + repeated == want["sum_last_total_tokens"][file.name]
    together = _load([str(folder)])
    assert _row_totals(together) + repeated == want["sum_last_total_tokens"]["family"]
    inherited = sum(view.inherited_calls for view in together.sessions)
    assert inherited == alone - want["calls"]
    shared = {key for view in together.sessions for turn in view.turns for key in [turn.call.key]}
    assert len(shared) == want["calls"]


def _row_totals(found: Loaded) -> int:
    calls = [turn.call for view in found.sessions for turn in view.turns]
    estimates = [event for view in found.sessions for event in view.events if event.kind == "compaction"]
    return sum((call.prompt_tokens or 0) + (call.output_tokens or 0) for call in calls) + sum(
        event.recorded_after or 0 for event in estimates
    )


def _repeated_rows(file: Path) -> int:
    """last.total_tokens of rows whose running total is that of the row before, estimates left out."""
    before: Any = None
    found = 0
    for line in file.read_text(encoding="utf-8").splitlines():
        info = json.loads(line).get("payload", {}).get("info")
        if not info:
            continue
        if info["total_token_usage"] == before and info["last_token_usage"]["input_tokens"]:
            found += info["last_token_usage"]["total_tokens"]
        before = info["total_token_usage"]
    return found
