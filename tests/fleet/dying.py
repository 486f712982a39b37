"""A tally whose process dies in the middle of its first bucket. Imported by the workers of a test."""

from __future__ import annotations

import os
from pathlib import Path

from monitor.reports.fleet_report import ReportTally, Start
from monitor.sessions.view import SessionView


class Dying(ReportTally):
    """Ends its process once, at the third session of a bucket."""

    mark: Path

    def add(self, view: SessionView) -> None:
        super().add(view)
        if self.sessions == 3:
            try:
                self.mark.touch(exist_ok=False)
            except FileExistsError:
                return
            os._exit(9)


class DyingStart(Start, frozen=True):
    """Makes such tallies. ``mark``: a file that is not there yet; it tells that one process has died."""

    mark: str = ""

    def __call__(self, folder: str, bucket: int) -> Dying:
        tally = Dying(folder, bucket, now=self.now, prices=self.prices, form=self.form)
        tally.mark = Path(self.mark)
        return tally
