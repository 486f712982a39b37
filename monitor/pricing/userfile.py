"""A user's own prices: a YAML or JSON file with the fields of the price table.

A list of models, or an object with ``models:``. An entry with rates replaces the built-in prices of that model; one
with only ``window`` or ``max_output`` keeps them. Several entries of one model with different ``valid_from`` are its
history. See ``docs/prices.md``.
"""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

from monitor.pricing import data, names
from monitor.pricing.model import PriceFileError

_RATES = ("input", "output", "cache_read", "cache_write_5m", "cache_write_1h")
_LIMITS = ("window", "max_output")
_FIELDS = frozenset(("model", "provider", "valid_from", "tiers", "aliases", "source", *_RATES, *_LIMITS))
_TIER = frozenset(("above", *_RATES))
_MAX_BYTES = 4_000_000


def read(path: Path) -> tuple[data.Entry, ...]:
    """The entries of a user's price file. PriceFileError if it cannot be read or is not what is expected."""
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise PriceFileError(path, "larger than 4 MB; a price file is a short list of models")
        text = path.read_text(encoding="utf-8-sig")
    except OSError as e:
        raise PriceFileError(path, f"cannot be read ({e.strerror or type(e).__name__})") from None
    except UnicodeDecodeError:
        raise PriceFileError(path, "is not UTF-8 text") from None
    value = _parse(path, text)
    rows = value.get("models") if isinstance(value, dict) else value
    if not isinstance(rows, list) or not rows:
        raise PriceFileError(path, "expected a list of models, or 'models:' with such a list")
    return _entries(_Checker(path, text), rows)


def _parse(path: Path, text: str) -> Any:
    if path.suffix.lower() == ".json":
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as e:
            raise PriceFileError(path, "is not valid JSON", getattr(e, "lineno", None)) from None
    import yaml  # only here: it costs 13 ms

    class Loader(yaml.SafeLoader):
        """Dates stay text: an impossible one shall be told by its field, not fail the whole file."""

        yaml_implicit_resolvers = {
            first: [(tag, rule) for tag, rule in rules if not tag.endswith(":timestamp")]
            for first, rules in yaml.SafeLoader.yaml_implicit_resolvers.items()
        }

    try:
        return yaml.load(text, Loader=Loader)
    except (yaml.YAMLError, ValueError, RecursionError) as e:
        mark = getattr(e, "problem_mark", None)
        raise PriceFileError(path, "is not valid YAML", mark.line + 1 if mark else None) from None


