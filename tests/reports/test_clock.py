"""Times for people."""

from __future__ import annotations

import pytest

from monitor.reports.clock import Clock, utc_day
from monitor.reports.errors import ReportError
from monitor.reports.gather import by_day
from monitor.reports.shape import by_day as utc_days
from tests.factory import call, store
from tests.reports.stories import everything

NOON = 1_767_268_800_000  # 2026-01-01T12:00:00Z


def test_zones() -> None:
    assert Clock("UTC")(NOON) == "2026-01-01 12:00"
    assert Clock("Asia/Kolkata")(NOON) == "2026-01-01 17:30"
    assert Clock("+05:30")(NOON) == "2026-01-01 17:30"
    assert Clock("-8")(NOON) == "2026-01-01 04:00"
    assert Clock("Asia/Kolkata").iso(NOON) == "2026-01-01T17:30:00+05:30"
    assert Clock("Pacific/Kiritimati").day(NOON) == "2026-01-02"  # 14 hours ahead


@pytest.mark.parametrize("name", ["Mars/Base", "", "../etc/passwd", "Europe", "+99:00", "a\x00b", "/etc/localtime"])
def test_no_such_zone_is_one_sentence(name: str) -> None:
    with pytest.raises(ReportError) as told:
        Clock(name)
    assert "there is no such time zone" in str(told.value)
    assert "\n" not in str(told.value)


def test_times_beyond_the_calendar_are_unknown() -> None:
    for far in (10**18, -(10**18), 253_402_300_799_999):
        assert Clock("Asia/Kolkata")(far) in ("–", "9999-12-31 23:59")
    assert Clock("UTC")(None) == "–"
    assert Clock("UTC").iso(None) == ""
    assert utc_day(10**9) is None
    assert utc_day(0) == "1970-01-01"


def test_a_period_says_the_day_once() -> None:
    clock = Clock("UTC")
    assert clock.period(NOON, NOON + 3_600_000) == "2026-01-01 12:00 to 13:00"
    assert clock.period(NOON, NOON + 86_400_000) == "2026-01-01 12:00 to 2026-01-02 12:00"
    assert clock.period(None, NOON) == ""


def test_days_of_a_zone_sum_up_the_same_calls() -> None:
    """An hour from UTC all figures must be those of the session layer's own buckets, as no call is near midnight."""
    found, _, _ = everything()
    assert by_day(found.sessions, Clock("UTC")) == utc_days(found.sessions)
    (want,), (have,) = utc_days(found.sessions), by_day(found.sessions, Clock("+01:00"))
    assert have.pop("cost_usd") == pytest.approx(want.pop("cost_usd"))  # added up in another order
    assert have == want
    late = by_day(found.sessions, Clock("+12:30"))  # 10:00 to 11:29 UTC is still the 1st, from 11:30 it is the 2nd
    assert [row["date"] for row in late] == ["2026-01-01", "2026-01-02"]
    assert sum(row["calls"] for row in late) == sum(row["calls"] for row in utc_days(found.sessions))


def test_what_a_failed_call_cost_is_in_the_days_of_every_zone() -> None:
    failed = call(1, None, cost_usd=0.01, status="error", fresh_tokens=None, output_tokens=None)
    views = store([call(0, 1_000, 0, cost_usd=0.02), failed]).views()
    for zone in ("UTC", "+01:00"):
        (day,) = by_day(views, Clock(zone))
        assert (day["calls"], day["error_calls"]) == (1, 1)
        assert day["cost_usd"] == pytest.approx(0.03)
