"""Problems, why, backtest, the screen without data."""

from __future__ import annotations

import msgspec

from monitor.dashboard.model import sheets
from monitor.dashboard.model.text import line_width, plain
from monitor.decision.model import Signal
from tests.dashboard import fake


def words(lines: list) -> str:
    return "\n".join(plain(line) for line in lines)


def test_why_shows_every_row_with_its_outcome() -> None:
    text = words(sheets.why_lines(fake.decision(), 80))
    assert "▶ near-limit" in text
    assert "✓ fill 0.79 >= 0.70" in text and "✗ a tool call is pending" in text
    assert "? topic score unknown >= 0.6" in text
    assert "the summary has 2,000 tokens" in text


def test_why_is_whole_in_a_narrow_sheet() -> None:
    decision = fake.decision()
    signal = Signal(
        id="topic_reasons", value=("other files than before (+0.3)", "another subject (+0.2)"), how="estimated"
    )
    decision = msgspec.structs.replace(decision, signals={**decision.signals, signal.id: signal})
    for width in (32, 54, 66):
        lines = sheets.why_lines(decision, width)
        assert all(line_width(line) <= width for line in lines), width
        text = " ".join(words(lines).split())
        for part in ("high confidence", "COMPACT AT BOUNDARY", "first row that holds wins", "another subject (+0.2)"):
            assert part in text, (width, part)


def test_the_empty_screen_says_what_to_do() -> None:
    snapshot = fake.snapshot((), searched=("~/.claude/projects",), problems=fake.PROBLEMS)
    text = words(sheets.empty_lines(snapshot, 78))
    for part in ("No calls", "~/.claude/projects", "2 could not be read", "check the path", "ctxmon PATH", "record"):
        assert part in text
    for width in (36, 56, 78):
        assert all(line_width(line) <= width for line in sheets.empty_lines(snapshot, width)), width


def test_while_reading_it_does_not_say_that_nothing_was_found() -> None:
    assert "Looking" in words(sheets.empty_lines(None, 60))
    text = words(sheets.empty_lines(fake.snapshot((), loading=True), 60))
    assert "12 files, 3.2 MB" in text and "No calls" not in text


def test_problems_are_told_in_full_and_in_bounds() -> None:
    text = words(sheets.problem_lines(fake.PROBLEMS, 30))
    assert "/logs/broken.jsonl:17" in text and "⚠ /logs/missing" in text
    assert "".join(text.split()).count("thereisnosuchfileorfolder;checkthepath") == 1
    assert all(line_width(line) <= 30 for line in sheets.problem_lines(fake.PROBLEMS, 30))
    many = sheets.problem_lines([fake.PROBLEMS[0]] * 5_000, 60)
    assert len(many) < 1_000 and "4,700 more" in words(many)
    assert "everything could be read" in words(sheets.problem_lines((), 60))


def test_the_backtest_is_shown_without_its_title_and_escapes() -> None:
    text = "\x1b[1mctxmon backtest\x1b[0m · 1 session\nexplained\n\n  table  1\n\nassumed\n  a tail"
    lines = sheets.replay_lines(text, fake.growing(5, steps_complete=True), 40)
    assert words(lines).splitlines() == ["explained", "", "  table  1", "", "assumed", "  a tail"]
    assert "latest steps" in words(sheets.replay_lines(text, fake.growing(5), 80))