class _Checker:
    """Values of one file, checked field by field; knows the line of a field when it has to complain."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.text = text

    def fail(self, index: int, field: str | None, expected: str) -> PriceFileError:
        where = f"model {index + 1}" + (f", {field}" if field else "")
        return PriceFileError(self.path, f"{where}: {expected}", self.line(index, field))

    def line(self, index: int, field: str | None) -> int | None:
        """Line of a row or of one of its fields. JSON is read as YAML for it, which fails on tabs: then unknown."""
        import yaml

        try:
            node = yaml.compose(self.text, Loader=yaml.SafeLoader)
            if node is None:
                return None
            if isinstance(node, yaml.MappingNode):
                node = next(v for k, v in node.value if k.value == "models")
            row = node.value[index]
            if field and isinstance(row, yaml.MappingNode):
                for key, _ in row.value:
                    if key.value == field:
                        return int(key.start_mark.line) + 1
            return int(row.start_mark.line) + 1
        except (yaml.YAMLError, ValueError, StopIteration, IndexError, AttributeError, TypeError, RecursionError):
            return None

    def number(self, i: int, row: dict[str, Any], field: str, label: str | None = None) -> float | None:
        v = row.get(field)
        if v is None:
            return None
        if isinstance(v, bool) or not isinstance(v, (int, float)) or not 0 <= v < 1e6:
            raise self.fail(i, label or field, "expected USD per million tokens, a number from 0 on")
        return float(v)

    def whole(self, i: int, row: dict[str, Any], field: str, label: str | None = None) -> int | None:
        v = row.get(field)
        if v is None:
            return None
        if isinstance(v, bool) or not isinstance(v, int) or not 0 < v < 1 << 40:
            raise self.fail(i, label or field, "expected a number of tokens, a whole number above 0")
        return v

    def words(self, i: int, row: dict[str, Any], field: str) -> tuple[str, ...]:
        v = row.get(field)
        if v is None:
            return ()
        if not isinstance(v, list) or not all(isinstance(w, str) and w for w in v):
            raise self.fail(i, field, "expected a list of model names")
        return tuple(v)

    def known(self, i: int, row: dict[str, Any], allowed: frozenset[str], field: str | None = None) -> None:
        for k in row:
            if k not in allowed:
                names_ = ", ".join(sorted(allowed))
                raise self.fail(i, field or str(k), f"unknown field {str(k)[:40]!r}; known are {names_}")

    def day(self, i: int, row: dict[str, Any]) -> str | None:
        v = row.get("valid_from")
        if v is None:
            return None
        try:
            return dt.date.fromisoformat(v).isoformat()
        except (TypeError, ValueError):
            raise self.fail(i, "valid_from", "expected a date such as 2026-12-01") from None


def _entries(check: _Checker, rows: list[Any]) -> tuple[data.Entry, ...]:
    found: dict[tuple[str, str], data.Entry] = {}
    for i, row in enumerate(rows):
        if not isinstance(row, dict):
            raise check.fail(i, None, "expected fields such as 'model:' and 'input:'")
        check.known(i, row, _FIELDS)
        name = row.get("model")
        if not isinstance(name, str) or not name.strip():
            raise check.fail(i, "model", "expected the model's name")
        provider = row.get("provider") or ""
        if not isinstance(provider, str):
            raise check.fail(i, "provider", "expected the provider's name")
        parsed = names.parse(name, provider or None)
        if parsed is None:
            raise check.fail(i, "model", "expected the model's name")
        entry = data.Entry(
            model=name.strip(),
            provider=(parsed.route or parsed.vendor or "") if provider or "/" in name else "",
            prices=_period(check, i, row),
            window=check.whole(i, row, "window"),
            max_output=check.whole(i, row, "max_output"),
            aliases=(parsed.key, *check.words(i, row, "aliases")),
            source=str(row.get("source") or check.path.name),
        )
        if not entry.prices and entry.window is None and entry.max_output is None:
            raise check.fail(i, None, "expected 'input:' and 'output:' (USD per million tokens), or 'window:'")
        key = (entry.provider, parsed.key)
        found[key] = _joined(check, i, found[key], entry) if key in found else entry
    return tuple(found.values())


def _joined(check: _Checker, i: int, old: data.Entry, new: data.Entry) -> data.Entry:
    """Two rows of one model: its history."""
    import msgspec

    periods = sorted((*old.prices, *new.prices), key=lambda p: p.since or "")
    if len({p.since for p in periods}) < len(periods):
        raise check.fail(i, "model", "is there twice; give each entry its own 'valid_from:'")
    return msgspec.structs.replace(
        old,
        prices=tuple(periods),
        window=old.window if new.window is None else new.window,
        max_output=old.max_output if new.max_output is None else new.max_output,
        aliases=tuple(dict.fromkeys((*old.aliases, *new.aliases))),
    )


def _period(check: _Checker, i: int, row: dict[str, Any]) -> tuple[data.Period, ...]:
    rates = tuple(check.number(i, row, f) for f in _RATES)
    since = check.day(i, row)
    if all(r is None for r in rates):
        if since is not None or row.get("tiers"):
            raise check.fail(i, "input", "expected 'input:' and 'output:' beside 'valid_from:' and 'tiers:'")
        return ()
    if rates[0] is None or rates[1] is None:
        raise check.fail(i, "input" if rates[0] is None else "output", "expected both 'input:' and 'output:'")
    tiers: list[data.TierRow] = []
    listed = row.get("tiers") or []
    if not isinstance(listed, list):
        raise check.fail(i, "tiers", "expected a list of tiers with 'above:' and rates")
    for t in listed:
        if not isinstance(t, dict):
            raise check.fail(i, "tiers", "expected a list of tiers with 'above:' and rates")
        check.known(i, t, _TIER, "tiers")
        above = check.whole(i, t, "above", "tiers")
        of_tier = [check.number(i, t, f, "tiers") for f in _RATES]
        if above is None or of_tier[0] is None or of_tier[1] is None:
            raise check.fail(i, "tiers", "each needs 'above:' (prompt tokens), 'input:' and 'output:'")
        tiers.append((above, of_tier[0], of_tier[1], of_tier[2], of_tier[3], of_tier[4]))
    tiers.sort()
    return (data.Period(rates=(rates[0], rates[1], rates[2], rates[3], rates[4]), since=since, tiers=tuple(tiers)),)
