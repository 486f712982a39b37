"""The thread that polls a feed."""

from __future__ import annotations

import queue

from monitor.dashboard.feed import FeedThread, FixedFeed, Snapshot
from tests.dashboard import fake
from tests.dashboard.fake import FakeFeed


def test_snapshots_come_in_order_and_the_feed_is_closed() -> None:
    feed, seen = FakeFeed(fake.snapshot((), time=1)), queue.Queue[Snapshot]()
    thread = FeedThread(lambda: feed, seen.put, lambda sentence: None)
    thread.start()
    assert seen.get(timeout=5).time == 1
    feed.put(fake.snapshot((), time=2))
    assert seen.get(timeout=5).time == 2
    thread.stop()
    assert not thread.is_alive() and feed.closed


def test_a_failure_is_told_and_reading_goes_on() -> None:
    feed, seen, said = FakeFeed(), queue.Queue[Snapshot](), queue.Queue[str]()
    thread = FeedThread(lambda: feed, seen.put, said.put)
    thread.RETRY = 0.0
    feed.put(ValueError("odd"))
    feed.put(fake.snapshot((), time=3))
    thread.start()
    assert "ValueError: odd" in said.get(timeout=5)
    assert seen.get(timeout=5).time == 3
    thread.stop()


def test_a_feed_that_cannot_be_opened_is_tried_again() -> None:
    tries: list[int] = []
    seen, said = queue.Queue[Snapshot](), queue.Queue[str]()

    def factory() -> FakeFeed:
        tries.append(1)
        if len(tries) == 1:
            raise OSError("not yet")
        return FakeFeed(fake.snapshot((), time=4))

    thread = FeedThread(factory, seen.put, said.put)
    thread.RETRY = 0.0
    thread.start()
    assert "not yet" in said.get(timeout=5)
    assert seen.get(timeout=5).time == 4
    thread.stop()


def test_stopping_before_starting_does_no_harm() -> None:
    FeedThread(FakeFeed, lambda s: None, lambda s: None).stop()


def test_a_fixed_feed_speaks_once() -> None:
    feed = FixedFeed(fake.snapshot((), time=9))
    first = feed.poll()
    assert first is not None and first.time == 9 and feed.poll() is None
    feed.close()
    assert feed.wait(60) is False


def test_who_asks_why_gets_the_rows_only_from_a_feed_that_knows_them() -> None:
    class Knowing(FakeFeed):
        def explain(self, view: object) -> object:
            return fake.decision(action="trim")

    for feed, expected in ((FakeFeed(fake.snapshot(())), None), (Knowing(fake.snapshot(())), "trim")):
        seen = queue.Queue[Snapshot]()
        thread = FeedThread(lambda feed=feed: feed, seen.put, lambda s: None)
        thread.start()
        seen.get(timeout=5)
        decision = thread.explain(fake.growing(3))
        assert (decision.action if decision else None) == expected
        thread.stop()
