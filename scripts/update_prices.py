"""Build ``monitor/data/prices.json`` from genai-prices, cross-checked with LiteLLM's list (for maintainers).

    pip install genai-prices
    pip download litellm --no-deps -d SOME_DIR
    python scripts/update_prices.py --litellm SOME_DIR/litellm-*.whl [--check]

Every figure the two lists disagree on makes it fail, unless ``price_exceptions.toml`` beside this file says which one
holds and why. An exception that no longer applies fails too. ``--check`` writes nothing and exits 1 if the file is out
of date. Exit codes: 0 done, 1 differences, 2 usage.
"""

from __future__ import annotations

import argparse
import datetime as dt
import re
import sys
import tomllib
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]

import price_sources as src  # noqa: E402
from price_compare import differences, fill, full, replace  # noqa: E402

from monitor.pricing import data as shape  # noqa: E402
from monitor.pricing.names import VENDORS, bare_key, candidates, parse  # noqa: E402

EXCEPTIONS = ROOT / "scripts" / "price_exceptions.toml"
#: priced by the token, but no model one holds a conversation with in text
NOT_TEXT = re.compile(
    r"audio|realtime|image|tts|transcribe|whisper|embedding|moderation|-live|voice|ocr|voxtral|robotics|lyria|omni|"
    r"davinci|computer-use|search-preview|search-api|learnlm|gemma-2|babbage|deep-research|-vl-|-vl$|vision|pixtral|"
    r"embed|banana|:|^ft[.-]|[.-]ft-|^ada$|^curie$|0301$|-1\.5$|-1\.5-8b$"
)
#: what a vendor's own models are called; under other names it resells
FAMILY = {
    "anthropic": r"claude-",
    "openai": r"gpt-|o\d|codex-|chatgpt-|daybreak",
    "google": r"gemini-",
    "deepseek": r"deepseek-",
    "moonshotai": r"kimi-|moonshot-",
    "zai": r"glm-",
    "qwen": r"qwen|qwq",
    "xai": r"grok-",
    "mistral": r"(?:mistral|ministral|magistral|codestral|devstral|mixtral|open-mi\w+)(?:-|$)",
    "minimax": r"minimax-|m2-",
}


