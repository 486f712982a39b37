"""The text of a tally: marks come through the merge of two buckets."""

from __future__ import annotations

from pathlib import Path

from monitor.pricing import PriceTable
from monitor.reports.fleet_report import ReportTally
from monitor.reports.fleet_text import text
from tests.factory import START, call, view
from tests.reports.stories import HOUR
from tests.reports.test_report_text import row


def test_estimates_stay_marked_when_buckets_are_merged(tmp_path: Path) -> None:
    prices = PriceTable.load(None)
    guess = [call(n, 1_000 * (n + 1), None, session="guess", time=START + n, status="estimated", output_tokens=0)
             for n in range(2)]  # fmt: skip
    sure = [call(n, 2_000 * (n + 1), None, session="sure", time=START + 24 * HOUR + n, model="claude-haiku-4-5",
                 output_tokens=0) for n in range(2)]  # fmt: skip
    tallies = []
    for bucket, records in enumerate((sure, guess)):
        tally = ReportTally(str(tmp_path), bucket, now=START, prices=prices, form="text")
        tally.add(view([*records], prices))
        tally.close()
        tallies.append(tally)
    tallies[0].merge(tallies[1])
    page = text(tallies[0], (), 4, most=160)
    # 3,000 tokens at $3 and 6,000 at $1 a million: $0.009 + $0.006
    assert page.splitlines()[3].split()[-1] == "~$0.0150"
    assert "~$0.0090" in row(page, "guess")
    assert "~" not in row(page, "sure")
    assert row(page, "2026-01-01").split()[-1] == "~$0.0090"
    assert row(page, "2026-01-02").split()[-1] == "$0.0060"
    assert row(page, "claude-sonnet-4-5").split()[-1] == "~$0.0090"
