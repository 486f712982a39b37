"""A user's own prices and windows, and what is said about a wrong file."""

from __future__ import annotations

from pathlib import Path

import pytest

from monitor.pricing import Limits, PriceFileError, PriceTable

JUNE = 1_780_272_000_000  # 2026-06-01T00:00Z


def table(tmp_path: Path, text: str, name: str = "prices.yaml") -> PriceTable:
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    return PriceTable.load(file)


def test_a_model_nobody_knows_gets_a_price(tmp_path: Path) -> None:
    t = table(tmp_path, "models:\n  - model: house-model-9b\n    input: 0.2\n    output: 0.8\n    window: 32768\n")
    p = t.lookup("house-model-9b")
    assert p is not None
    assert p.cost(1_000_000, 0, 0, 0, 1_000_000) == pytest.approx(1.0)
    assert p.source == "prices.yaml"
    assert t.limits("house-model-9b") == Limits(32_768, None)
    assert PriceTable.load().lookup("house-model-9b") is None  # the built-in table is untouched


def test_own_prices_replace_the_built_in_ones_whole(tmp_path: Path) -> None:
    t = table(tmp_path, "- {model: claude-sonnet-4-5, input: 2, output: 10, cache_read: 0.2, cache_write_5m: 2.5}\n")
    p = t.lookup("claude-sonnet-4-5-20250929", "anthropic")
    assert p is not None
    assert (p.input, p.output, p.cache_read, p.cache_write_5m, p.cache_write_1h) == (2, 10, 0.2, 2.5, None)
    assert p.tiers == ()
    assert t.limits("claude-sonnet-4-5") == Limits(200_000, 64_000)
    other = t.lookup("claude-opus-4-5")
    assert other is not None and other.input == 5


def test_a_window_alone_keeps_the_prices(tmp_path: Path) -> None:
    t = table(tmp_path, "- model: claude-sonnet-4-6\n  window: 200000\n")
    assert t.limits("claude-sonnet-4-6") == Limits(200_000, 128_000)
    p = t.lookup("claude-sonnet-4-6", None, JUNE)
    assert p is not None
    assert (p.input, p.window, p.source) == (3, 200_000, "genai-prices+litellm")


def test_a_history_with_tiers(tmp_path: Path) -> None:
    t = table(
        tmp_path,
        """
models:
  - model: m1
    valid_from: 2026-06-01
    input: 2
    output: 4
    tiers:
      - {above: 1000, input: 3, output: 6}
  - model: m1
    valid_from: "2026-01-01"
    input: 1
    output: 2
""",
    )
    old, new = t.lookup("m1", None, JUNE - 1), t.lookup("m1", None, JUNE)
    assert old is not None and new is not None
    assert (old.input, new.input, new.at(1_001).input) == (1, 2, 3)
    assert t.lookup("m1", None, JUNE - 200 * 86_400_000) is None  # before the first: unknown


def test_a_price_for_one_seller_is_none_for_another(tmp_path: Path) -> None:
    t = table(tmp_path, "- {model: claude-opus-4-5, provider: anthropic, input: 4, output: 20}\n")
    direct = t.lookup("claude-opus-4-5")
    routed = t.lookup("openrouter/anthropic/claude-opus-4.5")
    assert direct is not None and routed is not None
    assert (direct.input, routed.input) == (4, 5)


def test_a_local_engine_may_have_a_price(tmp_path: Path) -> None:
    t = table(tmp_path, '- {model: "qwen3:32b", provider: ollama, input: 0, output: 0, window: 40960}\n')
    p = t.lookup("qwen3:32b", "ollama")
    assert p is not None and p.cost(10, 0, 0, 0, 10) == 0
    assert t.limits("qwen3:32b", "ollama") == Limits(40_960, None)


