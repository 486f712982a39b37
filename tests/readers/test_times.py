"""Times as logs write them."""

from __future__ import annotations

from typing import Any

import pytest

from monitor.readers.times import iso, iso_ms, span_ms, to_ms

MS = 1_775_808_000_250  # 2026-04-10T08:00:00.250Z


@pytest.mark.parametrize(
    "text",
    [
        "2026-04-10T08:00:00.250Z",
        "2026-04-10T10:00:00.250+02:00",
        "2026-04-10 08:00:00.250",
        "2026-04-10T08:00:00.250999Z",
        "2026-04-10T08:00:00.250000000Z",
        "2026-04-10T08:00:00.25Z",
    ],
)
def test_iso(text: str) -> None:
    assert iso_ms(text) == MS


@pytest.mark.parametrize(
    "value",
    [1_775_808_000.25, "1775808000.25", MS, str(MS), MS * 1000, MS * 1_000_000, str(MS * 1_000_000)],
)
def test_the_size_of_a_number_tells_its_unit(value: object) -> None:
    assert to_ms(value) == MS


def test_a_given_unit_wins() -> None:
    assert to_ms(5, "s") == 5_000
    assert to_ms(5, "ms") == 5


@pytest.mark.parametrize(
    "value", [None, True, "", "yesterday", "2026-13-40T00:00:00.000Z", float("nan"), [], "[trimmed]"]
)
def test_no_time_is_none(value: object) -> None:
    assert to_ms(value) is None


def test_iso_text_of_milliseconds() -> None:
    assert iso(MS) == "2026-04-10T08:00:00.250Z"
    assert iso(None) is None
    assert iso(10**18) is None


@pytest.mark.parametrize(
    ("value", "factor", "expected"),
    [
        (4, 1000, 4000),
        (1234.6, 1, 1235),
        (0, 1, 0),
        (-1, 1, None),
        (float("inf"), 1, None),
        (float("nan"), 1, None),
        (1e308, 1000, None),
        (9e11, 1000, None),  # too long after the factor only
        (True, 1, None),
        ("4", 1, None),
        (None, 1, None),
    ],
)
def test_lengths_of_time(value: Any, factor: float, expected: int | None) -> None:
    assert span_ms(value, factor) == expected


@pytest.mark.parametrize("text", ["²", "1²", "9" * 5_000, "--5", "٣"])
def test_what_only_looks_like_a_number_is_no_failure(text):
    assert to_ms(text) in (None, 3_000)  # other scripts have digits, too
