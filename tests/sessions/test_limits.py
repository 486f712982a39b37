"""Context limits and usable limits, by the rules of contract.md."""

from __future__ import annotations

import pytest

from monitor.pricing import PriceTable
from monitor.sessions import limits
from monitor.sessions.limits import Overrides, context_limit, usable_limit


@pytest.mark.parametrize(
    ("source", "window", "how", "output", "want"),
    [
        ("claude-code", 200_000, "table", 64_000, 167_000),
        ("claude-code", 1_000_000, "observed", 64_000, 967_000),
        ("claude-code", 200_000, "table", 8_000, 179_000),
        ("codex", 258_400, "logged", None, 244_800),  # 258,400 is 95 % of 272,000
        ("pi", 200_000, "table", None, 183_616),
        ("gemini-cli", 1_048_576, "table", None, 524_288),
        ("cline", 200_000, "table", None, 180_000),
        ("har", 100_000, "user", None, 90_000),
        ("har", None, None, None, None),
    ],
)  # fmt: skip
def test_usable_limit(source: str, window: int | None, how: str | None, output: int | None, want: int | None) -> None:
    assert usable_limit(source, window, how, output) == want  # type: ignore[arg-type]


def limit(
    peak: int | None = None, logged: int | None = None, rules: dict[str, int] | None = None
) -> tuple[int | None, str | None]:
    return context_limit(source="claude-code", model="claude-sonnet-4-5", provider="anthropic", when=None, peak=peak,
                         logged=logged, prices=PriceTable.load(), overrides=Overrides(rules))  # fmt: skip


def test_context_limit_and_how_it_is_known() -> None:
    assert limit() == (200_000, "table")
    assert limit(peak=212_959) == (1_000_000, "observed")
    assert limit(logged=128_000) == (128_000, "logged")
    assert limit(logged=128_000, rules={"*": 64_000}) == (64_000, "user")
    assert limit(rules={"claude-*": 500_000, "*": 64_000}) == (500_000, "user")
    assert limit(rules={"gpt-*": 1}) == (200_000, "table")


def test_unknown_model_has_no_limit() -> None:
    found = context_limit(source="har", model="mystery", provider=None, when=None, peak=5, logged=None,
                          prices=PriceTable.load(), overrides=Overrides())  # fmt: skip
    assert found == (None, None)


def test_cache_life() -> None:
    assert limits.cache_life("anthropic", "claude-sonnet-4-5") == 300
    assert limits.cache_life("openai", "gpt-5.6") == 1_800
    assert limits.cache_life(None, "gpt-4o") == 600