def test_aliases(tmp_path: Path) -> None:
    t = table(tmp_path, "- {model: team-large, aliases: [team-big, Team.Huge], input: 1, output: 1}\n")
    assert t.lookup("team-big") is not None
    assert t.lookup("TEAM.huge") is not None


def test_json_with_a_byte_order_mark(tmp_path: Path) -> None:
    t = table(tmp_path, '\ufeff{"models": [{"model": "m1", "input": 1, "output": 2}]}', "p.json")
    p = t.lookup("m1")
    assert p is not None and p.output == 2


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("- model: m1\n  input: cheap\n  output: 1\n", 2, "USD per million tokens"),
        ("- model: m1\n  input: 1\n  output: -1\n", 3, "USD per million tokens"),
        ("- model: m1\n  input: 1\n", 1, "both 'input:' and 'output:'"),
        ("- model: m1\n  inputs: 1\n", 2, "unknown field 'inputs'"),
        ("- model: m1\n", 1, "'window:'"),
        ("- input: 1\n  output: 1\n", 1, "the model's name"),
        ("- model: m1\n  window: many\n", 2, "number of tokens"),
        ("- model: m1\n  window: true\n", 2, "number of tokens"),
        ("- model: m1\n  input: 1\n  output: 1\n  valid_from: soon\n", 4, "a date such as"),
        ("- model: m1\n  input: 1\n  output: 1\n  tiers: 3\n", 4, "list of tiers"),
        ("- model: m1\n  input: 1\n  output: 1\n  tiers: [{above: 5}]\n", 4, "each needs"),
        ("- model: m1\n  input: 1\n  output: 1\n  aliases: a\n", 4, "list of model names"),
        ("- just-a-name\n", 1, "expected fields"),
        (
            "models:\n  - model: a\n    input: 1\n    output: 1\n  - model: a\n    input: 1\n    output: 1\n",
            5,
            "is there twice",
        ),
        ("models: [\n", 2, "not valid YAML"),
        ("hello\n", None, "a list of models"),
        ("", None, "a list of models"),
        ("models: []\n", None, "a list of models"),
        ("- {model: m1, window: 5, valid_from: 2026-99-01}\n", 1, "a date such as"),
    ],
)
def test_a_wrong_file_is_told_with_its_line(tmp_path: Path, text: str, line: int | None, words: str) -> None:
    with pytest.raises(PriceFileError) as caught:
        table(tmp_path, text)
    error = caught.value
    assert isinstance(error, ValueError)
    assert words in str(error)
    assert "prices.yaml" in str(error)
    assert error.line == line
    assert "\n" not in str(error)


def test_wrong_json_is_told_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(PriceFileError, match=r"line 2.*not valid JSON"):
        table(tmp_path, '{"models":\n [,]}', "p.json")
    with pytest.raises(PriceFileError, match="line 3"):
        table(tmp_path, '{"models": [\n {"model": "m",\n  "input": "x", "output": 1}]}', "p.json")


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(PriceFileError, match="cannot be read"):
        PriceTable.load(tmp_path / "missing.yaml")
    with pytest.raises(PriceFileError, match="cannot be read"):
        PriceTable.load(tmp_path)
    binary = tmp_path / "b.yaml"
    binary.write_bytes(b"\xff\xfe\x00\x9c")
    with pytest.raises(PriceFileError, match="UTF-8"):
        PriceTable.load(binary)


def test_the_example_of_the_manual_works(tmp_path: Path) -> None:
    manual = Path(__file__).resolve().parents[2] / "docs" / "prices.md"
    example = manual.read_text(encoding="utf-8").split("```yaml\n")[1].split("```")[0]
    t = table(tmp_path, example)
    assert t.limits("house-9b") == Limits(32_768, None)
    before, after = (t.lookup("claude-opus-4-5", "anthropic", JUNE + d * 86_400_000) for d in (0, 31))
    assert before is None
    assert after is not None and after.cost(0, 0, 1_000_000, 1_000_000, 0) == pytest.approx(8.0)
