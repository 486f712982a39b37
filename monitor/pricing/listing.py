"""Rows of the price table for ``ctxmon prices``."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any

from monitor.pricing.model import Price
from monitor.pricing.names import bare_key
from monitor.pricing.table import PriceTable


def rows(table: PriceTable, model_glob: str | None = None) -> list[dict[str, Any]]:
    """The ``models`` of ``prices --format json``: one object per model, period and price, USD per million tokens.

    ``model_glob`` (``claude-*``, ``openrouter/*``) is matched against the model's name and ``provider/name``, without
    regard to case; a plain name that is no pattern also finds the model it means (``claude-sonnet-4.5``).
    """
    prices = table.models()
    if model_glob is not None:
        glob = model_glob.strip().lower()
        found = [p for p in prices if _matches(p, glob)]
        if not found and not set(glob) & set("*?["):
            name = table.canonical(model_glob)
            found = [p for p in prices if name is not None and p.model == name]
        prices = found
    return [row(p) for p in prices]


def _matches(p: Price, glob: str) -> bool:
    name = p.model.lower()
    return any(fnmatchcase(n, glob) for n in (name, bare_key(name), f"{p.provider}/{name}"))


def row(p: Price) -> dict[str, Any]:
    """One price in the shape of the contract."""
    return {
        "model": p.model,
        "provider": p.provider,
        "valid_from": p.valid_from,
        "input": p.input,
        "output": p.output,
        "cache_read": p.cache_read,
        "cache_write_5m": p.cache_write_5m,
        "cache_write_1h": p.cache_write_1h,
        "tiers": [
            {
                "above": t.above,
                "input": t.input,
                "output": t.output,
                "cache_read": t.cache_read,
                "cache_write_5m": t.cache_write_5m,
                "cache_write_1h": t.cache_write_1h,
            }
            for t in p.tiers
        ],
        "modes": {way: dict(zip(("input", "output", "cache_read"), shares)) for way, shares in p.modes},
        "window": p.window,
        "max_output": p.max_output,
        "source": p.source,
    }
