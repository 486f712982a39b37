"""Rows for ``ctxmon prices``: the shape of the contract."""

from __future__ import annotations

import json

import pytest

from monitor.pricing import PriceTable
from monitor.pricing.listing import rows

TABLE = PriceTable.load()
KEYS = [
    "model",
    "provider",
    "valid_from",
    "input",
    "output",
    "cache_read",
    "cache_write_5m",
    "cache_write_1h",
    "tiers",
    "modes",
    "window",
    "max_output",
    "source",
]


def test_a_row_has_the_fields_of_the_contract() -> None:
    got = rows(TABLE, "claude-sonnet-4-5")
    assert [list(r) for r in got] == [KEYS] * len(got)
    first = next(r for r in got if r["provider"] == "anthropic")
    assert (first["input"], first["output"], first["cache_write_1h"], first["window"]) == (3, 15, 6, 200_000)
    assert first["tiers"] == [
        {
            "above": 200_000,
            "input": 6.0,
            "output": 22.5,
            "cache_read": 0.6,
            "cache_write_5m": 7.5,
            "cache_write_1h": 12.0,
        }
    ]


def test_all_rows_are_json() -> None:
    assert json.loads(json.dumps(rows(TABLE))) == rows(TABLE)
    assert len(rows(TABLE)) > 400


@pytest.mark.parametrize(
    ("glob", "models"),
    [
        ("gemini-4-argon", {"gemini-4-argon"}),
        ("GEMINI-4-*", {"gemini-4-argon", "gemini-4-hydrogen"}),
        ("anthropic/claude-opus-5*", {"claude-opus-5", "claude-opus-5-5"}),
        ("claude-sonnet-4-5-20250929", {"claude-sonnet-4-5"}),
        ("claude-mystery-9", set()),
        ("nothing-like-*", set()),
    ],
)
def test_globs(glob: str, models: set[str]) -> None:
    assert {r["model"] for r in rows(TABLE, glob)} == models


def test_history_is_listed_period_by_period() -> None:
    got = [(r["valid_from"], r["input"]) for r in rows(TABLE, "google/gemini-4-argon")]
    assert got == [(None, 2.0), ("2026-12-01", 4.0)]
