"""What logged model names mean."""

from __future__ import annotations

import pytest

from monitor.pricing.names import bare_key, candidates, parse


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("claude-sonnet-4.5", "claude-sonnet-4-5"),
        ("Claude Sonnet 4.5", "claude-sonnet-4-5"),
        ("claude-4.5-sonnet", "claude-sonnet-4-5"),
        ("claude-4.6-sonnet-20260217", "claude-sonnet-4-6-20260217"),
        ("claude-5-opus", "claude-opus-5"),
        ("claude-sonnet-3.7", "claude-3-7-sonnet"),
        ("claude-3.5-haiku", "claude-3-5-haiku"),
        ("claude-3-opus-20240229", "claude-3-opus-20240229"),
        ("GLM-4.6", "glm-4-6"),
        ("gpt-5.4-mini", "gpt-5-4-mini"),
    ],
)
def test_spellings_of_one_name_share_a_key(name: str, key: str) -> None:
    assert bare_key(name) == key


@pytest.mark.parametrize(
    ("model", "provider", "key", "vendor", "route"),
    [
        ("claude-opus-4-5", None, "claude-opus-4-5", None, ""),
        ("claude-opus-4-5", "anthropic", "claude-opus-4-5", "anthropic", ""),
        ("anthropic/claude-opus-4.5", None, "claude-opus-4-5", "anthropic", ""),
        ("openrouter/anthropic/claude-opus-4.5", None, "claude-opus-4-5", "anthropic", "openrouter"),
        ("anthropic/claude-opus-4.5:beta", "openrouter", "claude-opus-4-5", "anthropic", "openrouter"),
        ("openai/gpt-5-mini", "OpenRouter", "gpt-5-mini", "openai", "openrouter"),
        ("azure/gpt-5", None, "gpt-5", None, "azure"),
        ("bedrock/us-east-1/anthropic.claude-opus-4-5-v1:0", None, "claude-opus-4-5", "anthropic", "bedrock"),
        ("us.anthropic.claude-opus-4-6-v1", None, "claude-opus-4-6", "anthropic", "bedrock"),
        ("global.anthropic.claude-opus-5", "Amazon Bedrock", "claude-opus-5", "anthropic", "bedrock-global"),
        ("us-gov.anthropic.claude-opus-5", None, "claude-opus-5", "anthropic", "host"),
        (
            "arn:aws:bedrock:eu-west-1:123456789012:inference-profile/eu.anthropic.claude-sonnet-4-20250514-v1:0",
            None,
            "claude-sonnet-4-20250514",
            "anthropic",
            "bedrock",
        ),
        ("claude-opus-4-5@20251101", "vertex_ai", "claude-opus-4-5", None, "vertex"),
        (
            "projects/p/locations/us-east5/publishers/anthropic/models/claude-opus-4-6@default",
            None,
            "claude-opus-4-6",
            "anthropic",
            "vertex",
        ),
        ("models/gemini-2.5-pro", "google", "gemini-2-5-pro", "google", ""),
        ("gemini/gemini-2.5-pro", None, "gemini-2-5-pro", "google", ""),
        ("moonshot-ai/kimi-k2.7-code", None, "kimi-k2-7-code", "moonshotai", ""),
        ("z-ai/glm-4.6", None, "glm-4-6", "zai", ""),
        ("x-ai/grok-4", None, "grok-4", "xai", ""),
        ("accounts/fireworks/models/kimi-k3", None, "kimi-k3", None, "host"),
        ("qwen3:32b", "ollama", "qwen3:32b", None, "local"),
        ("litellm_proxy/claude-opus-4-5", None, "claude-opus-4-5", None, ""),
    ],
)
def test_prefixes_and_providers_tell_the_vendor_and_the_way(
    model: str, provider: str | None, key: str, vendor: str | None, route: str
) -> None:
    got = parse(model, provider)
    assert got is not None
    assert (got.key, got.vendor, got.route) == (key, vendor, route)


@pytest.mark.parametrize(
    ("model", "provider", "near"),
    [
        ("claude-opus-4-5", None, False),
        ("claude-opus-4-5", "anthropic", False),
        ("claude-opus-4-5", "litellm", False),
        ("claude-opus-4-5", "some-reseller", True),
        ("acme-proxy/claude-opus-4-5", None, True),
        ("deepseek-ai/DeepSeek-V4-Pro", None, True),  # open weights: who serves them is not said
        ("openai/gpt-oss-120b:free", "openrouter", True),
        ("anthropic/claude-3.7-sonnet:thinking", "openrouter", False),
        ("azure/eu/gpt-5", None, True),  # regional deployments cost more
    ],
)
def test_ways_that_leave_the_price_open_are_marked(model: str, provider: str | None, near: bool) -> None:
    got = parse(model, provider)
    assert got is not None
    assert got.near is near


@pytest.mark.parametrize("nothing", [None, "", "   ", "<synthetic>", "<unknown>"])
def test_placeholders_are_no_models(nothing: str | None) -> None:
    assert parse(nothing) is None


def test_the_million_mark_is_read_and_cut() -> None:
    got = parse("claude-opus-4-6[1m]")
    assert got is not None
    assert got.million
    assert got.key == "claude-opus-4-6"


@pytest.mark.parametrize(
    ("key", "chain"),
    [
        ("claude-opus-4-5-20251101", [("claude-opus-4-5-20251101", False), ("claude-opus-4-5", False)]),
        ("gpt-5-2025-08-07", [("gpt-5-2025-08-07", False), ("gpt-5", False)]),
        ("gpt-5-4-xhigh", [("gpt-5-4-xhigh", False), ("gpt-5-4", False)]),
        ("o3-mini-high", [("o3-mini-high", False), ("o3-mini", False)]),
        ("gemini-2-5-flash-nothinking", [("gemini-2-5-flash-nothinking", False), ("gemini-2-5-flash", False)]),
        ("gemini-2-5-pro-thinking-8192", [("gemini-2-5-pro-thinking-8192", False), ("gemini-2-5-pro", False)]),
        (
            "claude-sonnet-4-5-20250929-thinking-32k",
            [
                ("claude-sonnet-4-5-20250929-thinking-32k", False),
                ("claude-sonnet-4-5-20250929", False),
                ("claude-sonnet-4-5", False),
            ],
        ),
        ("glm-4-6-fp8", [("glm-4-6-fp8", False), ("glm-4-6", True)]),
        ("gemini-3-pro-preview", [("gemini-3-pro-preview", False), ("gemini-3-pro", True)]),
        # neither a version nor a size nor another vendor's word is ever cut
        ("claude-mystery-9", [("claude-mystery-9", False)]),
        ("gpt-6-2-sol", [("gpt-6-2-sol", False)]),
        ("gpt-5-4-mini", [("gpt-5-4-mini", False)]),
        ("devstral-9-medium", [("devstral-9-medium", False)]),
        ("qwen4-thinking", [("qwen4-thinking", False)]),
        ("claude-opus-5-5-fast", [("claude-opus-5-5-fast", False)]),
    ],
)
def test_only_suffixes_that_name_no_other_model_are_cut(key: str, chain: list[tuple[str, bool]]) -> None:
    assert list(candidates(key)) == chain
