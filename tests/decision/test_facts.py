"""The facts after each call of a replay are those that the finished view gives."""

from __future__ import annotations

import msgspec
import pytest

from monitor.decision.facts import Tracker, facts_of, is_work
from monitor.records import Event
from tests.decision.factory import Session, tool
from tests.factory import call, store


def replayed(view):
    tracker = Tracker(view)
    resets = {e.before_call: e for e in view.events if e.before_call is not None}
    facts = None
    for turn in view.turns:
        if turn.index in resets:
            tracker.reset(resets[turn.index])
        if is_work(turn):
            facts = tracker.add(turn, list(view.steps))
    return facts


@pytest.mark.parametrize(
    "session",
    [
        Session().grow(20_000, 1_500, 12),
        Session().grow(60_000, 5_000, 15).compact(30_000).grow(30_000, 2_000, 12),
        Session(ttl=3600)
        .grow(60_000, 5_000, 9)
        .compact(30_000)
        .grow(30_000, 2_000, 3)
        .compact(25_000)
        .grow(25_000, 10, 2),
        Session(source="codex", window=258_400, usable=244_800, ttl=None).grow(60_000, 5_000, 9),
        Session().call(20_000).call(21_000, read=0, cause="expired").call(22_000, read=100, cause="unknown"),
    ],
)
def test_a_replay_ends_with_the_facts_of_the_view(session):
    view = session.did(*tool()).view()
    assert msgspec.structs.astuple(replayed(view)) == msgspec.structs.astuple(facts_of(view))


def test_a_clear_takes_the_compactions_of_before_with_it():
    session = Session().grow(60_000, 5_000, 9).compact(30_000).grow(30_000, 2_000, 3)
    session.events.append(
        Event(kind="clear", evidence="recorded", session="s1", file="s1.jsonl", after_call=11, before_call=12)
    )
    view = session.grow(15_000, 500, 3).view()
    facts = facts_of(view)
    assert (facts.compactions, facts.latest) == (0, ())
    assert replayed(view).compactions == 0


def test_codex_logs_95_percent_of_the_window():
    view = msgspec.structs.replace(
        Session(source="codex", window=258_400, usable=244_800).grow(60_000, 5_000, 9).view(),
        context_limit_source="logged",
    )
    assert facts_of(view).whole_window == 272_000


def test_overflow_counts_until_a_compaction_answers_it():
    session = Session().grow(150_000, 2_000, 9)
    error = Event(kind="overflow", evidence="recorded", session="s1", file="s1.jsonl", after_call=8)
    session.events.append(error)
    assert facts_of(session.view()).overflow is True
    session.compact(30_000).grow(30_000, 100, 1)
    assert facts_of(session.view()).overflow is False


def test_trimmed_results_are_no_longer_counted():
    session = Session().grow(50_000, 2_000, 9)
    session.events.append(Event(kind="microcompaction", evidence="recorded", session="s1", file="s1.jsonl"))
    view = session.view()
    assert facts_of(view).trimmed is True and facts_of(view).compactions == 0


def test_a_session_without_calls_gives_empty_facts():
    facts = facts_of(Session().view())
    assert (facts.prompt, facts.calls, facts.forecast) == (None, 0, None)


class Looked(list):
    """Turns that count how far back somebody looked."""

    lowest = 1 << 30

    def __reversed__(self):
        for place in range(len(self) - 1, -1, -1):
            self.lowest = min(self.lowest, place)
            yield self[place]


def test_without_cache_figures_nothing_far_back_is_looked_at() -> None:
    calls = [call(number, 20_000 + 10 * number) for number in range(400)]
    view = store(calls).views()[0]
    turns = Looked(view.turns)
    assert facts_of(msgspec.structs.replace(view, turns=turns)) == facts_of(view)
    assert 370 < turns.lowest < 400
