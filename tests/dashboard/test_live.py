"""The feed of the real thing, on a small log."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from monitor.dashboard import live, terminal
from monitor.dashboard.feed import Snapshot
from monitor.dashboard.live import LiveFeed
from monitor.dashboard.terminal import PipedInput
from monitor.decision import decide
from monitor.pricing import PriceTable
from monitor.sessions import cold
from monitor.sessions.build import Settings
from monitor.sessions.cold import Kept
from tests.dashboard.claude_log import line, write_log

LOGS = Path(__file__).resolve().parents[2] / "sample_logs"
BEGIN = datetime(2026, 5, 28, 20, 0, 0, tzinfo=UTC)
NOW = int(BEGIN.timestamp() * 1000) + 120_000


def read(feed: LiveFeed) -> Snapshot:
    """Poll until all is read."""
    found = feed.poll()
    for _ in range(200):
        if found is not None and not found.loading:
            return found
        feed.wait(0.01)
        found = feed.poll() or found
    raise AssertionError("reading did not end")


@pytest.fixture
def feed(tmp_path: Path):
    """A feed on a log of 20 calls."""
    write_log(tmp_path / "s.jsonl", 20, BEGIN)
    made = LiveFeed([str(tmp_path)], settings=Settings(prices=PriceTable.load()), polling=True, clock=lambda: NOW)
    yield made
    made.close()


def test_sessions_and_decisions(feed: LiveFeed) -> None:
    snapshot = read(feed)
    (view,) = snapshot.sessions
    # 20,000 tokens and 1,000 more with each of 19 further calls
    assert (len(view.turns), view.last_prompt_tokens) == (20, 39_000)
    assert snapshot.time == NOW and snapshot.files == 1
    assert snapshot.decisions[view.session].action == "continue"
    assert feed.poll() is None


def test_an_appended_call_is_told(feed: LiveFeed, tmp_path: Path) -> None:
    read(feed)
    with (tmp_path / "s.jsonl").open("a", encoding="utf-8") as out:
        out.write(line(20, 38_980, 2_000, BEGIN))
    feed.follower._next_hot = 0.0
    for _ in range(200):
        if (snapshot := feed.poll()) is not None:
            break
        feed.wait(0.01)
    assert snapshot is not None and len(snapshot.sessions[0].turns) == 21


def test_time_alone_is_told_of_what_may_still_grow_cold(tmp_path: Path) -> None:
    """What slept for hours is looked at once a minute, what ran a moment ago every five seconds."""
    write_log(tmp_path / "s.jsonl", 20, BEGIN)
    clock = [int(BEGIN.timestamp() * 1000) + 200_000]
    settings = Settings(prices=PriceTable.load())
    feed = LiveFeed([str(tmp_path)], settings=settings, polling=True, clock=lambda: clock[0])
    try:
        first = read(feed)
        (name,) = first.decisions
        clock[0] += 5_000
        second = feed.poll()
        assert second is not None and second.sessions is first.sessions  # nothing is listed again
        assert second.decisions[name].signals["idle_s"].value - first.decisions[name].signals["idle_s"].value == 5
        clock[0] += 3 * 3_600_000
        cold = feed.poll()
        assert cold is not None and cold.decisions[name].signals["cache_state"].value == "cold"
        clock[0] += 50_000
        assert feed.poll() is None
        explained = feed.explain(cold.sessions[0])
        assert explained is not None
        assert explained.signals["idle_s"].value == cold.decisions[name].signals["idle_s"].value
        clock[0] += 10_000
        assert feed.poll() is not None
    finally:
        feed.close()


def test_why_gives_the_rows_of_the_same_decision(feed: LiveFeed) -> None:
    snapshot = read(feed)
    (view,) = snapshot.sessions
    explained = feed.explain(view)
    assert explained is not None and explained.rows
    assert explained.rule == snapshot.decisions[view.session].rule
    assert [row.rule for row in explained.rows if row.fired] == [explained.rule]


def test_the_backtest_compares_policies(feed: LiveFeed) -> None:
    told = feed.backtest(read(feed).sessions[0])
    assert told is not None
    for width in (66, 118):  # the sheet of 80 and of 160 columns
        text = told(width)
        assert "what happened" in text and "never" in text and "assumed" in text
        assert max(len(line) for line in text.splitlines()) <= width


def test_what_is_piped_in_is_a_session(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    write_log(tmp_path / "s.jsonl", 5, BEGIN)
    reading, writing = os.pipe()
    monkeypatch.setattr(terminal, "_piped", PipedInput(reading))
    feed = LiveFeed(["-"], polling=True, clock=lambda: NOW)
    try:
        os.write(writing, (tmp_path / "s.jsonl").read_bytes())
        for _ in range(500):
            snapshot = feed.poll()
            if snapshot is not None and snapshot.sessions:
                break
            feed.wait(0.005)
        assert snapshot is not None and len(snapshot.sessions[0].turns) == 5 and snapshot.loading
        os.close(writing)
        assert not read(feed).loading
    finally:
        feed.close()
        os.close(reading)


def test_a_context_is_taken_apart_on_request(tmp_path: Path) -> None:
    """Parts and what they do not explain add up to the provider's own count."""
    name = next(LOGS.glob("claude-code/projects/*/*.jsonl"))
    feed = LiveFeed([str(name)], polling=True)
    try:
        snapshot = feed.poll()
        assert snapshot is not None
        view = snapshot.sessions[0]
        found = feed.examine(view)
        assert found is not None and found.residual is not None
        assert sum(part.tokens for part in found.parts) + found.residual == view.last_prompt_tokens
        gone = msgspec.structs.replace(view.last_turn.call, file=str(tmp_path / "gone.jsonl"))  # type: ignore[union-attr]
        last = msgspec.structs.replace(view.last_turn, call=gone)
        assert feed.examine(msgspec.structs.replace(view, last_turn=last)) is None
    finally:
        feed.close()


def test_packed_turns_give_the_same_advice_and_the_same_backtest(monkeypatch: pytest.MonkeyPatch) -> None:
    def said(hot: int | None) -> list[object]:
        monkeypatch.setattr(live, "_HOT", hot)
        feed = LiveFeed([str(LOGS)], settings=Settings(prices=PriceTable.load()), polling=True, clock=lambda: NOW)
        try:
            feed.store.later = False
            read(feed)
            for _ in range(12):  # some are packed at each refresh
                feed.store._dirty.update(feed.store.sessions)
                feed.store.refresh()
            views = feed.store.views()
            packed = sum(view.turns.packed for view in views if isinstance(view.turns, Kept))
            assert (packed > 20) == (hot is not None)  # what is folded again each time is not
            found: list[object] = []
            for view in views:
                found += [
                    list(view.turns),
                    feed.explain(view),
                    told(100) if (told := feed.backtest(view)) else None,
                    view.forecast,
                    view.compaction_costs,
                ]
                found.append(decide(view, now_ms=NOW, prices=feed.settings.prices, explain=True))
            return found
        finally:
            feed.close()

    monkeypatch.setattr(cold, "BLOCK", 4)
    assert said(0) == said(None)
