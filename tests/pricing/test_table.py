"""Prices of well-known models as their vendors publish them, and what is unknown."""

from __future__ import annotations

import datetime as dt

import pytest

from monitor.pricing import Limits, PriceTable
from monitor.pricing.table import iso_ms

TABLE = PriceTable.load()


def ms(text: str) -> int:
    return int(dt.datetime.fromisoformat(text + "+00:00").timestamp() * 1000)


@pytest.mark.parametrize(
    ("model", "provider", "rates"),  # input, output, read, write 5 min, write 1 h
    [
        ("claude-opus-4-5-20251101", None, (5, 25, 0.5, 6.25, 10)),
        ("claude-sonnet-4-5-20250929", "anthropic", (3, 15, 0.3, 3.75, 6)),
        ("claude-haiku-4-5-20251001", "anthropic", (1, 5, 0.1, 1.25, 2)),
        ("claude-sonnet-4-20250514", "anthropic", (3, 15, 0.3, 3.75, 6)),
        ("claude-opus-4-1-20250805", None, (15, 75, 1.5, 18.75, 30)),
        ("claude-opus-5", None, (5, 25, 0.5, 6.25, 10)),
        ("claude-opus-5-5[1m]", None, (4, 20, 0.2, 5, 8)),
        ("claude-sonnet-5-5", None, (2, 10, 0.1, 2.5, 4)),
        ("claude-fable-5-2", None, (8, 40, 0.2, 10, 16)),
        ("claude-haiku-5-5", None, (0.1, 0.5, 0.01, 0.125, 0.2)),
        ("gpt-5", "openai", (1.25, 10, 0.125, None, None)),
        ("gpt-5-mini-2025-08-07", "openai", (0.25, 2, 0.025, None, None)),
        ("gpt-5.4", None, (2.5, 15, 0.25, None, None)),
        ("gpt-6.1-sol", None, (2, 10, 0.1, 2.5, None)),
        ("gpt-6.1-terra", None, (1, 5, 0.05, 1.25, None)),
        ("gpt-4o", None, (2.5, 10, 1.25, None, None)),
        ("o3", None, (2, 8, 0.5, None, None)),
        ("gemini-2.5-pro", "google", (1.25, 10, 0.125, None, None)),
        ("models/gemini-2.5-flash", None, (0.3, 2.5, 0.03, None, None)),
        ("kimi-k3", None, (3, 15, 0.3, 3, 6)),
        ("kimi-k3.1-pro", None, (2, 10, 0.2, 2, 4)),
        ("glm-5.3", None, (1.4, 4.4, 0.26, None, None)),
        ("grok-4.5", None, (2, 6, 0.3, None, None)),
        ("minimax-m2", None, (0.3, 1.2, 0.03, 0.375, None)),
        ("mistral-large-2512", None, (0.5, 1.5, 0.05, None, None)),
        ("qwen3-coder-plus", "dashscope", (1, 5, 0.1, None, None)),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", None, (3.3, 16.5, 0.33, 4.125, 6.6)),  # regional: +10 %
        ("global.anthropic.claude-sonnet-4-5-20250929-v1:0", None, (3, 15, 0.3, 3.75, 6)),
    ],
)
def test_published_prices(model: str, provider: str | None, rates: tuple[float | None, ...]) -> None:
    p = TABLE.lookup(model, provider, ms("2026-11-15T12:00"))
    assert p is not None
    assert (p.input, p.output, p.cache_read, p.cache_write_5m, p.cache_write_1h) == pytest.approx(rates)
    assert not p.estimated


@pytest.mark.parametrize(
    ("day", "prompt", "dollars"),
    [
        # Opus 4.6 before 2026-03-13: 300,000 * 10 above the step at 200k, 150,000 * 5 below it
        ("2026-02-01T00:00", 300_000, 3.0),
        ("2026-02-01T00:00", 150_000, 0.75),
        ("2026-03-12T23:59", 300_000, 3.0),
        ("2026-03-13T00:00", 300_000, 1.5),
        ("2026-04-01T00:00", 300_000, 1.5),
    ],
)
def test_opus_4_6_lost_its_long_context_surcharge(day: str, prompt: int, dollars: float) -> None:
    p = TABLE.lookup("claude-opus-4-6", "anthropic", ms(day))
    assert p is not None
    assert p.cost(prompt, 0, 0, 0, 0) == pytest.approx(dollars)


def test_gemini_4_argon_doubles_on_the_first_of_december() -> None:
    before = TABLE.lookup("gemini-4-argon", "google", ms("2026-11-30T23:59:59"))
    after = TABLE.lookup("gemini-4-argon", "google", ms("2026-12-01T00:00"))
    assert before is not None and after is not None
    assert (before.input, before.output, before.cache_read) == (2, 10, 0.1)
    assert (after.input, after.output, after.cache_read) == (4, 20, 0.2)
    assert after.valid_from == "2026-12-01"


