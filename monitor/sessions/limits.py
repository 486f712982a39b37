"""Context limits, usable limits and life times of caches: what is known of clients and providers.

Rules: contract.md ("Usable limit", "expired"); reference decision 1.1, 2.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase

from monitor.pricing import PriceTable
from monitor.pricing.windows import client_window
from monitor.sessions.view import LimitSource

#: windows a model may have beyond its first one; a prompt that does not fit shows that the next one is in use
_LARGER = (200_000, 272_000, 400_000, 500_000, 1_000_000, 2_000_000, 10_000_000)
_CLAUDE_CODE = ("claude-code", "claude-code-otel")
_CLAUDE_CODE_WINDOW, _CLAUDE_1M = 200_000, 1_000_000
#: windows that Claude Code's user may choose for models with a native million (/autocompact)
_CHOSEN = (200_000, 272_000, 500_000)
_DEFAULT_MAX_OUTPUT = 32_000
_OPENCODE_MAX_OUTPUT = 32_000  # opencode asks for no longer answers, whatever the model can


class Overrides:
    """``--context-limit [MODEL=]N`` as given by the user: patterns of model names, ``*`` for all."""

    def __init__(self, rules: Mapping[str, int] | None = None) -> None:
        self.rules = dict(rules or {})

    def find(self, model: str | None) -> int | None:
        """The user's limit for a model; an exact name wins over a pattern, a pattern over the plain number."""
        if not self.rules:
            return None
        name = model or ""
        if name in self.rules:
            return self.rules[name]
        for pattern, limit in self.rules.items():
            if pattern != "*" and fnmatchcase(name, pattern):
                return limit
        return self.rules.get("*")


def context_limit(
    *,
    source: str,
    model: str | None,
    provider: str | None,
    when: int | None,
    peak: int | None,
    logged: int | None,
    prices: PriceTable | None,
    overrides: Overrides,
    auto_at: int | None = None,
) -> tuple[int | None, LimitSource | None]:
    """The context window of a model in a session, in tokens, and how it is known.

    Args:
        peak: largest prompt seen of this model in the session; a prompt larger than the table's window proves a larger
            one (Claude Code does not log whether the 1M window is on).
        auto_at: context at which the client compacted by itself, as the log states it: Claude Code that compacts at
            167,000 tokens works with 200,000 of the million its model has.
    """
    chosen = overrides.find(model)
    if chosen is not None:
        return chosen, "user"
    if logged:
        return logged, "logged"
    table: int | None = None
    how: LimitSource = "table"
    if source in _CLAUDE_CODE and model is not None:
        table, how = _claude_code(model, prices, peak, auto_at)
    elif prices is not None:
        limits = prices.limits(model, provider, when)
        table = limits.window if limits is not None else None
    if table is None:
        return None, None
    if peak is not None and peak > table:
        if table == _CLAUDE_CODE_WINDOW and "claude" in (model or ""):
            return (_CLAUDE_1M, "observed") if peak <= _CLAUDE_1M else (None, None)
        larger = next((size for size in _LARGER if size >= peak), None)
        return larger, "observed" if larger is not None else None
    return table, how


def _claude_code(
    model: str, prices: PriceTable | None, peak: int | None, auto_at: int | None
) -> tuple[int, LimitSource]:
    """The client's own window: not always the model's, and 200,000 for models it does not know."""
    window = client_window(prices, "claude-code", model) if prices is not None else None
    if window is None or "claude" not in model:
        return min(window or _CLAUDE_CODE_WINDOW, _CLAUDE_CODE_WINDOW), "table"
    if window > _CLAUDE_CODE_WINDOW and auto_at is not None:
        for size in _CHOSEN:
            # the client says when it compacted up to 3 % after it had reached the limit
            limit = usable_limit("claude-code", size, "observed", None) or 0
            if limit >= 0.97 * auto_at and (peak is None or peak <= size):
                return size, "observed"
    return window, "table"


def usable_limit(
    source: str, window: int | None, window_source: LimitSource | None, max_output: int | None
) -> int | None:
    """Where the client compacts by itself, in tokens; 0.9 of the window for clients without a known rule.

    Also for a window that is smaller than what the client's rule holds back: the rule is not made for it, and a limit
    of 0 tokens would be none at all.
    """
    if window is None:
        return None
    limit = _by_rule(source, window, window_source, max_output if max_output else _DEFAULT_MAX_OUTPUT)
    return limit if limit is not None and limit > 0 else round(window * 0.9)


def _by_rule(source: str, window: int, window_source: LimitSource | None, output: int) -> int | None:
    if source in _CLAUDE_CODE:
        return window - min(output, 20_000) - 13_000
    if source in ("codex", "codex-otel"):
        # the logged window is 95 % of the full one, of which Codex uses 90 %
        full = window / 0.95 if window_source == "logged" else window
        return round(full * 0.9)
    if source == "pi":
        return window - 16_384
    if source in ("gemini-cli", "gemini-otel"):
        return window // 2
    if source == "opencode":
        output = min(output, _OPENCODE_MAX_OUTPUT)
        return window - output - min(output, 20_000)
    if source == "goose":
        return round(window * 0.8)
    return None


def max_output(model: str | None, provider: str | None, when: int | None, prices: PriceTable | None) -> int | None:
    """Largest answer of a model in tokens, if the table knows it."""
    limits = prices.limits(model, provider, when) if prices is not None else None
    return limits.max_output if limits is not None else None


#: seconds an unused prefix stays cached for sure, by provider; longer where a model or the log says so
_LIFE = {
    "anthropic": 300,
    "bedrock": 300,
    "openai": 300,
    "azure": 300,
    "google": 3_600,
    "gemini": 3_600,
    "deepseek": 86_400,
    "moonshotai": 300,
}
_DEFAULT_LIFE = 300
#: and at most, where that is longer: OpenAI drops it after five to ten minutes
_LONGEST = {"openai": 600, "azure": 600}


def cache_life(provider: str | None, model: str | None) -> int:
    """Seconds after which a provider may have dropped an unused prefix, where the log does not tell."""
    return _life(_LIFE, provider, model)


def cache_gone(provider: str | None, model: str | None) -> int:
    """Seconds after which a provider has dropped an unused prefix, where the log does not tell."""
    return _life(_LIFE | _LONGEST, provider, model)


def _life(lives: Mapping[str, int], provider: str | None, model: str | None) -> int:
    name = (model or "").rpartition("/")[2]
    if name.startswith("gpt-") and _version(name[4:]) >= 5.6:
        return 1_800
    if provider is not None and provider in lives:
        return lives[provider]
    for start, owner in (("claude", "anthropic"), ("gpt", "openai"), ("o3", "openai"), ("o4", "openai"),
                         ("gemini", "google"), ("deepseek", "deepseek"), ("kimi", "moonshotai")):  # fmt: skip
        if name.startswith(start):
            return lives[owner]
    return _DEFAULT_LIFE


def _version(text: str) -> float:
    number = ""
    for char in text:
        if not (char.isdecimal() or (char == "." and "." not in number)):
            break
        number += char
    try:
        return float(number)
    except ValueError:
        return 0.0
