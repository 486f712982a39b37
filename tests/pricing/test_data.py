"""The generated file: its shape, its freshness against its own rules, and what reading it costs."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import date
from pathlib import Path

import msgspec
import pytest

from monitor.pricing import data
from monitor.pricing.names import GATEWAYS, VENDORS, bare_key

FILE = data.load()
SELLERS = {*VENDORS, *GATEWAYS, "bedrock-global"}


def test_the_file_is_what_the_script_writes() -> None:
    assert data.encode(FILE) == Path(data.PATH).read_bytes()  # nobody edited it by hand
    assert FILE.schema == data.SCHEMA
    assert set(FILE.sources) == {"genai-prices", "litellm"}
    date.fromisoformat(FILE.date)


def test_it_is_plain_json_with_one_model_a_line() -> None:
    text = Path(data.PATH).read_text(encoding="utf-8")
    assert len(json.loads(text)["models"]) == len(FILE.models)
    assert sum(line.startswith('{"model":') for line in text.splitlines()) == len(FILE.models)


@pytest.mark.parametrize("vendor", VENDORS)
def test_every_vendor_is_there(vendor: str) -> None:
    assert sum(e.provider == vendor for e in FILE.models) >= 8


def test_names_are_unique_per_seller_and_among_vendors() -> None:
    seen: set[tuple[str, str]] = set()
    for e in FILE.models:
        assert e.provider in SELLERS
        for key in {bare_key(e.model), *e.aliases}:
            assert key == bare_key(key)
            seller = "vendor" if e.provider in VENDORS else e.provider
            assert (seller, key) not in seen, key
            seen.add((seller, key))


def test_figures_are_sane() -> None:
    for e in FILE.models:
        assert e.prices, e.model
        assert set(e.also) <= SELLERS
        starts = [p.since for p in e.prices]
        assert starts == sorted(starts, key=lambda s: s or ""), e.model
        assert len(set(starts)) == len(starts), e.model
        for p in e.prices:
            fresh, out, read, *_ = p.rates
            assert fresh is not None and out is not None, e.model
            assert 0 < fresh < 200 and 0 < out < 700, e.model
            assert read is None or read <= fresh, e.model
            steps = [t[0] for t in p.tiers]
            assert steps == sorted(set(steps)) and all(s > 0 for s in steps), e.model
            for peak in p.peaks:
                assert all(0 <= a < 1440 and 0 < b <= 1440 for a, b in peak.utc), e.model
                assert set(peak.days) <= set(range(1, 8)), e.model
        assert e.window is None or e.window >= 1_000, e.model
        if e.max_output and e.window:
            assert e.max_output < e.window, e.model


def test_anthropic_hour_long_writes_cost_twice_the_input_and_short_ones_a_quarter_more() -> None:
    recent = [
        e for e in FILE.models if e.provider == "anthropic" and e.model.startswith(("claude-opus", "claude-sonnet"))
    ]
    assert len(recent) > 10
    for e in recent:
        for p in e.prices:
            fresh, _, _, short, hour = p.rates
            assert fresh is not None
            assert short == pytest.approx(1.25 * fresh), e.model
            assert hour == pytest.approx(2 * fresh), e.model


def test_wrong_shapes_are_refused() -> None:
    with pytest.raises(msgspec.ValidationError):
        data.decode(b'{"schema":"x","date":"2026-01-01","sources":{},"windows":{},"models":[{"model":"a"}]}')


def test_loading_imports_nothing_heavy() -> None:
    code = (
        "import sys; from monitor.pricing import PriceTable; from monitor.pricing.listing import rows;"
        "import monitor.pricing.windows, monitor.decision.economics;"
        "t = PriceTable.load(); assert t.lookup('claude-opus-4-5');"
        "bad = {'pandas','numpy','yaml','httpx','textual','rich','tiktoken','pydantic','genai_prices','litellm',"
        "'asyncio','_strptime','importlib.metadata'} & set(sys.modules); print(sorted(bad))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"
