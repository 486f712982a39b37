"""The help."""

from __future__ import annotations

import pytest

from monitor.dashboard.model.help import LEGEND, help_lines
from monitor.dashboard.model.text import line_width, plain

GROUPS = [("Move", [("← h", "previous turn")]), ("Jump", [("n", "next cache miss " * 6)])]


@pytest.mark.parametrize("width", [36, 60, 116])
def test_all_keys_and_signs_are_there(width: int) -> None:
    lines = help_lines(GROUPS, width)
    text = "\n".join(plain(line) for line in lines)
    assert all(line_width(line) <= width for line in lines)
    for part in ("Move", "← h", "previous turn", "Jump", "next cache miss", *(sign for sign, _style, _text in LEGEND)):
        assert part in text
