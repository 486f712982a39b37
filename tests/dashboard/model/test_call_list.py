"""Tables of turns and events."""

from __future__ import annotations

from datetime import UTC

from monitor.dashboard.model.call_list import EventList, TurnList
from monitor.dashboard.model.tables import place, row_line
from monitor.dashboard.model.text import plain
from monitor.sessions.view import CompactionCost
from tests.dashboard.fake import event, turn, view

TURNS = [
    turn(0, 10_000, 0, 9_000, cache_outcome="first", cost_usd=0.10),
    turn(1, 30_000, 10_000, 19_000, cost_usd=0.30),
    turn(2, 4_000, 0, 0, chain="agent:a1", cost_usd=None),
    turn(3, 12_000, 0, 11_000, cache_outcome="miss", cache_miss_cause="expired", cost_usd=0.20),
    turn(4, None, status="error", cost_usd=None),
    turn(5, 13_000, 12_000, 500, cost_usd=0.05),
]
EVENTS = (event("compaction", 3, tokens_before=30_000, tokens_after=12_000), event("model_switch", 5))


def rows_of(**options: object) -> list[int]:
    rows = TurnList(UTC)
    rows.update(view(TURNS, EVENTS), **options)  # type: ignore[arg-type]
    return [rows.row(i).index for i in range(len(rows))]


def test_newest_first_and_orders() -> None:
    assert rows_of() == [5, 4, 3, 2, 1, 0]
    assert rows_of(sort="prompt") == [1, 5, 3, 0, 2, 4]
    assert rows_of(sort="cost") == [1, 3, 0, 5, 4, 2]


def test_choices() -> None:
    assert rows_of(only="misses") == [3]
    assert rows_of(only="errors") == [4]
    assert rows_of(only="resets") == [3]
    assert rows_of(only="chain", chain="agent:a1") == [2]
    assert rows_of(only="chain", chain="main") == [5, 4, 3, 1, 0]


def test_rows_are_found_by_index() -> None:
    rows = TurnList(UTC)
    rows.update(view(TURNS, EVENTS))
    assert [rows.find(i) for i in (0, 5, 9)] == [5, 0, None]
    rows.update(view(TURNS, EVENTS), only="misses")
    assert rows.find(3) == 0 and rows.find(1) is None


def test_a_row_tells_figures_and_what_happened() -> None:
    rows = TurnList(UTC)
    rows.update(view(TURNS, EVENTS))
    placed = place(rows.columns, 130)
    shown = [plain(row_line(placed, rows.row(i))) for i in range(6)]
    assert "#5" in shown[0] and "20:28:20" in shown[0] and "12k" in shown[0] and "92%" in shown[0]
    assert "◆ model switch" in shown[0]
    assert "! failed" in shown[1] and "–" in shown[1]
    assert "▲ compaction" in shown[2]
    assert "a1" in shown[3]


def test_a_miss_without_event_names_its_cause() -> None:
    rows = TurnList(UTC)
    rows.update(view(TURNS))
    shown = plain(row_line(place(rows.columns, 130), rows.row(2)))
    assert "✖ miss: expired" in shown
    bound = view([turn(0, 10_000, 9_000, 900, output_is_lower_bound=True, cache_outcome="partial",
                       cache_miss_cause="model_switch")])  # fmt: skip
    rows.update(bound)
    shown = plain(row_line(place(rows.columns, 130), rows.row(0)))
    assert "≥600" in shown and "≥$0.080" in shown and "✕ partial: model switch" in shown


def test_nothing_is_formatted_for_rows_that_are_not_asked_for() -> None:
    rows = TurnList(UTC)
    many = view([turn(0, 10_000, 0, 0)] * 1_000)
    rows.update(many)
    assert len(rows) == 1_000 and rows._order is None


def test_events_with_their_costs() -> None:
    happened = EVENTS[0]
    cost = CompactionCost(
        event=happened, summary_call_tokens=None, summary_call_usd=None, summary_call_estimated=False,
        rewrite_tokens=11_000, rewrite_usd=0.07, saved_tokens=90_000, saved_usd=0.4, break_even_call=3, calls_after=2,
        verdict="paid back",
    )  # fmt: skip
    rows = EventList(UTC)
    rows.update(view(TURNS, EVENTS, compaction_costs=(cost,)))
    placed = place(rows.columns, 110)
    newest, oldest = (plain(row_line(placed, rows.row(i))) for i in range(2))
    assert "◆ model switch" in newest
    for part in ("#3", "▲ compaction", "30k→12k", "recorded", "$0.070", "$0.40", "paid back"):
        assert part in oldest, part
