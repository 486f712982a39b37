"""The line at the top."""

from __future__ import annotations

import pytest

from monitor.dashboard.model.header import header
from monitor.dashboard.model.text import line_width, plain
from tests.dashboard import fake

VIEW = fake.view([fake.turn(i, 131_400, 130_000, 900) for i in range(3)], project="api-fix", forecast=fake.forecast())
NOW = (VIEW.last or 0) + 5_000


@pytest.mark.parametrize("width", [24, 40, 60, 80, 120, 160])
def test_the_advice_is_there_at_every_width(width: int) -> None:
    line = header(VIEW, fake.decision(), width, now=NOW, sessions=4, problems=2)
    assert line_width(line) == width
    assert "COMPACT" in plain(line)


def test_wide() -> None:
    text = plain(header(VIEW, fake.decision(), 160, now=NOW, sessions=4, problems=2, title="recording"))
    # (131,400 + 600) of 167,000
    for part in ("recording", "● api-fix", "claude-opus-5-5", "132k/167k?", "79%", "~9 (6–13) turns left", "⚠ 2 problems",
                 "4 sessions", "now", "follow ▸"):  # fmt: skip
        assert part in text, part


def test_states_have_words() -> None:
    assert "⏸ paused" in plain(header(VIEW, None, 120, now=NOW, paused=True))
    assert "browsing" in plain(header(VIEW, None, 120, now=NOW, follow=False))
    assert "reading" in plain(header(None, None, 60, now=0, loading=True))
    assert "◌ reading" in plain(header(VIEW, None, 120, now=NOW, loading=True, sessions=4))
    assert "reading" not in plain(header(VIEW, None, 120, now=NOW, sessions=4))
    assert "waiting" in plain(header(None, None, 60, now=0))
    assert "NO ADVICE" in plain(header(VIEW, None, 120, now=NOW))
    assert "○ api-fix" in plain(header(VIEW, None, 120, now=NOW + 3_600_000))


def test_the_size_is_marked_as_the_call_it_is_from() -> None:
    def size(**fields: object) -> str:
        return plain(header(fake.view([fake.turn(0, 131_400, **fields)]), None, 120, now=NOW))

    assert "≥132k/167k?" in size(output_is_lower_bound=True)
    assert "~132k/167k?" in size(status="estimated")


def test_a_name_cannot_steer_the_terminal() -> None:
    view = fake.view([fake.turn(0, 9_000)], project="x\x1b]0;owned\x07")
    assert "\x1b" not in plain(header(view, None, 120, now=NOW))
