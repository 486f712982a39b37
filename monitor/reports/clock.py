"""Times for people, in one zone. Times of the program itself are UTC; only what people read is moved."""

from __future__ import annotations

import datetime as dt
import re
import time

from monitor.reports.errors import ReportError
from monitor.reports.text import UNKNOWN

_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_DAY_MS = 86_400_000


class Clock:
    """Times in one zone.

    Args:
        zone: name of a time zone (``Europe/Berlin``, ``UTC``); None: the machine's own.

    Raises:
        ReportError: there is no such zone.
    """

    def __init__(self, zone: str | None = None) -> None:
        self.zone: dt.tzinfo | None = None
        self.asked = None if zone is None or zone.lower() == "local" else zone
        if self.asked is not None:
            self.zone = _zone(self.asked)

    def at(self, ms: int | None) -> dt.datetime | None:
        """Milliseconds since the epoch as a moment in this zone; None if unknown or beyond the calendar."""
        if ms is None:
            return None
        try:
            return (_EPOCH + dt.timedelta(milliseconds=ms)).astimezone(self.zone)
        except (OverflowError, ValueError, OSError):
            return None

    def __call__(self, ms: int | None, form: str = "%Y-%m-%d %H:%M") -> str:
        moment = self.at(ms)
        return UNKNOWN if moment is None else moment.strftime(form)

    def iso(self, ms: int | None) -> str:
        """``2026-11-30T15:24:09+01:00``, for machines that read a page made for people; empty if unknown."""
        moment = self.at(ms)
        return "" if moment is None else moment.isoformat(timespec="seconds")

    def day(self, ms: int | None) -> str | None:
        """The calendar day here, ``2026-11-30``."""
        moment = self.at(ms)
        return None if moment is None else moment.date().isoformat()

    def period(self, first: int | None, last: int | None) -> str:
        """``2026-11-30 14:50 to 15:24``: the day is not said twice; empty if unknown."""
        begin, end = self.at(first), self.at(last)
        if begin is None or end is None:
            return ""
        form = "%H:%M" if begin.date() == end.date() else "%Y-%m-%d %H:%M"
        return f"{begin.strftime('%Y-%m-%d %H:%M')} to {end.strftime(form)}"

    def name(self, ms: int | None) -> str:
        """The zone as people know it: the name asked for, else the machine's abbreviation at that time."""
        moment = self.at(ms)
        return self.asked or (moment.tzname() if moment is not None else None) or "local time"

    @property
    def utc(self) -> bool:
        """Whether days here are always days in UTC."""
        return self.zone is dt.UTC or (self.zone is None and not time.timezone and not time.daylight)


def _zone(name: str) -> dt.tzinfo:
    if name.upper() in ("UTC", "Z", "GMT"):
        return dt.UTC  # known even where no zone data is installed
    offset = re.fullmatch(r"([+-])(\d\d?):?(\d\d)?", name)
    if offset is not None:
        minutes = int(offset[2]) * 60 + int(offset[3] or 0)
        if minutes < 24 * 60:
            return dt.timezone(dt.timedelta(minutes=minutes if offset[1] == "+" else -minutes))
    import zoneinfo

    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ReportError(f"--tz {name}: there is no such time zone here (e.g. Europe/Berlin, +02:00, UTC)") from error


def utc_day(day: int | None) -> str | None:
    """Days since the epoch as an ISO date; None if unknown or beyond the calendar."""
    moment = Clock("UTC").at(None if day is None else day * _DAY_MS)
    return None if moment is None else moment.date().isoformat()
