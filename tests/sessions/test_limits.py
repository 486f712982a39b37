"""Context limits and usable limits, by the rules of contract.md."""

from __future__ import annotations

import pytest

from monitor.pricing import PriceTable
from monitor.sessions import limits
from monitor.sessions.limits import Overrides, context_limit, usable_limit
from tests.factory import call, event, view


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
        # smaller than what the client holds back: its rule says nothing about such a window
        ("claude-code", 33_000, "user", 64_000, 29_700),
        ("claude-code", 33_001, "user", 64_000, 1),
        ("pi", 16_000, "user", None, 14_400),
        ("opencode", 40_000, "user", 32_000, 36_000),
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
    # OpenAI: five to ten minutes of idleness. A miss after five may be one that expired; after ten the cache is cold
    assert limits.cache_life(None, "gpt-4o") == 300
    assert [limits.cache_gone(*who) for who in ((None, "gpt-4o"), ("azure", "x"), ("openai", "gpt-5.6"))] == [
        600, 600, 1_800]  # fmt: skip
    assert limits.cache_gone("anthropic", "claude-sonnet-4-5") == 300


def claude_code(model: str, peak: int | None = None, auto_at: int | None = None) -> tuple[int | None, str | None]:
    return context_limit(source="claude-code", model=model, provider="anthropic", when=None, peak=peak, logged=None,
                         prices=PriceTable.load(), overrides=Overrides(), auto_at=auto_at)  # fmt: skip


def test_claude_code_has_windows_of_its_own() -> None:
    assert claude_code("claude-opus-4-5-20251101") == (200_000, "table")
    # the model takes a million, the client 200,000 unless it is asked for more
    assert claude_code("claude-sonnet-4-6") == (200_000, "table")
    assert claude_code("claude-sonnet-4-6", peak=430_000) == (1_000_000, "observed")
    assert claude_code("claude-sonnet-4-6[1m]") == (1_000_000, "table")
    assert claude_code("claude-opus-4-8") == (1_000_000, "table")
    assert claude_code("us.anthropic.claude-sonnet-4-5-20250929-v1:0") == (200_000, "table")
    # models it does not know
    assert claude_code("glm-4.7") == (200_000, "table")
    assert claude_code("some-local-model") == (200_000, "table")


def test_where_claude_code_compacts_by_itself_tells_its_window() -> None:
    assert claude_code("claude-opus-4-8", peak=166_900, auto_at=167_400) == (200_000, "observed")
    assert claude_code("claude-opus-4-8", peak=240_000, auto_at=241_000) == (272_000, "observed")
    assert claude_code("claude-opus-4-8", peak=960_000, auto_at=967_500) == (1_000_000, "table")
    # once a larger prompt was seen, it is not that window
    assert claude_code("claude-opus-4-8", peak=420_000, auto_at=167_400) == (500_000, "observed")


def test_opencode_keeps_room_for_the_answer() -> None:
    # 200,000 less the answer (it asks for at most 32,000) less 20,000
    assert usable_limit("opencode", 200_000, "table", 64_000) == 148_000
    assert usable_limit("opencode", 128_000, "table", 8_000) == 112_000


def test_an_automatic_compaction_in_a_session_sets_its_limit() -> None:
    model = {"model": "claude-opus-4-8"}
    records = [call(n, 100_000 + 10_000 * n, 0, **model) for n in range(7)]
    manual = view(
        [*records, event(6.5, trigger="manual", recorded_before=160_100), call(8, 30_000, 0, **model)],
        PriceTable.load(),
    )
    assert (manual.context_limit, manual.usable_limit) == (1_000_000, 967_000)
    auto = view(
        [*records, event(6.5, trigger="auto", recorded_before=166_000), call(8, 30_000, 0, **model)], PriceTable.load()
    )
    assert (auto.context_limit, auto.context_limit_source, auto.usable_limit) == (200_000, "observed", 167_000)
