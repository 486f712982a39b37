"""Markdown for pull requests: whole tables, and names from logs that mean nothing to Markdown."""

from __future__ import annotations

import re

from monitor.reports.markdown import plain, table, text
from monitor.sessions.view import Loaded
from tests.factory import START
from tests.reports.stories import everything, loaded, long_session, totals_session


def tables(page: str) -> list[list[list[str]]]:
    """Every table as rows of cells; a pipe in a cell must have been escaped."""
    found, rows = [], []
    for line in [*page.splitlines(), ""]:
        if line.startswith("|"):
            rows.append([cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
        elif rows:
            found.append(rows)
            rows = []
    return found


def test_every_table_is_whole() -> None:
    for page in (text(*everything(), zone="UTC"), text(*loaded(long_session()), zone="UTC")):
        for rows in tables(page):
            head, rule, *body = rows
            assert body
            assert all(re.fullmatch(r":--|--:", cell) for cell in rule)
            assert {len(row) for row in rows} == {len(head)}


def test_figures_of_the_list() -> None:
    totals, sessions, *_ = tables(text(*everything(), zone="UTC"))
    line = dict(zip(sessions[0], next(row for row in sessions if row[0] == "alpha")))
    assert line["turns"] == "10+1"
    assert line["context now"] == "18.1k of 167k? (11%)"
    assert line["peak"] == "70.0k"
    assert line["misses"] == "2"
    assert line["compactions"] == "1"
    sums = next(row for row in sessions if row[0] == "sums")
    assert "totals only" in sums
    assert "sum 9.0k" in sums
    assert totals[0][0] == "prompt"


def test_names_mean_nothing_to_markdown() -> None:
    page = text(*everything(), zone="UTC")
    assert not re.search(r"(?<!\\)<img", page)
    assert "\x1b" not in page
    assert "\ud800" not in page
    assert plain("[x](http://a.b) @team <b> `c` *d* |") == (
        "\\[x\\](http&#58;//a.b) &#64;team \\<b\\> \\`c\\` \\*d\\* \\|"
    )
    assert table(["a"], [["x|y"], [None]]).splitlines()[2:] == ["| x\\|y |", "| – |"]


def test_one_session_with_its_decision() -> None:
    found, decisions, now = loaded(long_session())
    page = text(found, decisions, now, zone="UTC")
    assert f"(rule `{decisions['alpha'].rule}`, confidence {decisions['alpha'].confidence})" in page
    assert "**Windows**" in page
    assert "70.0k → 15.0k" in page


def test_sums_only_and_nothing() -> None:
    assert "totals per session only" in text(*loaded(totals_session()), zone="UTC")
    assert "No session" in text(Loaded(sessions=[], problems=[], files=[]), {}, START, zone="UTC")
