"""`ctxmon prices`: the table in use, with the user's own prices in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from monitor.cli import main
from monitor.reports.text import cells

FIELDS = {"model", "provider", "valid_from", "input", "output", "cache_read", "cache_write_5m", "cache_write_1h", "tiers",
          "window", "max_output", "source"}  # fmt: skip


@pytest.fixture
def own(tmp_path: Path) -> Path:
    file = tmp_path / "prices.yaml"
    file.write_text(
        "models:\n  - model: house-model\n    input: 2\n    output: 8\n    cache_read: 0.2\n    window: 64000\n",
        encoding="utf-8",
    )
    return file


def test_json_has_the_fields_of_the_contract(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prices", "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["schema"] == "ctxmon.prices/1"
    assert all(set(row) >= FIELDS for row in told["models"])


def test_own_prices_stand_in_the_table(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prices", "--prices", str(own), "--model", "house-*"]) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("house-model"))
    assert {"2", "8", "0.2", "64.0k"} <= set(line.split())


@pytest.mark.parametrize("columns", ["50", "80", "120", "160"])
def test_no_line_is_wider_than_the_terminal(
    columns: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert main(["prices"]) == 0
    wide = [line for line in capsys.readouterr().out.splitlines() if cells(line) > int(columns)]
    assert wide == []


def test_no_model_is_3_and_says_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prices", "--model", "no-such-model-*"]) == 3
    assert "--prices FILE" in capsys.readouterr().out


def test_a_wrong_price_file_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = tmp_path / "prices.yaml"
    wrong.write_text("models: [1, 2\n", encoding="utf-8")
    assert main(["prices", "--prices", str(wrong)]) == 2
    err = capsys.readouterr().err
    assert "prices.yaml" in err
    assert "Traceback" not in err
