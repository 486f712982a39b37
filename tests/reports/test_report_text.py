"""The report for eyes: nothing wider than the terminal, honest marks, one session in full, times in a zone."""

from __future__ import annotations

import re

import pytest

from monitor.records import Problem
from monitor.reports.errors import ReportError
from monitor.reports.html import page as html_page
from monitor.reports.markdown import text as markdown_text
from monitor.reports.report_text import text
from monitor.reports.text import cells
from monitor.sessions.filter import Wanted, narrow
from monitor.sessions.view import Loaded
from tests.factory import START, call
from tests.reports.stories import (
    EVIL,
    HOUR,
    agent_session,
    everything,
    evil_session,
    loaded,
    long_session,
    totals_session,
)

WIDTHS = (40, 60, 80, 100, 120, 160)


class Terminal:
    def isatty(self) -> bool:
        return True


def row(report: str, begin: str) -> str:
    """The line that begins with a word."""
    return next(line for line in report.splitlines() if line.strip().startswith(begin))


@pytest.mark.parametrize("most", WIDTHS)
def test_no_line_is_wider_than_the_terminal(most: int) -> None:
    stories = [(long_session(),), (evil_session(),), (totals_session(),), (agent_session(),)]
    pages = [text(*everything(), zone="UTC", most=most)]
    pages += [text(*loaded(*batches), zone="UTC", most=most) for batches in stories]
    for page in pages:
        wide = [line for line in page.splitlines() if cells(line) > most]
        assert wide == []


def test_columns_that_matter_stay_in_narrow_terminals() -> None:
    found, decisions, now = everything()
    narrow_, wide = (text(found, decisions, now, zone="UTC", most=most) for most in (60, 160))
    assert "advice" in narrow_
    assert "18.1k/167k?" in row(narrow_, "alpha")
    assert "source" not in narrow_
    head = row(wide, "session")
    assert head.split() == ["session", "last", "source", "project", "turns", "now/limit", "full", "peak", "hit", "misses",
                            "compactions", "cost", "advice"]  # fmt: skip


def test_figures_of_the_list() -> None:
    line = row(text(*everything(), zone="UTC", most=160), "alpha")
    # 10 turns and 1 side call; 18,000 + 100 of 167,000 is 10.8 %; two misses; one compaction
    assert line.split()[:2] == ["alpha", "01-01"]
    assert "10+1" in line
    assert "18.1k/167k?" in line
    assert "11%" in line
    assert "70.0k" in line
    assert " 2  " in line
    # reads of 160,000 and 53,000 in prompts of 270,000 and 66,000: 213 / 336, as in the dashboard's list
    assert " 63% " in line


def test_sums_only_sessions_are_told_honestly() -> None:
    line = row(text(*everything(), zone="UTC", most=160), "sums")
    assert "totals only" in line
    assert "sum 9.0k" in line
    assert "0%" not in line
    alone = text(*loaded(totals_session()), zone="UTC", most=80)
    assert "no curve and no advice" in " ".join(alone.split())
    assert "Decision" not in alone


def test_notes_explain_every_mark() -> None:
    page = " ".join(text(*everything(), zone="UTC", most=100).split())
    assert "? limit: by the client's own rule" in page
    assert "≥ output:" in page
    assert "2 turns without a known price" in page
    assert "+1 side call" in page
    assert "1 request failed" in page
    assert "1 problem while reading" in page


def test_inferred_compactions_are_marked() -> None:
    sizes = [20_000, 30_000, 40_000, 50_000, 12_000, 13_000, 14_000]
    records = [call(n, size, None, session="fall", key=f"f{n}") for n, size in enumerate(sizes)]
    page = text(*loaded(records), zone="UTC", most=120)
    assert "1 compaction (~1 inferred)" in page
    assert "inferred" in row(page, "01-01 10:00  ")
    assert "50.0k → 12.0k" in page


def test_one_session_is_shown_in_full() -> None:
    page = text(*loaded(long_session()), zone="UTC", most=100)
    assert "10 turns · 3 exchanges · 1 side call · 1 failed · 2 windows · 1 compaction" in page
    assert "Decision" in page
    assert "rule " in page
    assert "next: " in page
    windows = page[page.index("Windows") :].splitlines()
    assert "20.0k  70.0k  70.0k  compaction, auto" in windows[2]
    assert "15.0k  18.0k  18.0k  open" in windows[3]
    assert "none yet: it takes 8 turns since the last reset" in page  # 3 deltas since the compaction


def test_forecast_of_steady_growth() -> None:
    records = [call(n, 20_000 + 1_000 * n, None, session="up", key=f"u{n}") for n in range(12)]
    page = text(*loaded(records), zone="UTC", most=100)
    # used 31,100 of 167,000 at 1,000 a turn: 135.9 turns left, told as 0.32, 0.98 and 3.2 times that
    assert "about 133 (44–435) turns to the limit" in page  # 43.5, 133.2 and 434.9
    assert "growth 1.0k a turn" in page


def test_subagents_have_their_own_lines() -> None:
    page = text(*loaded(agent_session()), zone="UTC", most=100)
    assert "5 turns · 1 subagent" in page
    chains = page[page.index("Chains") :]
    assert "agent 01234567" in chains
    line = next(line for line in chains.splitlines() if "agent" in line)
    assert line.split()[2:6] == ["3", "5.0k", "5.0k", "1"]


def test_names_cannot_steer_the_terminal() -> None:
    page = text(*everything(), zone="UTC", most=200)
    assert "\x1b" not in page
    assert "\ud800" not in page
    assert EVIL[:8] in page


