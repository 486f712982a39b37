"""Every figure of every expected.json beside the project, against `ctxmon calls` and `ctxmon report`.

The expectations were computed by scripts that share no code with the program and checked against what providers
answered. Skipped where the folder is not there.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from monitor.pricing import PriceTable
from monitor.readers.base import ReadOptions
from monitor.sessions.build import Settings
from monitor.sessions.load import Request, load
from monitor.sessions.view import Loaded, Turn

SAMPLES = Path(__file__).resolve().parents[2].parent / "shared" / "samples"
NO_LOGS = {"expected.json", "ledger.jsonl", "ground_truth.jsonl", "MANIFEST.tsv"}
SUMS = ("prompt_tokens", "fresh_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens", "reasoning_tokens")


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


def _load(folder: Path, name: str) -> Loaded:
    if name == ".":
        paths = [str(p) for p in sorted(folder.rglob("*")) if p.is_file() and p.name not in NO_LOGS]
    else:
        paths = [str(folder / name)]
    return load(Request(paths=paths, options=ReadOptions(), settings=Settings(prices=PriceTable.load())))


def _counted(found: Loaded) -> list[Turn]:
    return [turn for view in found.sessions for turn in view.turns if turn.call.status in ("ok", "estimated")]


@pytest.mark.parametrize(("folder", "name", "want"), _cases())
def test_figures(folder: Path, name: str, want: dict[str, Any]) -> None:
    found = _load(folder, name)
    turns = _counted(found)
    wrong: list[str] = []

    def check(what: str, have: Any, expected: Any) -> None:
        if have != expected:
            wrong.append(f"{what}: {have!r}, expected {expected!r}")

    if "by_purpose" in want:
        for purpose, count in want["by_purpose"].items():
            check(f"purpose {purpose}", sum(t.call.purpose == purpose for t in turns), count)
    elif want.get("calls") is not None:
        check("calls", len(turns), want["calls"])
    money = [turn for turn in turns if turn.call.purpose != "side"]
    for field in SUMS:
        if field not in want:
            continue
        values = [v for turn in money if (v := getattr(turn.call, field)) is not None]
        have = sum(values) if values else None
        if want[field] == 0 and have is None:
            continue  # not known, or nothing of it: the expectation does not tell these apart
        check(field, have, want[field])
    if "peak_prompt_tokens" in want:
        peaks = [v.peak_prompt_tokens for v in found.sessions if v.peak_prompt_tokens is not None]
        check("peak", max(peaks) if peaks else None, want["peak_prompt_tokens"])
    if want.get("sessions") is not None:
        check("sessions", len(found.sessions), want["sessions"])
    if want.get("chains"):
        chains: dict[str, int] = {}
        for turn in turns:
            if turn.call.purpose != "side" or turn.call.chain in want["chains"]:
                chains[turn.call.chain] = chains.get(turn.call.chain, 0) + 1
        check("chains", chains, want["chains"])
    if want.get("compactions") is not None:
        have_events = [e for v in found.sessions for e in v.events if e.kind == "compaction" and e.chain != "side"]
        check("compactions", len(have_events), len(want["compactions"]))
        for event, expected in zip(have_events, want["compactions"], strict=False):
            for field, value in expected.items():
                check(f"compaction {field}", getattr(event, field), value)
    for expected in want.get("other_events") or ():
        matches = [
            e
            for v in found.sessions
            for e in v.events
            if all(getattr(e, field) == value for field, value in expected.items())
        ]
        check(f"event {expected['kind']}", len(matches), 1)
    if want.get("model_switches") is not None:
        switches = [e for v in found.sessions for e in v.events if e.kind == "model_switch"]
        check("model switches", len(switches), want["model_switches"])
    for key, series in (want.get("prompt_series") or {}).items():
        session, _, chain = key.partition("|")
        have_series = [
            t.call.prompt_tokens for t in turns if t.call.session == session and t.call.chain == chain
            and t.call.purpose != "side" and t.call.prompt_tokens is not None
        ]  # fmt: skip
        # the expectations write 0 for an answer whose usage was not reported
        check(f"series {key}", have_series, [prompt for prompt in series if prompt])
    if want.get("windows") and want.get("sessions") is not None:
        windows = {
            f"{v.session}|{c.chain}": c.windows
            for v in found.sessions
            for c in v.chains
            if c.chain != "side" and c.calls
        }
        check("windows", windows, want["windows"])
    if want.get("user_prompts") is not None and name != ".":
        check("exchanges", sum(v.exchanges or 0 for v in found.sessions), want["user_prompts"])
    assert not wrong, "\n".join(wrong)
