"""Loading: what of everything that was read goes into what is wanted of it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from monitor.sessions import load as loading
from monitor.sessions.filter import Wanted
from monitor.sessions.load import Request, load
from monitor.sessions.refit import Own
from tests.dashboard.claude_log import write_log

BEGIN = datetime(2026, 9, 1, tzinfo=UTC)


@pytest.mark.parametrize("calls", [40, 25])
def test_the_range_of_a_filtered_forecast_is_from_ones_own_history_too(
    calls: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_log(tmp_path / "a.jsonl", 40, BEGIN)
    monkeypatch.setattr(loading, "own", lambda views: Own(((9.9, 0.5, 2.0, 4.0),), 77))
    until = int(BEGIN.timestamp() * 1000) + 5_000 * calls  # calls are five seconds apart
    (view,) = load(Request(paths=[str(tmp_path)], wanted=Wanted(until=until))).sessions
    forecast = view.forecast
    assert len(view.turns) == calls
    assert forecast is not None and forecast.own_contexts == 77 and forecast.calls_to_limit is not None
    # prompts begin at 20,000 and grow by 1,000; 300 tokens of answer; the client's limit is 167,000
    left = (167_000 - (20_000 + 1_000 * (calls - 1) + 300)) / 1_000
    assert forecast.calls_to_limit.p50 == pytest.approx(2.0 * left, abs=0.051)  # told to a tenth of a call
    assert forecast.calls_to_limit.p10 == pytest.approx(0.5 * left, abs=0.051)