class Build:
    """Entries by (provider, key), with what went wrong on the way."""

    def __init__(self, exceptions: dict[str, Any], date: str) -> None:
        self.rules = exceptions
        self.date = date
        self.entries: dict[tuple[str, str], src.Listed] = {}
        self.alias: dict[tuple[str, str], str] = {}  # (provider, alias key) -> key
        self.also: dict[str, set[str]] = {}  # vendor key -> gateways asking the same
        self.sources: dict[tuple[str, str], set[str]] = {}
        self.problems: list[str] = []
        self.used: set[str] = set()

    # -- rules ---------------------------------------------------------------------------------------------
    def rule(self, kind: str, provider: str, name: str) -> dict[str, Any] | None:
        """The exception of a kind for a model, noted as used."""
        for i, r in enumerate(self.rules.get(kind, [])):
            if r["provider"] == provider and any(fnmatchcase(name, g) for g in r["models"]):
                self.used.add(f"{kind}[{i}]")
                return r
        return None

    def unused(self) -> Iterable[str]:
        for kind, rules in self.rules.items():
            if isinstance(rules, list):
                for i, r in enumerate(rules):
                    if f"{kind}[{i}]" not in self.used:
                        yield f"{kind} {r.get('provider')} {r.get('models')}: this exception is not needed any more"

    # -- models --------------------------------------------------------------------------------------------
    def find(self, provider: str, key: str) -> str | None:
        """Key of the entry that a name means, by the same rules as at run time (certain ones only)."""
        for k, near in candidates(key):
            if near:
                return None
            if (provider, k) in self.entries:
                return k
            if (provider, k) in self.alias:
                return self.alias[provider, k]
        return None

    def add(self, m: src.Listed, provider: str, key: str, keys: Iterable[str], source: str) -> None:
        if rule := self.rule("periods", provider, key):
            m.window = rule.get("window", m.window)
            for a in rule["add"]:
                m.periods.append(shape.Period(full(a["rates"]), since=a["since"], estimated=a.get("estimated", False)))
        if rule := self.rule("peaks", provider, key):
            peak = shape.Peak(utc=tuple(map(tuple, rule["utc"])), rates=full(rule["rates"]))
            m.periods = [
                replace(p, peaks=(peak,), estimated=True) if p.since == rule["since"] else p for p in m.periods
            ]
        if rule := self.rule("tiers", provider, key):
            m.periods = [replace(p, tiers=tuple(map(tuple, rule["tiers"]))) for p in m.periods]
        if m.borrowed:
            m.periods = [replace(p, estimated=True) for p in m.periods]
        if rule := self.rule("modes", provider, key):
            m.modes.update({mode: (share, share, share) for mode, share in rule["add"].items()})
        self.entries[provider, key] = m
        self.sources[provider, key] = {source}
        for k in keys:
            if k != key and not re.search(r"[-@:]$|-20\d\d-?$|:|\\", k):
                self.alias.setdefault((provider, k), key)

    def split(self, provider: str, key: str, alias: str, x: src.Listed) -> tuple[str, str]:
        """A name that a source treats as another one's alias, but whose limits differ, becomes a model of its own."""
        m = self.entries[provider, key]
        self.entries[provider, alias] = src.Listed(provider, x.name, list(m.periods), [], x.window, x.max_output)
        self.sources[provider, alias] = set(self.sources[provider, key])
        for name in (alias, f"{alias}-latest"):
            self.alias.pop((provider, name), None)
        return provider, alias

    def twin(self, provider: str, key: str, x: src.Listed) -> str | None:
        """A listed model whose name begins this one's and that costs and takes the same."""
        for (p, k), m in self.entries.items():
            alike = p == provider and key.startswith(k + "-") and m.window == x.window
            if alike and not list(differences(self.current(m), x.periods[0])):
                return k
        return None

    def current(self, m: src.Listed) -> shape.Period:
        return [p for p in m.periods if p.since is None or p.since <= self.date][-1]

    def vendor_of(self, key: str) -> tuple[str, str] | None:
        for v in VENDORS:
            if found := self.find(v, key):
                return v, found
        return None

    def same_as_vendor(self, m: src.Listed, key: str) -> bool:
        """True if the vendor asks the same today (where both state a figure), so that no own entry is needed."""
        vendor = self.vendor_of(key)
        if vendor is None:
            return False
        other = self.entries[vendor]
        mine, theirs = self.current(m), self.current(other)
        if len(m.periods) > 1 and [p.since for p in m.periods] != [p.since for p in other.periods]:
            return False
        if bool(mine.tiers) != bool(theirs.tiers) or theirs.peaks:
            return False
        return not list(differences(mine, theirs))

    def add_gateway(self, m: src.Listed) -> None:
        route, key, keys = gateway_keys(m)
        if not key:
            return
        if self.same_as_vendor(m, key):
            vendor = self.vendor_of(key)
            assert vendor is not None
            self.also.setdefault(vendor[1], set()).add(route)
        elif (route, key) not in self.entries:
            self.add(m, route, key, keys, "genai-prices")

    def compare(self, x: src.Listed) -> None:
        """Check one LiteLLM row against ours; take what ours lacks, or the row itself if we have no such model."""
        if self.rule("ignore", x.provider, x.name):
            return
        if x.provider in VENDORS:
            self.compare_vendor(x)
            return
        route, key, _ = gateway_keys(x)
        found = self.find(route, key) if key else None
        if found:
            self.check(x, route, found)
        elif key and (vendor := self.vendor_of(key)):
            if route in self.also.get(vendor[1], set()):
                self.check(x, *vendor)
            elif x.name.startswith("anthropic."):
                return  # LiteLLM gives in-region ids the global price, see the exceptions
            elif not list(differences(self.current(self.entries[vendor]), x.periods[0])) and "/" not in x.name:
                self.also.setdefault(vendor[1], set()).add(route)

    def compare_vendor(self, x: src.Listed) -> None:
        """The same for a vendor's own list, which also gives the limits."""
        key = bare_key(x.name)
        if NOT_TEXT.search(x.name.lower()) or not re.match(FAMILY[x.provider], key):
            return
        found = self.find(x.provider, key)
        key = stem(x.name)
        if found is None:
            if twin := self.twin(x.provider, key, x):
                self.alias[x.provider, key] = twin
            else:
                self.add(x, x.provider, key, [], "litellm")
            return
        ours = self.entries[x.provider, found]
        if self.sources[x.provider, found] == {"litellm"}:
            return  # the list against itself: another spelling of a model only it has
        where = (x.provider, found)
        own_limits = x.window and ours.window and x.window != ours.window and ours.max_output
        if own_limits and self.alias.get((x.provider, key)) == found:
            where = self.split(x.provider, found, key, x)
        self.check(x, *where)
        ours = self.entries[where]
        ours.modes = {**x.modes, **ours.modes}
        ours.window = x.window or ours.window
        ours.max_output = x.max_output or ours.max_output

    def check(self, x: src.Listed, provider: str, key: str) -> None:
        """Compare figures; note the differences that no exception explains."""
        ours = self.entries[provider, key]
        period = self.current(ours)
        theirs = x.periods[0]
        if x.off_peak and period.peaks:
            peak = shape.Period(rates=x.periods[0].rates)
            diffs = [f"peak {d}" for d in differences(shape.Period(rates=period.peaks[0].rates), peak)]
            diffs += list(differences(shape.Period(rates=period.rates), shape.Period(rates=x.off_peak)))
            if x.peak_hours and set(period.peaks[0].utc) == set(x.peak_hours[0]):
                days = tuple(shape.Peak(utc=p.utc, rates=p.rates, days=x.peak_hours[1]) for p in period.peaks)
                ours.periods[-1] = replace(period, peaks=days)
            else:
                diffs.append("hours of the peak price")
        else:
            diffs = list(differences(period, theirs))
        self.sources[provider, key].add("litellm")
        if not diffs:
            fill(ours, theirs)
            return
        rule = self.rule("accept", x.provider, x.name)
        if rule is None:
            self.problems.append(f"{x.provider} {x.name}: " + "; ".join(diffs))
            return
        if rule["use"] == "litellm":
            ours.periods[-1] = replace(ours.periods[-1], rates=theirs.rates, tiers=theirs.tiers)
        if rule.get("estimated"):
            ours.periods[-1] = replace(ours.periods[-1], estimated=True)

    # -- result --------------------------------------------------------------------------------------------
    def entry(self, provider: str, key: str) -> shape.Entry:
        m = self.entries[provider, key]
        aliases = sorted(
            a
            for (p, a), k in self.alias.items()
            if p == provider and k == key and (p, a) not in self.entries and self.short(provider, a) != key
        )
        name = re.sub(r"-latest$", "", m.name.lower().split("/")[-1])
        if bare_key(name) != key:  # Bedrock's ids, dated ids of Vertex
            twin = None if provider in VENDORS else self.vendor_of(key)
            name = self.entry(*twin).model if twin else key
        window, out = m.window, m.max_output
        if rule := self.rule("limits", provider, key):
            window, out = rule.get("window", window), rule.get("max_output", out) or None
        vendor = None if provider in VENDORS else self.vendor_of(key)
        if vendor:
            of_vendor = self.entry(*vendor)
            window = min((w for w in (window, of_vendor.window) if w), default=None)
            out = out or of_vendor.max_output
        if out and window and out >= window:
            out = None  # the lists repeat the window where the vendor states no bound of its own
        return shape.Entry(
            model=name,
            provider=provider,
            window=window,
            max_output=out,
            aliases=tuple(aliases),
            also=tuple(sorted(self.also.get(key, ()))) if provider in VENDORS else (),
            modes=dict(sorted(m.modes.items())) if provider in VENDORS else {},
            source="+".join(sorted(self.sources[provider, key])),
            prices=tuple(m.periods),
        )

    def short(self, provider: str, alias: str) -> str | None:
        """What an alias means without being listed, to leave out those that the cutting of suffixes finds anyway."""
        for k, near in candidates(alias):
            if k != alias and not near and ((provider, k) in self.entries):
                return k
        return None


