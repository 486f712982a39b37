"""The maintainers' script: how it reads the two lists and what it calls a difference."""

from __future__ import annotations

import datetime as dt
import importlib.util
import sys
import zipfile
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from monitor.pricing.data import Peak, Period

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


def load(name: str) -> ModuleType:
    if str(SCRIPTS) not in sys.path:
        sys.path.insert(0, str(SCRIPTS))
    spec = importlib.util.spec_from_file_location(name, SCRIPTS / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


sources = load("price_sources")
compare = load("price_compare")
update = load("update_prices")


def tiered(base: str, **steps: str) -> SimpleNamespace:
    tiers = [SimpleNamespace(start=int(k[1:]), price=v) for k, v in steps.items()]
    return SimpleNamespace(base=base, tiers=tiers)


def test_tiers_of_single_rates_become_rows_of_all_rates() -> None:
    prices = SimpleNamespace(input_mtok=tiered("2", s200000="4"), output_mtok="12", cache_read_mtok="0.2")
    (period,) = sources._periods(prices)
    assert period.rates == (2.0, 12.0, 0.2, None, None)
    assert period.tiers == ((200_000, 4.0, 12.0, 0.2, None, None),)


def test_dates_and_hours_of_the_day() -> None:
    def cond(constraint: object, fresh: str) -> SimpleNamespace:
        return SimpleNamespace(constraint=constraint, prices=SimpleNamespace(input_mtok=fresh, output_mtok="1"))

    day = SimpleNamespace(start_date=dt.date(2026, 8, 17))
    hours = SimpleNamespace(start_time=dt.time(1), end_time=dt.time(4, 30))
    periods = sources._periods([cond(None, "1"), cond(day, "2"), cond(hours, "4")])
    assert [(p.since, p.rates[0]) for p in periods] == [(None, 1.0), ("2026-08-17", 2.0)]
    assert periods[0].peaks == ()  # hours belong to the newest rates
    assert periods[1].peaks == (Peak(utc=((60, 270),), rates=(4.0, 1.0, None, None, None)),)


def test_litellm_rows() -> None:
    rates, tiers = sources._litellm_row(
        {
            "input_cost_per_token": 3e-06,
            "output_cost_per_token": 1.5e-05,
            "cache_creation_input_token_cost": 0.0,
            "input_cost_per_token_above_200k_tokens": 6e-06,
            "input_cost_per_token_above_200k_tokens_batches": 3e-06,
        }
    )
    assert rates == (3.0, 15.0, None, None, None)
    assert tiers == ((200_000, 6.0, 15.0, None, None, None),)
    rates, tiers = sources._litellm_row(
        {
            "tiered_pricing": [
                {"input_cost_per_token": 1e-06, "output_cost_per_token": 5e-06, "range": [0, 32000.0]},
                {"input_cost_per_token": 2e-06, "output_cost_per_token": 6e-06, "range": [32000.0, 128000.0]},
            ]
        }
    )
    assert rates[:2] == (1.0, 5.0)
    assert tiers == ((32_000, 2.0, 6.0, None, None, None),)


def test_ways_of_being_served_are_shares_of_the_standard_rates() -> None:
    row = {
        "input_cost_per_token": 2.5e-06,
        "output_cost_per_token": 1.5e-05,
        "cache_read_input_token_cost": 2.5e-07,
        "input_cost_per_token_flex": 1.25e-06,
        "output_cost_per_token_flex": 7.5e-06,
        "cache_read_input_token_cost_flex": 1.3e-07,
        "input_cost_per_token_batches": 1.25e-06,  # no rate of its own for reads: not known
        "output_cost_per_token_batches": 7.5e-06,
        "provider_specific_entry": {"fast": 2, "us": 1.1, "other": 3},
    }
    assert sources._modes(row) == {"flex": (0.5, 0.5, 0.52), "fast": (2, 2, 2), "us": (1.1, 1.1, 1.1)}
    # a list without a price of reads bills them as input
    del row["cache_read_input_token_cost"]
    assert sources._modes(row)["batch"] == (0.5, 0.5, 0.5)


def test_cheap_hours_become_the_peak_hours_between_them() -> None:
    cheap, hours = sources._off_peak(
        {
            "off_peak_pricing": {
                "input_cost_per_token": 1e-06,
                "output_cost_per_token": 2e-06,
                "windows": [
                    {"hours_utc": ["00:00-01:00", "04:00-06:00", "10:00-00:00"], "weekdays": [1, 2, 3, 4, 5]},
                    {"hours_utc": "00:00-00:00", "weekdays": [6, 7]},
                ],
            }
        }
    )
    assert cheap == (1.0, 2.0, None, None, None)
    assert hours == (((60, 240), (360, 600)), (1, 2, 3, 4, 5))


def rates(*values: float | None) -> Period:
    return Period(rates=(*values, *(None,) * (5 - len(values))))  # type: ignore[arg-type]


def test_differences_are_named_and_only_stated_figures_compared() -> None:
    assert list(compare.differences(rates(1, 2, 0.1), rates(1, 2))) == []
    assert list(compare.differences(rates(1, 2, 0.1), rates(1, 3, 0.2))) == [
        "output 2 against 3",
        "cache_read 0.1 against 0.2",
    ]
    stepped = Period(rates=(1.0, 2.0, None, None, None), tiers=((200_000, 2.0, 3.0, None, None, None),))
    assert list(compare.differences(rates(1, 2), stepped)) == ["tiers above [] against [200000]"]
    inclusive = Period(rates=stepped.rates, tiers=((199_999, 2.0, 3.0, None, None, None),))
    assert list(compare.differences(inclusive, stepped)) == []  # the same step, told exactly
    dearer = Period(rates=stepped.rates, tiers=((200_000, 2.5, 3.0, None, None, None),))
    assert list(compare.differences(stepped, dearer)) == ["input above 200000: 2 against 2.5"]


def listed(provider: str, name: str, *values: float) -> object:
    return sources.Listed(provider, name, [rates(*values)], [name], 100_000, 8_000)


def build(rules: dict[str, object]) -> object:
    return update.Build(rules, "2026-11-30")


def test_an_unexplained_difference_is_a_problem() -> None:
    b = build({})
    b.add(listed("openai", "gpt-x", 1, 2), "openai", "gpt-x", [], "genai-prices")
    b.compare(listed("openai", "gpt-x", 1, 3))
    assert b.problems == ["openai gpt-x: output 2 against 3"]


def test_an_exception_settles_it_and_a_needless_one_is_a_problem() -> None:
    why = {"provider": "openai", "models": ["gpt-x"], "use": "litellm", "estimated": True, "reason": "r"}
    b = build({"accept": [why, {**why, "models": ["gpt-y"]}]})
    b.add(listed("openai", "gpt-x", 1, 2), "openai", "gpt-x", [], "genai-prices")
    b.compare(listed("openai", "gpt-x", 1, 3))
    assert b.problems == []
    entry = b.entry("openai", "gpt-x")
    assert entry.prices[0].rates[:2] == (1, 3)
    assert entry.prices[0].estimated
    assert [p.split(":")[0] for p in b.unused()] == ["accept openai ['gpt-y']"]


def test_what_only_one_list_has() -> None:
    b = build({})
    b.add(listed("openai", "gpt-x", 1, 2), "openai", "gpt-x", [], "genai-prices")
    b.compare(listed("openai", "gpt-x-2026-01-02", 1, 2, 0.5))  # a snapshot: the same model
    b.compare(listed("openai", "gpt-z", 7, 8))
    b.compare(listed("openai", "somebody-elses", 7, 8))
    assert b.problems == []
    assert sorted(k for _, k in b.entries) == ["gpt-x", "gpt-z"]
    assert b.entry("openai", "gpt-x").prices[0].rates == (1, 2, 0.5, None, None)
    assert b.entry("openai", "gpt-x").source == "genai-prices+litellm"
    assert b.entry("openai", "gpt-z").source == "litellm"


def test_a_gateway_that_asks_the_same_needs_no_row() -> None:
    b = build({})
    b.add(listed("anthropic", "claude-x-9", 1, 2), "anthropic", "claude-x-9", [], "genai-prices")
    b.add_gateway(listed("openrouter", "anthropic/claude-x-9", 1, 2))
    b.add_gateway(listed("bedrock", "regional.anthropic.claude-x-9-v1:0", 1.1, 2.2))
    b.add_gateway(listed("openrouter", "~anthropic/claude-x-latest", 5, 5))
    assert b.also == {"claude-x-9": {"openrouter"}}
    assert sorted(b.entries) == [("anthropic", "claude-x-9"), ("bedrock", "claude-x-9")]


def test_every_exception_has_a_reason() -> None:
    import tomllib

    rules = tomllib.loads(update.EXCEPTIONS.read_text(encoding="utf-8"))
    for kind, group in rules.items():
        if isinstance(group, list):
            assert all(len(r["reason"]) > 8 and r["models"] and r["provider"] for r in group), kind


def test_the_wheel_is_read_without_installing_it(tmp_path: Path) -> None:
    wheel = tmp_path / "litellm-9.8.7-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as z:
        z.writestr(
            sources.PRICES_FILE,
            '{"gpt-x": {"litellm_provider": "openai", "mode": "chat", "input_cost_per_token": 1e-06,'
            ' "output_cost_per_token": 2e-06, "max_input_tokens": 5000, "max_output_tokens": 500},'
            ' "tts-x": {"litellm_provider": "openai", "mode": "audio_speech"}}',
        )
        z.writestr("litellm/x/codex_bundled_models_0.1.json", '{"models": [{"slug": "gpt-x", "context_window": 4000}]}')
    version, models, windows = sources.litellm(wheel)
    assert version == "9.8.7"
    assert [(m.name, m.window, m.max_output) for m in models] == [("gpt-x", 5_000, 500)]
    assert windows == {"gpt-x": 4_000}


def test_usage_error_without_a_wheel(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        update.main([])
    assert caught.value.code == 2
    assert "--litellm" in capsys.readouterr().err
