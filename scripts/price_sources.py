"""Read the two public price lists that ``update_prices.py`` works from, into one plain shape.

genai-prices: the installed package's data module. LiteLLM: the JSON inside its wheel. Nothing here is used at run time.
"""

from __future__ import annotations

import datetime as dt
import itertools
import json
import re
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from monitor.pricing.data import Modes, Peak, Period, Rates, TierRow

#: provider of genai-prices -> ours; vendors first, then gateways with prices of their own
GENAI = {
    "anthropic": "anthropic",
    "openai": "openai",
    "google": "google",
    "deepseek": "deepseek",
    "moonshotai": "moonshotai",
    "zai": "zai",
    "minimax": "minimax",
    "x-ai": "xai",
    "mistral": "mistral",
    "zhipuai": "zhipuai",
    "aws": "bedrock",
    "azure": "azure",
    "openrouter": "openrouter",
}
#: LiteLLM's name of a vendor -> (ours, prefix of its keys)
LITELLM = {
    "anthropic": ("anthropic", ""),
    "openai": ("openai", ""),
    "gemini": ("google", "gemini/"),
    "deepseek": ("deepseek", ""),
    "moonshot": ("moonshotai", "moonshot/"),
    "zai": ("zai", "zai/"),
    "minimax": ("minimax", "minimax/"),
    "xai": ("xai", "xai/"),
    "mistral": ("mistral", "mistral/"),
    "dashscope": ("qwen", "dashscope/"),
    "bedrock_converse": ("bedrock", ""),
    "azure": ("azure", "azure/"),
    "vertex_ai-anthropic_models": ("vertex", "vertex_ai/"),
    "vertex_ai-language-models": ("vertex", ""),
}
GENAI_FIELDS = ("input_mtok", "output_mtok", "cache_read_mtok", "cache_write_mtok", "cache_write_1h_mtok")
LITELLM_FIELDS = (
    "input_cost_per_token",
    "output_cost_per_token",
    "cache_read_input_token_cost",
    "cache_creation_input_token_cost",
    "cache_creation_input_token_cost_above_1hr",
)
CODEX_FILE = re.compile(r"codex_bundled_models_.*\.json$")
PRICES_FILE = "litellm/model_prices_and_context_window_backup.json"


@dataclass
class Listed:
    """One model as a source lists it. ``names``: exact names and prefixes it is known by."""

    provider: str
    name: str
    periods: list[Period]
    names: list[str] = field(default_factory=list)
    window: int | None = None
    max_output: int | None = None
    off_peak: Rates | None = None  # LiteLLM states DeepSeek's peak price and the cheaper hours
    borrowed: bool = False  # the source took the figure from a reseller
    peak_hours: tuple[tuple[tuple[int, int], ...], tuple[int, ...]] | None = None
    modes: Modes = field(default_factory=dict)


def _price(value: Any) -> tuple[float | None, dict[int, float]]:
    """(base, {above: rate}) of a flat or tiered price."""
    if value is None:
        return None, {}
    if hasattr(value, "tiers"):
        return float(value.base), {int(t.start): float(t.price) for t in value.tiers}
    return float(value), {}


def _rates(values: list[tuple[float | None, dict[int, float]]]) -> tuple[Rates, tuple[TierRow, ...]]:
    base: Rates = tuple(v[0] for v in values)  # type: ignore[assignment]
    starts = sorted({s for _, tiers in values for s in tiers})
    rows: list[TierRow] = []
    for start in starts:
        row = []
        for plain, tiers in values:
            below = [s for s in tiers if s <= start]
            row.append(tiers[max(below)] if below else plain)
        rows.append((start, *row))  # type: ignore[arg-type]
    return base, tuple(rows)


def _names(clause: Any) -> list[str]:
    """Literal names in a match clause of genai-prices. Regular expressions only ever add dates, which we cut anyway."""
    kind = type(clause).__name__
    if kind == "ClauseOr":
        return [n for c in clause.or_ for n in _names(c)]
    if kind == "ClauseAnd":
        return [n for c in clause.and_ for n in _names(c)][:1]
    if kind in ("ClauseEquals", "ClauseStartsWith", "ClauseContains", "ClauseEndsWith"):
        return [str(next(iter(vars(clause).values())))]
    return []


def _minutes(t: dt.time) -> int:
    return t.hour * 60 + t.minute


def _periods(prices: Any) -> list[Period]:
    """Dated rates of one model. Hours of the day belong to the newest rates: the source cannot say both at once."""
    if not isinstance(prices, list):
        base, tiers = _rates([_price(getattr(prices, f, None)) for f in GENAI_FIELDS])
        return [Period(rates=base, tiers=tiers)]
    out: list[Period] = []
    peaks: list[Peak] = []
    for cond in prices:
        base, tiers = _rates([_price(getattr(cond.prices, f, None)) for f in GENAI_FIELDS])
        start = getattr(cond.constraint, "start_date", None)
        if getattr(cond.constraint, "start_time", None) is not None:
            hours = (_minutes(cond.constraint.start_time), _minutes(cond.constraint.end_time))
            peaks.append(Peak(utc=(hours,), rates=base))
            continue
        period = Period(rates=base, tiers=tiers, since=start.isoformat() if start else None)
        if out and (out[-1].rates, out[-1].tiers) == (period.rates, period.tiers):
            continue  # only the price of something else (a search) changed
        out.append(period)
    if peaks:
        merged: dict[Rates, list[tuple[int, int]]] = {}
        for p in peaks:
            merged.setdefault(p.rates, []).extend(p.utc)
        windows = tuple(Peak(utc=tuple(u), rates=r) for r, u in merged.items())
        last = out[-1]
        out[-1] = Period(rates=last.rates, tiers=last.tiers, since=last.since, peaks=windows)
    return out


