"""Filter and order of the sessions."""

from __future__ import annotations

import msgspec

from monitor.dashboard.model.session_list import COLUMNS, SessionList, find_session
from monitor.dashboard.model.tables import place, row_line
from monitor.dashboard.model.text import plain
from monitor.sessions.view import Sums
from tests.dashboard import fake


def session(name: str, **fields: object) -> object:
    return fake.view([fake.turn(0, 9_000, 0, 0)], **{"session": name, "project": name, **fields})


A = session("api", fill=0.5, sums=Sums(calls=10, cost_usd=2.0))
B = session("docs", fill=0.9, sums=Sums(calls=30, cost_usd=None), source="codex")
C = session("web", fill=None, sums=Sums(calls=20, cost_usd=5.0), models=("gpt-6",))


def listed(**options: object) -> list[str]:
    rows = SessionList()
    rows.update((A, B, C), {}, 0, **options)  # type: ignore[arg-type]
    return [view.session for view in rows.views]


def test_orders_put_unknown_last() -> None:
    assert listed() == ["api", "docs", "web"]
    assert listed(sort="fill") == ["docs", "api", "web"]
    assert listed(sort="cost") == ["web", "api", "docs"]
    assert listed(sort="turns") == ["docs", "web", "api"]


def test_the_filter_looks_at_name_id_source_and_model() -> None:
    assert listed(text="API") == ["api"]
    assert listed(text="codex") == ["docs"]
    assert listed(text="gpt web") == ["web"]
    assert listed(text="gpt api") == []


def test_a_row_shows_marks_and_unknown() -> None:
    rows = SessionList()
    unpriced = msgspec.structs.replace(A, sums=Sums(calls=10, cost_usd=2.0, unpriced_calls=3))
    rows.update((unpriced, C), {"api": fake.decision("api")}, (A.last or 0) + 1_000)
    placed = place(COLUMNS, 120)
    first, second = (plain(row_line(placed, rows.row(i))) for i in range(2))
    assert "●" in first and "50%" in first and "≥$2.00" in first and "soon" in first and "now" in first
    assert "–" in second


def cost_of(**sums: object) -> str:
    rows = SessionList()
    rows.update((fake.view([fake.turn(0, 9_000)], sums=Sums(calls=1, cost_usd=2.0, **sums)),), {}, 0)  # type: ignore[arg-type]
    return plain(row_line(place(COLUMNS, 120), rows.row(0)))


def test_a_cost_is_marked_as_in_every_report() -> None:
    assert " $2.00" in cost_of()
    assert "~$2.00" in cost_of(cost_is_estimate=True)
    assert "≥$2.00" in cost_of(cost_is_estimate=True, output_is_lower_bound=True)


def test_an_estimated_size_says_so() -> None:
    rows = SessionList()
    rows.update((fake.view([fake.turn(0, 9_000, status="estimated")]),), {}, 0)
    assert "~9.0k" in plain(row_line(place(COLUMNS, 120), rows.row(0)))


def test_a_session_is_found_by_the_beginning_of_its_id() -> None:
    first, second = session("abc-1"), session("abc-2")
    views = (first, second)
    assert find_session(views, "abc-2") is second
    assert find_session(views, "abc") is None
    assert find_session(views, "abc-1") is first
    assert find_session(views, "") is None


def test_rows_are_found_again() -> None:
    rows = SessionList()
    rows.update((A, B, C), {}, 0, "docs")
    assert rows.find("docs") == 0 and rows.find("api") is None and rows.all == 3


def test_sessions_of_one_folder_are_told_apart() -> None:
    rows = SessionList()
    first, second, other = (session(f"abc-def{i}", project=name) for i, name in enumerate(("shop", "shop", "docs")))
    rows.update((first, second, other), {}, 0)
    assert [rows.row(i).name for i in range(3)] == ["shop def0", "shop def1", "docs"]
