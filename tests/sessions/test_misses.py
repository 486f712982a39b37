"""Misses by cause, by hand; and that a repeated report need not look at calls for them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from monitor.pricing import PriceTable
from monitor.sessions import recall
from monitor.sessions.build import Settings
from monitor.sessions.laid import LaidTurns
from monitor.sessions.load import Request, load
from monitor.sessions.misses import MissRow, by_cause
from tests.dashboard.claude_log import write_logs
from tests.factory import START, call, event, view


def test_misses_by_cause_and_their_costs() -> None:
    # claude-sonnet-4-5: a five-minute write costs 3.75, a read 0.30 USD a million tokens
    calls = [
        call(0, 100_000, 0),
        call(1, 101_000, 50_000),  # half of the 100,000 that were there
        call(2, 102_000, 101_000),
        call(3, 103_000, 0, time=START + 3_600_000),  # after an hour
        event(4, time=START + 3_605_000),
        call(5, 20_000, 5_000, time=START + 3_610_000),
    ]
    rows = {row.cause: row for row in by_cause([view([*calls], prices=PriceTable.load())])}
    assert {cause: (row.calls, row.partial) for cause, row in rows.items()} == {
        "unknown": (1, 1),
        "expired": (1, 0),
        "compaction": (1, 0),
    }
    assert rows["unknown"].cost == pytest.approx(50_000 * 3.45 / 1e6)
    # the prompt holds 102,000 tokens of the one before, ten of them fresh at 3.00
    assert rows["expired"].cost == pytest.approx((101_990 * 3.45 + 10 * 2.70) / 1e6, rel=1e-3)


def test_without_a_price_the_cost_is_unknown() -> None:
    (row,) = by_cause([view([call(0, 100_000, 0), call(1, 101_000, 0)])])
    assert row == MissRow("unknown", calls=1, partial=0, cost=None, unpriced=1)


def test_sessions_of_an_earlier_run_are_not_unpacked(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
    monkeypatch.setattr(recall, "WORTH", 0)
    paths = write_logs(tmp_path, 2, 12)
    for path in map(Path, paths):  # the sixth call finds nothing in the cache
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        lines[6] = lines[6].replace('"cache_read_input_tokens": 24980', '"cache_read_input_tokens": 0')
        path.write_text("".join(lines), encoding="utf-8")
    for path in paths:
        os.utime(path, (1e9, 1e9))
    request = Request(paths=paths, settings=Settings(prices=PriceTable.load()), cache=True)
    first = by_cause(load(request).sessions)
    recall.flush()
    monkeypatch.setattr(recall.Memory, "turns", lambda *_: pytest.fail("turns were unpacked"))
    again = load(request).sessions
    assert all(isinstance(view.turns, LaidTurns) for view in again)
    assert by_cause(again) == first
    assert [(row.calls, row.cause) for row in first] == [(2, "unknown")]
