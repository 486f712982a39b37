"""The table of calls: what all calls of a session share is said once, marks stand at the call they belong to."""

from __future__ import annotations

import pytest

from monitor.reports.calls_text import table
from monitor.reports.text import cells
from monitor.sessions.view import Loaded, Turn
from tests.factory import START, call
from tests.reports.stories import agent_session, everything, loaded, long_session


def turns(found: Loaded) -> list[Turn]:
    return [turn for view in reversed(found.sessions) for turn in view.turns]


def lines(*batches: list[object], most: int = 140, **options: object) -> list[str]:
    found, _, _ = loaded(*batches) if batches else everything()  # type: ignore[arg-type]
    return table(found, turns(found), zone="UTC", most=most, **options).splitlines()  # type: ignore[arg-type]


@pytest.mark.parametrize("most", [40, 60, 80, 100, 160])
def test_no_line_is_wider_than_the_terminal(most: int) -> None:
    assert [line for line in lines(most=most) if cells(line) > most] == []
    assert [line for line in lines(long_session(), most=most) if cells(line) > most] == []


def test_marks_stand_at_their_calls() -> None:
    rows = lines(long_session())
    assert rows[0].startswith("session alpha · claude-code · 12 calls · claude-sonnet-4-5 · 2026-01-01")
    assert rows[1].split() == [
        "turn",
        "chain",
        "time",
        "prompt",
        "read",
        "write",
        "fresh",
        "output",
        "hit",
        "cost",
        "note",
    ]
    by_turn = {row.split()[0]: row for row in rows[2:]}
    assert "✖ miss: expired" in by_turn["3"]
    assert "▲ compaction" in by_turn["6"]
    assert "✕ partial" in by_turn["6"]
    assert "side call" in by_turn["10"]
    assert "failed" in by_turn["11"]
    assert by_turn["0"].split()[2:] == ["10:00:00", "20.0k", "0", "20.0k", "10", "100", "0%", "$0.0765"]
    # 10 tokens at 3 USD and 19,990 written at 3.75 USD a million, 100 out at 15: 0.00003 + 0.0749625 + 0.0015


def test_unknown_figures_are_dashes_not_zeros() -> None:
    rows = lines([call(0, 1_000, None, key="k0"), call(1, None, None, fresh_tokens=None, output_tokens=None, key="k1")])
    assert rows[-1].split()[2:] == ["–"] * 7


def test_several_chains_and_models_get_columns() -> None:
    rows = lines(agent_session())
    assert "chain" in rows[1].split()
    assert any("agent 01234567" in row for row in rows)
    narrow = lines(agent_session(), most=64)
    assert any("agent" in row for row in narrow[2:]), "a subagent's call is told from one of main in any width"


def test_a_lower_bound_is_marked() -> None:
    rows = lines([call(0, 1_000, 0, key="k0", output_is_lower_bound=True)])
    assert "≥100" in rows[-1]


def test_copies_are_told() -> None:
    found, _, _ = loaded(long_session())
    copies = [call(n, 100, None, session="fork", key=f"msg_{n}", file="z.jsonl") for n in range(2)]
    told = table(found, turns(found), copies=copies, zone="UTC", most=100)
    assert told.splitlines()[-1] == "session fork: 2 inherited turns owned by another session"


def test_no_calls() -> None:
    assert table(Loaded(sessions=[], problems=[], files=[]), []) == "No calls."


def test_days_are_shown_where_there_are_several() -> None:
    rows = lines([call(0, 1_000, None, key="k0"), call(1, 1_100, None, key="k1", time=START + 86_400_000)])
    assert "01-01 10:00:00" in rows[2]
    assert "01-02 10:00:00" in rows[3]
