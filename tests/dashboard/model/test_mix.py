"""What the context consists of: when it is counted, and how it is told."""

from __future__ import annotations

import threading
from collections.abc import Callable

import msgspec

from monitor.dashboard.model.mix import Mix, Mixes, mix_lines
from monitor.dashboard.model.text import line_width, plain
from monitor.sessions.composition import Composition, Part
from monitor.sessions.view import SessionView
from tests.dashboard import fake


class Desk:
    """Counts what is asked for, when the test says so."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, int]] = []
        self.clock = 100.0
        self.go = threading.Semaphore(0)
        self.ready = threading.Semaphore(0)
        self.result: Callable[[], Composition | None] = lambda: fake.MIX
        self.size = 1_000
        self.mixes = Mixes(self._examine, self.ready.release, lambda: self.clock, lambda view: self.size)

    def _examine(self, view: SessionView) -> Composition | None:
        self.asked.append((view.session, view.version))
        assert self.go.acquire(timeout=10)
        return self.result()

    def finish(self) -> None:
        """Let the running one end and wait until it has been put away."""
        self.go.release()
        assert self.ready.acquire(timeout=10)


def test_one_at_a_time_on_demand_and_once_for_each_version() -> None:
    desk = Desk()
    one, two = fake.growing(20, session="one"), fake.growing(20, session="two")
    assert desk.mixes.of(None) == Mix()
    assert desk.mixes.of(one).counting and desk.mixes.busy
    assert not desk.mixes.of(two).counting  # not while another one is being made
    desk.finish()
    assert desk.mixes.of(one) == Mix(fake.MIX, 19, counting=False, asked=True)
    assert desk.mixes.of(two).counting
    desk.finish()
    assert desk.mixes.of(one).found is fake.MIX and desk.mixes.of(two).found is fake.MIX
    assert desk.asked == [("one", 20), ("two", 20)]


def test_a_session_that_grows_is_counted_again_after_a_while() -> None:
    desk = Desk()
    desk.mixes.of(fake.growing(20))
    desk.finish()
    later = fake.growing(21)
    assert desk.mixes.of(later) == Mix(fake.MIX, 19, counting=False, asked=True)
    desk.clock += 2.9
    assert not desk.mixes.of(later).counting
    desk.clock += 0.2
    assert desk.mixes.of(later) == Mix(fake.MIX, 19, counting=True, asked=True)
    desk.finish()
    assert desk.mixes.of(later) == Mix(fake.MIX, 20, counting=False, asked=True)


def test_a_large_file_is_opened_when_somebody_asks_and_then_once() -> None:
    desk = Desk()
    desk.size = 75_000_000
    view = fake.growing(20)
    unasked = desk.mixes.of(view)
    assert unasked == Mix(large=75_000_000) and not desk.mixes.busy
    assert "has 75 MB: press 5" in plain(mix_lines(unasked, view, 70)[0])
    desk.mixes.ask(view)
    assert desk.mixes.of(view).counting
    desk.finish()
    assert desk.mixes.of(view) == Mix(fake.MIX, 19, asked=True)
    later = fake.growing(21)
    desk.clock += 3_600
    found = desk.mixes.of(later)
    assert found == Mix(fake.MIX, 19, asked=True, large=75_000_000)
    assert "at turn #19; 5 counts again" in " ".join(plain(line) for line in mix_lines(found, later, 70))


def test_whatever_goes_wrong_is_no_composition() -> None:
    desk = Desk()

    def fails() -> Composition:
        raise MemoryError

    desk.result = fails
    desk.mixes.of(fake.growing(20))
    desk.finish()
    found = desk.mixes.of(fake.growing(20))
    assert found == Mix(None, 19, counting=False, asked=True)
    assert "usage figures only" in " ".join(plain(line) for line in mix_lines(found, fake.growing(20), 90))


def test_parts_are_sorted_marked_and_add_up_to_the_prompt() -> None:
    view = fake.growing(20)
    lines = [plain(line) for line in mix_lines(Mix(fake.MIX, 19, asked=True), view, 60)]
    assert [line.split("  ")[0] for line in lines[:6]] == [
        "results: Read", "assistant", "tools", "user", "system", "not explained",
    ] or [line.split("  ")[0] for line in lines[:6]] == [
        "results: Read", "assistant", "tools", "system", "user", "not explained",
    ]  # fmt: skip
    assert "~60k" in lines[0] and "46%" in lines[0]  # 59,900 of 131,400
    assert " 9.1k" in lines[3] and "~9.1k" not in lines[3]
    assert "+600" in lines[5] and "<1%" in lines[5]
    text = " ".join(lines)
    assert "of 132,000 tokens at turn #19" in text
    assert "of ~40k in file reads ~4.0k edited since" in text and "read again" not in text
    assert "+12k results: Read, +800 assistant" in text
    assert "~ estimated: counted by o200k, × 1.05, fitted to 16 turns" in text


def test_exact_counts_have_no_mark() -> None:
    exact = msgspec.structs.replace(fake.MIX, parts=(Part("user", 500, estimated=False),), residual=0)
    text = " ".join(plain(line) for line in mix_lines(Mix(exact, 3, asked=True), fake.growing(4), 60))
    assert "~" not in text.split("of 132,000")[0] and "own tokenizer" in text


def test_what_is_not_known_yet() -> None:
    view = fake.growing(5)
    assert "counting" in plain(mix_lines(Mix(counting=True), view, 40)[0])
    assert "not counted yet" in plain(mix_lines(Mix(), view, 40)[0])
    assert "finished turn" in plain(mix_lines(Mix(), msgspec.structs.replace(view, last_turn=None), 40)[0])


def test_nothing_is_wider_than_the_panel() -> None:
    for width in (20, 34, 48, 90):
        for line in mix_lines(Mix(fake.MIX, 19, asked=True), fake.growing(20), width):
            assert line_width(line) <= width, plain(line)