def test_colour_and_no_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    found, decisions, now = everything()
    assert "\x1b[" in text(found, decisions, now, out=Terminal(), zone="UTC", most=100)
    monkeypatch.setenv("NO_COLOR", "1")
    plain = text(found, decisions, now, out=Terminal(), zone="UTC", most=100)
    assert "\x1b[" not in plain
    assert plain == text(found, decisions, now, zone="UTC", most=100)


def test_colours_do_not_move_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    for page in (
        text(*everything(), out=Terminal(), zone="UTC", most=80),
        text(*loaded(long_session()), out=Terminal(), most=80),
    ):
        assert all(cells(line) <= 80 for line in page.splitlines())


def test_times_and_days_in_a_zone() -> None:
    # 23:30 UTC on the 1st is half past midnight of the 2nd in Berlin
    records = [call(0, 1_000, None, key="z0", time=START), call(1, 2_000, None, key="z1", time=START + 48_600_000)]
    found, decisions, now = loaded(records)
    utc = text(found, decisions, now, zone="UTC", most=100)
    berlin = text(found, decisions, now, zone="Europe/Berlin", most=100)
    assert "2026-01-01 10:00 to 23:30 UTC" in utc
    assert "2026-01-01 11:00 to 2026-01-02 00:30 Europe/Berlin" in berlin
    assert "By day" not in utc
    days = berlin[berlin.index("By day (Europe/Berlin)") :].splitlines()
    assert [line.split()[:3] for line in days[2:4]] == [["2026-01-01", "1", "1.0k"], ["2026-01-02", "1", "2.0k"]]


def test_a_zone_that_is_not_there() -> None:
    with pytest.raises(ReportError, match="Mars/Base"):
        text(*everything(), zone="Mars/Base")


def test_nothing_found_says_how_to_go_on() -> None:
    page = text(Loaded(sessions=[], problems=[Problem("x", None, "gone")], files=[]), {}, START, zone="UTC", most=60)
    assert "ctxmon doctor" in page
    assert all(cells(line) <= 60 for line in page.splitlines())


def test_a_narrowed_report_shows_only_what_was_asked_for() -> None:
    found, decisions, now = everything()
    early = narrow(found.sessions, Wanted(until=START + 25_000, session="alpha"))
    page = text(Loaded(sessions=early, problems=[], files=[]), decisions, now, zone="UTC", most=100)
    assert "Compactions" not in page
    assert "3 turns" in page


def test_sums_that_rest_on_estimates_are_marked_wherever_they_stand() -> None:
    """Two sessions on two days: an answer of an estimated size on the first, none on the second."""
    day = 24 * HOUR
    guess = [call(n, 1_000 * (n + 1), None, session="guess", key=f"g{n}", time=START + n, status="estimated",
                  output_tokens=0) for n in range(2)]  # fmt: skip
    sure = [call(n, 2_000 * (n + 1), None, session="sure", key=f"s{n}", file="b.jsonl", time=START + day + n,
                 model="claude-haiku-4-5", output_tokens=0) for n in range(2)]  # fmt: skip
    found, decisions, now = loaded(guess, sure)
    page = text(found, decisions, now, zone="UTC", most=160)
    total = page.splitlines()[3]
    # 3,000 tokens at $3 and 6,000 at $1 a million: $0.009 + $0.006
    assert total.split()[-1] == "~$0.0150"
    assert row(page, "2026-01-01").split()[-1] == "~$0.0090"
    assert row(page, "2026-01-02").split()[-1] == "$0.0060"
    assert row(page, "claude-sonnet-4-5").split()[-1] == "~$0.0090"
    assert row(page, "claude-haiku-4-5").split()[-1] == "$0.0060"
    assert "~$0.0090" in row(page, "guess")
    html = html_page(found, decisions, now, zone="UTC")
    for day_, cost in (("2026-01-01", "~$0.0090"), ("2026-01-02", "$0.0060")):
        assert f">{cost}<" in html[html.index('id="days"') :].partition(day_)[2].partition("</tr>")[0]
    marked = markdown_text(found, decisions, now, zone="UTC").partition("**By day")[2].splitlines()
    assert [line.split("|")[-2].strip() for line in marked if line.startswith("| 2026")] == ["\\~$0.0090", "$0.0060"]


def test_a_side_call_of_estimated_size_marks_no_sum() -> None:
    found, decisions, now = loaded(
        [
            call(0, 1_000, None, output_tokens=0),
            call(1, 50, None, chain="side", purpose="side", status="estimated"),
            call(2, 2_000, None, output_tokens=0),
        ]
    )
    page = text(found, decisions, now, zone="UTC", most=160)
    assert "$0.0090" in page
    assert "~$0.0090" not in page


@pytest.mark.parametrize(
    ("facts", "size"), [({"status": "estimated"}, "~2.1k"), ({"output_is_lower_bound": True}, "≥2.1k"), ({}, "2.1k")]
)
def test_the_size_of_a_context_is_marked_as_its_last_call(facts: dict[str, object], size: str) -> None:
    """A prompt of 2,000 tokens and an answer of 100, in the list and in the session's own page of each format."""
    for others in ([], [[call(0, 500, None, session="other", key="o", file="b.jsonl")]]):
        found, decisions, now = loaded([call(0, 1_000, None), call(1, 2_000, None, **facts)], *others)
        shown = text(found, decisions, now, zone="UTC", most=160)
        assert re.search(rf"(?<![~≥]){re.escape(size)}( of |/)", shown)
        marked = markdown_text(found, decisions, now, zone="UTC")
        assert f" {size} of ".replace("~", "\\~") in marked
        assert f">{size} of " in html_page(found, decisions, now, zone="UTC")