def stem(name: str) -> str:
    """The key of a vendor's model name; a moving name and its snapshot share one."""
    return re.sub(r"-latest$", "", bare_key(name))


def gateway_keys(m: src.Listed) -> tuple[str, str, list[str]]:
    """(route, key, all keys) of a gateway's model; an empty key for vendors we do not carry."""
    none = ("", "", [])
    if m.provider == "openrouter" and ("/" not in m.name or ":" in m.name or m.name.startswith("~")):
        return none  # its variants (":free") and moving names ("~vendor/…") are ways of routing, not models
    parsed = parse(m.name, m.provider)
    if parsed is None or NOT_TEXT.search(parsed.key) or parsed.route not in ("bedrock-global", m.provider):
        return none
    if not any(re.match(f, parsed.key) for f in FAMILY.values()):
        return none
    keys = []
    for n in m.names:
        if (p := parse(n, m.provider)) and (p.route == parsed.route or p.route == "bedrock"):
            keys.append(p.key)
    key = parsed.key
    for k, near in candidates(key):  # Bedrock and Vertex always write the date
        if not near:
            key = k
    return parsed.route or m.provider, key, [parsed.key, *keys]


def build(wheel: Path, date: str) -> tuple[shape.PriceData, list[str]]:
    """(file, problems)."""
    rules = tomllib.loads(EXCEPTIONS.read_text(encoding="utf-8"))
    genai_version, ours = src.genai()
    litellm_version, theirs, codex = src.litellm(wheel)
    b = Build(rules, date)
    for m in ours:
        if m.provider in VENDORS and not NOT_TEXT.search(m.name.lower()) and not b.rule("drop", m.provider, m.name):
            key = stem(m.name)
            if re.match(FAMILY[m.provider], key):
                names = [bare_key(n.split("/")[-1]) for n in m.names]
                if rule := b.rule("rename", m.provider, m.name):
                    m.name = key = rule["to"]
                    names = [n for n in names if n in rule["names"]]
                b.add(m, m.provider, key, names, "genai-prices")
    for x in theirs:
        if x.provider in VENDORS:
            b.compare(x)
    for m in ours:
        if m.provider not in VENDORS and not b.rule("drop", m.provider, m.name):
            b.add_gateway(m)
    for x in theirs:
        if x.provider not in VENDORS:
            b.compare(x)
    order = [*VENDORS, "zhipuai", "azure", "vertex", "bedrock-global", "bedrock", "openrouter"]
    keys = sorted(b.entries, key=lambda k: (order.index(k[0]), k[1]))
    windows = {client: dict(w) for client, w in rules["windows"].items()}
    windows["codex"] = {bare_key(k): v for k, v in codex.items()} | windows.get("codex", {})
    file = shape.PriceData(
        schema=shape.SCHEMA,
        date=date,
        sources={"genai-prices": genai_version, "litellm": litellm_version},
        models=tuple(b.entry(*k) for k in keys),
        windows=windows,
    )
    return file, b.problems + list(b.unused())


def main(argv: list[str] | None = None) -> int:
    """Command line; see the module's text."""
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    ap.add_argument("--litellm", type=Path, required=True, metavar="WHEEL", help="wheel got by pip download")
    ap.add_argument("--date", default=dt.datetime.now(dt.UTC).date().isoformat(), help="day the lists were read")
    ap.add_argument("--check", action="store_true", help="compare with the file only")
    args = ap.parse_args(argv)
    file, problems = build(args.litellm, args.date)
    for p in problems:
        print(p, file=sys.stderr)
    if problems:
        print(f"{len(problems)} differences; settle each in {EXCEPTIONS.name}", file=sys.stderr)
        return 1
    raw, place = shape.encode(file), Path(shape.PATH)
    if args.check:
        return 0 if raw == place.read_bytes() else 1
    temp = place.with_suffix(".tmp")
    temp.write_bytes(raw)
    temp.replace(place)
    print(f"{len(file.models)} models, {len(raw) / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