def genai() -> tuple[str, list[Listed]]:
    """(version, models) of the installed genai-prices package."""
    from importlib.metadata import version

    from genai_prices.data import providers

    out: list[Listed] = []
    for p in providers:
        ours = GENAI.get(p.id)
        if ours is None:
            continue
        for m in p.models:
            periods = _periods(m.prices)
            if not periods or any(x.rates[0] is None or x.rates[1] is None for x in periods):
                continue  # speech, pictures, embeddings: no price per token in and out
            provider = "vertex" if ours == "google" and m.id.startswith("claude") else ours
            borrowed = "imported from openrouter" in (m.price_comments or "").lower()
            out.append(Listed(provider, m.id, periods, _names(m.match), m.context_window, borrowed=borrowed))
    return version("genai-prices"), out


def _litellm_row(row: dict[str, Any]) -> tuple[Rates, tuple[TierRow, ...]]:
    def usd(value: Any) -> float | None:
        # LiteLLM writes 0 for "no such item"; a free model has 0 for input and output as well
        return round(float(value) * 1e6, 9) if value else None

    if tiers := row.get("tiered_pricing"):
        rows = [tuple(usd(t.get(f)) for f in LITELLM_FIELDS) for t in tiers]
        return rows[0], tuple((int(t["range"][0]), *r) for t, r in zip(tiers[1:], rows[1:]))  # type: ignore[return-value]
    values = []
    for f in LITELLM_FIELDS:
        above = {}
        for key, value in row.items():
            if (m := re.fullmatch(re.escape(f) + r"_above_(\d+)k_tokens", key)) and value:
                above[int(m[1]) * 1000] = usd(value) or 0.0
        values.append((usd(row.get(f)), above))
    return _rates(values)


def _modes(row: dict[str, Any]) -> Modes:
    """What LiteLLM's rates of other ways of being served are of its standard ones; only where all of them are given."""
    out: Modes = {}
    for mode, suffix in (("batch", "batches"), ("flex", "flex"), ("priority", "priority")):
        pairs = [(row.get(f"{name}_{suffix}"), row.get(name)) for name in LITELLM_FIELDS[:3]]
        shares = [round(rate / base, 6) if rate and base else None for rate, base in pairs]
        if not pairs[2][1]:
            shares[2] = shares[0]  # no rate for reads: they are input
        fresh, output, read = shares
        if fresh is not None and output is not None and read is not None:
            out[mode] = fresh, output, read
    for mode, share in (row.get("provider_specific_entry") or {}).items():
        if mode in ("fast", "us"):
            out[mode] = share, share, share
    return out


def _off_peak(row: dict[str, Any]) -> tuple[Rates | None, Any]:
    info = row.get("off_peak_pricing")
    if not info:
        return None, None
    cheap: Rates = tuple(round(info[f] * 1e6, 9) if info.get(f) else None for f in LITELLM_FIELDS)  # type: ignore[assignment]
    hours: list[tuple[int, int]] = []
    days: set[int] = set()
    for w in info["windows"]:
        spans = w["hours_utc"]
        if isinstance(spans, str):
            continue  # whole days off-peak: simply not among the days with a peak
        days.update(w["weekdays"])
        cuts = sorted(tuple(int(a[:2]) * 60 + int(a[3:]) for a in s.split("-")) for s in spans)
        hours = [(a_end, b_start) for (_, a_end), (b_start, _) in itertools.pairwise(cuts)]
    return cheap, (tuple(hours), tuple(sorted(days)))


def litellm(path: Path) -> tuple[str, list[Listed], dict[str, int]]:
    """(version, models, Codex's window per model) out of LiteLLM's wheel."""
    with zipfile.ZipFile(path) as z:
        prices = json.loads(z.read(PRICES_FILE))
        codex_name = next(n for n in z.namelist() if CODEX_FILE.search(n))
        codex = json.loads(z.read(codex_name))["models"]
    out: list[Listed] = []
    for key, row in prices.items():
        who = LITELLM.get(row.get("litellm_provider"))
        if who is None or row.get("mode") not in ("chat", "responses") or key.startswith("ft:"):
            continue
        provider, prefix = who
        name = key.removeprefix(prefix) if prefix and key.startswith(prefix) else key
        if "/" in name:
            if provider != "deepseek":
                continue
            name = name.split("/")[-1]
        rates, tiers = _litellm_row(row)
        if rates[0] is None or rates[1] is None:
            continue
        cheap, hours = _off_peak(row)
        out.append(
            Listed(
                provider, name, [Period(rates=rates, tiers=tiers)], [name],
                row.get("max_input_tokens"), row.get("max_output_tokens"), cheap, peak_hours=hours, modes=_modes(row),
            )
        )  # fmt: skip
    ver = re.search(r"litellm-([\d.]+)-", path.name)
    windows = {m["slug"]: int(m["context_window"]) for m in codex if m["slug"].startswith("gpt-")}
    return (ver[1] if ver else "?"), out, windows