def test_without_a_time_the_day_of_the_table_counts() -> None:
    at_date = TABLE.lookup("gemini-4-argon", None, iso_ms(TABLE.date))
    assert TABLE.lookup("gemini-4-argon") == at_date


@pytest.mark.parametrize(
    ("when", "dollars", "estimated"),
    [
        ("2026-11-25T00:59", 0.15, False),  # Wednesday
        ("2026-11-25T01:00", 0.30, False),
        ("2026-11-25T03:59", 0.30, False),
        ("2026-11-25T04:00", 0.15, False),
        ("2026-11-25T07:30", 0.30, False),
        ("2026-11-25T10:00", 0.15, False),
        ("2026-11-28T02:00", 0.15, False),  # Saturday
        ("2026-11-29T08:00", 0.15, False),  # Sunday
        ("2026-11-30T08:00", 0.30, False),  # Monday
        ("2026-06-10T02:00", 0.14, False),  # before peak hours existed
        ("2026-08-20T12:00", 0.22, True),  # between two lists, peak price not published
    ],
)
def test_deepseek_asks_twice_as_much_at_peak_hours(when: str, dollars: float, estimated: bool) -> None:
    p = TABLE.lookup("deepseek-v4-flash", "deepseek", ms(when))
    assert p is not None
    assert p.cost(1_000_000, 0, 0, 0, 0) == pytest.approx(dollars)
    assert p.estimated is estimated


def test_at_an_unknown_hour_a_price_by_the_hour_is_marked() -> None:
    p = TABLE.lookup("deepseek-v4-flash", "deepseek")
    assert p is not None
    assert p.estimated


def test_deepseek_chat_was_four_models() -> None:
    got = [
        TABLE.lookup("deepseek-chat", None, ms(t))
        for t in ("2025-06-01T12:00", "2025-06-01T20:00", "2025-09-10T12:00", "2026-01-01T12:00", "2026-06-01T12:00")
    ]
    assert [(p.input, p.output) for p in got if p] == [
        (0.27, 1.1),
        (0.135, 0.55),
        (0.56, 1.68),
        (0.28, 0.42),
        (0.14, 0.28),
    ]


@pytest.mark.parametrize(
    ("model", "prompt", "per_million"),
    [
        ("claude-sonnet-4-5", 200_000, 3),
        ("claude-sonnet-4-5", 200_001, 6),
        ("claude-haiku-5-5", 100_001, 0.5),
        ("gpt-5.4", 272_000, 2.5),
        ("gpt-5.4", 272_001, 5),
        ("gemini-2.5-pro", 200_001, 2.5),
        ("grok-4.5", 199_999, 2),
        ("grok-4.5", 200_000, 4),  # xAI's step includes the 200,000th token
        ("qwen3-coder-plus", 32_001, 1.8),
        ("qwen3-coder-plus", 300_000, 6),
    ],
)
def test_steps_reprice_the_whole_request(model: str, prompt: int, per_million: float) -> None:
    p = TABLE.lookup(model, None, ms("2026-11-15T12:00"))
    assert p is not None
    assert p.cost(prompt, 0, 0, 0, 0) == pytest.approx(prompt * per_million / 1e6)


def test_prices_the_bench_states_hold_for_its_prompt_sizes() -> None:
    stated = {
        "opus-4-5": (5, 25, 6.25, 10, 0.5),
        "sonnet-4-5": (3, 15, 3.75, 6, 0.3),
        "haiku-4-5": (1, 5, 1.25, 2, 0.1),
    }
    for name, (pin, out, w5, w1, read) in stated.items():
        p = TABLE.lookup(f"claude-{name}", "anthropic", ms("2026-05-01T00:00"))
        assert p is not None
        p = p.at(200_000)
        assert (p.input, p.output, p.cache_write_5m, p.cache_write_1h, p.cache_read) == (pin, out, w5, w1, read)


@pytest.mark.parametrize(
    ("model", "provider"),
    [
        ("claude-mystery-9", None),
        ("claude-opus-9-9", "anthropic"),
        ("claude-opus-5-5-fast", "anthropic"),
        ("gpt-6.2-sol", "openai"),
        ("gpt-5.4-turbo", "openai"),
        ("gemini-9-pro", "google"),
        ("house-model-9b", None),
        ("local-llama-70b", None),
        ("<synthetic>", "anthropic"),
        ("", None),
        (None, None),
        (None, "anthropic"),
        ("claude", None),
        ("gpt", "openai"),
        ("qwen3:32b", "ollama"),
        ("kimi-k3", "groq"),
        ("glm-4.6", "vllm"),
        ("us-gov.anthropic.claude-sonnet-4-5-20250929-v1:0", None),
        ("sonar", "perplexity"),
        ("text-embedding-3-small", "openai"),
    ],
)
def test_unknown_stays_unknown(model: str | None, provider: str | None) -> None:
    assert TABLE.lookup(model, provider) is None


@pytest.mark.parametrize(
    ("model", "provider", "name", "sold_by"),
    [
        ("glm-4.7", "anthropic", "glm-4.7", "zai"),  # Claude Code pointed at another vendor
        ("claude-opus-4-5", "openai", "claude-opus-4-5", "anthropic"),
        ("anthropic/claude-opus-4.5", "openrouter", "claude-opus-4-5", "anthropic"),
        ("z-ai/glm-4.6", "openrouter", "glm-4.6", "openrouter"),
        ("glm-4.6", "zhipuai", "glm-4.6", "zai"),
    ],
)
def test_who_sells_the_model(model: str, provider: str, name: str, sold_by: str) -> None:
    p = TABLE.lookup(model, provider)
    assert p is not None
    assert (p.model, p.provider) == (name, sold_by)


@pytest.mark.parametrize(
    ("model", "provider"),
    [
        ("claude-opus-4-5", "some-reseller"),
        ("gpt-5.4-preview", "openai"),
        ("z-ai/glm-4.6:free", "openrouter"),
        ("deepseek-ai/DeepSeek-V4-Pro", None),
        ("glm-4.6", "zhipuai"),  # billed in yuan by a list that does not name it
        ("gpt-oss-120b", None),
    ],
)
def test_a_price_near_the_truth_is_marked(model: str, provider: str | None) -> None:
    p = TABLE.lookup(model, provider)
    assert p is not None
    assert p.estimated


@pytest.mark.parametrize(
    ("model", "window", "max_output"),
    [
        ("claude-sonnet-4-5", 200_000, 64_000),
        ("claude-opus-4-5-20251101", 200_000, 64_000),
        ("claude-haiku-4-5-20251001", 200_000, 64_000),
        ("claude-sonnet-4-20250514", 200_000, 64_000),
        ("claude-opus-4-1", 200_000, 32_000),
        ("claude-opus-4-6", 1_000_000, 128_000),
        ("claude-sonnet-4-6", 1_000_000, 128_000),
        ("claude-opus-5-5", 1_000_000, 128_000),
        ("claude-sonnet-4-5[1m]", 1_000_000, 64_000),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", 200_000, 64_000),
        ("gpt-5", 272_000, 128_000),
        ("gpt-5-codex", 272_000, 128_000),
        ("gpt-5.1-codex", 272_000, 128_000),
        ("gpt-5.1-codex-max", 272_000, 128_000),
        ("gpt-5.3-codex", 272_000, 128_000),
        ("gpt-5-chat-latest", 128_000, 16_384),
        ("gpt-5.4", 922_000, 128_000),
        ("gpt-6.1-terra", 922_000, 128_000),
        ("gpt-4.1", 1_047_576, 32_768),
        ("gemini-2.5-pro", 1_048_576, 65_536),
        ("gemini-3-pro-preview", 1_048_576, 65_536),
        ("glm-4.6", 200_000, 128_000),
        ("kimi-k2.7-code", 262_144, None),
        ("minimax-m2.1", 204_800, None),
        ("grok-4.5", 500_000, None),  # the lists repeat the window as the output limit: not known
    ],
)
def test_windows(model: str, window: int, max_output: int | None) -> None:
    assert TABLE.limits(model) == Limits(window, max_output)
    p = TABLE.lookup(model)
    assert p is not None
    assert p.max_output == max_output


def test_limits_of_the_unknown_are_unknown() -> None:
    assert TABLE.limits("claude-mystery-9") is None
    assert TABLE.limits(None) is None
    assert TABLE.limits("glm-4.6", "ollama") is None  # its owner sets the window
    assert TABLE.limits("kimi-k3", "groq") == Limits(1_048_576, None)  # unpriced there, but the same model


def test_a_second_lookup_gives_the_same_object() -> None:
    assert TABLE.lookup("claude-opus-4-5", "anthropic") is TABLE.lookup("claude-opus-4-5", "anthropic")
    assert PriceTable.load() is TABLE


def test_names_without_end_do_not_fill_the_memory() -> None:
    table = PriceTable.load()
    for i in range(10_000):
        assert table.lookup(f"made-up-{i}") is None
    assert len(table._memo) < 9_000
    assert table.lookup("claude-opus-4-5") is not None


def test_models_lists_every_price_once() -> None:
    listed = TABLE.models()
    keys = [(p.provider, p.model, p.valid_from, p.source) for p in listed]
    assert len(keys) == len(set(keys))
    argon = [(p.valid_from, p.input) for p in listed if p.model == "gemini-4-argon" and p.provider == "google"]
    assert argon == [(None, 2.0), ("2026-12-01", 4.0)]
    peak = [p for p in listed if p.model == "deepseek-v4-pro" and "UTC" in p.source]
    assert [p.input for p in peak if p.provider == "deepseek"] == [1.32]
    assert "01:00-04:00, 06:00-10:00 UTC Mon Tue Wed Thu Fri" in peak[0].source
